/* SPDX-License-Identifier: GPL-3.0-or-later */

/* MSE: of 100 ranges, the seen one scaled by 1.00, 0.99 ... 0.01, the one with the least squared error of rounding
 * and clipping together, for the number of levels there will be. The levels are
 * those that quantization makes of such a range. */

#include "vn-range-private.h"

#include <math.h>

#define N_CANDIDATES 100

static gboolean
mse_range (const VnHistogram      *histogram,
           const VnRangeSettings  *settings,
           VnRange                *range,
           GError                **error)
{
  VnRange seen = { histogram->min, histogram->max };
  double best = INFINITY;
  double share = 1;
  g_autoptr(VnRoundingTable) table = NULL;

  if (!vn_range_check (histogram, error))
    return FALSE;
  table = vn_rounding_table_new (histogram);
  vn_range_make_symmetric (&seen, settings);
  for (guint i = N_CANDIDATES; i > 0; i--)
    {
      const double f = (double) i / N_CANDIDATES;
      const VnRange candidate = { MIN (seen.min, 0) * f, MAX (seen.max, 0) * f };
      const double found = vn_range_get_error (table, &candidate, settings, best);

      if (found < best)
        {
          best = found;
          share = f;
        }
    }
  range->min = MAX (seen.min, MIN (seen.min, 0) * share);
  range->max = MIN (seen.max, MAX (seen.max, 0) * share);
  return TRUE;
}

const VnRangeMethod vn_range_mse = {
  .id = "mse",
  .title = N_("Minimum MSE"),
  .summary = N_("Balances rounding error against clipping error for the smallest total squared error"),
  .letter = 'S',
  .range = mse_range,
};
