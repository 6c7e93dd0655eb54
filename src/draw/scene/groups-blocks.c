/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups from structure: blocks that come several times, and where there are none, stretches between narrow places. */
#include "groups-private.h"

#include "vn-i18n.h"

#include <math.h>

#define LEAST_PERIOD     4
#define MOST_PERIOD   4000
#define LEAST_PAIR       6     /* what comes only twice must be so long */
#define LEAST_STRETCH    6
#define LEAST_BRANCHES   3     /* so many blocks with branches */
#define N_STRETCHES     20
#define N_BUNDLES       20
#define LOST_BLOCK       4.    /* what one block fewer costs, in the units of a narrow place */

/* A block of @period parts that comes @n times from @start on, in @span parts in all. */
typedef struct { guint start, span, period, n; } Run;

typedef struct { guint start, end; const char *name; gboolean is_bundle; } Stretch;

typedef struct
{
  const Level *level;
  GArray      *stretches;   /* of Stretch, not sorted */
} Search;

/* ---- repeated blocks ---- */

static void
groups_blocks_offer (Run   *best,
                     guint  start,
                     guint  span,
                     guint  period)
{
  guint n = span / period;

  if (n < 2 || (n == 2 && period < LEAST_PAIR))
    return;
  if (10 * (guint64) n * period > 11 * (guint64) best->n * best->period)
    *best = (Run) { start, span, period, n };
}

/* The blocks that cover most; of those that cover as much, the shortest. */
static Run
groups_blocks_find_run (const Level *level,
                        guint        start,
                        guint        end)
{
  Run best = { 0 };

  for (guint period = LEAST_PERIOD; period <= MIN ((end - start) / 2, MOST_PERIOD); period++)
    {
      guint length = 0;

      for (guint i = start; i + period < end; i++)
        {
          if (level->label[i] == level->label[i + period])
            {
              length++;
              continue;
            }
          if (length > 0)
            groups_blocks_offer (&best, i - length, length + period, period);
          length = 0;
        }
      if (length > 0)
        groups_blocks_offer (&best, end - period - length, length + period, period);
    }
  return best;
}

/* How bad a place is to cut at: few results should cross it, and what crosses should be used by many. */
static double
groups_blocks_rate_cut (const Level *level,
                        guint        at)
{
  guint before = at > 0 ? level->order[at - 1] : 0;
  guint n_uses = at > 0 ? level->to.first[before + 1] - level->to.first[before] : 0;

  return 16. * level->live[at] - MIN (n_uses, 8);
}

/* The same blocks may begin anywhere in their first period: they do where it is narrowest. */
static Run
groups_blocks_align (const Level *level,
                     Run          run)
{
  Run best = run;
  double least = G_MAXDOUBLE;

  for (guint shift = 0; shift < run.period; shift++)
    {
      guint n = (run.span - shift) / run.period;
      double cost = LOST_BLOCK * (run.n - n);

      if (n < 2)
        break;
      for (guint i = 0; i <= n; i++)
        cost += groups_blocks_rate_cut (level, run.start + shift + i * run.period) / (n + 1);
      if (cost >= least)
        continue;
      least = cost;
      best = (Run) { run.start + shift, n * run.period, run.period, n };
    }
  return best;
}

static void
groups_blocks_search (Search *self,
                      guint   start,
                      guint   end)
{
  Run run = groups_blocks_find_run (self->level, start, end);

  if (run.n == 0)
    return;
  run = groups_blocks_align (self->level, run);
  for (guint i = 0; i < run.n; i++)
    {
      Stretch stretch = { run.start + i * run.period, run.start + (i + 1) * run.period, N_("block") };

      g_array_append_val (self->stretches, stretch);
    }
  groups_blocks_search (self, start, run.start);
  groups_blocks_search (self, run.start + run.span, end);
}

/* ---- between narrow places ---- */

static gboolean
groups_blocks_has_weights (const Net  *net,
                           const Part *part)
{
  for (guint i = 0; part->parts != NULL && i < part->parts->len; i++)
    if (groups_blocks_has_weights (net, g_ptr_array_index (part->parts, i)))
      return TRUE;
  return part->parts == NULL && vn_scene_get_node (net->scene, part->node)->weighted;
}

