/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups in the window: menus, rules for all nodes of a group, and nodes that are looked for while they are not seen. */
#include "vn-graph-edit.h"
#include "vn-graph-view.h"
#include "vn-onnx.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#define N_LAYERS 70
#define WIDTH     4

static VnNode *
add_node (VnGraph    *graph,
          guint       layer,
          const char *op,
          VnValue    *a,
          VnValue    *b)
{
  g_autofree char *name = g_strdup_printf ("/layers.%u/ffn/%s_%u", layer, op, graph->nodes->len);
  VnShape shape = VN_SHAPE (1, WIDTH);
  VnValue *inputs[] = { a, b };
  VnValue *output = vn_graph_add_value (graph, NULL, VN_DTYPE_F32, &shape);

  return vn_graph_add_node (graph, name, "", op, inputs, b != NULL ? 2 : 1, &output, 1);
}

/* Feed-forward layers one after the other, five nodes each. */
static void
write_model (const char *path)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnShape shape = VN_SHAPE (1, WIDTH), square = VN_SHAPE (WIDTH, WIDTH);
  VnValue *value = vn_graph_add_input (graph, "tokens", VN_DTYPE_F32, &shape);
  float numbers[WIDTH * WIDTH] = { 0 };
  g_autoptr(VnTensor) tensor = NULL;
  g_autoptr(GError) error = NULL;
  VnValue *weight;

  for (guint i = 0; i < WIDTH; i++)
    numbers[i * WIDTH + i] = 0.5f;
  tensor = vn_tensor_new_f32 (&square, numbers);
  weight = vn_graph_add_initializer (graph, "weights", tensor);
  for (guint i = 0; i < N_LAYERS; i++)
    {
      VnValue *inside = vn_node_get_output (add_node (graph, i, "MatMul", value, weight), 0);

      inside = vn_node_get_output (add_node (graph, i, "Relu", inside, NULL), 0);
      inside = vn_node_get_output (add_node (graph, i, "MatMul", inside, weight), 0);
      inside = vn_node_get_output (add_node (graph, i, "Sigmoid", inside, NULL), 0);
      value = vn_node_get_output (add_node (graph, i, "Add", inside, value), 0);
    }
  vn_graph_set_output (graph, 0, value);
  g_assert_true (vn_onnx_write_file (model, path, NULL, NULL, &error));
  g_assert_no_error (error);
}

static VnGraphView *
open_model (Fixture *fixture)
{
  g_autofree char *path = g_build_filename (fixture->folder, "layers.onnx", NULL);
  g_autoptr(GFile) file = g_file_new_for_path (path);
  VnGraphView *view = VN_GRAPH_VIEW (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_GRAPH_VIEW, NULL));

  write_model (path);
  vn_window_open_file (fixture->window, file);
  g_assert_true (vn_test_wait (vn_window_fixture_has_model, fixture->document, SECONDS));
  vn_test_settle (300);
  return view;
}

static guint
count_shown (VnGraphView *view)
{
  return vn_scene_get_n_nodes (vn_graph_view_get_shown (view));
}

static void
test_menu (Fixture       *fixture,
           gconstpointer  data)
{
  VnGraphView *view = open_model (fixture);
  GtkWidget *window = GTK_WIDGET (fixture->window);
  guint n = vn_scene_get_n_nodes (vn_graph_view_get_scene (view)), n_closed;

  g_assert_cmpuint (n, ==, 5 * N_LAYERS + 2);
  g_assert_true (vn_graph_view_get_grouped (view));
  n_closed = count_shown (view);
  g_test_message ("%u of %u shown", n_closed, n);
  g_assert_cmpuint (n_closed, <, 60);
  vn_test_screenshot (window, "groups");
  g_assert_true (gtk_widget_activate_action (window, "graph.expand-all", NULL));
  g_assert_cmpuint (count_shown (view), ==, n);
  g_assert_true (gtk_widget_activate_action (window, "graph.collapse-all", NULL));
  g_assert_cmpuint (count_shown (view), <=, n_closed);
  g_assert_true (gtk_widget_activate_action (window, "graph.groups", NULL));
  g_assert_false (vn_graph_view_get_grouped (view));
  g_assert_cmpuint (count_shown (view), ==, n);
  g_assert_true (gtk_widget_activate_action (window, "graph.groups", NULL));
  g_assert_true (vn_graph_view_get_grouped (view));
}

