/* SPDX-License-Identifier: GPL-3.0-or-later */

/* How many samples would choose which power of two, for every set of symmetric levels that types have: counts are only
 * added, so neither order nor threads matter. */

#include "vn-histogram-private.h"

/* Least and greatest level, counted from the zero point. */
const VnPositionGrid vn_position_grids[VN_POSITION_GRIDS] = {
  { -1, 1 }, { -2, 1 }, { -7, 7 }, { -8, 7 }, { -127, 127 }, { -128, 127 }, { -32767, 32767 }, { -32768, 32767 },
  { -(double) G_MAXINT32, G_MAXINT32 }, { (double) G_MININT32, G_MAXINT32 }, { -448, 448 }, { -57344, 57344 },
};

void
vn_position_votes_clear (VnPositionVotes *self)
{
  g_clear_pointer (&self->votes, g_free);
  self->n = 0;
}

/* Where (@grid, @position) stands or would stand. */
static guint
position_votes_find (const VnPositionVotes *self,
                     guint                  grid,
                     int                    position)
{
  guint i = 0;

  while (i < self->n && (self->votes[i].grid < grid || (self->votes[i].grid == grid && self->votes[i].position < position)))
    i++;
  return i;
}

/**
 * vn_position_votes_add:
 * @grid: below %VN_POSITION_GRIDS
 * @count: how many samples chose 2^-@position
 */
void
vn_position_votes_add (VnPositionVotes *self,
                       guint            grid,
                       int              position,
                       guint64          count)
{
  const guint i = position_votes_find (self, grid, position);

  if (i < self->n && self->votes[i].grid == grid && self->votes[i].position == position)
    {
      self->votes[i].count += count;
      return;
    }
  self->votes = g_renew (VnPositionVote, self->votes, self->n + 1);
  memmove (&self->votes[i + 1], &self->votes[i], (self->n - i) * sizeof *self->votes);
  self->votes[i] = (VnPositionVote) { grid, position, count };
  self->n++;
}

void
vn_position_votes_merge (VnPositionVotes       *self,
                         const VnPositionVotes *from)
{
  for (guint i = 0; i < from->n; i++)
    vn_position_votes_add (self, from->votes[i].grid, from->votes[i].position, from->votes[i].count);
}

gboolean
vn_position_votes_equal (const VnPositionVotes *a,
                         const VnPositionVotes *b)
{
  if (a->n != b->n)
    return FALSE;
  for (guint i = 0; i < a->n; i++)
    if (a->votes[i].grid != b->votes[i].grid || a->votes[i].position != b->votes[i].position ||
        a->votes[i].count != b->votes[i].count)
      return FALSE;
  return TRUE;
}

/**
 * vn_position_votes_count:
 *
 * Returns: how many samples voted for levels number @grid
 */
guint64
vn_position_votes_count (const VnPositionVotes *self,
                         guint                  grid)
{
  guint64 sum = 0;

  for (guint i = 0; i < self->n; i++)
    if (self->votes[i].grid == grid)
      sum += self->votes[i].count;
  return sum;
}

/**
 * vn_position_votes_get:
 * @low, @high: the levels, counted from the zero point
 * @position: (out): that of the most samples; of several the greatest, whose scale is the smallest: as AMD's quantizers
 *   have it, and whatever the order of the samples was
 *
 * Returns: how many samples voted for those levels
 */
guint64
vn_position_votes_get (const VnPositionVotes *self,
                       double                 low,
                       double                 high,
                       int                   *position)
{
  guint64 most = 0, sum = 0;

  for (guint i = 0; i < self->n; i++)
    {
      const VnPositionVote *vote = &self->votes[i];

      if (vn_position_grids[vote->grid].low != low || vn_position_grids[vote->grid].high != high)
        continue;
      sum += vote->count;
      if (vote->count < most)
        continue;
      most = vote->count;
      *position = vote->position;
    }
  return sum;
}
