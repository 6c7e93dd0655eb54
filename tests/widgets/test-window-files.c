/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the window writes and shows with other programs: export, projects and their runs, help. */
#include "vn-document.h"
#include "vn-onnx.h"
#include "vn-places.h"
#include "vn-project-file.h"
#include "vn-window.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <glib/gstdio.h>
#include <string.h>

static void
test_export (Fixture       *fixture,
             gconstpointer  data)
{
  g_autofree char *model = g_build_filename (fixture->folder, "out.onnx", NULL);
  g_autofree char *report = g_build_filename (fixture->folder, "report", NULL);
  g_autofree char *markdown = g_build_filename (report, "report.md", NULL),
  *page = g_build_filename (fixture->folder, "page.html", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) read = NULL;

  vn_window_fixture_open_model (fixture);
  g_assert_false (vn_bench_export (VN_BENCH (fixture->document), model, report, FALSE, &error));
  g_assert_nonnull (error);
  g_clear_error (&error);
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_bench_export (VN_BENCH (fixture->document), model, report, FALSE, &error));
  g_assert_no_error (error);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  g_assert_true (g_file_test (markdown, G_FILE_TEST_IS_REGULAR));
  g_assert_true (vn_bench_export (VN_BENCH (fixture->document), NULL, page, FALSE, &error));
  g_assert_no_error (error);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_true (g_file_test (page, G_FILE_TEST_IS_REGULAR));
  read = vn_onnx_read_file (model, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (read->graph->nodes->len, >, 6);
}

/* What a project says of its samples is what the window uses: the result is that of the command line. */
static gboolean
has_data (gpointer document)
{
  return vn_bench_get_data (VN_BENCH (document)) != NULL;
}

static void
test_project (Fixture       *fixture,
              gconstpointer  data)
{
  static const struct { guint samples; gint held_out; guint n; } cases[] = { { 12, 3, 9 }, { 30, VN_HELD_OUT_USUAL, 24 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnDataSpec) samples = vn_data_spec_new ("random");
      g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
      g_autofree char *path = g_build_filename (fixture->folder, "p.vernier", NULL), *one = NULL, *other = NULL;
      g_autoptr(GFile) file = g_file_new_for_path (path);
      g_autoptr(VnProject) project = NULL;
      g_autoptr(VnModel) model = NULL;
      g_autoptr(VnJob) job = NULL;
      g_autoptr(GError) error = NULL;
      VnQuantizeSettings settings = { .data = samples, .recipe = recipe };

      samples->max_samples = cases[i].samples;
      samples->held_out = cases[i].held_out;
      project = vn_project_new (fixture->model_path, NULL, samples, recipe);
      g_assert_true (vn_project_save (project, path, &error));
      vn_bench_set_data (VN_BENCH (fixture->document), NULL);
      vn_window_open_file (fixture->window, file);
      g_assert_true (vn_test_wait (has_data, fixture->document, SECONDS));
      g_assert_true (vn_bench_quantize (VN_BENCH (fixture->document), &error));
      g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
      g_assert_cmpuint (fixture->n_failed, ==, 0);
      g_assert_cmpuint (vn_bench_get_shown (VN_BENCH (fixture->document))->n_calibration, ==, cases[i].n);

      model = vn_model_ref (vn_bench_get_model (VN_BENCH (fixture->document)));
      settings.model = model;
      job = vn_quantize_job_new (&settings);
      g_assert_true (vn_job_run (job, NULL, &error));
      one = vn_model_dup_digest (vn_bench_get_shown (VN_BENCH (fixture->document))->quantized);
      other = vn_model_dup_digest (vn_quantize_job_get_result (job)->quantized);
      g_assert_cmpstr (one, ==, other);
      g_unlink (path);
    }
}

static void
quantize_in_float (Fixture *fixture,
                   guint    node)
{
  g_autoptr(GtkBitset) nodes = gtk_bitset_new_range (node, 1);

  g_assert_cmpuint (vn_document_set_precision (fixture->document, nodes, VN_NODE_FLOAT), ==, 1);
  vn_window_fixture_quantize (fixture);
}

/* Runs of the window are in the project that it saves, behind those that the project had; opened and saved again it has them
 * all. */
