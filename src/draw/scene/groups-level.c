/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of one group as a graph: what feeds what, an order that does not depend on the file, and cycles between
 * groups. */
#include "groups-private.h"

#include <string.h>

typedef struct { guint from, to; } Pair;

static int
groups_level_compare_pairs (gconstpointer a,
                            gconstpointer b)
{
  const Pair *pa = a, *pb = b;

  if (pa->from != pb->from)
    return pa->from < pb->from ? -1 : 1;
  return pa->to < pb->to ? -1 : pa->to > pb->to;
}

static void
groups_level_fill (Neighbours   *self,
                   guint         n,
                   const GArray *pairs,
                   gboolean      by_target)
{
  g_autofree guint *fill = g_new0 (guint, n + 1);

  self->first = g_new0 (guint, n + 1);
  self->list = g_new0 (guint, pairs->len + 1);
  for (guint i = 0; i < pairs->len; i++)
    {
      const Pair *pair = &g_array_index (pairs, Pair, i);

      self->first[(by_target ? pair->to : pair->from) + 1]++;
    }
  for (guint i = 0; i < n; i++)
    self->first[i + 1] += self->first[i];
  for (guint i = 0; i < pairs->len; i++)
    {
      const Pair *pair = &g_array_index (pairs, Pair, i);
      guint at = by_target ? pair->to : pair->from;

      self->list[self->first[at] + fill[at]++] = by_target ? pair->from : pair->to;
    }
}

/* The inputs of a part stay in the order in which its nodes take them; doubles are left out. */
static void
groups_level_connect (Level        *self,
                      Net          *net,
                      const GArray *nodes)
{
  g_autoptr(GArray) pairs = g_array_new (FALSE, FALSE, sizeof (Pair)), sorted = NULL;
  g_autofree guint *seen = g_new (guint, self->n + 1);
  guint kept = 0;

  memset (seen, 0xff, (self->n + 1) * sizeof (guint));
  for (guint i = 0; i < nodes->len; i++)
    {
      guint node = g_array_index (nodes, guint, i), n;
      const guint *edges = vn_scene_get_in_edges (net->scene, node, &n);

      for (guint k = 0; k < n; k++)
        {
          Pair pair = { net->place[vn_scene_get_edge (net->scene, edges[k])->from], net->place[node] };

          if (pair.from != VN_SCENE_NONE && pair.from != pair.to && seen[pair.from] != pair.to)
            g_array_append_val (pairs, pair);
          if (pair.from != VN_SCENE_NONE)
            seen[pair.from] = pair.to;
        }
    }
  groups_level_fill (&self->from, self->n, pairs, TRUE);
  sorted = g_array_copy (pairs);
  g_array_sort (sorted, groups_level_compare_pairs);
  for (guint i = 0; i < sorted->len; i++)
    if (kept == 0 || groups_level_compare_pairs (&g_array_index (sorted, Pair, kept - 1),
                                                 &g_array_index (sorted, Pair, i)) != 0)
      g_array_index (sorted, Pair, kept++) = g_array_index (sorted, Pair, i);
  g_array_set_size (sorted, kept);
  groups_level_fill (&self->to, self->n, sorted, FALSE);
}

/* ---- order ---- */

/* Longest way from the start to each part; parts on a cycle keep 0. */
static guint *
groups_level_measure_depths (const Level *self)
{
  guint *depth = g_new0 (guint, self->n + 1);
  g_autofree guint *waiting = g_new0 (guint, self->n + 1);
  g_autofree guint *queue = g_new (guint, self->n + 1);
  guint head = 0, tail = 0;

  for (guint i = 0; i < self->n; i++)
    for (guint k = self->to.first[i]; k < self->to.first[i + 1]; k++)
      waiting[self->to.list[k]]++;
  for (guint i = 0; i < self->n; i++)
    if (waiting[i] == 0)
      queue[tail++] = i;
  while (head < tail)
    {
      guint part = queue[head++];

      for (guint k = self->to.first[part]; k < self->to.first[part + 1]; k++)
        {
          guint other = self->to.list[k];

          depth[other] = MAX (depth[other], depth[part] + 1);
          if (--waiting[other] == 0)
            queue[tail++] = other;
        }
    }
  return depth;
}

