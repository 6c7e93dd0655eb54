/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What searches among ranges of a histogram with bins of equal width have in common. */

#include "vn-range-sums.h"

#include <math.h>

#define BINS VN_RANGE_SUMS_BINS
#define EPS 1e-30

static double
range_sums_x_ln_x (double x)
{
  return x > 0 ? x * log (x) : 0;
}

/*< private >
 * vn_range_sums_make_whole:
 *
 * Elements cannot be split: a bin is empty or not.
 */
void
vn_range_sums_make_whole (VnRangeSums *self)
{
  double cumulated = 0, whole = 0;

  g_return_if_fail (self != NULL);

  for (guint i = 0; i < BINS; i++)
    {
      cumulated += self->counts[i];
      self->counts[i] = rint (cumulated) - whole;
      whole = rint (cumulated);
    }
}

/*< private >
 * vn_range_sums_update:
 *
 * Once the counts are there.
 */
void
vn_range_sums_update (VnRangeSums *self)
{
  g_return_if_fail (self != NULL);

  self->mass[0] = self->first[0] = self->second[0] = self->c_ln_c[0] = 0;
  self->n_used[0] = 0;
  for (guint i = 0; i < BINS; i++)
    {
      const double c = self->counts[i];

      self->mass[i + 1] = self->mass[i] + c;
      self->first[i + 1] = self->first[i] + c * i;
      self->second[i + 1] = self->second[i] + c * i * i;
      self->c_ln_c[i + 1] = self->c_ln_c[i] + range_sums_x_ln_x (c);
      self->n_used[i + 1] = self->n_used[i] + (c > 0);
    }
  self->next[BINS] = BINS;
  for (guint i = BINS; i-- > 0; )
    self->next[i] = self->counts[i] > 0 ? i : self->next[i + 1];
}

/*< private >
 * vn_range_sums_get_kl:
 *
 * Returns: sum p log10 (p / q), where p is the bins from @start to @end - 1 with all that lies outside added to the ones at
 *   the ends, and q the same bins merged into groups of ceil ((end - start) / levels) and spread again over those of a group
 *   that are not empty; infinite if all are empty
 */
double
vn_range_sums_get_kl (const VnRangeSums *self,
                      guint              start,
                      guint              end,
                      guint              levels)
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
  sum += range_sums_x_ln_x (ends[0] + below) - range_sums_x_ln_x (ends[0])
         + range_sums_x_ln_x (ends[1] + above) - range_sums_x_ln_x (ends[1]);
  for (guint used = self->next[start]; used < end; )
    {
      const guint from = used - (used - start) % size, to = MIN (from + size, end);
      const guint n_used = self->n_used[to] - self->n_used[from];
      double mass = self->mass[to] - self->mass[from];

      used = self->next[to];
      mass += (from == start && ends[0] > 0 ? below : 0) + (to == end && ends[1] > 0 ? above : 0);
      cross += mass * log ((self->mass[to] - self->mass[from]) / n_used / kept);
    }
  cross += ((ends[0] > 0 ? 0 : below) + (ends[1] > 0 ? 0 : above)) * log (EPS);
  return (sum / total - log (total) - cross / total) / G_LN10;
}
