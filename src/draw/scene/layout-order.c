/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order within each rank. Barycentre sweeps after Sugiyama, Tagawa and Toda (1981); crossings are
 * counted with a binary indexed tree after Barth, Jünger and Mutzel (2002). */
#include "vn-graph-layout-private.h"

#include <string.h>

#define MAX_SWEEPS      24
#define MAX_STALE        8
#define MAX_EXCHANGES    6

typedef struct { double key; guint pos, vertex; } Keyed;

static int
layout_order_compare_keyed (gconstpointer a,
                            gconstpointer b)
{
  const Keyed *ka = a, *kb = b;

  if (ka->key != kb->key)
    return ka->key < kb->key ? -1 : 1;
  return ka->pos < kb->pos ? -1 : ka->pos > kb->pos;
}

static int
layout_order_compare_guint (gconstpointer a,
                            gconstpointer b)
{
  guint x = *(const guint *) a, y = *(const guint *) b;

  return (x > y) - (x < y);
}

static guint
layout_order_rank_size (const Work *work,
                        guint       rank)
{
  return work->rank_first[rank + 1] - work->rank_first[rank];
}

static void
layout_order_number_rank (Work  *work,
                          guint  rank)
{
  const guint *order = work->order + work->rank_first[rank];

  for (guint i = 0; i < layout_order_rank_size (work, rank); i++)
    VERTEX (work, order[i])->pos = i;
}

/* Depth first from the sources keeps what belongs together side by side. */
static void
layout_order_initial (Work *work)
{
  guint n = work->vertices->len;
  g_autofree guint *fill = g_new0 (guint, work->n_ranks + 1);
  g_autofree gboolean *seen = g_new0 (gboolean, n + 1);
  g_autoptr(GArray) stack = g_array_new (FALSE, FALSE, sizeof (guint));

  work->order = g_new0 (guint, n + 1);
  work->rank_first = g_new0 (guint, work->n_ranks + 2);
  for (guint v = 0; v < n; v++)
    work->rank_first[VERTEX (work, v)->rank + 1]++;
  for (guint r = 0; r < work->n_ranks; r++)
    work->rank_first[r + 1] += work->rank_first[r];

  for (guint root = 0; root < n; root++)
    {
      if (work->up_first[root + 1] != work->up_first[root])
        continue;
      g_array_append_val (stack, root);
      while (stack->len > 0)
        {
          guint v = g_array_index (stack, guint, stack->len - 1);
          Vertex *vertex = VERTEX (work, v);

          g_array_set_size (stack, stack->len - 1);
          if (seen[v])
            continue;
          seen[v] = TRUE;
          vertex->pos = fill[vertex->rank]++;
          work->order[work->rank_first[vertex->rank] + vertex->pos] = v;
          for (guint i = work->down_first[v + 1]; i-- > work->down_first[v];)
            g_array_append_val (stack, work->down[i]);
        }
    }
}

/* Crossings between rank and the one below. */
static guint64
layout_order_count_rank (const Work *work,
                         guint       rank,
                         guint      *tree,
                         GArray     *ends)
{
  guint size = layout_order_rank_size (work, rank + 1);
  guint64 crossings = 0;
  guint seen = 0;

  memset (tree, 0, sizeof (guint) * (size + 2));
  for (guint i = 0; i < layout_order_rank_size (work, rank); i++)
    {
      guint v = work->order[work->rank_first[rank] + i];

      g_array_set_size (ends, 0);
      for (guint k = work->down_first[v]; k < work->down_first[v + 1]; k++)
        g_array_append_val (ends, VERTEX (work, work->down[k])->pos);
      for (guint k = 0; k < ends->len; k++)
        {
          guint before = 0;

          for (guint j = g_array_index (ends, guint, k) + 1; j > 0; j -= j & -j)
            before += tree[j];
          crossings += seen - before;
        }
      for (guint k = 0; k < ends->len; k++)
        for (guint j = g_array_index (ends, guint, k) + 1; j <= size; j += j & -j)
          tree[j]++;
      seen += ends->len;
    }
  return crossings;
}

static guint64
layout_order_count_crossings (const Work *work)
{
  g_autofree guint *tree = g_new (guint, work->vertices->len + 2);
  g_autoptr(GArray) ends = g_array_new (FALSE, FALSE, sizeof (guint));
  guint64 crossings = 0;

  for (guint rank = 0; rank + 1 < work->n_ranks; rank++)
    crossings += layout_order_count_rank (work, rank, tree, ends);
  return crossings;
}

static void
layout_order_sort_rank (Work     *work,
                        guint     rank,
                        gboolean  by_upper,
                        Keyed    *keyed)
{
  guint *order = work->order + work->rank_first[rank];
  const guint *first = by_upper ? work->up_first : work->down_first;
  const guint *list = by_upper ? work->up : work->down;
  guint n = layout_order_rank_size (work, rank);
  guint other = n > 0 ? layout_order_rank_size (work, by_upper ? rank - 1 : rank + 1) : 0;

  for (guint i = 0; i < n; i++)
    {
      guint v = order[i], degree = first[v + 1] - first[v];
      double sum = 0;

      for (guint k = first[v]; k < first[v + 1]; k++)
        sum += VERTEX (work, list[k])->pos;
      /* one without neighbours keeps its relative place */
      keyed[i] = (Keyed) { degree > 0 ? sum / degree : (i + 0.5) / n * other, i, v };
    }
  qsort (keyed, n, sizeof (Keyed), layout_order_compare_keyed);
  for (guint i = 0; i < n; i++)
    order[i] = keyed[i].vertex;
  layout_order_number_rank (work, rank);
}