static gboolean
groups_blocks_is_activation (const Net  *net,
                             const Part *part)
{
  return part->parts == NULL && vn_scene_get_node (net->scene, part->node)->family == VN_FAMILY_ACTIVATION;
}

/* A stretch with branches in it that only one tensor enters and only one leaves is a block, with the activation behind it. */
static void
groups_blocks_offer_branches (Search *self,
                              Net    *net,
                              Part   *group,
                              guint   start,
                              guint   end)
{
  const Level *level = self->level;
  Stretch stretch = { start, end, N_("block") };
  gboolean computes = FALSE;

  if (end - start < LEAST_PERIOD || end - start > level->n / 3)
    return;
  for (guint i = start; i < end; i++)
    computes |= groups_blocks_has_weights (net, g_ptr_array_index (group->parts, level->order[i]));
  if (!computes)
    return;
  if (end < level->n && level->live[end + 1] <= 1
      && groups_blocks_is_activation (net, g_ptr_array_index (group->parts, level->order[end])))
    stretch.end++;
  g_array_append_val (self->stretches, stretch);
}

/* Blocks of residual networks; none unless there are several. */
static void
groups_blocks_find_branches (Search *self,
                             Net    *net,
                             Part   *group)
{
  guint start = 0;

  for (guint at = 1; at <= self->level->n; at++)
    {
      if (self->level->live[at] > 1)
        continue;
      groups_blocks_offer_branches (self, net, group, start, at);
      start = at;
    }
  if (self->stretches->len < LEAST_BRANCHES)
    g_array_set_size (self->stretches, 0);
}

/* ---- stretches ---- */

/* Cuts where one kind of blocks ends, else into equal shares. */
static void
groups_blocks_cut_bundles (Search *self,
                           guint   length)
{
  guint start = 0, n = self->level->n;
  const guint *label = self->level->label;

  while (start + 1 < n)
    {
      Stretch stretch = { .start = start, .end = MIN (start + length, n), .name = N_("part"), .is_bundle = TRUE };

      if (n - start <= length * 14 / 10)
        stretch.end = n;
      for (guint at = start + 1; at < stretch.end; at++)
        if (label[at] != label[start])
          stretch.end = at;
      if (stretch.end > start + 1)
        g_array_append_val (self->stretches, stretch);
      start = stretch.end;
    }
}

/* Cuts what is between blocks at its narrow places. */
static void
groups_blocks_cut (Search *self,
                   guint   start,
                   guint   end,
                   guint   length)
{
  while (end - start >= MAX (length, LEAST_STRETCH))
    {
      guint from = start + MAX (length * 6 / 10, LEAST_STRETCH), to = MIN (start + length * 14 / 10, end), best = end;
      Stretch stretch = { .start = start, .name = N_("part") };
      double least = G_MAXDOUBLE;

      for (guint at = from; at <= to && end - start > length * 14 / 10; at++)
        {
          double cost = groups_blocks_rate_cut (self->level, at) + fabs (at - (start + (double) length)) / length;

          if (cost >= least)
            continue;
          least = cost;
          best = at;
        }
      stretch.end = best;
      g_array_append_val (self->stretches, stretch);
      start = best;
    }
}

static int
groups_blocks_compare (gconstpointer a,
                       gconstpointer b)
{
  const Stretch *sa = a, *sb = b;

  return sa->start < sb->start ? -1 : sa->start > sb->start;
}

/* What no block covers is cut, if it would be too much to see one by one. */
static void
groups_blocks_cut_rest (Search *self,
                        guint   most)
{
  guint n = self->level->n, at = 0, rest = n, n_blocks = self->stretches->len;

  g_array_sort (self->stretches, groups_blocks_compare);
  for (guint i = 0; i < n_blocks; i++)
    rest -= g_array_index (self->stretches, Stretch, i).end - g_array_index (self->stretches, Stretch, i).start;
  if (rest + n_blocks <= most)
    return;
  for (guint i = 0; i <= n_blocks; i++)
    {
      guint end = i < n_blocks ? g_array_index (self->stretches, Stretch, i).start : n;

      groups_blocks_cut (self, at, end, MAX (rest / N_STRETCHES, LEAST_STRETCH));
      if (i < n_blocks)
        at = g_array_index (self->stretches, Stretch, i).end;
    }
  g_array_sort (self->stretches, groups_blocks_compare);
}

