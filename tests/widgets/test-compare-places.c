/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two networks beside each other are seen as one: whole at first, what stands for each other at the same place, in groups that
 * are open on both sides; cameras and pointers follow each other. */
#include "compare-fixture.h"
#include "vn-compare-tensor.h"
#include "widget-fixture.h"

static void
assert_same_camera (CompareParts *parts)
{
  VnGraphCamera a = vn_graph_view_get_camera (parts->views[0]), b = vn_graph_view_get_camera (parts->views[1]);
  double wide = gtk_widget_get_width (GTK_WIDGET (parts->views[0])) - gtk_widget_get_width (GTK_WIDGET (parts->views[1]));

  g_assert_cmpfloat_with_epsilon (a.zoom, b.zoom, 1e-9);
  g_assert_cmpfloat_with_epsilon (a.origin.x + wide / 2 / a.zoom, b.origin.x, 1e-6);
  g_assert_cmpfloat_with_epsilon (a.origin.y, b.origin.y, 1e-6);
}

/* A network that nobody has moved stands in the middle of its side, whatever its size became since it was first shown. */
static void
assert_in_middle (const CompareParts *parts)
{
  for (guint i = 0; i < 2; i++)
    {
      VnGraphCamera camera = vn_graph_view_get_camera (parts->views[i]);
      VnRect bounds = vn_graph_layout_get_bounds (vn_graph_view_get_layout (parts->views[i]));
      double middle = camera.origin.x + gtk_widget_get_width (GTK_WIDGET (parts->views[i])) / 2. / camera.zoom;

      g_assert_cmpfloat_with_epsilon (middle, bounds.x + bounds.width / 2, 1);
    }
}

static GtkWidget *
get_tool (const CompareParts *parts,
          const char  *tooltip)
{
  GtkWidget *tool = vn_compare_get_nth (GTK_WIDGET (parts->page), GTK_TYPE_BUTTON, 0);

  for (guint i = 0; g_strcmp0 (gtk_widget_get_tooltip_text (tool), tooltip) != 0; i++)
    tool = vn_compare_get_nth (GTK_WIDGET (parts->page), GTK_TYPE_BUTTON, i);
  return tool;
}

/* What has the same name is at the same place. Returns: how many boxes that are. */
static guint
assert_aligned (const CompareParts *parts)
{
  VnScene *first = vn_graph_view_get_scene (parts->views[0]), *second = vn_graph_view_get_scene (parts->views[1]);
  guint n = 0;

  for (guint i = 0; i < vn_scene_get_n_nodes (first); i++)
    {
      const VnSceneNode *node = vn_scene_get_node (first, i);
      guint other = vn_scene_find_node (second, node->id);
      VnRect a, b;

      if (other == VN_SCENE_NONE || !g_str_equal (vn_scene_get_node (second, other)->op, node->op))
        continue;
      g_assert_true (vn_graph_view_get_place (parts->views[0], i, &a));
      g_assert_true (vn_graph_view_get_place (parts->views[1], other, &b));
      g_assert_cmpfloat (a.x + a.width / 2, ==, b.x + b.width / 2);
      g_assert_cmpfloat (a.y + a.height / 2, ==, b.y + b.height / 2);
      n++;
    }
  return n;
}

/* All of both networks is seen: in the view, below the choice and above the tools. */
static gboolean
is_whole (gpointer data)
{
  const CompareParts *parts = data;
  GtkWidget *tools = gtk_widget_get_parent (get_tool (parts, "Show the Whole Graphs"));

  for (guint i = 0; i < 2; i++)
    {
      GtkWidget *view = GTK_WIDGET (parts->views[i]);
      GtkWidget *choice = vn_compare_get_nth (GTK_WIDGET (parts->panes[i]), GTK_TYPE_DROP_DOWN, 0);
      VnGraphCamera camera = vn_graph_view_get_camera (parts->views[i]);
      VnRect bounds = vn_graph_layout_get_bounds (vn_graph_view_get_layout (parts->views[i]));
      graphene_rect_t head, foot;

      g_assert_true (gtk_widget_compute_bounds (choice, view, &head));
      g_assert_true (gtk_widget_compute_bounds (tools, view, &foot));
      if (bounds.x < camera.origin.x ||
          (bounds.x + bounds.width - camera.origin.x) * camera.zoom > gtk_widget_get_width (view) ||
          (bounds.y - camera.origin.y) * camera.zoom < head.origin.y + head.size.height ||
          (bounds.y + bounds.height - camera.origin.y) * camera.zoom > foot.origin.y)
        return FALSE;
    }
  return TRUE;
}

/* What moves, moves for a while. */
static void
assert_whole (CompareParts *parts)
{
  g_assert_true (vn_test_wait (is_whole, parts, SECONDS));
}

