/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What bounds all but a small share of one sample at either end. */

#include "vn-histogram-private.h"

#include <math.h>

/* A walk from one end of the values towards the other. */
typedef struct
{
  const VnHistogram *histogram;
  gboolean           high;
  const guint64     *ranks;      /* ascending: how many elements lie further out */
  float             *values;
  guint              n_found;
  guint64            passed;
} Walk;

static float
sample_tails_cut (const VnHistogram *histogram,
                  float              x)
{
  return CLAMP (x, histogram->min, histogram->max);
}

/* Elements are taken as evenly spread over their bin; the outermost and the innermost of all are known. */
static float
sample_tails_place (const Walk *walk,
                    float       outer,
                    float       inner,
                    guint64     count)
{
  const guint64 rank = walk->ranks[walk->n_found], last = vn_histogram_n_finite (walk->histogram) - 1;
  const double from = sample_tails_cut (walk->histogram, outer), to = sample_tails_cut (walk->histogram, inner);

  if (rank == 0 || rank == last)
    return (rank == 0) == walk->high ? walk->histogram->max : walk->histogram->min;
  return (float) (from + (to - from) * ((double) (rank - walk->passed) + 0.5) / (double) count);
}

static gboolean
sample_tails_pass_bin (Walk    *walk,
                       float    outer,
                       float    inner,
                       guint64  count)
{
  while (walk->n_found < VN_SAMPLE_TAILS && walk->ranks[walk->n_found] < walk->passed + count)
    {
      walk->values[walk->n_found] = sample_tails_place (walk, outer, inner, count);
      walk->n_found++;
    }
  walk->passed += count;
  return walk->n_found < VN_SAMPLE_TAILS;
}

static gboolean
sample_tails_pass_page (Walk     *walk,
                        guint     page,
                        gboolean  outwards)
{
  const guint64 *counts = vn_histogram_get_page (walk->histogram, page);

  for (guint i = 0; counts != NULL && i < VN_HISTOGRAM_PAGE_BINS; i++)
    {
      guint m = outwards ? i : VN_HISTOGRAM_PAGE_BINS - 1 - i;
      guint32 low = (guint32) (page * VN_HISTOGRAM_PAGE_BINS + m) << 16;
      float near = vn_float_from_bits (low), far = vn_float_from_bits (low | 0xffff);

      if (counts[m] > 0 && !sample_tails_pass_bin (walk, outwards ? near : far, outwards ? far : near, counts[m]))
        return FALSE;
    }
  return TRUE;
}

static guint
sample_tails_get_exponent (float x)
{
  return (vn_float_bits (x) & VN_FLOAT_ABS) >> 23;
}

/* The pages of the side's own sign come first, from large to small magnitudes, then zeros, then the other sign. */
static void
sample_tails_find_tails (const VnHistogram *histogram,
                         gboolean           high,
                         const guint64     *ranks,
                         float             *values)
{
  const guint half = VN_HISTOGRAM_PAGES / 2, own = high ? 0 : half;
  const guint furthest = MAX (sample_tails_get_exponent (histogram->min), sample_tails_get_exponent (histogram->max));
  Walk walk = { .histogram = histogram, .high = high, .ranks = ranks, .values = values };
  gboolean more = TRUE;

  for (guint e = furthest + 1; more && e-- > 0;)
    more = sample_tails_pass_page (&walk, own + e, FALSE);
  if (more && histogram->n_zero > 0)
    more = sample_tails_pass_bin (&walk, 0, 0, histogram->n_zero);
  for (guint e = 0; more && e <= furthest; e++)
    more = sample_tails_pass_page (&walk, half - own + e, TRUE);
}

/* Of n elements in ascending order those at floor (n (1 - share)) and floor (n share), the first being number 0. */
static void
sample_tails_get_tails (const VnHistogram *sample,
                        VnSampleTails     *tails)
{
  const guint64 n = vn_histogram_n_finite (sample);
  guint64 low[VN_SAMPLE_TAILS], high[VN_SAMPLE_TAILS];

  for (guint i = 0; i < VN_SAMPLE_TAILS; i++)
    {
      low[i] = (guint64) ((double) n * (1 - vn_sample_shares[i]));
      high[i] = n - 1 - MIN (n - 1, (guint64) ((double) n * vn_sample_shares[i]));
    }
  sample_tails_find_tails (sample, FALSE, low, tails->low);
  sample_tails_find_tails (sample, TRUE, high, tails->high);
}

/**
 * vn_sample_sums_add:
 * @sample: what was seen in one sample; without a finite value it counts for nothing
 * @tails: (inout): of @sample; they are found when first needed
 * @min, @max: what the values are clamped to; infinite: they are not
 */
void
vn_sample_sums_add (VnSampleSums      *self,
                    const VnHistogram *sample,
                    VnSampleTails     *tails,
                    float              min,
                    float              max)
{
  /* A clamp makes infinite values finite. */
  if (sample->n_pos_inf + sample->n_neg_inf > 0 && (isfinite (min) || isfinite (max)))
    {
      g_autoptr(VnHistogram) clamped = vn_histogram_new_clamped (sample, min, max);
      VnSampleTails own = { 0 };

      vn_sample_sums_add (self, clamped, &own, -INFINITY, INFINITY);
      return;
    }
  if (vn_histogram_n_finite (sample) == 0)
    return;
  if (!tails->known)
    sample_tails_get_tails (sample, tails);
  tails->known = TRUE;
  vn_sample_sums_add_tails (self, tails, min, max);
}

/**
 * vn_histogram_take_sample:
 * @sample: (transfer full): a whole sample, scanned
 *
 * Merges one sample and remembers its bounds, so that means over samples can be asked for.
 */
void
vn_histogram_take_sample (VnHistogram *self,
                          VnHistogram *sample)
{
  VnSampleTails tails = { 0 };

  g_return_if_fail (self != NULL);

  vn_sample_sums_add (&self->samples, sample, &tails, (float) -INFINITY, (float) INFINITY);
  vn_histogram_take (self, sample);
}
