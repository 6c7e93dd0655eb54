/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layouts folded into columns: nothing is lost, nothing lies over anything else, they are read from top to bottom and from left
 * to right, and they fill the page. */
#include "group-networks.h"
#include "vn-fold.h"

#include <math.h>

#define PAGE 1.6

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
lay_out (Graph *graph)
{
  VnGraphLayoutInput input = { graph->nodes->len, (VnGraphLayoutNode *) graph->nodes->data, graph->edges->len,
                               (VnGraphLayoutEdge *) graph->edges->data, 0 };
  g_autoptr(GError) error = NULL;
  VnGraphLayout *layout = vn_graph_layout_new (&input, NULL, &error);

  g_assert_no_error (error);
  return layout;
}

static gboolean
overlap (const VnRect *a,
         const VnRect *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height && b->y < a->y + a->height;
}

static gboolean
holds (const VnRect *outer,
       const VnRect *inner)
{
  return inner->x >= outer->x - 1 && inner->y >= outer->y - 1 && inner->x + inner->width <= outer->x + outer->width + 1
         && inner->y + inner->height <= outer->y + outer->height + 1;
}

/* Boxes apart and in the bounds; lines end at their boxes, and what is vertical in them runs behind no other box. */
static void
check_wrapped (const VnGraphLayout     *plain,
               const VnGraphLayout     *layout,
               const VnGraphLayoutEdge *edges)
{
  guint n = vn_graph_layout_get_n_nodes (layout);
  VnRect bounds = vn_graph_layout_get_bounds (layout);

  g_assert_cmpuint (n, ==, vn_graph_layout_get_n_nodes (plain));
  g_assert_cmpuint (vn_graph_layout_get_n_stubs (layout), ==, vn_graph_layout_get_n_stubs (plain));
  for (guint i = 0; i < n; i++)
    {
      const VnRect *box = vn_graph_layout_get_box (layout, i), *was = vn_graph_layout_get_box (plain, i);

      g_assert_cmpfloat (box->width, ==, was->width);
      g_assert_cmpfloat (box->height, ==, was->height);
      g_assert_cmpuint (vn_graph_layout_get_rank (layout, i), ==, vn_graph_layout_get_rank (plain, i));
      g_assert_true (holds (&bounds, box));
      for (guint k = i + 1; k < n; k++)
        g_assert_false (overlap (box, vn_graph_layout_get_box (layout, k)));
    }
  for (guint i = 0; i < vn_graph_layout_get_n_edges (layout); i++)
    {
      const VnRect *from = vn_graph_layout_get_box (layout, edges[i].from), *to = vn_graph_layout_get_box (layout, edges[i].to);
      guint n_points, n_before, own, own_before;
      const VnPoint *points = vn_graph_layout_get_route (layout, i, &n_points, &own);

      vn_graph_layout_get_route (plain, i, &n_before, &own_before);
      g_assert_cmpint (n_points > 0, ==, n_before > 0);
      if (n_points == 0)
        continue;
      g_assert_cmpuint (n_points % 2, ==, 0);
      g_assert_cmpuint (own, <, n_points);
      g_assert_cmpint (own_before == 0, >=, own == 0);
      g_assert_cmpfloat (points[0].y, ==, from->y + from->height);
      g_assert_cmpfloat (points[0].x, >=, from->x);
      g_assert_cmpfloat (points[0].x, <=, from->x + from->width);
      g_assert_cmpfloat (points[n_points - 1].y, ==, to->y);
      g_assert_cmpfloat (points[n_points - 1].x, >=, to->x);
      g_assert_cmpfloat (points[n_points - 1].x, <=, to->x + to->width);
      for (guint k = 0; k + 1 < n_points; k += 2)
        {
          double top = MIN (points[k].y, points[k + 1].y), bottom = MAX (points[k].y, points[k + 1].y);

          g_assert_cmpfloat (fabs (points[k].x - points[k + 1].x), <, 1e-6);
          g_assert_true (holds (&bounds, &(VnRect) { points[k].x, top, 0, bottom - top }));
          for (guint b = 0; b < n && n <= 1000; b++)
            {
              const VnRect *box = vn_graph_layout_get_box (layout, b);

              if (b != edges[i].from && b != edges[i].to)
                g_assert_false (points[k].x > box->x && points[k].x < box->x + box->width && top < box->y + box->height
                                && bottom > box->y);
            }
        }
    }
}

/* What comes later stands below, or in a column further right. */
static void
check_reading_order (const VnGraphLayout     *layout,
                     const VnGraphLayoutEdge *edges)
{
  for (guint i = 0; i < vn_graph_layout_get_n_edges (layout); i++)
    {
      const VnRect *from = vn_graph_layout_get_box (layout, edges[i].from), *to = vn_graph_layout_get_box (layout, edges[i].to);

      g_assert_true (from->y + from->height <= to->y || from->x + from->width <= to->x);
    }
}

