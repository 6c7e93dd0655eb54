/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Which nodes compute with float16 or bfloat16, and which stay in float32 because the operator, the version of it or the meaning
 * of its numbers asks for that. */

#include "vn-resolver.h"

#include <string.h>

/* Operators of ONNX that stay in float32: the standard gives them no float16 in every version, they make floats of a
 * type they name themselves, their numbers are counts and positions that 11 bits do not hold, or sums and powers beyond
 * 65504, as the variance in a layer normalization that was exported in pieces. */
static const char * const single_types[] = {
  "Bernoulli", "BitCast", "BlackmanWindow", "Celu", "Constant", "ConstantOfShape", "CumSum", "DFT", "DequantizeLinear",
  "Det", "DynamicQuantizeLinear", "EyeLike", "HammingWindow", "HannWindow", "ImageDecoder", "Max", "MeanVarianceNormalization",
  "MelWeightMatrix", "Min", "Multinomial", "NonMaxSuppression", "NonZero", "Pow", "QuantizeLinear", "RandomNormal",
  "RandomNormalLike",
  "RandomUniform", "RandomUniformLike", "Range", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean", "ReduceProd",
  "ReduceSum", "ReduceSumSquare", "RoiAlign", "STFT", "TopK", "Upsample",
};

static const struct
{
  const char *type;
  gint64      opset;
} bfloat_types[] = {
#define VN_BFLOAT(type, opset) { #type, opset },
#include "vn-bfloats.def"
#undef VN_BFLOAT
};

/* Operators of ONNX Runtime that compute with float16 and, but for EmbedLayerNormalization, bfloat16: it knows the first by the
 * domain of ONNX, too. */
static const char * const runtime_types[] = {
  "SimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization", "SkipLayerNormalization", "EmbedLayerNormalization",
  "MatMulNBits", "GatherBlockQuantized", "Attention", "MultiHeadAttention", "GroupQueryAttention", "RotaryEmbedding", "Gelu",
  "FastGelu", "BiasGelu", "QuickGelu", "FusedMatMul", "MoE", "QMoE",
};

/* ---- which nodes ---- */

static gboolean
resolve_half_is_of_runtime (const VnNode *node)
{
  if (g_strcmp0 (node->domain, VN_MICROSOFT_DOMAIN) != 0 && !vn_node_is (node, runtime_types[0]))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (runtime_types); i++)
    {
      if (g_str_equal (node->op_type, runtime_types[i]))
        return TRUE;
    }
  return FALSE;
}

/* Mean and deviation, which normalizations give as well, are float32. */
static gboolean
resolve_half_gives_moments (const VnNode *node)
{
  return strstr (node->op_type, "LayerNormalization") != NULL &&
         (vn_node_get_output (node, 1) != NULL || vn_node_get_output (node, 2) != NULL);
}

static gboolean
resolve_half_has_graph (const VnNode *node)
{
  for (guint i = 0; i < node->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (node->attrs, i);

      if (attr->graph != NULL || attr->graphs != NULL)
        return TRUE;
    }
  return FALSE;
}

static gboolean
resolve_half_is_single_type (const VnNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (single_types); i++)
    {
      if (vn_node_is (node, single_types[i]))
        return TRUE;
    }
  return FALSE;
}

static gboolean
resolve_half_is_known_tensor (const VnValue *value)
{
  return value == NULL || value->initializer != NULL ||
         (value->type.kind == VN_TYPE_TENSOR && value->type.dtype != VN_DTYPE_UNDEFINED);
}

static gboolean
resolve_half_has_known_types (const VnNode *node)
{
  for (guint i = 0; i < node->inputs->len; i++)
    {
      if (!resolve_half_is_known_tensor (vn_node_get_input (node, i)))
        return FALSE;
    }
  for (guint i = 0; i < node->outputs->len; i++)
    {
      if (!resolve_half_is_known_tensor (vn_node_get_output (node, i)))
        return FALSE;
    }
  return TRUE;
}

/*< private >
 * vn_quant_is_single:
 * @value: (nullable)
 *
 * Returns: whether @value is a tensor of float32
 */
