/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a block has learned: scales as factors of ranges in the statistics, weights and biases as constants of a network. */
#include "trained-block.h"

#include "vn-graph-edit.h"

/* Everything that is known of the ranges, to be changed. */
static VnRangeFactors *
learned_copy_factors (VnStats     *stats,
                      VnQuantPlan *plan)
{
  VnRangeFactors *copy = vn_range_factors_new (), *from = vn_stats_get_factors (stats);

  for (guint i = 0; from != NULL && i < vn_quant_plan_get_n (plan); i++)
    {
      const char *name = vn_quant_plan_get (plan, i)->name;
      const VnRangeFactor *factor = vn_range_factors_get (from, name);

      if (factor != NULL)
        vn_range_factors_set (copy, name, factor->bits, factor->n, factor->low, factor->high);
    }
  return copy;
}

static void
learned_multiply_factor (VnQuantPlan    *plan,
                         VnRangeFactors *factors,
                         const char     *name,
                         gsize           n,
                         const float    *by)
{
  const VnRangeFactor *before = vn_range_factors_get (factors, name);
  g_autofree float *low = g_new (float, n), *high = g_new (float, n);
  guint bits = (guint) vn_dtype_get_bits (vn_quant_plan_find (plan, name)->dtype);

  for (gsize i = 0; i < n; i++)
    {
      low[i] = by[i] * (before != NULL && (before->n == n || before->n == 1) ? before->low[before->n == 1 ? 0 : i] : 1);
      high[i] = by[i] * (before != NULL && (before->n == n || before->n == 1) ? before->high[before->n == 1 ? 0 : i] : 1);
    }
  vn_range_factors_set (factors, name, bits, n, low, high);
}

/**
 * vn_trained_block_take_scales:
 * @plan: that the network is written with
 * @stats: what the ranges of @plan are found from
 *
 * Returns: (transfer full) (nullable): @stats with the scales of the block as factors of ranges; %NULL: it has not changed any
 */
VnStats *
vn_trained_block_take_scales (const VnTrainedBlock *self,
                              VnQuantPlan          *plan,
                              VnStats              *stats)
{
  g_autoptr(VnRangeFactors) factors = NULL;
  gboolean changed = FALSE;

  g_return_val_if_fail (self != NULL && plan != NULL && stats != NULL, NULL);

  factors = learned_copy_factors (stats, plan);
  for (guint i = 0; i < self->scales->len; i++)
    {
      const VnTrainedScale *scale = g_ptr_array_index (self->scales, i);
      float by = scale->grid->scales[0] / scale->first;

      if (!scale->learns || by == 1.f)
        continue;
      learned_multiply_factor (plan, factors, scale->name, 1, &by);
      changed = TRUE;
    }
  for (guint i = 0; i < self->layers->len; i++)
    {
      const VnTrainedLayer *layer = g_ptr_array_index (self->layers, i);
      g_autofree float *by = g_new (float, layer->grid->n);

      for (gsize k = 0; k < layer->grid->n; k++)
        by[k] = layer->grid->scales[k] / layer->first_scales[k];
      if (!layer->trains_scales)
        continue;
      learned_multiply_factor (plan, factors, layer->weight->name, layer->grid->n, by);
      changed = TRUE;
    }
  return changed ? vn_stats_with_factors (stats, factors) : NULL;
}

static gboolean
learned_set_constant (VnModel        *model,
                      const char     *name,
                      const VnTensor *from,
                      GError        **error)
{
  VnValue *value = g_hash_table_lookup (model->graph->by_name, name);
  g_autoptr(VnTensor) copy = vn_tensor_new_copy (VN_DTYPE_F32, &from->shape, from->data, error);

  if (copy != NULL)
    vn_graph_set_initializer (model->graph, value, copy);
  return copy != NULL;
}

/**
 * vn_trained_block_set_weights:
 * @model: a network with the nodes of the block
 * @error: memory
 *
 * Gives a network the weights and biases of a block; where only scales were trained, weights are left as they were.
 */
gboolean
vn_trained_block_set_weights (VnTrainedBlock  *self,
                              VnModel         *model,
                              GError         **error)
{
  g_return_val_if_fail (self != NULL && model != NULL, FALSE);

  for (guint i = 0; i < self->layers->len; i++)
    {
      const VnTrainedLayer *layer = g_ptr_array_index (self->layers, i);

      if (layer->train == VN_TRAIN_THRESHOLDS)
        continue;
      if (!learned_set_constant (model, layer->weight->name, vn_block_get_constant (self->block, layer->weight), error) ||
          (layer->bias != NULL &&
           !learned_set_constant (model, layer->bias->name, vn_block_get_constant (self->block, layer->bias), error)))
        return FALSE;
    }
  return TRUE;
}
