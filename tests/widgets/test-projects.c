/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work that is not lost: it keeps itself, comes back when a window is closed or another model is opened, and as a project; runs
 * are brought back, named and removed. */
#include "vn-compare-page.h"
#include "vn-draft.h"
#include "vn-graph-edit.h"
#include "vn-onnx.h"
#include "vn-recent-row.h"
#include "vn-review-table.h"
#include "vn-runs-list.h"
#include "vn-step-data.h"
#include "vn-window.h"
#include "vn-wizard.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <glib/gstdio.h>
#include <string.h>

static guint
count_drafts (void)
{
  g_autofree char *folder = vn_drafts_dup_folder ();
  g_autoptr(GPtrArray) drafts = vn_drafts_list (folder);

  return drafts->len;
}

static void
discard_drafts (void)
{
  g_autofree char *folder = vn_drafts_dup_folder ();
  g_autoptr(GPtrArray) drafts = vn_drafts_list (folder);

  for (guint i = 0; i < drafts->len; i++)
    {
      g_autoptr(VnDraft) draft = vn_draft_open (g_ptr_array_index (drafts, i), NULL);

      g_assert_true (vn_draft_discard (draft, NULL));
    }
}

/* Everything is in files: no line of a run has its record in memory. */
static gboolean
is_kept (gpointer data)
{
  GPtrArray *runs = vn_bench_get_runs (VN_BENCH (data));

  for (guint i = 0; i < runs->len; i++)
    if (((VnProjectRun *) g_ptr_array_index (runs, i))->record != NULL)
      return FALSE;
  return vn_bench_get_place (VN_BENCH (data)) != NULL && vn_bench_get_origins_job (VN_BENCH (data)) == NULL &&
         vn_window_fixture_is_idle (data);
}

static gboolean
has_result (gpointer data)
{
  return vn_bench_get_shown (VN_BENCH (data)) != NULL;
}

static void
work (Fixture *fixture)
{
  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  vn_document_select_one (fixture->document, vn_window_fixture_get_item (fixture, "/left/conv")->index);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.set-precision", "s", "16");
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 1);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  vn_test_settle (1300);   /* longer than work waits before it is kept */
  g_assert_true (vn_test_wait (is_kept, fixture->document, SECONDS));
}

static VnWindow *
open_in_new_window (Fixture    *fixture,
                    const char *path)
{
  VnWindow *window = vn_window_new (gtk_window_get_application (GTK_WINDOW (fixture->window)));
  g_autoptr(GFile) file = g_file_new_for_path (path);

  gtk_window_present (GTK_WINDOW (window));
  vn_window_open_file (window, file);
  g_assert_true (vn_test_wait (vn_window_fixture_has_model, vn_window_get_document (window), SECONDS));
  return window;
}

static gboolean
compares_a_run (gpointer window)
{
  GtkWidget *page = vn_test_find (window, VN_TYPE_COMPARE_PAGE, NULL);
  GtkWidget *stack = page != NULL ? vn_test_find (page, GTK_TYPE_STACK, NULL) : NULL;

  return stack != NULL && g_strcmp0 (gtk_stack_get_visible_child_name (GTK_STACK (stack)), "compare") == 0 &&
         !vn_compare_page_is_busy (VN_COMPARE_PAGE (page));
}

static void
assert_same_work (VnDocument *document,
                  guint       n_runs)
{
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (document))->overrides->len, ==, 1);
  g_assert_nonnull (vn_bench_get_data (VN_BENCH (document)));
  g_assert_cmpuint (vn_bench_get_n_samples (VN_BENCH (document)), ==, 10);
  g_assert_cmpuint (vn_bench_get_runs (VN_BENCH (document))->len, ==, n_runs);
  g_assert_true (vn_test_wait (has_result, document, SECONDS));
  g_assert_nonnull (vn_bench_get_shown (VN_BENCH (document))->errors);
  g_assert_false (vn_bench_is_stale (VN_BENCH (document)));
}

