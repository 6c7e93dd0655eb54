/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inspector: precision, method and range changed in place, the ends of a range moved, and tensors between nodes. */
#include "inspector-sections.h"
#include "vn-channels-chart.h"
#include "vn-graph-edit.h"
#include "vn-graph-view.h"
#include "vn-histogram-view.h"
#include "vn-inspector.h"
#include "vn-range-editor.h"
#include "vn-range-grip.h"
#include "vn-tensor-panel.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static GtkWidget *
find_named (GtkWidget  *root,
            const char *name)
{
  if (g_str_equal (gtk_widget_get_name (root), name))
    return root;
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL; child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = find_named (child, name);

      if (found != NULL)
        return found;
    }
  return NULL;
}

static GtkWidget *
get_inspector (Fixture *fixture)
{
  return vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_INSPECTOR, NULL);
}

static gboolean
is_settled (gpointer document)
{
  return vn_window_fixture_is_idle (document) && vn_bench_get_expecting (VN_BENCH (document)) != VN_EXPECTING_SOON;
}

static void
select_node (Fixture    *fixture,
             const char *label)
{
  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  vn_document_select_one (fixture->document, vn_window_fixture_get_item (fixture, label)->index);
  vn_test_settle (600);
}

static const VnOverride *
get_only_rule (Fixture *fixture)
{
  const VnRecipe *recipe = vn_bench_get_recipe (VN_BENCH (fixture->document));

  g_assert_cmpuint (recipe->overrides->len, ==, 1);
  return g_ptr_array_index (recipe->overrides, 0);
}

static void
choose (GtkWidget  *row,
        const char *title)
{
  GListModel *model = adw_combo_row_get_model (ADW_COMBO_ROW (row));

  for (guint i = 0; i < g_list_model_get_n_items (model); i++)
    {
      g_autoptr(GtkStringObject) item = g_list_model_get_item (model, i);

      if (!g_str_equal (gtk_string_object_get_string (item), title))
        continue;
      adw_combo_row_set_selected (ADW_COMBO_ROW (row), i);
      vn_test_settle (50);
      return;
    }
  g_assert_not_reached ();
}

static void
settle (Fixture *fixture)
{
  g_assert_true (vn_test_wait (is_settled, fixture->document, SECONDS));
  vn_test_settle (200);
}

/* The recipe that is exported says what was chosen, in one step that can be undone. */
static void
test_precision (Fixture       *fixture,
                gconstpointer  data)
{
  g_autofree char *text = NULL;
  const VnTensorPlan *plan;

  select_node (fixture, "/left/conv");
  choose (find_named (get_inspector (fixture), "edit-precision"), "16-bit");
  g_assert_cmpstr (get_only_rule (fixture)->pattern, ==, "/left/conv");
  g_assert_cmpint (vn_dtype_get_bits (get_only_rule (fixture)->activation), ==, 16);
  text = vn_recipe_to_json (vn_bench_get_recipe (VN_BENCH (fixture->document)));
  g_assert_nonnull (strstr (text, "/left/conv"));
  settle (fixture);
  plan = vn_run_get_node_plan (vn_bench_get_shown (VN_BENCH (fixture->document)),
                               vn_window_fixture_get_item (fixture, "/left/conv")->node);
  g_assert_cmpint (vn_dtype_get_bits (plan->dtype), ==, 16);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "inspector-precision");

  g_assert_nonnull (vn_bench_undo (VN_BENCH (fixture->document)));
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 0);
  settle (fixture);
  choose (find_named (get_inspector (fixture), "edit-weight"), "Float");
  g_assert_true (get_only_rule (fixture)->exclude);
  g_assert_nonnull (get_only_rule (fixture)->tensors);
  settle (fixture);
}

static void
test_method (Fixture       *fixture,
             gconstpointer  data)
{
  const VnTensorPlan *plan;

  select_node (fixture, "/left/conv");
  choose (find_named (get_inspector (fixture), "edit-method"), "Percentile");
  g_assert_cmpstr (get_only_rule (fixture)->method, ==, "percentile");
  settle (fixture);
  plan = vn_run_get_node_plan (vn_bench_get_shown (VN_BENCH (fixture->document)),
                               vn_window_fixture_get_item (fixture, "/left/conv")->node);
  g_assert_cmpstr (plan->method, ==, "percentile");
  choose (find_named (get_inspector (fixture), "edit-method"), "Target default");
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 0);
  settle (fixture);
}

