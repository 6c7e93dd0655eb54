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
 * The least KL + lambda MSE is taken; lambda is the root of the mean of (KL / MSE)^2 over the ten candidates of least
 * MSE. With more than 1024 levels it is the percentile range. Scales below 2^-23 are raised to that.
 *
 * Here KL follows the formula; XSlim 2.1.1 evaluates it for many candidates at once and then mistakes where they end. */

#include "vn-range-private.h"

#include <math.h>

#define BINS 4096
#define MAX_LEVELS 1024
#define N_BEST 10
#define EPS 1e-30
#define MIN_SCALE 0x1p-23

typedef struct
{
  guint  start, length;         /* in bins, inside the histogram */
  double lo, hi;                /* the range, which may end behind the histogram */
  double kl, mse;
} Candidate;

/* Sums over the first k bins: count, count times index, count times its square, count ln count, bins not empty. */
typedef struct
{
  double counts[BINS];
  double mass[BINS + 1], first[BINS + 1], second[BINS + 1], c_ln_c[BINS + 1];
  guint  n_used[BINS + 1];
} Sums;

static double
x_ln_x (double x)
{
  return x > 0 ? x * log (x) : 0;
}

/* Elements cannot be split: a bin is empty or not. */
static void
make_whole (Sums *self)
{
  double cumulated = 0, whole = 0;

  for (guint i = 0; i < BINS; i++)
    {
      cumulated += self->counts[i];
      self->counts[i] = rint (cumulated) - whole;
      whole = rint (cumulated);
    }
}

static void
sum_up (Sums *self)
{
  self->mass[0] = self->first[0] = self->second[0] = self->c_ln_c[0] = 0;
  self->n_used[0] = 0;
  for (guint i = 0; i < BINS; i++)
    {
      const double c = self->counts[i];

      self->mass[i + 1] = self->mass[i] + c;
      self->first[i + 1] = self->first[i] + c * i;
      self->second[i + 1] = self->second[i] + c * i * i;
      self->c_ln_c[i + 1] = self->c_ln_c[i] + x_ln_x (c);
      self->n_used[i + 1] = self->n_used[i] + (c > 0);
    }
}

/* sum c (i - at)^2 over bins from .. to - 1 */
static double
squares_around (const Sums *self,
                guint       from,
                guint       to,
                double      at)
{
  return self->second[to] - self->second[from] - 2 * at * (self->first[to] - self->first[from]) +
         at * at * (self->mass[to] - self->mass[from]);
}