/* The window is closed, or the program killed: the draft is there. */
static void
test_draft (Fixture       *fixture,
            gconstpointer  data)
{
  g_autofree char *path = NULL;
  guint n_runs;
  VnWindow *second, *third;
  GtkWidget *row;

  work (fixture);
  n_runs = vn_bench_get_runs (VN_BENCH (fixture->document))->len;
  g_assert_cmpuint (n_runs, ==, 2);
  path = g_strdup (vn_bench_get_place (VN_BENCH (fixture->document)));
  g_assert_cmpuint (count_drafts (), ==, 0);   /* in use */

  second = vn_window_new (gtk_window_get_application (GTK_WINDOW (fixture->window)));
  gtk_window_present (GTK_WINDOW (second));
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  fixture->window = second;
  fixture->document = vn_window_get_document (second);
  vn_test_settle (200);
  g_assert_cmpuint (count_drafts (), ==, 1);
  vn_test_screenshot (GTK_WIDGET (second), "small-recent");

  third = open_in_new_window (fixture, path);
  assert_same_work (vn_window_get_document (third), n_runs);
  gtk_stack_set_visible_child_name (GTK_STACK (gtk_widget_get_ancestor (vn_test_find (GTK_WIDGET (third), VN_TYPE_RUNS_LIST,
                                                                                      NULL), GTK_TYPE_STACK)), "recipe");
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (third), "small-project");
  /* its runs can be compared, though their networks must be made again */
  gtk_widget_activate_action (GTK_WIDGET (third), "win.show-page", "s", "compare");
  g_assert_true (vn_test_wait (compares_a_run, third, SECONDS));
  row = vn_recent_row_new (path, NULL, TRUE);
  g_object_ref_sink (row);
  g_assert_cmpstr (adw_preferences_row_get_title (ADW_PREFERENCES_ROW (row)), ==, "small.onnx");
  g_assert_nonnull (strstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (row)), "1 rule · 2 runs"));
  g_object_unref (row);
  gtk_window_destroy (GTK_WINDOW (third));
  vn_test_settle (100);
  discard_drafts ();
}

/* Another model takes the window: the work on the one before is kept, and a button leads back. */
static void
test_left (Fixture       *fixture,
           gconstpointer  data)
{
  g_autofree char *other = g_build_filename (fixture->folder, "other.onnx", NULL), *path = NULL;
  g_autoptr(GFile) file = g_file_new_for_path (other), draft = NULL;
  GtkWidget *button;

  vn_window_fixture_write_model (other, FALSE);
  work (fixture);
  path = g_strdup (vn_bench_get_place (VN_BENCH (fixture->document)));
  vn_window_open_file (fixture->window, file);
  vn_test_settle (500);
  g_assert_true (vn_test_wait (vn_window_fixture_has_model, fixture->document, SECONDS));
  g_assert_null (vn_bench_get_shown (VN_BENCH (fixture->document)));
  g_assert_null (vn_bench_get_place (VN_BENCH (fixture->document)));
  vn_test_settle (300);
  button = vn_test_find (GTK_WIDGET (fixture->window), GTK_TYPE_BUTTON, "Go Back");
  g_assert_nonnull (button);
  g_signal_emit_by_name (button, "clicked");
  vn_test_settle (500);
  g_assert_true (vn_test_wait (vn_window_fixture_has_model, fixture->document, SECONDS));
  assert_same_work (fixture->document, 2);
  g_assert_cmpstr (vn_bench_get_place (VN_BENCH (fixture->document)), ==, path);
}

