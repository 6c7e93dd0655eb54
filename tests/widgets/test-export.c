/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The step Export: each file is a choice with a name that follows the model, nothing is replaced unasked, and what was written is
 * listed. */
#include "vn-step-export.h"
#include "vn-wizard.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <glib/gstdio.h>
#include <string.h>

static GtkWidget *
get_step (Fixture *fixture)
{
  return vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_STEP_EXPORT, NULL);
}

static VnWizard *
begin (Fixture *fixture)
{
  VnWizard *wizard = VN_WIZARD (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_WIZARD, NULL));

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  vn_test_settle (600);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.quantize", NULL);
  vn_wizard_begin (wizard, "export");
  vn_test_settle (400);
  return wizard;
}

static const char *
get_name (Fixture    *fixture,
          const char *id)
{
  const VnExportKind *kind = vn_bench_find_export (id);

  g_assert_nonnull (kind);
  return gtk_editable_get_text (GTK_EDITABLE (vn_test_find (get_step (fixture), ADW_TYPE_ENTRY_ROW, kind->title)));
}

static char *
read_file (const char *folder,
           const char *name,
           gsize      *length)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr(GError) error = NULL;
  char *text = NULL;

  g_file_get_contents (path, &text, length, &error);
  g_assert_no_error (error);
  return text;
}

static gboolean
is_done (gpointer step)
{
  GtkWidget *button = vn_test_find (step, GTK_TYPE_BUTTON, "_Show in Folder");

  return button != NULL && gtk_widget_get_visible (gtk_widget_get_parent (button));
}

static char *
read_done (Fixture *fixture)
{
  GtkWidget *button = vn_test_find (get_step (fixture), GTK_TYPE_BUTTON, "_Show in Folder");

  g_assert_true (vn_test_wait (is_done, get_step (fixture), SECONDS));
  return g_strdup (gtk_label_get_label (GTK_LABEL (gtk_widget_get_prev_sibling (button))));
}

/* Names follow the model, unless they have been changed. */
static void
test_names (Fixture       *fixture,
            gconstpointer  data)
{
  VnStepExport *step;
  g_autofree char *blocker = NULL, *none = NULL;

  begin (fixture);
  step = VN_STEP_EXPORT (get_step (fixture));
  g_assert_true (g_str_has_suffix (get_name (fixture, "model"), VN_QUANTIZED_SUFFIX));
  vn_step_export_set_model_path (step, "/nowhere/a-quantized.onnx");
  g_assert_cmpstr (get_name (fixture, "html"), ==, "a-report.html");
  g_assert_cmpstr (get_name (fixture, "png"), ==, "a-graph.png");
  g_assert_cmpstr (get_name (fixture, "script"), ==, "a_quantize.py");
  g_assert_cmpstr (get_name (fixture, "project"), ==, "a.vernier");
  vn_step_export_choose (step, "html", TRUE, "mine.html");
  vn_step_export_choose (step, "model", TRUE, "b.onnx");
  g_assert_cmpstr (get_name (fixture, "html"), ==, "mine.html");
  g_assert_cmpstr (get_name (fixture, "pdf"), ==, "b-report.pdf");
  none = vn_wizard_step_dup_blocker (VN_WIZARD_STEP (step));
  g_assert_null (none);
  vn_step_export_choose (step, "pdf", TRUE, "mine.html");
  blocker = vn_wizard_step_dup_blocker (VN_WIZARD_STEP (step));
  g_assert_cmpstr (blocker, ==, "Two files have the same name");
  vn_step_export_choose (step, "pdf", TRUE, "");
  g_free (blocker);
  blocker = vn_wizard_step_dup_blocker (VN_WIZARD_STEP (step));
  g_assert_cmpstr (blocker, ==, "A file has no name");
}

