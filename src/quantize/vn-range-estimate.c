/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error of a range before anything is quantized: the scale it gives, and what rounding and clipping by that does to a
 * histogram. */
#include "vn-range-estimate.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-quant-math.h"

#include <math.h>

typedef struct
{
  double low, high;      /* beyond these a value is clipped */
  double n, outside, power;
} Tally;

/* The values of a bin are taken as evenly spread, as they are for the error. */
static void
range_estimate_count (const VnBin *bin,
                      gpointer     data)
{
  Tally *tally = data;
  double lo = (double) bin->lo, hi = (double) bin->hi, count = (double) bin->count, width = hi - lo;

  tally->n += count;
  tally->power += count * (lo * lo + lo * hi + hi * hi) / 3;
  if (width > 0)
    tally->outside += count * (CLAMP (tally->low - lo, 0, width) + CLAMP (hi - tally->high, 0, width)) / width;
  else if (lo < tally->low || lo > tally->high)
    tally->outside += count;
}

static gboolean
range_estimate_get_scale (const VnRangeQuestion *question,
                          VnRangeEstimate       *estimate,
                          GError               **error)
{
  VnQuantScheme scheme;
  gint64 qmin, qmax;
  float scale;

  if (!vn_quant_get_levels (question->dtype, question->symmetric, question->reduce_range, &qmin, &qmax))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s has no evenly spaced levels: the error of a range is "
                                                            "available only for integers"),
                   vn_dtype_get_name (question->dtype));
      return FALSE;
    }
  vn_quant_scheme_init (&scheme, question->recipe);
  if (!vn_quant_make_params (&scheme.scales, estimate->method != NULL ? estimate->method->id : "fixed", &estimate->range,
                             question->dtype,
                             question->symmetric, question->reduce_range, &scale, &estimate->zero_point, error))
    return FALSE;
  estimate->scale = (double) scale;
  estimate->covered = (VnRange) { estimate->scale * (double) (qmin - estimate->zero_point),
                                  estimate->scale * (double) (qmax - estimate->zero_point) };
  return TRUE;
}

/**
 * vn_range_estimate:
 * @range: from its minimum to its maximum; 0 is added where it is not inside
 * @method: (nullable): id of the method that it is from
 * @estimate: (out): what it gives
 *
 * Returns: %FALSE with %VN_ERROR_NUMERIC if an end of the range is NaN or they are in the wrong order, %VN_ERROR_UNSUPPORTED if
 *   the type is not one of integers
 */
gboolean
vn_range_estimate (const VnRangeQuestion *question,
                   const VnRange         *range,
                   const char            *method,
                   VnRangeEstimate       *estimate,
                   GError               **error)
{
  Tally tally = { 0 };
  double noise;

  g_return_val_if_fail (question != NULL && question->histogram != NULL && question->recipe != NULL, FALSE);
  g_return_val_if_fail (range != NULL && estimate != NULL, FALSE);

  if (!(range->min <= range->max))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_NUMERIC,
                   _("The range from %g to %g is not allowed; the minimum must not be larger than the maximum"),
                   range->min, range->max);
      return FALSE;
    }
  *estimate = (VnRangeEstimate) { .range = *range, .method = method != NULL ? vn_range_method_find (method, NULL) : NULL };
  if (!range_estimate_get_scale (question, estimate, error))
    return FALSE;
  tally.low = estimate->covered.min - estimate->scale / 2;
  tally.high = estimate->covered.max + estimate->scale / 2;
  vn_histogram_foreach (question->histogram, range_estimate_count, &tally);
  noise = vn_histogram_get_error (question->histogram, estimate->scale, estimate->covered.min, estimate->covered.max);
  estimate->clipped = tally.n > 0 ? tally.outside / tally.n : 0;
  estimate->sqnr_db = noise > 0 ? 10 * log10 (tally.power / noise) : INFINITY;
  return TRUE;
}

static int
range_estimate_compare (gconstpointer a,
                        gconstpointer b)
{
  double x = ((const VnRangeEstimate *) a)->sqnr_db, y = ((const VnRangeEstimate *) b)->sqnr_db;

  return (x < y) - (x > y);
}

/**
 * vn_range_estimate_methods:
 *
 * Asks every method that can choose a range for what was seen.
 *
 * Returns: (transfer full) (element-type VnRangeEstimate): the best first; among equals in the order of menus
 */
GArray *
vn_range_estimate_methods (const VnRangeQuestion *question)
{
  GArray *estimates = g_array_new (FALSE, FALSE, sizeof (VnRangeEstimate));
  VnQuantScheme scheme;
  VnRangeSettings settings;
  guint n;
  const VnRangeMethod * const *methods = vn_range_method_list (&n);

  g_return_val_if_fail (question != NULL && question->histogram != NULL && question->recipe != NULL, estimates);

  vn_quant_scheme_init (&scheme, question->recipe);
  settings = vn_quant_get_range_settings (&scheme.activations, question->percentile, question->dtype, question->symmetric,
                                          question->reduce_range);
  for (guint i = 0; i < n; i++)
    {
      VnRangeEstimate estimate;
      VnRange range;

      if (vn_range_method_find_range (methods[i], question->histogram, &settings, &range, NULL, NULL) &&
          vn_range_estimate (question, &range, methods[i]->id, &estimate, NULL))
        g_array_append_val (estimates, estimate);
    }
  g_array_sort (estimates, range_estimate_compare);
  return estimates;
}
