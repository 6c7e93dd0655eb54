/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of the ranges that a recipe finds in statistics: what “calibrate” writes. */
#include "vn-quantize.h"
#include "vn-quant-math.h"

static gboolean
quantize_range_from_stats (const VnHistogram        *histogram,
                           const VnActivationScheme *scheme,
                           VnRange                  *range,
                           GError                  **error)
{
  const VnRangeMethod *method = vn_range_method_find (scheme->method, error);
  VnRangeSettings settings = vn_quant_get_range_settings (scheme, scheme->percentile, scheme->dtype, scheme->symmetric, FALSE);

  if (method == NULL)
    return FALSE;
  *range = (VnRange) { 0, 0 };
  return histogram->min > histogram->max || vn_range_method_find_range (method, histogram, &settings, range, NULL, error);
}

/**
 * vn_encoding_table_new_from_stats:
 *
 * Ranges of everything that was observed, as @recipe finds them: quantizing with the table gives what quantizing with the
 * statistics gives.
 *
 * Returns: (transfer full) (nullable): the table
 */
VnEncodingTable *
vn_encoding_table_new_from_stats (const VnModel   *prepared,
                                  const VnRecipe  *recipe,
                                  VnStats         *stats,
                                  GError         **error)
{
  g_autoptr(VnEncodingTable) self = vn_encoding_table_new ();
  g_autoptr(VnQuantPlan) plan = NULL;
  VnQuantScheme scheme;

  g_return_val_if_fail (prepared != NULL && recipe != NULL, NULL);

  vn_quant_scheme_init (&scheme, recipe);
  plan = vn_quantize_resolve (prepared, recipe, stats, NULL, error);
  for (guint i = 0; plan != NULL && i < vn_stats_get_n_values (stats); i++)
    {
      const char *name = vn_stats_get_name (stats, i);
      const VnTensorPlan *row = vn_quant_plan_find (plan, name);
      VnEncoding imported = { 0 };

      if (row != NULL && row->quantized && row->shares == NULL)
        imported.range = (VnRange) { row->min, row->max };
      else if (row == NULL && vn_stats_get (stats, name)->n == 0)   /* in a branch that no sample has taken */
        continue;
      else if (!quantize_range_from_stats (vn_stats_get (stats, name), &scheme.activations, &imported.range, error))
        return NULL;
      if (!vn_encoding_table_add (self, name, &imported, error))
        return NULL;
    }
  return plan != NULL ? g_steal_pointer (&self) : NULL;
}
