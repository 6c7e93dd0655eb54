/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two networks beside each other: what each side shows, what differs is marked, selections follow each other, and one tensor is
 * looked at in both. */
#include "compare-fixture.h"
#include "vn-channels-chart.h"
#include "vn-compare-table.h"
#include "vn-compare-tensor.h"
#include "vn-node-item.h"
#include "vn-tensor-picture.h"
#include "widget-fixture.h"

#include <math.h>

typedef struct
{
  GtkWidget *within;
  const char *text;
} WantedLabel;

static gboolean
has_label (gpointer data)
{
  WantedLabel *wanted = data;

  return vn_test_find (wanted->within, GTK_TYPE_LABEL, wanted->text) != NULL;
}

/* ---- a network and its quantized self ---- */

static void
test_empty (Fixture       *fixture,
            gconstpointer  data)
{
  CompareParts parts;
  GtkWidget *stack;

  vn_window_fixture_open_model (fixture);
  parts = vn_compare_show (fixture);
  stack = vn_compare_get_nth (GTK_WIDGET (parts.page), GTK_TYPE_STACK, 0);
  g_assert_cmpstr (gtk_stack_get_visible_child_name (GTK_STACK (stack)), ==, "empty");
  vn_window_fixture_quantize (fixture);
  vn_compare_wait (&parts);
  g_assert_cmpstr (gtk_stack_get_visible_child_name (GTK_STACK (stack)), ==, "compare");
  g_assert_cmpint (vn_compare_pane_get_source (parts.panes[0])->kind, ==, VN_COMPARE_FLOAT);
  g_assert_cmpint (vn_compare_pane_get_source (parts.panes[1])->kind, ==, VN_COMPARE_NOW);
}

static void
test_result (Fixture       *fixture,
             gconstpointer  data)
{
  CompareParts parts;
  VnOverlay *overlay;
  guint n_measured = 0;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  parts = vn_compare_show (fixture);
  g_assert_true (vn_scene_same_geometry (vn_graph_view_get_scene (parts.views[0]), vn_graph_view_get_scene (parts.views[1])));
  g_assert_true (vn_graph_view_get_layout (parts.views[0]) == vn_graph_view_get_layout (parts.views[1]));
  /* float is plain, the other one has its heat */
  g_assert_cmpint (vn_overlay_get_kind (vn_graph_view_get_overlay (parts.views[0])), ==, VN_OVERLAY_NONE);
  overlay = vn_graph_view_get_overlay (parts.views[1]);
  g_assert_cmpint (vn_overlay_get_kind (overlay), ==, VN_OVERLAY_ERROR);
  for (guint i = 0; i < vn_overlay_get_n (overlay); i++)
    n_measured += vn_overlay_get (overlay, i)->measured;
  g_assert_cmpuint (n_measured, ==, 6);
  g_assert_cmpuint (vn_compare_count_marks (parts.views[1], VN_MARK_NONE), ==, vn_overlay_get_n (overlay));
  /* what is selected here is selected there, and in the document */
  vn_compare_click_box (parts.views[0], "/left/conv");
  g_assert_true (vn_graph_view_is_selected (parts.views[1], vn_compare_find_box (parts.views[1], "/left/conv")));
  g_assert_cmpuint (vn_graph_view_get_focus_node (parts.views[1]), ==, vn_compare_find_box (parts.views[1], "/left/conv"));
  g_assert_true (gtk_bitset_contains (vn_document_get_selection (fixture->document),
                                      vn_window_fixture_get_item (fixture, "/left/conv")->index));
  vn_compare_wait (&parts);
  g_assert_cmpstr (vn_compare_get_page (&parts), ==, "tensor");
  vn_document_select_one (fixture->document, vn_window_fixture_get_item (fixture, "/right/conv")->index);
  g_assert_true (vn_graph_view_is_selected (parts.views[0], vn_compare_find_box (parts.views[0], "/right/conv")));
  g_assert_true (vn_graph_view_is_selected (parts.views[1], vn_compare_find_box (parts.views[1], "/right/conv")));
  vn_compare_wait (&parts);
}

