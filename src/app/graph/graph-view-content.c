/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a graph view shows: what it offers of its content. */
#include "vn-graph-view-private.h"

/**
 * vn_graph_view_set_network:
 * @scene: (nullable): sealed; %NULL empties the view
 * @groups: (nullable): of a scene of the same geometry
 *
 * Shows a network, a large one in groups. It is laid out first, on a worker thread if much is to be seen; the old one stays until
 * then. A scene of the same geometry takes over places, selection, overlay and what is open at once. Emits ready, or failed.
 */
void
vn_graph_view_set_network (VnGraphView *self,
                           VnScene     *scene,
                           VnGroups    *groups)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_folding_stop (self->folding);
  vn_graph_content_set_network (self->parts.content, scene, groups);
}

/**
 * vn_graph_view_set_scene:
 * @scene: (nullable): sealed; %NULL empties the view
 *
 * As vn_graph_view_set_network(), without groups.
 */
void
vn_graph_view_set_scene (VnGraphView *self,
                         VnScene     *scene)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_view_set_network (self, scene, NULL);
}

/**
 * vn_graph_view_get_scene:
 *
 * Returns: (transfer none) (nullable): the network, with all its nodes
 */
VnScene *
vn_graph_view_get_scene (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->parts.content->whole;
}

/**
 * vn_graph_view_get_shown:
 *
 * Returns: (transfer none) (nullable): what is seen of it: closed groups are one box each
 */
VnScene *
vn_graph_view_get_shown (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->parts.content->scene;
}

/**
 * vn_graph_view_get_layout:
 *
 * Returns: (transfer none) (nullable): the layout of what is shown
 */
VnGraphLayout *
vn_graph_view_get_layout (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->parts.content->layout;
}

/**
 * vn_graph_view_get_index:
 *
 * Returns: (transfer none) (nullable): the index of what is shown
 */
VnGraphIndex *
vn_graph_view_get_index (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->parts.content->index;
}

/**
 * vn_graph_view_get_shown_overlay:
 *
 * Returns: (transfer none) (nullable): the overlay of what is shown
 */
VnOverlay *
vn_graph_view_get_shown_overlay (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->parts.content->overlay;
}

/**
 * vn_graph_view_set_overlay:
 * @overlay: (nullable): as many nodes as the scene set last
 *
 * Colors the nodes. A change is seen to happen.
 */
void
vn_graph_view_set_overlay (VnGraphView *self,
                           VnOverlay   *overlay)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_content_set_overlay (self->parts.content, overlay);
}

/**
 * vn_graph_view_get_overlay:
 *
 * Returns: (transfer none) (nullable): the overlay of all nodes
 */
VnOverlay *
vn_graph_view_get_overlay (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->parts.content->whole_overlay;
}

/**
 * vn_graph_view_set_page:
 * @page: width by height of the page that networks which are too long to be read as a whole are folded into columns for; 0: they
 *   stay one column
 *
 * What is in the middle of the view stays there; a network that is first seen as a whole, and still is, stays so.
 */
void
vn_graph_view_set_page (VnGraphView *self,
                        double       page)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self) && page >= 0);

  if (self->parts.content->page != page)
    self->wants_home = vn_viewport_get_opens_whole (self->parts.viewport) && vn_viewport_is_home (self->parts.viewport);
  vn_graph_content_set_page (self->parts.content, page);
}
