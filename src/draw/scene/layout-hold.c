/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps a long layout from drifting to one side. Each block of a network may leave a little beside where it was entered, and that
 * adds up; where one line alone passes from one rank to the next all that follows can be moved back at the cost of a bend. */
#include "vn-graph-layout-private.h"

#include <math.h>

#define MOST_DRIFT 400.    /* two boxes: less is not worth a bend */

/* Returns: whether one line alone leaves a rank downwards; @x: where it does. */
static gboolean
layout_hold_find_line (const Work *work,
                       guint       rank,
                       double     *x)
{
  guint n = 0;

  for (guint i = work->rank_first[rank]; i < work->rank_first[rank + 1]; i++)
    {
      guint v = work->order[i];

      if (work->down_first[v] == work->down_first[v + 1])
        continue;
      *x = VERTEX (work, v)->x;
      n++;
    }
  return n == 1;
}

/* Moves whole ranks, so that distances in them stay as they are. */
void
vn_graph_layout_hold (Work *work)
{
  double home = NAN, offset = 0;

  for (guint rank = 0; rank < work->n_ranks; rank++)
    {
      double x = 0;
      gboolean is_narrow = layout_hold_find_line (work, rank, &x);

      for (guint i = work->rank_first[rank]; offset != 0 && i < work->rank_first[rank + 1]; i++)
        VERTEX (work, work->order[i])->x += offset;
      if (!is_narrow)
        continue;
      if (isnan (home))
        home = x;
      else if (fabs (x + offset - home) > MOST_DRIFT)
        offset = round (home - x);
    }
}
