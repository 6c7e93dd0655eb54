/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last touch: lines that miss being straight by a few pixels. A straight run of vertices is moved over
 * to the run it continues, together with all runs that stand in its way, if that leaves fewer such lines
 * than before. */
#include "vn-graph-layout-private.h"

#include <math.h>

#define N_ROUNDS    3
#define LARGEST    40.    /* what is farther apart is meant to be */
#define MAX_MOVED 300     /* runs in one move */

typedef struct { guint first, n; } Run;   /* of the array of members */

typedef struct
{
  Work        *work;
  const guint *below;     /* vertex that continues each vertex downwards, or NO_VERTEX */
  guint       *above;
  guint       *members;
  guint       *run_of;    /* by vertex */
  guint       *mark;      /* by run: number of the last move it was part of */
  guint        n_moves;
  GArray      *runs;      /* of Run */
  GArray      *moved;     /* of guint: runs of this move */
} Nudge;

static double
layout_nudge_x_of (const Nudge *self,
                   guint        vertex)
{
  return VERTEX (self->work, vertex)->x;
}

static void
layout_nudge_find_runs (Nudge *self)
{
  guint filled = 0;

  g_array_set_size (self->runs, 0);
  for (guint v = 0; v < self->work->vertices->len; v++)
    {
      guint last = self->above[v];
      Run run = { filled, 0 };

      if (last != NO_VERTEX && layout_nudge_x_of (self, last) == layout_nudge_x_of (self, v))
        continue;
      for (guint u = v; u != NO_VERTEX && layout_nudge_x_of (self, u) == layout_nudge_x_of (self, v); u = self->below[u])
        {
          self->members[filled++] = u;
          self->run_of[u] = self->runs->len;
          run.n++;
        }
      g_array_append_val (self->runs, run);
    }
}

/* The vertex next to v on the side to which things are moved, or NO_VERTEX. */
static guint
layout_nudge_neighbour (const Nudge *self,
                        guint        v,
                        double       shift)
{
  const Work *work = self->work;
  const Vertex *vertex = VERTEX (work, v);
  guint first = work->rank_first[vertex->rank], n = work->rank_first[vertex->rank + 1] - first;

  if (shift < 0)
    return vertex->pos > 0 ? work->order[first + vertex->pos - 1] : NO_VERTEX;
  return vertex->pos + 1 < n ? work->order[first + vertex->pos + 1] : NO_VERTEX;
}

static void
layout_nudge_add_run (Nudge *self,
                      guint  run)
{
  if (self->mark[run] == self->n_moves)
    return;
  self->mark[run] = self->n_moves;
  g_array_append_val (self->moved, run);
}

/* Collects what has to move with @run. FALSE if @anchor would have to, or too much. */
static gboolean
layout_nudge_collect_moved (Nudge *self,
                            guint  run,
                            guint  anchor,
                            double shift)
{
  self->n_moves++;
  g_array_set_size (self->moved, 0);
  layout_nudge_add_run (self, run);
  for (guint i = 0; i < self->moved->len; i++)
    {
      const Run *moving = &g_array_index (self->runs, Run, g_array_index (self->moved, guint, i));

      for (guint k = 0; k < moving->n; k++)
        {
          guint v = self->members[moving->first + k], next = layout_nudge_neighbour (self, v, shift);

          if (next != NO_VERTEX
              && fabs (layout_nudge_x_of (self, next) - layout_nudge_x_of (self, v)) - fabs (shift)
                 < vn_graph_layout_separation (VERTEX (self->work, v), VERTEX (self->work, next)))
            layout_nudge_add_run (self, self->run_of[next]);
        }
      if (self->mark[anchor] == self->n_moves || self->moved->len > MAX_MOVED)
        return FALSE;
    }
  return TRUE;
}

/* By how many the bent lines at one end of a run grow. */
static int
layout_nudge_bends_gained (const Nudge *self,
                           guint        v,
                           guint        other,
                           double       shift)
{
  double apart;

  if (other == NO_VERTEX || self->mark[self->run_of[other]] == self->n_moves)
    return 0;
  apart = layout_nudge_x_of (self, v) - layout_nudge_x_of (self, other);
  return (apart + shift != 0) - (apart != 0);
}

static gboolean
layout_nudge_move_run (Nudge *self,
                       guint  run,
                       guint  anchor,
                       double shift)
{
  int gained = 0;

  if (!layout_nudge_collect_moved (self, run, anchor, shift))
    return FALSE;
  for (guint i = 0; i < self->moved->len; i++)
    {
      const Run *moving = &g_array_index (self->runs, Run, g_array_index (self->moved, guint, i));
      guint top = self->members[moving->first], bottom = self->members[moving->first + moving->n - 1];

      gained += layout_nudge_bends_gained (self, top, self->above[top], shift);
      gained += layout_nudge_bends_gained (self, bottom, self->below[bottom], shift);
    }
  if (gained >= 0)
    return FALSE;
  for (guint i = 0; i < self->moved->len; i++)
    {
      const Run *moving = &g_array_index (self->runs, Run, g_array_index (self->moved, guint, i));

      for (guint k = 0; k < moving->n; k++)
        VERTEX (self->work, self->members[moving->first + k])->x += shift;
    }
  return TRUE;
}

static gboolean
nudge_round (Nudge *self)
{
  gboolean changed = FALSE;

  layout_nudge_find_runs (self);
  for (guint v = 0; v < self->work->vertices->len; v++)
    {
      guint next = self->below[v];
      double apart = next != NO_VERTEX ? layout_nudge_x_of (self, next) - layout_nudge_x_of (self, v) : 0;

      if (apart == 0 || fabs (apart) > LARGEST)
        continue;
      changed |= layout_nudge_move_run (self, self->run_of[next], self->run_of[v], -apart)
                 || layout_nudge_move_run (self, self->run_of[v], self->run_of[next], apart);
    }
  return changed;
}

/* @below: for each vertex the one that should stand right below it, or NO_VERTEX. All x must be whole numbers. */
void
vn_graph_layout_nudge (Work        *work,
                       const guint *below)
{
  guint n = work->vertices->len;
  Nudge self = { .work = work, .below = below };

  self.above = g_new (guint, n + 1);
  self.members = g_new (guint, n + 1);
  self.run_of = g_new0 (guint, n + 1);
  self.mark = g_new0 (guint, n + 1);
  self.runs = g_array_new (FALSE, FALSE, sizeof (Run));
  self.moved = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint v = 0; v < n; v++)
    self.above[v] = NO_VERTEX;
  for (guint v = 0; v < n; v++)
    if (below[v] != NO_VERTEX)
      self.above[below[v]] = v;
  for (guint round = 0; round < N_ROUNDS && nudge_round (&self); round++)
    continue;
  g_free (self.above);
  g_free (self.members);
  g_free (self.run_of);
  g_free (self.mark);
  g_array_unref (self.runs);
  g_array_unref (self.moved);
}
