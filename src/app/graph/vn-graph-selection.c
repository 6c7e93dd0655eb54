/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The selection of a graph view: nodes, or a tensor, kept by its name whatever boxes there are; and the focus. */
#include "graph-selection-private.h"

#include <string.h>

G_DEFINE_FINAL_TYPE (VnGraphSelection, vn_graph_selection, G_TYPE_OBJECT)

/* Says of each box whether it is selected: all its nodes are picked, or only some. */
void
_vn_graph_selection_mark_boxes (VnGraphSelection *self)
{
  self->n_picked = self->n_inside = 0;
  for (guint i = 0; i < vn_scene_get_n_nodes (self->content->scene); i++)
    {
      guint n, n_picked = 0;
      const guint *nodes = vn_graph_content_get_nodes (self->content, &i, &n);

      for (guint k = 0; k < n; k++)
        n_picked += self->picked[nodes[k]];
      self->selected[i] = n_picked == n;
      self->partly[i] = n_picked > 0 && n_picked < n;
      self->n_picked += n_picked;
      self->n_inside += _vn_graph_selection_is_inside (self, i);
    }
}

/* Picks all that a box stands for, or lets go of it; nobody is told. */
void
_vn_graph_selection_pick_box (VnGraphSelection *self,
                              guint             box,
                              guint8            picked)
{
  guint n;
  const guint *nodes = vn_graph_content_get_nodes (self->content, &box, &n);

  for (guint i = 0; i < n; i++)
    self->picked[nodes[i]] = picked;
}

/* What a new selection brings with it. */
void
_vn_graph_selection_was_changed (VnGraphSelection *self)
{
  g_clear_pointer (&self->in_values, g_strfreev);
  g_clear_pointer (&self->out_values, g_strfreev);
  g_clear_pointer (&self->leaks, g_strfreev);
  _vn_graph_selection_mark_boxes (self);
  _vn_graph_selection_find_parts (self);
  g_signal_emit_by_name (self, "changed");
}

/* ---- other boxes ---- */

static void
selection_forget_boxes (VnGraphSelection *self)
{
  guint n = vn_graph_content_get_n_boxes (self->content);

  g_free (self->selected);
  g_free (self->partly);
  g_clear_pointer (&self->band_base, g_free);
  g_clear_pointer (&self->lasso, g_array_unref);
  self->selected = g_new0 (guint8, n + 1);
  self->partly = g_new0 (guint8, n + 1);
  g_array_set_size (self->regions, 0);
  g_array_set_size (self->chips, 0);
  self->focus = self->edge = VN_SCENE_NONE;
  self->has_band = FALSE;
}

/* Any edge that has the selected tensor. */
static void
selection_find_edge (VnGraphSelection *self)
{
  VnScene *scene = self->content->scene;

  self->edge_home = self->edge = VN_SCENE_NONE;
  for (guint i = 0; self->tensor != NULL && scene != NULL && i < vn_scene_get_n_edges (scene) && self->edge == VN_SCENE_NONE; i++)
    if (g_strcmp0 (vn_scene_get_edge (scene, i)->value, self->tensor) == 0)
      self->edge = i;
}

/* Nodes are selected instead. */
static void
selection_forget_tensor (VnGraphSelection *self)
{
  g_clear_pointer (&self->tensor, g_free);
  self->edge = self->edge_home = VN_SCENE_NONE;
}

/**
 * vn_graph_selection_refold:
 * @before: (nullable): what was shown
 *
 * Other groups are open: the same nodes are selected, or the same tensor, if it lies between two boxes; and the focus goes
 * to the box that stands for the node it was at.
 */
void
vn_graph_selection_refold (VnGraphSelection *self,
                           VnFold           *before)
{
  guint focus, n;

  g_return_if_fail (VN_IS_GRAPH_SELECTION (self));

  focus = self->focus != VN_SCENE_NONE && before != NULL ? vn_fold_get_nodes (before, self->focus, &n)[0] : self->focus;
  selection_forget_boxes (self);
  selection_find_edge (self);
  _vn_graph_selection_mark_boxes (self);
  _vn_graph_selection_find_parts (self);
  if (focus != VN_SCENE_NONE)
    vn_graph_selection_focus (self, vn_graph_content_get_box (self->content, focus));
}

/**
 * vn_graph_selection_reset:
 *
 * Another network is shown, or none: nothing is selected. Nobody is told.
 */
void
vn_graph_selection_reset (VnGraphSelection *self)
{
  g_return_if_fail (VN_IS_GRAPH_SELECTION (self));

  g_free (self->picked);
  self->picked = g_new0 (guint8, vn_graph_content_get_n_nodes (self->content) + 1);
  self->n_picked = 0;
  selection_forget_boxes (self);
  g_clear_pointer (&self->in_values, g_strfreev);
  g_clear_pointer (&self->out_values, g_strfreev);
  g_clear_pointer (&self->leaks, g_strfreev);
}

