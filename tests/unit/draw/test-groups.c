/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "group-networks.h"

#include "vn-fold.h"
#include "vn-onnx.h"
#include "vn-scene-builder.h"

#include <math.h>
#include <string.h>

/* ---- trees ---- */

static guint
count_titles (const VnGroups *groups,
              const char     *title)
{
  guint n = 0;

  for (guint i = 0; i < vn_groups_get_n (groups); i++)
    n += g_str_has_prefix (vn_groups_get (groups, i)->title, title);
  return n;
}

/* Every node is in one group, parents come first, ids differ, and what is said is said. */
static void
check_tree (const VnScene  *scene,
            const VnGroups *groups)
{
  guint n = vn_scene_get_n_nodes (scene), n_listed = 0;
  g_autofree guint8 *seen = g_new0 (guint8, n);
  g_autoptr(GHashTable) ids = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < vn_groups_get_n (groups); i++)
    {
      const VnGroup *group = vn_groups_get (groups, i);
      guint n_children;
      const VnGroupChild *children = vn_groups_get_children (groups, i, &n_children);

      g_assert_true (g_hash_table_add (ids, group->id));
      g_assert_cmpuint (vn_groups_find (groups, group->id), ==, i);
      g_assert_true (i == VN_GROUPS_ROOT ? group->parent == VN_SCENE_NONE : group->parent < i);
      g_assert_cmpstr (group->title, !=, "");
      g_assert_cmpstr (group->detail, !=, "");
      for (guint k = 0; k < n_children; k++)
        {
          if (children[k].is_group)
            {
              g_assert_cmpuint (vn_groups_get (groups, children[k].index)->parent, ==, i);
              continue;
            }
          g_assert_cmpuint (vn_groups_of_node (groups, children[k].index), ==, i);
          g_assert_cmpuint (seen[children[k].index]++, ==, 0);
          n_listed++;
        }
    }
  g_assert_cmpuint (n_listed, ==, n);
}

typedef VnScene *(*MakeScene) (void);

static const struct { const char *what; MakeScene make; const char *title; guint n, n_nodes; const char *detail; } trees[] = {
  { "BERT without names", make_bert, "layer", 12, 29, "attention · feed-forward" },
  { "attention", make_bert, "attention", 12, 22, NULL },
  { "feed-forward", make_bert, "feed-forward", 12, 7, NULL },
  { "many layers", make_deep, "layer\u00a0", 60, 29, NULL },
  { "layers in bundles", make_deep, "layer\u00a01\u00a0–\u00a0", 1, 6 * 29, NULL },
  { "ResNet without names", make_resnet, "residual block", 12, 7, NULL },
  { "blocks by name", make_scopes, "block\u00a0", 6, 7, NULL },
  { "the beginning by name", make_scopes, "stem", 1, 3, NULL },
  { "the end by name", make_scopes, "head", 1, 4, NULL },
};

static void
test_trees (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (trees); i++)
    {
      g_autoptr(VnScene) scene = trees[i].make ();
      g_autoptr(VnGroups) groups = vn_groups_new (scene), again = vn_groups_new (scene);
      guint n_alike = 0;

      check_tree (scene, groups);
      for (guint k = 0; k < vn_groups_get_n (groups); k++)
        {
          const VnGroup *group = vn_groups_get (groups, k);

          g_test_message ("%s: %*s%s, %u nodes: %s", trees[i].what, (int) (2 * group->depth), "", group->title, group->n_nodes,
                          group->detail);
          g_assert_cmpstr (group->id, ==, vn_groups_get (again, k)->id);
          if (!g_str_has_prefix (group->title, trees[i].title))
            continue;
          n_alike += group->n_nodes == trees[i].n_nodes;
          if (trees[i].detail != NULL)
            g_assert_cmpstr (group->detail, ==, trees[i].detail);
        }
      g_assert_cmpuint (count_titles (groups, trees[i].title), >=, trees[i].n);
      g_assert_cmpuint (n_alike, >=, trees[i].n);
    }
}

