/* SPDX-License-Identifier: GPL-3.0-or-later */

/* MinMax: from the least to the greatest finite value seen; symmetric: -m .. m with m the greatest magnitude. */

#include "vn-range-private.h"

static gboolean
minmax_range (const VnHistogram      *histogram,
              const VnRangeSettings  *settings,
              VnRange                *range,
              GError                **error)
{
  if (!vn_range_check (histogram, error))
    return FALSE;

  *range = (VnRange) { histogram->min, histogram->max };
  vn_range_make_symmetric (range, settings);
  return TRUE;
}

const VnRangeMethod vn_range_minmax = {
  .id = "minmax",
  .title = N_("Minimum and maximum"),
  .summary = N_("Full observed range: nothing is clipped, but outliers cost resolution"),
  .letter = 'M',
  .range = minmax_range,
  .by_ends = TRUE,
};
