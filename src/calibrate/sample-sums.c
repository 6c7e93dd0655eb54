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
const double vn_sample_shares[VN_SAMPLE_TAILS] = { 1, 0.999999, 0.99999, 0.9999, 0.999, 0.99 };

/* ---- exact sums ---- */

static void
sample_sums_exact_sum_merge (VnExactSum       *self,
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
sample_sums_exact_sum_negate (VnExactSum *self)
{
  gboolean carry = TRUE;

  for (guint i = 0; i < N_LIMBS; i++)
    {
      self->limbs[i] = ~self->limbs[i] + carry;
      carry = carry && self->limbs[i] == 0;
    }
}

/* Adds @carry to the limbs from @limb on, or takes it away. */
static inline void
sample_sums_exact_sum_carry (VnExactSum *self,
                             guint       limb,
                             guint64     carry,
                             gboolean    takes)
{
  for (guint i = limb; i < N_LIMBS && carry > 0; i++)
    {
      const guint64 before = self->limbs[i];

      self->limbs[i] = takes ? before - carry : before + carry;
      carry = takes ? before < carry : self->limbs[i] < carry;
    }
}

static void
sample_sums_exact_sum_add (VnExactSum *self,
                           float       x)
{
  const guint32 bits = vn_float_bits (x);
  const guint32 exponent = (bits & VN_FLOAT_ABS) >> 23;
  const guint64 mantissa = (bits & 0x7fffff) | (exponent > 0 ? 0x800000u : 0);
  const guint shift = exponent > 0 ? exponent - 1 : 0, limb = shift / 64;
  const guint64 low = mantissa << shift % 64, high = shift % 64 > 40 ? mantissa >> (64 - shift % 64) : 0;

  if (bits >> 31)
    {
      const guint64 more = high + (self->limbs[limb] < low);   /* at most 2^24 */

      self->limbs[limb] -= low;
      sample_sums_exact_sum_carry (self, limb + 1, more, TRUE);
    }
  else
    {
      self->limbs[limb] += low;
      sample_sums_exact_sum_carry (self, limb + 1, high + (self->limbs[limb] < low), FALSE);
    }
}

static double
sample_sums_exact_sum_get (const VnExactSum *self)
{
  const gboolean negative = self->limbs[N_LIMBS - 1] >> 63;
  VnExactSum magnitude = *self;
  double sum = 0;

  if (negative)
    sample_sums_exact_sum_negate (&magnitude);
  for (guint i = N_LIMBS; i-- > 0;)
    sum += ldexp ((double) magnitude.limbs[i], (int) (64 * i) + SMALLEST_EXPONENT);
  return negative ? -sum : sum;
}

/* ---- samples ---- */

/**
 * vn_sample_sums_add_tails:
 * @min, @max: what the values are clamped to; infinite: they are not
 *
 * Adds one sample.
 */
void
vn_sample_sums_add_tails (VnSampleSums        *self,
                          const VnSampleTails *tails,
                          float                min,
                          float                max)
{
  for (guint i = 0; i < VN_SAMPLE_TAILS; i++)
    {
      sample_sums_exact_sum_add (&self->low[i], CLAMP (tails->low[i], min, max));
      sample_sums_exact_sum_add (&self->high[i], CLAMP (tails->high[i], min, max));
    }
  self->n++;
}

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
      sample_sums_exact_sum_merge (&self->low[i], &from->low[i]);
      sample_sums_exact_sum_merge (&self->high[i], &from->high[i]);
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
  while (i + 1 < VN_SAMPLE_TAILS && outside > (1 - vn_sample_shares[i + 1]) * (1 - 1e-9))
    i++;
  if (i + 1 < VN_SAMPLE_TAILS && outside > 0)
    t = i == 0 ? outside / (1 - vn_sample_shares[1])
               : log (outside / (1 - vn_sample_shares[i])) / log ((1 - vn_sample_shares[i + 1]) / (1 - vn_sample_shares[i]));
  *min = sample_sums_exact_sum_get (&self->low[i]) / (double) self->n;
  *max = sample_sums_exact_sum_get (&self->high[i]) / (double) self->n;
  if (t > 1e-6)
    {
      *min += t * (sample_sums_exact_sum_get (&self->low[i + 1]) / (double) self->n - *min);
      *max += t * (sample_sums_exact_sum_get (&self->high[i + 1]) / (double) self->n - *max);
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
      float low = (float) (sample_sums_exact_sum_get (&self->low[i]) / (double) self->n);
      float high = (float) (sample_sums_exact_sum_get (&self->high[i]) / (double) self->n);

      if (!(low >= min && low <= max && high >= min && high <= max))
        return FALSE;
    }
  return TRUE;
}
