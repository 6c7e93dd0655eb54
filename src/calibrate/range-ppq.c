/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The two observers of PPQ 0.6 that search.
 *
 * kl-ppq: 4096 bins of |x| up to the greatest magnitude. The first 0.2 % of them are emptied and the next one is set to a
 *   single element, as zeros would outweigh all else. Of all lengths that are multiples of L = 2^(bits - 1), the one of
 *   least divergence n gives the scale: n bins / L.
 *
 * mse-ppq: 2048 bins. Symmetric: of |x|, a range from 0 on; else of x, a range that starts at a multiple of 8 bins and not
 *   above 0. Its length is the number of levels times a whole step, from 1 to what fits in, and one more that holds
 *   everything. An element errs by its distance to the nearer end of its step, or beyond the range to its end. Steps count
 *   from the first bin, and the symmetric ones as if all levels were positive: so PPQ does it.
 *
 * Scales below 1e-8 are raised to that.
 *
 * Known deviations: elements of one of our bins, 1/128 of their value wide, count as spread evenly over it; and kl-ppq,
 * which PPQ refuses for asymmetric types, cuts these at its threshold on both sides. */

#include "vn-range-sums.h"

#include <math.h>

#define KL_BINS VN_RANGE_SUMS_BINS
#define KL_EMPTIED 8              /* 0.2 % */
#define MSE_BINS 2048
#define MSE_START 8
#define MIN_SCALE 1e-8

/* ---- divergence ---- */

static guint
range_ppq_find_length (const VnHistogram *histogram,
                       double             most,
                       guint              levels)
{
  g_autoptr(VnHistogram) folded = vn_histogram_fold_signs (histogram);
  g_autofree VnRangeSums *sums = g_new (VnRangeSums, 1);
  double least = INFINITY;
  guint best = KL_BINS;

  vn_histogram_linear (folded, 0, most, sums->counts, KL_BINS);
  vn_range_sums_make_whole (sums);
  for (guint i = 0; i < KL_EMPTIED; i++)
    sums->counts[i] = 0;
  sums->counts[KL_EMPTIED] = 1;
  vn_range_sums_update (sums);
  for (guint n = levels; n <= KL_BINS; n += levels)
    {
      double kl = vn_range_sums_get_kl (sums, 0, n, levels);

      if (kl < least)
        {
          least = kl;
          best = n;
        }
    }
  return best;
}

static gboolean
range_ppq_kl (const VnHistogram      *histogram,
              const VnRangeSettings  *settings,
              VnRange                *range,
              GError                **error)
{
  const double most = MAX (fabs (histogram->min), fabs (histogram->max));
  const guint bits = vn_range_get_bits (settings);
  double threshold = most;

  if (!vn_range_check (histogram, error))
    return FALSE;
  *range = (VnRange) { histogram->min, histogram->max };
  if (bits <= 12 && most > 0)   /* more levels than bins: nothing to search */
    threshold = most * range_ppq_find_length (histogram, most, 1u << (bits - 1)) / KL_BINS;
  if (settings->symmetric)
    {
      /* such that steps of the scale are threshold / L, though the type may have fewer of them */
      range->max = threshold / exp2 (bits - 1) * vn_range_get_steps (settings) / 2;
      range->min = -range->max;
    }
  else
    vn_range_clip (range, -threshold, threshold);
  vn_range_raise_scale (range, settings, MIN_SCALE);
  return TRUE;
}

/* ---- squared error ---- */

/* The distance of the middle of a bin to the nearer end of its step, squared. */
static void
range_ppq_fill_step (double *squares,
                     guint   step)
{
  for (guint left = 0; left < step; left++)
    {
      const guint right = step - left - 1;
      const double distance = left == right ? left + 0.25 : MIN (left, right) + 0.5;

      squares[left] = distance * distance;
    }
}

static double
range_ppq_sum_beyond (const double *counts,
                      guint         from,
                      guint         to,
                      double        end)
{
  double loss = 0;

  for (guint i = from; i < to; i++)
    loss += counts[i] * (i - end) * (i - end);
  return loss;
}

/* @enough: what is larger need not be known */
static double
range_ppq_get_loss (const double *counts,
                    const double *squares,
                    guint         start,
                    guint         end,
                    guint         step,
                    double        enough)
{
  const guint last = MIN (end + 1, MSE_BINS);
  double loss = range_ppq_sum_beyond (counts, 0, start, start - 0.5);

  if (last < MSE_BINS && loss < enough)
    loss += range_ppq_sum_beyond (counts, last, MSE_BINS, end - 0.5);
  for (guint from = start; from < last && loss < enough; from += step)
    for (guint i = from; i < MIN (from + step, last); i++)
      loss += counts[i] * squares[i - from];
  return loss;
}

typedef struct { double loss; guint start, end; } Best;

static void
range_ppq_try (const double *counts,
               guint         start,
               guint         step,
               guint         levels,
               Best         *best)
{
  const guint end = start + levels * step;
  double squares[MSE_BINS], loss;

  range_ppq_fill_step (squares, step);
  loss = range_ppq_get_loss (counts, squares, start, end, step, best->loss);

  if (loss < best->loss)
    *best = (Best) { loss, start, end };
}

static gboolean
range_ppq_mse (const VnHistogram      *histogram,
               const VnRangeSettings  *settings,
               VnRange                *range,
               GError                **error)
{
  const double most = MAX (fabs (histogram->min), fabs (histogram->max));
  const double lo = settings->symmetric ? 0 : histogram->min, hi = settings->symmetric ? most : histogram->max;
  const double width = (hi - lo) / MSE_BINS;
  const guint bits = vn_range_get_bits (settings), levels = 1u << MIN (bits, 12);
  g_autoptr(VnHistogram) folded = NULL;
  g_autofree double *counts = g_new (double, MSE_BINS);
  Best best = { INFINITY, 0, MSE_BINS };

  if (!vn_range_check (histogram, error))
    return FALSE;
  folded = settings->symmetric ? vn_histogram_fold_signs (histogram) : NULL;
  if (width > 0 && levels <= MSE_BINS)
    {
      vn_histogram_linear (folded != NULL ? folded : histogram, lo, hi, counts, MSE_BINS);
      range_ppq_try (counts, 0, MSE_BINS / levels + 1, levels, &best);
      for (guint start = 0; start < MSE_BINS && lo + start * width <= 0; start += MSE_START)
        {
          for (guint step = 1; step <= MSE_BINS / levels && start + levels * step <= MSE_BINS + levels; step++)
            range_ppq_try (counts, start, step, levels, &best);
          if (settings->symmetric)
            break;
        }
    }
  *range = (VnRange) { lo + best.start * width, lo + best.end * width };
  vn_range_make_symmetric (range, settings);
  vn_range_raise_scale (range, settings, MIN_SCALE);
  return TRUE;
}

const VnRangeMethod vn_range_kl_ppq = {
  .id = "kl-ppq",
  .title = N_("KL divergence (PPQ)"),
  .summary = N_("As in PPQ: 4096 bins of absolute values, ignoring the smallest, for symmetric types"),
  .letter = 'H',
  .range = range_ppq_kl,
};

const VnRangeMethod vn_range_mse_ppq = {
  .id = "mse-ppq",
  .title = N_("MSE (PPQ)"),
  .summary = N_("As in PPQ: 2048 bins, with ranges that end at bin edges"),
  .letter = 'I',
  .range = range_ppq_mse,
};
