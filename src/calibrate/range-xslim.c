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
 * xslim-kl and xslim-mse look at one cost. xslim: the least KL + lambda MSE is taken; lambda is the root of the mean of (KL /
 * MSE)^2 over the ten candidates of least MSE. With more than 1024 levels it is the percentile range. Scales below 2^-23 are
 * raised to that.
 *
 * Here KL follows the formula; XSlim 2.1.1 evaluates it for many candidates at once and then mistakes where they end. */

#include "vn-range-sums.h"

#include <math.h>

#define BINS VN_RANGE_SUMS_BINS
#define MAX_LEVELS 1024
#define N_BEST 10
#define MIN_SCALE 0x1p-23

/* What is never computed for a candidate whose other cost already is larger than the least of both; a divergence is not
 * negative, but for rounding. */
#define ROUNDING 1e-9

#define LANES 8

/* So many bins are summed up faster one by one than among all: channels of weights have few elements. */
#define FEW_USED (BINS / 16)

typedef enum { COST_BOTH, COST_KL, COST_MSE } Cost;

typedef struct
{
  guint    start, length;       /* in bins, inside the histogram */
  double   lo, hi;              /* the range, which may end behind the histogram */
  double   kl, mse;
  gboolean knows_kl;
} Candidate;

/* Candidates of one length that start one step after the other are looked at side by side: bin @i of them all stands in row
 * @i % @step of @rows. */
typedef struct
{
  const VnRangeSums *sums;
  Cost    cost;
  guint   levels, step;         /* in bins */
  gsize   stride;
  double *rows;
  double  distances[BINS];      /* of the bins of a candidate, to the nearest end of a step */
  GArray *candidates;
} Search;

/* ---- squared error ---- */

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

/* Of all that lies outside of a candidate. */
static double
range_xslim_sum_outside (const VnRangeSums *self,
                         guint              start,
                         guint              end)
{
  return range_xslim_squares_around (self, 0, start, start - 0.5) + range_xslim_squares_around (self, end, BINS, end - 0.5);
}

static void
range_xslim_find_distances (Search *self,
                            guint   length)
{
  const double step = MAX ((double) length / self->levels, 1), middle = (step - 1) / 2;
  double at = 0;

  for (guint i = 0; i < length; i++)
    {
      self->distances[i] = middle - fabs (at - middle) + 0.5;
      at += 1;
      /* the sum of ones and steps that are multiples of 1 / levels is exact */
      at -= at >= step ? step : 0;
    }
}

static void
range_xslim_measure_alone (Search *self,
                           guint   i)
{
  Candidate *candidate = &g_array_index (self->candidates, Candidate, i);
  const double *counts = self->sums->counts + candidate->start;
  double sum = range_xslim_sum_outside (self->sums, candidate->start, candidate->start + candidate->length);

  range_xslim_find_distances (self, candidate->length);
  for (guint k = 0; k < candidate->length; k++)
    sum += counts[k] * self->distances[k] * self->distances[k];
  candidate->mse = sum / self->sums->mass[BINS];
}

/* Of few bins that are not empty, in their order: the same sum as of all. */
static double
range_xslim_add_used_squares (const Search *self,
                              guint         start,
                              guint         end,
                              double        sum)
{
  const VnRangeSums *sums = self->sums;

  for (guint i = sums->next[start]; i < end; i = sums->next[i + 1])
    sum += sums->counts[i] * self->distances[i - start] * self->distances[i - start];
  return sum;
}

typedef double Pair __attribute__ ((vector_size (2 * sizeof (double))));

static inline Pair
range_xslim_square_pair (const double *counts,
                         Pair          distance)
{
  Pair pair;

  memcpy (&pair, counts, sizeof pair);
  return pair * distance * distance;
}

/* The sums of LANES candidates, in the order of their bins, with what lies outside as a start. */
static void
range_xslim_add_squares (const Search *self,
                         guint         first,
                         guint         length,
                         double       *sums)
{
  const double *counts = self->rows + first;
  Pair sum[LANES / 2];
  guint row = 0;

  memcpy (sum, sums, sizeof sum);
  for (guint i = 0; i < length; i++)
    {
      const Pair distance = { self->distances[i], self->distances[i] };

      sum[0] += range_xslim_square_pair (counts, distance);
      sum[1] += range_xslim_square_pair (counts + 2, distance);
      sum[2] += range_xslim_square_pair (counts + 4, distance);
      sum[3] += range_xslim_square_pair (counts + 6, distance);
      counts += self->stride;
      if (++row < self->step)
        continue;
      row = 0;
      counts -= self->step * self->stride - 1;
    }
  memcpy (sums, sum, sizeof sum);
}