static void
test_together (Fixture       *fixture,
               gconstpointer  data)
{
  CompareParts parts;
  GtkToggleButton *together;
  VnGraphCamera camera, before;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  parts = vn_compare_show (fixture);
  assert_same_camera (&parts);
  assert_in_middle (&parts);
  assert_whole (&parts);
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), 1000, 700);
  vn_test_settle (300);
  assert_same_camera (&parts);
  assert_in_middle (&parts);
  assert_whole (&parts);
  camera = vn_graph_view_get_camera (parts.views[0]);
  camera.origin.x += 40;
  camera.zoom *= 0.8;
  vn_graph_view_set_camera (parts.views[0], camera);
  assert_same_camera (&parts);
  camera.origin.y -= 30;
  vn_graph_view_set_camera (parts.views[1], camera);
  assert_same_camera (&parts);
  /* the pointer */
  vn_graph_view_set_hover_node (parts.views[0], vn_compare_find_box (parts.views[0], "/add"));
  g_signal_emit_by_name (parts.views[0], "hover-changed");
  g_assert_cmpuint (vn_graph_view_get_hover_node (parts.views[1]), ==, vn_compare_find_box (parts.views[1], "/add"));
  /* each by itself */
  together = GTK_TOGGLE_BUTTON (get_tool (&parts, "Move Both Sides Together"));
  gtk_toggle_button_set_active (together, FALSE);
  before = vn_graph_view_get_camera (parts.views[1]);
  camera.origin.x -= 100;
  vn_graph_view_set_camera (parts.views[0], camera);
  g_assert_cmpfloat (vn_graph_view_get_camera (parts.views[1]).origin.x, ==, before.origin.x);
  gtk_toggle_button_set_active (together, TRUE);
  assert_same_camera (&parts);
}

/* As large as most of the view. */
static guint
list_panel (gpointer  data,
            VnRect   *panels,
            guint     n)
{
  GtkWidget *view = data;
  const int height = gtk_widget_get_height (view) / 2;

  panels[0] = (VnRect) { 0, height, gtk_widget_get_width (view), height };
  return 1;
}

/* Panels grow without the views doing so: of networks that nobody has moved the whole is seen beside them, on both sides. */
static void
test_panels (Fixture       *fixture,
             gconstpointer  data)
{
  CompareParts parts;
  double fit;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  parts = vn_compare_show (fixture);
  assert_whole (&parts);
  fit = vn_graph_view_get_fit (parts.views[0]);
  for (guint i = 2; i-- > 0;)
    vn_graph_view_set_panels_func (parts.views[i], list_panel, parts.views[i]);
  g_assert_cmpfloat (vn_graph_view_get_fit (parts.views[0]), <, 0.9 * fit);
  fit = MIN (vn_graph_view_get_fit (parts.views[0]), vn_graph_view_get_fit (parts.views[1]));
  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (vn_graph_view_is_home (parts.views[i]));
      g_assert_cmpfloat_with_epsilon (vn_graph_view_get_zoom (parts.views[i]), fit, 1e-9);
    }
  assert_same_camera (&parts);
}

/* Groups are open on both sides or on none, and a long network is in columns on both sides. */
static void
test_folded (Fixture       *fixture,
             gconstpointer  data)
{
  const char *shared = g_getenv ("VN_SHARED");
  g_autofree char *model = shared != NULL ? g_build_filename (shared, "models", "txt_bert_toy_op12_unsorted.onnx", NULL) : NULL;
  guint closed = VN_SCENE_NONE;
  VnGroups *groups;
  GtkToggleButton *columns;
  VnRect wide, tall;
  CompareParts parts;

  if (model == NULL || !g_file_test (model, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("the models are not there");
      return;
    }
  g_free (fixture->model_path);
  fixture->model_path = g_steal_pointer (&model);
  vn_window_fixture_open_model (fixture);
  parts = vn_compare_show (fixture);
  vn_compare_page_open_file (parts.page, fixture->model_path, 1);
  vn_compare_wait (&parts);
  vn_test_settle (400);
  assert_whole (&parts);
  assert_same_camera (&parts);
  g_assert_cmpuint (assert_aligned (&parts), >, 200);
  groups = vn_graph_view_get_groups (parts.views[1]);
  for (guint i = 1; i < vn_groups_get_n (groups) && closed == VN_SCENE_NONE; i++)
    if (!vn_graph_view_is_open (parts.views[1], i) && vn_graph_view_is_open (parts.views[1], vn_groups_get (groups, i)->parent))
      closed = i;
  g_assert_cmpuint (closed, !=, VN_SCENE_NONE);
  vn_graph_view_expand (parts.views[1], closed);
  vn_test_settle (500);
  for (guint i = 0; i < 2; i++)
    g_assert_true (vn_graph_view_is_open (parts.views[i], closed));
  assert_same_camera (&parts);
  assert_aligned (&parts);
  vn_graph_view_collapse (parts.views[0], closed);
  vn_test_settle (500);
  for (guint i = 0; i < 2; i++)
    g_assert_false (vn_graph_view_is_open (parts.views[i], closed));
  g_signal_emit_by_name (get_tool (&parts, "Show the Whole Graphs"), "clicked");
  vn_test_settle (700);
  assert_whole (&parts);
  columns = GTK_TOGGLE_BUTTON (get_tool (&parts, "Long Networks in Columns"));
  g_assert_true (gtk_toggle_button_get_active (columns));
  wide = vn_graph_layout_get_bounds (vn_graph_view_get_layout (parts.views[1]));
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "graph.columns", NULL);
  vn_test_settle (500);
  g_assert_false (gtk_toggle_button_get_active (columns));
  tall = vn_graph_layout_get_bounds (vn_graph_view_get_layout (parts.views[1]));
  g_assert_cmpfloat (tall.height, >, wide.height);
  assert_aligned (&parts);
  assert_same_camera (&parts);
  assert_whole (&parts);
  gtk_toggle_button_set_active (columns, TRUE);
}