/* A network of which nothing repeats is cut all the same. */
static void
test_readable (void)
{
  static const MakeScene makes[] = { make_bert, make_deep, make_resnet, make_scopes, make_tangle, make_chain };

  for (guint i = 0; i < G_N_ELEMENTS (makes); i++)
    {
      g_autoptr(VnScene) scene = makes[i] ();
      g_autoptr(VnGroups) groups = vn_groups_new (scene);
      g_autofree guint8 *open = vn_groups_dup_open (groups, 60);
      g_autoptr(VnFold) fold = vn_fold_new (scene, groups, open);
      guint n = vn_scene_get_n_nodes (vn_fold_get_scene (fold));

      g_test_message ("%u nodes, %u groups: %u are shown at first", vn_scene_get_n_nodes (scene), vn_groups_get_n (groups), n);
      check_tree (scene, groups);
      g_assert_cmpuint (n, <=, 60);
    }
}

/* ---- folds ---- */

static gboolean
overlap (const VnRect *a,
         const VnRect *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height && b->y < a->y + a->height;
}

static gboolean
holds (const VnRect *a,
       const VnRect *b)
{
  return b->x >= a->x && b->y >= a->y && b->x + b->width <= a->x + a->width && b->y + b->height <= a->y + a->height;
}

static gboolean
is_in (const VnGroups *groups,
       guint           group,
       guint           outer)
{
  while (group != VN_SCENE_NONE && group != outer)
    group = vn_groups_get (groups, group)->parent;
  return group == outer;
}

static guint
group_of_box (const VnFold *fold,
              guint         box)
{
  guint n;
  const VnSceneNode *data = vn_scene_get_node (vn_fold_get_scene (fold), box);

  if (data->kind == VN_SCENE_GROUP)
    return vn_groups_get (vn_fold_get_groups (fold), data->source)->parent;
  return vn_groups_of_node (vn_fold_get_groups (fold), vn_fold_get_nodes (fold, box, &n)[0]);
}

/* Boxes apart and in their frames only, lines from box to box and clear of every other box where they run down. */
static void
check_layout (const VnFold        *fold,
              const VnGraphLayout *layout)
{
  const VnScene *scene = vn_fold_get_scene (fold);
  const VnGroups *groups = vn_fold_get_groups (fold);
  guint n = vn_scene_get_n_nodes (scene);

  for (guint i = 0; i < n; i++)
    {
      const VnRect *box = vn_graph_layout_get_box (layout, i);

      for (guint k = i + 1; k < n; k++)
        g_assert_false (overlap (box, vn_graph_layout_get_box (layout, k)));
      for (guint k = 0; k < vn_graph_layout_get_n_frames (layout); k++)
        {
          const VnGraphLayoutFrame *frame = vn_graph_layout_get_frame (layout, k);

          if (is_in (groups, group_of_box (fold, i), frame->group))
            g_assert_true (holds (&frame->box, box));
          else
            g_assert_false (overlap (&frame->box, box));
        }
    }
  for (guint i = 0; i < vn_scene_get_n_edges (scene); i++)
    {
      const VnSceneEdge *edge = vn_scene_get_edge (scene, i);
      const VnRect *from = vn_graph_layout_get_box (layout, edge->from), *to = vn_graph_layout_get_box (layout, edge->to);
      guint n_points, own;
      const VnPoint *points = vn_graph_layout_get_route (layout, i, &n_points, &own);

      if (n_points == 0)
        continue;
      g_assert_cmpuint (n_points % 2, ==, 0);
      g_assert_true (own == 0 || own + 3 <= n_points);   /* the curve to its end is always its own */
      g_assert_cmpfloat (points[0].y, ==, from->y + from->height);
      g_assert_cmpfloat (points[n_points - 1].y, ==, to->y);
      for (guint k = 0; k + 1 < n_points; k++)
        {
          g_assert_cmpfloat (points[k].y, <=, points[k + 1].y + 1e-9);
          if (k % 2 == 1)
            continue;
          g_assert_cmpfloat (fabs (points[k].x - points[k + 1].x), <, 1e-9);
          for (guint b = 0; b < n; b++)
            {
              const VnRect *box = vn_graph_layout_get_box (layout, b);

              if (b != edge->from && b != edge->to)
                g_assert_false (points[k].x > box->x && points[k].x < box->x + box->width
                                && points[k].y < box->y + box->height && points[k + 1].y > box->y);
            }
        }
    }
}