gboolean
vn_quant_is_single (const VnValue *value)
{
  if (value == NULL)
    return FALSE;
  if (value->initializer != NULL)
    return value->initializer->dtype == VN_DTYPE_F32;
  return value->type.kind == VN_TYPE_TENSOR && value->type.dtype == VN_DTYPE_F32;
}

static gboolean
resolve_half_touches_single (const VnNode *node)
{
  for (guint i = 0; i < node->inputs->len; i++)
    {
      if (vn_quant_is_single (vn_node_get_input (node, i)))
        return TRUE;
    }
  return FALSE;
}

static gboolean
resolve_half_makes_integers (const VnNode *node)
{
  return vn_node_is (node, "Cast") && vn_quant_is_single (vn_node_get_input (node, 0)) &&
         !vn_quant_is_single (vn_node_get_output (node, 0));
}

/* Whoever multiplies by weights computes with data, not with positions. */
static gboolean
resolve_half_is_position_step (const VnNode *node)
{
  const VnOp *op = vn_op_lookup_node (node, NULL);

  return op != NULL && op->quant.role != VN_QUANT_COMPUTE && op->quant.role != VN_QUANT_MATMUL &&
         op->quant.role != VN_QUANT_NORM;
}

/* A variance on its way to the root: the addition of epsilon and the root itself. */
static void
resolve_half_add_root (GHashTable *found,
                       VnNode     *root)
{
  const VnValue *value = vn_node_get_input (root, 0);

  g_hash_table_add (found, root);
  if (value != NULL && value->graph == root->graph && value->producer != NULL && vn_node_is (value->producer, "Add"))
    g_hash_table_add (found, value->producer);
}

/* ---- angles ---- */

/* A product of positions and frequencies, each with each: nothing is summed. */
static gboolean
resolve_half_is_outer_product (const VnNode *node)
{
  const VnValue *a = vn_node_is (node, "MatMul") ? vn_node_get_input (node, 0) : NULL;
  const VnShape *shape = a == NULL ? NULL : a->initializer != NULL ? &a->initializer->shape : &a->type.shape;

  return shape != NULL && shape->rank >= 2 && shape->dims[shape->rank - 1] == 1;
}

static gboolean
resolve_half_is_angle_step (const VnNode *node)
{
  return resolve_half_is_position_step (node) || resolve_half_is_outer_product (node);
}

/* Whether a float that @node gives is made of integers and constants alone; @made: set of nodes before it of which that is so. */
static gboolean
resolve_half_comes_from_integers (const VnNode *node,
                                  GHashTable   *made)
{
  if (!vn_quant_is_single (vn_node_get_output (node, 0)) || !resolve_half_is_angle_step (node))
    return FALSE;
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);

      if (vn_quant_is_single (value) && value->initializer == NULL &&
          (value->producer == NULL || !g_hash_table_contains (made, value->producer)))
        return FALSE;
    }
  return TRUE;
}

/* The sine of a position rounded to 8 or 11 bits is that of another: what leads from integers to one stays float32. */
static void
resolve_half_add_angles (const VnGraph *graph,
                         GHashTable    *found)
{
  g_autoptr(GHashTable) made = g_hash_table_new (NULL, NULL);
  g_autoptr(GPtrArray) queue = g_ptr_array_new ();

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (graph->nodes, i);

      if (!resolve_half_comes_from_integers (node, made))
        continue;
      g_hash_table_add (made, node);
      if ((vn_node_is (node, "Sin") || vn_node_is (node, "Cos")) && g_hash_table_add (found, node))
        g_ptr_array_add (queue, node);
    }
  for (guint i = 0; i < queue->len; i++)
    {
      const VnNode *node = g_ptr_array_index (queue, i);

      for (guint k = 0; k < node->inputs->len; k++)
        {
          const VnValue *value = vn_node_get_input (node, k);
          VnNode *producer = value != NULL ? value->producer : NULL;

          if (producer != NULL && g_hash_table_contains (made, producer) && g_hash_table_add (found, producer))
            g_ptr_array_add (queue, producer);
        }
    }
}

