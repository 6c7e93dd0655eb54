/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Formats that store weights small and leave activations in float: which weights, along which axis. */

#include "vn-resolver.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Where an operator has its weight, the axis it sums over, and that of its output channels; from the end if negative. */
static const struct
{
  const char *op_type;
  guint       input;
  gint8       sum_axis, channel_axis;
} carriers[] = {
  { "Conv",   1,  1,  0 },
  { "ConvTranspose", 1, 0, 1 },
  { "Gather", 0, -1,  0 },
  { "Gemm",   1,  0,  1 },
  { "MatMul", 1, -2, -1 },
};

static int
resolve_weights_find_carrier (const VnNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (carriers); i++)
    {
      if (vn_node_is (node, carriers[i].op_type))
        return (int) i;
    }
  return -1;
}

static gboolean
resolve_weights_is_transposed (const VnNode *node)
{
  return vn_node_is (node, "Gemm") && vn_node_get_int (node, "transB", 0) != 0;
}

/*< private >
 * vn_quant_has_weight:
 *
 * Returns: whether a format for weights only can do something with @node
 */
gboolean
vn_quant_has_weight (const VnWriteScheme *scheme,
                     const VnNode        *node)
{
  int i = resolve_weights_find_carrier (node);
  const VnValue *weight = i >= 0 ? vn_node_get_input (node, carriers[i].input) : NULL;

  g_return_val_if_fail (scheme != NULL, FALSE);

  if (vn_quant_has_experts (node))
    return TRUE;
  if (weight == NULL || weight->initializer == NULL || weight->initializer->shape.rank < 2 ||
      weight->initializer->n_elements == 0)
    return FALSE;
  return !scheme->format->packed_matrices || vn_quant_has_nbits (node) || (scheme->packed_tables && vn_quant_has_table (node));
}

/*< private >
 * vn_quant_get_sum_axis:
 * @node: one that vn_quant_has_weight() approves of
 *
 * Returns: the axis of its weight that it sums over; the last of a table
 */
int
vn_quant_get_sum_axis (const VnNode *node)
{
  int i, rank;

  g_return_val_if_fail (node != NULL, -1);

  i = resolve_weights_find_carrier (node);
  rank = vn_node_get_input (node, carriers[i].input)->initializer->shape.rank;
  if (resolve_weights_is_transposed (node))
    return 1;
  return carriers[i].sum_axis + (carriers[i].sum_axis < 0 ? rank : 0);
}

/*< private >
 * vn_quant_get_channel_axis:
 * @node: one whose weight is a constant, and that formats for weights only know
 *
 * Returns: the axis of its weight along which its output channels lie; of a table the rows
 */
int
vn_quant_get_channel_axis (const VnNode *node)
{
  int i, rank;

  g_return_val_if_fail (node != NULL, -1);

  i = resolve_weights_find_carrier (node);
  rank = vn_node_get_input (node, carriers[i].input)->initializer->shape.rank;
  if (resolve_weights_is_transposed (node))
    return 0;
  return carriers[i].channel_axis + (carriers[i].channel_axis < 0 ? rank : 0);
}

static gboolean
resolve_weights_is_too_small (const VnNode  *node,
                              const VnValue *value,
                              gint64         block)
{
  return (vn_node_is (node, "Conv") || vn_node_is (node, "ConvTranspose")) &&
         block > value->initializer->shape.dims[vn_quant_get_sum_axis (node)];
}

/* Gemm as fully connected layers are computed: the matrix by rows of output channels, and a bias. */
static gboolean
resolve_weights_is_layer (const VnNode *node)
{
  const VnValue *bias = vn_node_get_input (node, 2);

  return vn_node_is (node, "Gemm") && vn_node_get_int (node, "transB", 0) != 0 && vn_node_get_int (node, "transA", 0) == 0 &&
         vn_node_get_float (node, "alpha", 1) == 1 && vn_node_get_float (node, "beta", 1) == 1 && bias != NULL &&
         bias->initializer != NULL;
}

/* Whether all that read @value can read blocks whose scales are products; HTP takes a single channel for a single scale. */
static gboolean
resolve_weights_takes_factors (const VnNode  *node,
                               const VnValue *value)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);

      if (use->index != 1 || use->node->graph != node->graph || !vn_node_is (use->node, node->op_type) ||
          !(vn_node_is (use->node, "MatMul") || resolve_weights_is_layer (use->node)))
        return FALSE;
    }
  return value->initializer->shape.rank == 2 && value->initializer->shape.dims[vn_quant_get_channel_axis (node)] > 1;
}