static void
test_range (Fixture       *fixture,
            gconstpointer  data)
{
  const VnTensorPlan *plan;
  GtkWidget *high;

  select_node (fixture, "/left/conv");
  high = find_named (get_inspector (fixture), "edit-high");
  gtk_editable_set_text (GTK_EDITABLE (high), "0,75");
  g_signal_emit_by_name (high, "activate");
  vn_test_settle (50);
  g_assert_cmpstr (get_only_rule (fixture)->max[0], ==, "0.75");
  settle (fixture);
  plan = vn_run_get_node_plan (vn_bench_get_shown (VN_BENCH (fixture->document)),
                               vn_window_fixture_get_item (fixture, "/left/conv")->node);
  g_assert_cmpfloat_with_epsilon (plan->max, 0.75, 1e-6);

  /* what is no number changes nothing */
  high = find_named (get_inspector (fixture), "edit-high");
  gtk_editable_set_text (GTK_EDITABLE (high), "much");
  g_signal_emit_by_name (high, "activate");
  vn_test_settle (50);
  g_assert_true (gtk_widget_has_css_class (high, "error"));
  g_assert_cmpstr (get_only_rule (fixture)->max[0], ==, "0.75");
}

static GtkEventController *
find_drag (GtkWidget *widget)
{
  g_autoptr(GListModel) controllers = gtk_widget_observe_controllers (widget);

  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr(GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (GTK_IS_GESTURE_DRAG (controller))
        return controller;
    }
  g_assert_not_reached ();
  return NULL;
}

static gboolean
has_methods (gpointer inspector)
{
  GtkWidget *all = find_named (inspector, "edit-all-methods");

  return all != NULL && gtk_widget_get_visible (all);
}

/* Nothing is decided while the end is held, but its error is told; then it is one rule and one step. */
static void
test_drag (Fixture       *fixture,
           gconstpointer  data)
{
  GtkWidget *view, *told;
  GtkEventController *drag;
  g_autofree char *before = NULL;
  double x, max;
  const VnTensorPlan *plan;

  select_node (fixture, "/left/conv");
  g_assert_true (vn_test_wait (has_methods, get_inspector (fixture), SECONDS));
  plan = vn_run_get_node_plan (vn_bench_get_shown (VN_BENCH (fixture->document)),
                               vn_window_fixture_get_item (fixture, "/left/conv")->node);
  max = plan->max;
  view = vn_test_find (get_inspector (fixture), VN_TYPE_HISTOGRAM_VIEW, NULL);
  told = gtk_widget_get_next_sibling (view);
  before = g_strdup (gtk_label_get_label (GTK_LABEL (told)));
  drag = find_drag (view);
  g_assert_true (vn_histogram_view_get_place (VN_HISTOGRAM_VIEW (view), max, &x));
  g_signal_emit_by_name (drag, "drag-begin", x, 40.0);
  g_signal_emit_by_name (drag, "drag-update", -30.0, 0.0);
  vn_test_settle (400);
  g_assert_true (vn_histogram_view_is_moving (VN_HISTOGRAM_VIEW (view)));
  g_assert_cmpstr (gtk_label_get_label (GTK_LABEL (told)), !=, before);
  g_assert_nonnull (strstr (gtk_label_get_label (GTK_LABEL (told)), "dB"));
  g_assert_nonnull (strstr (gtk_label_get_label (GTK_LABEL (told)), "clipped"));
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 0);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "inspector-drag");
  g_signal_emit_by_name (drag, "drag-end", -30.0, 0.0);
  vn_test_settle (50);
  g_assert_cmpfloat (g_ascii_strtod (get_only_rule (fixture)->max[0], NULL), <, max);
  settle (fixture);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "inspector-dragged");
  g_assert_nonnull (vn_bench_undo (VN_BENCH (fixture->document)));
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 0);
  settle (fixture);
}

/* The grip is a slider: arrows move it, Escape keeps what was, Enter sets it. */
static void
test_keys (Fixture       *fixture,
           gconstpointer  data)
{
  GtkWidget *view, *grip;

  select_node (fixture, "/left/conv");
  view = vn_test_find (get_inspector (fixture), VN_TYPE_HISTOGRAM_VIEW, NULL);
  grip = vn_test_find (view, VN_TYPE_RANGE_GRIP, NULL);
  g_assert_true (gtk_widget_get_visible (grip));
  gtk_test_accessible_assert_role (grip, GTK_ACCESSIBLE_ROLE_SLIDER);
  g_signal_emit_by_name (grip, "step", 10);
  g_assert_true (vn_histogram_view_is_moving (VN_HISTOGRAM_VIEW (view)));
  g_signal_emit_by_name (grip, "give-up");
  vn_test_settle (50);
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 0);
  g_signal_emit_by_name (grip, "step", 10);
  g_signal_emit_by_name (grip, "step", 1);
  g_signal_emit_by_name (grip, "set");
  vn_test_settle (50);
  g_assert_nonnull (get_only_rule (fixture)->min);
  settle (fixture);
}

