/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Means over samples, which rare samples with large values move less than they move the extremes.
 *
 * average: of the samples' minima and maxima: the moving average of onnxruntime.quantization, which is this mean as long
 * as all samples are collected in one piece. (There the averaging constant only joins several pieces.)
 *
 * percentile-average: as PPQ and XSlim have it: of each sample's elements in ascending order those at
 * floor (n (1 - p)) and floor (n p), averaged. Scales below 1e-8 are raised to that. */

#include "vn-range-private.h"

#include <math.h>

#define PPQ_MIN_SCALE 1e-8

/*< private >
 * vn_range_get_average:
 * @percentile: 100: of minima and maxima
 *
 * A histogram that does not tell samples apart is one sample.
 */
void
vn_range_get_average (const VnHistogram *histogram,
                      double             percentile,
                      VnRange           *range)
{
  VnSampleSums whole = { 0 };
  VnSampleTails tails = { 0 };
  double min, max;

  if (!vn_sample_sums_get_mean (&histogram->samples, percentile, &min, &max))
    {
      vn_sample_sums_add (&whole, histogram, &tails, (float) -INFINITY, (float) INFINITY);
      vn_sample_sums_get_mean (&whole, percentile, &min, &max);
    }
  *range = (VnRange) { MIN (min, max), MAX (min, max) };
}

static gboolean
average_range (const VnHistogram      *histogram,
               const VnRangeSettings  *settings,
               VnRange                *range,
               GError                **error)
{
  if (!vn_range_check (histogram, error))
    return FALSE;
  vn_range_get_average (histogram, 100, range);
  vn_range_make_symmetric (range, settings);
  return TRUE;
}

static gboolean
range_average_percentile (const VnHistogram      *histogram,
                          const VnRangeSettings  *settings,
                          VnRange                *range,
                          GError                **error)
{
  if (!vn_range_check_percentile (settings, error) || !vn_range_check (histogram, error))
    return FALSE;
  vn_range_get_average (histogram, settings->percentile, range);
  vn_range_make_symmetric (range, settings);
  vn_range_raise_scale (range, settings, PPQ_MIN_SCALE);
  return TRUE;
}

const VnRangeMethod vn_range_average = {
  .id = "average",
  .title = N_("Average minimum and maximum"),
  .summary = N_("Averages the minima and maxima of the samples: outliers in single samples weigh less"),
  .letter = 'A',
  .range = average_range,
};

const VnRangeMethod vn_range_percentile_average = {
  .id = "percentile-average",
  .title = N_("Percentile of each sample, averaged"),
  .summary = N_("As in PPQ and XQuant: averages the percentiles of the individual samples"),
  .letter = 'G',
  .uses_percentile = TRUE,
  .range = range_average_percentile,
};
