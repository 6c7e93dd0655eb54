/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Percentile, as onnxruntime.quantization means it: 2048 bins of equal width; the threshold is the lower edge of the
 * bin in which the cumulated share reaches the percentile, and is cut to what was seen.
 *
 * One threshold (that tool's default, also for asymmetric types): the bins cover |x| from its least to its greatest
 * value, T gives -T .. T. Two-sided: the bins cover -m .. m with m the greatest magnitude, and half of what is left
 * out lies at each end. There the bins hold the elements themselves; here an element is looked for in the histogram, whose
 * bins are up to 1/128 of their value wide, so thresholds may differ by that much. */

#include "vn-histogram-private.h"
#include "vn-range-private.h"

#include <math.h>

#define BINS 2048

static void
range_percentile_keep_first (const VnBin *bin,
                             gpointer     data)
{
  float *least = data;

  *least = MIN (*least, bin->lo);
}

typedef struct
{
  guint64 rank;      /* of the element looked for, from 1 */
  guint64 before;    /* elements in the bins so far */
  float   min, max;
  double  value;
} Search;

/* Where the element is in its bin nobody knows, but that the least and the greatest are elements themselves. */
static void
range_percentile_look_in_bin (const VnBin *bin,
                              gpointer     data)
{
  Search *self = data;
  const double k = (double) bin->count;
  const double j = (double) (self->rank - self->before);
  double at = (j - 0.5) / k;

  if (self->rank > self->before && self->rank - self->before <= bin->count)
    {
      if (bin->lo == self->min && bin->hi == self->max)
        at = (j - 1) / MAX (k - 1, 1);
      else if (bin->lo == self->min)
        at = (j - 1) / k;
      else if (bin->hi == self->max)
        at = j / k;
      self->value = bin->lo + ((double) bin->hi - bin->lo) * at;
    }
  self->before += bin->count;
}

/* Of BINS bins from @lo to @hi, the lower edge of that in which the cumulated share reaches @share. */
static double
range_percentile_find_edge (const VnHistogram *histogram,
                            double             lo,
                            double             hi,
                            double             share)
{
  const double n = (double) vn_histogram_n_finite (histogram);
  Search search = { .rank = (guint64) CLAMP (ceil (share * n), 1, n), .min = histogram->min, .max = histogram->max };

  /* The product may have been rounded up, over a whole number. */
  if (search.rank > 1 && (double) (search.rank - 1) / n >= share)
    search.rank--;
  search.value = hi;
  vn_histogram_foreach (histogram, range_percentile_look_in_bin, &search);
  return lo + (hi - lo) * CLAMP (floor ((search.value - lo) / (hi - lo) * BINS), 0, BINS - 1) / BINS;
}

static void
percentile_magnitude (const VnHistogram *histogram,
                      double             percentile,
                      VnRange           *range)
{
  g_autoptr(VnHistogram) folded = vn_histogram_fold_signs (histogram);
  double threshold = folded->max;
  float least = INFINITY;

  vn_histogram_foreach (folded, range_percentile_keep_first, &least);
  if (least < folded->max)
    threshold = range_percentile_find_edge (folded, least, folded->max, percentile / 100);
  range->min = MAX (range->min, -threshold);
  range->max = MIN (range->max, threshold);
}

static void
percentile_two_sided (const VnHistogram *histogram,
                      double             percentile,
                      VnRange           *range)
{
  double most = MAX (fabs (range->min), fabs (range->max));
  double cut = (100 - percentile) / 200;

  range->min = MAX (range->min, range_percentile_find_edge (histogram, -most, most, cut));
  range->max = MIN (range->max, range_percentile_find_edge (histogram, -most, most, 1 - cut));
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

const VnRangeMethod vn_range_percentile = {
  .id = "percentile",
  .title = N_("Percentile"),
  .summary = N_("Clips the most extreme values, so that outliers do not cost resolution"),
  .letter = 'P',
  .uses_percentile = TRUE,
  .has_sides = TRUE,
  .range = percentile_range,
};