/* ---- nodes ---- */

/**
 * vn_graph_selection_dup_nodes:
 *
 * Returns: (transfer full) (element-type guint): selected nodes, ascending
 */
GArray *
vn_graph_selection_dup_nodes (VnGraphSelection *self)
{
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (guint));
  guint n;

  g_return_val_if_fail (VN_IS_GRAPH_SELECTION (self), NULL);

  n = self->content->whole != NULL ? vn_scene_get_n_nodes (self->content->whole) : 0;
  for (guint i = 0; i < n; i++)
    if (self->picked[i])
      g_array_append_val (nodes, i);
  return nodes;
}

/**
 * vn_graph_selection_has_node:
 *
 * Returns: whether a node is selected
 */
gboolean
vn_graph_selection_has_node (VnGraphSelection *self,
                             guint             node)
{
  g_return_val_if_fail (VN_IS_GRAPH_SELECTION (self), FALSE);

  return self->content->whole != NULL && node < vn_scene_get_n_nodes (self->content->whole) && self->picked[node];
}

/**
 * vn_graph_selection_select:
 * @extend: keep what is selected already
 *
 * Selects nodes; emits changed only if that changes something.
 */
void
vn_graph_selection_select (VnGraphSelection *self,
                           const guint      *nodes,
                           guint             n_nodes,
                           gboolean          extend)
{
  g_autofree guint8 *before = NULL;
  gboolean had_tensor;
  guint n;

  g_return_if_fail (VN_IS_GRAPH_SELECTION (self));

  had_tensor = self->tensor != NULL;
  if (self->content->whole == NULL)
    return;
  n = vn_scene_get_n_nodes (self->content->whole);
  before = g_memdup2 (self->picked, n + 1);
  if (!extend)
    memset (self->picked, 0, n);
  for (guint i = 0; i < n_nodes; i++)
    if (nodes[i] < n)
      self->picked[nodes[i]] = 1;
  selection_forget_tensor (self);
  g_signal_emit_by_name (self, "marks-changed");
  if (had_tensor || memcmp (before, self->picked, n) != 0)
    _vn_graph_selection_was_changed (self);
}

/**
 * vn_graph_selection_select_all:
 *
 * Selects every operator; inputs and outputs are no operators.
 */
void
vn_graph_selection_select_all (VnGraphSelection *self)
{
  g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));

  g_return_if_fail (VN_IS_GRAPH_SELECTION (self));

  for (guint i = 0; self->content->whole != NULL && i < vn_scene_get_n_nodes (self->content->whole); i++)
    if (vn_scene_node_is_of_model (vn_scene_get_node (self->content->whole, i)))
      g_array_append_val (nodes, i);
  vn_graph_selection_select (self, (const guint *) nodes->data, nodes->len, FALSE);
}

/**
 * vn_graph_selection_select_none:
 *
 * Selects nothing; a selected tensor is let go as well.
 */
void
vn_graph_selection_select_none (VnGraphSelection *self)
{
  g_return_if_fail (VN_IS_GRAPH_SELECTION (self));

  vn_graph_selection_select (self, NULL, 0, FALSE);
}

/**
 * vn_graph_selection_select_box:
 *
 * Selects all that a box stands for.
 */
void
vn_graph_selection_select_box (VnGraphSelection *self,
                               guint             box,
                               gboolean          extend)
{
  guint n;
  const guint *nodes;

  g_return_if_fail (VN_IS_GRAPH_SELECTION (self));

  nodes = vn_graph_content_get_nodes (self->content, &box, &n);
  vn_graph_selection_select (self, nodes, n, extend);
}

/**
 * vn_graph_selection_toggle:
 *
 * Selects one box more, or one less.
 */
void
vn_graph_selection_toggle (VnGraphSelection *self,
                           guint             box)
{
  g_return_if_fail (VN_IS_GRAPH_SELECTION (self));

  _vn_graph_selection_pick_box (self, box, !self->selected[box]);
  selection_forget_tensor (self);
  _vn_graph_selection_was_changed (self);
}

/**
 * vn_graph_selection_focus:
 * @box: or %VN_SCENE_NONE
 *
 * Moves the focus to a box, or to nowhere.
 */
void
vn_graph_selection_focus (VnGraphSelection *self,
                          guint             box)
{
  g_return_if_fail (VN_IS_GRAPH_SELECTION (self));

  if (box == self->focus)
    return;
  self->focus = box;
  g_signal_emit_by_name (self, "marks-changed");
  g_signal_emit_by_name (self, "focus-changed");
}

