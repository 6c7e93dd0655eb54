/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graph of each open group: its children, what enters it and what leaves it; and the pieces an edge consists of. */
#include "fold-private.h"

#include <string.h>

#define PORT_WIDTH 8.

static guint
fold_levels_add_node (FoldLevel        *level,
                      double            width,
                      double            height,
                      VnGraphLayoutPin  pin,
                      guint             box,
                      guint             group)
{
  VnGraphLayoutNode node = { width, height, pin };

  g_array_append_val (level->nodes, node);
  g_array_append_val (level->boxes, box);
  g_array_append_val (level->groups, group);
  return level->nodes->len - 1;
}

static void
fold_levels_add_child (VnFold       *self,
                       FoldLevel    *level,
                       VnGroupChild  child,
                       guint        *local_of)
{
  static const VnSceneNode closed = { .kind = VN_SCENE_GROUP };
  guint n_nodes = vn_scene_get_n_nodes (self->whole);
  gboolean is_open = child.is_group && self->open[child.index];
  const VnSceneNode *node = child.is_group ? &closed : vn_scene_get_node (self->whole, child.index);
  guint local, box = VN_SCENE_NONE;
  double width, height;

  vn_scene_node_get_size (node, &width, &height);
  if (child.is_group && !is_open)
    {
      VnGroupChild inner = child;
      guint n;

      while (inner.is_group)
        inner = vn_groups_get_children (self->groups, inner.index, &n)[0];
      box = self->box_of[inner.index];
    }
  else if (!child.is_group)
    {
      box = self->box_of[child.index];
    }
  local = fold_levels_add_node (level, width, height, VN_PIN_NONE, box, is_open ? child.index : VN_SCENE_NONE);
  local_of[child.is_group ? n_nodes + child.index : child.index] = local;
}

/* Makes a level of every group that is seen open. */
void
vn_fold_add_levels (VnFold *self)
{
  guint n_groups;

  g_return_if_fail (self != NULL);

  n_groups = vn_groups_get_n (self->groups);
  self->local_of = g_new (guint, vn_scene_get_n_nodes (self->whole) + n_groups);
  self->level_of = g_new (guint, n_groups);
  memset (self->level_of, 0xff, sizeof (guint) * n_groups);
  for (guint group = 0; group < n_groups; group++)
    {
      guint parent = vn_groups_get (self->groups, group)->parent, n;
      const VnGroupChild *children = vn_groups_get_children (self->groups, group, &n);
      FoldLevel level = { .group = group };

      if (!self->open[group] || (parent != VN_SCENE_NONE && self->level_of[parent] == VN_SCENE_NONE))
        continue;
      level.nodes = g_array_new (FALSE, FALSE, sizeof (VnGraphLayoutNode));
      level.edges = g_array_new (FALSE, FALSE, sizeof (VnGraphLayoutEdge));
      level.boxes = g_array_new (FALSE, FALSE, sizeof (guint));
      level.groups = g_array_new (FALSE, FALSE, sizeof (guint));
      level.known = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
      level.entries = g_hash_table_new (NULL, NULL);
      level.exits = g_hash_table_new (NULL, NULL);
      for (guint i = 0; i < n; i++)
        fold_levels_add_child (self, &level, children[i], self->local_of);
      self->level_of[group] = self->levels->len;
      g_array_append_val (self->levels, level);
    }
}

/* ---- chains ---- */

static guint
fold_levels_get_port (FoldLevel        *level,
                      GHashTable       *ports,
                      guint             value,
                      VnGraphLayoutPin  pin)
{
  guint known = GPOINTER_TO_UINT (g_hash_table_lookup (ports, GUINT_TO_POINTER (value + 1)));

  if (known == 0)
    {
      known = fold_levels_add_node (level, PORT_WIDTH, 0, pin, VN_SCENE_NONE, VN_SCENE_NONE) + 1;
      g_hash_table_insert (ports, GUINT_TO_POINTER (value + 1), GUINT_TO_POINTER (known));
    }
  return known - 1;
}