/* Whatever is open: the groups do not feed one another in a circle, and can be drawn. */
static void
test_open (void)
{
  static const MakeScene makes[] = { make_bert, make_deep, make_resnet, make_scopes, make_tangle };
  g_autoptr(GRand) rand = g_rand_new_with_seed (9);

  for (guint i = 0; i < G_N_ELEMENTS (makes); i++)
    {
      g_autoptr(VnScene) scene = makes[i] ();
      g_autoptr(VnGroups) groups = vn_groups_new (scene);
      g_autoptr(VnFoldPlaces) places = vn_fold_places_new ();

      for (guint round = 0; round < 12; round++)
        {
          g_autofree guint8 *open = g_new0 (guint8, vn_groups_get_n (groups));
          g_autoptr(VnFold) fold = NULL;
          g_autoptr(VnGraphLayout) layout = NULL, fresh = NULL;
          g_autoptr(VnFoldPlaces) others = vn_fold_places_new ();
          g_autoptr(GError) error = NULL;

          for (guint k = 0; k < vn_groups_get_n (groups); k++)
            open[k] = k == VN_GROUPS_ROOT || round == 0 || (round > 1 && g_rand_boolean (rand));
          fold = vn_fold_new (scene, groups, open);
          layout = vn_fold_lay_out (fold, places, NULL, &error);
          g_assert_no_error (error);
          check_layout (fold, layout);
          /* what was open before does not matter */
          fresh = vn_fold_lay_out (fold, others, NULL, NULL);
          for (guint k = 0; k < vn_scene_get_n_nodes (vn_fold_get_scene (fold)); k++)
            g_assert_cmpmem (vn_graph_layout_get_box (layout, k), sizeof (VnRect), vn_graph_layout_get_box (fresh, k),
                             sizeof (VnRect));
          for (guint k = 0; k < vn_scene_get_n_nodes (scene); k++)
            {
              guint n, box = vn_fold_get_box (fold, k), n_found = 0;
              const guint *nodes = vn_fold_get_nodes (fold, box, &n);

              for (guint m = 0; m < n; m++)
                n_found += nodes[m] == k;
              g_assert_cmpuint (n_found, ==, 1);
            }
        }
    }
}

/* What is above an opened group stays, what is left of it in its row too, and everything keeps its order. */
static void
test_stable (void)
{
  static const MakeScene makes[] = { make_bert, make_resnet, make_scopes };
  guint n_compared = 0;

  for (guint i = 0; i < G_N_ELEMENTS (makes); i++)
    {
      g_autoptr(VnScene) scene = makes[i] ();
      g_autoptr(VnGroups) groups = vn_groups_new (scene);
      g_autoptr(VnFoldPlaces) places = vn_fold_places_new ();
      g_autofree guint8 *open = g_new0 (guint8, vn_groups_get_n (groups));
      g_autoptr(VnFold) closed = NULL;
      g_autoptr(VnGraphLayout) before = NULL;

      open[VN_GROUPS_ROOT] = 1;
      closed = vn_fold_new (scene, groups, open);
      before = vn_fold_lay_out (closed, places, NULL, NULL);
      for (guint k = 1; k < vn_groups_get_n (groups); k++)
        {
          g_autoptr(VnFold) fold = NULL;
          g_autoptr(VnGraphLayout) after = NULL;
          const VnGraphLayoutFrame *frame;
          guint box = VN_SCENE_NONE;

          if (vn_groups_get (groups, k)->parent != VN_GROUPS_ROOT)
            continue;
          open[k] = 1;
          fold = vn_fold_new (scene, groups, open);
          after = vn_fold_lay_out (fold, places, NULL, NULL);
          open[k] = 0;
          g_assert_cmpuint (vn_graph_layout_get_n_frames (after), ==, 1);
          frame = vn_graph_layout_get_frame (after, 0);
          for (guint b = 0; b < vn_scene_get_n_nodes (vn_fold_get_scene (closed)); b++)
            {
              const VnSceneNode *data = vn_scene_get_node (vn_fold_get_scene (closed), b);

              if (data->kind == VN_SCENE_GROUP && data->source == k)
                box = b;
            }
          g_assert_cmpuint (box, !=, VN_SCENE_NONE);
          g_assert_cmpfloat (frame->box.y, ==, vn_graph_layout_get_box (before, box)->y);
          for (guint b = 0; b < vn_scene_get_n_nodes (vn_fold_get_scene (closed)); b++)
            {
              guint n, other = vn_fold_get_box (fold, vn_fold_get_nodes (closed, b, &n)[0]);
              const VnRect *was = vn_graph_layout_get_box (before, b), *is = vn_graph_layout_get_box (after, other);
              const VnRect *opened = vn_graph_layout_get_box (before, box);

              if (b == box)
                continue;
              n_compared++;
              if (was->y + was->height <= opened->y || was->x + was->width <= opened->x)
                g_assert_cmpfloat (is->x, ==, was->x);
              if (was->y + was->height <= opened->y)
                g_assert_cmpfloat (is->y, ==, was->y);
              else
                g_assert_cmpfloat (is->y, >=, was->y);
            }
        }
    }
  g_test_message ("%u boxes compared", n_compared);
  g_assert_cmpuint (n_compared, >, 100);
}

