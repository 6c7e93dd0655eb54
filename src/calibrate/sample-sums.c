/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What some methods need to know sample by sample: the mean, over the samples, of the least and the greatest value and
 * of what bounds all but a small share at either end. Nothing is kept of a sample but these numbers, and they are added
 * up exactly: a sum is an integer of 320 bits, in units of the smallest float (2^-149). The greatest float is below
 * 2^277 units, so 2^32 samples fit with room to spare, and as integers are added the order does not matter. */

#include "vn-histogram-private.h"

#include <math.h>

#define SMALLEST_EXPONENT (-149)
#define N_LIMBS G_N_ELEMENTS (((VnExactSum *) NULL)->limbs)

/* The share of the elements that lies inside, on each side: the first is all of them. */
static const double shares[VN_SAMPLE_TAILS] = { 1, 0.999999, 0.99999, 0.9999, 0.999, 0.99 };

/* ---- exact sums ---- */

static void
exact_sum_merge (VnExactSum       *self,
                 const VnExactSum *from)
{
  gboolean carry = FALSE;

  for (guint i = 0; i < N_LIMBS; i++)
    {
      guint64 sum = self->limbs[i] + from->limbs[i];
      gboolean over = sum < from->limbs[i];

      self->limbs[i] = sum + carry;
      carry = over || (carry && self->limbs[i] == 0);
    }
}

/* Two's complement. */
static void
exact_sum_negate (VnExactSum *self)
{
  gboolean carry = TRUE;

  for (guint i = 0; i < N_LIMBS; i++)
    {
      self->limbs[i] = ~self->limbs[i] + carry;
      carry = carry && self->limbs[i] == 0;
    }
}

static void
exact_sum_add (VnExactSum *self,
               float       x)
{
  const guint32 bits = vn_float_bits (x);
  const guint32 exponent = (bits & VN_FLOAT_ABS) >> 23;
  const guint64 mantissa = (bits & 0x7fffff) | (exponent > 0 ? 0x800000u : 0);
  const guint shift = exponent > 0 ? exponent - 1 : 0;
  VnExactSum term = { { 0 } };

  term.limbs[shift / 64] = mantissa << shift % 64;
  if (shift % 64 > 40)
    term.limbs[shift / 64 + 1] = mantissa >> (64 - shift % 64);
  if (bits >> 31)
    exact_sum_negate (&term);
  exact_sum_merge (self, &term);
}

static double
exact_sum_get (const VnExactSum *self)
{
  const gboolean negative = self->limbs[N_LIMBS - 1] >> 63;
  VnExactSum magnitude = *self;
  double sum = 0;

  if (negative)
    exact_sum_negate (&magnitude);
  for (guint i = N_LIMBS; i-- > 0;)
    sum += ldexp ((double) magnitude.limbs[i], (int) (64 * i) + SMALLEST_EXPONENT);
  return negative ? -sum : sum;
}

/* ---- one sample ---- */

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
cut (const VnHistogram *histogram,
     float              x)
{
  return CLAMP (x, histogram->min, histogram->max);
}

/* Elements are taken as evenly spread over their bin; the outermost and the innermost of all are known. */
static float
place (const Walk *walk,
       float       outer,
       float       inner,
       guint64     count)
{
  const guint64 rank = walk->ranks[walk->n_found], last = vn_histogram_n_finite (walk->histogram) - 1;
  const double from = cut (walk->histogram, outer), to = cut (walk->histogram, inner);

  if (rank == 0 || rank == last)
    return (rank == 0) == walk->high ? walk->histogram->max : walk->histogram->min;
  return (float) (from + (to - from) * ((double) (rank - walk->passed) + 0.5) / (double) count);
}

static gboolean
pass_bin (Walk    *walk,
          float    outer,
          float    inner,
          guint64  count)
{
  while (walk->n_found < VN_SAMPLE_TAILS && walk->ranks[walk->n_found] < walk->passed + count)
    {
      walk->values[walk->n_found] = place (walk, outer, inner, count);
      walk->n_found++;
    }
  walk->passed += count;
  return walk->n_found < VN_SAMPLE_TAILS;
}

static gboolean
pass_page (Walk     *walk,
           guint     page,
           gboolean  outwards)
{
  const guint64 *counts = walk->histogram->pages[page];

  for (guint i = 0; counts != NULL && i < VN_HISTOGRAM_PAGE_BINS; i++)
    {
      guint m = outwards ? i : VN_HISTOGRAM_PAGE_BINS - 1 - i;
      guint32 low = (guint32) (page * VN_HISTOGRAM_PAGE_BINS + m) << 16;
      float near = vn_float_from_bits (low), far = vn_float_from_bits (low | 0xffff);

      if (counts[m] > 0 && !pass_bin (walk, outwards ? near : far, outwards ? far : near, counts[m]))
        return FALSE;
    }
  return TRUE;
}

