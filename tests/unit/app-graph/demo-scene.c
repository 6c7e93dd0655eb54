/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "demo-scene.h"

#include <string.h>

typedef struct
{
  const char *op, *detail, *name, *shape, *badge;
  VnScenePrecision precision;
  gboolean    excluded;
  double      db;          /* 0: not measured */
  int         from[3];     /* nodes before, -1 ends */
} Row;

#define BODY_8  "U8", VN_PRECISION_8, FALSE
#define BODY_16 "S16", VN_PRECISION_WIDE, FALSE

/* The last blocks of a detector with two class and two box heads. */
static const Row rows[] = {
  { "image", NULL, "image", "1×3×320×320", NULL, VN_PRECISION_NONE, FALSE, 0, { -1 } },
  { "Conv", "3×3 depthwise", "/features.13/conv/1/Conv", "1×576×20×20", BODY_8, 24.6, { 0, -1 } },
  { "Clip", NULL, "/features.13/Clip", NULL, BODY_8, 25.9, { 1, -1 } },
  { "Conv", "1×1", "/features.13/conv/2/Conv", "1×96×20×20", BODY_8, 22.1, { 2, -1 } },
  { "Add", NULL, "/features.13/Add", NULL, BODY_8, 21.4, { 3, 0, -1 } },
  { "Conv", "3×3 depthwise", "/cls_head.0/0/Conv", "1×576×20×20", BODY_8, 16.2, { 4, -1 } },
  { "Clip", NULL, "/cls_head.0/Clip", NULL, BODY_8, 17.0, { 5, -1 } },
  { "Conv", "1×1", "/cls_head.0/3/Conv", "1×546×20×20", BODY_8, 8.5, { 6, -1 } },
  { "Transpose", NULL, "/cls_head.0/Transpose", NULL, BODY_8, 8.5, { 7, -1 } },
  { "Reshape", NULL, "/cls_head.0/Reshape", NULL, BODY_8, 8.5, { 8, -1 } },
  { "Conv", "3×3 stride 2", "/features.18/conv/1/a_rather_long_part_of_a_name/Conv", "1×320×10×10",
    BODY_8, 17.8,
    { 4, -1 } },
  { "Conv", "3×3 depthwise", "/cls_head.1/0/Conv", "1×320×10×10", BODY_8, 14.8, { 10, -1 } },
  { "Clip", NULL, "/cls_head.1/Clip", NULL, BODY_8, 15.5, { 11, -1 } },
  { "Conv", "1×1", "/cls_head.1/3/Conv", "1×546×10×10", BODY_8, 11.3, { 12, -1 } },
  { "Transpose", NULL, "/cls_head.1/Transpose", NULL, BODY_8, 11.3, { 13, -1 } },
  { "Reshape", NULL, "/cls_head.1/Reshape", NULL, BODY_8, 11.3, { 14, -1 } },
  { "Concat", NULL, "/post/Concat", NULL, BODY_8, 6.9, { 9, 15, -1 } },
  { "Sigmoid", NULL, "/post/Sigmoid", NULL, BODY_8, 4.8, { 16, -1 } },
  { "Conv", "1×1", "/box_head.1/3/Conv", "1×24×10×10", BODY_16, 31.4, { 10, -1 } },
  { "Reshape", NULL, "/box_head.1/Reshape", NULL, BODY_16, 31.4, { 18, -1 } },
  { "Conv", "1×1", "/box_head.0/3/Conv", "1×24×20×20", BODY_16, 33.0, { 4, -1 } },
  { "Reshape", NULL, "/box_head.0/Reshape", NULL, BODY_16, 33.0, { 20, -1 } },
  { "Concat", NULL, "/post/Concat_1", NULL, "F32", VN_PRECISION_FLOAT, TRUE, 0, { 19, 21, -1 } },
  { "Conv", "1×1", "/extra/Conv", "1×96×20×20", "FP16", VN_PRECISION_HALF, FALSE, 38, { 20, -1 } },
  { "Conv", "1×1", "/extra.1/Conv", "1×96×20×20", "S4", VN_PRECISION_4, FALSE, 17, { 23, -1 } },
  { "Conv", "1×1", "/extra.2/Conv", "1×96×20×20", "F32", VN_PRECISION_FLOAT, TRUE, 0, { 24, -1 } },
  { "scores", NULL, "scores", "1×3000×91", NULL, VN_PRECISION_NONE, FALSE, 0, { 17, -1 } },
  { "boxes", NULL, "boxes", "1×3000×4", NULL, VN_PRECISION_NONE, FALSE, 0, { 22, -1 } },
};

