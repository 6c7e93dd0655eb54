/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which tensors of a quantized network stand for which of the float one, and how what it holds is to be read. */
#include "compare-pairs.h"

#include "compare-rows.h"

#include "vn-error.h"
#include "vn-i18n.h"

static gboolean
compare_is_float32 (const VnValue *value)
{
  return value->type.kind == VN_TYPE_UNKNOWN || value->type.dtype == VN_DTYPE_F32 || value->type.dtype == VN_DTYPE_UNDEFINED;
}

/*< private >
 * vn_compare_has_row:
 *
 * Returns: whether @value of the float network may have a row
 */
gboolean
vn_compare_has_row (const VnValue *value)
{
  g_return_val_if_fail (value != NULL, FALSE);

  return !vn_value_is_constant (value) && compare_is_float32 (value);
}

/* FALSE: @other is neither float nor one of integers on a grid that is known. */
static gboolean
compare_find_grid (const VnCompareOptions *options,
                   const VnValue          *value,
                   const VnValue          *other,
                   CompareGrid                   *grid)
{
  const VnTensorPlan *row = options->plan != NULL ? vn_quant_plan_find (options->plan, value->name) : NULL;
  VnValueGrid found;

  *grid = (CompareGrid) { 0, 0, row != NULL ? row->factors : NULL };
  if (options->plan == NULL && vn_value_find_grid (other, &found) && found.holds_integers)
    {
      *grid = (CompareGrid) { (float) found.scale, (float) found.zero_point, NULL };
      return TRUE;
    }
  if (compare_is_float32 (other) || other->type.dtype == VN_DTYPE_F16)
    return TRUE;
  if (row == NULL || !row->quantized || row->scale == NULL || other->type.dtype != row->dtype || row->scale->n_elements != 1)
    return FALSE;
  *grid = (CompareGrid) { *(const float *) row->scale->data, (float) vn_tensor_get_s64 (row->zero_point, 0), NULL };
  return TRUE;
}

static VnValue *
compare_find_counterpart (const VnGraph          *quant_graph,
                          const VnCompareOptions *options,
                          const VnValue          *value)
{
  const char *name = options->value_names != NULL ? g_hash_table_lookup (options->value_names, value->name) : NULL;
  VnValue *other = g_hash_table_lookup (quant_graph->by_name, name != NULL ? name : value->name);

  return other != NULL && !vn_value_is_constant (other) ? other : NULL;
}

/* Whether a clamp, which stays, cuts off what the range of @value cuts off: its output speaks for both. */
static gboolean
compare_is_clamped (const VnGraph          *quant_graph,
                    const VnCompareOptions *options,
                    const VnValue          *value,
                    const VnValue          *other)
{
  const VnNode *clamp = value->uses->len == 1 ? g_array_index (value->uses, VnUse, 0).node : NULL;
  const VnValue *behind;
  VnValueGrid own, next;

  if (options->plan != NULL)
    return vn_quant_plan_find_clamped (options->plan, value) != NULL;
  if (clamp == NULL || vn_node_get_output (clamp, 0) == NULL || !(vn_node_is (clamp, "Relu") || vn_node_is (clamp, "Clip")))
    return FALSE;
  behind = compare_find_counterpart (quant_graph, options, vn_node_get_output (clamp, 0));
  return behind != NULL && vn_value_find_grid (other, &own) && vn_value_find_grid (behind, &next) && own.scale == next.scale &&
         own.zero_point == next.zero_point && own.dtype == next.dtype;
}

static void
compare_add_pair (ComparePairs           *self,
                  const VnGraph          *quant_graph,
                  VnValue                *value,
                  const VnCompareOptions *options)
{
  VnValue *other;
  CompareGrid grid;

  if (!vn_compare_has_row (value) || (options->outputs_only && !value->is_output))
    return;
  other = compare_find_counterpart (quant_graph, options, value);
  if (other == NULL || compare_is_clamped (quant_graph, options, value, other) ||
      !compare_find_grid (options, value, other, &grid))
    return;
  g_array_append_val (self->grids, grid);
  g_ptr_array_add (self->float_taps, value);
  g_ptr_array_add (self->quant_taps, other);
}

/* Whether the range of the quantization is what clamps: its error would be mostly that. */
static gboolean
compare_is_absorbed (const VnValue *value,
                     const VnValue *source)
{
  const VnNode *clamp = value->producer;

  return clamp != NULL && (vn_node_is (clamp, "Relu") || vn_node_is (clamp, "Clip")) &&
         (source->producer == NULL || !vn_node_is (source->producer, clamp->op_type));
}

