/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is done with what is shown, what is selected and the camera together: travelling to boxes, and groups at the focus. */
#include "vn-graph-parts.h"

/**
 * vn_graph_parts_reveal:
 *
 * Scrolls just enough to see a box.
 */
void
vn_graph_parts_reveal (const VnGraphParts *self,
                       guint               box)
{
  g_return_if_fail (self != NULL && self->content->layout != NULL);

  vn_viewport_reveal (self->viewport, vn_graph_layout_get_box (self->content->layout, box));
}

/**
 * vn_graph_parts_zoom_to_box:
 * @box: nothing is done if there is no such box
 *
 * Travels to a box, coming close enough to read it, and makes it the focus.
 */
void
vn_graph_parts_zoom_to_box (const VnGraphParts *self,
                            guint               box)
{
  VnGraphLayout *layout;

  g_return_if_fail (self != NULL);

  layout = self->content->layout;
  if (layout == NULL || box >= vn_graph_layout_get_n_nodes (layout))
    return;
  vn_graph_selection_focus (self->selection, box);
  vn_viewport_read (self->viewport, vn_graph_layout_get_box (layout, box));
}

/**
 * vn_graph_parts_zoom_to_node:
 *
 * Travels to a node, coming close enough to read it, and makes it the focus. Groups that hide it are opened.
 */
void
vn_graph_parts_zoom_to_node (const VnGraphParts *self,
                             guint               node)
{
  guint box;

  g_return_if_fail (self != NULL);

  box = vn_graph_content_get_box (self->content, node);
  if (vn_graph_content_is_group (self->content, box))
    vn_graph_content_open_for (self->content, node);
  else
    vn_graph_parts_zoom_to_box (self, box);
}

/**
 * vn_graph_parts_next_bad:
 * @step: 1 forwards, -1 backwards, in the order of the nodes
 *
 * Travels to the next bad node after the focus, round the end, and selects it. A group that hides it opens.
 *
 * Returns: %FALSE if no node is bad
 */
gboolean
vn_graph_parts_next_bad (const VnGraphParts *self,
                         int                 step)
{
  VnOverlay *overlay;
  guint n, at;

  g_return_val_if_fail (self != NULL, FALSE);

  overlay = self->content->whole_overlay;
  n = vn_graph_content_get_n_nodes (self->content);
  at = vn_graph_content_get_node (self->content, self->selection->focus);
  if (at == VN_SCENE_NONE)
    at = step > 0 ? n - 1 : 0;
  for (guint i = 0; overlay != NULL && i < n; i++)
    {
      const VnOverlayItem *item;

      at = (at + n + (guint) step) % n;
      item = vn_overlay_get (overlay, at);
      if (!item->measured || !item->is_bad)
        continue;
      vn_graph_selection_select (self->selection, &at, 1, FALSE);
      vn_graph_parts_zoom_to_node (self, at);
      return TRUE;
    }
  return FALSE;
}

/**
 * vn_graph_parts_can_collapse:
 *
 * Returns: whether the focus is in an open group
 */
gboolean
vn_graph_parts_can_collapse (const VnGraphParts *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->selection->focus != VN_SCENE_NONE && self->content->fold != NULL
         && vn_graph_content_get_parent (self->content, self->selection->focus) != VN_GROUPS_ROOT;
}

/**
 * vn_graph_parts_expand_focus:
 *
 * Opens the group that has the focus, and gives the focus to what it holds.
 *
 * Returns: %FALSE if it is none
 */
gboolean
vn_graph_parts_expand_focus (const VnGraphParts *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (!vn_graph_content_is_group (self->content, self->selection->focus))
    return FALSE;
  vn_graph_content_set_open (self->content, vn_graph_content_get_group (self->content, self->selection->focus), TRUE);
  return TRUE;
}

/**
 * vn_graph_parts_collapse_focus:
 *
 * Closes the group that holds the focus, and gives the focus to it.
 *
 * Returns: %FALSE if it is in none
 */
gboolean
vn_graph_parts_collapse_focus (const VnGraphParts *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (!vn_graph_parts_can_collapse (self))
    return FALSE;
  vn_graph_content_set_open (self->content, vn_graph_content_get_parent (self->content, self->selection->focus), FALSE);
  if (self->selection->focus != VN_SCENE_NONE)
    vn_graph_parts_reveal (self, self->selection->focus);
  return TRUE;
}
