/* SPDX-License-Identifier: GPL-3.0-or-later */

/* OCTAV: after Sakr and others, "Optimal Clipping and Magnitude-aware Differentiation" (2022). The threshold s of least
 * squared error is a fixed point of
 *
 *   s = sum of |x| beyond s / (4^-B / 3 * number of 0 < |x| <= s + number of |x| > s)
 *
 * found by Newton's method from the mean magnitude, which takes a few steps. 4^-B / 3 is the error of rounding with B
 * bits for both signs in units of s^2; where one sign has all levels it is a quarter of that. */

#include "vn-range-private.h"

#include <math.h>

#define MAX_STEPS 20

typedef struct
{
  double  s;
  double  sum, n;        /* beyond s */
} Beyond;

/* Elements are taken as evenly spread over their bin. */
static void
range_octav_add_beyond (const VnBin *bin,
                        gpointer     data)
{
  Beyond *self = data;
  const double lo = bin->lo, hi = bin->hi;
  const double share = lo > self->s ? 1 : hi <= self->s || !(hi > lo) ? 0 : (hi - self->s) / (hi - lo);
  const double n = share * (double) bin->count;

  self->n += n;
  self->sum += n * (MAX (lo, MIN (self->s, hi)) + hi) / 2;
}

static double
range_octav_next_step (const VnHistogram *folded,
                       double             s,
                       double             noise)
{
  Beyond beyond = { .s = s };
  const double n = (double) (vn_histogram_n_finite (folded) - folded->n_zero);

  vn_histogram_foreach (folded, range_octav_add_beyond, &beyond);
  return beyond.sum / (noise * (n - beyond.n) + beyond.n);
}

static gboolean
octav_range (const VnHistogram      *histogram,
             const VnRangeSettings  *settings,
             VnRange                *range,
             GError                **error)
{
  const gboolean one_sided = vn_range_is_one_sided (histogram, settings);
  const double noise = exp2 (-2.0 * vn_range_get_bits (settings)) / (one_sided ? 12 : 3);
  g_autoptr(VnHistogram) folded = NULL;
  double s = 0, last;

  if (!vn_range_check (histogram, error))
    return FALSE;
  *range = (VnRange) { histogram->min, histogram->max };
  if (histogram->min == histogram->max)
    return TRUE;
  folded = vn_histogram_fold_signs (histogram);
  for (guint i = 0; i < MAX_STEPS; i++)
    {
      last = s;
      s = range_octav_next_step (folded, s, noise);
      if (!(fabs (s - last) > 1e-6 * s))
        break;
    }
  vn_range_clip (range, -s, s);
  vn_range_make_symmetric (range, settings);
  return TRUE;
}

const VnRangeMethod vn_range_octav = {
  .id = "octav",
  .title = N_("OCTAV"),
  .summary = N_("Clips where rounding and clipping errors are equal, found by Newton's method"),
  .letter = 'O',
  .range = octav_range,
};
