/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places in the arena for very many values that live at the same time: time is walked through once, a value takes the smallest
 * free range that is large enough, or the end, and gives it back when it is last read. Ranges that are free stand in two trees,
 * by place and by size, so the time hardly depends on how many there are. */
#include "vn-plan-passes.h"

#include "vn-checked.h"

typedef struct
{
  gsize offset, size;
} Range;

typedef struct
{
  GTree *by_offset, *by_size;   /* the same ranges, owned by the first */
  gsize  end;                   /* of the arena so far */
} Sweep;

static gint
plan_sweep_compare_offsets (gconstpointer a,
                            gconstpointer b,
                            gpointer      data)
{
  const Range *x = a, *y = b;

  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static gint
plan_sweep_compare_sizes (gconstpointer a,
                          gconstpointer b,
                          gpointer      data)
{
  const Range *x = a, *y = b;

  if (x->size != y->size)
    return x->size < y->size ? -1 : 1;
  return plan_sweep_compare_offsets (a, b, data);
}

static void
plan_sweep_add (Sweep *self,
                gsize  offset,
                gsize  size)
{
  Range *range = g_new (Range, 1);

  *range = (Range) { offset, size };
  g_tree_insert (self->by_offset, range, range);
  g_tree_insert (self->by_size, range, range);
}

static void
plan_sweep_remove (Sweep *self,
                   Range *range)
{
  g_tree_remove (self->by_size, range);
  g_tree_remove (self->by_offset, range);
}

/* The range that @node stands for; (nullable). */
static Range *
plan_sweep_get (GTreeNode *node)
{
  return node != NULL ? g_tree_node_value (node) : NULL;
}

static gsize
plan_sweep_take (Sweep *self,
                 gsize  size)
{
  Range *range = plan_sweep_get (g_tree_lower_bound (self->by_size, &(Range) { 0, size }));
  Range found;

  if (range == NULL)
    {
      range = plan_sweep_get (g_tree_node_last (self->by_offset));
      if (range != NULL && range->offset + range->size < self->end)
        range = NULL;
    }
  found = range != NULL ? *range : (Range) { self->end, 0 };
  if (range != NULL)
    plan_sweep_remove (self, range);
  if (found.size > size)
    plan_sweep_add (self, found.offset + size, found.size - size);
  self->end = MAX (self->end, found.offset + size);
  return found.offset;
}

static void
plan_sweep_give (Sweep *self,
                 gsize  offset,
                 gsize  size)
{
  GTreeNode *above = g_tree_upper_bound (self->by_offset, &(Range) { offset, 0 });
  Range *next = plan_sweep_get (above);
  Range *last = plan_sweep_get (above != NULL ? g_tree_node_previous (above) : g_tree_node_last (self->by_offset));
  Range all = { offset, size };

  if (last != NULL && last->offset + last->size == offset)
    {
      all = (Range) { last->offset, last->size + all.size };
      plan_sweep_remove (self, last);
    }
  if (next != NULL && next->offset == offset + size)
    {
      all.size += next->size;
      plan_sweep_remove (self, next);
    }
  plan_sweep_add (self, all.offset, all.size);
}

static gint
plan_sweep_compare_births (gconstpointer a,
                           gconstpointer b)
{
  const VnBlock *x = *(const VnBlock * const *) a, *y = *(const VnBlock * const *) b;

  if (x->first != y->first)
    return x->first < y->first ? -1 : 1;
  if (x->size != y->size)
    return x->size > y->size ? -1 : 1;
  return x < y ? -1 : x > y;
}

static gint
plan_sweep_compare_deaths (gconstpointer a,
                           gconstpointer b)
{
  const VnBlock *x = *(const VnBlock * const *) a, *y = *(const VnBlock * const *) b;

  if (x->last != y->last)
    return x->last < y->last ? -1 : 1;
  return x < y ? -1 : x > y;
}

/**
 * vn_blocks_measure:
 * @blocks: (array length=n): places do not matter
 * @n_steps: above all of their last steps
 * @bytes: (out): what those that live at the same time take at most: no arena is smaller; %G_MAXSIZE if that is too much
 *
 * Returns: how many live at the same time at most
 */
guint
vn_blocks_measure (const VnBlock *blocks,
                   guint          n,
                   guint          n_steps,
                   gsize         *bytes)
{
  g_autofree gsize *more = g_new0 (gsize, n_steps + 1), *less = g_new0 (gsize, n_steps + 1);
  g_autofree guint *born = g_new0 (guint, n_steps + 1), *dead = g_new0 (guint, n_steps + 1);
  gsize now = 0, all = 0;
  guint n_now = 0, most = 0;

  *bytes = 0;
  for (guint i = 0; i < n; i++)
    {
      if (!vn_checked_add (all, blocks[i].size, &all))
        *bytes = G_MAXSIZE;
      more[blocks[i].first] += blocks[i].size;
      less[blocks[i].last + 1] += blocks[i].size;
      born[blocks[i].first]++;
      dead[blocks[i].last + 1]++;
    }
  for (guint s = 0; s < n_steps; s++)
    {
      now += more[s] - less[s];
      n_now += born[s] - dead[s];
      *bytes = MAX (*bytes, now);
      most = MAX (most, n_now);
    }
  return most;
}

/**
 * vn_blocks_sweep:
 * @blocks: (array length=n): get their places; all sizes together are no more than %G_MAXSIZE
 *
 * Returns: how large the arena has to be
 */
gsize
vn_blocks_sweep (VnBlock *blocks,
                 guint    n)
{
  g_autoptr(GPtrArray) births = g_ptr_array_sized_new (n), deaths = NULL;
  Sweep self = { g_tree_new_full (plan_sweep_compare_offsets, NULL, g_free, NULL),
                 g_tree_new_full (plan_sweep_compare_sizes, NULL, NULL, NULL), 0 };

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (births, &blocks[i]);
  deaths = g_ptr_array_copy (births, NULL, NULL);
  g_ptr_array_sort (births, plan_sweep_compare_births);
  g_ptr_array_sort (deaths, plan_sweep_compare_deaths);
  for (guint i = 0, d = 0; i < n; i++)
    {
      VnBlock *block = births->pdata[i];

      for (; ((const VnBlock *) deaths->pdata[d])->last < block->first; d++)
        plan_sweep_give (&self, ((const VnBlock *) deaths->pdata[d])->offset, ((const VnBlock *) deaths->pdata[d])->size);
      block->offset = plan_sweep_take (&self, block->size);
    }
  g_tree_unref (self.by_size);
  g_tree_unref (self.by_offset);
  return self.end;
}
