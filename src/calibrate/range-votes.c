/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The power of two that a sample would choose for itself, counted for each set of levels: position-votes.c. */
#include "vn-range-private.h"

#include <math.h>

/**
 * vn_histogram_add_votes:
 * @sample: what was seen in one sample; without a finite value it has no vote
 * @min, @max: what the values are clamped to; infinite: they are not
 *
 * Counts the power of two that the method “minmse” would choose for @sample alone, for each set of levels.
 */
void
vn_histogram_add_votes (VnHistogram       *self,
                        const VnHistogram *sample,
                        float              min,
                        float              max)
{
  g_autoptr(VnHistogram) clamped = NULL;
  g_autoptr(VnRoundingTable) table = NULL;

  g_return_if_fail (self != NULL && sample != NULL);

  if (isfinite (min) || isfinite (max))
    sample = clamped = vn_histogram_new_clamped (sample, min, max);
  if (vn_histogram_n_finite (sample) == 0)
    return;
  table = vn_rounding_table_new (sample);
  for (guint i = 0; i < VN_POSITION_GRIDS; i++)
    {
      const VnPositionGrid *grid = &vn_position_grids[i];

      vn_position_votes_add (&self->votes, i, vn_range_find_position (sample, table, grid->low, grid->high), 1);
    }
}
