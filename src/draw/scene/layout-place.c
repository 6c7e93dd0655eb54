/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where in its rank a vertex stands. In each rank the wanted places (the mean of the neighbours) under the
 * least distances are an isotonic regression: minimise sum w (x - want)^2 with x[i + 1] - x[i] >=
 * separation; with the separations subtracted that is sorted order, solved exactly by pooling adjacent
 * violators. */
#include "vn-graph-layout-private.h"

#include <math.h>

#define N_PASSES       24
#define N_BOTH_PASSES   6
#define LANE_WEIGHT     8.
#define TRUNK_WEIGHT    4.
#define N_STRAIGHTEN    8

typedef struct { double sum, weight; guint n; } Pool;

/* ---- what should stand under what ---- */

/* Longest way from each vertex upwards, or downwards, in boxes. */
static guint *
layout_place_measure_ways (const Work *work,
                           gboolean    upwards)
{
  const guint *first = upwards ? work->up_first : work->down_first;
  const guint *list = upwards ? work->up : work->down;
  guint n = work->vertices->len;
  guint *way = g_new0 (guint, n + 1);

  for (guint i = 0; i < n; i++)
    {
      guint v = work->order[upwards ? i : n - 1 - i];

      for (guint k = first[v]; k < first[v + 1]; k++)
        way[v] = MAX (way[v], way[list[k]] + (VERTEX (work, v)->kind == VERTEX_NODE));
    }
  return way;
}

/* The neighbour that continues v: of a lane the lane; else a box rather than a lane and the longer way
 * rather than the shorter. Nobody if two are equally good: then v belongs in the middle. */
static guint
layout_place_best_neighbour (const Work  *work,
                             guint        v,
                             gboolean     upwards,
                             const guint *way)
{
  static const guint merit[] = { [VERTEX_NODE] = 2, [VERTEX_LANE] = 1, [VERTEX_STUB] = 0 };
  const guint *first = upwards ? work->up_first : work->down_first;
  const guint *list = upwards ? work->up : work->down;
  gboolean is_lane = VERTEX (work, v)->kind == VERTEX_LANE, is_tie = FALSE;
  guint best = NO_VERTEX;
  guint64 most = 0;

  for (guint k = first[v]; k < first[v + 1]; k++)
    {
      VertexKind kind = VERTEX (work, list[k])->kind;
      guint64 score = ((guint64) (is_lane && kind == VERTEX_LANE ? 3 : merit[kind]) << 32) + way[list[k]] + 1;

      if (list[k] == best || score < most)
        continue;
      is_tie = score == most;
      most = score;
      best = list[k];
    }
  return is_tie ? NO_VERTEX : best;
}

/* For each vertex the one that should stand right below it, if both see it so. */
static guint *
layout_place_match_vertices (const Work *work)
{
  g_autofree guint *up_way = layout_place_measure_ways (work, TRUE), *down_way = layout_place_measure_ways (work, FALSE);
  guint n = work->vertices->len;
  guint *below = g_new (guint, n + 1);

  for (guint v = 0; v < n; v++)
    {
      below[v] = layout_place_best_neighbour (work, v, FALSE, down_way);
      if (below[v] != NO_VERTEX && layout_place_best_neighbour (work, below[v], TRUE, up_way) != v)
        below[v] = NO_VERTEX;
    }
  return below;
}

/* ---- isotonic regression ---- */

static double
layout_place_link_weight (const Work  *work,
                          const guint *below,
                          guint        a,
                          guint        b)
{
  if (VERTEX (work, a)->kind == VERTEX_LANE && VERTEX (work, b)->kind == VERTEX_LANE)
    return LANE_WEIGHT;
  return below[a] == b || below[b] == a ? TRUNK_WEIGHT : 1;
}

static void
layout_place_add_wish (const Work  *work,
                       const guint *below,
                       guint        v,
                       const guint *first,
                       const guint *list,
                       double      *sum,
                       double      *weight)
{
  for (guint k = first[v]; k < first[v + 1]; k++)
    {
      const Vertex *other = VERTEX (work, list[k]);
      double w = layout_place_link_weight (work, below, v, list[k]);

      *sum += w * other->x;
      *weight += w;
    }
}