static double
get_share (const VnGraphLayout *layout)
{
  VnRect bounds = vn_graph_layout_get_bounds (layout);
  double zoom = MIN (1, MIN (1600 / bounds.width, 1000 / bounds.height));

  return bounds.width * zoom / 1600;
}

/* Columns follow one another from left to right, each from top to bottom. */
static void
test_chain (void)
{
  static const guint lengths[] = { 25, 40, 160, 1000, 4000 };

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    {
      g_autoptr(VnGraphLayout) plain = NULL, layout = NULL, again = NULL;
      Graph graph;
      guint n_columns = 1;

      graph_init (&graph, lengths[i]);
      for (guint k = 1; k < lengths[i]; k++)
        add_edge (&graph, k - 1, k);
      plain = lay_out (&graph);
      layout = vn_graph_layout_wrap (plain, PAGE);
      again = vn_graph_layout_wrap (plain, PAGE);
      g_assert_true (layout != plain);
      check_wrapped (plain, layout, (const VnGraphLayoutEdge *) graph.edges->data);
      check_reading_order (layout, (const VnGraphLayoutEdge *) graph.edges->data);
      for (guint k = 1; k < lengths[i]; k++)
        {
          const VnRect *last = vn_graph_layout_get_box (layout, k - 1), *box = vn_graph_layout_get_box (layout, k);

          g_assert_true (box->x == last->x ? box->y > last->y : box->x > last->x + last->width);
          n_columns += box->x != last->x;
          g_assert_cmpmem (box, sizeof *box, vn_graph_layout_get_box (again, k), sizeof *box);
        }
      g_test_message ("%u nodes: %.3f of the width, %.3f as one column; %u columns", lengths[i], get_share (layout),
                      get_share (plain), n_columns);
      g_assert_cmpuint (n_columns, >, 1);
      g_assert_cmpfloat (get_share (layout), >=, lengths[i] < 100 ? 0.15 : 0.6);
      graph_clear (&graph);
    }
}

/* What can be read as a whole stays as it is, and so does everything where there is no page. */
static void
test_left_alone (void)
{
  g_autoptr(VnGraphLayout) small = NULL, large = NULL, same = NULL, other = NULL;
  Graph graph;

  graph_init (&graph, 12);
  for (guint k = 1; k < 12; k++)
    add_edge (&graph, k - 1, k);
  small = lay_out (&graph);
  same = vn_graph_layout_wrap (small, PAGE);
  g_assert_true (same == small);
  graph_clear (&graph);
  graph_init (&graph, 300);
  for (guint k = 1; k < 300; k++)
    add_edge (&graph, k - 1, k);
  large = lay_out (&graph);
  other = vn_graph_layout_wrap (large, 0);
  g_assert_true (other == large);
  graph_clear (&graph);
  graph_init (&graph, 0);
  g_clear_pointer (&large, vn_graph_layout_unref);
  g_clear_pointer (&other, vn_graph_layout_unref);
  large = lay_out (&graph);
  other = vn_graph_layout_wrap (large, PAGE);
  g_assert_true (other == large);
  graph_clear (&graph);
}

static void
test_random (void)
{
  guint n_wrapped = 0;

  for (guint seed = 1; seed <= 12; seed++)
    {
      g_autoptr(VnGraphLayout) plain = NULL, layout = NULL;
      g_autoptr(GRand) rand = g_rand_new_with_seed (seed);
      guint n = 60 + 40 * seed;
      Graph graph;

      graph_init (&graph, n);
      for (guint i = 1; i < n; i++)
        {
          add_edge (&graph, i - 1 - (guint) g_rand_int_range (rand, 0, (int) MIN (i, 3)), i);
          if (g_rand_int_range (rand, 0, 10) < 2)
            add_edge (&graph, i - 1 - (guint) g_rand_int_range (rand, 0, (int) MIN (i, 8 * seed)), i);
        }
      plain = lay_out (&graph);
      layout = vn_graph_layout_wrap (plain, PAGE);
      n_wrapped += layout != plain;
      check_wrapped (plain, layout, (const VnGraphLayoutEdge *) graph.edges->data);
      check_reading_order (layout, (const VnGraphLayoutEdge *) graph.edges->data);
      g_assert_cmpfloat (get_share (layout), >=, get_share (plain) * 0.99);
      graph_clear (&graph);
    }
  g_test_message ("%u of 12 are in columns", n_wrapped);
  g_assert_cmpuint (n_wrapped, >, 6);
}

