/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ONNX Runtime makes of an export, as the window shows it: measured on request and without it, refused, and installed where
 * there is none. */
#include "verify-folder.h"
#include "vn-compat.h"
#include "vn-format.h"
#include "vn-verify-job.h"
#include "vn-verify-panel.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <glib/gstdio.h>
#include <string.h>

/* A Python that answers as if it had onnxruntime, in which outputs are 0: what it measures stands in the place of what was
 * expected. */
static char *
write_python (VnModel *model)
{
  static const char text[] =
    "#!/bin/sh\n"
    "for last; do :; done\n"
    "cd \"$last\" || exit 1\n"
    "for f in [0-9]*-0.npy; do cp \"$(dirname \"$0\")/zeros.npy\" \"out-$f\"; done\n"
    "echo '{\"version\": \"9.8.7\", \"load_seconds\": 0.1, \"seconds\": 0.003, \"float_seconds\": 0.002}' > reply.json\n";
  const VnValue *output = g_ptr_array_index (model->graph->outputs, 0);
  g_autofree char *folder = g_dir_make_tmp ("vernier-python-XXXXXX", NULL), *zeros = g_build_filename (folder, "zeros.npy", NULL);
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &output->type.shape, NULL);
  char *path = g_build_filename (folder, "python", NULL);

  g_assert_cmpuint (model->graph->outputs->len, ==, 1);
  g_assert_true (vn_npy_write (zeros, tensor, NULL));
  g_assert_true (g_file_set_contents_full (path, text, -1, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
  return path;
}

static void
remove_python (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path), *zeros = g_build_filename (folder, "zeros.npy", NULL);

  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (g_unlink (zeros), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_verify_fails (Fixture       *fixture,
                   gconstpointer  data)
{
  GtkWidget *panel;

  g_setenv ("VN_PYTHON", "/nowhere/python", TRUE);
  vn_window_fixture_find_origins (fixture);
  panel = vn_test_find (vn_window_fixture_open_review (fixture), VN_TYPE_VERIFY_PANEL, NULL);
  g_signal_emit_by_name (vn_test_find (panel, GTK_TYPE_BUTTON, "_Verify"), "clicked");
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 1);
  g_assert_null (vn_bench_get_shown (VN_BENCH (fixture->document))->verification);
  g_assert_nonnull (strstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (vn_test_find (panel, ADW_TYPE_ACTION_ROW,
                                                                                       "Verify in ONNX Runtime"))),
                            "/nowhere/python"));
  g_assert_nonnull (vn_test_find (panel, ADW_TYPE_ACTION_ROW, "Integer execution in ONNX Runtime, estimated"));
  vn_test_screenshot (GTK_WIDGET (fixture->window), "verify-failed");
  g_unsetenv ("VN_PYTHON");
}

static void
test_verify (Fixture       *fixture,
             gconstpointer  data)
{
  g_autofree char *python = NULL;
  GtkWidget *panel;
  VnRun *result;

  vn_window_fixture_find_origins (fixture);
  python = write_python (vn_bench_get_model (VN_BENCH (fixture->document)));
  g_setenv ("VN_PYTHON", python, TRUE);
  panel = vn_test_find (vn_window_fixture_open_review (fixture), VN_TYPE_VERIFY_PANEL, NULL);
  g_assert_nonnull (vn_test_find (panel, ADW_TYPE_ACTION_ROW, "Latency per sample in ONNX Runtime, estimated"));
  g_signal_emit_by_name (vn_test_find (panel, GTK_TYPE_BUTTON, "_Verify"), "clicked");
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  result = vn_bench_get_shown (VN_BENCH (fixture->document));
  g_assert_nonnull (result->verification);
  g_assert_nonnull (result->contributions);   /* what was known before still is */
  g_assert_cmpstr (result->verification->version, ==, "9.8.7");
  g_assert_cmpfloat (result->verification->seconds, ==, 0.003);
  g_assert_cmpint (vn_verification_judge (result->verification), ==, VN_AGREEMENT_OTHER);
  g_assert_nonnull (vn_test_find (panel, ADW_TYPE_ACTION_ROW, "Measured in ONNX Runtime 9.8.7"));
  g_assert_null (vn_test_find (panel, ADW_TYPE_ACTION_ROW, "Latency per sample in ONNX Runtime, estimated"));
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "verify-done");
  g_unsetenv ("VN_PYTHON");
  remove_python (python);
}

