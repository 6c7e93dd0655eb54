/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two networks laid out as one: what stands for each other is at the same place on both sides, whatever is open, nothing lies
 * over anything else, and lines that run past what only the other side has run straight. */
#include "group-networks.h"
#include "vn-alignment.h"

#include <math.h>
#include <string.h>

#define PAGE 1.25

typedef struct
{
  const char *name;
  VnScene    *(*make) (void);
} Network;

static const Network networks[] = {
  { "bert", make_bert }, { "deep", make_deep }, { "resnet", make_resnet }, { "scopes", make_scopes }, { "chain", make_chain },
};

/* ---- the second network: some nodes are gone, some are new ---- */

typedef struct
{
  VnScene *first, *second;
  guint   *counterparts;
  guint    n_gone, n_new;
} Two;

static gboolean
is_dropped (const Two *two,
            guint      node)
{
  const VnSceneNode *data = vn_scene_get_node (two->first, node);
  guint n;

  vn_scene_get_in_edges (two->first, node, &n);
  return data->kind == VN_SCENE_NODE && n == 1 && node % 3 == 1;
}

static guint
add_small (Two   *two,
           guint  after,
           guint  number)
{
  g_autofree char *id = g_strdup_printf ("small %u", number);
  VnSceneNode small = { .id = id, .source = 100000 + number, .kind = VN_SCENE_PAIR, .op = (char *) "Q", .name = id,
                        .detail = (char *) "u8 · 0.1 · 0" };
  guint added = vn_scene_add_node (two->second, &small);
  VnSceneEdge edge = { .from = after, .to = added };

  vn_scene_add_edge (two->second, &edge);
  return added;
}

/* Without the nodes that is_dropped() names, and with a small box behind every fourth one. */
static void
make_second (Two *two)
{
  guint n = vn_scene_get_n_nodes (two->first);
  g_autofree guint *end = g_new (guint, n);   /* by node of the first: what passes its result on in the second */

  two->second = vn_scene_new ();
  two->counterparts = g_new (guint, n);
  for (guint i = 0; i < n; i++)
    {
      guint n_in;
      const guint *in = vn_scene_get_in_edges (two->first, i, &n_in);

      two->counterparts[i] = VN_SCENE_NONE;
      if (is_dropped (two, i))
        {
          end[i] = end[vn_scene_get_edge (two->first, in[0])->from];
          two->n_gone++;
          continue;
        }
      two->counterparts[i] = end[i] = vn_scene_add_node (two->second, vn_scene_get_node (two->first, i));
      for (guint k = 0; k < n_in; k++)
        {
          VnSceneEdge edge = *vn_scene_get_edge (two->first, in[k]);

          edge.from = end[edge.from];
          edge.to = end[i];
          vn_scene_add_edge (two->second, &edge);
        }
      if (i % 4 == 0)
        end[i] = add_small (two, end[i], two->n_new++);
    }
  vn_scene_seal (two->second);
}

static void
two_clear (Two *two)
{
  vn_scene_unref (two->first);
  vn_scene_unref (two->second);
  g_free (two->counterparts);
}

/* ---- checks ---- */

static gboolean
overlap (const VnRect *a,
         const VnRect *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height && b->y < a->y + a->height;
}

static void
check_line (const VnScene       *scene,
            const VnGraphLayout *layout,
            guint                edge)
{
  const VnSceneEdge *data = vn_scene_get_edge (scene, edge);
  const VnRect *from = vn_graph_layout_get_box (layout, data->from), *to = vn_graph_layout_get_box (layout, data->to);
  guint n, own;
  const VnPoint *points = vn_graph_layout_get_route (layout, edge, &n, &own);

  if (n == 0)
    return;
  g_assert_cmpuint (n % 2, ==, 0);
  g_assert_cmpuint (own, <, n);
  if (vn_graph_layout_get_n_stubs (layout) > 0 && (points[0].y > from->y + from->height || points[n - 1].y < to->y))
    return;   /* a piece of it is cut */
  g_assert_cmpfloat (points[0].y, ==, from->y + from->height);
  g_assert_cmpfloat (points[n - 1].y, ==, to->y);
  g_assert_cmpfloat (points[0].x, >=, from->x);
  g_assert_cmpfloat (points[0].x, <=, from->x + from->width);
  g_assert_cmpfloat (points[n - 1].x, >=, to->x);
  g_assert_cmpfloat (points[n - 1].x, <=, to->x + to->width);
  for (guint k = 0; k + 1 < n; k += 2)
    {
      double top = MIN (points[k].y, points[k + 1].y), bottom = MAX (points[k].y, points[k + 1].y);

      g_assert_cmpfloat (fabs (points[k].x - points[k + 1].x), <, 1e-6);
      for (guint b = 0; b < vn_graph_layout_get_n_nodes (layout); b++)
        {
          const VnRect *box = vn_graph_layout_get_box (layout, b);

          if (b != data->from && b != data->to)
            g_assert_false (points[k].x > box->x && points[k].x < box->x + box->width && top < box->y + box->height &&
                            bottom > box->y);
        }
    }
}

