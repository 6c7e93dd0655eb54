/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Scales that are powers of two, 2^-p, as AMD's quantizers choose them.
 *
 * nonoverflow: the scale of minmax, its logarithm rounded to the nearest integer. That may make it smaller by up to
 * sqrt (2), so that, in spite of the name, values can be clipped.
 *
 * minmse: from the position p of nonoverflow, p - 1, p ... p + 3 are tried in this order with the zero point left where
 * it is; the first of least squared error is taken.
 *
 * minmse-common: the position that minmse finds for the most samples, each taken alone; of several the greatest, which is
 * that of the smallest scale. As with AMD's quantizers that is for symmetric ranges; else, and of a constant, it is minmse.
 *
 * The range that is handed out is that of the levels. */

#include "vn-range-private.h"

#include "vn-error.h"

#include <math.h>

#define N_POSITIONS 5

static void
range_power_seen (const VnHistogram     *histogram,
                  const VnRangeSettings *settings,
                  VnRange               *range)
{
  *range = (VnRange) { histogram->min, histogram->max };
  vn_range_make_symmetric (range, settings);
}

static gboolean
range_power_nonoverflow (const VnHistogram      *histogram,
                         const VnRangeSettings  *settings,
                         VnRange                *range,
                         GError                **error)
{
  VnRangeGrid grid;

  if (!vn_range_check (histogram, error))
    return FALSE;
  range_power_seen (histogram, settings, range);
  vn_range_get_grid (range, settings, &grid);
  grid.scale = vn_position_get_scale (vn_scale_get_position (grid.scale, VN_POWER_NEAREST));
  vn_range_from_grid (range, &grid);
  return TRUE;
}

typedef double (*ErrorFunc) (gconstpointer      data,
                             const VnRangeGrid *grid,
                             double             enough);

static double
range_power_error_of_histogram (gconstpointer      data,
                                const VnRangeGrid *grid,
                                double             enough)
{
  return vn_rounding_table_get (data, grid->scale, (grid->qmin - grid->zero) * grid->scale,
                                (grid->qmax - grid->zero) * grid->scale, enough);
}

typedef struct
{
  const float *x;
  gsize        n;
} Elements;

static double
range_power_error_of_elements (gconstpointer      data,
                               const VnRangeGrid *grid,
                               double             enough)
{
  const Elements *elements = data;
  double sum = 0;

  for (gsize i = 0; i < elements->n && sum < enough; i++)
    {
      double q = CLAMP (rint ((double) elements->x[i] / grid->scale) + grid->zero, grid->qmin, grid->qmax);
      double difference = (double) elements->x[i] - (q - grid->zero) * grid->scale;

      if (isfinite (elements->x[i]))
        sum += difference * difference;
    }
  return sum;
}

static void
range_power_search (ErrorFunc      func,
                    gconstpointer  data,
                    VnRangeGrid   *grid)
{
  const int first = vn_scale_get_position (grid->scale, VN_POWER_NEAREST) - 1;
  double least = INFINITY;
  int best = first + 1;

  for (int p = first; p < first + N_POSITIONS; p++)
    {
      double error;

      grid->scale = vn_position_get_scale (p);
      error = func (data, grid, least);
      if (error < least)
        {
          least = error;
          best = p;
        }
    }
  grid->scale = vn_position_get_scale (best);
}

static gboolean
range_power_minmse (const VnHistogram      *histogram,
                    const VnRangeSettings  *settings,
                    VnRange                *range,
                    GError                **error)
{
  g_autoptr(VnRoundingTable) table = NULL;
  VnRangeGrid grid;

  if (!vn_range_check (histogram, error))
    return FALSE;
  range_power_seen (histogram, settings, range);
  vn_range_get_grid (range, settings, &grid);
  table = vn_rounding_table_new (histogram);
  range_power_search (range_power_error_of_histogram, table, &grid);
  vn_range_from_grid (range, &grid);
  return TRUE;
}

/*< private >
 * vn_range_find_position:
 * @table: of @histogram
 * @low, @high: the levels, counted from the zero point
 *
 * Returns: p, where minmse would choose the scale 2^-p for symmetric values
 */
