/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The edges of the selection: selecting the tensor of one, stepping from one to the next by a key, and leaving them. */
#include "graph-selection-private.h"

#include <string.h>

/**
 * vn_graph_selection_select_edge:
 * @edge: of what is shown
 *
 * Selects a tensor; nodes are let go, but the keyboard goes on from the node it was at.
 */
void
vn_graph_selection_select_edge (VnGraphSelection *self,
                                guint             edge)
{
  guint home;

  g_return_if_fail (VN_IS_GRAPH_SELECTION (self));

  home = self->focus;
  memset (self->picked, 0, vn_graph_content_get_n_nodes (self->content));
  g_free (self->tensor);
  self->tensor = g_strdup (vn_scene_get_edge (self->content->scene, edge)->value);
  self->edge = edge;
  vn_graph_selection_focus (self, VN_SCENE_NONE);
  if (home != VN_SCENE_NONE)
    self->edge_home = home;
  g_signal_emit_by_name (self, "edge-changed");
  _vn_graph_selection_was_changed (self);
}

/* The edges of a box, those that enter it first. */
static GArray *
selection_edges_list (VnGraphSelection *self,
                      guint             box)
{
  GArray *edges = g_array_new (FALSE, FALSE, sizeof (guint));
  guint n;
  const guint *some = vn_scene_get_in_edges (self->content->scene, box, &n);

  g_array_append_vals (edges, some, n);
  some = vn_scene_get_out_edges (self->content->scene, box, &n);
  g_array_append_vals (edges, some, n);
  return edges;
}

/* The box whose edges a key steps through. */
static guint
selection_edges_get_home (VnGraphSelection *self)
{
  if (self->edge == VN_SCENE_NONE)
    return self->focus;
  return self->edge_home != VN_SCENE_NONE ? self->edge_home : vn_scene_get_edge (self->content->scene, self->edge)->from;
}

/**
 * vn_graph_selection_step_edge:
 *
 * Selects the next edge of the box that has the focus, or the one before; after the last comes the first.
 *
 * Returns: %FALSE if it has none
 */
gboolean
vn_graph_selection_step_edge (VnGraphSelection *self,
                              gboolean          forward)
{
  guint home, at;
  g_autoptr(GArray) edges = NULL;

  g_return_val_if_fail (VN_IS_GRAPH_SELECTION (self), FALSE);

  home = selection_edges_get_home (self);
  edges = home != VN_SCENE_NONE ? selection_edges_list (self, home) : NULL;
  if (edges == NULL || edges->len == 0)
    return FALSE;
  for (at = 0; at < edges->len; at++)
    if (g_array_index (edges, guint, at) == self->edge)
      break;
  if (at == edges->len)
    at = forward ? 0 : edges->len - 1;
  else
    at = (at + (forward ? 1 : edges->len - 1)) % edges->len;
  vn_graph_selection_select_edge (self, g_array_index (edges, guint, at));
  self->edge_home = home;
  return TRUE;
}

/**
 * vn_graph_selection_leave_edge:
 * @end: which
 *
 * From a selected edge to a box, which is selected and has the focus then.
 *
 * Returns: %FALSE if there is no such box
 */
gboolean
vn_graph_selection_leave_edge (VnGraphSelection *self,
                               VnEdgeEnd         end)
{
  const VnSceneEdge *edge;
  guint box;

  g_return_val_if_fail (VN_IS_GRAPH_SELECTION (self), FALSE);

  if (self->edge == VN_SCENE_NONE)
    return FALSE;
  edge = vn_scene_get_edge (self->content->scene, self->edge);
  box = end == VN_EDGE_HOME ? self->edge_home : end == VN_EDGE_SOURCE ? edge->from : edge->to;
  if (box == VN_SCENE_NONE)
    return FALSE;
  vn_graph_selection_select_box (self, box, FALSE);
  vn_graph_selection_focus (self, box);
  return TRUE;
}