static guint
count_rows (GtkWidget *root)
{
  guint n = g_str_has_prefix (gtk_widget_get_name (root), "edit-method-");

  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL; child = gtk_widget_get_next_sibling (child))
    n += count_rows (child);
  return n;
}

/* Three beside the one in use, the others behind an expander; a click chooses. */
static void
test_methods (Fixture       *fixture,
              gconstpointer  data)
{
  GtkWidget *all, *row;

  select_node (fixture, "/left/conv");
  g_assert_true (vn_test_wait (has_methods, get_inspector (fixture), SECONDS));
  all = find_named (get_inspector (fixture), "edit-all-methods");
  g_assert_cmpuint (count_rows (get_inspector (fixture)), <=, 3);     /* what is folded in is no child */
  gtk_expander_set_expanded (GTK_EXPANDER (all), TRUE);
  gtk_widget_grab_focus (all);
  vn_test_settle (400);
  g_assert_cmpuint (count_rows (gtk_expander_get_child (GTK_EXPANDER (all))), >=, 10);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "inspector-methods");
  row = find_named (gtk_expander_get_child (GTK_EXPANDER (all)), "edit-method-mse");
  g_assert_nonnull (row);
  g_signal_emit_by_name (gtk_widget_get_parent (row), "row-activated", row);
  vn_test_settle (50);
  g_assert_cmpstr (get_only_rule (fixture)->method, ==, "mse");
  settle (fixture);
}

static gboolean
has_values (gpointer inspector)
{
  GtkWidget *panel = vn_test_find (inspector, VN_TYPE_TENSOR_PANEL, NULL);

  return panel != NULL && vn_tensor_panel_is_shown (VN_TENSOR_PANEL (panel));
}

static void
press_key (GtkWidget *widget,
           guint      keyval)
{
  g_autoptr(GListModel) controllers = gtk_widget_observe_controllers (widget);

  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr(GtkEventController) controller = g_list_model_get_item (controllers, i);
      gboolean used = FALSE;

      if (GTK_IS_EVENT_CONTROLLER_KEY (controller))
        g_signal_emit_by_name (controller, "key-pressed", keyval, 0, 0, &used);
    }
}

/* A key steps from a node to its tensors; each is shown with its values, and Escape leads back. */
static void
test_tensor (Fixture       *fixture,
             gconstpointer  data)
{
  GtkWidget *view;
  const char *tensor;

  select_node (fixture, "/left/conv");
  view = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_GRAPH_VIEW, NULL);
  press_key (view, GDK_KEY_e);
  vn_test_settle (50);
  tensor = vn_document_get_tensor (fixture->document);
  g_assert_cmpstr (tensor, ==, "/stem/relu");
  g_assert_cmpuint (vn_graph_view_get_selected_edge (VN_GRAPH_VIEW (view)), !=, VN_SCENE_NONE);
  g_assert_true (gtk_bitset_is_empty (vn_document_get_selection (fixture->document)));
  g_assert_nonnull (vn_test_find (get_inspector (fixture), GTK_TYPE_LABEL, "/stem/relu"));
  g_assert_true (vn_test_wait (has_values, get_inspector (fixture), SECONDS));
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "inspector-tensor");
  press_key (view, GDK_KEY_e);
  vn_test_settle (50);
  g_assert_cmpstr (vn_document_get_tensor (fixture->document), !=, "/stem/relu");
  press_key (view, GDK_KEY_Escape);
  vn_test_settle (50);
  g_assert_null (vn_document_get_tensor (fixture->document));
  g_assert_true (gtk_bitset_contains (vn_document_get_selection (fixture->document),
                                      vn_window_fixture_get_item (fixture, "/left/conv")->index));

  /* selected elsewhere it is marked here, and a node that is selected takes its place */
  vn_document_select_tensor (fixture->document, "sum");
  vn_test_settle (50);
  g_assert_cmpstr (vn_graph_view_get_selected_tensor (VN_GRAPH_VIEW (view)), ==, "sum");
  vn_document_select_one (fixture->document, 0);
  vn_test_settle (50);
  g_assert_null (vn_graph_view_get_selected_tensor (VN_GRAPH_VIEW (view)));
  g_assert_null (vn_document_get_tensor (fixture->document));
}

