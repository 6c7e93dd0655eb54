/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-graph-index.h"

static VnScene *
make_diamond (gboolean slim)
{
  static const char * const ids[] = { "in", "a", "b", "c", "out" };
  static const guint edges[][2] = { { 0, 1 }, { 1, 2 }, { 1, 3 }, { 2, 3 }, { 3, 4 } };
  VnScene *scene = vn_scene_new ();

  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    {
      VnSceneKind kind = i == 0 ? VN_SCENE_INPUT : i == 4 ? VN_SCENE_OUTPUT : VN_SCENE_NODE;
      VnSceneNode node = { .id = (char *) ids[i], .source = i + 10, .kind = kind, .op = (char *) "Conv",
                           .name = (char *) ids[i], .slim = slim };

      g_assert_cmpuint (vn_scene_add_node (scene, &node), ==, i);
    }
  for (guint i = 0; i < G_N_ELEMENTS (edges); i++)
    {
      VnSceneEdge edge = { .from = edges[i][0], .to = edges[i][1], .input = i == 3 };

      vn_scene_add_edge (scene, &edge);
    }
  vn_scene_seal (scene);
  return scene;
}

static void
test_neighbours (void)
{
  g_autoptr(VnScene) scene = make_diamond (FALSE);
  const guint *edges;
  guint n;

  g_assert_cmpuint (vn_scene_get_n_nodes (scene), ==, 5);
  g_assert_cmpuint (vn_scene_get_n_edges (scene), ==, 5);
  edges = vn_scene_get_out_edges (scene, 1, &n);
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpuint (edges[0], ==, 1);
  g_assert_cmpuint (edges[1], ==, 2);
  edges = vn_scene_get_in_edges (scene, 3, &n);
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpuint (edges[1], ==, 3);
  vn_scene_get_in_edges (scene, 0, &n);
  g_assert_cmpuint (n, ==, 0);
  g_assert_cmpuint (vn_scene_find_node (scene, "c"), ==, 3);
  g_assert_cmpuint (vn_scene_find_node (scene, "zz"), ==, VN_SCENE_NONE);
  g_assert_cmpuint (vn_scene_find_source (scene, 12), ==, 2);
  g_assert_cmpuint (vn_scene_find_source (scene, 10), ==, VN_SCENE_NONE);
}

static void
test_geometry (void)
{
  g_autoptr(VnScene) a = make_diamond (FALSE), b = make_diamond (FALSE), c = make_diamond (TRUE);

  g_assert_true (vn_scene_same_geometry (a, b));
  g_assert_false (vn_scene_same_geometry (a, c));
}

static void
test_overlay (void)
{
  static const struct { guint ticks; gboolean measured, bad; } items[] = {
    { 0, TRUE, FALSE }, { 1, TRUE, FALSE }, { 2, TRUE, FALSE }, { 4, TRUE, TRUE }, { 4, FALSE, TRUE },
  };
  g_autoptr(VnOverlay) overlay = vn_overlay_new (VN_OVERLAY_ERROR, G_N_ELEMENTS (items), "dB");
  guint fine, watch, bad;

  for (guint i = 0; i < G_N_ELEMENTS (items); i++)
    {
      VnOverlayItem item = { .measured = items[i].measured, .ticks = items[i].ticks, .is_bad = items[i].bad };

      vn_overlay_set (overlay, i, &item);
    }
  vn_overlay_count (overlay, &fine, &watch, &bad);
  g_test_message ("fine %u watch %u bad %u", fine, watch, bad);
  g_assert_cmpuint (fine, ==, 2);
  g_assert_cmpuint (watch, ==, 1);
  g_assert_cmpuint (bad, ==, 1);
}

/* A unit stands behind what is a number and does not bring its own. */
static void
test_overlay_value (void)
{
  static const struct { const char *unit, *value; gboolean is_nan; const char *expected; } cases[] = {
    { "dB", "8.5", FALSE, "8.5\u00a0dB" },
    { "dB", "NaN", TRUE, "NaN" },
    { NULL, "2.2\u00a0%", FALSE, "2.2\u00a0%" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnOverlay) overlay = vn_overlay_new (VN_OVERLAY_ERROR, 1, cases[i].unit);
      VnOverlayItem item = { .measured = TRUE, .is_nan = cases[i].is_nan };
      g_autofree char *text = NULL;

      g_strlcpy (item.value, cases[i].value, sizeof item.value);
      vn_overlay_set (overlay, 0, &item);
      text = vn_overlay_dup_value (overlay, 0);
      g_assert_cmpstr (text, ==, cases[i].expected);
    }
}

static void
test_hit (void)
{
  g_autoptr(VnScene) scene = make_diamond (FALSE);
  g_autoptr(VnGraphLayout) layout = vn_graph_layout_new_for_scene (scene, NULL, NULL);
  g_autoptr(VnGraphIndex) index = vn_graph_index_new (layout);
  g_autoptr(GArray) found = g_array_new (FALSE, FALSE, sizeof (guint));
  VnRect bounds = vn_graph_layout_get_bounds (layout);

  for (guint i = 0; i < 5; i++)
    {
      const VnRect *box = vn_graph_layout_get_box (layout, i);

      g_assert_cmpuint (vn_graph_index_node_at (index, (VnPoint) { box->x + 1, box->y + 1 }), ==, i);
      g_assert_cmpuint (vn_graph_index_node_at (index, (VnPoint) { box->x + 1, box->y - 3 }), ==,
                        VN_SCENE_NONE);
    }
  for (guint i = 0; i < 5; i++)
    {
      guint n, own;
      const VnPoint *points = vn_graph_layout_get_route (layout, i, &n, &own);
      VnPoint end = points[n - 1];

      g_assert_cmpfloat (vn_route_distance (points, n, end), ==, 0);
      end.y -= 1;
      end.x += 2;
      g_assert_cmpuint (vn_graph_index_edge_at (index, end, 8), ==, i);
      g_assert_cmpuint (vn_graph_index_edge_at (index, end, 1), ==, VN_SCENE_NONE);
    }
  vn_graph_index_find_nodes (index, bounds, found);
  g_assert_cmpuint (found->len, ==, 5);
  vn_graph_index_find_edges (index, bounds, found);
  g_assert_cmpuint (found->len, ==, 5);
  vn_graph_index_find_nodes (index, (VnRect) { bounds.x - 500, bounds.y, 100, 100 }, found);
  g_assert_cmpuint (found->len, ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scene/neighbours", test_neighbours);
  g_test_add_func ("/scene/geometry", test_geometry);
  g_test_add_func ("/scene/overlay", test_overlay);
  g_test_add_func ("/scene/overlay-value", test_overlay_value);
  g_test_add_func ("/scene/hit", test_hit);
  return g_test_run ();
}