/*< private >
 * vn_quant_find_positions:
 *
 * A number that becomes an integer is a position or a count: rounded to float16 on the way, it may become another, as does the
 * angle that a position is turned into. What a root is taken of may be larger than float16 holds.
 *
 * Returns: (transfer full): the set of nodes of @graph whose results become integers, those of roots, and those that make sines
 *   of integers
 */
GHashTable *
vn_quant_find_positions (const VnGraph *graph)
{
  GHashTable *found;
  g_autoptr(GPtrArray) queue = g_ptr_array_new ();

  g_return_val_if_fail (graph != NULL, NULL);

  found = g_hash_table_new (NULL, NULL);
  vn_graph_settle (graph);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      if (resolve_half_makes_integers (g_ptr_array_index (graph->nodes, i)))
        g_ptr_array_add (queue, g_ptr_array_index (graph->nodes, i));
    }
  for (guint i = 0; i < queue->len; i++)
    {
      const VnNode *node = g_ptr_array_index (queue, i);

      for (guint k = 0; k < node->inputs->len; k++)
        {
          const VnValue *value = vn_node_get_input (node, k);
          VnNode *producer = value != NULL && value->graph == graph ? value->producer : NULL;

          if (producer != NULL && vn_quant_is_single (value) && resolve_half_is_position_step (producer) &&
              g_hash_table_add (found, producer))
            g_ptr_array_add (queue, producer);
        }
    }
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      if (vn_node_is (g_ptr_array_index (graph->nodes, i), "Sqrt"))
        resolve_half_add_root (found, g_ptr_array_index (graph->nodes, i));
    }
  resolve_half_add_angles (graph, found);
  return found;
}

/* Whether the standard has it for bfloat16, at the opset of the model. */
static gboolean
resolve_half_has_bfloat (const VnNode *node)
{
  const VnModel *model = node->graph->model;

  for (guint i = 0; i < G_N_ELEMENTS (bfloat_types); i++)
    if (vn_node_is (node, bfloat_types[i].type))
      return model != NULL && vn_model_get_opset (model, "") >= bfloat_types[i].opset;
  return FALSE;
}

/*< private >
 * vn_quant_can_be_half:
 * @dtype: float16 or bfloat16
 * @positions: from vn_quant_find_positions()
 *
 * Returns: whether @node may compute with @dtype
 */
gboolean
vn_quant_can_be_half (const VnNode *node,
                      VnDType       dtype,
                      GHashTable   *positions)
{
  const VnOp *op;
  const gboolean bfloat = dtype == VN_DTYPE_BF16;

  g_return_val_if_fail (node != NULL, FALSE);

  op = vn_op_lookup_node (node, NULL);
  if (op == NULL || !resolve_half_has_known_types (node) || !resolve_half_touches_single (node) ||
      g_hash_table_contains (positions, node))
    return FALSE;
  if (resolve_half_is_of_runtime (node))
    return !resolve_half_gives_moments (node) && !(bfloat && g_str_equal (node->op_type, "EmbedLayerNormalization"));
  if (*op->domain != '\0' || resolve_half_is_single_type (node) || resolve_half_has_graph (node) ||
      (bfloat && !resolve_half_has_bfloat (node)))
    return FALSE;
  /* the second and third result are float32 in the standard */
  if (resolve_half_makes_integers (node) ||
      (vn_node_is (node, "LayerNormalization") && node->outputs->len > 1))
    return FALSE;
  return (vn_op_get_input_dtypes (op, 0) >> dtype & 1) != 0 || !vn_quant_is_single (vn_node_get_input (node, 0));
}

/*< private >
 * vn_quant_is_half_input:
 * @node: one that computes with floats of 16 bits
 *
 * Returns: whether its input @i is to be one, too
 */
gboolean
vn_quant_is_half_input (const VnNode *node,
                        guint         i)
{
  g_return_val_if_fail (node != NULL, FALSE);

  /* region and factors of a resized picture */
  return vn_quant_is_single (vn_node_get_input (node, i)) && !(vn_node_is (node, "Resize") && i > 0);
}