int
vn_range_find_position (const VnHistogram     *histogram,
                        const VnRoundingTable *table,
                        double                 low,
                        double                 high)
{
  const VnRangeSettings settings = { .symmetric = TRUE, .qmin = (gint64) low, .qmax = (gint64) high };
  VnRange range;
  VnRangeGrid grid;

  range_power_seen (histogram, &settings, &range);
  vn_range_get_grid (&range, &settings, &grid);
  range_power_search (range_power_error_of_histogram, table, &grid);
  return vn_scale_get_position (grid.scale, VN_POWER_NEAREST);
}

static gboolean
range_power_minmse_common (const VnHistogram      *histogram,
                           const VnRangeSettings  *settings,
                           VnRange                *range,
                           GError                **error)
{
  VnRangeGrid grid;
  guint64 n_votes;
  int position = 0;

  if (!vn_range_check (histogram, error))
    return FALSE;
  if (!settings->symmetric || histogram->samples.n == 0)
    return range_power_minmse (histogram, settings, range, error);
  range_power_seen (histogram, settings, range);
  vn_range_get_grid (range, settings, &grid);
  /* The grid of a range that is too small to scale has its zero point elsewhere. */
  grid.zero = rint ((grid.qmin + grid.qmax) / 2);
  n_votes = vn_position_votes_get (&histogram->votes, grid.qmin - grid.zero, grid.qmax - grid.zero, &position);
  if (n_votes != histogram->samples.n)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   ngettext ("The statistics hold the best power of two for only %llu of %llu sample; calibrate again with the "
                             "method “minmse-common”, or choose “minmse”",
                             "The statistics hold the best power of two for only %llu of %llu samples; calibrate again with "
                     "the method “minmse-common”, or choose “minmse”", (gulong) histogram->samples.n),
                   (unsigned long long) n_votes, (unsigned long long) histogram->samples.n);
      return FALSE;
    }
  grid.scale = vn_position_get_scale (position);
  vn_range_from_grid (range, &grid);
  return TRUE;
}

static gboolean
range_power_minmse_range_of_data (const float            *x,
                                  gsize                   n,
                                  const VnRangeSettings  *settings,
                                  VnRange                *range,
                                  GError                **error)
{
  const Elements elements = { x, n };
  VnRangeGrid grid;
  float min = 0, max = 0;

  for (gsize i = 0; i < n; i++)
    if (isfinite (x[i]))
      {
        min = MIN (min, x[i]);
        max = MAX (max, x[i]);
      }
  *range = (VnRange) { min, max };
  vn_range_make_symmetric (range, settings);
  vn_range_get_grid (range, settings, &grid);
  range_power_search (range_power_error_of_elements, &elements, &grid);
  vn_range_from_grid (range, &grid);
  return TRUE;
}

const VnRangeMethod vn_range_nonoverflow = {
  .id = "nonoverflow",
  .title = N_("Power of two, nearest"),
  /* xgettext:no-c-format */
  .summary = N_("AMD's NonOverflow: the power of two nearest to the scale of the full range; despite its name it may "
                "clip up to 30 % of that, which “minmax” with power-of-two does not"),
  .letter = 'N',
  .range = range_power_nonoverflow,
  .power_of_two = TRUE,
};

const VnRangeMethod vn_range_minmse = {
  .id = "minmse",
  .title = N_("Power of two, minimum MSE"),
  .summary = N_("AMD's MinMSE: the best of five powers of two by squared error"),
  .letter = 'W',
  .range = range_power_minmse,
  .range_of_data = range_power_minmse_range_of_data,
  .power_of_two = TRUE,
};

const VnRangeMethod vn_range_minmse_common = {
  .id = "minmse-common",
  .title = N_("Power of two, most common over samples"),
  .summary = N_("AMD's MinMSE in MostCommon mode: takes the best power of two of each sample, then the most frequent one"),
  .letter = 'T',
  .range = range_power_minmse_common,
  .range_of_data = range_power_minmse_range_of_data,
  .power_of_two = TRUE,
  .by_votes = TRUE,
};