static void
resolve_weights_note_float_blocks (VnResolver    *self,
                                   const VnNode  *node,
                                   const VnValue *value)
{
  if (self->notes != NULL && (vn_node_is (node, "MatMul") || vn_node_is (node, "Gemm")))
    vn_notes_add (self->notes, VN_NOTE_INFO, "no-integer-blocks", value->name,
                  _("“%s” has 8 bits and a scale per channel: only MatMul with a matrix, and Gemm with a transposed matrix (the "
                    "pass “transpose-gemm”) and a bias, have integer block scales"), value->name);
}

static gint64
resolve_weights_get_block (VnResolver    *self,
                           const VnValue *value)
{
  return self->block_sizes[value->id] > 0 ? self->block_sizes[value->id] : self->scheme.weights.block;
}

/* A weight without blocks has a scale for each channel. */
static void
resolve_weights_drop_blocks (VnResolver    *self,
                             const VnNode  *node,
                             const VnValue *value)
{
  VnAnnotation *annotation = vn_resolver_get_annotation (self, value);
  const gint64 length = value->initializer->shape.dims[vn_quant_get_sum_axis (node)];
  const gboolean without = self->scheme.weights.integer_blocks && !resolve_weights_takes_factors (node, value);
  const gboolean rest = self->scheme.weights.whole_blocks && !self->scheme.format->packed_matrices && annotation->block > 0 &&
                        length % annotation->block != 0;
  const gboolean partial = rest && !without;

  if (!partial && !without && !resolve_weights_is_too_small (node, value, annotation->block))
    return;
  if (without)
    resolve_weights_note_float_blocks (self, node, value);
  if (partial && self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_INFO, "partial-blocks", value->name,
                  _("“%s” has 8 bits and a scale per channel: its rows of %lld are not a multiple of the block size %lld"),
                  value->name, (long long) length, (long long) annotation->block);
  annotation->at_least_byte |= partial || without || self->scheme.format->weights_only;
  annotation->block = 0;
  annotation->axis = vn_quant_get_channel_axis (node);
}

/*< private >
 * vn_resolver_annotate_weight_only:
 *
 * Marks the weight of @node. Of nodes that share one, the first decides how it is cut; a convolution with fewer input
 * channels than a block has one scale for each output channel, and 8 bits unless a rule says otherwise: 4 would cost it
 * more accuracy than they save bytes.
 *
 * Returns: whether @node reads a weight that is annotated
 */
gboolean
vn_resolver_annotate_weight_only (VnResolver   *self,
                                  const VnNode *node)
{
  int carrier = resolve_weights_find_carrier (node), axis;
  const VnValue *value;
  VnAnnotation *annotation;

  g_return_val_if_fail (self != NULL, FALSE);

  if (vn_quant_has_experts (node))
    return vn_resolver_annotate_experts (self, node);
  if (carrier < 0)
    return FALSE;
  value = vn_node_get_input (node, carriers[carrier].input);
  if (!vn_resolver_may_annotate (self, value) || value->initializer == NULL)
    return FALSE;

  annotation = vn_resolver_get_annotation (self, value);
  axis = vn_quant_get_sum_axis (node);
  if (annotation->annotated)
    return !self->scheme.format->packed_matrices || annotation->axis == axis;

  annotation->annotated = annotation->as_weight = TRUE;
  annotation->block = resolve_weights_get_block (self, value);
  annotation->axis = annotation->block > 0 ? axis : self->scheme.weights.per_channel ? vn_quant_get_channel_axis (node) : -1;
  annotation->at_least_byte |= self->scheme.weights.wide_tables &&
                               (vn_node_is (node, "Gather") || vn_quant_is_head (node) || vn_quant_is_router (node));
  resolve_weights_drop_blocks (self, node, value);
  return TRUE;
}

/*< private >
 * vn_resolver_annotate_blocks:
 * @value: a constant that @node multiplies by, annotated
 *
 * Cuts a weight into blocks along the axis that @node sums over, if the recipe of the format “qdq” has a size for them. A
 * convolution with fewer input channels than a block has one scale for each output channel.
 */
void
vn_resolver_annotate_blocks (VnResolver    *self,
                             const VnNode  *node,
                             const VnValue *value)
{
  int carrier = resolve_weights_find_carrier (node);
  VnAnnotation *annotation;

  g_return_if_fail (self != NULL && value != NULL);

  if (!self->scheme.format->has_pairs || carrier < 0 || value->initializer == NULL ||
      value != vn_node_get_input (node, carriers[carrier].input) || value->initializer->shape.rank < 2 ||
      value->initializer->n_elements == 0 || resolve_weights_get_block (self, value) == 0)
    return;
  annotation = vn_resolver_get_annotation (self, value);
  if (!annotation->annotated || !annotation->as_weight)
    return;
  annotation->axis = vn_quant_get_sum_axis (node);
  annotation->block = resolve_weights_get_block (self, value);
  resolve_weights_drop_blocks (self, node, value);
}

