/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which groups of the graph view are open: opening and closing them, one or all, by their place in the tree or by the focus. */
#include "vn-graph-view-private.h"

#include <string.h>

static guint8 *
graph_view_open_dup_open (VnGraphView *self,
                          gboolean     all)
{
  guint n = vn_groups_get_n (self->groups);
  guint8 *open = g_new0 (guint8, n);

  open[VN_GROUPS_ROOT] = 1;
  for (guint i = 1; i < n; i++)
    open[i] = self->open != NULL && !all ? self->open[i] : all;
  return open;
}

/* Opens a group, with all it is in; or closes it. */
void
vn_graph_view_set_open (VnGraphView *self,
                        guint        group,
                        gboolean     is_open)
{
  guint8 *open;

  if (self->groups == NULL || group == VN_GROUPS_ROOT || group >= vn_groups_get_n (self->groups))
    return;
  open = graph_view_open_dup_open (self, FALSE);
  open[group] = is_open;
  for (guint above = vn_groups_get (self->groups, group)->parent; is_open && above != VN_SCENE_NONE;
       above = vn_groups_get (self->groups, above)->parent)
    open[above] = 1;
  if (self->open != NULL && memcmp (open, self->open, vn_groups_get_n (self->groups)) == 0)
    g_free (open);
  else
    vn_graph_view_take_open (self, open, group);
}

/**
 * vn_graph_view_get_grouped:
 *
 * Returns: whether groups are shown
 */
gboolean
vn_graph_view_get_grouped (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), FALSE);

  return self->open != NULL;
}

/**
 * vn_graph_view_set_grouped:
 *
 * Shows the network in groups, as many of them open as make a page that can be read, or all its nodes without groups.
 */
void
vn_graph_view_set_grouped (VnGraphView *self,
                           gboolean     grouped)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  if (self->groups == NULL || grouped == (self->open != NULL))
    return;
  vn_graph_view_take_open (self, grouped ? vn_groups_dup_open (self->groups, VN_GRAPH_VIEW_OPEN_BOXES) : NULL, VN_SCENE_NONE);
  vn_graph_view_go_home (self);
}

/**
 * vn_graph_view_is_open:
 *
 * Returns: whether a group is open, so that its children are seen
 */
gboolean
vn_graph_view_is_open (VnGraphView *self,
                       guint        group)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), FALSE);

  return self->fold != NULL && vn_fold_is_open (self->fold, group);
}

/**
 * vn_graph_view_expand:
 * @group: in the tree of groups
 *
 * Opens a group, and those it is in. It stays where it is, and so does what is above it.
 */
void
vn_graph_view_expand (VnGraphView *self,
                      guint        group)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_view_set_open (self, group, TRUE);
}

/**
 * vn_graph_view_collapse:
 * @group: in the tree of groups
 *
 * Closes a group. What is open in it will be so when it is opened again.
 */
void
vn_graph_view_collapse (VnGraphView *self,
                        guint        group)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_view_set_open (self, group, FALSE);
}

/**
 * vn_graph_view_expand_all:
 *
 * Opens all groups.
 */
void
vn_graph_view_expand_all (VnGraphView *self)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  if (self->groups != NULL)
    vn_graph_view_take_open (self, graph_view_open_dup_open (self, TRUE), VN_SCENE_NONE);
}

/**
 * vn_graph_view_collapse_all:
 *
 * Closes all groups.
 */
void
vn_graph_view_collapse_all (VnGraphView *self)
{
  guint8 *open;

  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  if (self->groups == NULL)
    return;
  open = g_new0 (guint8, vn_groups_get_n (self->groups));
  open[VN_GROUPS_ROOT] = 1;
  vn_graph_view_take_open (self, open, VN_SCENE_NONE);
  vn_graph_view_go_home (self);
}

/**
 * vn_graph_view_can_expand:
 *
 * Returns: whether the focus is on a closed group
 */
gboolean
vn_graph_view_can_expand (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), FALSE);

  return self->state.focus_node != VN_SCENE_NONE && vn_scene_get_node (self->scene, self->state.focus_node)->kind == VN_SCENE_GROUP;
}

/**
 * vn_graph_view_can_collapse:
 *
 * Returns: whether the focus is in an open group
 */
gboolean
vn_graph_view_can_collapse (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), FALSE);

  return self->state.focus_node != VN_SCENE_NONE && self->fold != NULL
         && vn_graph_view_get_parent (self, self->state.focus_node) != VN_GROUPS_ROOT;
}

/**
 * vn_graph_view_expand_focus:
 *
 * Opens the group that has the focus, and gives the focus to what it holds.
 *
 * Returns: %FALSE if it is none
 */
gboolean
vn_graph_view_expand_focus (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), FALSE);

  if (!vn_graph_view_can_expand (self))
    return FALSE;
  vn_graph_view_expand (self, vn_graph_view_get_group (self, self->state.focus_node));
  return TRUE;
}

/**
 * vn_graph_view_collapse_focus:
 *
 * Closes the group that holds the focus, and gives the focus to it.
 *
 * Returns: %FALSE if it is in none
 */
gboolean
vn_graph_view_collapse_focus (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), FALSE);

  if (!vn_graph_view_can_collapse (self))
    return FALSE;
  vn_graph_view_collapse (self, vn_graph_view_get_parent (self, self->state.focus_node));
  if (self->state.focus_node != VN_SCENE_NONE)
    vn_graph_view_reveal (self, self->state.focus_node);
  return TRUE;
}

/**
 * vn_graph_view_get_open:
 *
 * Returns: (transfer none) (nullable): for each group whether it is open, or will be as soon as that is laid out
 */
const guint8 *
vn_graph_view_get_open (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->open;
}

/**
 * vn_graph_view_set_open_groups:
 * @open: as many as there are groups
 *
 * Opens and closes groups, if they are shown. The camera stays.
 */
void
vn_graph_view_set_open_groups (VnGraphView  *self,
                               const guint8 *open)
{
  gsize n;

  g_return_if_fail (VN_IS_GRAPH_VIEW (self) && open != NULL);

  if (self->groups == NULL || self->open == NULL)
    return;
  n = vn_groups_get_n (self->groups);
  if (memcmp (open, self->open, n) != 0)
    vn_graph_view_take_open (self, g_memdup2 (open, n), VN_SCENE_NONE);
}