static gboolean
is_verified (gpointer data)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (data));

  return result != NULL && result->verification != NULL && result->contributions != NULL;
}

/* Nobody asks for it; what is found meanwhile of where the error starts does not take it away again. */
static void
test_verify_usually (Fixture       *fixture,
                     gconstpointer  data)
{
  g_autofree char *python = NULL;
  VnRun *result;

  vn_window_fixture_open_model (fixture);
  python = write_python (vn_bench_get_model (VN_BENCH (fixture->document)));
  g_setenv ("VN_PYTHON", python, TRUE);
  g_unsetenv ("VN_NO_VERIFY");
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_test_wait (is_verified, fixture->document, SECONDS));
  g_setenv ("VN_NO_VERIFY", "1", TRUE);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  result = vn_bench_get_shown (VN_BENCH (fixture->document));
  g_assert_cmpstr (result->verification->version, ==, "9.8.7");
  g_assert_nonnull (vn_test_find (vn_window_fixture_open_review (fixture), ADW_TYPE_ACTION_ROW,
                                  "Measured in ONNX Runtime 9.8.7"));
  g_unsetenv ("VN_PYTHON");
  remove_python (python);
}

/* ---- installing ---- */

/* A system whose Python has no onnxruntime, and whose pip does what a file beside it says. */
typedef struct
{
  char *folder, *path;   /* of programs; what PATH was */
  char *python;          /* that answers as if it had onnxruntime */
} Bare;

static void
write_program (const char *folder,
               const char *name,
               const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents_full (path, text, -1, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
}

static void
bare_set_up (Bare    *self,
             VnModel *model)
{
  g_autofree char *path = NULL, *own = NULL;

  self->python = write_python (model);
  self->folder = g_path_get_dirname (self->python);
  write_program (self->folder, "python3",
                 "#!/bin/sh\n"
                 "here=$(dirname \"$0\")\n"
                 "case \"$2\" in\n"
                 "  venv) mkdir \"$3/bin\" && cp \"$here/own\" \"$3/bin/python\" ;;\n"
                 "  *) for last; do :; done; echo '{ \"stage\": \"import\", \"error\": \"none here\" }' > \"$last/reply.json\" "
                 ";;\n"
                 "esac\n");
  own = g_strdup_printf ("#!/bin/sh\n"
                         "case \"$2\" in\n"
                         "  pip) echo Collecting onnxruntime\n"
                         "    case \"$(cat '%s/how')\" in\n"
                         "      hangs) exec sleep 600 ;;\n"
                         "      fails) echo 'ERROR: no package for this Python'; exit 1 ;;\n"
                         "    esac ;;\n"
                         "  import*) ;;\n"
                         "  *) exec '%s' \"$@\" ;;\n"
                         "esac\n", self->folder, self->python);
  write_program (self->folder, "own", own);
  self->path = g_strdup (g_getenv ("PATH"));
  path = g_strconcat (self->folder, ":", self->path, NULL);
  g_setenv ("PATH", path, TRUE);
}

static void
bare_tell (const Bare *self,
           const char *how)
{
  g_autofree char *path = g_build_filename (self->folder, "how", NULL);

  g_assert_true (g_file_set_contents (path, how, -1, NULL));
}

static void
bare_tear_down (Bare *self)
{
  g_autofree char *own = vn_verify_dup_environment (vn_target_runtime_get_default ());

  g_setenv ("PATH", self->path, TRUE);
  vn_verify_folder_remove (own);
  vn_verify_folder_remove (self->folder);
  g_free (self->folder);
  g_free (self->path);
  g_free (self->python);
}

static gboolean
lacks_runtime (gpointer data)
{
  return vn_verify_runtime_get_state (vn_target_runtime_get_default ()) == VN_RUNTIME_STATE_MISSING &&
         vn_window_fixture_is_idle (data);
}

static gboolean
has_measured (gpointer data)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (data));

  return result != NULL && result->verification != NULL;
}