static void
check_side (const VnScene       *scene,
            const VnGraphLayout *layout)
{
  VnRect bounds = vn_graph_layout_get_bounds (layout);
  guint n = vn_graph_layout_get_n_nodes (layout);

  g_assert_cmpuint (n, ==, vn_scene_get_n_nodes (scene));
  g_assert_cmpuint (vn_graph_layout_get_n_edges (layout), ==, vn_scene_get_n_edges (scene));
  for (guint i = 0; i < n; i++)
    {
      const VnRect *box = vn_graph_layout_get_box (layout, i);

      g_assert_cmpfloat (box->x, >=, bounds.x - 1);
      g_assert_cmpfloat (box->y + box->height, <=, bounds.y + bounds.height + 1);
      for (guint k = i + 1; k < n; k++)
        g_assert_false (overlap (box, vn_graph_layout_get_box (layout, k)));
    }
  for (guint i = 0; i < vn_scene_get_n_edges (scene); i++)
    check_line (scene, layout, i);
}

static VnPoint
get_middle (VnFold              *fold,
            const VnGraphLayout *layout,
            guint                node)
{
  const VnRect *box = vn_graph_layout_get_box (layout, fold != NULL ? vn_fold_get_box (fold, node) : node);

  return (VnPoint) { box->x + box->width / 2, box->y + box->height / 2 };
}

/* Returns: how many counterparts were looked at. */
static guint
check_counterparts (const Two           *two,
                    VnFold      * const  folds[2],
                    VnGraphLayout * const layouts[2])
{
  VnRect bounds = vn_graph_layout_get_bounds (layouts[0]), there = vn_graph_layout_get_bounds (layouts[1]);
  guint n_checked = 0;

  g_assert_cmpmem (&bounds, sizeof bounds, &there, sizeof there);
  for (guint i = 0; i < vn_scene_get_n_nodes (two->first); i++)
    {
      VnPoint a, b;

      if (two->counterparts[i] == VN_SCENE_NONE)
        continue;
      a = get_middle (folds[0], layouts[0], i);
      b = get_middle (folds[1], layouts[1], two->counterparts[i]);
      g_assert_cmpfloat (a.x, ==, b.x);
      g_assert_cmpfloat (a.y, ==, b.y);
      n_checked++;
    }
  return n_checked;
}

static void
check_open (const Two    *two,
            VnAlignment  *alignment,
            const guint8 *open,
            double        page)
{
  VnFold *folds[2] = { NULL, NULL };
  VnGraphLayout *layouts[2];
  VnScene *scenes[] = { two->first, two->second };
  g_autoptr(GError) error = NULL;

  for (guint side = 0; side < 2; side++)
    {
      VnScene *shown = scenes[side];

      if (open != NULL)
        folds[side] = vn_fold_new (scenes[side], vn_alignment_get_groups (alignment, side), open);
      if (open != NULL)
        shown = vn_fold_get_scene (folds[side]);
      layouts[side] = vn_alignment_lay_out (alignment, side, folds[side], page, NULL, &error);
      g_assert_no_error (error);
      check_side (shown, layouts[side]);
    }
  g_assert_cmpuint (check_counterparts (two, folds, layouts), >, vn_scene_get_n_nodes (two->first) / 3);
  for (guint side = 0; side < 2; side++)
    {
      g_clear_pointer (&folds[side], vn_fold_unref);
      vn_graph_layout_unref (layouts[side]);
    }
}

static void
test_places (gconstpointer data)
{
  const Network *network = data;
  Two two = { .first = network->make () };
  g_autoptr(VnAlignment) alignment = NULL;
  g_autofree guint8 *first = NULL, *all = NULL;
  guint n_groups;

  make_second (&two);
  g_assert_cmpuint (MIN (two.n_gone, two.n_new), >, 2);
  alignment = vn_alignment_new (two.first, two.second, two.counterparts);
  g_assert_cmpuint (vn_alignment_get_n_nodes (alignment), <,
                    vn_scene_get_n_nodes (two.first) + two.n_new);   /* some stand in for others */
  n_groups = vn_groups_get_n (vn_alignment_get_groups (alignment, 0));
  g_assert_cmpuint (n_groups, ==, vn_groups_get_n (vn_alignment_get_groups (alignment, 1)));
  first = vn_alignment_dup_open (alignment, 60);
  all = g_malloc (n_groups);
  memset (all, 1, n_groups);
  for (guint i = 0; i < 2; i++)
    {
      check_open (&two, alignment, NULL, i * PAGE);
      check_open (&two, alignment, first, i * PAGE);
      check_open (&two, alignment, all, i * PAGE);
    }
  two_clear (&two);
}