static int
groups_level_compare_roots (gconstpointer a,
                            gconstpointer b,
                            gpointer      data)
{
  const guint *depth = data;
  guint ia = *(const guint *) a, ib = *(const guint *) b;

  if (depth[ia] != depth[ib])
    return depth[ia] < depth[ib] ? -1 : 1;
  return ia < ib ? -1 : ia > ib;
}

/* What a part needs, then the part itself. */
static guint
groups_level_emit (Level  *self,
                   guint   root,
                   guint  *next,
                   guint  *stack,
                   guint   filled)
{
  guint depth = 0;

  if (next[root] != VN_SCENE_NONE)
    return filled;
  next[root] = self->from.first[root];
  stack[depth++] = root;
  while (depth > 0)
    {
      guint part = stack[depth - 1], other;

      if (next[part] == self->from.first[part + 1])
        {
          self->order[filled++] = part;
          depth--;
          continue;
        }
      other = self->from.list[next[part]++];
      if (next[other] != VN_SCENE_NONE)
        continue;
      next[other] = self->from.first[other];
      stack[depth++] = other;
    }
  return filled;
}

/* What three or more use comes before what uses it first, by depth: a mask for all layers would else be taken for a part of the
 * first. */
static void
groups_level_sort (Level *self)
{
  g_autofree guint *depth = groups_level_measure_depths (self);
  g_autofree guint *roots = g_new (guint, 2 * self->n + 1);
  g_autofree guint *next = g_new (guint, self->n + 1);
  g_autofree guint *stack = g_new (guint, self->n + 1);
  guint n_shared = 0, n_roots, filled = 0;

  self->order = g_new (guint, self->n + 1);
  memset (next, 0xff, (self->n + 1) * sizeof (guint));
  for (guint i = 0; i < self->n; i++)
    if (self->to.first[i + 1] - self->to.first[i] >= 3)
      roots[n_shared++] = i;
  if (n_shared > 1)
    g_qsort_with_data (roots, (int) n_shared, sizeof (guint), groups_level_compare_roots, depth);
  n_roots = n_shared;
  for (guint i = 0; i < self->n; i++)
    if (self->to.first[i + 1] == self->to.first[i])
      roots[n_roots++] = i;
  for (guint i = 0; i < n_roots; i++)
    filled = groups_level_emit (self, roots[i], next, stack, filled);
  for (guint i = 0; i < self->n; i++)
    filled = groups_level_emit (self, i, next, stack, filled);
}

/* ---- labels ---- */

static int
groups_level_compare_words (gconstpointer a,
                            gconstpointer b)
{
  return strcmp (*(const char * const *) a, *(const char * const *) b);
}

static void
groups_level_add_word (Net        *net,
                       const Part *part,
                       GPtrArray  *words)
{
  const VnSceneNode *node;

  for (guint i = 0; part->parts != NULL && i < part->parts->len; i++)
    groups_level_add_word (net, g_ptr_array_index (part->parts, i), words);
  if (part->parts != NULL)
    return;
  node = vn_scene_get_node (net->scene, part->node);
  g_ptr_array_add (words, g_strconcat (node->op, node->weighted ? "+" : "", NULL));
}

/* Equal where the same operators are in it. */
static char *
groups_level_dup_label (Net        *net,
                        const Part *part)
{
  g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func (g_free);

  groups_level_add_word (net, part, words);
  g_ptr_array_sort (words, groups_level_compare_words);
  g_ptr_array_add (words, NULL);
  return g_strjoinv (" ", (char **) words->pdata);
}