/* Those of one length, that of each being inside the histogram: number @place of each start, @n_starts of them. */
static void
range_xslim_measure_side_by_side (Search      *self,
                                  const guint *firsts,
                                  guint        n_starts,
                                  guint        place)
{
  const guint length = self->levels + place * self->step;

  range_xslim_find_distances (self, length);
  for (guint from = 0; from < n_starts; from += LANES)
    {
      const guint n = MIN (LANES, n_starts - from);
      double sums[LANES] = { 0 };

      for (guint i = 0; i < n; i++)
        sums[i] = range_xslim_sum_outside (self->sums, (from + i) * self->step, (from + i) * self->step + length);
      if (self->sums->n_used[BINS] > FEW_USED)
        range_xslim_add_squares (self, from, length, sums);
      else
        for (guint i = 0; i < n; i++)
          sums[i] = range_xslim_add_used_squares (self, (from + i) * self->step, (from + i) * self->step + length, sums[i]);
      for (guint i = 0; i < n; i++)
        g_array_index (self->candidates, Candidate, firsts[from + i] + place).mse = sums[i] / self->sums->mass[BINS];
    }
}

/* @firsts: by start, where its candidates begin, and where the last ones end */
static void
range_xslim_measure (Search      *self,
                     const guint *firsts,
                     guint        n_starts)
{
  range_xslim_measure_alone (self, 0);
  for (guint place = 0; n_starts > 0 && place < firsts[1] - firsts[0]; place++)
    {
      const guint length = self->levels + place * self->step;
      guint n = 0;

      while (n < n_starts && place < firsts[n + 1] - firsts[n] && n * self->step + length <= BINS)
        n++;
      if (n > 0)
        range_xslim_measure_side_by_side (self, firsts, n, place);
      for (; n < n_starts && place < firsts[n + 1] - firsts[n]; n++)   /* those that end behind the histogram */
        range_xslim_measure_alone (self, firsts[n] + place);
    }
}

/* ---- both ---- */

static double
range_xslim_get_kl (const Search *self,
                    Candidate    *candidate)
{
  if (!candidate->knows_kl)
    candidate->kl = vn_range_sums_get_kl (self->sums, candidate->start, candidate->start + candidate->length, self->levels);
  candidate->knows_kl = TRUE;
  return candidate->kl;
}

static gboolean
range_xslim_is_less (const Search *self,
                     Candidate    *x,
                     Candidate    *y)
{
  if (x->mse != y->mse)
    return x->mse < y->mse;
  if (range_xslim_get_kl (self, x) != range_xslim_get_kl (self, y))
    return x->kl < y->kl;
  return x < y;
}

static double
range_xslim_get_lambda (const Search *self)
{
  Candidate *best[N_BEST];
  guint n = 0;
  double sum = 0;

  for (guint i = 0; i < self->candidates->len; i++)
    {
      Candidate *candidate = &g_array_index (self->candidates, Candidate, i);
      guint at = n;

      if (n == N_BEST && !range_xslim_is_less (self, candidate, best[n - 1]))
        continue;
      for (at = n < N_BEST ? n++ : n - 1; at > 0 && range_xslim_is_less (self, candidate, best[at - 1]); at--)
        best[at] = best[at - 1];
      best[at] = candidate;
    }
  for (guint i = 0; i < n; i++)
    {
      const double kl = range_xslim_get_kl (self, best[i]);

      sum += isfinite (kl) ? (kl / best[i]->mse) * (kl / best[i]->mse) : 0;
    }
  return sqrt (sum / n);
}

static void
range_xslim_add_candidate (Search *self,
                           guint   start,
                           guint   length,
                           double  lo,
                           double  hi)
{
  Candidate candidate = { .start = start, .length = MIN (length, BINS - start), .lo = lo, .hi = hi };

  g_array_append_val (self->candidates, candidate);
}

