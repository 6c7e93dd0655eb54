/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What part of the network a graph view shows: what it offers of its viewport. */
#include "vn-graph-view-private.h"

/**
 * vn_graph_view_get_camera:
 *
 * Returns: what is seen now
 */
VnGraphCamera
vn_graph_view_get_camera (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), ((VnGraphCamera) { 0 }));

  return vn_viewport_get_camera (self->parts.viewport);
}

/**
 * vn_graph_view_set_camera:
 *
 * Looks there at once; what was under way is given up. Some of the network stays in sight.
 */
void
vn_graph_view_set_camera (VnGraphView  *self,
                          VnGraphCamera camera)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self) && camera.zoom > 0);

  vn_viewport_stop (self->parts.viewport);
  vn_viewport_move (self->parts.viewport, camera);
}

/**
 * vn_graph_view_get_zoom:
 *
 * Returns: pixels per world unit; 1 is 100 %
 */
double
vn_graph_view_get_zoom (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), 0);

  return vn_viewport_get_camera (self->parts.viewport).zoom;
}

/**
 * vn_graph_view_set_zoom:
 * @zoom: clamped to what the view allows
 *
 * Zooms about the middle, animated.
 */
void
vn_graph_view_set_zoom (VnGraphView *self,
                        double       zoom)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_viewport_set_zoom (self->parts.viewport, zoom);
}

/**
 * vn_graph_view_zoom_in:
 *
 * One step closer, about the middle.
 */
void
vn_graph_view_zoom_in (VnGraphView *self)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_viewport_zoom_in (self->parts.viewport);
}

/**
 * vn_graph_view_zoom_out:
 *
 * One step away, about the middle.
 */
void
vn_graph_view_zoom_out (VnGraphView *self)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_viewport_zoom_out (self->parts.viewport);
}

/**
 * vn_graph_view_zoom_to_fit:
 *
 * Shows the whole network, at most at 100 %: of one that is first seen as a whole also what is still being laid out.
 */
void
vn_graph_view_zoom_to_fit (VnGraphView *self)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  if (self->parts.content->pending != NULL && vn_viewport_get_opens_whole (self->parts.viewport))
    self->wants_home = TRUE;
  vn_viewport_zoom_to_fit (self->parts.viewport);
}

/**
 * vn_graph_view_zoom_to_node:
 *
 * Travels to a node, coming close enough to read it, and makes it the focus. Groups that hide it are opened.
 */
void
vn_graph_view_zoom_to_node (VnGraphView *self,
                            guint        node)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_parts_zoom_to_node (&self->parts, node);
}

/**
 * vn_graph_view_center_on:
 * @world: comes to the middle of the view
 *
 * Travels there at the present zoom.
 */
void
vn_graph_view_center_on (VnGraphView *self,
                         VnPoint      world)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_viewport_center_on (self->parts.viewport, world);
}

/**
 * vn_graph_view_is_home:
 *
 * Returns: whether the network is seen as it was first shown, or is on its way there: nobody has moved it since
 */
gboolean
vn_graph_view_is_home (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), FALSE);

  return vn_viewport_is_home (self->parts.viewport);
}

/**
 * vn_graph_view_is_moving:
 *
 * Returns: whether the camera is on its way to somewhere
 */
gboolean
vn_graph_view_is_moving (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), FALSE);

  return vn_viewport_is_moving (self->parts.viewport);
}

/**
 * vn_graph_view_set_panels_func:
 * @panels: (nullable): tells what lies over the view, in its pixels, whenever that is asked
 * @data: for @panels; lives as long as the view
 *
 * A network that is shown as a whole, or for the first time, is seen beside that.
 */
void
vn_graph_view_set_panels_func (VnGraphView  *self,
                               VnRoomPanels  panels,
                               gpointer      data)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_viewport_set_panels_func (self->parts.viewport, panels, data);
}

/**
 * vn_graph_view_panels_changed:
 *
 * Other panels lie over the view: who has not moved the network sees it beside them.
 */
void
vn_graph_view_panels_changed (VnGraphView *self)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_viewport_panels_changed (self->parts.viewport);
}

/**
 * vn_graph_view_set_opens_whole:
 *
 * A network is first seen as a whole, readable or not.
 */
void
vn_graph_view_set_opens_whole (VnGraphView *self,
                               gboolean     opens_whole)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_viewport_set_opens_whole (self->parts.viewport, opens_whole);
}