/* ---- tree ---- */

static void
groups_blocks_sort_parts (const Level *level,
                          Part        *group)
{
  g_autoptr(GPtrArray) before = g_ptr_array_copy (group->parts, NULL, NULL);

  for (guint i = 0; i < level->n; i++)
    group->parts->pdata[i] = g_ptr_array_index (before, level->order[i]);
}

static void
groups_blocks_compact (Part *group)
{
  guint kept = 0;

  for (guint i = 0; i < group->parts->len; i++)
    if (g_ptr_array_index (group->parts, i) != NULL)
      group->parts->pdata[kept++] = g_ptr_array_index (group->parts, i);
  g_ptr_array_set_size (group->parts, (int) kept);
}

static guint
groups_blocks_count_groups (const Part *group)
{
  guint n = 0;

  for (guint i = 0; i < group->parts->len; i++)
    n += ((const Part *) g_ptr_array_index (group->parts, i))->parts != NULL;
  return n;
}

static void
groups_blocks_wrap (Part         *group,
                    const GArray *stretches)
{
  g_autofree guint *places = g_new (guint, group->parts->len + 1);

  for (guint i = 0; i < stretches->len; i++)
    {
      const Stretch *stretch = &g_array_index (stretches, Stretch, i);

      for (guint k = stretch->start; k < stretch->end; k++)
        places[k - stretch->start] = k;
      if (stretch->end > stretch->start + 1)
        {
          Part *part = vn_part_wrap (group, places, stretch->end - stretch->start, stretch->name);

          part->number = i + 1;
          part->is_bundle = stretch->is_bundle;
        }
    }
  groups_blocks_compact (group);
}

/* Layers of a transformer come several times, and so do residual blocks; where both are seen, the layer says more. */
static gboolean
groups_blocks_are_layers (Search *self,
                          Net    *net,
                          Part   *group)
{
  const Stretch *first = &g_array_index (self->stretches, Stretch, 0);
  g_autoptr(GPtrArray) parts = g_ptr_array_new ();
  VnGroupKind kind;

  if (self->stretches->len == 0)
    return FALSE;
  for (guint i = first->start; i < first->end; i++)
    g_ptr_array_add (parts, g_ptr_array_index (group->parts, self->level->order[i]));
  kind = vn_group_kind_of_parts (net->scene, (Part **) parts->pdata, parts->len);
  return kind == VN_GROUP_LAYER || kind == VN_GROUP_FUSED_LAYER;
}

static void
groups_blocks_find (Search *self,
                    Net    *net,
                    Part   *group,
                    guint   most)
{
  g_autoptr(GArray) repeated = NULL;

  if (2 * groups_blocks_count_groups (group) > group->parts->len)
    {
      groups_blocks_cut_bundles (self, MAX (self->level->n / N_BUNDLES, LEAST_STRETCH));
      if (self->stretches->len == 0)
        groups_blocks_cut (self, 0, self->level->n, MAX (self->level->n / N_BUNDLES, LEAST_STRETCH));
      return;
    }
  groups_blocks_search (self, 0, self->level->n);
  if (!groups_blocks_are_layers (self, net, group))
    {
      repeated = g_array_copy (self->stretches);
      g_array_set_size (self->stretches, 0);
      groups_blocks_find_branches (self, net, group);
      if (self->stretches->len > 0)
        return;
      g_array_append_vals (self->stretches, repeated->data, repeated->len);
    }
  groups_blocks_cut_rest (self, most);
}

/* Groups the children of @group until there are no more than @most. */
void
vn_groups_find_blocks (Net   *net,
                       Part  *group,
                       guint  most)
{
  guint before;

  g_return_if_fail (net != NULL && group != NULL);

  do
    {
      Level level;
      g_autoptr(GArray) stretches = g_array_new (FALSE, FALSE, sizeof (Stretch));
      Search search = { &level, stretches };

      before = group->parts->len;
      if (before <= most)
        return;
      vn_level_init (&level, net, group);
      groups_blocks_find (&search, net, group, most);
      groups_blocks_sort_parts (&level, group);
      groups_blocks_wrap (group, stretches);
      vn_level_clear (&level);
    }
  while (group->parts->len < before);
}

