/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The histogram of a tensor after a clamp, from the one before it. A bound lies in some bin: what is beyond it moves
 * into this very bin, and what is not stays where it is, so the result is exact. */

#include "vn-histogram-private.h"

#include <math.h>

typedef struct
{
  VnHistogram *to;
  float        min, max;
} Clamp;

static float
histogram_clamp_clamped (const Clamp *self,
                         float        v)
{
  v = v < self->min ? self->min : v;
  return v > self->max ? self->max : v;
}

static void
histogram_clamp_add (const Clamp *self,
                     float        from,
                     guint64      count)
{
  float v = histogram_clamp_clamped (self, from);
  guint32 bits = vn_float_bits (v);

  if (v == 0)
    self->to->n_zero += count;
  else if (isinf (v))
    *(v > 0 ? &self->to->n_pos_inf : &self->to->n_neg_inf) += count;
  else
    vn_histogram_page (self->to, bits >> 23)[(bits >> 16) % VN_HISTOGRAM_PAGE_BINS] += count;
}

/* Adding 0 makes -0 a 0. */
static void
histogram_clamp_extend (const Clamp *self,
                        float        from)
{
  float v = histogram_clamp_clamped (self, from) + 0.0f;

  if (isinf (v))
    return;
  self->to->min = MIN (self->to->min, v);
  self->to->max = MAX (self->to->max, v);
}

/* The outer end stands for a bin: the inner end of the innermost ones is 0, which they do not hold. */
static void
histogram_clamp_add_page (const Clamp   *self,
                          const guint64 *counts,
                          guint          page)
{
  for (guint m = 0; m < VN_HISTOGRAM_PAGE_BINS; m++)
    if (counts[m] > 0)
      histogram_clamp_add (self, vn_float_from_bits ((guint32) (page * VN_HISTOGRAM_PAGE_BINS + m) << 16 | 0xffff), counts[m]);
}

/**
 * vn_histogram_new_clamped:
 * @min, @max: @min not above @max, neither NaN
 *
 * Returns: (transfer full): what would have been counted had every element x been min (max (x, @min), @max)
 */
VnHistogram *
vn_histogram_new_clamped (const VnHistogram *self,
                          float              min,
                          float              max)
{
  const Clamp clamp = { vn_histogram_new (), min, max };

  g_return_val_if_fail (self != NULL, NULL);

  clamp.to->n = self->n;
  clamp.to->n_nan = self->n_nan;
  if (vn_histogram_n_finite (self) > 0)
    {
      histogram_clamp_extend (&clamp, self->min);
      histogram_clamp_extend (&clamp, self->max);
    }
  if (self->n_zero > 0)
    histogram_clamp_add (&clamp, 0, self->n_zero);
  if (self->n_neg_inf > 0)
    {
      histogram_clamp_add (&clamp, (float) -INFINITY, self->n_neg_inf);
      histogram_clamp_extend (&clamp, (float) -INFINITY);
    }
  if (self->n_pos_inf > 0)
    {
      histogram_clamp_add (&clamp, (float) INFINITY, self->n_pos_inf);
      histogram_clamp_extend (&clamp, (float) INFINITY);
    }
  VN_HISTOGRAM_FOREACH_PAGE (self, p)
    histogram_clamp_add_page (&clamp, vn_histogram_get_page (self, p), p);
  return clamp.to;
}

/**
 * vn_histogram_new_within:
 * @min, @max: @min not above @max
 *
 * Returns: (transfer full): what would have been counted of the finite elements from @min to @max alone, a bin whole or not at
 *   all; of single samples, votes and channels it knows nothing
 */
VnHistogram *
vn_histogram_new_within (const VnHistogram *self,
                         float              min,
                         float              max)
{
  VnHistogram *within;

  g_return_val_if_fail (self != NULL, NULL);

  within = vn_histogram_new ();
  within->n = within->n_zero = min <= 0 && max >= 0 ? self->n_zero : 0;
  VN_HISTOGRAM_FOREACH_PAGE (self, p)
    for (guint m = 0; m < VN_HISTOGRAM_PAGE_BINS; m++)
      {
        const float inner = vn_float_from_bits ((guint32) (p * VN_HISTOGRAM_PAGE_BINS + m) << 16);
        const guint64 count = vn_histogram_get_page (self, p)[m];

        if (count == 0 || inner < min || inner > max)
          continue;
        vn_histogram_page (within, p)[m] = count;
        within->n += count;
      }
  if (within->n > 0)
    {
      within->min = MAX (self->min, min);
      within->max = MIN (self->max, max);
    }
  return within;
}