/* In a group that is too deep to be seen at once, a tensor that is used far below has a stub at either end. */
static void
test_stubs (void)
{
  Net net;
  guint x, first;
  VnScene *scene;
  g_autofree guint8 *open = NULL;
  g_autoptr(VnGroups) groups = NULL;
  g_autoptr(VnFold) fold = NULL;
  g_autoptr(VnFoldPlaces) places = vn_fold_places_new ();
  g_autoptr(VnGraphLayout) layout = NULL;

  net_init (&net);
  scene = net.scene;
  x = first = add_chain (&net, "deep", "Conv+ Relu", 0);
  for (guint i = 0; i < 50; i++)
    x = net_add (&net, "deep", "Clip", x, VN_SCENE_NONE);
  x = net_add (&net, "deep", "Concat", x, first);
  add_chain (&net, "end", "Conv+ Relu Conv+ Relu Conv+ Relu Conv+ Relu Conv+ Relu Conv+ Relu Conv+ Relu Conv+ Relu", x);
  vn_scene_seal (scene);
  groups = vn_groups_new (scene);
  open = g_new (guint8, vn_groups_get_n (groups));
  memset (open, 1, vn_groups_get_n (groups));
  fold = vn_fold_new (scene, groups, open);
  layout = vn_fold_lay_out (fold, places, NULL, NULL);
  g_assert_cmpuint (vn_graph_layout_get_n_stubs (layout), ==, 2);
  for (guint i = 0; i < 2; i++)
    {
      const VnGraphLayoutStub *stub = vn_graph_layout_get_stub (layout, i);
      const VnSceneEdge *edge = vn_scene_get_edge (vn_fold_get_scene (fold), stub->edge);
      guint n;

      g_assert_cmpuint (edge->from, ==, vn_fold_get_box (fold, first));
      g_assert_cmpuint (edge->to, ==, vn_fold_get_box (fold, x));
      vn_graph_layout_get_route (layout, stub->edge, &n, NULL);
      g_assert_cmpuint (n, ==, 0);
      g_assert_true (holds (&vn_graph_layout_get_frame (layout, 0)->box, &stub->box)
                     || holds (&vn_graph_layout_get_frame (layout, 1)->box, &stub->box));
    }
  vn_scene_unref (scene);
}

static void
test_overlay (void)
{
  g_autoptr(VnScene) scene = make_bert ();
  g_autoptr(VnGroups) groups = vn_groups_new (scene);
  g_autofree guint8 *open = g_new0 (guint8, vn_groups_get_n (groups));
  g_autoptr(VnFold) fold = NULL;
  g_autoptr(VnOverlay) whole = NULL, shown = NULL;
  guint bad = 100, box, n_notes = 0;

  open[VN_GROUPS_ROOT] = 1;
  fold = vn_fold_new (scene, groups, open);
  whole = vn_overlay_new (VN_OVERLAY_ERROR, vn_scene_get_n_nodes (scene), "dB");
  for (guint i = 1; i < vn_scene_get_n_nodes (scene); i++)
    {
      VnOverlayItem item = { .measured = TRUE, .t = i == bad ? 0.9f : 0.1f, .is_bad = i == bad, .is_origin = i == bad ||
                             i == bad + 1 };

      vn_overlay_set (whole, i, &item);
    }
  shown = vn_fold_make_overlay (fold, whole);
  box = vn_fold_get_box (fold, bad);
  g_assert_cmpint (vn_scene_get_node (vn_fold_get_scene (fold), box)->kind, ==, VN_SCENE_GROUP);
  g_assert_true (vn_overlay_get (shown, box)->is_bad);
  for (guint i = 0; i < vn_overlay_get_n (shown); i++)
    {
      const VnOverlayNote *note = vn_overlay_get_note (shown, i);
      guint n;

      vn_fold_get_nodes (fold, i, &n);
      g_assert_true ((note != NULL) == (vn_scene_get_node (vn_fold_get_scene (fold), i)->kind == VN_SCENE_GROUP));
      if (note == NULL)
        continue;
      n_notes++;
      g_assert_cmpuint (note->n_items, ==, n);
      g_assert_cmpuint (note->n_origins, ==, i == box ? 2 : 0);
      if (i != box)
        continue;
      g_assert_cmpuint (note->worst, ==, bad);
      g_assert_cmpstr (note->name, ==, vn_scene_get_node (scene, bad)->name);
    }
  g_assert_cmpuint (n_notes, >=, 12);
}

