/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Floats of 16 bits: which nodes compute with float16, and what becomes of the numbers of a weight. As
 * onnxconverter-common does it, numbers too large for float16 become its largest, and those too small its smallest, not
 * infinite and 0: no mask turns into NaN, no epsilon lets something be divided by 0. */

#include "vn-resolver.h"

#include "vn-error.h"
#include "vn-half.h"
#include "vn-i18n.h"

#include <math.h>
#include <string.h>

#define HALF_MAX 65504.0
#define HALF_MIN 0x1p-24
#define HALF_BLOCK 1024

/* Operators of ONNX that stay in float32: the standard gives them no float16 in every version, they make floats of a
 * type they name themselves, their numbers are counts and positions that 11 bits do not hold, or sums and powers beyond
 * 65504, as the variance in a layer normalization that was exported in pieces. */
static const char * const single_types[] = {
  "Bernoulli", "BlackmanWindow", "Celu", "Constant", "ConstantOfShape", "CumSum", "DFT", "DequantizeLinear", "Det",
  "DynamicQuantizeLinear", "EyeLike", "HammingWindow", "HannWindow", "ImageDecoder", "Max", "MeanVarianceNormalization",
  "MelWeightMatrix", "Min", "Multinomial", "NonMaxSuppression", "NonZero", "Pow", "QuantizeLinear", "RandomNormal",
  "RandomNormalLike",
  "RandomUniform", "RandomUniformLike", "Range", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean", "ReduceProd",
  "ReduceSum", "ReduceSumSquare", "RoiAlign", "STFT", "TopK", "Upsample",
};

/* Operators of ONNX Runtime that compute with float16: it knows the first by the domain of ONNX, too. */
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

/*< private >
 * vn_quant_find_positions:
 *
 * A number that becomes an integer is a position or a count: rounded to float16 on the way, it may become another. What
 * a root is taken of may be larger than float16 holds.
 *
 * Returns: (transfer full): the set of nodes of @graph whose results become integers, and those of roots
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
  return found;
}

/*< private >
 * vn_quant_can_be_half:
 * @positions: from vn_quant_find_positions()
 *
 * Returns: whether @node may compute with float16
 */
gboolean
vn_quant_can_be_half (const VnNode *node,
                      GHashTable   *positions)
{
  const VnOp *op;

  g_return_val_if_fail (node != NULL, FALSE);

  op = vn_op_lookup_node (node, NULL);
  if (op != NULL && resolve_half_is_of_runtime (node))
    return resolve_half_has_known_types (node) && resolve_half_touches_single (node) && !resolve_half_gives_moments (node) &&
           !g_hash_table_contains (positions, node);
  if (op == NULL || *op->domain != '\0' || resolve_half_is_single_type (node) || resolve_half_has_graph (node) ||
      !resolve_half_has_known_types (node) ||
      !resolve_half_touches_single (node))
    return FALSE;
  if (g_hash_table_contains (positions, node))
    return FALSE;
  /* the second and third result are float32 in the standard */
  if (resolve_half_makes_integers (node) ||
      (vn_node_is (node, "LayerNormalization") && node->outputs->len > 1))
    return FALSE;
  return (vn_op_get_input_dtypes (op, 0) & VN_DTYPE_BIT (F16)) != 0 || !vn_quant_is_single (vn_node_get_input (node, 0));
}

/*< private >
 * vn_quant_is_half_input:
 * @node: one that computes with float16
 *
 * Returns: whether its input @i is to be float16
 */
gboolean
vn_quant_is_half_input (const VnNode *node,
                        guint         i)
{
  g_return_val_if_fail (node != NULL, FALSE);

  /* region and factors of a resized picture */
  return vn_quant_is_single (vn_node_get_input (node, i)) && !(vn_node_is (node, "Resize") && i > 0);
}

/* ---- numbers ---- */

static float
resolve_half_clip (float  x,
                   gsize *n_clipped,
                   gsize *n_raised)
{
  float size = fabsf (x);

  if (isfinite (x) && size > (float) HALF_MAX)
    {
      size = (float) HALF_MAX;
      ++*n_clipped;
    }
  else if (size > 0 && size < (float) HALF_MIN)
    {
      size = (float) HALF_MIN;
      ++*n_raised;
    }
  return copysignf (size, x);
}

/*< private >
 * vn_quant_to_half:
 * @data: float32
 * @n_clipped: (out): numbers that were too large
 * @n_raised: (out): numbers that were too small
 *
 * Returns: (transfer full): the nearest float16, none infinite or 0 that was not
 */
VnTensor *
vn_quant_to_half (VnTensor  *data,
                  gsize     *n_clipped,
                  gsize     *n_raised,
                  GError   **error)
{
  g_autoptr(VnTensor) aligned = NULL;
  VnTensor *result;
  float near[HALF_BLOCK];

  g_return_val_if_fail (data != NULL, NULL);

  aligned = vn_tensor_get_aligned (data, error);
  *n_clipped = *n_raised = 0;
  if (aligned == NULL || (result = vn_tensor_new_constant (VN_DTYPE_F16, &data->shape, error)) == NULL)
    return NULL;

  for (gsize first = 0, n; first < aligned->n_elements; first += n)
    {
      n = MIN (HALF_BLOCK, aligned->n_elements - first);
      for (gsize i = 0; i < n; i++)
        near[i] = resolve_half_clip (((const float *) aligned->data)[first + i], n_clipped, n_raised);
      vn_half_from_float_array (near, (guint16 *) result->data + first, n);
    }
  return result;
}