static gboolean
has_demo (gpointer document)
{
  return vn_bench_get_shown (VN_BENCH (document)) != NULL && vn_window_fixture_is_idle (document);
}

#define FEW 2u    /* nodes of each operator, without -m slow */

/* (element-type VnNode) */
static GPtrArray *
choose_nodes (const VnGraph *graph)
{
  g_autoptr(GHashTable) n_taken = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *nodes = g_ptr_array_new ();

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (graph->nodes, i);
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (n_taken, node->op_type));

      if (n >= FEW && !g_test_slow ())
        continue;
      g_hash_table_insert (n_taken, node->op_type, GUINT_TO_POINTER (n + 1));
      g_ptr_array_add (nodes, node);
    }
  return nodes;
}

/* Nodes and tensors of a network of several operators can be looked at; what channels stand out is told. */
static void
test_all (Fixture       *fixture,
          gconstpointer  data)
{
  const VnGraph *graph;
  g_autoptr(GPtrArray) nodes = NULL;
  guint n_editors = 0;

  if (!vn_document_open_demo (fixture->document))
    {
      g_test_skip ("the demo is not there");
      return;
    }
  g_assert_true (vn_test_wait (has_demo, fixture->document, SECONDS));
  graph = vn_bench_get_model (VN_BENCH (fixture->document))->graph;
  nodes = choose_nodes (graph);
  for (guint i = 0; i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);

      vn_document_select_one (fixture->document, node->index);
      vn_test_settle (20);
      n_editors += vn_test_find (get_inspector (fixture), VN_TYPE_RANGE_EDITOR, NULL) != NULL;
    }
  g_assert_cmpuint (n_editors, >, nodes->len / 2);
  for (guint i = 0; i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);

      for (guint k = 0; k < node->inputs->len + node->outputs->len; k++)
        {
          const VnValue *value = k < node->inputs->len ? g_ptr_array_index (node->inputs, k)
                                                       : g_ptr_array_index (node->outputs, k - node->inputs->len);

          if (value == NULL)
            continue;
          vn_document_select_tensor (fixture->document, value->name);
          vn_test_settle (5);
        }
    }
  g_assert_nonnull (vn_document_get_tensor (fixture->document));
}

/* Of many inputs the first have rows, and one more row tells how many have none. */
static void
test_many (Fixture       *fixture,
           gconstpointer  user_data)
{
  static const guint sizes[] = { 1, 12, 13, 40 };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr(VnModel) model = vn_model_new (8, 13);
      GtkWidget *section, *list;
      guint n = 0;

      for (guint k = 0; k < sizes[i]; k++)
        {
          g_autofree char *name = g_strdup_printf ("past%u", k);

          vn_graph_add_input (model->graph, name, VN_DTYPE_F32, &VN_SHAPE (1, 6));
        }
      section = g_object_ref_sink (vn_inspector_values (fixture->document, "Inputs", model->graph->inputs));
      list = vn_test_find (section, GTK_TYPE_LIST_BOX, NULL);
      g_assert_nonnull (list);
      while (gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), (int) n) != NULL)
        n++;
      g_assert_cmpuint (n, ==, MIN (sizes[i], 12) + (sizes[i] > 12));
      g_object_unref (section);
    }
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/inspector/precision", Fixture, NULL, vn_window_fixture_set_up, test_precision, vn_window_fixture_tear_down);
  g_test_add ("/inspector/method", Fixture, NULL, vn_window_fixture_set_up, test_method, vn_window_fixture_tear_down);
  g_test_add ("/inspector/range", Fixture, NULL, vn_window_fixture_set_up, test_range, vn_window_fixture_tear_down);
  g_test_add ("/inspector/drag", Fixture, NULL, vn_window_fixture_set_up, test_drag, vn_window_fixture_tear_down);
  g_test_add ("/inspector/keys", Fixture, NULL, vn_window_fixture_set_up, test_keys, vn_window_fixture_tear_down);
  g_test_add ("/inspector/methods", Fixture, NULL, vn_window_fixture_set_up, test_methods, vn_window_fixture_tear_down);
  g_test_add ("/inspector/tensor", Fixture, NULL, vn_window_fixture_set_up, test_tensor, vn_window_fixture_tear_down);
  g_test_add ("/inspector/many", Fixture, NULL, vn_window_fixture_set_up, test_many, vn_window_fixture_tear_down);
  g_test_add ("/inspector/all", Fixture, NULL, vn_window_fixture_set_up, test_all, vn_window_fixture_tear_down);
  return g_test_run ();
}
