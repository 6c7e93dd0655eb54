/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The selected tensor of the graph view: kept by its name, whatever boxes there are, and stepped through by a key. */
#include "vn-graph-view-private.h"

#include "vn-i18n.h"

#include <string.h>

/* An edge that has the tensor, the one at @box if there is such. */
static guint
graph_view_edges_find (VnGraphView *self,
                       const char  *tensor)
{
  for (guint i = 0; self->scene != NULL && i < vn_scene_get_n_edges (self->scene); i++)
    if (g_strcmp0 (vn_scene_get_edge (self->scene, i)->value, tensor) == 0)
      return i;
  return VN_SCENE_NONE;
}

static void
graph_view_edges_tell (VnGraphView *self)
{
  const VnSceneEdge *edge = vn_scene_get_edge (self->scene, self->state.selected_edge);
  g_autofree char *from = vn_graph_view_dup_box_label (self, edge->from), *to = vn_graph_view_dup_box_label (self, edge->to);
  g_autofree char *label = g_strdup_printf (_("Tensor %s, from %s to %s"), edge->value, from, to);

  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, label, -1);
}

/* Selects a tensor; nodes are let go, but the keyboard goes on from the node it was at. */
void
vn_graph_view_select_edge (VnGraphView *self,
                           guint        edge)
{
  guint home = self->state.focus_node;

  vn_graph_view_let_go (self);
  g_free (self->tensor);
  self->tensor = g_strdup (vn_scene_get_edge (self->scene, edge)->value);
  self->state.selected_edge = edge;
  vn_graph_view_focus_box (self, VN_SCENE_NONE);
  if (home != VN_SCENE_NONE)
    self->edge_home = home;
  graph_view_edges_tell (self);
  vn_graph_view_selection_changed (self);
}

/* After other boxes are shown: the tensor is still selected, if it lies between two of them. */
void
vn_graph_view_refold_edge (VnGraphView *self)
{
  self->edge_home = VN_SCENE_NONE;
  self->state.selected_edge = self->tensor != NULL ? graph_view_edges_find (self, self->tensor) : VN_SCENE_NONE;
}

/* Nodes are selected instead. */
void
vn_graph_view_forget_edge (VnGraphView *self)
{
  g_clear_pointer (&self->tensor, g_free);
  self->state.selected_edge = VN_SCENE_NONE;
  self->edge_home = VN_SCENE_NONE;
}

/* The edges of a box, those that enter it first. */
static GArray *
graph_view_edges_list (VnGraphView *self,
                       guint        box)
{
  GArray *edges = g_array_new (FALSE, FALSE, sizeof (guint));
  guint n;
  const guint *some = vn_scene_get_in_edges (self->scene, box, &n);

  g_array_append_vals (edges, some, n);
  some = vn_scene_get_out_edges (self->scene, box, &n);
  g_array_append_vals (edges, some, n);
  return edges;
}

/* The box whose edges a key steps through. */
static guint
graph_view_edges_get_home (VnGraphView *self)
{
  if (self->state.selected_edge == VN_SCENE_NONE)
    return self->state.focus_node;
  return self->edge_home != VN_SCENE_NONE ? self->edge_home : vn_scene_get_edge (self->scene, self->state.selected_edge)->from;
}

/* Selects the next edge of the box that has the focus, or the one before; after the last comes the first. */
gboolean
vn_graph_view_step_edge (VnGraphView *self,
                         gboolean     forward)
{
  guint home = graph_view_edges_get_home (self), at;
  g_autoptr(GArray) edges = home != VN_SCENE_NONE ? graph_view_edges_list (self, home) : NULL;

  if (edges == NULL || edges->len == 0)
    return FALSE;
  for (at = 0; at < edges->len; at++)
    if (g_array_index (edges, guint, at) == self->state.selected_edge)
      break;
  if (at == edges->len)
    at = forward ? 0 : edges->len - 1;
  else
    at = (at + (forward ? 1 : edges->len - 1)) % edges->len;
  vn_graph_view_select_edge (self, g_array_index (edges, guint, at));
  self->edge_home = home;
  return TRUE;
}

/* From a selected edge: up to where it comes from, down to where it goes; home where it was stepped to from. */
gboolean
vn_graph_view_leave_edge (VnGraphView *self,
                          guint        keyval)
{
  const VnSceneEdge *edge;
  guint box;

  if (self->state.selected_edge == VN_SCENE_NONE)
    return FALSE;
  edge = vn_scene_get_edge (self->scene, self->state.selected_edge);
  if (keyval == GDK_KEY_Escape)
    box = self->edge_home;
  else if (keyval == GDK_KEY_Up || keyval == GDK_KEY_KP_Up)
    box = edge->from;
  else
    box = edge->to;
  if (box == VN_SCENE_NONE)
    return FALSE;
  vn_graph_view_select_box (self, box, FALSE);
  vn_graph_view_focus_box (self, box);
  vn_graph_view_reveal (self, box);
  return TRUE;
}

/**
 * vn_graph_view_get_selected_tensor:
 *
 * Returns: (transfer none) (nullable): name of the tensor that was selected
 */
const char *
vn_graph_view_get_selected_tensor (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->tensor;
}

/**
 * vn_graph_view_select_tensor:
 * @name: (nullable): of a value; %NULL: none
 *
 * Marks an edge that has it, if one is shown; nodes are let go. Nobody is told.
 */
void
vn_graph_view_select_tensor (VnGraphView *self,
                             const char  *name)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  if (g_strcmp0 (name, self->tensor) == 0)
    return;
  g_free (self->tensor);
  self->tensor = g_strdup (name);
  vn_graph_view_refold_edge (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
