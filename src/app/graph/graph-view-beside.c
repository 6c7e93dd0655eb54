/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a graph view does for another one beside it: takes its camera and the node that the pointer is over. */
#include "vn-graph-view-private.h"

/**
 * vn_graph_view_set_camera:
 *
 * Looks there at once; what was under way is given up. Some of the network stays in sight.
 */
void
vn_graph_view_set_camera (VnGraphView   *self,
                          VnGraphCamera  camera)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self) && camera.zoom > 0);

  vn_graph_view_stop (self);
  vn_graph_view_move (self, camera);
}

/**
 * vn_graph_view_get_hover_node:
 *
 * Returns: the node that the pointer is over, here or by vn_graph_view_set_hover_node(), or %VN_SCENE_NONE
 */
guint
vn_graph_view_get_hover_node (VnGraphView *self)
{
  guint n;

  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), VN_SCENE_NONE);

  return self->state.hover_node != VN_SCENE_NONE ? vn_graph_view_get_nodes (self, &self->state.hover_node, &n)[0] : VN_SCENE_NONE;
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
  guint box;

  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  box = node != VN_SCENE_NONE ? vn_graph_view_get_box (self, node) : VN_SCENE_NONE;
  if (self->has_pointer || box == self->state.hover_node)
    return;
  self->hover_is_mirrored = box != VN_SCENE_NONE;
  self->state.hover_node = box;
  self->state.hover_edge = self->state.hover_stub = VN_SCENE_NONE;
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
  VnRect area;

  g_return_if_fail (VN_IS_GRAPH_VIEW (self) && nodes != NULL);

  g_array_set_size (nodes, 0);
  if (self->index == NULL)
    return;
  area = (VnRect) { self->camera.origin.x, self->camera.origin.y, gtk_widget_get_width (GTK_WIDGET (self)) / self->camera.zoom,
                    gtk_widget_get_height (GTK_WIDGET (self)) / self->camera.zoom };
  vn_graph_index_find_nodes (self->index, area, nodes);
  for (guint i = 0; i < nodes->len; i++)
    {
      guint n;

      g_array_index (nodes, guint, i) = vn_graph_view_get_nodes (self, &g_array_index (nodes, guint, i), &n)[0];
    }
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
  guint box;

  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self) && place != NULL, FALSE);

  box = vn_graph_view_get_box (self, node);
  if (self->layout == NULL || box == VN_SCENE_NONE)
    return FALSE;
  *place = *vn_graph_layout_get_box (self->layout, box);
  return TRUE;
}