/* Saved once, the project keeps itself, and the draft is gone. */
static void
test_project (Fixture       *fixture,
              gconstpointer  data)
{
  g_autofree char *path = g_build_filename (fixture->folder, "a.vernier", NULL), *runs = g_strconcat (path, "-runs", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnProject) project = NULL;
  VnWindow *second;
  gboolean ok;

  discard_drafts ();
  work (fixture);
  ok = vn_bench_save_project (VN_BENCH (fixture->document), path, &error);
  g_assert_no_error (error);
  g_assert_true (ok);
  g_assert_cmpstr (vn_bench_get_project_path (VN_BENCH (fixture->document)), ==, path);
  vn_bench_rename_run (VN_BENCH (fixture->document),
                       ((VnProjectRun *) g_ptr_array_index (vn_bench_get_runs (VN_BENCH (fixture->document)), 0))->id, "8 bit");
  vn_bench_undo (VN_BENCH (fixture->document));
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  vn_test_settle (1300);
  g_assert_true (vn_test_wait (is_kept, fixture->document, SECONDS));
  vn_test_settle (500);
  project = vn_project_load (path, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (project->recipe->overrides->len, ==, 0);
  g_assert_cmpuint (project->runs->len, ==, 2);   /* the first came again: it is no third */
  g_assert_true (g_strcmp0 (((VnProjectRun *) g_ptr_array_index (project->runs, 0))->name, "8 bit") == 0 ||
                 g_strcmp0 (((VnProjectRun *) g_ptr_array_index (project->runs, 1))->name, "8 bit") == 0);
  g_assert_cmpuint (count_drafts (), ==, 0);
  second = open_in_new_window (fixture, path);
  g_assert_true (vn_test_wait (has_result, vn_window_get_document (second), SECONDS));
  g_assert_cmpint (vn_bench_get_expecting (VN_BENCH (vn_window_get_document (second))), ==, VN_EXPECTING_PAST);
  g_assert_cmpfloat (vn_run_get_seconds (vn_bench_get_shown (VN_BENCH (vn_window_get_document (second))), NULL), >, 0);
  gtk_widget_activate_action (GTK_WIDGET (second), "win.quantize", NULL);   /* what there is to see is seen at once */
  g_assert_cmpstr (vn_wizard_get_step (VN_WIZARD (vn_test_find (GTK_WIDGET (second), VN_TYPE_WIZARD, NULL))), ==, "review");
  g_assert_true (vn_test_find (vn_test_find (GTK_WIDGET (second), VN_TYPE_REVIEW_TABLE, NULL), GTK_TYPE_LABEL, "Size") != NULL);
  gtk_window_destroy (GTK_WINDOW (second));
  for (guint i = 0; i < project->runs->len; i++)
    g_unlink (((VnProjectRun *) g_ptr_array_index (project->runs, i))->file);
}

static GtkWidget *
find_row (GtkWidget  *list,
          const char *id)
{
  GtkWidget *box = gtk_widget_get_first_child (list);

  for (GtkWidget *row = gtk_widget_get_first_child (box); row != NULL; row = gtk_widget_get_next_sibling (row))
    if (g_strcmp0 (g_object_get_data (G_OBJECT (row), "vn-run"), id) == 0)
      return row;
  return NULL;
}

typedef struct
{
  GtkWidget  *list;
  const char *id;
} RowOf;

static gboolean
has_row (gpointer data)
{
  const RowOf *row = data;

  return find_row (row->list, row->id) != NULL;
}

static gboolean
has_no_row (gpointer data)
{
  return !has_row (data);
}

/* Asks for the name of a run and gives one. */
/* A network whose batch, height and width are open. */
static void
write_open_model (const char *path)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  VnValue *input = vn_graph_add_input (model->graph, "image", VN_DTYPE_F32, &VN_SHAPE (-1, 3, -1, -1));
  VnValue *output = vn_graph_add_value (model->graph, "out", VN_DTYPE_F32, &VN_SHAPE (-1, 3, -1, -1));

  vn_graph_add_node (model->graph, "relu", "", "Relu", &input, 1, &output, 1);
  vn_graph_set_output (model->graph, 0, output);
  g_assert_true (vn_onnx_write_file (model, path, NULL, NULL, NULL));
}