/* A line past nodes that are gone is straight where it is straight on the other side. */
static void
test_straight (void)
{
  Two two = { .first = vn_scene_new () };
  Net net = { two.first, 0 };
  g_autoptr(VnAlignment) alignment = NULL;
  g_autoptr(VnGraphLayout) layout = NULL;
  g_autoptr(GError) error = NULL;
  guint from = net_add (&net, NULL, "Conv", VN_SCENE_NONE, VN_SCENE_NONE), n, here[2];
  const VnPoint *points;

  add_chain (&net, NULL, "Norm Relu Conv", from);
  vn_scene_seal (two.first);
  two.counterparts = g_new (guint, 4);
  two.second = vn_scene_new ();
  here[0] = vn_scene_add_node (two.second, vn_scene_get_node (two.first, 0));
  here[1] = vn_scene_add_node (two.second, vn_scene_get_node (two.first, 3));
  vn_scene_add_edge (two.second, &(VnSceneEdge) { .from = here[0], .to = here[1] });
  vn_scene_seal (two.second);
  memcpy (two.counterparts, (guint[]) { here[0], VN_SCENE_NONE, VN_SCENE_NONE, here[1] }, sizeof (guint) * 4);
  alignment = vn_alignment_new (two.first, two.second, two.counterparts);
  layout = vn_alignment_lay_out (alignment, 1, NULL, 0, NULL, &error);
  g_assert_no_error (error);
  points = vn_graph_layout_get_route (layout, 0, &n, NULL);
  g_assert_cmpuint (n, >=, 2);
  for (guint i = 1; i < n; i++)
    g_assert_cmpfloat (points[i].x, ==, points[0].x);
  two_clear (&two);
}

/* The same network beside itself is laid out once. */
static void
test_same (void)
{
  g_autoptr(VnScene) first = make_resnet (), second = make_resnet ();
  guint n = vn_scene_get_n_nodes (first);
  g_autofree guint *counterparts = g_new (guint, n);
  g_autoptr(VnAlignment) alignment = NULL;
  g_autofree guint8 *open = NULL;
  g_autoptr(VnFold) fold_a = NULL, fold_b = NULL;
  g_autoptr(VnGraphLayout) a = NULL, b = NULL;

  for (guint i = 0; i < n; i++)
    counterparts[i] = i;
  alignment = vn_alignment_new (first, second, counterparts);
  g_assert_cmpuint (vn_alignment_get_n_nodes (alignment), ==, n);
  open = vn_alignment_dup_open (alignment, 60);
  fold_a = vn_fold_new (first, vn_alignment_get_groups (alignment, 0), open);
  fold_b = vn_fold_new (second, vn_alignment_get_groups (alignment, 1), open);
  a = vn_alignment_lay_out (alignment, 0, fold_a, PAGE, NULL, NULL);
  b = vn_alignment_lay_out (alignment, 1, fold_b, PAGE, NULL, NULL);
  g_assert_nonnull (a);
  g_assert_true (a == b);
}

/* What comes first here comes last there: as one they would feed each other in a circle. */
static void
test_exchanged (void)
{
  Two two = { .first = vn_scene_new (), .second = vn_scene_new () };
  Net first = { two.first, 0 }, second = { two.second, 0 };
  g_autoptr(VnAlignment) alignment = NULL;
  VnFold *folds[] = { NULL, NULL };
  VnGraphLayout *layouts[2];
  g_autoptr(GError) error = NULL;

  add_chain (&first, NULL, "Conv Relu MaxPool Conv", net_add (&first, NULL, "Conv", VN_SCENE_NONE, VN_SCENE_NONE));
  add_chain (&second, NULL, "Conv MaxPool Relu Conv", net_add (&second, NULL, "Conv", VN_SCENE_NONE, VN_SCENE_NONE));
  vn_scene_seal (two.first);
  vn_scene_seal (two.second);
  two.counterparts = g_new (guint, 5);
  memcpy (two.counterparts, (guint[]) { 0, 1, 3, 2, 4 }, sizeof (guint) * 5);
  alignment = vn_alignment_new (two.first, two.second, two.counterparts);
  for (guint side = 0; side < 2; side++)
    {
      layouts[side] = vn_alignment_lay_out (alignment, side, NULL, 0, NULL, &error);
      g_assert_no_error (error);
      check_side (side == 0 ? two.first : two.second, layouts[side]);
    }
  two.counterparts[2] = two.counterparts[3] = VN_SCENE_NONE;
  g_assert_cmpuint (check_counterparts (&two, folds, layouts), ==, 3);
  vn_graph_layout_unref (layouts[0]);
  vn_graph_layout_unref (layouts[1]);
  two_clear (&two);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (networks); i++)
    {
      g_autofree char *path = g_strdup_printf ("/alignment/places/%s", networks[i].name);

      g_test_add_data_func (path, &networks[i], test_places);
    }
  g_test_add_func ("/alignment/straight", test_straight);
  g_test_add_func ("/alignment/same", test_same);
  g_test_add_func ("/alignment/exchanged", test_exchanged);
  return g_test_run ();
}
