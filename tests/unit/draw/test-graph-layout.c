/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-error.h"
#include "vn-graph-layout.h"

#include <math.h>

typedef struct
{
  GArray *nodes;   /* of VnGraphLayoutNode */
  GArray *edges;   /* of VnGraphLayoutEdge */
} Graph;

static void
graph_init (Graph *graph,
            guint  n_nodes)
{
  graph->nodes = g_array_new (FALSE, FALSE, sizeof (VnGraphLayoutNode));
  graph->edges = g_array_new (FALSE, FALSE, sizeof (VnGraphLayoutEdge));
  for (guint i = 0; i < n_nodes; i++)
    {
      VnGraphLayoutNode node = { 176, i % 3 == 0 ? 64 : 30 };

      g_array_append_val (graph->nodes, node);
    }
}

static void
graph_clear (Graph *graph)
{
  g_array_unref (graph->nodes);
  g_array_unref (graph->edges);
}

static void
add_edge (Graph *graph,
          guint  from,
          guint  to)
{
  VnGraphLayoutEdge edge = { from, to, 0, graph->edges->len };

  g_array_append_val (graph->edges, edge);
}

static VnGraphLayout *
lay_out (Graph   *graph,
         guint    cut_span,
         GError **error)
{
  VnGraphLayoutInput input = { graph->nodes->len, (VnGraphLayoutNode *) graph->nodes->data, graph->edges->len,
                          (VnGraphLayoutEdge *) graph->edges->data, cut_span };

  return vn_graph_layout_new (&input, NULL, error);
}

static gboolean
overlap (const VnRect *a,
         const VnRect *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width
         && a->y < b->y + b->height && b->y < a->y + a->height;
}

/* Boxes apart, edges downwards, vertical pieces clear of every box they do not belong to. */
static void
check_layout (const Graph    *graph,
              const VnGraphLayout *layout)
{
  guint n = graph->nodes->len, n_drawn = 0, n_cut = 0;

  for (guint i = 0; i < n; i++)
    for (guint k = i + 1; k < n; k++)
      if (vn_graph_layout_get_rank (layout, i) == vn_graph_layout_get_rank (layout, k))
        g_assert_false (overlap (vn_graph_layout_get_box (layout, i), vn_graph_layout_get_box (layout, k)));

  for (guint i = 0; i < graph->edges->len; i++)
    {
      const VnGraphLayoutEdge *edge = &g_array_index (graph->edges, VnGraphLayoutEdge, i);
      const VnRect *from = vn_graph_layout_get_box (layout, edge->from);
      const VnRect *to = vn_graph_layout_get_box (layout, edge->to);
      guint n_points, own;
      const VnPoint *points = vn_graph_layout_get_route (layout, i, &n_points, &own);

      g_assert_cmpuint (vn_graph_layout_get_rank (layout, edge->from), <,
                        vn_graph_layout_get_rank (layout, edge->to));
      g_assert_cmpfloat (from->y + from->height, <, to->y);
      if (n_points == 0)
        {
          n_cut++;
          continue;
        }
      n_drawn++;
      g_assert_cmpuint (n_points % 2, ==, 0);
      g_assert_cmpuint (own, <, n_points);
      g_assert_cmpfloat (points[0].y, ==, from->y + from->height);
      g_assert_cmpfloat (points[n_points - 1].y, ==, to->y);
      g_assert_cmpfloat (points[n_points - 1].x, >=, to->x);
      g_assert_cmpfloat (points[n_points - 1].x, <=, to->x + to->width);
      for (guint k = 0; k + 1 < n_points; k++)
        {
          g_assert_cmpfloat (points[k].y, <=, points[k + 1].y);
          if (k % 2 == 0)
            g_assert_cmpfloat (points[k].x, ==, points[k + 1].x);
        }
    }
  g_test_message ("%u edges drawn, %u cut, %" G_GUINT64_FORMAT " crossings", n_drawn, n_cut,
                  vn_graph_layout_get_crossings (layout));
}

/* A line or a curve never comes behind a box. Slow: every piece against every box. */
static void
check_clear (const Graph    *graph,
             const VnGraphLayout *layout)
{
  for (guint i = 0; i < graph->edges->len; i++)
    {
      const VnGraphLayoutEdge *edge = &g_array_index (graph->edges, VnGraphLayoutEdge, i);
      guint n_points;
      const VnPoint *points = vn_graph_layout_get_route (layout, i, &n_points, NULL);

      for (guint k = 0; k + 1 < n_points; k++)
        for (guint node = 0; node < graph->nodes->len; node++)
          {
            const VnRect *box = vn_graph_layout_get_box (layout, node);
            double left = MIN (points[k].x, points[k + 1].x), right = MAX (points[k].x, points[k + 1].x);

            if (node == edge->from || node == edge->to)
              continue;
            g_assert_false (left < box->x + box->width && right > box->x
                            && points[k].y < box->y + box->height && points[k + 1].y > box->y);
          }
    }
}