/* A rule for a group is one for all its nodes; what is open and where it lies stays when nodes are left out. */
static void
test_rules (Fixture       *fixture,
            gconstpointer  data)
{
  VnGraphView *view = open_model (fixture);
  VnScene *shown = vn_graph_view_get_shown (view);
  VnGraphLayout *layout = vn_graph_view_get_layout (view);
  g_autoptr(VnGraphLayout) before = vn_graph_layout_ref (layout);
  guint n_excluded = 0, n_selected;
  guint8 clicked = 0;

  for (guint i = 0; i < vn_scene_get_n_nodes (shown) && !clicked; i++)
    {
      const VnRect *box = vn_graph_layout_get_box (layout, i);
      VnGraphCamera camera = vn_graph_view_get_camera (view);
      g_autoptr(GListModel) controllers = gtk_widget_observe_controllers (GTK_WIDGET (view));

      if (vn_scene_get_node (shown, i)->kind != VN_SCENE_GROUP)
        continue;
      for (guint k = 0; k < g_list_model_get_n_items (controllers); k++)
        {
          g_autoptr(GtkEventController) item = g_list_model_get_item (controllers, k);

          if (!GTK_IS_GESTURE_CLICK (item) || gtk_gesture_single_get_button (GTK_GESTURE_SINGLE (item)) != GDK_BUTTON_PRIMARY)
            continue;
          g_signal_emit_by_name (item, "pressed", 1, (box->x + box->width / 2 - camera.origin.x) * camera.zoom,
                                 (box->y + 50 - camera.origin.y) * camera.zoom);
          clicked = 1;
        }
    }
  g_assert_true (clicked);
  n_selected = (guint) gtk_bitset_get_size (vn_document_get_selection (fixture->document));
  g_test_message ("%u nodes selected", n_selected);
  g_assert_cmpuint (n_selected, >, 2);
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.exclude", NULL));
  for (guint i = 0; i < g_list_model_get_n_items (vn_document_get_nodes (fixture->document)); i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (vn_document_get_nodes (fixture->document), i);

      n_excluded += item->excluded;
    }
  g_assert_cmpuint (n_excluded, ==, n_selected);
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_graph_view_get_shown (view) != shown);
  g_assert_true (vn_graph_view_get_layout (view) == before);
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "groups-excluded");
}

/* A node that is chosen in the outline is shown, whatever group it is in. */
static void
test_search (Fixture       *fixture,
             gconstpointer  data)
{
  VnGraphView *view = open_model (fixture);
  guint index = 5 * N_LAYERS - 3, node;

  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "graph.collapse-all", NULL);
  vn_document_select_one (fixture->document, index);
  node = vn_scene_find_source (vn_graph_view_get_scene (view), index);
  g_assert_cmpuint (vn_scene_find_source (vn_graph_view_get_shown (view), index), ==, VN_SCENE_NONE);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.show-in-graph", NULL);
  vn_test_settle (800);
  g_assert_cmpuint (vn_scene_find_source (vn_graph_view_get_shown (view), index), !=, VN_SCENE_NONE);
  g_assert_cmpuint (vn_graph_view_get_focus_node (view), ==, node);
  g_assert_true (vn_graph_view_is_selected (view, node));
  g_assert_cmpuint (vn_graph_view_get_n_selected (view), ==, 1);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "groups-found");
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/window/groups/menu", Fixture, NULL, vn_window_fixture_set_up, test_menu, vn_window_fixture_tear_down);
  g_test_add ("/window/groups/rules", Fixture, NULL, vn_window_fixture_set_up, test_rules, vn_window_fixture_tear_down);
  g_test_add ("/window/groups/search", Fixture, NULL, vn_window_fixture_set_up, test_search, vn_window_fixture_tear_down);
  return g_test_run ();
}
