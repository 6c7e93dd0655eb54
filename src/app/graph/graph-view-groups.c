/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which groups a graph view shows open: what it offers of its content. */
#include "vn-graph-view-private.h"

/**
 * vn_graph_view_get_groups:
 *
 * Returns: (transfer none) (nullable): those of the network that is shown or being laid out
 */
VnGroups *
vn_graph_view_get_groups (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->parts.content->groups;
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

  return self->parts.content->open != NULL;
}

/**
 * vn_graph_view_set_grouped:
 *
 * Shows the network in groups, as many of them open as make a page that can be read, or all its nodes without groups. What is in
 * the middle of the view stays there.
 */
void
vn_graph_view_set_grouped (VnGraphView *self,
                           gboolean     grouped)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_content_set_grouped (self->parts.content, grouped);
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

  return vn_graph_content_is_open (self->parts.content, group);
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

  vn_graph_content_set_open (self->parts.content, group, TRUE);
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

  vn_graph_content_set_open (self->parts.content, group, FALSE);
}

/**
 * vn_graph_view_expand_all:
 *
 * Opens all groups. What is in the middle of the view stays there.
 */
void
vn_graph_view_expand_all (VnGraphView *self)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_content_set_all_open (self->parts.content, TRUE);
}

/**
 * vn_graph_view_collapse_all:
 *
 * Closes all groups. What is in the middle of the view stays there.
 */
void
vn_graph_view_collapse_all (VnGraphView *self)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_content_set_all_open (self->parts.content, FALSE);
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

  return vn_graph_content_is_group (self->parts.content, self->parts.selection->focus);
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

  return vn_graph_parts_can_collapse (&self->parts);
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

  return vn_graph_parts_expand_focus (&self->parts);
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

  return vn_graph_parts_collapse_focus (&self->parts);
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

  return self->parts.content->open;
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
  g_return_if_fail (VN_IS_GRAPH_VIEW (self) && open != NULL);

  vn_graph_content_set_open_groups (self->parts.content, open);
}