/* Solves one rank. @wishes holds, for each vertex in order, wanted place times weight, and weight. */
static void
layout_place_solve_rank (Work  *work,
                         guint  rank,
                         Pool  *wishes,
                         Pool  *pools)
{
  const guint *order = work->order + work->rank_first[rank];
  guint n = work->rank_first[rank + 1] - work->rank_first[rank], n_pools = 0, at = 0;
  double offset = 0;

  for (guint i = 0; i < n; i++)
    {
      if (i > 0)
        offset += vn_graph_layout_separation (VERTEX (work, order[i - 1]), VERTEX (work, order[i]));
      pools[n_pools++] = (Pool) { wishes[i].sum - wishes[i].weight * offset, wishes[i].weight, 1 };
      while (n_pools > 1 && pools[n_pools - 2].sum * pools[n_pools - 1].weight
                            >= pools[n_pools - 1].sum * pools[n_pools - 2].weight)
        {
          pools[n_pools - 2].sum += pools[n_pools - 1].sum;
          pools[n_pools - 2].weight += pools[n_pools - 1].weight;
          pools[n_pools - 2].n += pools[n_pools - 1].n;
          n_pools--;
        }
    }

  offset = 0;
  for (guint p = 0; p < n_pools; p++)
    for (guint i = 0; i < pools[p].n; i++, at++)
      {
        if (at > 0)
          offset += vn_graph_layout_separation (VERTEX (work, order[at - 1]), VERTEX (work, order[at]));
        VERTEX (work, order[at])->x = pools[p].sum / pools[p].weight + offset;
      }
}

static void
place_rank (Work        *work,
            const guint *below,
            guint        rank,
            gboolean     use_up,
            gboolean     use_down,
            Pool        *pools)
{
  const guint *order = work->order + work->rank_first[rank];
  guint n = work->rank_first[rank + 1] - work->rank_first[rank];
  Pool *wishes = pools + work->vertices->len;

  for (guint i = 0; i < n; i++)
    {
      Pool *wish = &wishes[i];

      wish->sum = wish->weight = 0;
      if (use_up)
        layout_place_add_wish (work, below, order[i], work->up_first, work->up, &wish->sum, &wish->weight);
      if (use_down)
        layout_place_add_wish (work, below, order[i], work->down_first, work->down, &wish->sum, &wish->weight);
      if (wish->weight == 0)
        *wish = (Pool) { 0.05 * VERTEX (work, order[i])->x, 0.05, 1 };
    }
  layout_place_solve_rank (work, rank, wishes, pools);
}

static void
layout_place_pack_ranks (Work *work)
{
  for (guint rank = 0; rank < work->n_ranks; rank++)
    {
      const guint *order = work->order + work->rank_first[rank];
      guint n = work->rank_first[rank + 1] - work->rank_first[rank];
      double width = 0;

      for (guint i = 1; i < n; i++)
        {
          width += vn_graph_layout_separation (VERTEX (work, order[i - 1]), VERTEX (work, order[i]));
          VERTEX (work, order[i])->x = width;
        }
      for (guint i = 0; i < n; i++)
        VERTEX (work, order[i])->x -= width / 2;
    }
}

/* ---- straightening ---- */

typedef struct { guint first, n; } Run;   /* of the array of path vertices */

static int
layout_place_compare_runs (gconstpointer a,
                           gconstpointer b)
{
  const Run *ra = a, *rb = b;

  if (ra->n != rb->n)
    return ra->n > rb->n ? -1 : 1;
  return ra->first < rb->first ? -1 : ra->first > rb->first;
}

/* Paths of vertices that would best stand under one another, longest first. */
static GArray *
layout_place_collect_paths (const Work  *work,
                            const guint *below,
                            guint       *members)
{
  guint n = work->vertices->len, filled = 0;
  g_autofree gboolean *has_above = g_new0 (gboolean, n + 1);
  GArray *paths = g_array_new (FALSE, FALSE, sizeof (Run));

  for (guint v = 0; v < n; v++)
    if (below[v] != NO_VERTEX)
      has_above[below[v]] = TRUE;
  for (guint v = 0; v < n; v++)
    {
      Run run = { filled, 0 };

      if (has_above[v])
        continue;
      for (guint u = v; u != NO_VERTEX; u = below[u])
        {
          members[filled++] = u;
          run.n++;
        }
      if (run.n > 1)
        g_array_append_val (paths, run);
    }
  g_array_sort (paths, layout_place_compare_runs);
  return paths;
}

