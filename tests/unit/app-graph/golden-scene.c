/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "golden-scene.h"

#include "demo-scene.h"

#define MARGIN   14
#define NO_VALUE G_MAXDOUBLE
#define NOT_A_NUMBER (-G_MAXDOUBLE)

typedef struct
{
  const char       *op, *name, *badge;
  VnOpFamily        family;
  VnScenePrecision  precision;
  gboolean          slim, differs, excluded;
  double            db;         /* NO_VALUE: not measured */
  VnSceneMark       mark;
  int               from[4];    /* nodes before, -1 ends */
} Row;

#define PLAIN "U8", VN_FAMILY_COMPUTE, VN_PRECISION_8

/* Three columns: by error, by precision, by what they are beside another network. The first node is used again at the end. */
static const Row rows[] = {
  { "", "image", NULL, VN_FAMILY_OTHER, VN_PRECISION_NONE, FALSE, FALSE, FALSE, NO_VALUE, VN_MARK_NONE, { -1 } },
  { "Conv", "/a/fine", PLAIN, FALSE, FALSE, FALSE, 43, VN_MARK_NONE, { 0, -1 } },
  { "Conv", "/a/watch", PLAIN, TRUE, FALSE, FALSE, 17, VN_MARK_NONE, { 1, -1 } },
  { "Conv", "/a/bad", PLAIN, FALSE, FALSE, FALSE, 6, VN_MARK_NONE, { 2, -1 } },
  { "Conv", "/a/nan", PLAIN, FALSE, FALSE, FALSE, NOT_A_NUMBER, VN_MARK_NONE, { 3, -1 } },
  { "Conv", "/a/open", PLAIN, FALSE, FALSE, FALSE, NO_VALUE, VN_MARK_NONE, { 4, -1 } },
  { "Gemm", "/b/wide", "S16", VN_FAMILY_COMPUTE, VN_PRECISION_WIDE, FALSE, TRUE, FALSE, 31, VN_MARK_NONE, { 0, -1 } },
  { "Conv", "/b/half", "FP16", VN_FAMILY_POOL_NORM, VN_PRECISION_HALF, TRUE, TRUE, FALSE, 28, VN_MARK_NONE, { 6, -1 } },
  { "Conv", "/b/float", "F32", VN_FAMILY_SHAPE, VN_PRECISION_FLOAT, TRUE, TRUE, FALSE, 39, VN_MARK_NONE, { 7, -1 } },
  { "Conv", "/b/four", "S4", VN_FAMILY_CONVERSION, VN_PRECISION_4, FALSE, TRUE, FALSE, 12, VN_MARK_NONE, { 8, -1 } },
  { "Conv", "/b/left", "F32", VN_FAMILY_COMPUTE, VN_PRECISION_FLOAT, FALSE, TRUE, TRUE, NO_VALUE, VN_MARK_NONE, { 9, -1 } },
  { "Relu", "/c/0", "U8", VN_FAMILY_ACTIVATION, VN_PRECISION_8, TRUE, FALSE, FALSE, 24, VN_MARK_CHANGED, { 0, -1 } },
  { "Mul", "/c/1", "U8", VN_FAMILY_ARITHMETIC, VN_PRECISION_8, TRUE, FALSE, FALSE, 20, VN_MARK_ADDED, { 11, -1 } },
  { "Conv", "/c/2", PLAIN, FALSE, FALSE, FALSE, 9, VN_MARK_MISSING, { 12, -1 } },
  { "Add", "/c/3", "F32", VN_FAMILY_ARITHMETIC, VN_PRECISION_FLOAT, TRUE, TRUE, TRUE, NO_VALUE, VN_MARK_NONE, { 13, -1 } },
  { "Concat", "/d/all", "S16", VN_FAMILY_SHAPE, VN_PRECISION_WIDE, TRUE, TRUE, FALSE, 14, VN_MARK_NONE, { 5, 10, 14, -1 } },
  { "Add", "/d/sum", "U8", VN_FAMILY_ARITHMETIC, VN_PRECISION_8, TRUE, FALSE, FALSE, 16, VN_MARK_NONE, { 15, 1, -1 } },
  { "", "boxes", NULL, VN_FAMILY_OTHER, VN_PRECISION_NONE, FALSE, FALSE, FALSE, NO_VALUE, VN_MARK_NONE, { 16, -1 } },
};

static void
set_row (VnOverlay *overlay,
         guint      i)
{
  VnHeatHandles handles = vn_heat_default_handles (VN_METRIC_SQNR);
  VnOverlayItem item = { .mark = rows[i].mark, .measured = rows[i].db != NO_VALUE, .is_nan = rows[i].db == NOT_A_NUMBER };

  if (item.is_nan)
    {
      item.ticks = 4;
      g_strlcpy (item.value, "NaN", sizeof item.value);
    }
  else if (item.measured)
    {
      g_autofree char *text = vn_metric_format_short (VN_METRIC_SQNR, rows[i].db);

      item.t = (float) vn_heat_t (rows[i].db, handles);
      item.ticks = vn_heat_ticks (rows[i].db, handles);
      g_strlcpy (item.value, text, sizeof item.value);
    }
  item.is_bad = item.ticks == 4;
  vn_overlay_set (overlay, i, &item);
}