/* Between two nodes every input has an edge of its own; else a tensor goes to a place once. */
static void
fold_levels_add_piece (VnFold   *self,
                       guint     at,
                       guint     from,
                       guint     to,
                       guint     value,
                       gboolean  is_single)
{
  FoldLevel *level = &g_array_index (self->levels, FoldLevel, at);
  gint64 key = ((gint64) value << 32) + to;
  guint known = is_single ? 0 : GPOINTER_TO_UINT (g_hash_table_lookup (level->known, &key));
  FoldPiece piece;

  if (known == 0)
    {
      VnGraphLayoutEdge edge = { from, to, value, level->edges->len };

      g_array_append_val (level->edges, edge);
      known = level->edges->len;
      if (!is_single)
        g_hash_table_insert (level->known, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (known));
    }
  piece = (FoldPiece) { at, known - 1 };
  g_array_append_val (self->pieces, piece);
}

typedef struct { guint group, local; gboolean is_node; } End;

/* The innermost open group that shows a node, and as what. */
static End
fold_levels_find_end (const VnFold *self,
                      guint         node)
{
  End end = { vn_groups_of_node (self->groups, node), self->local_of[node], TRUE };
  guint shown = end.group, child = VN_SCENE_NONE, below = VN_SCENE_NONE;

  for (guint group = end.group; group != VN_SCENE_NONE; group = vn_groups_get (self->groups, group)->parent)
    {
      if (self->level_of[group] == VN_SCENE_NONE)
        {
          shown = VN_SCENE_NONE;
        }
      else if (shown == VN_SCENE_NONE)
        {
          shown = group;
          child = below;
        }
      below = group;
    }
  end.group = shown;
  if (child != VN_SCENE_NONE)
    {
      end.local = self->local_of[vn_scene_get_n_nodes (self->whole) + child];
      end.is_node = FALSE;
    }
  return end;
}

static End
fold_levels_step_out (const VnFold *self,
                      End           end)
{
  guint parent = vn_groups_get (self->groups, end.group)->parent;

  return (End) { parent, self->local_of[vn_scene_get_n_nodes (self->whole) + end.group], FALSE };
}

static void
fold_levels_enter (VnFold *self,
                   End     to,
                   guint   above,
                   guint   value)
{
  guint level = self->level_of[to.group];
  FoldLevel *data = &g_array_index (self->levels, FoldLevel, level);

  if (to.group == above)
    return;
  fold_levels_enter (self, fold_levels_step_out (self, to), above, value);
  fold_levels_add_piece (self, level, fold_levels_get_port (data, data->entries, value, VN_PIN_TOP), to.local, value,
                         to.is_node);
}

/* Appends the pieces of the edge from @from to @to: out of the groups that only @from is in, across the one both are in, and into
 * those that only @to is in. */
void
vn_fold_add_chain (VnFold *self,
                   guint   from,
                   guint   to,
                   guint   value)
{
  End a, b, inner;

  g_return_if_fail (self != NULL);

  a = fold_levels_find_end (self, from);
  b = inner = fold_levels_find_end (self, to);
  while (a.group != b.group)
    {
      guint da = vn_groups_get (self->groups, a.group)->depth, db = vn_groups_get (self->groups, b.group)->depth;

      if (db >= da)
        {
          b = fold_levels_step_out (self, b);
        }
      if (da >= db)
        {
          guint level = self->level_of[a.group];
          FoldLevel *data = &g_array_index (self->levels, FoldLevel, level);

          fold_levels_add_piece (self, level, a.local, fold_levels_get_port (data, data->exits, value, VN_PIN_BOTTOM), value,
                                 FALSE);
          a = fold_levels_step_out (self, a);
        }
    }
  fold_levels_add_piece (self, self->level_of[a.group], a.local, b.local, value, a.is_node && b.is_node);
  fold_levels_enter (self, inner, a.group, value);
}