/* Over the samples that the network that is looked at was not calibrated with. */
static double
get_held_out (Fixture    *fixture,
              const char *node)
{
  VnErrorTable *errors = vn_bench_get_shown (VN_BENCH (fixture->document))->errors;

  for (guint i = 0; i < vn_error_table_get_n (errors); i++)
    if (g_str_equal (vn_error_table_get (errors, i)->node, node))
      return vn_error_table_get (errors, i)->held_out_db;
  return NAN;
}

/* Figures of the tensor are those of the run; a click on a channel shows it. */
static void
test_tensor (Fixture       *fixture,
             gconstpointer  data)
{
  CompareParts parts;
  VnNodeItem *item;
  g_autofree char *db = NULL;
  GtkSpinButton *channel;
  GtkWidget *weight;
  guint row, column;
  VnTensorPicture *pictures[3];

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  item = vn_window_fixture_get_item (fixture, "/left/conv");
  vn_document_select_one (fixture->document, item->index);
  parts = vn_compare_show (fixture);
  g_assert_cmpstr (vn_compare_get_page (&parts), ==, "tensor");
  db = vn_metric_format (VN_METRIC_SQNR, get_held_out (fixture, "/left/conv"));
  g_test_message ("the run says %s", db);
  /* one sample first, then all that are held out, whose figure is that of the run */
  g_assert_true (vn_test_wait (has_label, &(WantedLabel) { parts.tensor, db }, SECONDS));
  channel = GTK_SPIN_BUTTON (vn_compare_get_nth (parts.tensor, GTK_TYPE_SPIN_BUTTON, 0));
  g_assert_cmpfloat (gtk_adjustment_get_upper (gtk_spin_button_get_adjustment (channel)), ==, 7);
  g_signal_emit_by_name (vn_compare_get_nth (parts.tensor, VN_TYPE_CHANNELS_CHART, 0), "channel-chosen", 5);
  g_assert_cmpint (gtk_spin_button_get_value_as_int (channel), ==, 5);
  for (guint i = 0; i < 3; i++)
    pictures[i] = VN_TENSOR_PICTURE (vn_compare_get_nth (parts.tensor, VN_TYPE_TENSOR_PICTURE, i));
  vn_tensor_picture_set_hover (pictures[2], TRUE, 3, 4);
  g_signal_emit_by_name (pictures[2], "hover-changed");
  g_assert_true (vn_tensor_picture_get_hover (pictures[0], &row, &column));
  g_assert_cmpuint (row, ==, 3);
  g_assert_cmpuint (column, ==, 4);
  weight = vn_test_find (parts.tensor, GTK_TYPE_TOGGLE_BUTTON, "Weight");
  g_assert_true (gtk_widget_get_visible (weight));
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (weight), TRUE);
  vn_compare_wait (&parts);
  g_assert_cmpstr (vn_compare_get_page (&parts), ==, "tensor");
  g_assert_nonnull (vn_test_find (parts.tensor, GTK_TYPE_LABEL, "The weight"));
  vn_test_screenshot (GTK_WIDGET (fixture->window), "compare-small");
}

/* ---- runs ---- */

static void
test_runs (Fixture       *fixture,
           gconstpointer  data)
{
  CompareParts parts;
  VnCompareSource *run = NULL;
  GtkWidget *drop, *table;
  GListModel *list;
  guint box;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  vn_document_select_one (fixture->document, vn_window_fixture_get_item (fixture, "/left/conv")->index);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.set-precision", "s", "16");
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  parts = vn_compare_show (fixture);
  drop = vn_compare_get_nth (GTK_WIDGET (parts.panes[0]), GTK_TYPE_DROP_DOWN, 0);
  list = gtk_drop_down_get_model (GTK_DROP_DOWN (drop));
  for (guint i = 0; i < g_list_model_get_n_items (list) && run == NULL; i++)
    {
      g_autoptr(VnCompareSource) source = g_list_model_get_item (list, i);

      if (source->kind != VN_COMPARE_RUN)
        continue;
      run = source;
      gtk_drop_down_set_selected (GTK_DROP_DOWN (drop), i);
    }
  g_assert_nonnull (run);
  vn_compare_wait (&parts);
  g_assert_true (vn_compare_pane_get_source (parts.panes[0]) == run);
  /* the one node whose precision differs, on both sides */
  g_assert_cmpuint (vn_compare_count_marks (parts.views[0], VN_MARK_CHANGED), ==,
                    vn_compare_count_marks (parts.views[1], VN_MARK_CHANGED));
  g_assert_cmpuint (vn_compare_count_marks (parts.views[0], VN_MARK_CHANGED), >, 0);
  box = vn_compare_find_box (parts.views[0], "/left/conv");
  g_assert_cmpint (vn_overlay_get (vn_graph_view_get_overlay (parts.views[0]), box)->mark, ==, VN_MARK_CHANGED);
  g_assert_cmpstr (vn_compare_get_page (&parts), ==, "tensor");
  table = vn_compare_get_nth (GTK_WIDGET (parts.page), VN_TYPE_COMPARE_TABLE, 0);
  g_assert_cmpuint (vn_compare_table_get_n (VN_COMPARE_TABLE (table)), ==, 2);
}

