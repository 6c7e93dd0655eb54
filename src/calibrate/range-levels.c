/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the methods share: checks, levels of types, grids, powers of two. */
#include "vn-range-private.h"

#include "vn-error.h"

#include <float.h>
#include <math.h>

/* A range needs a finite value. */
gboolean
vn_range_check (const VnHistogram  *histogram,
                GError            **error)
{
  if (vn_histogram_n_finite (histogram) > 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_NUMERIC,
               _("No finite values were observed (%llu NaN, %llu infinite)"),
               (unsigned long long) histogram->n_nan,
               (unsigned long long) (histogram->n_pos_inf + histogram->n_neg_inf));
  return FALSE;
}

/* From the percentile that settings hold. */
gboolean
vn_range_check_percentile (const VnRangeSettings  *settings,
                           GError                **error)
{
  if (settings->percentile > 0 && settings->percentile <= 100)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("The percentile is %g; it must be above 0 and at most 100"),
               settings->percentile);
  return FALSE;
}

guint
vn_range_get_bits (const VnRangeSettings *settings)
{
  return settings->bits > 0 ? CLAMP (settings->bits, 2, 32) : 8;
}

/* The integers a scale is made for. */
static void
range_levels_get_levels (const VnRangeSettings *settings,
                         double                *qmin,
                         double                *qmax)
{
  const double half = exp2 (vn_range_get_bits (settings) - 1);

  *qmin = settings->qmax > settings->qmin ? (double) settings->qmin : settings->symmetric ? 1 - half : 0;
  *qmax = settings->qmax > settings->qmin ? (double) settings->qmax : settings->symmetric ? half - 1 : 2 * half - 1;
}

/* How many steps of the scale make the range. */
double
vn_range_get_steps (const VnRangeSettings *settings)
{
  double qmin, qmax;

  range_levels_get_levels (settings, &qmin, &qmax);
  return qmax - qmin;
}

/* Whether all levels serve values of one sign. */
gboolean
vn_range_is_one_sided (const VnHistogram     *histogram,
                       const VnRangeSettings *settings)
{
  return !settings->symmetric && (histogram->min >= 0 || histogram->max <= 0);
}

/* -m .. m with m the greatest magnitude, if the settings ask for it. */
void
vn_range_make_symmetric (VnRange               *range,
                         const VnRangeSettings *settings)
{
  if (!settings->symmetric)
    return;
  range->max = MAX (fabs (range->min), fabs (range->max));
  range->min = -range->max;
}

/* Cuts the range to @min .. @max, of which it holds a part: else it becomes the nearer end. */
void
vn_range_clip (VnRange *range,
               double   min,
               double   max)
{
  range->min = CLAMP (min, range->min, range->max);
  range->max = CLAMP (max, range->min, range->max);
}

/* Widens the range upwards until the scale is @min_scale. */
void
vn_range_raise_scale (VnRange               *range,
                      const VnRangeSettings *settings,
                      double                 min_scale)
{
  const double least = min_scale * vn_range_get_steps (settings);
  const double lo = MIN (range->min, 0), hi = MAX (range->max, 0);

  if (hi - lo >= least)
    return;
  range->max = settings->symmetric ? least / 2 : lo + least;
  range->min = settings->symmetric ? -range->max : lo;
}

/*< private >
 * vn_range_get_grid:
 * @grid: (out): levels of the type over @range, made to hold 0; of scale 1 where the range is too small for a float
 */
void
vn_range_get_grid (const VnRange         *range,
                   const VnRangeSettings *settings,
                   VnRangeGrid           *grid)
{
  VnRange wide = { MIN (range->min, 0), MAX (range->max, 0) };

  vn_range_make_symmetric (&wide, settings);
  range_levels_get_levels (settings, &grid->qmin, &grid->qmax);
  grid->scale = (wide.max - wide.min) / (grid->qmax - grid->qmin);
  if (grid->scale < FLT_MIN)
    {
      grid->scale = 1;
      grid->zero = CLAMP (0, grid->qmin, grid->qmax);
      return;
    }
  grid->zero = rint (settings->symmetric ? (grid->qmin + grid->qmax) / 2 : grid->qmin - wide.min / grid->scale);
}

void
vn_range_from_grid (VnRange           *range,
                    const VnRangeGrid *grid)
{
  range->min = (grid->qmin - grid->zero) * grid->scale;
  range->max = (grid->qmax - grid->zero) * grid->scale;
}

/*< private >
 * vn_range_get_error:
 * @enough: the error need not be known better once it reaches this
 *
 * Returns: the sum of squared errors of the values in @table with the levels of the settings' type over @range
 */
double
vn_range_get_error (const VnRoundingTable *table,
                    const VnRange         *range,
                    const VnRangeSettings *settings,
                    double                 enough)
{
  VnRangeGrid grid;
  VnRange ends;

  vn_range_get_grid (range, settings, &grid);
  vn_range_from_grid (&ends, &grid);
  return vn_rounding_table_get (table, grid.scale, ends.min, ends.max, enough);
}

/* A copy of @self with all finite mass on the positive side; its minimum says nothing. */
VnHistogram *
vn_histogram_fold_signs (const VnHistogram *self)
{
  const guint half = VN_HISTOGRAM_PAGES / 2;
  VnHistogram *sum = vn_histogram_new ();

  sum->n = vn_histogram_n_finite (self);
  sum->n_zero = self->n_zero;
  sum->max = MAX (fabsf (self->min), fabsf (self->max));
  sum->min = 0;
  VN_HISTOGRAM_FOREACH_PAGE (self, p)
    {
      const guint64 *counts = vn_histogram_get_page (self, p);
      guint64 *page = vn_histogram_page (sum, p % half);

      for (guint m = 0; m < VN_HISTOGRAM_PAGE_BINS; m++)
        page[m] += counts[m];
    }
  return sum;
}

/* ---- powers of two ---- */

/**
 * vn_scale_get_position:
 * @scale: cut to 2^-127 .. 2^127; NaN counts as the least
 * @rounding: of the logarithm of the scale
 *
 * Returns: p, where 2^-p is the power of two for @scale
 */
int
vn_scale_get_position (double          scale,
                       VnPowerRounding rounding)
{
  const double log = log2 (scale > 0x1p-127 ? MIN (scale, 0x1p127) : 0x1p-127);

  switch (rounding)
    {
    case VN_POWER_UP:
      return -(int) ceil (log);
    case VN_POWER_HALF_UP:
      return -(int) floor (log + 0.5);
    case VN_POWER_NEAREST:
    default:
      return (int) rint (-log);
    }
}

/**
 * vn_position_get_scale:
 *
 * Returns: 2^-@position
 */
double
vn_position_get_scale (int position)
{
  return ldexp (1, -position);
}