typedef struct
{
  const char *name;
  guint       n_nodes;
  guint       edges[16][2];
  guint       n_edges, n_ranks, crossings;
} Known;

static const Known known[] = {
  { "empty", 0, { { 0 } }, 0, 0, 0 },
  { "single", 1, { { 0 } }, 0, 1, 0 },
  { "disconnected", 4, { { 0, 1 }, { 2, 3 } }, 2, 2, 0 },
  { "isolated", 5, { { 0 } }, 0, 1, 0 },
  { "chain", 4, { { 0, 1 }, { 1, 2 }, { 2, 3 } }, 3, 4, 0 },
  { "multi", 2, { { 0, 1 }, { 0, 1 }, { 0, 1 } }, 3, 2, 0 },
  { "skip", 4, { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 0, 3 } }, 4, 4, 0 },
  { "two skips", 6, { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 4 }, { 4, 5 }, { 0, 3 }, { 0, 5 } }, 7, 6, 0 },
  { "twisted", 4, { { 0, 3 }, { 1, 2 } }, 2, 2, 0 },
  { "K(2,2)", 4, { { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 } }, 4, 2, 1 },
  { "K(3,3)", 6, { { 0, 3 }, { 0, 4 }, { 0, 5 }, { 1, 3 }, { 1, 4 }, { 1, 5 }, { 2, 3 }, { 2, 4 },
                   { 2, 5 } }, 9, 2, 9 },
  { "tree", 7, { { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 4 }, { 1, 5 }, { 2, 6 } }, 6, 3, 0 },
  { "late source", 5, { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 4, 3 } }, 4, 4, 0 },
};

static void
test_known (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnGraphLayout) layout = NULL;
      Graph graph;

      graph_init (&graph, known[i].n_nodes);
      for (guint k = 0; k < known[i].n_edges; k++)
        add_edge (&graph, known[i].edges[k][0], known[i].edges[k][1]);
      layout = lay_out (&graph, 0, &error);
      g_assert_no_error (error);
      g_test_message ("%s: %u ranks, %" G_GUINT64_FORMAT " crossings", known[i].name,
                      vn_graph_layout_get_n_ranks (layout),
                      vn_graph_layout_get_crossings (layout));
      g_assert_cmpuint (vn_graph_layout_get_n_ranks (layout), ==, known[i].n_ranks);
      g_assert_cmpuint (vn_graph_layout_get_crossings (layout), ==, known[i].crossings);
      check_layout (&graph, layout);
      check_clear (&graph, layout);
      graph_clear (&graph);
    }
}

/* A chain hangs in one column, and the source of a late input right above it. */
static void
test_straight (void)
{
  g_autoptr(VnGraphLayout) layout = NULL;
  Graph graph;

  graph_init (&graph, 12);
  for (guint i = 0; i < 10; i++)
    add_edge (&graph, i, i + 1);
  add_edge (&graph, 2, 8);
  add_edge (&graph, 11, 9);
  layout = lay_out (&graph, 0, NULL);
  for (guint i = 0; i < 10; i++)
    g_assert_cmpfloat (vn_graph_layout_get_box (layout, i)->x, ==,
                       vn_graph_layout_get_box (layout, i + 1)->x);
  g_assert_cmpuint (vn_graph_layout_get_rank (layout, 11), ==, 8);
  check_layout (&graph, layout);
  check_clear (&graph, layout);
  graph_clear (&graph);
}

static void
test_refused (void)
{
  static const struct { guint from, to; const char *word; } cases[] = {
    { 1, 1, "itself" }, { 2, 0, "own outputs" }, { 0, 9, "only 3 nodes" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      Graph graph;

      graph_init (&graph, 3);
      add_edge (&graph, 0, 1);
      add_edge (&graph, 1, 2);
      add_edge (&graph, cases[i].from, cases[i].to);
      g_assert_null (lay_out (&graph, 0, &error));
      g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, cases[i].word));
      graph_clear (&graph);
    }
}