/* The pages of the side's own sign come first, from large to small magnitudes, then zeros, then the other sign. */
static void
find_tails (const VnHistogram *histogram,
            gboolean           high,
            const guint64     *ranks,
            float             *values)
{
  const guint half = VN_HISTOGRAM_PAGES / 2, own = high ? 0 : half;
  Walk walk = { .histogram = histogram, .high = high, .ranks = ranks, .values = values };
  gboolean more = TRUE;

  for (guint e = half; more && e-- > 0;)
    more = pass_page (&walk, own + e, FALSE);
  if (more && histogram->n_zero > 0)
    more = pass_bin (&walk, 0, 0, histogram->n_zero);
  for (guint e = 0; more && e < half; e++)
    more = pass_page (&walk, half - own + e, TRUE);
}

/* Of n elements in ascending order those at floor (n (1 - share)) and floor (n share), the first being number 0. */
static void
get_tails (const VnHistogram *sample,
           VnSampleTails     *tails)
{
  const guint64 n = vn_histogram_n_finite (sample);
  guint64 low[VN_SAMPLE_TAILS], high[VN_SAMPLE_TAILS];

  for (guint i = 0; i < VN_SAMPLE_TAILS; i++)
    {
      low[i] = (guint64) ((double) n * (1 - shares[i]));
      high[i] = n - 1 - MIN (n - 1, (guint64) ((double) n * shares[i]));
    }
  find_tails (sample, FALSE, low, tails->low);
  find_tails (sample, TRUE, high, tails->high);
}

static void
add_tails (VnSampleSums        *self,
           const VnSampleTails *tails,
           float                min,
           float                max)
{
  for (guint i = 0; i < VN_SAMPLE_TAILS; i++)
    {
      exact_sum_add (&self->low[i], CLAMP (tails->low[i], min, max));
      exact_sum_add (&self->high[i], CLAMP (tails->high[i], min, max));
    }
  self->n++;
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
    get_tails (sample, tails);
  tails->known = TRUE;
  add_tails (self, tails, min, max);
}

/* ---- all samples ---- */

/**
 * vn_sample_sums_merge:
 *
 * Afterwards @self is what it would be had it been told of the samples of both.
 */
void
vn_sample_sums_merge (VnSampleSums       *self,
                      const VnSampleSums *from)
{
  self->n += from->n;
  for (guint i = 0; i < VN_SAMPLE_TAILS; i++)
    {
      exact_sum_merge (&self->low[i], &from->low[i]);
      exact_sum_merge (&self->high[i], &from->high[i]);
    }
}

/**
 * vn_sample_sums_get_mean:
 * @percentile: above 0, at most 100: share of each sample's elements that the greater bound exceeds, and that exceeds
 *   the lesser one
 * @min, @max: (out): mean over the samples
 *
 * Known are 99, 99.9 ... 99.9999 and 100; between two of them the bounds are interpolated over the logarithm of the
 * share that lies outside (below 99: as for 99; from 99.9999 to 100: over the share itself).
 *
 * Returns: %FALSE if no samples were told apart
 */
gboolean
vn_sample_sums_get_mean (const VnSampleSums *self,
                         double              percentile,
                         double             *min,
                         double             *max)
{
  const double outside = 1 - percentile / 100;
  double t = 0;
  guint i = 0;

  if (self->n == 0)
    return FALSE;
  while (i + 1 < VN_SAMPLE_TAILS && outside > (1 - shares[i + 1]) * (1 - 1e-9))
    i++;
  if (i + 1 < VN_SAMPLE_TAILS && outside > 0)
    t = i == 0 ? outside / (1 - shares[1])
               : log (outside / (1 - shares[i])) / log ((1 - shares[i + 1]) / (1 - shares[i]));
  *min = exact_sum_get (&self->low[i]) / (double) self->n;
  *max = exact_sum_get (&self->high[i]) / (double) self->n;
  if (t > 1e-6)
    {
      *min += t * (exact_sum_get (&self->low[i + 1]) / (double) self->n - *min);
      *max += t * (exact_sum_get (&self->high[i + 1]) / (double) self->n - *max);
    }
  return TRUE;
}

/**
 * vn_sample_sums_fit:
 *
 * Returns: whether @self can be of what was seen in samples that together have @n finite elements from @min to @max
 */
gboolean
vn_sample_sums_fit (const VnSampleSums *self,
                    guint64             n,
                    float               min,
                    float               max)
{
  if (self->n > n)
    return FALSE;
  for (guint i = 0; i < VN_SAMPLE_TAILS && self->n > 0; i++)
    {
      float low = (float) (exact_sum_get (&self->low[i]) / (double) self->n);
      float high = (float) (exact_sum_get (&self->high[i]) / (double) self->n);

      if (!(low >= min && low <= max && high >= min && high <= max))
        return FALSE;
    }
  return TRUE;
}