/* ---- real networks ---- */

static const struct { const char *name, *title; guint n; } networks[] = {
  { "graph_tfbert_qa_3836nodes", "layer\u00a0", 24 },
  { "txt_bert_toy_op12_unsorted", "layer\u00a0", 5 },
  { "det_picodet_s_320_constnodes", NULL, 0 },
  { "txt_tashkeel_transformer_fp32", "layer\u00a0", 12 },
  { "qdq_retinaface_amd_vai_640", NULL, 0 },
  { "det_yolox_nano_416", NULL, 0 },
};

static void
test_networks (void)
{
  const char *shared = g_getenv ("VN_SHARED");
  guint n_done = 0;

  for (guint i = 0; shared != NULL && *shared != '\0' && i < G_N_ELEMENTS (networks); i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/models/%s.onnx", shared, networks[i].name);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnModel) model = NULL;
      g_autoptr(VnScene) scene = NULL;
      g_autoptr(VnGroups) groups = NULL;
      g_autoptr(VnFold) fold = NULL;
      g_autoptr(VnFoldPlaces) places = vn_fold_places_new ();
      g_autoptr(VnGraphLayout) layout = NULL, all = NULL;
      g_autofree guint8 *open = NULL;
      gint64 start, grouped, laid;

      if (!g_file_test (path, G_FILE_TEST_EXISTS))
        continue;
      model = vn_onnx_read_file (path, &error);
      g_assert_no_error (error);
      scene = vn_scene_build (model, NULL, VN_PAIRS_UNFOLDED);
      start = g_get_monotonic_time ();
      groups = vn_groups_new (scene);
      grouped = g_get_monotonic_time ();
      open = vn_groups_dup_open (groups, 60);
      fold = vn_fold_new (scene, groups, open);
      layout = vn_fold_lay_out (fold, places, NULL, &error);
      g_assert_no_error (error);
      laid = g_get_monotonic_time ();
      g_test_message ("%s: %u nodes, %u groups in %.1f ms, %u shown, laid out in %.1f ms", networks[i].name,
                      vn_scene_get_n_nodes (scene), vn_groups_get_n (groups), (grouped - start) / 1e3,
                      vn_scene_get_n_nodes (vn_fold_get_scene (fold)), (laid - grouped) / 1e3);
      check_tree (scene, groups);
      check_layout (fold, layout);
      g_assert_cmpuint (vn_scene_get_n_nodes (vn_fold_get_scene (fold)), <=, 64);
      if (networks[i].title != NULL)
        g_assert_cmpuint (count_titles (groups, networks[i].title), ==, networks[i].n);
      memset (open, 1, vn_groups_get_n (groups));
      vn_fold_unref (fold);
      fold = vn_fold_new (scene, groups, open);
      all = vn_fold_lay_out (fold, places, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (vn_graph_layout_get_n_frames (all), ==, vn_groups_get_n (groups) - 1);
      n_done++;
    }
  if (n_done == 0)
    g_test_skip ("no folder with networks");
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/groups/trees", test_trees);
  g_test_add_func ("/groups/readable", test_readable);
  g_test_add_func ("/groups/open", test_open);
  g_test_add_func ("/groups/stable", test_stable);
  g_test_add_func ("/groups/stubs", test_stubs);
  g_test_add_func ("/groups/overlay", test_overlay);
  g_test_add_func ("/groups/networks", test_networks);
  return g_test_run ();
}