/* Its long edge becomes a stub at either end. */
static VnGraphLayout *
lay_out (const VnScene *scene)
{
  VnGraphLayoutNode nodes[G_N_ELEMENTS (rows)] = { { 0 } };
  VnGraphLayoutEdge edges[2 * G_N_ELEMENTS (rows)];
  VnGraphLayoutInput input = { .n_nodes = vn_scene_get_n_nodes (scene), .nodes = nodes,
                               .n_edges = vn_scene_get_n_edges (scene), .edges = edges, .cut_span = 4 };

  g_assert_cmpuint (input.n_edges, <=, G_N_ELEMENTS (edges));
  for (guint i = 0; i < input.n_nodes; i++)
    vn_scene_node_get_size (vn_scene_get_node (scene, i), &nodes[i].width, &nodes[i].height);
  for (guint i = 0; i < input.n_edges; i++)
    {
      const VnSceneEdge *edge = vn_scene_get_edge (scene, i);

      edges[i] = (VnGraphLayoutEdge) { edge->from, edge->to, edge->output, edge->input };
    }
  return vn_graph_layout_new (&input, NULL, NULL);
}

static void
finish (GoldenScene *self)
{
  VnRect bounds = vn_graph_layout_get_bounds (self->layout);

  self->index = vn_graph_index_new (self->layout);
  self->bounds = (VnRect) { bounds.x - MARGIN, bounds.y - MARGIN, bounds.width + 2 * MARGIN, bounds.height + 2 * MARGIN };
}

void
golden_scene_init_states (GoldenScene *self)
{
  *self = (GoldenScene) { .scene = vn_scene_new (), .overlay = vn_overlay_new (VN_OVERLAY_ERROR, G_N_ELEMENTS (rows), "dB") };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const Row *row = &rows[i];
      VnSceneNode node = { .id = (char *) row->name, .source = i, .family = row->family, .precision = row->precision,
                           .slim = row->slim, .differs = row->differs, .excluded = row->excluded, .op = (char *) row->op,
                           .name = (char *) row->name, .shape = row->slim ? NULL : (char *) "1×8×20",
                           .detail = row->slim ? NULL : (char *) "3×3", .badge = (char *) row->badge };

      if (row->op[0] == '\0')
        node.kind = row->from[0] < 0 ? VN_SCENE_INPUT : VN_SCENE_OUTPUT;
      vn_scene_add_node (self->scene, &node);
      set_row (self->overlay, i);
      for (guint k = 0; row->from[k] >= 0; k++)
        {
          const Row *before = &rows[row->from[k]];
          VnSceneEdge edge = { .from = (guint) row->from[k], .to = i, .input = k, .value = (char *) before->name };

          edge.is_float = before->excluded;
          edge.changes = before->precision != row->precision && before->from[0] >= 0 && node.kind == VN_SCENE_NODE;
          vn_scene_add_edge (self->scene, &edge);
        }
    }
  vn_scene_seal (self->scene);
  self->layout = lay_out (self->scene);
  finish (self);
}

/* Three layers of a transformer, of which the second one is open; two nodes of the third are origins. */
void
golden_scene_init_groups (GoldenScene *self)
{
  g_autoptr(VnOverlay) whole_overlay = NULL;
  g_autoptr(VnScene) whole = demo_scene_transformer (3, &whole_overlay);
  g_autoptr(VnFoldPlaces) places = vn_fold_places_new ();
  g_autoptr(VnFold) fold = NULL;
  g_autofree guint8 *open = NULL;
  guint n = vn_scene_get_n_nodes (whole);

  *self = (GoldenScene) { .groups = vn_groups_new (whole) };
  open = g_new0 (guint8, vn_groups_get_n (self->groups));
  open[VN_GROUPS_ROOT] = 1;
  for (guint i = 0; i < vn_groups_get_n (self->groups); i++)
    open[i] |= g_str_equal (vn_groups_get (self->groups, i)->title, "layer\u00a01");
  for (guint i = n - 3; i < n; i += 2)
    {
      VnOverlayItem item = *vn_overlay_get (whole_overlay, i);

      item.is_origin = TRUE;
      vn_overlay_set (whole_overlay, i, &item);
    }
  fold = vn_fold_new (whole, self->groups, open);
  self->scene = vn_scene_ref (vn_fold_get_scene (fold));
  self->layout = vn_fold_lay_out (fold, places, NULL, NULL);
  self->overlay = vn_fold_make_overlay (fold, whole_overlay);
  finish (self);
}

void
golden_scene_clear (GoldenScene *self)
{
  vn_graph_index_free (self->index);
  vn_graph_layout_unref (self->layout);
  vn_overlay_unref (self->overlay);
  vn_scene_unref (self->scene);
  g_clear_pointer (&self->groups, vn_groups_unref);
}
