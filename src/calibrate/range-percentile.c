/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Percentile, as onnxruntime.quantization means it: 2048 bins of equal width; the threshold is the lower edge of the
 * bin in which the cumulated share reaches the percentile, and is cut to what was seen.
 *
 * One threshold (that tool's default, also for asymmetric types): the bins cover |x| from its least to its greatest
 * value, T gives -T .. T. Two-sided: the bins cover -m .. m with m the greatest magnitude, and half of what is left
 * out lies at each end. There the bins hold the elements themselves; here they are made from the histogram, whose bins are up to 1/128
 * of their value wide, so thresholds may differ by that much. */

#include "vn-range-private.h"

#include <math.h>

#define BINS 2048

static void
keep_first (const VnBin *bin,
            gpointer     data)
{
  float *least = data;

  *least = MIN (*least, bin->lo);
}

/* Where the cumulated share reaches @share: the lower edge of that bin. */
static double
find_edge (const double *counts,
           double        lo,
           double        hi,
           double        share)
{
  double total = 0;
  double sum = 0;

  for (guint i = 0; i < BINS; i++)
    total += counts[i];
  total = rint (total);
  for (guint i = 0; i < BINS; i++)
    {
      sum += counts[i];
      /* Where no bin is split the sum is a whole number, but for rounding: that must not decide. */
      if ((fabs (sum - rint (sum)) < 1e-6 ? rint (sum) : sum) / total >= share)
        return lo + (hi - lo) * i / BINS;
    }
  return hi;
}

static void
percentile_magnitude (const VnHistogram *histogram,
                      double             percentile,
                      VnRange           *range)
{
  g_autofree double *counts = g_new (double, BINS);
  g_autoptr(VnHistogram) folded = vn_histogram_fold_signs (histogram);
  float least = INFINITY;
  double threshold;

  vn_histogram_foreach (folded, keep_first, &least);
  vn_histogram_linear (folded, least, folded->max, counts, BINS);
  threshold = find_edge (counts, least, folded->max, percentile / 100);
  range->min = MAX (range->min, -threshold);
  range->max = MIN (range->max, threshold);
}

static void
percentile_two_sided (const VnHistogram *histogram,
                      double             percentile,
                      VnRange           *range)
{
  g_autofree double *counts = g_new (double, BINS);
  double most = MAX (fabs (range->min), fabs (range->max));
  double cut = (100 - percentile) / 200;

  vn_histogram_linear (histogram, -most, most, counts, BINS);
  range->min = MAX (range->min, find_edge (counts, -most, most, cut));
  range->max = MIN (range->max, find_edge (counts, -most, most, 1 - cut));
}

static gboolean
percentile_range (const VnHistogram      *histogram,
                  const VnRangeSettings  *settings,
                  VnRange                *range,
                  GError                **error)
{
  if (!vn_range_check_percentile (settings, error) || !vn_range_check (histogram, error))
    return FALSE;

  *range = (VnRange) { histogram->min, histogram->max };
  /* One value, or nothing to cut off: no bins to look at. */
  if (histogram->min == histogram->max || settings->percentile == 100)
    return TRUE;
  if (settings->two_sided)
    percentile_two_sided (histogram, settings->percentile, range);
  else
    percentile_magnitude (histogram, settings->percentile, range);
  return TRUE;
}

static const VnParam percentile_params[] = {
  { "percentile", N_("Percentile"), N_("Share of the values that must stay inside the range, in percent"),
    VN_PARAM_DOUBLE, 99.999, 50, 100, NULL },
  { NULL },
};

const VnRangeMethod vn_range_percentile = {
  .id = "percentile",
  .title = N_("Percentile"),
  .summary = N_("Clips the rarest large values, so that outliers do not cost resolution"),
  .letter = 'P',
  .params = percentile_params,
  .range = percentile_range,
};