/* What goes into each quantization has, in the quantized network, the name that the tensor has in the float one. */
static void
compare_add_sources (ComparePairs           *self,
                     const VnGraph          *quant_graph,
                     const VnCompareOptions *options)
{
  guint n = self->float_taps->len;

  for (guint i = 0; i < n && options->value_names != NULL; i++)
    {
      const VnValue *value = g_ptr_array_index (self->float_taps, i), *other = g_ptr_array_index (self->quant_taps, i);
      VnValue *source = g_hash_table_lookup (quant_graph->by_name, value->name);

      if (source == NULL || source == other || vn_value_is_constant (source) || compare_is_absorbed (value, source))
        continue;
      g_array_append_val (self->sources, i);
      g_ptr_array_add (self->quant_taps, source);
    }
}

static gboolean
compare_has_doubles (const VnGraph *graph)
{
  for (guint i = 0; i < graph->values->len; i++)
    if (((const VnValue *) g_ptr_array_index (graph->values, i))->type.dtype == VN_DTYPE_F64)
      return TRUE;
  return FALSE;
}

/*< private >
 * vn_compare_collect_pairs:
 * @self: (out): vn_compare_clear_pairs(), whatever is returned
 *
 * Returns: %FALSE with an error if the two have nothing in common
 */
gboolean
vn_compare_collect_pairs (ComparePairs            *self,
                          VnModel                 *float_model,
                          VnModel                 *quant_model,
                          const VnCompareOptions  *options,
                          GError                 **error)
{
  g_autoptr(GPtrArray) order = NULL;

  g_return_val_if_fail (self != NULL && float_model != NULL && quant_model != NULL && options != NULL, FALSE);

  *self = (ComparePairs) { g_ptr_array_new (), g_ptr_array_new (), g_array_new (FALSE, FALSE, sizeof (CompareGrid)),
                           g_array_new (FALSE, FALSE, sizeof (guint)) };
  order = vn_graph_sort (float_model->graph, error);
  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < float_model->graph->inputs->len; i++)
    compare_add_pair (self, quant_model->graph, g_ptr_array_index (float_model->graph->inputs, i), options);
  for (guint i = 0; i < order->len; i++)
    {
      const VnNode *node = g_ptr_array_index (order, i);

      for (guint k = 0; k < node->outputs->len; k++)
        if (vn_node_get_output (node, k) != NULL)
          compare_add_pair (self, quant_model->graph, vn_node_get_output (node, k), options);
    }
  if (options->local)
    compare_add_sources (self, quant_model->graph, options);
  if (self->float_taps->len > 0)
    return TRUE;
  if (compare_has_doubles (float_model->graph))
    g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                 _("The two models have no tensor of float32 of the same name: the first computes with float64. Make float32 of "
                   "it with "
                   "“vernier-cli prepare”, quantize that, and compare these two"));
  else
    g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                 _("The two models have no tensor names in common; was the second one created from the first?"));
  return FALSE;
}

/*< private >
 * vn_compare_clear_pairs:
 * @self: all zero, or filled
 */
void
vn_compare_clear_pairs (ComparePairs *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->float_taps, g_ptr_array_unref);
  g_clear_pointer (&self->quant_taps, g_ptr_array_unref);
  g_clear_pointer (&self->grids, g_array_unref);
  g_clear_pointer (&self->sources, g_array_unref);
}

/**
 * vn_compare_match_names:
 *
 * Returns: (transfer full) (element-type utf8 utf8): name in the float model -> name of the float tensor that stands for
 *   it in the quantized one: the output of the DequantizeLinear behind its QuantizeLinear. Names without one are not in it.
 */
GHashTable *
vn_compare_match_names (const VnModel *float_model,
                        const VnModel *quant_model)
{
  GHashTable *names;

  g_return_val_if_fail (float_model != NULL && quant_model != NULL, NULL);

  names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  for (guint i = 0; i < quant_model->graph->nodes->len; i++)
    {
      const VnNode *quantize = g_ptr_array_index (quant_model->graph->nodes, i);
      const VnValue *from = vn_node_get_input (quantize, 0), *to = vn_node_get_output (quantize, 0);

      if (!g_str_equal (quantize->op_type, "QuantizeLinear") || from == NULL || to == NULL)
        continue;
      for (guint u = 0; u < to->uses->len; u++)
        {
          const VnUse *use = &g_array_index (to->uses, VnUse, u);
          const VnValue *back = vn_node_get_output (use->node, 0);

          if (use->index == 0 && back != NULL && g_str_equal (use->node->op_type, "DequantizeLinear") &&
              g_hash_table_lookup (float_model->graph->by_name, from->name) != NULL)
            {
              g_hash_table_insert (names, g_strdup (from->name), g_strdup (back->name));
              break;
            }
        }
    }
  return names;
}