/* What all controls of the page of the samples say, in words. */
static char *
read_data_page (VnWindow *window)
{
  GtkWidget *step = vn_test_find (GTK_WIDGET (window), VN_TYPE_STEP_DATA, NULL), *rows;
  VnDocument *document = vn_window_get_document (window);
  g_autoptr(GString) all = g_string_new (NULL);
  g_autoptr(GQueue) queue = g_queue_new ();
  GtkWidget *widget;

  g_assert_nonnull (step);
  rows = step;
  g_queue_push_tail (queue, rows);
  while ((widget = g_queue_pop_head (queue)) != NULL)
    {
      if (GTK_IS_SPIN_BUTTON (widget))
        g_string_append_printf (all, "spin %g\n", gtk_spin_button_get_value (GTK_SPIN_BUTTON (widget)));
      else if (GTK_IS_SWITCH (widget))
        g_string_append_printf (all, "switch %d\n", gtk_switch_get_active (GTK_SWITCH (widget)));
      else if (ADW_IS_COMBO_ROW (widget))
        g_string_append_printf (all, "combo %u\n", adw_combo_row_get_selected (ADW_COMBO_ROW (widget)));
      else if (ADW_IS_ENTRY_ROW (widget))
        g_string_append_printf (all, "entry %s\n", gtk_editable_get_text (GTK_EDITABLE (widget)));
      else
        for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
          g_queue_push_tail (queue, child);
    }
  g_string_append_printf (all, "samples %u\n", vn_bench_get_n_samples (VN_BENCH (document)));
  return g_string_free (g_steal_pointer (&all), FALSE);
}

typedef struct { VnWindow *window; const char *wanted; } Page;

static gboolean
reads_as_wanted (gpointer data)
{
  const Page *page = data;
  g_autofree char *now = read_data_page (page->window);

  return g_str_equal (now, page->wanted);
}

/* The page of the samples is as it was left: also how many there are, how they are prepared and what size they are run in. */
static void
test_data_page (Fixture       *fixture,
                gconstpointer  data)
{
  g_autofree char *path = g_build_filename (fixture->folder, "sizes.vernier", NULL), *before = NULL, *after = NULL;
  g_autofree char *samples = g_build_filename (g_getenv ("VN_DEMO_DIR"), "samples", NULL);
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (samples);
  g_autoptr(GError) error = NULL;
  VnWindow *second;

  discard_drafts ();
  write_open_model (fixture->model_path);
  vn_window_fixture_open_model (fixture);
  vn_bench_set_input_shape (VN_BENCH (fixture->document), "image", &VN_SHAPE (1, 3, 40, 56));
  vn_bench_set_n_samples (VN_BENCH (fixture->document), 17);
  spec->held_out = 5;
  spec->preprocess.fit = VN_FIT_LETTERBOX;
  spec->preprocess.color = VN_COLOR_BGR;
  spec->preprocess.layout = VN_LAYOUT_NCHW;
  spec->preprocess.fill = 114;
  for (guint i = 0; i < 3; i++)
    {
      spec->preprocess.mean[i] = 100 + (float) i;
      spec->preprocess.std[i] = 50 + (float) i;
    }
  vn_bench_set_data (VN_BENCH (fixture->document), spec);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.quantize", NULL);
  vn_test_settle (800);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-data-page");
  before = read_data_page (fixture->window);
  g_test_message ("%s", before);
  g_assert_nonnull (strstr (before, "entry 1×3×40×56"));
  g_assert_nonnull (strstr (before, "spin 17"));
  g_assert_nonnull (strstr (before, "spin 5"));
  g_assert_true (vn_bench_save_project (VN_BENCH (fixture->document), path, &error));
  g_assert_no_error (error);
  vn_bench_set_n_samples (VN_BENCH (fixture->document), 100);

  second = open_in_new_window (fixture, path);
  gtk_widget_activate_action (GTK_WIDGET (second), "win.quantize", NULL);
  vn_test_wait (reads_as_wanted, &(Page) { second, before }, SECONDS);
  after = read_data_page (second);
  g_assert_cmpstr (after, ==, before);
  g_assert_cmpint (vn_bench_get_size (VN_BENCH (vn_window_get_document (second)), "image")->dims[3], ==, 56);
  gtk_window_destroy (GTK_WINDOW (second));
  vn_test_settle (100);
  discard_drafts ();
}