static void
resolve_weights_leave_float (VnResolver    *self,
                             const VnValue *value,
                             VnQuantRow    *row)
{
  vn_quant_leave_float (row, _("its values are too large for block formats"));
  if (self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "weight-stays-float", value->name,
                  _("“%s” stays in float: it has infinite or nearly infinite values"), value->name);
}

static VnDType
resolve_weights_stored_type (const VnFormatTraits *format,
                             VnDType               dtype)
{
  if (!format->packed_matrices)
    return dtype;
  return vn_dtype_get_bits (dtype) == 2 ? VN_DTYPE_U2 : vn_dtype_get_bits (dtype) == 4 ? VN_DTYPE_U4 : VN_DTYPE_U8;
}

static VnBlockMethod
resolve_weights_get_method (VnResolver    *self,
                            const VnValue *value)
{
  const int said = self->block_methods[value->id];

  return said != VN_AS_RECIPE ? (VnBlockMethod) (said - 1) : self->scheme.weights.block_method;
}

/* Rows of experts that are no blocks have any length. */
static gboolean
resolve_weights_can_search (const VnQuantRow *row)
{
  return row->has_zero_points && vn_dtype_get_bits (row->tensor.dtype) <= 8 && (row->block & (row->block - 1)) == 0;
}

/* MatMulNBits takes zero points that are no integers, for fewer than 8 bits; no other operator does. */
static gboolean
resolve_weights_takes_float_zeros (VnResolver       *self,
                                   const VnValue    *value,
                                   const VnQuantRow *row)
{
  if (!self->scheme.format->packed_matrices || row->experts || !row->has_zero_points ||
      vn_dtype_get_bits (row->tensor.dtype) >= 8)
    return FALSE;
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);

      if (use->node->graph == self->graph && vn_node_is (use->node, "Gather"))
        return FALSE;
    }
  return TRUE;
}

/* What the method becomes for this weight. */
static VnBlockMethod
resolve_weights_choose_method (VnResolver       *self,
                               const VnValue    *value,
                               const VnQuantRow *row)
{
  const VnBlockMethod method = resolve_weights_get_method (self, value);

  if (vn_dtype_get_bits (row->tensor.dtype) > 8 || (method == VN_BLOCK_METHOD_K_QUANT && !resolve_weights_can_search (row)) ||
      (method == VN_BLOCK_METHOD_HQQ && !resolve_weights_takes_float_zeros (self, value, row)))
    return VN_BLOCK_METHOD_MINMAX;
  return method;
}

/* Zero points are floats from here on. */
static gboolean
resolve_weights_free_zeros (VnTensorPlan  *plan,
                            GError       **error)
{
  VnTensor *zeros = vn_tensor_convert (plan->zero_point, VN_DTYPE_F32, error);

  if (zeros == NULL)
    return FALSE;
  vn_tensor_unref (plan->zero_point);
  plan->zero_point = zeros;
  return TRUE;
}

