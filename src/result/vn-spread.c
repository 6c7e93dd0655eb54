/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How values are spread: found in the statistics of a run, or in the weights of its network. */
#include "vn-spread.h"

#include <math.h>

VnSpread *
vn_spread_copy (const VnSpread *self)
{
  VnSpread *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = g_memdup2 (self, sizeof *self);
  copy->tensor = g_strdup (self->tensor);
  copy->node = g_strdup (self->node);
  return copy;
}

void
vn_spread_free (VnSpread *self)
{
  if (self == NULL)
    return;
  g_free (self->tensor);
  g_free (self->node);
  g_free (self);
}

/* Nothing that was seen may vanish by rounding. */
static void
spread_count (VnSpread          *self,
              const VnHistogram *histogram)
{
  self->low = histogram->min;
  self->high = histogram->max > histogram->min ? histogram->max : histogram->min + 1e-6;
  vn_histogram_linear (histogram, self->low, self->high, self->counts, VN_SPREAD_BINS);
  for (guint i = 0; i < VN_SPREAD_BINS; i++)
    self->counts[i] = self->counts[i] > 0 ? fmax (rint (self->counts[i]), 1) : 0;
}

static VnHistogram *
spread_scan_weight (const VnModel *prepared,
                    const char    *name)
{
  const VnValue *value = vn_graph_find_value (prepared->graph, name);
  g_autoptr(VnTensor) aligned = NULL;
  g_autoptr(VnHistogramScratch) scratch = NULL;
  VnHistogram *histogram;

  if (value == NULL || value->initializer == NULL || value->initializer->dtype != VN_DTYPE_F32 ||
      value->initializer->data == NULL)
    return NULL;
  aligned = vn_tensor_get_aligned (value->initializer, NULL);   /* in a file it stands anywhere */
  if (aligned == NULL)
    return NULL;
  histogram = vn_histogram_new ();
  scratch = vn_scratch_new ();
  vn_histogram_scan (histogram, scratch, aligned->data, aligned->n_elements);
  return histogram;
}

static void
spread_add (GPtrArray    *spreads,
            VnRun        *result,
            const char   *name,
            const char   *node,
            VnTensorRole  role)
{
  g_autoptr(VnHistogram) weight = role == VN_TENSOR_WEIGHT && result->prepared != NULL
                                  ? spread_scan_weight (result->prepared, name) : NULL;
  const VnHistogram *histogram = weight != NULL ? weight : result->stats != NULL ? vn_stats_get (result->stats, name) : NULL;
  const VnTensorPlan *plan = result->plan != NULL ? vn_quant_plan_find (result->plan, name) : NULL;
  VnSpread *self;

  if (histogram == NULL || !(histogram->min <= histogram->max))
    return;
  self = g_new0 (VnSpread, 1);
  self->tensor = g_strdup (name);
  self->node = g_strdup (node);
  self->role = role;
  spread_count (self, histogram);
  if (plan != NULL && plan->quantized && plan->min < plan->max)
    {
      self->range_min = plan->min;
      self->range_max = plan->max;
    }
  g_ptr_array_add (spreads, self);
}

/**
 * vn_run_list_spreads:
 *
 * Returns: (transfer full) (element-type VnSpread): of the %VN_SPREADS tensors that cost most, as far as that is known: those
 *   that the error starts in, or those with the largest error, where values were seen
 */
GPtrArray *
vn_run_list_spreads (VnRun *result)
{
  GPtrArray *spreads;
  g_autoptr(GArray) order = NULL;

  g_return_val_if_fail (result != NULL, NULL);

  if (result->spreads != NULL)
    return g_ptr_array_ref (result->spreads);
  spreads = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_spread_free);
  if (result->contributions != NULL && vn_contributions_get_n (result->contributions) > 0)
    {
      order = vn_contributions_sort (result->contributions);
      for (guint i = 0; i < order->len && spreads->len < VN_SPREADS; i++)
        {
          const VnContribution *item = vn_contributions_get (result->contributions, g_array_index (order, guint, i));

          spread_add (spreads, result, item->name, item->node, item->role);
        }
    }
  else if (result->errors != NULL)
    {
      order = vn_error_table_sort_by (result->errors, vn_error_table_get_weakest_metric (result->errors));
      for (guint i = 0; i < order->len && spreads->len < VN_SPREADS; i++)
        {
          const VnErrorRow *row = vn_error_table_get (result->errors, g_array_index (order, guint, i));

          spread_add (spreads, result, row->value, row->node, VN_TENSOR_ACTIVATION);
        }
    }
  return spreads;
}