static void
test_cut (void)
{
  g_autoptr(VnGraphLayout) layout = NULL;
  Graph graph;
  guint n;

  graph_init (&graph, 60);
  for (guint i = 0; i + 1 < 60; i++)
    add_edge (&graph, i, i + 1);
  add_edge (&graph, 0, 30);   /* 59 */
  add_edge (&graph, 0, 50);   /* 60: cut */
  add_edge (&graph, 0, 55);   /* 61: cut */
  layout = lay_out (&graph, 40, NULL);
  vn_graph_layout_get_route (layout, 59, &n, NULL);
  g_assert_cmpuint (n, >, 0);
  vn_graph_layout_get_route (layout, 60, &n, NULL);
  g_assert_cmpuint (n, ==, 0);
  g_assert_cmpuint (vn_graph_layout_get_n_stubs (layout), ==, 3);
  for (guint i = 0; i < vn_graph_layout_get_n_stubs (layout); i++)
    {
      const VnGraphLayoutStub *stub = vn_graph_layout_get_stub (layout, i);

      g_assert_cmpuint (stub->n_edges, ==, stub->at_source ? 2 : 1);
      for (guint k = 0; k < 60; k++)
        g_assert_false (overlap (&stub->box, vn_graph_layout_get_box (layout, k)));
    }
  check_layout (&graph, layout);
  check_clear (&graph, layout);
  graph_clear (&graph);
}

static void
random_graph (Graph   *graph,
              guint    n,
              guint    reach,
              guint32  seed)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (seed);

  graph_init (graph, n);
  for (guint i = 1; i < n; i++)
    {
      add_edge (graph, i - 1 - (guint) g_rand_int_range (rand, 0, (int) MIN (i, 3)), i);
      if (g_rand_int_range (rand, 0, 10) < 3)
        add_edge (graph, i - 1 - (guint) g_rand_int_range (rand, 0, (int) MIN (i, reach)), i);
    }
}

static void
test_random (void)
{
  for (guint seed = 1; seed <= 12; seed++)
    {
      g_autoptr(VnGraphLayout) a = NULL, b = NULL;
      Graph graph;

      random_graph (&graph, 40 + seed * 10, 4 * seed, seed);
      a = lay_out (&graph, 0, NULL);
      b = lay_out (&graph, 0, NULL);
      check_layout (&graph, a);
      check_clear (&graph, a);
      for (guint i = 0; i < graph.nodes->len; i++)
        {
          g_assert_cmpfloat (vn_graph_layout_get_box (a, i)->x, ==, vn_graph_layout_get_box (b, i)->x);
          g_assert_cmpfloat (vn_graph_layout_get_box (a, i)->y, ==, vn_graph_layout_get_box (b, i)->y);
        }
      graph_clear (&graph);
    }
}

static void
test_large (void)
{
  static const struct { guint n, reach; } cases[] = { { 1000, 20 }, { 10000, 60 }, { 10000, 5000 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnGraphLayout) layout = NULL;
      g_autoptr(GError) error = NULL;
      Graph graph;
      gint64 start;
      VnRect bounds;

      random_graph (&graph, cases[i].n, cases[i].reach, 7);
      start = g_get_monotonic_time ();
      layout = lay_out (&graph, 0, &error);
      g_assert_no_error (error);
      bounds = vn_graph_layout_get_bounds (layout);
      g_test_message ("%u nodes, %u edges, reach %u: %.0f ms, %u ranks, %.0f × %.0f px, %u stubs", cases[i].n,
                      graph.edges->len, cases[i].reach, (g_get_monotonic_time () - start) / 1e3,
                      vn_graph_layout_get_n_ranks (layout), bounds.width, bounds.height,
                      vn_graph_layout_get_n_stubs (layout));
      check_layout (&graph, layout);
      graph_clear (&graph);
    }
}

static void
test_cancel (void)
{
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  VnGraphLayoutInput input = { 0 };
  Graph graph;

  random_graph (&graph, 3000, 100, 3);
  input = (VnGraphLayoutInput) { graph.nodes->len, (VnGraphLayoutNode *) graph.nodes->data, graph.edges->len,
                            (VnGraphLayoutEdge *) graph.edges->data, 0 };
  g_cancellable_cancel (cancellable);
  g_assert_null (vn_graph_layout_new (&input, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  graph_clear (&graph);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout/known", test_known);
  g_test_add_func ("/layout/straight", test_straight);
  g_test_add_func ("/layout/refused", test_refused);
  g_test_add_func ("/layout/cut", test_cut);
  g_test_add_func ("/layout/random", test_random);
  g_test_add_func ("/layout/large", test_large);
  g_test_add_func ("/layout/cancel", test_cancel);
  return g_test_run ();
}
