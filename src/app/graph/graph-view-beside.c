/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a graph view does for another one beside it: shows its network where that one is, and what the pointer is over there. */
#include "vn-graph-view-private.h"

/**
 * vn_graph_view_set_alignment:
 * @side: 0 or 1: whose scene is shown
 * @open: (nullable): by group of the alignment whether it is open; %NULL: groups are not shown
 *
 * As vn_graph_view_set_network(), laid out together with the network beside it. Of the network that is shown already what is in
 * the middle of the view stays there, if somebody has moved it.
 */
void
vn_graph_view_set_alignment (VnGraphView *self,
                             VnAlignment *alignment,
                             guint        side,
                             const guint8 *open)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self) && alignment != NULL);

  vn_graph_folding_stop (self->folding);
  self->wants_home = vn_viewport_is_home (self->parts.viewport);
  vn_graph_content_set_alignment (self->parts.content, alignment, side, open);
}

/**
 * vn_graph_view_hold_camera:
 * @holds: %TRUE before what is shown is changed because the other view's was, %FALSE after that
 *
 * The camera stays where it is when that is shown: the other view moves it.
 */
void
vn_graph_view_hold_camera (VnGraphView *self,
                           gboolean     holds)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  self->holds_camera = holds || (self->holds_camera && self->parts.content->pending != NULL);
}

/**
 * vn_graph_view_get_alignment:
 *
 * Returns: (transfer none) (nullable): with the network beside it that it is laid out with
 */
VnAlignment *
vn_graph_view_get_alignment (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->parts.content->alignment;
}

/**
 * vn_graph_view_go_home:
 *
 * Shows the network as it is first shown.
 */
void
vn_graph_view_go_home (VnGraphView *self)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_viewport_go_home (self->parts.viewport);
}

/**
 * vn_graph_view_make_home:
 *
 * What is seen now counts as what is first seen.
 */
void
vn_graph_view_make_home (VnGraphView *self)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_viewport_make_home (self->parts.viewport);
}

/**
 * vn_graph_view_get_fit:
 *
 * Returns: the zoom at which the whole network is shown
 */
double
vn_graph_view_get_fit (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), 1);

  return vn_viewport_get_fit (self->parts.viewport).zoom;
}

/**
 * vn_graph_view_get_hover_node:
 *
 * Returns: the node that the pointer is over, here or by vn_graph_view_set_hover_node(), or %VN_SCENE_NONE
 */
guint
vn_graph_view_get_hover_node (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), VN_SCENE_NONE);

  return vn_graph_content_get_node (self->parts.content, self->parts.hover->node);
}

/**
 * vn_graph_view_set_hover_node:
 * @node: or %VN_SCENE_NONE
 *
 * Shows a node as if the pointer were over it, until it really is over this view. Emits nothing.
 */
void
vn_graph_view_set_hover_node (VnGraphView *self,
                              guint        node)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  if (vn_graph_hover_mirror (self->parts.hover, vn_graph_content_get_box (self->parts.content, node)))
    gtk_widget_queue_draw (GTK_WIDGET (self));
}

/**
 * vn_graph_view_get_place:
 * @node: of the scene
 * @place: (out): its box, or that of the closed group it is in
 *
 * Returns: %FALSE if nothing is laid out yet, or there is no such node
 */
gboolean
vn_graph_view_get_place (VnGraphView *self,
                         guint        node,
                         VnRect      *place)
{
  VnGraphContent *content;
  guint box;

  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self) && place != NULL, FALSE);

  content = self->parts.content;
  box = vn_graph_content_get_box (content, node);
  if (content->layout == NULL || box == VN_SCENE_NONE)
    return FALSE;
  *place = *vn_graph_layout_get_box (content->layout, box);
  return TRUE;
}