static void
range_xslim_add_candidates (Search        *self,
                            const VnRange *seen,
                            const VnRange *percentile)
{
  const double width = (seen->max - seen->min) / BINS;
  const guint first = (guint) CLAMP (floor ((percentile->min - seen->min) / width), 0, BINS - 1);
  const guint length = (guint) CLAMP (ceil ((percentile->max - percentile->min) / width), 1, BINS);
  const guint n_starts = (BINS + self->step - 1) / self->step;
  g_autofree guint *firsts = g_new (guint, n_starts + 1);

  range_xslim_add_candidate (self, first, length, percentile->min, percentile->max);
  for (guint i = 0; i < n_starts; i++)
    {
      const guint start = i * self->step;

      firsts[i] = self->candidates->len;
      for (guint n = self->levels; n < BINS - start + self->step - 1; n += self->step)
        range_xslim_add_candidate (self, start, n, seen->min + start * width, seen->min + start * width + n * width);
    }
  firsts[n_starts] = self->candidates->len;
  if (self->cost != COST_KL)
    range_xslim_measure (self, firsts, n_starts);
}

/* The weights of the two costs; the first of least cost counts. */
static void
range_xslim_choose_candidate (const Search *self,
                              double        of_kl,
                              double        of_mse,
                              VnRange      *range)
{
  double least = INFINITY, enough = INFINITY;

  for (guint i = 0; i < self->candidates->len; i++)
    {
      const Candidate *candidate = &g_array_index (self->candidates, Candidate, i);

      if (candidate->knows_kl)
        enough = fmin (enough, of_kl * candidate->kl + of_mse * candidate->mse);
    }
  for (guint i = 0; i < self->candidates->len; i++)
    {
      Candidate *candidate = &g_array_index (self->candidates, Candidate, i);
      double cost;

      if (of_mse * candidate->mse > fmin (least, enough) + ROUNDING)
        continue;
      cost = (of_kl > 0 ? of_kl * range_xslim_get_kl (self, candidate) : 0) + of_mse * candidate->mse;
      if (cost < least)
        {
          least = cost;
          *range = (VnRange) { candidate->lo, candidate->hi };
        }
    }
}

static void
range_xslim_fill_rows (Search *self)
{
  self->stride = (BINS + self->step - 1) / self->step + LANES;
  self->rows = g_new0 (double, self->step * self->stride);
  for (guint i = 0; i < BINS; i++)
    self->rows[i % self->step * self->stride + i / self->step] = self->sums->counts[i];
}

static void
range_xslim_choose (const VnHistogram *histogram,
                    Cost               cost,
                    guint              levels,
                    VnRange           *range)
{
  const VnRange seen = { histogram->min, histogram->max }, percentile = *range;
  g_autofree VnRangeSums *sums = g_new (VnRangeSums, 1);
  g_autofree Search *search = g_new (Search, 1);
  g_autofree double *rows = NULL;
  g_autoptr(GArray) candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));

  vn_histogram_linear (histogram, seen.min, seen.max, sums->counts, BINS);
  vn_range_sums_make_whole (sums);
  vn_range_sums_update (sums);
  search->sums = sums;
  search->cost = cost;
  search->levels = levels;
  search->step = BINS / levels * 2;
  search->candidates = candidates;
  range_xslim_fill_rows (search);
  rows = search->rows;
  range_xslim_add_candidates (search, &seen, &percentile);
  range_xslim_choose_candidate (search, cost != COST_MSE, cost == COST_BOTH ? range_xslim_get_lambda (search) : cost == COST_MSE,
                                range);
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

  if (!vn_range_check_percentile (settings, error) || !vn_range_check (histogram, error))
    return FALSE;
  vn_range_get_average (histogram, settings->percentile, range);
  if (!(range->max - range->min >= MIN_SCALE))
    *range = seen;
  else if (levels <= MAX_LEVELS)
    range_xslim_choose (histogram, cost, levels, range);
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
  .summary = N_("XSlim's default: searches thousands of ranges for the best weighted sum of KL divergence and squared error"),
  .letter = 'X',
  .uses_percentile = TRUE,
  .range = xslim_range,
};

const VnRangeMethod vn_range_xslim_kl = {
  .id = "xslim-kl",
  .title = N_("XSlim, divergence only"),
  .summary = N_("XSlim's “kl”: the range with the smallest KL divergence in its search"),
  .letter = 'D',
  .uses_percentile = TRUE,
  .range = xslim_kl_range,
};

const VnRangeMethod vn_range_xslim_mse = {
  .id = "xslim-mse",
  .title = N_("XSlim, MSE only"),
  .summary = N_("XSlim's “mse”: the range with the smallest squared error in its search"),
  .letter = 'Q',
  .uses_percentile = TRUE,
  .range = xslim_mse_range,
};