static VnOpFamily
family_of (const char *op)
{
  static const struct { const char *op; VnOpFamily family; } families[] = {
    { "Conv", VN_FAMILY_COMPUTE }, { "Clip", VN_FAMILY_ACTIVATION }, { "Sigmoid", VN_FAMILY_ACTIVATION },
    { "Add", VN_FAMILY_ARITHMETIC }, { "Reshape", VN_FAMILY_SHAPE }, { "Transpose", VN_FAMILY_SHAPE },
    { "Concat", VN_FAMILY_SHAPE }, { "MaxPool", VN_FAMILY_POOL_NORM },
  };

  for (guint i = 0; i < G_N_ELEMENTS (families); i++)
    if (strcmp (families[i].op, op) == 0)
      return families[i].family;
  return VN_FAMILY_OTHER;
}

static void
set_item (VnOverlay *overlay,
          guint      node,
          double     db)
{
  VnHeatHandles handles = vn_heat_default_handles (VN_METRIC_SQNR);
  VnOverlayItem item = { .measured = TRUE, .t = (float) vn_heat_t (db, handles),
                         .ticks = vn_heat_ticks (db, handles) };
  g_autofree char *text = vn_metric_format_short (VN_METRIC_SQNR, db);

  item.is_bad = item.ticks == 4;
  g_strlcpy (item.value, text, sizeof item.value);
  vn_overlay_set (overlay, node, &item);
}

VnScene *
demo_scene_detector (VnOverlay **overlay)
{
  VnScene *scene = vn_scene_new ();

  *overlay = vn_overlay_new (VN_OVERLAY_ERROR, G_N_ELEMENTS (rows), "dB");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const Row *row = &rows[i];
      VnSceneNode node = { .id = (char *) row->name, .source = i, .family = family_of (row->op),
                           .precision = row->precision, .excluded = row->excluded, .op = (char *) row->op,
                           .detail = (char *) row->detail, .name = (char *) row->name, .shape = (char *) row->shape,
                           .badge = (char *) row->badge };

      if (row->from[0] < 0)
        node.kind = VN_SCENE_INPUT;
      else if (strcmp (row->op, row->name) == 0)
        node.kind = VN_SCENE_OUTPUT;
      node.slim = node.shape == NULL;
      node.differs = row->precision != VN_PRECISION_8;
      vn_scene_add_node (scene, &node);
      if (row->db != 0)
        set_item (*overlay, i, row->db);
      for (guint k = 0; k < 3 && row->from[k] >= 0; k++)
        {
          guint from = (guint) row->from[k];
          VnSceneEdge edge = { .from = from, .to = i, .input = k, .value = (char *) rows[from].name };

          edge.is_float = rows[from].excluded;
          edge.changes = rows[from].precision != row->precision && node.kind == VN_SCENE_NODE && from != 0;
          vn_scene_add_edge (scene, &edge);
        }
    }
  vn_scene_seal (scene);
  return scene;
}

VnScene *
demo_scene_large (guint       n_nodes,
                  guint       n_chains,
                  VnOverlay **overlay)
{
  static const char * const ops[] = { "Conv", "Clip", "Conv", "Add", "Sigmoid", "Reshape", "MaxPool" };
  g_autoptr(GRand) rand = g_rand_new_with_seed (11);
  VnScene *scene = vn_scene_new ();

  *overlay = vn_overlay_new (VN_OVERLAY_ERROR, n_nodes, "dB");
  for (guint i = 0; i < n_nodes; i++)
    {
      const char *op = ops[i % G_N_ELEMENTS (ops)];
      g_autofree char *name = g_strdup_printf ("/blocks.%u/layer.%u/%s", i / 50, i % 50, op);
      VnSceneNode node = { .id = name, .source = i, .family = family_of (op), .precision = VN_PRECISION_8,
                           .op = (char *) op, .detail = (char *) "3×3", .name = name, .shape = (char *) "1×96×20×20",
                           .badge = (char *) "U8" };

      node.slim = strcmp (op, "Conv") != 0;
      vn_scene_add_node (scene, &node);
      set_item (*overlay, i, i % 997 == 500 ? 6 : g_rand_double_range (rand, 14, 45));
      for (guint k = 0; i >= n_chains && k < (i % 7 == 3 ? 2u : 1u); k++)
        {
          int reach = (int) MIN (i / n_chains, k == 0 ? 3 : 40);
          guint back = (guint) g_rand_int_range (rand, 0, reach) * n_chains;
          VnSceneEdge edge = { .from = i - n_chains - back, .to = i, .input = k, .value = name };

          vn_scene_add_edge (scene, &edge);
        }
    }
  vn_scene_seal (scene);
  return scene;
}