/* @importance: (out) (nullable): by place along the axis of the blocks */
static gboolean
resolve_weights_get_importance (VnResolver     *self,
                                const VnValue  *value,
                                int             axis,
                                float         **importance,
                                GError        **error)
{
  g_autoptr(GError) local = NULL;

  *importance = self->importance != NULL && vn_recipe_has_importance (self->recipe)
                ? vn_importance_dup (self->importance, value->name, (gsize) value->initializer->shape.dims[axis], &local) : NULL;
  if (local == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

static gboolean
resolve_weights_find_scales (VnResolver     *self,
                             const VnValue  *value,
                             VnQuantRow     *row,
                             GError        **error)
{
  static const char * const methods[] = { "minmax", "mse", "k-quant", "hqq" };
  VnTensorPlan *plan = &row->tensor;
  const VnBlockMethod method = resolve_weights_choose_method (self, value, row);
  g_autofree float *importance = NULL;

  _Static_assert (G_N_ELEMENTS (methods) == VN_N_BLOCK_METHODS, "a name each");
  row->exact_levels = method == VN_BLOCK_METHOD_K_QUANT;
  g_free (plan->method);
  plan->method = g_strdup (methods[method]);
  if (!resolve_weights_get_importance (self, value, plan->axis, &importance, error))
    return FALSE;
  if (method == VN_BLOCK_METHOD_K_QUANT)
    return vn_quant_search_blocks (value->initializer, plan->axis, row->block, plan->dtype, importance, &plan->scale,
                                   &plan->zero_point, error);
  if (!vn_quant_block_params (value->initializer, plan->axis, row->block, plan->dtype, self->scheme.weights.symmetric,
                              &plan->scale, &plan->zero_point, error))
    return FALSE;
  return method == VN_BLOCK_METHOD_MINMAX ||
         ((method != VN_BLOCK_METHOD_HQQ || resolve_weights_free_zeros (plan, error)) &&
          vn_quant_fit_blocks (value->initializer, plan->axis, row->block, plan->dtype, self->scheme.weights.symmetric, method,
                               importance, plan->scale, plan->zero_point, error));
}

/*< private >
 * vn_resolver_check_factors:
 * @value: a constant that is annotated to be cut into blocks
 * @dtype: what the rules say
 *
 * A weight that a rule gives another type than blocks with integer scales have has a scale for each channel.
 */
void
vn_resolver_check_factors (VnResolver    *self,
                           const VnValue *value,
                           VnDType        dtype)
{
  VnAnnotation *annotation;

  g_return_if_fail (self != NULL && value != NULL);

  annotation = vn_resolver_get_annotation (self, value);
  if (!self->scheme.weights.integer_blocks || annotation->block == 0 || annotation->experts != NULL || dtype == VN_DTYPE_S4)
    return;
  annotation->block = 0;
  annotation->axis = 1 - annotation->axis;
}

/* Scales that are those of channels times integers. */
static gboolean
resolve_weights_fill_factors (VnResolver     *self,
                              VnTensor       *data,
                              VnQuantRow     *row,
                              GError        **error)
{
  if (!vn_quant_block_factors (data, row->tensor.axis, row->block, row->tensor.dtype, &row->channel_scale, &row->block_factors,
                               error))
    return FALSE;
  for (gsize i = 0; i < row->channel_scale->n_elements; i++)
    {
      float *scale = (float *) row->channel_scale->data + i;

      *scale = vn_quant_raise_scale (&self->scheme.scales, NULL, *scale);
    }
  row->tensor.scale = vn_quant_multiply_factors (row->channel_scale, row->block_factors, row->tensor.axis, error);
  if (row->tensor.scale == NULL)
    return FALSE;
  row->tensor.zero_point = vn_tensor_new (row->tensor.dtype, &row->tensor.scale->shape, error);
  if (row->tensor.zero_point == NULL)
    return FALSE;
  memset (row->tensor.zero_point->data, 0, row->tensor.zero_point->n_bytes);
  return TRUE;
}

/*< private >
 * vn_resolver_fill_blocks:
 * @value: a constant that is annotated to be cut into blocks
 * @row: its row; dtype is what the rules say
 *
 * Numbers that floats cannot take the difference of stay float, with a note.
 */
gboolean
vn_resolver_fill_blocks (VnResolver     *self,
                         const VnValue  *value,
                         VnQuantRow     *row,
                         GError        **error)
{
  const VnAnnotation *annotation;
  guint64 n_infinite;
  float min, max;

  g_return_val_if_fail (self != NULL && value != NULL && row != NULL, FALSE);

  annotation = vn_resolver_get_annotation (self, value);
  if (!vn_quant_data_range (value->initializer, -1, &min, &max, &n_infinite, error))
    {
      g_prefix_error (error, "“%s”: ", value->name);
      return FALSE;
    }
  if (n_infinite > 0 || !isfinite (max - min))
    {
      resolve_weights_leave_float (self, value, row);
      return TRUE;
    }
  row->experts = annotation->experts != NULL;
  if (row->experts && row->tensor.dtype != VN_DTYPE_U4 && row->tensor.dtype != VN_DTYPE_U8)
    {
      vn_quant_leave_float (row, _("weights of experts are stored in 4 or 8 bits"));
      return TRUE;
    }

  row->tensor.dtype = resolve_weights_stored_type (self->scheme.format, row->tensor.dtype);
  row->tensor.method = g_strdup ("minmax");
  row->tensor.axis = annotation->axis;
  row->tensor.min = min;
  row->tensor.max = max;
  row->block = annotation->block;
  row->has_zero_points = !self->scheme.weights.symmetric;
  if (self->scheme.weights.integer_blocks && !row->experts)
    return resolve_weights_fill_factors (self, value->initializer, row, error);
  if (!resolve_weights_find_scales (self, value, row, error))
    return FALSE;
  vn_quant_raise_block_scales (&self->scheme.scales, row->tensor.scale->data, row->tensor.scale->n_elements);
  return TRUE;
}