static gboolean
is_measured (gpointer data)
{
  VnCompareSource *source = vn_compare_pane_get_source (((CompareParts *) data)->panes[1]);

  return source->model != NULL && vn_compared_model_get_errors (source->model) != NULL &&
         vn_compare_is_calm (((CompareParts *) data)->page);
}

/* QuantizeLinear with what makes floats again, each pair as one small box. */
static guint
count_pairs (VnGraphView *view)
{
  const VnScene *scene = vn_graph_view_get_scene (view);
  guint n = 0;

  for (guint i = 0; i < vn_scene_get_n_nodes (scene); i++)
    n += vn_scene_get_node (scene, i)->kind == VN_SCENE_PAIR;
  return n;
}

static void
check_file (Fixture    *fixture,
            const char *name,
            guint       n_added,
            guint       n_changed,
            guint       n_pairs,
            guint       n_aligned)
{
  const char *shared = g_getenv ("VN_SHARED");
  g_autofree char *model = NULL, *file = NULL;
  CompareParts parts;
  VnOverlay *overlay;
  guint n_measured = 0, node;

  model = shared != NULL ? g_build_filename (shared, "models", "kws_micro_fp32.onnx", NULL) : NULL;
  file = shared != NULL ? g_build_filename (shared, "models", name, NULL) : NULL;
  if (file == NULL || !g_file_test (file, G_FILE_TEST_EXISTS))
    {
      g_test_skip ("the models of other tools are not there");
      return;
    }
  g_free (fixture->model_path);
  fixture->model_path = g_steal_pointer (&model);
  vn_window_fixture_open_model (fixture);
  parts = vn_compare_show (fixture);
  vn_compare_page_open_file (parts.page, file, 1);
  g_assert_true (vn_test_wait (is_measured, &parts, SECONDS));
  vn_test_settle (100);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  g_assert_cmpuint (vn_compare_count_marks (parts.views[1], VN_MARK_ADDED), ==, n_added);
  g_assert_cmpuint (vn_compare_count_marks (parts.views[1], VN_MARK_CHANGED), ==, n_changed);
  g_assert_cmpuint (count_pairs (parts.views[1]), ==, n_pairs);
  g_assert_cmpuint (vn_compare_count_marks (parts.views[0], VN_MARK_MISSING), ==, 5);
  overlay = vn_graph_view_get_overlay (parts.views[1]);
  for (guint i = 0; i < vn_overlay_get_n (overlay); i++)
    n_measured += vn_overlay_get (overlay, i)->measured;
  g_assert_cmpuint (n_measured, >, 12);
  assert_same_camera (&parts);
  assert_whole (&parts);
  g_assert_cmpuint (assert_aligned (&parts), >=, n_aligned);
  /* what converts stands for what it converts */
  node = vn_compare_find_box (parts.views[0], "micro_kws/max_pooling2d/MaxPool");
  vn_compare_click_box (parts.views[0], "micro_kws/max_pooling2d/MaxPool");
  g_assert_cmpuint (vn_graph_view_get_n_selected (parts.views[1]), ==, 1);
  vn_compare_wait (&parts);
  g_assert_cmpstr (vn_compare_get_page (&parts), ==, "tensor");
  vn_graph_view_zoom_to_node (parts.views[0], node);
  vn_test_settle (600);
  vn_test_screenshot (GTK_WIDGET (fixture->window), name);
  /* the same place of the network is in the middle of both */
  g_assert_cmpfloat_with_epsilon (vn_graph_view_get_zoom (parts.views[0]), vn_graph_view_get_zoom (parts.views[1]), 1e-9);
}

static void
test_pairs (Fixture       *fixture,
            gconstpointer  data)
{
  check_file (fixture, "kws_micro_qdq.onnx", 0, 0, 16, 12);
}

static void
test_integers (Fixture       *fixture,
               gconstpointer  data)
{
  check_file (fixture, "kws_micro_qoperator.onnx", 4, 12, 0, 2);
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
#define ADD(name, func) g_test_add (name, Fixture, NULL, vn_window_fixture_set_up, func, vn_window_fixture_tear_down)
  ADD ("/compare-places/together", test_together);
  ADD ("/compare-places/panels", test_panels);
  ADD ("/compare-places/folded", test_folded);
  ADD ("/compare-places/pairs", test_pairs);
  ADD ("/compare-places/integers", test_integers);
#undef ADD
  return g_test_run ();
}