static void
layout_order_sweep (Work     *work,
                    gboolean  downwards,
                    Keyed    *keyed)
{
  if (downwards)
    for (guint rank = 1; rank < work->n_ranks; rank++)
      layout_order_sort_rank (work, rank, TRUE, keyed);
  else
    for (guint rank = work->n_ranks - 1; rank-- > 0;)
      layout_order_sort_rank (work, rank, FALSE, keyed);
}

/* ---- exchange of neighbours ---- */

/* Positions of the neighbours of v, sorted. */
static void
layout_order_sorted_ends (const Work  *work,
                          guint        v,
                          gboolean     upper,
                          GArray      *ends)
{
  const guint *first = upper ? work->up_first : work->down_first;
  const guint *list = upper ? work->up : work->down;

  g_array_set_size (ends, 0);
  for (guint k = first[v]; k < first[v + 1]; k++)
    g_array_append_val (ends, VERTEX (work, list[k])->pos);
  if (ends->len > 1)
    g_array_sort (ends, layout_order_compare_guint);
}

/* Pairs (a, b) with a > b: crossings while the owner of a stands left of the owner of b. */
static guint64
layout_order_count_pairs (const GArray *a,
                          const GArray *b)
{
  guint64 pairs = 0;
  guint k = 0;

  for (guint i = 0; i < a->len; i++)
    {
      while (k < b->len && g_array_index (b, guint, k) < g_array_index (a, guint, i))
        k++;
      pairs += k;
    }
  return pairs;
}

static gboolean
layout_order_exchange_rank (Work   *work,
                            guint   rank,
                            GArray *ends[4])
{
  guint *order = work->order + work->rank_first[rank];
  gboolean changed = FALSE;

  for (guint i = 0; i + 1 < layout_order_rank_size (work, rank); i++)
    {
      guint u = order[i], v = order[i + 1];
      guint64 now, then;

      for (guint side = 0; side < 2; side++)
        {
          layout_order_sorted_ends (work, u, side == 0, ends[side * 2]);
          layout_order_sorted_ends (work, v, side == 0, ends[side * 2 + 1]);
        }
      now = layout_order_count_pairs (ends[0], ends[1]) + layout_order_count_pairs (ends[2], ends[3]);
      then = layout_order_count_pairs (ends[1], ends[0]) + layout_order_count_pairs (ends[3], ends[2]);
      if (then >= now)
        continue;
      order[i] = v;
      order[i + 1] = u;
      VERTEX (work, v)->pos = i;
      VERTEX (work, u)->pos = i + 1;
      work->crossings -= now - then;
      changed = TRUE;
    }
  return changed;
}

static gboolean
layout_order_exchange_neighbours (Work    *work,
                                  GError **error)
{
  GArray *ends[4];
  gboolean changed = TRUE, going = TRUE;

  for (guint i = 0; i < 4; i++)
    ends[i] = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint round = 0; going && changed && round < MAX_EXCHANGES; round++)
    {
      changed = FALSE;
      for (guint rank = 0; rank < work->n_ranks; rank++)
        changed |= layout_order_exchange_rank (work, rank, ends);
      going = !g_cancellable_set_error_if_cancelled (work->cancellable, error);
    }
  for (guint i = 0; i < 4; i++)
    g_array_unref (ends[i]);
  return going;
}

/* Orders all ranks; work->crossings is what remains. */
gboolean
vn_graph_layout_order_ranks (Work    *work,
                             GError **error)
{
  gsize bytes = sizeof (guint) * (work->vertices->len + 1);
  g_autofree Keyed *keyed = g_new (Keyed, work->vertices->len + 1);
  g_autofree guint *best = NULL;
  guint stale = 0;

  layout_order_initial (work);
  if (work->n_ranks == 0)
    return TRUE;

  best = g_memdup2 (work->order, bytes);
  work->crossings = layout_order_count_crossings (work);
  for (guint i = 0; i < MAX_SWEEPS && stale < MAX_STALE && work->crossings > 0; i++)
    {
      guint64 crossings;

      if (g_cancellable_set_error_if_cancelled (work->cancellable, error))
        return FALSE;
      layout_order_sweep (work, i % 2 == 0, keyed);
      crossings = layout_order_count_crossings (work);
      stale = crossings < work->crossings ? 0 : stale + 1;
      if (stale > 0)
        continue;
      work->crossings = crossings;
      memcpy (best, work->order, bytes);
    }
  memcpy (work->order, best, bytes);
  for (guint rank = 0; rank < work->n_ranks; rank++)
    layout_order_number_rank (work, rank);
  return work->crossings == 0 || layout_order_exchange_neighbours (work, error);
}