/* An open group that goes on in the next column has a frame in each, and they hold all its boxes; others lie outside. */
static void
check_frames (const VnFold        *fold,
              const VnGraphLayout *layout,
              guint               *n_cut)
{
  VnGroups *groups = vn_fold_get_groups (fold);
  guint n_frames = vn_graph_layout_get_n_frames (layout);

  for (guint i = 0; i < n_frames; i++)
    {
      const VnGraphLayoutFrame *frame = vn_graph_layout_get_frame (layout, i);

      *n_cut += i > 0 && vn_graph_layout_get_frame (layout, i - 1)->group == frame->group;
      for (guint k = i + 1; k < n_frames; k++)
        {
          const VnGraphLayoutFrame *other = vn_graph_layout_get_frame (layout, k);

          g_assert_true (!overlap (&frame->box, &other->box) || holds (&frame->box, &other->box));
        }
    }
  for (guint box = 0; box < vn_scene_get_n_nodes (vn_fold_get_scene (fold)); box++)
    {
      guint n, node = vn_fold_get_nodes (fold, box, &n)[0];

      for (guint group = vn_groups_of_node (groups, node); group != VN_SCENE_NONE && group != VN_GROUPS_ROOT;
           group = vn_groups_get (groups, group)->parent)
        {
          guint n_holding = 0;

          if (!vn_fold_is_open (fold, group))
            continue;
          for (guint i = 0; i < n_frames; i++)
            n_holding += vn_graph_layout_get_frame (layout, i)->group == group
                         && holds (&vn_graph_layout_get_frame (layout, i)->box, vn_graph_layout_get_box (layout, box));
          g_assert_cmpuint (n_holding, ==, 1);
        }
    }
}

static void
test_groups (void)
{
  static VnScene * (* const makes[]) (void) = { make_bert, make_deep, make_resnet, make_scopes, make_tangle, make_chain };
  g_autoptr(GRand) rand = g_rand_new_with_seed (5);
  guint n_wrapped = 0, n_cut = 0;

  for (guint i = 0; i < G_N_ELEMENTS (makes); i++)
    {
      g_autoptr(VnScene) scene = makes[i] ();
      g_autoptr(VnGroups) groups = vn_groups_new (scene);
      g_autoptr(VnFoldPlaces) places = vn_fold_places_new ();

      for (guint round = 0; round < 10; round++)
        {
          g_autofree guint8 *open = g_new0 (guint8, vn_groups_get_n (groups));
          g_autoptr(VnFold) fold = NULL;
          g_autoptr(VnGraphLayout) plain = NULL, layout = NULL;
          g_autoptr(GArray) edges = g_array_new (FALSE, FALSE, sizeof (VnGraphLayoutEdge));

          for (guint k = 0; k < vn_groups_get_n (groups); k++)
            open[k] = k == VN_GROUPS_ROOT || round == 0 || (round > 1 && g_rand_boolean (rand));
          fold = vn_fold_new (scene, groups, open);
          plain = vn_fold_lay_out (fold, places, NULL, NULL);
          layout = vn_graph_layout_wrap (plain, PAGE);
          n_wrapped += layout != plain;
          for (guint k = 0; k < vn_scene_get_n_edges (vn_fold_get_scene (fold)); k++)
            {
              const VnSceneEdge *data = vn_scene_get_edge (vn_fold_get_scene (fold), k);
              VnGraphLayoutEdge edge = { data->from, data->to, 0, 0 };

              g_array_append_val (edges, edge);
            }
          check_wrapped (plain, layout, (const VnGraphLayoutEdge *) edges->data);
          check_frames (fold, layout, &n_cut);
        }
    }
  g_test_message ("%u layouts in columns, %u frames go on in another column", n_wrapped, n_cut);
  g_assert_cmpuint (n_wrapped, >, 10);
  g_assert_cmpuint (n_cut, >, 5);
}

static guint
add_node (Graph *graph,
          guint  from)
{
  VnGraphLayoutNode node = { 176, 64, VN_PIN_NONE };

  g_array_append_val (graph->nodes, node);
  if (from != G_MAXUINT)
    add_edge (graph, from, graph->nodes->len - 1);
  return graph->nodes->len - 1;
}

static guint
add_way (Graph *graph,
         guint  from,
         guint  n)
{
  for (guint i = 0; i < n; i++)
    from = add_node (graph, from);
  return from;
}

/* Blocks that are left at one side of where they are entered do not add up to a slope: three ways, of which two join first. */
static void
test_drift (void)
{
  g_autoptr(VnGraphLayout) layout = NULL;
  VnRect bounds;
  Graph graph;
  guint last;

  graph_init (&graph, 0);
  last = add_node (&graph, G_MAXUINT);
  for (guint block = 0; block < 60; block++)
    {
      guint first = add_way (&graph, last, 3), second = add_way (&graph, last, 3), joint = add_node (&graph, first), third;

      add_edge (&graph, second, joint);
      third = add_way (&graph, last, 3);
      last = add_node (&graph, joint);
      add_edge (&graph, third, last);
    }
  layout = lay_out (&graph);
  bounds = vn_graph_layout_get_bounds (layout);
  g_test_message ("60 blocks are %.0f px wide", bounds.width);
  g_assert_cmpfloat (bounds.width, <, 1300);   /* 3549 where nothing holds it */
  graph_clear (&graph);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout-wrap/chain", test_chain);
  g_test_add_func ("/layout-wrap/left-alone", test_left_alone);
  g_test_add_func ("/layout-wrap/random", test_random);
  g_test_add_func ("/layout-wrap/groups", test_groups);
  g_test_add_func ("/layout-wrap/drift", test_drift);
  return g_test_run ();
}