static double
get_mse (const Sums *self,
         guint       start,
         guint       end,
         guint       levels)
{
  const double step = MAX ((double) (end - start) / levels, 1), middle = (step - 1) / 2;
  double sum = squares_around (self, 0, start, start - 0.5) + squares_around (self, end, BINS, end - 0.5);
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

/* What the terms of p become where mass from outside is added to the bins at the ends. */
static double
get_kl (const Sums *self,
        guint       start,
        guint       end,
        guint       levels)
{
  const double total = self->mass[BINS], kept = self->mass[end] - self->mass[start];
  const double below = self->mass[start], above = total - self->mass[end];
  const guint size = (end - start + levels - 1) / levels;
  double ends[2] = { self->counts[start], self->counts[end - 1] };
  double sum = self->c_ln_c[end] - self->c_ln_c[start], cross = 0;

  if (!(kept > 0))
    return INFINITY;
  if (end - start == 1)
    return 0;
  sum += x_ln_x (ends[0] + below) - x_ln_x (ends[0]) + x_ln_x (ends[1] + above) - x_ln_x (ends[1]);
  for (guint from = start; from < end; from += size)
    {
      guint to = MIN (from + size, end);
      guint n_used = self->n_used[to] - self->n_used[from];
      double mass = self->mass[to] - self->mass[from];

      if (n_used == 0)
        continue;
      mass += (from == start && ends[0] > 0 ? below : 0) + (to == end && ends[1] > 0 ? above : 0);
      cross += mass * log ((self->mass[to] - self->mass[from]) / n_used / kept);
    }
  cross += ((ends[0] > 0 ? 0 : below) + (ends[1] > 0 ? 0 : above)) * log (EPS);
  return (sum / total - log (total) - cross / total) / G_LN10;
}

static void
add_candidate (GArray     *candidates,
               const Sums *sums,
               guint       start,
               guint       length,
               guint       levels,
               double      lo,
               double      hi)
{
  guint end = MIN (start + length, BINS);
  Candidate candidate = { start, end - start, lo, hi, get_kl (sums, start, end, levels),
                          get_mse (sums, start, end, levels) };

  g_array_append_val (candidates, candidate);
}

static int
compare_mse (gconstpointer a,
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
get_lambda (GArray *candidates)
{
  g_autofree const Candidate **sorted = g_new (const Candidate *, candidates->len);
  const guint n = MIN (N_BEST, candidates->len);
  double sum = 0;

  for (guint i = 0; i < candidates->len; i++)
    sorted[i] = &g_array_index (candidates, Candidate, i);
  qsort (sorted, candidates->len, sizeof *sorted, compare_mse);
  for (guint i = 0; i < n; i++)
    sum += isfinite (sorted[i]->kl) ? (sorted[i]->kl / sorted[i]->mse) * (sorted[i]->kl / sorted[i]->mse) : 0;
  return sqrt (sum / n);
}

static void
add_candidates (GArray        *candidates,
                const Sums    *sums,
                const VnRange *seen,
                const VnRange *percentile,
                guint          levels)
{
  const double width = (seen->max - seen->min) / BINS;
  const guint step = BINS / levels * 2;
  const guint first = (guint) CLAMP (floor ((percentile->min - seen->min) / width), 0, BINS - 1);
  const guint length = (guint) CLAMP (ceil ((percentile->max - percentile->min) / width), 1, BINS);

  add_candidate (candidates, sums, first, length, levels, percentile->min, percentile->max);
  for (guint start = 0; start < BINS; start += step)
    for (guint n = levels; n < BINS - start + step - 1; n += step)
      add_candidate (candidates, sums, start, n, levels, seen->min + start * width,
                     seen->min + start * width + n * width);
}

static gboolean
xslim_range (const VnHistogram      *histogram,
             const VnRangeSettings  *settings,
             VnRange                *range,
             GError                **error)
{
  const VnRange seen = { histogram->min, histogram->max };
  const guint levels = (guint) MIN (vn_range_get_steps (settings) + 1, MAX_LEVELS + 1);
  g_autoptr(GArray) candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  g_autofree Sums *sums = NULL;
  double lambda, least = INFINITY;

  if (!vn_range_check_percentile (settings, error) || !vn_range_check (histogram, error))
    return FALSE;
  vn_range_get_average (histogram, settings->percentile, range);
  if (!(range->max - range->min >= MIN_SCALE))
    *range = seen;
  else if (levels <= MAX_LEVELS)
    {
      const VnRange percentile = *range;

      sums = g_new (Sums, 1);
      vn_histogram_linear (histogram, seen.min, seen.max, sums->counts, BINS);
      make_whole (sums);
      sum_up (sums);
      add_candidates (candidates, sums, &seen, &percentile, levels);
      lambda = get_lambda (candidates);
      for (guint i = 0; i < candidates->len; i++)
        {
          const Candidate *candidate = &g_array_index (candidates, Candidate, i);

          if (candidate->kl + lambda * candidate->mse < least)
            {
              least = candidate->kl + lambda * candidate->mse;
              *range = (VnRange) { candidate->lo, candidate->hi };
            }
        }
    }
  vn_range_make_symmetric (range, settings);
  vn_range_raise_scale (range, settings, MIN_SCALE);
  return TRUE;
}

static const VnParam percentile_params[] = {
  { "percentile", N_("Percentile"), N_("Share of each sample's values inside the first candidate, in percent"),
    VN_PARAM_DOUBLE, 99.99, 50, 100, NULL },
  { NULL },
};

const VnRangeMethod vn_range_xslim = {
  .id = "xslim",
  .title = N_("XSlim"),
  .summary = N_("XSlim's default: divergence and squared error weighed against each other over thousands of ranges"),
  .letter = 'X',
  .params = percentile_params,
  .range = xslim_range,
};
