/* SPDX-License-Identifier: GPL-3.0-or-later */

/* ACIQ: after Banner and others, "Post training 4-bit quantization of convolutional networks for rapid-deployment"
 * (2019). The values are taken to follow a known distribution around their mean, and the threshold t, in units of its
 * width, is where the squared error of clipping falls as fast as that of rounding grows. With B bits for 2 t:
 *
 *   Gauss, width = standard deviation:       4 (phi (t) - t Q (t)) = 2 t / (3 4^B)
 *   Laplace, width = mean absolute deviation:        exp (-t) = t / (3 4^B)
 *
 * phi is the density, Q the tail. Values of one sign are half of such a distribution around 0: the levels are twice as
 * dense, which is one more bit; zeros (what ReLU cut off) say nothing of its width. */

#include "vn-range-private.h"

#include <math.h>

typedef struct
{
  double mean;
  double n, sum, squares, deviations;
} Moments;

static void
range_aciq_add_sums (const VnBin *bin,
                     gpointer     data)
{
  Moments *self = data;

  self->n += (double) bin->count;
  self->sum += (double) bin->count * ((double) bin->lo + (double) bin->hi) / 2;
}

static void
range_aciq_add_deviations (const VnBin *bin,
                           gpointer     data)
{
  Moments *self = data;
  const double lo = bin->lo - self->mean, hi = bin->hi - self->mean, width = hi - lo;

  /* over a bin of even density; one that holds the mean is split there */
  self->squares += (double) bin->count * (lo * lo + lo * hi + hi * hi) / 3;
  self->deviations += (double) bin->count * (lo < 0 && hi > 0 ? (lo * lo + hi * hi) / (2 * width)
                                                              : fabs (lo + hi) / 2);
}

/* What grows less what falls, at @t. */
static double
range_aciq_gauss_slope (double t,
                        double levels)
{
  return 2 * t / (3 * levels) - 4 * (exp (-t * t / 2) / sqrt (2 * G_PI) - t * erfc (t / G_SQRT2) / 2);
}

static double
range_aciq_laplace_slope (double t,
                          double levels)
{
  return t / (3 * levels) - exp (-t);
}

/*< private >
 * vn_range_aciq_threshold:
 * @gauss: else Laplace
 * @bits: for both signs
 *
 * Returns: the best threshold in units of the distribution's width
 */
double
vn_range_aciq_threshold (gboolean gauss,
                         guint    bits)
{
  const double levels = exp2 (2.0 * bits);
  double lo = 0, hi = 100;

  for (guint i = 0; i < 100; i++)
    {
      double t = (lo + hi) / 2;

      if ((gauss ? range_aciq_gauss_slope (t, levels) : range_aciq_laplace_slope (t, levels)) < 0)
        lo = t;
      else
        hi = t;
    }
  return hi;
}

static gboolean
aciq_range (const VnHistogram      *histogram,
            const VnRangeSettings  *settings,
            gboolean                gauss,
            VnRange                *range,
            GError                **error)
{
  const gboolean one_sided = vn_range_is_one_sided (histogram, settings);
  Moments moments = { 0 };
  double width, t;

  if (!vn_range_check (histogram, error))
    return FALSE;
  *range = (VnRange) { histogram->min, histogram->max };
  if (histogram->min == histogram->max)
    return TRUE;

  vn_histogram_foreach (histogram, range_aciq_add_sums, &moments);
  if (one_sided)
    moments.n -= (double) histogram->n_zero;
  else if (!settings->symmetric)
    moments.mean = moments.sum / moments.n;
  vn_histogram_foreach (histogram, range_aciq_add_deviations, &moments);
  width = gauss ? sqrt (moments.squares / moments.n) : moments.deviations / moments.n;
  t = width * vn_range_aciq_threshold (gauss, vn_range_get_bits (settings) + one_sided);
  vn_range_clip (range, moments.mean - t, moments.mean + t);
  vn_range_make_symmetric (range, settings);
  return TRUE;
}

static gboolean
range_aciq_gauss (const VnHistogram      *histogram,
                  const VnRangeSettings  *settings,
                  VnRange                *range,
                  GError                **error)
{
  return aciq_range (histogram, settings, TRUE, range, error);
}

static gboolean
range_aciq_laplace (const VnHistogram      *histogram,
                    const VnRangeSettings  *settings,
                    VnRange                *range,
                    GError                **error)
{
  return aciq_range (histogram, settings, FALSE, range, error);
}

const VnRangeMethod vn_range_aciq_gauss = {
  .id = "aciq-gauss",
  .title = N_("ACIQ, normal distribution"),
  .summary = N_("Clips at the optimum for a normal distribution with the observed variance"),
  .letter = 'U',
  .range = range_aciq_gauss,
};

const VnRangeMethod vn_range_aciq_laplace = {
  .id = "aciq-laplace",
  .title = N_("ACIQ, Laplace distribution"),
  .summary = N_("Clips at the optimum for a Laplace distribution with the observed mean absolute deviation"),
  .letter = 'C',
  .range = range_aciq_laplace,
};