/* ---- layers ---- */

static gboolean
groups_blocks_is_half (VnGroupKind kind)
{
  return kind == VN_GROUP_ATTENTION || kind == VN_GROUP_FUSED_ATTENTION || kind == VN_GROUP_FEED_FORWARD;
}

/* The last narrow place with attention on one side and feed-forward on the other; 0: none. */
static guint
groups_blocks_find_half (Net         *net,
                         const Level *level,
                         Part        *group)
{
  for (guint at = level->n - 1; at > 0; at--)
    {
      VnGroupKind above, below;

      if (level->live[at] > 1)
        continue;
      above = vn_group_kind_of_parts (net->scene, (Part **) group->parts->pdata, at);
      if (!groups_blocks_is_half (above))
        continue;
      below = vn_group_kind_of_parts (net->scene, (Part **) group->parts->pdata + at, level->n - at);
      if (groups_blocks_is_half (below) && above != below)
        return at;
    }
  return 0;
}

/* Splits a layer of a transformer, unless names have done so already. */
void
vn_groups_split_layer (Net  *net,
                       Part *group)
{
  Level level;
  guint at;

  g_return_if_fail (net != NULL && group != NULL);

  if (group->parts->len < 2)
    return;
  vn_level_init (&level, net, group);
  groups_blocks_sort_parts (&level, group);
  at = groups_blocks_find_half (net, &level, group);
  if (at > 0)
    {
      g_autoptr(GArray) halves = g_array_new (FALSE, FALSE, sizeof (Stretch));
      Stretch above = { 0, at, N_("part") }, below = { at, level.n, N_("part") };

      g_array_append_val (halves, above);
      g_array_append_val (halves, below);
      groups_blocks_wrap (group, halves);
    }
  vn_level_clear (&level);
}

/* ---- cycles ---- */

/* One group and single nodes that lie between its nodes: these join it. Several groups: the smallest is given up. */
static void
groups_blocks_break_cycle (Part        *group,
                           GPtrArray   *parts)
{
  Part *smallest = NULL;
  guint n_groups = 0;

  for (guint i = 0; i < parts->len; i++)
    {
      Part *part = g_ptr_array_index (parts, i);

      if (part->parts == NULL)
        continue;
      n_groups++;
      if (smallest == NULL || part->n_nodes < smallest->n_nodes)
        smallest = part;
    }
  if (n_groups != 1)
    {
      if (n_groups > 1)
        vn_part_dissolve (group, smallest);
      return;
    }
  for (guint i = 0; i < parts->len; i++)
    {
      Part *part = g_ptr_array_index (parts, i);

      if (part == smallest)
        continue;
      g_ptr_array_remove (group->parts, part);
      part->parent = smallest;
      g_ptr_array_add (smallest->parts, part);
      smallest->n_nodes += part->n_nodes;
    }
}

/* Groups that feed one another in a circle cannot be drawn from top to bottom. */
void
vn_groups_break_cycles (Net  *net,
                        Part *group)
{
  gboolean found = TRUE;

  g_return_if_fail (net != NULL && group != NULL);

  while (found)
    {
      Level level;
      guint n_cycles;
      g_autofree guint *cycle = NULL;
      g_autofree GPtrArray **parts = NULL;

      vn_level_init (&level, net, group);
      cycle = vn_level_find_cycles (&level, &n_cycles);
      found = n_cycles < level.n;
      parts = g_new0 (GPtrArray *, n_cycles + 1);
      for (guint i = 0; i < n_cycles; i++)
        parts[i] = g_ptr_array_new ();
      for (guint i = 0; i < level.n; i++)
        g_ptr_array_add (parts[cycle[i]], g_ptr_array_index (group->parts, i));
      for (guint i = 0; i < n_cycles; i++)
        {
          if (parts[i]->len > 1)
            groups_blocks_break_cycle (group, parts[i]);
          g_ptr_array_unref (parts[i]);
        }
      vn_level_clear (&level);
    }
}