static void
groups_level_label (Level      *self,
                    Net        *net,
                    const Part *group)
{
  g_autoptr(GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  self->label = g_new (guint, self->n + 1);
  for (guint i = 0; i < self->n; i++)
    {
      char *label = groups_level_dup_label (net, g_ptr_array_index (group->parts, self->order[i]));
      gpointer number = g_hash_table_lookup (known, label);

      if (number == NULL)
        {
          number = GUINT_TO_POINTER (g_hash_table_size (known) + 1);
          g_hash_table_insert (known, label, number);
        }
      else
        {
          g_free (label);
        }
      self->label[i] = GPOINTER_TO_UINT (number);
    }
}

static void
groups_level_count_live (Level *self)
{
  g_autofree guint *place = g_new (guint, self->n + 1);
  g_autofree int *starts = g_new0 (int, self->n + 2);

  self->live = g_new0 (guint, self->n + 1);
  for (guint i = 0; i < self->n; i++)
    place[self->order[i]] = i;
  for (guint i = 0; i < self->n; i++)
    {
      guint part = self->order[i], last_use = i;

      for (guint k = self->to.first[part]; k < self->to.first[part + 1]; k++)
        last_use = MAX (last_use, place[self->to.list[k]]);
      starts[i + 1]++;
      starts[last_use + 1]--;
    }
  for (guint i = 0; i < self->n; i++)
    self->live[i + 1] = self->live[i] + (guint) starts[i + 1];
}

/* Looks at the parts of @group, which holds no pills. */
void
vn_level_init (Level      *self,
               Net        *net,
               const Part *group)
{
  g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));

  g_return_if_fail (self != NULL);

  *self = (Level) { .n = group->parts->len };
  for (guint i = 0; i < self->n; i++)
    {
      guint first = nodes->len;

      vn_part_collect (g_ptr_array_index (group->parts, i), nodes);
      for (guint k = first; k < nodes->len; k++)
        net->place[g_array_index (nodes, guint, k)] = i;
    }
  groups_level_connect (self, net, nodes);
  for (guint i = 0; i < nodes->len; i++)
    net->place[g_array_index (nodes, guint, i)] = VN_SCENE_NONE;
  groups_level_sort (self);
  groups_level_label (self, net, group);
  groups_level_count_live (self);
}

void
vn_level_clear (Level *self)
{
  g_return_if_fail (self != NULL);

  g_free (self->from.first);
  g_free (self->from.list);
  g_free (self->to.first);
  g_free (self->to.list);
  g_free (self->order);
  g_free (self->label);
  g_free (self->live);
}

/* ---- cycles ---- */

typedef struct
{
  const Level *level;
  guint       *index, *low, *next, *cycle;
  guint       *stack, *calls;
  guint        n_stack, n_calls, n_seen, n_cycles;
} Tarjan;

static void
groups_level_visit (Tarjan *self,
                    guint   part)
{
  self->index[part] = self->low[part] = ++self->n_seen;
  self->next[part] = self->level->to.first[part];
  self->stack[self->n_stack++] = part;
  self->calls[self->n_calls++] = part;
}

static void
groups_level_close (Tarjan *self,
                    guint   part)
{
  guint other;

  do
    {
      other = self->stack[--self->n_stack];
      self->cycle[other] = self->n_cycles;
    }
  while (other != part);
  self->n_cycles++;
}

static void
groups_level_run_tarjan (Tarjan *self)
{
  while (self->n_calls > 0)
    {
      guint part = self->calls[self->n_calls - 1];

      if (self->next[part] < self->level->to.first[part + 1])
        {
          guint other = self->level->to.list[self->next[part]++];

          if (self->index[other] == 0)
            groups_level_visit (self, other);
          else if (self->cycle[other] == VN_SCENE_NONE)
            self->low[part] = MIN (self->low[part], self->index[other]);
          continue;
        }
      self->n_calls--;
      if (self->low[part] == self->index[part])
        groups_level_close (self, part);
      if (self->n_calls > 0)
        {
          guint above = self->calls[self->n_calls - 1];

          self->low[above] = MIN (self->low[above], self->low[part]);
        }
    }
}

/* Returns: for each part the number of its strongly connected component. */
guint *
vn_level_find_cycles (const Level *self,
                      guint       *n_cycles)
{
  g_autofree guint *memory = g_new0 (guint, 5 * (gsize) (self->n + 1));
  Tarjan tarjan = { .level = self, .index = memory, .low = memory + self->n + 1,
                    .next = memory + 2 * (self->n + 1), .stack = memory + 3 * (self->n + 1),
                    .calls = memory + 4 * (self->n + 1), .cycle = g_new (guint, self->n + 1) };

  memset (tarjan.cycle, 0xff, (self->n + 1) * sizeof (guint));
  for (guint i = 0; i < self->n; i++)
    if (tarjan.index[i] == 0)
      {
        groups_level_visit (&tarjan, i);
        groups_level_run_tarjan (&tarjan);
      }
  *n_cycles = tarjan.n_cycles;
  return tarjan.cycle;
}