static void
test_project_runs (Fixture       *fixture,
                   gconstpointer  data)
{
  g_autofree char *path = g_build_filename (fixture->folder, "p.vernier", NULL), *folder = g_strconcat (path, "-runs", NULL);
  g_autoptr(GFile) file = g_file_new_for_path (path);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  g_assert_cmpuint (vn_bench_get_runs (VN_BENCH (fixture->document))->len, ==, 1);
  g_assert_true (vn_bench_save (VN_BENCH (fixture->document), "project", path, notes, &error));
  g_assert_no_error (error);
  vn_bench_set_model (VN_BENCH (fixture->document), NULL);
  g_assert_cmpuint (vn_bench_get_runs (VN_BENCH (fixture->document))->len, ==, 0);

  for (guint n = 1; n <= 2; n++)
    {
      g_autoptr(VnProject) project = NULL;

      vn_window_open_file (fixture->window, file);
      g_assert_true (vn_test_wait (vn_window_fixture_has_model, fixture->document, SECONDS));
      g_assert_cmpuint (vn_bench_get_runs (VN_BENCH (fixture->document))->len, ==, n);
      quantize_in_float (fixture, n - 1);
      g_assert_true (vn_bench_save (VN_BENCH (fixture->document), "project", path, notes, &error));
      vn_window_fixture_quantize (fixture);   /* the same once more is no other run */
      g_assert_true (vn_bench_save (VN_BENCH (fixture->document), "project", path, notes, &error));
      project = vn_project_load (path, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (project->runs->len, ==, n + 1);
      for (guint i = 0; i <= n; i++)
        {
          const VnProjectRun *run = g_ptr_array_index (project->runs, i);
          g_autoptr(VnRun) record = vn_project_run_load (run, path, &error);

          g_assert_no_error (error);
          g_assert_cmpstr (run->verdict, !=, "");
          g_unlink (n == 2 ? run->file : "");
        }
      vn_bench_set_model (VN_BENCH (fixture->document), NULL);
    }
  g_unlink (path);
  g_rmdir (folder);
}

/* A browser for this test alone: it writes what it is to show into a file. */
static void
install_browser (const char *folder)
{
  g_autofree char *script = g_build_filename (folder, "browser", NULL);
  g_autofree char *applications = g_build_filename (folder, "applications", NULL);
  g_autofree char *entry = g_build_filename (applications, "browser.desktop", NULL);
  g_autofree char *defaults = g_build_filename (applications, "mimeapps.list", NULL);
  g_autofree char *script_text = g_strdup_printf ("#!/bin/sh\necho \"$1\" >\"%s/shown\"\n", folder);
  g_autofree char *entry_text =
    g_strdup_printf ("[Desktop Entry]\nType=Application\nName=Browser\nExec=%s %%f\nMimeType=text/html;\n",
                                                 script);

  g_assert_cmpint (g_mkdir (applications, 0700), ==, 0);
  g_assert_true (g_file_set_contents (script, script_text, -1, NULL));
  g_assert_cmpint (g_chmod (script, 0700), ==, 0);
  g_assert_true (g_file_set_contents (entry, entry_text, -1, NULL));
  g_assert_true (g_file_set_contents (defaults, "[Default Applications]\ntext/html=browser.desktop\n", -1, NULL));
  g_assert_true (g_setenv ("XDG_DATA_HOME", folder, TRUE));
  g_assert_true (g_setenv ("XDG_CONFIG_HOME", folder, TRUE));
}

static void
remove_browser (const char *folder)
{
  static const char * const names[] = { "applications/browser.desktop", "applications/mimeapps.list", "applications", "browser",
                                        "shown", "" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL);

      g_remove (path);
    }
}

static gboolean
was_shown (gpointer data)
{
  g_autofree char *text = NULL;

  return g_file_get_contents (data, &text, NULL, NULL) && strchr (text, '\n') != NULL;
}

static void
test_help (Fixture       *fixture,
           gconstpointer  data)
{
  g_autofree char *folder = vn_help_find ();
  g_autofree char *shown = g_build_filename (g_get_user_data_dir (), "shown", NULL);
  g_autofree char *page = NULL, *text = NULL;

  g_assert_nonnull (folder);   /* made with the program */
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.help", NULL));
  g_assert_true (vn_test_wait (was_shown, shown, SECONDS));
  g_assert_true (g_file_get_contents (shown, &text, NULL, NULL));
  page = g_build_filename (folder, "index.html", NULL);
  g_assert_cmpstr (g_strchomp (text), ==, page);
}

/* Whatever stands for the folder of a language model, by what is dropped or opened; other folders are samples. */
static void
test_folder (Fixture       *fixture,
             gconstpointer  data)
{
  static const struct { const char *name; gboolean is_dropped, opens; } cases[] = {
    { "", TRUE, TRUE }, { "", FALSE, TRUE }, { "genai_config.json", FALSE, TRUE }, { "genai_config.json", TRUE, TRUE },
    { "model.onnx", TRUE, TRUE }, { "templates", TRUE, FALSE },
  };
  g_autofree char *folder = vn_window_fixture_make_folder (fixture->folder), *config = NULL;
  g_autoptr(GFile) wrong = g_file_new_for_path (folder);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_build_filename (folder, cases[i].name, NULL), *title = NULL;
      g_autoptr(GFile) file = g_file_new_for_path (path);

      g_test_message ("%s %u", cases[i].name, cases[i].is_dropped);
      vn_bench_set_model (VN_BENCH (fixture->document), NULL);
      if (cases[i].is_dropped)
        g_assert_cmpint (vn_window_drop_file (fixture->window, file), ==, cases[i].opens);
      else
        vn_window_open_file (fixture->window, file);
      g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
      g_assert_cmpint (vn_bench_get_model (VN_BENCH (fixture->document)) != NULL, ==, cases[i].opens);
      title = vn_bench_dup_title (VN_BENCH (fixture->document));
      g_assert_cmpstr (title, ==, cases[i].opens ? "lm" : "Vernier");
    }
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  config = g_build_filename (folder, "genai_config.json", NULL);
  g_assert_true (g_file_set_contents (config, "{\"model\": {\"decoder\": {\"filename\": \"../small.onnx\"}}}", -1, NULL));
  vn_window_open_file (fixture->window, wrong);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 1);
  g_assert_null (vn_bench_get_model (VN_BENCH (fixture->document)));
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *folder = g_dir_make_tmp ("vernier-XXXXXX", NULL);
  int status;

  static const struct { const char *path; void (*func) (Fixture *, gconstpointer); } tests[] = {
    { "/window-files/export", test_export },
    { "/window-files/project", test_project },
    { "/window-files/project-runs", test_project_runs },
    { "/window-files/help", test_help },
    { "/window-files/folder", test_folder },
  };

  install_browser (folder);
  vn_window_fixture_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, vn_window_fixture_set_up, tests[i].func, vn_window_fixture_tear_down);
  status = g_test_run ();
  remove_browser (folder);
  return status;
}
