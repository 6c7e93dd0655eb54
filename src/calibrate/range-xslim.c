/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The default observer of XSlim: 4096 bins of equal width over everything seen. Candidates are the averaged percentile
 * range, and every range that starts at a multiple of a step and whose length is the number of levels plus a multiple
 * of the step, the step being two bins for each level's share of all (32 for 256 levels). Each has two costs:
 *
 *   KL   sum p log10 (p / q), where p is the range with all that lies outside added to its end bins, and q the range
 *        merged into groups of ceil (length / levels) bins and spread again over the bins of a group that are not empty
 *   MSE  sum over bins of their share times the squared distance, in bins, to the nearest end of a step of
 *        length / levels bins, or to the end of the range
 *
 * xslim-kl and xslim-mse look at one cost. xslim: the least KL + lambda MSE is taken; lambda is the root of the mean of (KL / MSE)^2 over the ten candidates of least
 * MSE. With more than 1024 levels it is the percentile range. Scales below 2^-23 are raised to that.
 *
 * Here KL follows the formula; XSlim 2.1.1 evaluates it for many candidates at once and then mistakes where they end. */

#include "vn-range-sums.h"

#include <math.h>

#define BINS VN_RANGE_SUMS_BINS
#define MAX_LEVELS 1024
#define N_BEST 10
#define MIN_SCALE 0x1p-23

typedef struct
{
  guint  start, length;         /* in bins, inside the histogram */
  double lo, hi;                /* the range, which may end behind the histogram */
  double kl, mse;
} Candidate;

/* sum c (i - at)^2 over bins from .. to - 1 */
static double
range_xslim_squares_around (const VnRangeSums *self,
                            guint              from,
                            guint              to,
                            double             at)
{
  return self->second[to] - self->second[from] - 2 * at * (self->first[to] - self->first[from]) +
         at * at * (self->mass[to] - self->mass[from]);
}

static double
range_xslim_get_mse (const VnRangeSums *self,
                     guint              start,
                     guint              end,
                     guint              levels)
{
  const double step = MAX ((double) (end - start) / levels, 1), middle = (step - 1) / 2;
  double sum = range_xslim_squares_around (self, 0, start, start - 0.5) + range_xslim_squares_around (self, end, BINS, end - 0.5);
  double at = 0;

  for (guint i = start; i < end; i++)
    {
      double distance = middle - fabs (at - middle) + 0.5;

      sum += self->counts[i] * distance * distance;
      at += 1;
      /* the sum of ones and steps that are multiples of 1 / levels is exact */
      at -= at >= step ? step : 0;
    }
  return sum / self->mass[BINS];
}

typedef enum { COST_BOTH, COST_KL, COST_MSE } Cost;

static void
range_xslim_add_candidate (GArray            *candidates,
                           const VnRangeSums *sums,
                           Cost               cost,
                           guint              start,
                           guint              length,
                           guint              levels,
                           double             lo,
                           double             hi)
{
  guint end = MIN (start + length, BINS);
  Candidate candidate = { start, end - start, lo, hi, 0, 0 };

  if (cost != COST_MSE)
    candidate.kl = vn_range_sums_get_kl (sums, start, end, levels);
  if (cost != COST_KL)
    candidate.mse = range_xslim_get_mse (sums, start, end, levels);

  g_array_append_val (candidates, candidate);
}

static int
range_xslim_compare_mse (gconstpointer a,
                         gconstpointer b)
{
  const Candidate *x = *(const Candidate * const *) a, *y = *(const Candidate * const *) b;

  if (x->mse != y->mse)
    return x->mse < y->mse ? -1 : 1;
  if (x->kl != y->kl)
    return x->kl < y->kl ? -1 : 1;
  return x < y ? -1 : 1;
}

static double
range_xslim_get_lambda (GArray *candidates)
{
  g_autofree const Candidate **sorted = g_new (const Candidate *, candidates->len);
  const guint n = MIN (N_BEST, candidates->len);
  double sum = 0;

  for (guint i = 0; i < candidates->len; i++)
    sorted[i] = &g_array_index (candidates, Candidate, i);
  qsort (sorted, candidates->len, sizeof *sorted, range_xslim_compare_mse);
  for (guint i = 0; i < n; i++)
    sum += isfinite (sorted[i]->kl) ? (sorted[i]->kl / sorted[i]->mse) * (sorted[i]->kl / sorted[i]->mse) : 0;
  return sqrt (sum / n);
}