static gboolean
is_loaded (gpointer data)
{
  return !vn_compare_source_is_busy (data);
}

/* Of a run that a file keeps only what it gave is left, not its networks: these are made again when they are asked for. */
static void
test_kept_run (Fixture       *fixture,
               gconstpointer  data)
{
  g_autoptr(VnRun) record = NULL;
  g_autoptr(VnProjectRun) run = NULL;
  g_autoptr(VnCompareSource) source = NULL;
  VnErrorTable *errors;
  guint node;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  node = vn_window_fixture_get_item (fixture, "/left/conv")->index;
  record = vn_run_without_networks (vn_bench_get_confirmed (VN_BENCH (fixture->document)));
  record->time = 1;   /* none that the document remembers */
  run = vn_project_run_new ("kept", record);
  source = vn_compare_source_new (fixture->document, VN_COMPARE_RUN, run, NULL);
  vn_compare_source_load (source);
  g_assert_true (vn_test_wait (is_loaded, source, SECONDS));
  g_assert_nonnull (source->model);
  g_assert_false (vn_compared_model_has_network (source->model));
  g_assert_nonnull (vn_compared_model_get_row (source->model, node));
  vn_compare_source_rebuild (source);
  g_assert_true (vn_compare_source_is_busy (source));
  g_assert_true (vn_test_wait (is_loaded, source, SECONDS));
  g_assert_true (vn_compared_model_has_network (source->model));
  errors = vn_compared_model_get_errors (source->model);
  g_assert_cmpfloat_with_epsilon (vn_error_table_get_outputs_sqnr (errors), vn_error_table_get_outputs_sqnr (record->errors),
                                  1e-9);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

static gboolean
has_failed (gpointer data)
{
  return ((Fixture *) data)->n_failed > 0;
}

static gboolean
is_gone (gpointer data)
{
  return *(gpointer *) data == NULL;
}

/* What is no model is said, and can be left again; what is not seen is not run. */
static void
test_failure (Fixture       *fixture,
              gconstpointer  data)
{
  g_autofree char *path = g_build_filename (fixture->folder, "broken.onnx", NULL);
  CompareParts parts;

  g_assert_true (g_file_set_contents (path, "no model", -1, NULL));
  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  parts = vn_compare_show (fixture);
  vn_compare_page_open_file (parts.page, path, 1);
  g_assert_true (vn_test_wait (has_failed, fixture, SECONDS));
  vn_compare_wait (&parts);
  g_assert_null (vn_compare_pane_get_model (parts.panes[1]));
  g_assert_nonnull (vn_compare_pane_get_source (parts.panes[1])->error);
  gtk_drop_down_set_selected (GTK_DROP_DOWN (vn_compare_get_nth (GTK_WIDGET (parts.panes[1]), GTK_TYPE_DROP_DOWN, 0)), 1);
  vn_compare_wait (&parts);
  g_assert_nonnull (vn_compare_pane_get_model (parts.panes[1]));
  vn_window_show_page (fixture->window, "graph");
  vn_test_settle (400);
  vn_document_select_one (fixture->document, vn_window_fixture_get_item (fixture, "/left/conv")->index);
  g_assert_false (vn_compare_tensor_is_busy (VN_COMPARE_TENSOR (parts.tensor)));
}

/* What is still being opened when the window is closed comes to nothing. */
static void
test_closed (Fixture       *fixture,
             gconstpointer  data)
{
  GtkWindow *first = GTK_WINDOW (fixture->window);
  VnCompareSource *source;
  CompareParts parts;

  vn_window_fixture_open_model (fixture);
  parts = vn_compare_show (fixture);
  vn_compare_page_open_file (parts.page, fixture->model_path, 1);
  source = vn_compare_pane_get_source (parts.panes[1]);
  g_assert_true (vn_compare_source_is_busy (source));
  g_object_add_weak_pointer (G_OBJECT (source), (gpointer *) &source);
  fixture->window = vn_window_new (gtk_window_get_application (first));
  gtk_window_present (GTK_WINDOW (fixture->window));
  fixture->document = vn_window_get_document (fixture->window);
  gtk_window_destroy (first);
  g_assert_true (vn_test_wait (is_gone, &source, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

/* A side that is kept by what builds its scene lives longer than the other when the window closes. */
static void
test_other_gone (Fixture       *fixture,
                 gconstpointer  data)
{
  g_autoptr(VnCompareSource) source = NULL;
  VnComparePane *panes[2];

  vn_window_fixture_open_model (fixture);
  source = vn_compare_source_new (fixture->document, VN_COMPARE_FLOAT, NULL, NULL);
  for (guint i = 0; i < 2; i++)
    panes[i] = g_object_ref_sink (g_object_new (VN_TYPE_COMPARE_PANE, NULL));
  for (guint i = 0; i < 2; i++)
    vn_compare_pane_set_beside (panes[i], panes[1 - i]);
  vn_compare_pane_show (panes[0], TRUE);
  vn_compare_pane_set_source (panes[0], source);
  vn_compare_source_load (source);
  g_assert_nonnull (vn_compare_pane_get_scene (panes[0]));
  g_object_add_weak_pointer (G_OBJECT (panes[0]), (gpointer *) &panes[0]);
  g_object_unref (panes[0]);
  g_assert_null (panes[0]);
  vn_compare_pane_show (panes[1], TRUE);
  vn_compare_pane_set_source (panes[1], source);
  g_assert_nonnull (vn_compare_pane_get_scene (panes[1]));
  g_object_unref (panes[1]);
}

/* ---- names for those who do not see ---- */

static void
check_names (GtkWidget *root,
             guint     *n)
{
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL; child = gtk_widget_get_next_sibling (child))
    {
      if (GTK_IS_BUTTON (child) && gtk_button_get_icon_name (GTK_BUTTON (child)) != NULL)
        {
          g_assert_nonnull (gtk_widget_get_tooltip_text (child));
          ++*n;
        }
      if (!GTK_IS_SPIN_BUTTON (child))   /* GTK names what is in it */
        check_names (child, n);
    }
}

static void
test_names (Fixture       *fixture,
            gconstpointer  data)
{
  CompareParts parts;
  guint n = 0;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  parts = vn_compare_show (fixture);
  check_names (GTK_WIDGET (parts.page), &n);
  g_assert_cmpuint (n, >=, 4);
  gtk_test_accessible_assert_property (GTK_ACCESSIBLE (vn_compare_get_nth (GTK_WIDGET (parts.panes[0]), GTK_TYPE_DROP_DOWN, 0)),
                                       GTK_ACCESSIBLE_PROPERTY_LABEL, "Content of This Side");
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  /* cameras and side panels are there at once */
  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", FALSE, NULL);
#define ADD(path, function) \
  g_test_add (path, Fixture, NULL, vn_window_fixture_set_up, function, vn_window_fixture_tear_down)
  ADD ("/compare/empty", test_empty);
  ADD ("/compare/result", test_result);
  ADD ("/compare/tensor", test_tensor);
  ADD ("/compare/runs", test_runs);
  ADD ("/compare/kept-run", test_kept_run);
  ADD ("/compare/failure", test_failure);
  ADD ("/compare/closed", test_closed);
  ADD ("/compare/other-gone", test_other_gone);
  ADD ("/compare/names", test_names);
#undef ADD
  return g_test_run ();
}