/* The free span of a vertex between its neighbours in the rank. */
static void
layout_place_free_span (const Work *work,
                        guint       v,
                        double     *low,
                        double     *high)
{
  const Vertex *vertex = VERTEX (work, v);
  const guint *order = work->order + work->rank_first[vertex->rank];
  guint n = work->rank_first[vertex->rank + 1] - work->rank_first[vertex->rank];

  *low = -G_MAXDOUBLE;
  *high = G_MAXDOUBLE;
  if (vertex->pos > 0)
    {
      const Vertex *left = VERTEX (work, order[vertex->pos - 1]);

      *low = left->x + vn_graph_layout_separation (left, vertex);
    }
  if (vertex->pos + 1 < n)
    {
      const Vertex *right = VERTEX (work, order[vertex->pos + 1]);

      *high = right->x - vn_graph_layout_separation (vertex, right);
    }
}

static void
layout_place_set_run (Work        *work,
                      const guint *members,
                      guint        n,
                      double       low,
                      double       high)
{
  double sum = 0, x;

  for (guint i = 0; i < n; i++)
    sum += VERTEX (work, members[i])->x;
  x = CLAMP (round (sum / n), low, high);
  for (guint i = 0; i < n; i++)
    VERTEX (work, members[i])->x = x;
}

/* As few straight pieces as the neighbours allow. Nobody moves past a neighbour. */
static void
layout_place_straighten_path (Work        *work,
                              const guint *members,
                              guint        n)
{
  double low = -G_MAXDOUBLE, high = G_MAXDOUBLE;
  guint start = 0;

  for (guint i = 0; i < n; i++)
    {
      double l, h;

      layout_place_free_span (work, members[i], &l, &h);
      if (MAX (low, l) > MIN (high, h))
        {
          layout_place_set_run (work, members + start, i - start, low, high);
          start = i;
          low = l;
          high = h;
        }
      else
        {
          low = MAX (low, l);
          high = MIN (high, h);
        }
    }
  layout_place_set_run (work, members + start, n - start, low, high);
}

/* Every path wants to stand at its mean, long ones more so: the short ones make room. */
static void
layout_place_gather_paths (Work         *work,
                           const GArray *paths,
                           const guint  *members,
                           Pool         *pools)
{
  Pool *wishes = pools + work->vertices->len;
  g_autofree Pool *want = g_new0 (Pool, work->vertices->len + 1);

  for (guint i = 0; i < paths->len; i++)
    {
      const Run *run = &g_array_index (paths, Run, i);
      double sum = 0;

      for (guint k = 0; k < run->n; k++)
        sum += VERTEX (work, members[run->first + k])->x;
      for (guint k = 0; k < run->n; k++)
        want[members[run->first + k]] = (Pool) { sum, run->n, 1 };
    }
  for (guint rank = 0; rank < work->n_ranks; rank++)
    {
      const guint *order = work->order + work->rank_first[rank];
      guint n = work->rank_first[rank + 1] - work->rank_first[rank];

      for (guint i = 0; i < n; i++)
        wishes[i] = want[order[i]].weight > 0 ? want[order[i]] : (Pool) { VERTEX (work, order[i])->x, 1, 1 };
      layout_place_solve_rank (work, rank, wishes, pools);
    }
}

static void
layout_place_straighten (Work        *work,
                         const guint *below,
                         Pool        *pools)
{
  g_autofree guint *members = g_new (guint, work->vertices->len + 1);
  g_autoptr(GArray) paths = layout_place_collect_paths (work, below, members);

  layout_place_gather_paths (work, paths, members, pools);
  for (guint i = 0; i < paths->len; i++)
    {
      const Run *run = &g_array_index (paths, Run, i);

      layout_place_straighten_path (work, members + run->first, run->n);
    }
}

/* Gives each vertex the x of its centre; boxes of a rank keep their distance. */
gboolean
vn_graph_layout_place (Work    *work,
                       GError **error)
{
  g_autofree Pool *pools = g_new (Pool, 2 * work->vertices->len + 1);
  g_autofree guint *below = layout_place_match_vertices (work);

  layout_place_pack_ranks (work);
  for (guint pass = 0; pass < N_PASSES; pass++)
    {
      gboolean both = pass + N_BOTH_PASSES >= N_PASSES, downwards = pass % 2 == 0;

      if (g_cancellable_set_error_if_cancelled (work->cancellable, error))
        return FALSE;
      for (guint i = 0; i < work->n_ranks; i++)
        place_rank (work, below, downwards ? i : work->n_ranks - 1 - i, downwards || both,
                    !downwards || both, pools);
    }
  for (guint i = 0; i < N_STRAIGHTEN; i++)
    layout_place_straighten (work, below, pools);
  for (guint v = 0; v < work->vertices->len; v++)
    VERTEX (work, v)->x = round (VERTEX (work, v)->x);
  vn_graph_layout_nudge (work, below);
  vn_graph_layout_hold (work);
  return TRUE;
}