static gboolean
is_fetching (gpointer data)
{
  VnJob *job = vn_bench_get_install_job (VN_BENCH (data));
  g_autofree char *stage = job != NULL ? vn_job_dup_stage (job) : NULL;

  return g_strcmp0 (stage, "Installing the runtime") == 0 && vn_job_get_progress (job) > 0.2;
}

static gboolean
installs_nothing (gpointer data)
{
  return vn_bench_get_install_job (VN_BENCH (data)) == NULL;
}

static GtkWidget *
find_question (void)
{
  GListModel *windows = gtk_window_get_toplevels ();

  for (guint i = 0; i < g_list_model_get_n_items (windows); i++)
    {
      g_autoptr(GtkWidget) window = g_list_model_get_item (windows, i);

      if (ADW_IS_MESSAGE_DIALOG (window) && gtk_widget_get_visible (window))
        return window;
    }
  return NULL;
}

static guint
count_files (const char *folder)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (dir != NULL && g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

/* Presses the button, checks what is asked, and answers. */
static void
answer_install (GtkWidget  *row,
                const char *picture,
                const char *response)
{
  g_autofree char *folder = vn_verify_dup_environment (vn_target_runtime_get_default ()), *shown = vn_format_path (folder);
  GtkWidget *dialog;
  const char *body;

  g_signal_emit_by_name (vn_test_find (row, GTK_TYPE_BUTTON, "_Install…"), "clicked");
  vn_test_settle (300);
  dialog = find_question ();
  g_assert_nonnull (dialog);
  body = adw_message_dialog_get_body (ADW_MESSAGE_DIALOG (dialog));
  g_assert_nonnull (strstr (body, shown));
  g_assert_nonnull (strstr (body, "onnxruntime numpy"));
  if (picture != NULL)
    vn_test_screenshot (dialog, picture);
  adw_message_dialog_response (ADW_MESSAGE_DIALOG (dialog), response);
  vn_test_settle (50);
}

/* Nobody has ONNX Runtime: that is told where its figures would stand. It is installed only if that is wanted, nothing stays of
 * an attempt that is cancelled or fails, and what was waiting is verified afterwards. */
static void
test_install (Fixture       *fixture,
              gconstpointer  data)
{
  g_autofree char *environment = vn_verify_dup_environment (vn_target_runtime_get_default ());
  g_autofree char *caches = g_path_get_dirname (environment);
  Bare bare;
  GtkWidget *panel, *row;

  vn_window_fixture_open_model (fixture);
  bare_set_up (&bare, vn_bench_get_model (VN_BENCH (fixture->document)));
  g_unsetenv ("VN_NO_VERIFY");
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_test_wait (lacks_runtime, fixture->document, SECONDS));
  panel = vn_test_find (vn_window_fixture_open_review (fixture), VN_TYPE_VERIFY_PANEL, NULL);
  row = vn_test_find (panel, ADW_TYPE_ACTION_ROW, "ONNX Runtime was not found");
  g_assert_true (gtk_widget_get_visible (row));
  g_assert_null (vn_bench_get_shown (VN_BENCH (fixture->document))->verification);
  gtk_widget_grab_focus (vn_test_find (row, GTK_TYPE_BUTTON, "_Install…"));   /* brings it into view */
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "runtime-missing");

  answer_install (row, "runtime-question", "cancel");
  g_assert_null (vn_bench_get_install_job (VN_BENCH (fixture->document)));
  g_assert_cmpuint (count_files (caches), ==, 0);

  bare_tell (&bare, "hangs");
  answer_install (row, NULL, "yes");
  g_assert_true (vn_test_wait (is_fetching, fixture->document, SECONDS));
  vn_test_settle (100);
  g_assert_cmpuint (count_files (caches), ==, 1);
  g_assert_cmpstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (row)), ==, "Installing the runtime");
  g_assert_cmpfloat (gtk_progress_bar_get_fraction (GTK_PROGRESS_BAR (vn_test_find (row, GTK_TYPE_PROGRESS_BAR, NULL))), >, 0.2);
  g_assert_null (vn_bench_get_job (VN_BENCH (fixture->document)));   /* other work can go on */
  vn_test_screenshot (GTK_WIDGET (fixture->window), "runtime-installing");
  g_signal_emit_by_name (vn_test_find (row, GTK_TYPE_BUTTON, "_Cancel"), "clicked");
  g_assert_true (vn_test_wait (installs_nothing, fixture->document, SECONDS));
  g_assert_cmpuint (count_files (caches), ==, 0);
  g_assert_cmpuint (fixture->n_failed, ==, 0);

  bare_tell (&bare, "fails");
  answer_install (row, NULL, "yes");
  g_assert_true (vn_test_wait (installs_nothing, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 1);
  g_assert_nonnull (strstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (row)), "no package for this Python"));
  g_assert_cmpuint (count_files (caches), ==, 0);

  bare_tell (&bare, "works");
  answer_install (row, NULL, "yes");
  g_assert_true (vn_test_wait (has_measured, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 1);
  g_assert_cmpstr (vn_bench_get_shown (VN_BENCH (fixture->document))->verification->version, ==, "9.8.7");
  g_assert_false (gtk_widget_get_visible (row));
  g_assert_nonnull (vn_test_find (panel, ADW_TYPE_ACTION_ROW, "Measured in ONNX Runtime 9.8.7"));
  g_setenv ("VN_NO_VERIFY", "1", TRUE);
  bare_tear_down (&bare);
}

