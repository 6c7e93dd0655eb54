/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Several methods are asked, and of their ranges the one is taken whose levels have the least squared error for the type
 * in question; of equals the first.
 *
 * percentile-search: three percentiles; AMD calls it LayerWisePercentile.
 * best: all methods that can differ. Powers of two are not among them: what they err is not due to the range. */

#include "vn-range-private.h"

#include <math.h>

typedef struct
{
  const VnRangeMethod *method;
  double               percentile;      /* 0: not one of its settings */
} Contestant;

static const Contestant percentiles[] = {
  { &vn_range_percentile, 99.99 },
  { &vn_range_percentile, 99.999 },
  { &vn_range_percentile, 99.9999 },
};

static const Contestant all[] = {
  { &vn_range_minmax, 0 },
  { &vn_range_average, 0 },
  { &vn_range_percentile, 99.99 },
  { &vn_range_percentile, 99.999 },
  { &vn_range_percentile, 99.9999 },
  { &vn_range_percentile_average, 99.99 },
  { &vn_range_kl, 0 },
  { &vn_range_mse, 0 },
  { &vn_range_octav, 0 },
  { &vn_range_aciq_gauss, 0 },
  { &vn_range_aciq_laplace, 0 },
};

static char *
range_best_dup_name (const Contestant *self)
{
  return self->percentile > 0 ? g_strdup_printf ("%s %g", self->method->id, self->percentile) : g_strdup (self->method->id);
}

/* @winner: (nullable) (out) (transfer full) */
static gboolean
range_best_hold_contest (const Contestant       *contestants,
                         guint                   n,
                         const VnHistogram      *histogram,
                         const VnRangeSettings  *settings,
                         VnRange                *range,
                         char                  **winner,
                         GError                **error)
{
  g_autoptr(VnRoundingTable) table = NULL;
  const Contestant *best = NULL;
  double least = INFINITY;

  if (!vn_range_check (histogram, error))
    return FALSE;
  table = vn_rounding_table_new (histogram);
  for (guint i = 0; i < n; i++)
    {
      VnRangeSettings own = *settings;
      VnRange candidate;
      double found;

      if (contestants[i].percentile > 0)
        own.percentile = contestants[i].percentile;
      if (!contestants[i].method->range (histogram, &own, &candidate, error))
        return FALSE;
      found = vn_range_get_error (table, &candidate, settings, least);
      if (best != NULL && !(found < least))
        continue;
      least = found;
      best = &contestants[i];
      *range = candidate;
    }
  if (winner != NULL)
    *winner = range_best_dup_name (best);
  return TRUE;
}

/* VnRangeMethod.contest and VnRangeMethod.range of @contestants */
#define CONTEST(name, contestants)                                                                              \
  static gboolean                                                                                               \
  range_best_##name##_contest (const VnHistogram *histogram, const VnRangeSettings *settings, VnRange *range,   \
                               char **winner, GError **error)                                                   \
  {                                                                                                             \
    return range_best_hold_contest (contestants, G_N_ELEMENTS (contestants), histogram, settings, range, winner, error); \
  }                                                                                                             \
                                                                                                                \
  static gboolean                                                                                               \
  range_best_##name##_range (const VnHistogram *histogram, const VnRangeSettings *settings, VnRange *range,     \
                             GError **error)                                                                    \
  {                                                                                                             \
    return range_best_##name##_contest (histogram, settings, range, NULL, error);                               \
  }

CONTEST (percentile, percentiles)
CONTEST (any, all)

const VnRangeMethod vn_range_percentile_search = {
  .id = "percentile-search",
  .title = N_("Best percentile for each tensor"),
  .summary = N_("AMD's LayerWisePercentile: 99.99, 99.999 or 99.9999, whichever has the smallest squared error"),
  .letter = 'L',
  .has_sides = TRUE,
  .range = range_best_percentile_range,
  .contest = range_best_percentile_contest,
};

const VnRangeMethod vn_range_best = {
  .id = "best",
  .title = N_("Best method for each tensor"),
  .summary = N_("Tries the other methods and uses the range with the smallest squared error; the plan names the method chosen"),
  .letter = 'B',
  .has_sides = TRUE,
  .range = range_best_any_range,
  .contest = range_best_any_contest,
};