static void
check_written (Fixture    *fixture,
               const char *folder)
{
  static const struct { const char *name, *begins; } files[] = {
    { "net-quantized.onnx", "" }, { "net-report.html", "<!DOCTYPE html>" }, { "net-report.pdf", "%PDF" },
    { "net-report.md", "# " },
    { "net-report.json", "{" }, { "net-graph.png", "\211PNG" }, { "net-graph.svg", "<?xml" }, { "net-graph.pdf", "%PDF" },
    { "net.vernier", "{" }, { "net_quantize.py", "#!/usr/bin/env python3" },
  };
  g_autofree char *text = read_done (fixture);

  g_assert_cmpuint (G_N_ELEMENTS (files), ==, vn_bench_count_exports ());
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      gsize length = 0;
      g_autofree char *content = read_file (folder, files[i].name, &length);

      g_assert_cmpuint (length, >, 100);
      g_assert_true (g_str_has_prefix (content, files[i].begins));
      g_assert_nonnull (strstr (text, files[i].name));
    }
  g_assert_nonnull (strstr (text, "10 files written to"));
}

static GtkWindow *
find_question (Fixture *fixture)
{
  GListModel *windows = gtk_window_get_toplevels ();

  for (guint i = 0; i < g_list_model_get_n_items (windows); i++)
    {
      g_autoptr(GtkWindow) window = g_list_model_get_item (windows, i);

      if (ADW_IS_MESSAGE_DIALOG (window) && gtk_widget_get_visible (GTK_WIDGET (window)))
        return window;
    }
  return NULL;
}

/* All that there is; then once more, which asks first. */
static void
test_all (Fixture       *fixture,
          gconstpointer  data)
{
  g_autofree char *folder = g_build_filename (fixture->folder, "out", NULL),
  *model = g_build_filename (folder, "net-quantized.onnx", NULL);
  g_autofree char *before = NULL, *after = NULL;
  GtkWidget *step;
  GtkWindow *question;

  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  begin (fixture);
  step = get_step (fixture);
  vn_step_export_set_model_path (VN_STEP_EXPORT (step), model);
  for (guint i = 0; i < vn_bench_count_exports (); i++)
    vn_step_export_choose (VN_STEP_EXPORT (step), vn_bench_get_export (i)->id, TRUE, NULL);
  vn_wizard_step_next (VN_WIZARD_STEP (step));
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  check_written (fixture, folder);
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "4-wizard-export-done");

  /* Nothing is replaced before the user has said so. */
  before = read_file (folder, "net-report.md", NULL);
  g_assert_true (g_file_set_contents (g_build_filename (folder, "net-report.md", NULL), "kept", -1, NULL));
  vn_step_export_choose (VN_STEP_EXPORT (step), "png", FALSE, NULL);
  vn_wizard_step_next (VN_WIZARD_STEP (step));
  vn_test_settle (300);
  question = find_question (fixture);
  g_assert_nonnull (question);
  vn_test_screenshot (GTK_WIDGET (question), "4-wizard-export-replace");
  adw_message_dialog_response (ADW_MESSAGE_DIALOG (question), "cancel");
  gtk_window_destroy (question);
  vn_test_settle (300);
  after = read_file (folder, "net-report.md", NULL);
  g_assert_cmpstr (after, ==, "kept");
  vn_wizard_step_next (VN_WIZARD_STEP (step));
  vn_test_settle (300);
  question = find_question (fixture);
  g_assert_nonnull (question);
  adw_message_dialog_response (ADW_MESSAGE_DIALOG (question), "yes");
  gtk_window_destroy (question);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_true (vn_test_wait (is_done, step, SECONDS));
  g_free (after);
  after = read_file (folder, "net-report.md", NULL);
  g_assert_cmpstr (after, ==, before);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  vn_window_fixture_clear_folder (folder);
  g_rmdir (folder);
}

