/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which groups are open: opening and closing them, one or all, by their place in the tree. */
#include "vn-graph-content.h"

#include <string.h>

static guint8 *
content_dup_open (VnGraphContent *self)
{
  guint n = vn_groups_get_n (self->groups);
  guint8 *open = self->open != NULL ? g_memdup2 (self->open, n) : g_new0 (guint8, n);

  open[VN_GROUPS_ROOT] = 1;
  return open;
}

/**
 * vn_graph_content_set_open:
 * @group: in the tree of groups
 *
 * Opens a group, with all it is in: it stays where it is, and so does what is above it. Or closes it: what is open in it
 * will be so when it is opened again.
 */
void
vn_graph_content_set_open (VnGraphContent *self,
                           guint           group,
                           gboolean        is_open)
{
  guint8 *open;

  g_return_if_fail (VN_IS_GRAPH_CONTENT (self));

  if (self->groups == NULL || group == VN_GROUPS_ROOT || group >= vn_groups_get_n (self->groups))
    return;
  open = content_dup_open (self);
  open[group] = is_open;
  for (guint above = vn_groups_get (self->groups, group)->parent; is_open && above != VN_SCENE_NONE;
       above = vn_groups_get (self->groups, above)->parent)
    open[above] = 1;
  if (self->open != NULL && memcmp (open, self->open, vn_groups_get_n (self->groups)) == 0)
    g_free (open);
  else
    vn_graph_content_take_open (self, open, group);
}

/**
 * vn_graph_content_is_open:
 *
 * Returns: whether a group is open, so that its children are seen
 */
gboolean
vn_graph_content_is_open (VnGraphContent *self,
                          guint           group)
{
  g_return_val_if_fail (VN_IS_GRAPH_CONTENT (self), FALSE);

  return self->fold != NULL && vn_fold_is_open (self->fold, group);
}

/**
 * vn_graph_content_set_grouped:
 *
 * Shows the network in groups, as many of them open as make a page that can be read, or all its nodes without groups.
 *
 * Returns: whether that changes something
 */
gboolean
vn_graph_content_set_grouped (VnGraphContent *self,
                              gboolean        is_grouped)
{
  guint8 *open = NULL;

  g_return_val_if_fail (VN_IS_GRAPH_CONTENT (self), FALSE);

  if (self->groups == NULL || is_grouped == (self->open != NULL))
    return FALSE;
  if (is_grouped)
    open = self->alignment != NULL ? vn_alignment_dup_open (self->alignment, VN_GRAPH_OPEN_BOXES)
                                   : vn_groups_dup_open (self->groups, VN_GRAPH_OPEN_BOXES);
  vn_graph_content_take_open (self, open, VN_SCENE_NONE);
  return TRUE;
}

/**
 * vn_graph_content_set_all_open:
 *
 * Opens all groups, or closes all.
 *
 * Returns: %FALSE if there are none
 */
gboolean
vn_graph_content_set_all_open (VnGraphContent *self,
                               gboolean        is_open)
{
  guint8 *open;

  g_return_val_if_fail (VN_IS_GRAPH_CONTENT (self), FALSE);

  if (self->groups == NULL)
    return FALSE;
  open = g_malloc (vn_groups_get_n (self->groups));
  memset (open, is_open, vn_groups_get_n (self->groups));
  open[VN_GROUPS_ROOT] = 1;
  vn_graph_content_take_open (self, open, VN_SCENE_NONE);
  return TRUE;
}

/**
 * vn_graph_content_set_open_groups:
 * @open: as many as there are groups
 *
 * Opens and closes groups, if they are shown.
 */
void
vn_graph_content_set_open_groups (VnGraphContent *self,
                                  const guint8   *open)
{
  gsize n;

  g_return_if_fail (VN_IS_GRAPH_CONTENT (self) && open != NULL);

  if (self->groups == NULL || self->open == NULL)
    return;
  n = vn_groups_get_n (self->groups);
  if (memcmp (open, self->open, n) != 0)
    vn_graph_content_take_open (self, g_memdup2 (open, n), VN_SCENE_NONE);
}

/**
 * vn_graph_content_open_for:
 * @node: one that a closed group hides
 *
 * Opens what hides a node, and tells then that somebody wants to see it.
 */
void
vn_graph_content_open_for (VnGraphContent *self,
                           guint           node)
{
  g_return_if_fail (VN_IS_GRAPH_CONTENT (self) && self->groups != NULL);

  self->pending_travel = node;
  vn_graph_content_set_open (self, vn_groups_of_node (self->groups, node), TRUE);
}
