/* SPDX-License-Identifier: GPL-3.0-or-later */

/* MSE: of 100 ranges, the seen one scaled by 1.00, 0.99 ... 0.01, the one with the least squared error of rounding
 * and clipping together, for the number of levels there will be. With 0 a level the scale is (hi - lo) / (levels - 1)
 * and the zero point rint (-lo / scale). */

#include "vn-range-private.h"

#include <math.h>

#define N_CANDIDATES 100

static double
candidate_error (const VnRoundingTable *table,
                 double                 lo,
                 double                 hi,
                 double                 steps,
                 gboolean               symmetric,
                 double                 enough)
{
  double scale = (hi - lo) / steps;
  double below = symmetric ? floor (steps / 2) : rint (-lo / scale);

  if (!(scale > 0))
    return INFINITY;
  return vn_rounding_table_get (table, scale, -below * scale, (symmetric ? below : steps - below) * scale, enough);
}

static gboolean
mse_range (const VnHistogram      *histogram,
           const VnRangeSettings  *settings,
           VnRange                *range,
           GError                **error)
{
  const double steps = exp2 (vn_range_get_bits (settings)) - 1;
  double lo = MIN (histogram->min, 0);
  double hi = MAX (histogram->max, 0);
  double best = INFINITY;
  double share = 1;
  g_autoptr(VnRoundingTable) table = NULL;

  if (!vn_range_check (histogram, error))
    return FALSE;
  table = vn_rounding_table_new (histogram);
  if (settings->symmetric)
    {
      hi = MAX (-lo, hi);
      lo = -hi;
    }
  for (guint i = N_CANDIDATES; i > 0; i--)
    {
      double f = (double) i / N_CANDIDATES;
      double candidate = candidate_error (table, lo * f, hi * f, steps, settings->symmetric, best);

      if (candidate < best)
        {
          best = candidate;
          share = f;
        }
    }
  range->min = settings->symmetric ? lo * share : MAX (histogram->min, lo * share);
  range->max = settings->symmetric ? hi * share : MIN (histogram->max, hi * share);
  return TRUE;
}

static const VnParam mse_params[] = {
  { NULL },
};

const VnRangeMethod vn_range_mse = {
  .id = "mse",
  .title = N_("Least squared error"),
  .summary = N_("Balances rounding and clipping so that their squared error is least"),
  .letter = 'S',
  .params = mse_params,
  .range = mse_range,
};