/**
 * vn_graph_selection_set_boundary:
 * @in_values: (nullable) (array zero-terminated=1): names of the tensors that enter, in the order they are
 *   listed elsewhere
 * @out_values: (nullable) (array zero-terminated=1): likewise, those that leave
 * @leaks: (nullable) (array zero-terminated=1): those that do either without being named: they are marked
 *
 * Numbers the chips of the present selection as some list does. Without it they are numbered in the order of
 * the nodes.
 */
void
vn_graph_selection_set_boundary (VnGraphSelection   *self,
                                 const char * const *in_values,
                                 const char * const *out_values,
                                 const char * const *leaks)
{
  g_return_if_fail (VN_IS_GRAPH_SELECTION (self));

  g_strfreev (self->in_values);
  g_strfreev (self->out_values);
  self->in_values = g_strdupv ((GStrv) in_values);
  self->out_values = g_strdupv ((GStrv) out_values);
  g_strfreev (self->leaks);
  self->leaks = g_strdupv ((GStrv) leaks);
  if (self->content->scene != NULL)
    _vn_graph_selection_find_parts (self);
}

/**
 * vn_graph_selection_select_tensor:
 * @name: (nullable): of a value; %NULL: none
 *
 * Marks an edge that has it, if one is shown. Nobody is told.
 */
void
vn_graph_selection_select_tensor (VnGraphSelection *self,
                                  const char       *name)
{
  g_return_if_fail (VN_IS_GRAPH_SELECTION (self));

  if (g_strcmp0 (name, self->tensor) == 0)
    return;
  g_free (self->tensor);
  self->tensor = g_strdup (name);
  selection_find_edge (self);
  g_signal_emit_by_name (self, "marks-changed");
}

/**
 * vn_graph_selection_fill_state:
 * @state: (inout): as vn_graph_state_init() left it; borrows from @self what it points to
 *
 * Adds what is seen of the selection.
 */
void
vn_graph_selection_fill_state (VnGraphSelection *self,
                               VnGraphState     *state)
{
  g_return_if_fail (VN_IS_GRAPH_SELECTION (self) && state != NULL);

  state->selected = self->selected;
  state->partly = self->partly;
  state->focus_node = self->focus;
  state->selected_edge = self->edge;
  state->regions = (const VnRect *) (gpointer) self->regions->data;
  state->n_regions = self->regions->len;
  state->chips = (const VnGraphChip *) (gpointer) self->chips->data;
  state->n_chips = self->chips->len;
  state->has_band = self->has_band;
  state->band = self->band;
  if (self->lasso != NULL && self->lasso->len > 1)
    {
      state->lasso = (const VnPoint *) (gpointer) self->lasso->data;
      state->n_lasso = self->lasso->len;
    }
}

static void
vn_graph_selection_finalize (GObject *object)
{
  VnGraphSelection *self = VN_GRAPH_SELECTION (object);

  g_array_unref (self->regions);
  g_array_unref (self->chips);
  g_free (self->picked);
  g_free (self->tensor);
  g_free (self->selected);
  g_free (self->partly);
  g_free (self->band_base);
  g_clear_pointer (&self->lasso, g_array_unref);
  g_strfreev (self->in_values);
  g_strfreev (self->out_values);
  g_strfreev (self->leaks);
  g_clear_object (&self->content);
  G_OBJECT_CLASS (vn_graph_selection_parent_class)->finalize (object);
}

static void
vn_graph_selection_class_init (VnGraphSelectionClass *klass)
{
  static const char * const names[] = { "changed", "focus-changed", "edge-changed", "marks-changed" };

  G_OBJECT_CLASS (klass)->finalize = vn_graph_selection_finalize;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_signal_new (names[i], VN_TYPE_GRAPH_SELECTION, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
vn_graph_selection_init (VnGraphSelection *self)
{
  self->regions = g_array_new (FALSE, FALSE, sizeof (VnRect));
  self->chips = g_array_new (FALSE, FALSE, sizeof (VnGraphChip));
  self->edge_home = VN_SCENE_NONE;
}

/**
 * vn_graph_selection_new:
 * @content: what can be selected
 *
 * Returns: (transfer full): nothing selected
 */
VnGraphSelection *
vn_graph_selection_new (VnGraphContent *content)
{
  VnGraphSelection *self;

  g_return_val_if_fail (VN_IS_GRAPH_CONTENT (content), NULL);

  self = g_object_new (VN_TYPE_GRAPH_SELECTION, NULL);
  self->content = g_object_ref (content);
  vn_graph_selection_reset (self);
  return self;
}