static void
range_xslim_add_candidates (GArray            *candidates,
                            const VnRangeSums *sums,
                            Cost               cost,
                            const VnRange     *seen,
                            const VnRange     *percentile,
                            guint              levels)
{
  const double width = (seen->max - seen->min) / BINS;
  const guint step = BINS / levels * 2;
  const guint first = (guint) CLAMP (floor ((percentile->min - seen->min) / width), 0, BINS - 1);
  const guint length = (guint) CLAMP (ceil ((percentile->max - percentile->min) / width), 1, BINS);

  range_xslim_add_candidate (candidates, sums, cost, first, length, levels, percentile->min, percentile->max);
  for (guint start = 0; start < BINS; start += step)
    for (guint n = levels; n < BINS - start + step - 1; n += step)
      range_xslim_add_candidate (candidates, sums, cost, start, n, levels, seen->min + start * width,
                                 seen->min + start * width + n * width);
}

/* The weights of the two costs; the first of least cost counts. */
static void
range_xslim_choose_candidate (GArray  *candidates,
                              double   of_kl,
                              double   of_mse,
                              VnRange *range)
{
  double least = INFINITY;

  for (guint i = 0; i < candidates->len; i++)
    {
      const Candidate *candidate = &g_array_index (candidates, Candidate, i);
      double cost = (of_kl > 0 ? of_kl * candidate->kl : 0) + of_mse * candidate->mse;

      if (cost < least)
        {
          least = cost;
          *range = (VnRange) { candidate->lo, candidate->hi };
        }
    }
}

static gboolean
range_xslim_search (const VnHistogram      *histogram,
                    const VnRangeSettings  *settings,
                    Cost                    cost,
                    VnRange                *range,
                    GError                **error)
{
  const VnRange seen = { histogram->min, histogram->max };
  const guint levels = (guint) MIN (vn_range_get_steps (settings) + 1, MAX_LEVELS + 1);
  g_autoptr(GArray) candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  g_autofree VnRangeSums *sums = NULL;

  if (!vn_range_check_percentile (settings, error) || !vn_range_check (histogram, error))
    return FALSE;
  vn_range_get_average (histogram, settings->percentile, range);
  if (!(range->max - range->min >= MIN_SCALE))
    *range = seen;
  else if (levels <= MAX_LEVELS)
    {
      const VnRange percentile = *range;

      sums = g_new (VnRangeSums, 1);
      vn_histogram_linear (histogram, seen.min, seen.max, sums->counts, BINS);
      vn_range_sums_make_whole (sums);
      vn_range_sums_update (sums);
      range_xslim_add_candidates (candidates, sums, cost, &seen, &percentile, levels);
      range_xslim_choose_candidate (candidates, cost != COST_MSE, cost == COST_BOTH ? range_xslim_get_lambda (candidates) : cost == COST_MSE, range);
    }
  vn_range_make_symmetric (range, settings);
  vn_range_raise_scale (range, settings, MIN_SCALE);
  return TRUE;
}

static gboolean
xslim_range (const VnHistogram      *histogram,
             const VnRangeSettings  *settings,
             VnRange                *range,
             GError                **error)
{
  return range_xslim_search (histogram, settings, COST_BOTH, range, error);
}

static gboolean
xslim_kl_range (const VnHistogram      *histogram,
                const VnRangeSettings  *settings,
                VnRange                *range,
                GError                **error)
{
  return range_xslim_search (histogram, settings, COST_KL, range, error);
}

static gboolean
xslim_mse_range (const VnHistogram      *histogram,
                 const VnRangeSettings  *settings,
                 VnRange                *range,
                 GError                **error)
{
  return range_xslim_search (histogram, settings, COST_MSE, range, error);
}

const VnRangeMethod vn_range_xslim = {
  .id = "xslim",
  .title = N_("XSlim"),
  .summary = N_("XSlim's default: divergence and squared error weighed against each other over thousands of ranges"),
  .letter = 'X',
  .uses_percentile = TRUE,
  .range = xslim_range,
};

const VnRangeMethod vn_range_xslim_kl = {
  .id = "xslim-kl",
  .title = N_("XSlim, divergence only"),
  .summary = N_("What XSlim calls kl: the range of its search with the least divergence"),
  .letter = 'D',
  .uses_percentile = TRUE,
  .range = xslim_kl_range,
};

const VnRangeMethod vn_range_xslim_mse = {
  .id = "xslim-mse",
  .title = N_("XSlim, squared error only"),
  .summary = N_("What XSlim calls mse: the range of its search with the least squared error"),
  .letter = 'Q',
  .uses_percentile = TRUE,
  .range = xslim_mse_range,
};