/* A picture needs no result. */
static void
test_picture (Fixture       *fixture,
              gconstpointer  data)
{
  g_autofree char *light = g_build_filename (fixture->folder, "light.svg", NULL),
  *dark = g_build_filename (fixture->folder, "dark.svg", NULL);
  const char *shots = g_getenv ("VN_SCREENSHOTS");
  g_autofree char *png = g_build_filename (shots != NULL ? shots : fixture->folder, "graph.png", NULL);
  const VnExportFile files[] = { { vn_bench_find_export ("svg"), light, 0 }, { vn_bench_find_export ("svg"), dark, 1 },
                                 { vn_bench_find_export ("png"), png, -1 } };
  g_autofree char *light_text = NULL, *dark_text = NULL;
  g_autoptr(GError) error = NULL;

  vn_window_fixture_open_model (fixture);
  vn_test_settle (1000);
  g_assert_true (vn_bench_export_files (VN_BENCH (fixture->document), files, G_N_ELEMENTS (files), FALSE, &error));
  g_assert_no_error (error);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  light_text = read_file (fixture->folder, "light.svg", NULL);
  dark_text = read_file (fixture->folder, "dark.svg", NULL);
  g_assert_cmpstr (light_text, !=, dark_text);
  g_remove (light);
  g_remove (dark);
  if (shots == NULL)
    g_remove (png);
}

static gboolean
has_folder (gpointer document)
{
  return vn_bench_get_folder (VN_BENCH (document)) != NULL;
}

/* Of a language model a whole folder is written beside its own, unless only the network is wanted. */
static void
test_folder (Fixture       *fixture,
             gconstpointer  data)
{
  static const char * const files[] = { "model.onnx", "genai_config.json", "tokenizer.json", "templates/chat.jinja" };
  VnWizard *wizard = VN_WIZARD (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_WIZARD, NULL));
  g_autofree char *folder = vn_window_fixture_make_folder (fixture->folder), *text = NULL, *blocker = NULL;
  g_autofree char *to = g_build_filename (fixture->folder, "lm-quantized", NULL),
  *alone = g_build_filename (fixture->folder, "lm-quantized.onnx", NULL);
  GtkWidget *row;
  VnStepExport *step;

  vn_bench_open (VN_BENCH (fixture->document), folder);
  g_assert_true (vn_test_wait (has_folder, fixture->document, SECONDS));
  vn_window_fixture_quantize (fixture);
  vn_wizard_begin (wizard, "export");
  vn_test_settle (400);
  step = VN_STEP_EXPORT (get_step (fixture));
  row = vn_test_find (GTK_WIDGET (step), ADW_TYPE_ACTION_ROW, "_Folder for onnxruntime-genai");
  g_assert_true (gtk_widget_get_visible (row));
  g_assert_cmpstr (get_name (fixture, "model"), ==, "lm-quantized");
  g_assert_cmpstr (get_name (fixture, "html"), ==, "lm-report.html");
  vn_step_export_choose (step, "html", FALSE, NULL);
  vn_wizard_step_next (VN_WIZARD_STEP (step));
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  text = read_done (fixture);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (to, files[i], NULL);

      g_assert_true (g_file_test (path, G_FILE_TEST_IS_REGULAR));
      g_assert_nonnull (strstr (text, files[i]));
    }
  vn_step_export_choose (step, "model", TRUE, "lm");
  blocker = vn_wizard_step_dup_blocker (VN_WIZARD_STEP (step));
  g_assert_cmpstr (blocker, ==, "The open model has this name");
  vn_step_export_choose (step, "model", TRUE, "lm-quantized");
  gtk_switch_set_active (GTK_SWITCH (vn_test_find (row, GTK_TYPE_SWITCH, NULL)), FALSE);
  g_assert_cmpstr (get_name (fixture, "model"), ==, "lm-quantized.onnx");
  vn_wizard_step_next (VN_WIZARD_STEP (step));
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_true (g_file_test (alone, G_FILE_TEST_IS_REGULAR));
  gtk_switch_set_active (GTK_SWITCH (vn_test_find (row, GTK_TYPE_SWITCH, NULL)), TRUE);
  g_assert_cmpstr (get_name (fixture, "model"), ==, "lm-quantized");
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/export/names", Fixture, NULL, vn_window_fixture_set_up, test_names, vn_window_fixture_tear_down);
  g_test_add ("/export/all", Fixture, NULL, vn_window_fixture_set_up, test_all, vn_window_fixture_tear_down);
  g_test_add ("/export/picture", Fixture, NULL, vn_window_fixture_set_up, test_picture, vn_window_fixture_tear_down);
  g_test_add ("/export/folder", Fixture, NULL, vn_window_fixture_set_up, test_folder, vn_window_fixture_tear_down);
  return g_test_run ();
}