static void
name_run (Fixture    *fixture,
          const char *id,
          const char *name)
{
  GListModel *windows = gtk_window_get_toplevels ();
  GtkWidget *dialog = NULL;

  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.rename-run", "s", id);
  vn_test_settle (300);
  for (guint i = 0; i < g_list_model_get_n_items (windows) && dialog == NULL; i++)
    {
      g_autoptr(GtkWidget) window = g_list_model_get_item (windows, i);

      dialog = ADW_IS_MESSAGE_DIALOG (window) ? window : NULL;
    }
  g_assert_nonnull (dialog);
  gtk_editable_set_text (GTK_EDITABLE (vn_test_find (dialog, GTK_TYPE_ENTRY, NULL)), name);
  adw_message_dialog_response (ADW_MESSAGE_DIALOG (dialog), "rename");
  gtk_window_destroy (GTK_WINDOW (dialog));
  vn_test_settle (300);
}

/* A click brings a run back, as a step that can be undone. */
static void
test_runs (Fixture       *fixture,
           gconstpointer  data)
{
  VnProjectRun *first, *second;
  g_autofree char *id = NULL;
  GtkWidget *list, *row;

  work (fixture);
  first = g_ptr_array_index (vn_bench_get_runs (VN_BENCH (fixture->document)), 0);
  second = g_ptr_array_index (vn_bench_get_runs (VN_BENCH (fixture->document)), 1);
  id = g_strdup (first->id);
  g_assert_false (vn_bench_is_shown (VN_BENCH (fixture->document), first));
  g_assert_true (vn_bench_is_shown (VN_BENCH (fixture->document), second));
  list = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_RUNS_LIST, NULL);
  g_assert_nonnull (list);
  row = find_row (list, id);
  g_assert_nonnull (row);
  g_signal_emit_by_name (gtk_widget_get_first_child (list), "row-activated", row);
  vn_test_settle (500);
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 0);
  g_assert_true (vn_bench_is_shown (VN_BENCH (fixture->document), vn_bench_find_run (VN_BENCH (fixture->document), id)));
  g_assert_nonnull (vn_bench_undo (VN_BENCH (fixture->document)));
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 1);

  name_run (fixture, id, "Plain");
  g_assert_cmpstr (vn_bench_find_run (VN_BENCH (fixture->document), id)->name, ==, "Plain");
  g_assert_nonnull (vn_test_find (list, ADW_TYPE_ACTION_ROW, "Plain"));

  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.remove-run", "s", id);
  g_assert_null (vn_bench_find_run (VN_BENCH (fixture->document), id));
  g_assert_true (vn_test_wait (has_no_row, &(RowOf) { list, id }, SECONDS));
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.return-run", NULL);
  g_assert_true (vn_test_wait (has_row, &(RowOf) { list, id }, SECONDS));
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/projects/draft", Fixture, NULL, vn_window_fixture_set_up, test_draft, vn_window_fixture_tear_down);
  g_test_add ("/projects/left", Fixture, NULL, vn_window_fixture_set_up, test_left, vn_window_fixture_tear_down);
  g_test_add ("/projects/project", Fixture, NULL, vn_window_fixture_set_up, test_project, vn_window_fixture_tear_down);
  g_test_add ("/projects/data-page", Fixture, NULL, vn_window_fixture_set_up, test_data_page, vn_window_fixture_tear_down);
  g_test_add ("/projects/runs", Fixture, NULL, vn_window_fixture_set_up, test_runs, vn_window_fixture_tear_down);
  return g_test_run ();
}
