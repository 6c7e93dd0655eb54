/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model changes on disk while a window shows it: that is said, nothing is made of it, and it can be read again without losing
 * anything of the work. */
#include "vn-changed-bar.h"
#include "vn-document.h"
#include "vn-window.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <unistd.h>

static GtkWidget *
get_bar (Fixture *fixture)
{
  return vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_CHANGED_BAR, NULL);
}

static gboolean
is_told (gpointer window)
{
  GtkWidget *revealer = vn_test_find (vn_test_find (window, VN_TYPE_CHANGED_BAR, NULL), GTK_TYPE_REVEALER, NULL);

  return gtk_revealer_get_child_revealed (GTK_REVEALER (revealer));
}

static gboolean
is_not_told (gpointer window)
{
  return !is_told (window);
}

/* As many programs do it: into the file that is there. */
static void
write_into (const char *path,
            const char *data,
            gsize       size)
{
  int fd = g_open (path, O_WRONLY | O_TRUNC, 0);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, data, size), ==, (gssize) size);
  close (fd);
}

static void
make_other (Fixture *fixture,
            char   **data,
            gsize   *size)
{
  g_autofree char *path = g_build_filename (fixture->folder, "other.onnx", NULL);

  vn_window_fixture_write_model (path, FALSE);
  g_assert_true (g_file_get_contents (path, data, size, NULL));
  g_unlink (path);
}

/* Nothing reads the file any more. */
static gboolean
is_done (gpointer document)
{
  return vn_window_fixture_is_idle (document) && vn_bench_get_origins_job (VN_BENCH (document)) == NULL;
}

static void
test_reload (Fixture       *fixture,
             gconstpointer  unused)
{
  g_autofree char *project = g_build_filename (fixture->folder, "p.vernier", NULL),
  *out = g_build_filename (fixture->folder, "out.onnx", NULL);
  g_autofree char *data = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(GError) error = NULL;
  VnModel *before;
  guint n_runs;
  gsize size;

  make_other (fixture, &data, &size);
  vn_window_fixture_open_model (fixture);
  vn_document_select_one (fixture->document, vn_window_fixture_get_item (fixture, "/left/conv")->index);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.set-precision", "s", "16");
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_bench_save (VN_BENCH (fixture->document), "project", project, notes, &error));
  g_assert_no_error (error);
  n_runs = vn_bench_get_runs (VN_BENCH (fixture->document))->len;
  before = vn_bench_get_model (VN_BENCH (fixture->document));
  g_assert_false (is_told (fixture->window));
  g_assert_true (vn_test_wait (is_done, fixture->document, SECONDS));

  write_into (fixture->model_path, data, size);
  g_assert_true (vn_test_wait (is_told, fixture->window, SECONDS));
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-changed");

  /* Nothing is made of constants of neither. */
  g_assert_false (vn_bench_quantize (VN_BENCH (fixture->document), &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_IO);
  g_clear_error (&error);
  g_assert_true (vn_bench_export (VN_BENCH (fixture->document), out, NULL, FALSE, &error));
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 1);
  fixture->n_failed = 0;
  g_assert_false (g_file_test (out, G_FILE_TEST_EXISTS));

  g_signal_emit_by_name (vn_test_find (get_bar (fixture), GTK_TYPE_BUTTON, NULL), "clicked");
  g_assert_true (vn_test_wait (is_not_told, fixture->window, SECONDS));
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_true (vn_bench_get_model (VN_BENCH (fixture->document)) != before);
  g_assert_cmpstr (vn_bench_get_project_path (VN_BENCH (fixture->document)), ==, project);
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 1);
  g_assert_cmpuint (vn_bench_get_runs (VN_BENCH (fixture->document))->len, ==, n_runs);
  g_assert_nonnull (vn_bench_get_data (VN_BENCH (fixture->document)));
  g_assert_null (vn_bench_get_shown (VN_BENCH (fixture->document)));

  /* The work goes on: the step before can be taken back, and the new model is quantized and exported. */
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.undo", NULL);
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 0);
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_bench_export (VN_BENCH (fixture->document), out, NULL, FALSE, &error));
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  g_assert_true (g_file_test (out, G_FILE_TEST_IS_REGULAR));
}

/* A file that takes the place is told as well, unless it has the same bytes; half a file cannot be read and the rest stays. */
static void
test_replaced (Fixture       *fixture,
               gconstpointer  unused)
{
  g_autofree char *same = NULL, *data = NULL;
  gsize n_same, size;
  VnModel *before;

  make_other (fixture, &data, &size);
  vn_window_fixture_open_model (fixture);
  before = vn_bench_get_model (VN_BENCH (fixture->document));
  g_assert_true (g_file_get_contents (fixture->model_path, &same, &n_same, NULL));
  g_assert_true (g_file_set_contents (fixture->model_path, same, (gssize) n_same, NULL));
  vn_test_settle (1000);
  vn_bench_look_at_files (VN_BENCH (fixture->document));
  g_assert_false (vn_bench_has_changed_files (VN_BENCH (fixture->document)));

  g_assert_true (g_file_set_contents (fixture->model_path, data, (gssize) size / 2, NULL));
  g_assert_true (vn_test_wait (is_told, fixture->window, SECONDS));
  g_signal_emit_by_name (vn_test_find (get_bar (fixture), GTK_TYPE_BUTTON, NULL), "clicked");
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 1);
  g_assert_true (vn_bench_get_model (VN_BENCH (fixture->document)) == before);
  g_assert_true (vn_bench_has_changed_files (VN_BENCH (fixture->document)));

  /* As it was: nothing is to be told. */
  g_assert_true (g_file_set_contents (fixture->model_path, same, (gssize) n_same, NULL));
  g_assert_true (vn_test_wait (is_not_told, fixture->window, SECONDS));
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/window/changed/reload", Fixture, NULL, vn_window_fixture_set_up, test_reload, vn_window_fixture_tear_down);
  g_test_add ("/window/changed/replaced", Fixture, NULL, vn_window_fixture_set_up, test_replaced, vn_window_fixture_tear_down);
  return g_test_run ();
}
