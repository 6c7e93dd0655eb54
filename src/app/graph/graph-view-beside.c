/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a graph view does for another one beside it: takes its layout, and the node that the pointer is over. */
#include "vn-graph-view-private.h"

/**
 * vn_graph_view_set_network_like:
 * @scene: sealed
 * @groups: (nullable): of the scene
 * @other: shows a scene
 *
 * As vn_graph_view_set_network(), but a scene without closed groups of the same geometry as that of @other is not laid out again.
 */
void
vn_graph_view_set_network_like (VnGraphView *self,
                                VnScene     *scene,
                                VnGroups    *groups,
                                VnGraphView *other)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self) && VN_IS_GRAPH_VIEW (other) && scene != NULL);

  vn_graph_folding_stop (self->folding);
  vn_graph_content_set_network_like (self->parts.content, scene, groups, other->parts.content);
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
 * vn_graph_view_list_visible:
 * @nodes: (element-type guint): emptied, then filled
 *
 * Tells what is in sight now; of a closed group its first node.
 */
void
vn_graph_view_list_visible (VnGraphView *self,
                            GArray      *nodes)
{
  VnGraphContent *content;

  g_return_if_fail (VN_IS_GRAPH_VIEW (self) && nodes != NULL);

  content = self->parts.content;
  g_array_set_size (nodes, 0);
  if (content->index == NULL)
    return;
  vn_graph_index_find_nodes (content->index, vn_viewport_get_area (self->parts.viewport), nodes);
  for (guint i = 0; i < nodes->len; i++)
    g_array_index (nodes, guint, i) = vn_graph_content_get_node (content, g_array_index (nodes, guint, i));
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