typedef struct
{
  VnScene *scene;
  GArray  *errors;     /* of double */
  guint    layer;
  GRand   *rand;
} Transformer;

/* "MatMul+" has weights. */
static guint
add_node (Transformer *self,
          const char  *part,
          const char  *op,
          guint        a,
          guint        b)
{
  guint n = vn_scene_get_n_nodes (self->scene);
  g_autofree char *type = g_strndup (op, strcspn (op, "+"));
  g_autofree char *name = g_strdup_printf ("/encoder/layer.%u/%s/%s_%u", self->layer, part, type, n);
  gboolean computes = strcmp (type, "MatMul") == 0;
  VnSceneNode node = { .id = name, .source = n - 2, .op = type, .name = name, .shape = (char *) "1×128×768", .slim = !computes,
                       .weighted = strchr (op, '+') != NULL, .family = computes ? VN_FAMILY_COMPUTE : family_of (type),
                       .precision = VN_PRECISION_8, .badge = (char *) "U8" };
  guint from[] = { a, b };
  double db = n % 97 == 60 ? 7 : g_rand_double_range (self->rand, 18, 45);

  vn_scene_add_node (self->scene, &node);
  g_array_append_val (self->errors, db);
  for (guint i = 0; i < 2; i++)
    {
      VnSceneEdge edge = { .from = from[i], .to = n, .input = i, .value = name };

      if (from[i] != VN_SCENE_NONE)
        vn_scene_add_edge (self->scene, &edge);
    }
  return n;
}

static guint
add_nodes (Transformer *self,
           const char  *part,
           const char  *ops,
           guint        from)
{
  g_auto(GStrv) words = g_strsplit (ops, " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    from = add_node (self, part, words[i], from, VN_SCENE_NONE);
  return from;
}

static guint
add_layer (Transformer *self,
           guint        x,
           guint        mask)
{
  guint q = add_nodes (self, "attention", "MatMul+ Add Reshape Transpose", x);
  guint k = add_nodes (self, "attention", "MatMul+ Add Reshape Transpose", x);
  guint v = add_nodes (self, "attention", "MatMul+ Add Reshape Transpose", x);
  guint a = add_node (self, "attention", "Softmax",
                      add_node (self, "attention", "Add", add_node (self, "attention", "MatMul", q, k), mask), VN_SCENE_NONE);

  a = add_nodes (self, "attention", "Reshape MatMul+", add_node (self, "attention", "MatMul", a, v));
  x = add_node (self, "attention", "LayerNormalization", add_node (self, "attention", "Add", a, x), VN_SCENE_NONE);
  a = add_nodes (self, "intermediate", "MatMul+ Add Gelu", x);
  a = add_nodes (self, "output", "MatMul+", a);
  return add_node (self, "output", "LayerNormalization", add_node (self, "output", "Add", a, x), VN_SCENE_NONE);
}

/* Layers of 26 nodes with names, one after the other, and a mask that all of them use. */
VnScene *
demo_scene_transformer (guint       n_layers,
                        VnOverlay **overlay)
{
  static const VnSceneNode pills[] = {
    { .id = (char *) "tokens", .kind = VN_SCENE_INPUT, .op = (char *) "", .name = (char *) "tokens", .shape = (char *) "1×128" },
    { .id = (char *) "mask", .kind = VN_SCENE_INPUT, .op = (char *) "", .name = (char *) "mask", .shape = (char *) "1×128" },
  };
  g_autoptr(GArray) errors = g_array_new (FALSE, TRUE, sizeof (double));
  g_autoptr(GRand) rand = g_rand_new_with_seed (23);
  Transformer self = { vn_scene_new (), errors, 0, rand };
  guint x = 0;

  for (guint i = 0; i < G_N_ELEMENTS (pills); i++)
    vn_scene_add_node (self.scene, &pills[i]);
  g_array_set_size (errors, G_N_ELEMENTS (pills));
  for (; self.layer < n_layers; self.layer++)
    x = add_layer (&self, x, 1);
  vn_scene_seal (self.scene);
  *overlay = vn_overlay_new (VN_OVERLAY_ERROR, vn_scene_get_n_nodes (self.scene), "dB");
  for (guint i = G_N_ELEMENTS (pills); i < errors->len; i++)
    set_item (*overlay, i, g_array_index (errors, double, i));
  return self.scene;
}