static void
resolve_half_note_numbers (VnResolver    *self,
                           const VnValue *value,
                           gsize          n_clipped,
                           gsize          n_raised)
{
  if (self->notes == NULL)
    return;
  if (n_clipped > 0)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "float16-clipped", value->name,
                  ngettext ("“%s” has %zu value beyond 65504, the largest float16; it saturates",
                            "“%s” has %zu values beyond 65504, the largest float16; they saturate", n_clipped), value->name,
                            n_clipped);
  if (n_raised > 0)
    vn_notes_add (self->notes, VN_NOTE_INFO, "float16-tiny", value->name,
                  ngettext ("“%s” has %zu value too small for float16; it becomes the smallest one, 6e-8",
                            "“%s” has %zu values too small for float16; they become its smallest value, 6e-8", n_raised),
                            value->name, n_raised);
}

/* ---- rows ---- */

static gboolean
resolve_half_is_read_as (VnResolver    *self,
                         const VnValue *value)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      VnUse use = g_array_index (value->uses, VnUse, i);

      if (use.node->graph == self->graph && self->quant_nodes[use.node->index].annotated &&
          vn_quant_is_half_input (use.node, use.index))
        return TRUE;
    }
  return FALSE;
}

/* bfloat16: tables and matrices that a node reads which no rule excludes. */
static gboolean
resolve_half_is_stored_as_bfloat (VnResolver    *self,
                                  const VnValue *value)
{
  if (value->initializer->shape.rank < 2)
    return FALSE;
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, i).node;

      if (node->graph == self->graph && self->quant_nodes[node->index].exclude_rule < 0 && !vn_quant_is_conversion (node))
        return TRUE;
    }
  return FALSE;
}

static gboolean
resolve_half_fill_weight (VnResolver     *self,
                          const VnValue  *value,
                          VnQuantRow     *row,
                          GError        **error)
{
  gboolean half = self->scheme.format->half_arithmetic;
  guint64 n_infinite;
  float min, max;

  if (!vn_quant_data_range (value->initializer, -1, &min, &max, &n_infinite, error))
    {
      g_prefix_error (error, "“%s”: ", value->name);
      return FALSE;
    }
  if (half)
    {
      gsize n_clipped, n_raised;
      g_autoptr(VnTensor) data = vn_quant_to_half (value->initializer, &n_clipped, &n_raised, error);

      if (data == NULL)
        return FALSE;
      resolve_half_note_numbers (self, value, n_clipped, n_raised);
    }
  row->tensor.quantized = TRUE;
  row->tensor.dtype = half ? VN_DTYPE_F16 : VN_DTYPE_BF16;
  row->tensor.min = min;
  row->tensor.max = max;
  return TRUE;
}

static gboolean
resolve_half_fill_value (VnResolver     *self,
                         VnQuantPlan    *plan,
                         const VnValue  *value,
                         GError        **error)
{
  gboolean half = self->scheme.format->half_arithmetic, weight = value->initializer != NULL;
  VnQuantRow *row = vn_quant_plan_add (plan, value->name, weight ? VN_TENSOR_WEIGHT : VN_TENSOR_ACTIVATION);
  gboolean taken = !self->scheme.format->stays_float &&
                   (half ? resolve_half_is_read_as (self, value) : weight && resolve_half_is_stored_as_bfloat (self, value));

  if (taken && half)
    row->tensor.rule = g_strdup (weight ? _("stored as float16") : _("computed in float16"));
  else if (taken)
    row->tensor.rule = g_strdup (_("stored as bfloat16, computed in float32"));
  else if (half && value->producer != NULL && value->producer->graph == self->graph &&
           self->quant_nodes[value->producer->index].annotated)
    row->tensor.rule = g_strdup (_("computed in float16, output in float32"));
  else
    row->tensor.rule = g_strdup (_("stays float32"));
  return !taken || !weight || resolve_half_fill_weight (self, value, row, error);
}

/*< private >
 * vn_resolver_fill_half:
 *
 * Makes a row of every float tensor, for the formats without scales; annotates the nodes that compute with float16.
 */
gboolean
vn_resolver_fill_half (VnResolver   *self,
                       VnQuantPlan  *plan,
                       GError      **error)
{
  g_autoptr(GHashTable) positions = NULL;

  g_return_val_if_fail (self != NULL, FALSE);

  positions = vn_quant_find_positions (self->graph);
  for (guint i = 0; self->scheme.format->half_arithmetic && i < self->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);

      self->quant_nodes[i].annotated = self->quant_nodes[i].exclude_rule < 0 && vn_quant_can_be_half (node, positions);
    }
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);

      if (vn_quant_is_single (value) && !resolve_half_fill_value (self, plan, value, error))
        return FALSE;
    }
  return TRUE;
}
