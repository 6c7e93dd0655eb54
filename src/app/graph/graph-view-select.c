/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is selected in a graph view: what it offers of its selection. */
#include "vn-graph-view-private.h"

#include "vn-graph-words.h"

/**
 * vn_graph_view_dup_selection:
 *
 * Returns: (transfer full) (element-type guint): selected nodes, ascending
 */
GArray *
vn_graph_view_dup_selection (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return vn_graph_selection_dup_nodes (self->parts.selection);
}

/**
 * vn_graph_view_get_n_selected:
 *
 * Returns: number of selected nodes, pills included
 */
guint
vn_graph_view_get_n_selected (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), 0);

  return self->parts.selection->n_picked;
}

/**
 * vn_graph_view_is_selected:
 *
 * Returns: whether a node is selected
 */
gboolean
vn_graph_view_is_selected (VnGraphView *self,
                           guint        node)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), FALSE);

  return vn_graph_selection_has_node (self->parts.selection, node);
}

/**
 * vn_graph_view_select:
 * @extend: keep what is selected already
 *
 * Selects nodes; emits selection-changed only if that changes something.
 */
void
vn_graph_view_select (VnGraphView *self,
                      const guint *nodes,
                      guint        n_nodes,
                      gboolean     extend)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_selection_select (self->parts.selection, nodes, n_nodes, extend);
}

/**
 * vn_graph_view_get_focus_node:
 *
 * Returns: the node keyboard and inspector are at, or %VN_SCENE_NONE; of a closed group the first
 */
guint
vn_graph_view_get_focus_node (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), 0);

  return vn_graph_content_get_node (self->parts.content, self->parts.selection->focus);
}

/**
 * vn_graph_view_set_focus_node:
 * @node: or %VN_SCENE_NONE
 *
 * Moves the focus, to the closed group where the node is in one; the view is not moved.
 */
void
vn_graph_view_set_focus_node (VnGraphView *self,
                              guint        node)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_selection_focus (self->parts.selection, vn_graph_content_get_box (self->parts.content, node));
}

/**
 * vn_graph_view_get_selected_edge:
 *
 * Returns: the edge whose tensor was clicked, or %VN_SCENE_NONE
 */
guint
vn_graph_view_get_selected_edge (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), 0);

  return self->parts.selection->edge;
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

  return self->parts.selection->tensor;
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

  vn_graph_selection_select_tensor (self->parts.selection, name);
}

/**
 * vn_graph_view_set_boundary:
 * @in_values: (nullable) (array zero-terminated=1): names of the tensors that enter, in the order they are
 *   listed elsewhere
 * @out_values: (nullable) (array zero-terminated=1): likewise, those that leave
 * @leaks: (nullable) (array zero-terminated=1): those that do either without being named: they are marked
 *
 * Numbers the chips of the present selection as some list does. Without it they are numbered in the order of
 * the nodes.
 */
void
vn_graph_view_set_boundary (VnGraphView        *self,
                            const char * const *in_values,
                            const char * const *out_values,
                            const char * const *leaks)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_selection_set_boundary (self->parts.selection, in_values, out_values, leaks);
}

/**
 * vn_graph_view_set_lasso:
 * @lasso: whether dragging draws a line round nodes
 */
void
vn_graph_view_set_lasso (VnGraphView *self,
                         gboolean     lasso)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_input_set_lasso (self->input, lasso);
}

/**
 * vn_graph_view_get_chip:
 * @tensor: name of a value
 * @enters: where it enters the region; else where it leaves it
 * @box: (out): in the widget
 *
 * Returns: whether a chip is drawn there
 */
gboolean
vn_graph_view_get_chip (VnGraphView *self,
                        const char  *tensor,
                        gboolean     enters,
                        VnRect      *box)
{
  const GArray *chips;

  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self) && tensor != NULL && box != NULL, FALSE);

  chips = self->parts.selection->chips;
  for (guint i = 0; i < chips->len; i++)
    {
      const VnGraphChip *chip = &g_array_index (chips, VnGraphChip, i);

      if (chip->enters == enters && g_strcmp0 (vn_scene_get_edge (self->parts.content->scene, chip->edge)->value, tensor) == 0 &&
          vn_graph_hover_get_chip (self->parts.hover, i, box))
        return TRUE;
    }
  return FALSE;
}

/**
 * vn_graph_view_dup_node_label:
 *
 * Returns: (transfer full): a node in words, as a screen reader says it; the closed group that it is in, if it is in one
 */
char *
vn_graph_view_dup_node_label (VnGraphView *self,
                              guint        node)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return vn_graph_words_dup_box (&self->parts, vn_graph_content_get_box (self->parts.content, node));
}