static gboolean
shows_past (gpointer data)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (data));

  return result != NULL && result->quantized == NULL && vn_window_fixture_is_idle (data);
}

/* An earlier run was never run in ONNX Runtime: that there is none is told as soon as its project is open, not only when somebody
 * asks. */
static void
test_reopened (Fixture       *fixture,
               gconstpointer  data)
{
  g_autofree char *path = g_build_filename (fixture->folder, "reopened.vernier", NULL);
  g_autoptr(GError) error = NULL;
  Bare bare;
  GtkWidget *panel, *row;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_bench_save_project (VN_BENCH (fixture->document), path, &error));
  g_assert_no_error (error);
  bare_set_up (&bare, vn_bench_get_model (VN_BENCH (fixture->document)));
  g_unsetenv ("VN_NO_VERIFY");
  g_assert_cmpint (vn_verify_runtime_get_state (vn_target_runtime_get_default ()), !=, VN_RUNTIME_STATE_MISSING);
  g_assert_true (vn_bench_open_project (VN_BENCH (fixture->document), path, NULL, &error));
  g_assert_true (vn_test_wait (shows_past, fixture->document, SECONDS));
  g_assert_true (vn_test_wait (lacks_runtime, fixture->document, SECONDS));
  panel = vn_test_find (vn_window_fixture_open_review (fixture), VN_TYPE_VERIFY_PANEL, NULL);
  row = vn_test_find (panel, ADW_TYPE_ACTION_ROW, "ONNX Runtime was not found");
  vn_test_settle (50);
  g_assert_true (gtk_widget_get_visible (row));
  g_assert_null (vn_bench_get_shown (VN_BENCH (fixture->document))->verification);
  g_setenv ("VN_NO_VERIFY", "1", TRUE);
  bare_tear_down (&bare);
}

int
main (int    argc,
      char **argv)
{
  static const struct { const char *path; void (*func) (Fixture *, gconstpointer); } tests[] = {
    { "/runtime/measured", test_verify },
    { "/runtime/fails", test_verify_fails },
    { "/runtime/usually", test_verify_usually },
    { "/runtime/reopened", test_reopened },
    { "/runtime/install", test_install },
  };

  vn_window_fixture_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, vn_window_fixture_set_up, tests[i].func, vn_window_fixture_tear_down);
  return g_test_run ();
}
