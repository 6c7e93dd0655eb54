/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The selection of the graph view: nodes, regions and the tensors on their boundary, the rubber band, and bad nodes. */
#include "vn-graph-view-private.h"

#include "vn-i18n.h"

#include <math.h>
#include <string.h>

#define REGION_MARGIN 12.

/* ---- regions and boundary ---- */

static gboolean
graph_view_select_is_inside (VnGraphView *self,
                             guint        node)
{
  return self->selected[node] && !vn_scene_node_is_pill (vn_scene_get_node (self->scene, node));
}

/* The nodes of the part @root belongs to; marks them in @seen. */
static GArray *
graph_view_select_collect_part (VnGraphView *self,
                                guint        root,
                                guint8      *seen)
{
  GArray *part = g_array_new (FALSE, FALSE, sizeof (guint));

  seen[root] = 1;
  g_array_append_val (part, root);
  for (guint i = 0; i < part->len; i++)
    {
      guint node = g_array_index (part, guint, i);

      for (guint side = 0; side < 2; side++)
        {
          guint n;
          const guint *edges = side == 0 ? vn_scene_get_in_edges (self->scene, node, &n)
                                         : vn_scene_get_out_edges (self->scene, node, &n);

          for (guint k = 0; k < n; k++)
            {
              const VnSceneEdge *edge = vn_scene_get_edge (self->scene, edges[k]);
              guint other = side == 0 ? edge->from : edge->to;

              if (seen[other] || !graph_view_select_is_inside (self, other))
                continue;
              seen[other] = 1;
              g_array_append_val (part, other);
            }
        }
    }
  return part;
}

/* A region round a part, unless it would cover a box that is not selected. */
static void
graph_view_select_add_region (VnGraphView  *self,
                              const GArray *part)
{
  VnRect box = *vn_graph_layout_get_box (self->layout, g_array_index (part, guint, 0));
  double x1 = box.x + box.width, y1 = box.y + box.height;
  g_autoptr(GArray) covered = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 1; i < part->len; i++)
    {
      const VnRect *other = vn_graph_layout_get_box (self->layout, g_array_index (part, guint, i));

      box.x = MIN (box.x, other->x);
      box.y = MIN (box.y, other->y);
      x1 = MAX (x1, other->x + other->width);
      y1 = MAX (y1, other->y + other->height);
    }
  box.width = x1 - box.x;
  box.height = y1 - box.y;
  vn_graph_index_find_nodes (self->index, box, covered);
  for (guint i = 0; i < covered->len; i++)
    if (!self->selected[g_array_index (covered, guint, i)])
      return;
  box = (VnRect) { box.x - REGION_MARGIN, box.y - REGION_MARGIN,
                   box.width + 2 * REGION_MARGIN, box.height + 2 * REGION_MARGIN };
  g_array_append_val (self->regions, box);
}

static void
graph_view_select_find_regions (VnGraphView *self)
{
  guint n = vn_scene_get_n_nodes (self->scene);
  g_autofree guint8 *seen = g_new0 (guint8, n + 1);

  g_array_set_size (self->regions, 0);
  if (self->n_inside < 2)
    return;
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(GArray) part = NULL;

      if (seen[i] || !graph_view_select_is_inside (self, i))
        continue;
      part = graph_view_select_collect_part (self, i, seen);
      graph_view_select_add_region (self, part);
    }
}

/* Number of a boundary value: as the application gave them, else in the order met. */
static guint
graph_view_select_number_of (GStrv       given,
                             GHashTable *met,
                             const char *value)
{
  gpointer known;

  for (guint i = 0; given != NULL && given[i] != NULL; i++)
    if (strcmp (given[i], value) == 0)
      return i + 1;
  if (given != NULL)
    return 0;
  if (!g_hash_table_lookup_extended (met, value, NULL, &known))
    {
      known = GUINT_TO_POINTER (g_hash_table_size (met) + 1);
      g_hash_table_insert (met, (gpointer) value, known);
    }
  return GPOINTER_TO_UINT (known);
}

static void
graph_view_select_add_chips (VnGraphView *self,
                             guint        node,
                             gboolean     enters,
                             GHashTable  *met)
{
  guint n;
  const guint *edges = enters ? vn_scene_get_in_edges (self->scene, node, &n)
                              : vn_scene_get_out_edges (self->scene, node, &n);
  const char *labelled = NULL;

  for (guint k = 0; k < n; k++)
    {
      const VnSceneEdge *edge = vn_scene_get_edge (self->scene, edges[k]);
      VnGraphChip chip = { .edge = edges[k], .enters = enters };
      guint number;

      if (graph_view_select_is_inside (self, enters ? edge->from : edge->to))
        continue;
      number = graph_view_select_number_of (enters ? self->in_values : self->out_values, met, edge->value);
      /* a tensor that leaves to several nodes leaves once */
      if (number > 0 && self->n_inside > 1 && (enters || g_strcmp0 (labelled, edge->value) != 0))
        g_snprintf (chip.label, sizeof chip.label, enters ? _("in %u") : _("out %u"), number);
      if (self->leaks != NULL && g_strv_contains ((const char * const *) self->leaks, edge->value))
        {
          chip.is_leak = TRUE;
          /* TRANSLATORS: a tensor that crosses the edge of a region without being named as one of its edges; at most 12 letters */
          g_strlcpy (chip.label, _("missing edge"), sizeof chip.label);
        }
      labelled = edge->value;
      g_array_append_val (self->chips, chip);
    }
}

static void
graph_view_select_find_boundary (VnGraphView *self)
{
  g_autoptr(GHashTable) in = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr(GHashTable) out = g_hash_table_new (g_str_hash, g_str_equal);
  guint n = vn_scene_get_n_nodes (self->scene);

  g_array_set_size (self->chips, 0);
  for (guint i = 0; i < n; i++)
    {
      if (!graph_view_select_is_inside (self, i))
        continue;
      graph_view_select_add_chips (self, i, TRUE, in);
      graph_view_select_add_chips (self, i, FALSE, out);
    }
}

static void
graph_view_select_update_parts (VnGraphView *self)
{
  if (self->layout == NULL)
    return;
  graph_view_select_find_regions (self);
  graph_view_select_find_boundary (self);
  self->state.regions = (const VnRect *) self->regions->data;
  self->state.n_regions = self->regions->len;
  self->state.chips = (const VnGraphChip *) self->chips->data;
  self->state.n_chips = self->chips->len;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* Says of each box whether it is selected: all its nodes are picked, or only some. */
static void
graph_view_select_mark_boxes (VnGraphView *self)
{
  self->n_picked = self->n_inside = 0;
  for (guint i = 0; i < vn_scene_get_n_nodes (self->scene); i++)
    {
      guint n, n_picked = 0;
      const guint *nodes = vn_graph_view_get_nodes (self, &i, &n);

      for (guint k = 0; k < n; k++)
        n_picked += self->picked[nodes[k]];
      self->selected[i] = n_picked == n;
      self->partly[i] = n_picked > 0 && n_picked < n;
      self->n_picked += n_picked;
      self->n_inside += graph_view_select_is_inside (self, i);
    }
}

static void
graph_view_select_pick_box (VnGraphView *self,
                            guint        box,
                            guint8       picked)
{
  guint n;
  const guint *nodes = vn_graph_view_get_nodes (self, &box, &n);

  for (guint i = 0; i < n; i++)
    self->picked[nodes[i]] = picked;
}

/* What a new selection brings with it. */
static void
graph_view_select_selection_changed (VnGraphView *self)
{
  g_clear_pointer (&self->in_values, g_strfreev);
  g_clear_pointer (&self->out_values, g_strfreev);
  g_clear_pointer (&self->leaks, g_strfreev);
  graph_view_select_mark_boxes (self);
  graph_view_select_update_parts (self);
  g_signal_emit_by_name (self, "selection-changed");
}

static void
graph_view_select_forget_boxes (VnGraphView *self)
{
  guint n = self->scene != NULL ? vn_scene_get_n_nodes (self->scene) : 0;

  g_free (self->selected);
  g_free (self->partly);
  g_clear_pointer (&self->measuring, g_free);
  g_clear_pointer (&self->band_base, g_free);
  self->selected = g_new0 (guint8, n + 1);
  self->partly = g_new0 (guint8, n + 1);
  g_array_set_size (self->regions, 0);
  g_array_set_size (self->chips, 0);
  vn_graph_state_init (&self->state);
  self->state.selected = self->selected;
  self->state.partly = self->partly;
}

/* Other groups are open: the same nodes are selected. */
void
vn_graph_view_refold_selection (VnGraphView *self)
{
  graph_view_select_forget_boxes (self);
  vn_graph_view_refold_edge (self);
  graph_view_select_mark_boxes (self);
  graph_view_select_update_parts (self);
}

/* A new scene: nothing is selected. */
void
vn_graph_view_reset_selection (VnGraphView *self)
{
  guint n = self->whole != NULL ? vn_scene_get_n_nodes (self->whole) : 0;

  g_free (self->picked);
  self->picked = g_new0 (guint8, n + 1);
  self->n_picked = 0;
  graph_view_select_forget_boxes (self);
  g_clear_pointer (&self->in_values, g_strfreev);
  g_clear_pointer (&self->out_values, g_strfreev);
  g_clear_pointer (&self->leaks, g_strfreev);
}

/* ---- public ---- */

/**
 * vn_graph_view_dup_selection:
 *
 * Returns: (transfer full) (element-type guint): selected nodes, ascending
 */
GArray *
vn_graph_view_dup_selection (VnGraphView *self)
{
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (guint));
  guint n;

  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  n = self->whole != NULL ? vn_scene_get_n_nodes (self->whole) : 0;
  for (guint i = 0; i < n; i++)
    if (self->picked[i])
      g_array_append_val (nodes, i);
  return nodes;
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

  return self->n_picked;
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

  return self->whole != NULL && node < vn_scene_get_n_nodes (self->whole) && self->picked[node];
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
  g_autofree guint8 *before = NULL;
  gboolean had_tensor;
  guint n;

  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  had_tensor = self->tensor != NULL;
  if (self->whole == NULL)
    return;
  n = vn_scene_get_n_nodes (self->whole);
  before = g_memdup2 (self->picked, n + 1);
  if (!extend)
    memset (self->picked, 0, n);
  for (guint i = 0; i < n_nodes; i++)
    if (nodes[i] < n)
      self->picked[nodes[i]] = 1;
  vn_graph_view_forget_edge (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  if (had_tensor || memcmp (before, self->picked, n) != 0)
    graph_view_select_selection_changed (self);
}

/**
 * vn_graph_view_select_all:
 *
 * Selects every operator; inputs and outputs are no operators.
 */
void
vn_graph_view_select_all (VnGraphView *self)
{
  g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));

  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  for (guint i = 0; self->whole != NULL && i < vn_scene_get_n_nodes (self->whole); i++)
    if (vn_scene_get_node (self->whole, i)->kind == VN_SCENE_NODE)
      g_array_append_val (nodes, i);
  vn_graph_view_select (self, (const guint *) nodes->data, nodes->len, FALSE);
}

/**
 * vn_graph_view_unselect_all:
 *
 * Selects nothing; a selected tensor is let go as well.
 */
void
vn_graph_view_unselect_all (VnGraphView *self)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_view_select (self, NULL, 0, FALSE);
}

/* Selects all that a box stands for. */
void
vn_graph_view_select_box (VnGraphView *self,
                          guint        box,
                          gboolean     extend)
{
  guint n;
  const guint *nodes = vn_graph_view_get_nodes (self, &box, &n);

  vn_graph_view_select (self, nodes, n, extend);
}

/* Selects one box more, or one less. */
void
vn_graph_view_toggle (VnGraphView *self,
                      guint        box)
{
  graph_view_select_pick_box (self, box, !self->selected[box]);
  vn_graph_view_forget_edge (self);
  graph_view_select_selection_changed (self);
}

/**
 * vn_graph_view_get_focus_node:
 *
 * Returns: the node keyboard and inspector are at, or %VN_SCENE_NONE; of a closed group the first
 */
guint
vn_graph_view_get_focus_node (VnGraphView *self)
{
  guint n;

  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), 0);

  if (self->state.focus_node == VN_SCENE_NONE)
    return VN_SCENE_NONE;
  return vn_graph_view_get_nodes (self, &self->state.focus_node, &n)[0];
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

  vn_graph_view_focus_box (self, node != VN_SCENE_NONE ? vn_graph_view_get_box (self, node) : VN_SCENE_NONE);
}

/* Moves the focus to a box, or to nowhere. */
void
vn_graph_view_focus_box (VnGraphView *self,
                         guint        box)
{
  g_autofree char *label = NULL;

  if (box == self->state.focus_node)
    return;
  self->state.focus_node = box;
  if (box != VN_SCENE_NONE)
    label = vn_graph_view_dup_box_label (self, box);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  label != NULL ? label : "", -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit_by_name (self, "focus-changed");
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

  return self->state.selected_edge;
}

/* No node is selected any more; nobody is told yet. */
void
vn_graph_view_let_go (VnGraphView *self)
{
  memset (self->picked, 0, vn_scene_get_n_nodes (self->whole));
}

void
vn_graph_view_selection_changed (VnGraphView *self)
{
  graph_view_select_selection_changed (self);
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

  g_strfreev (self->in_values);
  g_strfreev (self->out_values);
  self->in_values = g_strdupv ((GStrv) in_values);
  self->out_values = g_strdupv ((GStrv) out_values);
  g_strfreev (self->leaks);
  self->leaks = g_strdupv ((GStrv) leaks);
  if (self->scene != NULL)
    graph_view_select_update_parts (self);
}

/* ---- rubber band ---- */

void
vn_graph_view_begin_band (VnGraphView *self,
                          gboolean     extend)
{
  guint n = vn_scene_get_n_nodes (self->whole);

  if (!extend)
    vn_graph_view_unselect_all (self);
  g_free (self->band_base);
  self->band_base = g_memdup2 (self->picked, n + 1);
}

/* Picks boxes besides those that were picked when the drag began. */
void
vn_graph_view_pick_from_band (VnGraphView  *self,
                              const GArray *boxes)
{
  memcpy (self->picked, self->band_base, vn_scene_get_n_nodes (self->whole));
  for (guint i = 0; i < boxes->len; i++)
    graph_view_select_pick_box (self, g_array_index (boxes, guint, i), 1);
  graph_view_select_mark_boxes (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* Rings what the band touches; the selection itself is announced when it ends. */
void
vn_graph_view_update_band (VnGraphView *self,
                           VnPoint      to)
{
  const VnRect band = { MIN (self->drag_origin.x, to.x), MIN (self->drag_origin.y, to.y),
                  fabs (self->drag_origin.x - to.x), fabs (self->drag_origin.y - to.y) };
  g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));

  self->state.has_band = TRUE;
  self->state.band = band;
  vn_graph_index_find_nodes (self->index, band, nodes);
  vn_graph_view_pick_from_band (self, nodes);
}

void
vn_graph_view_end_band (VnGraphView *self)
{
  gboolean changed = memcmp (self->picked, self->band_base, vn_scene_get_n_nodes (self->whole)) != 0;

  self->state.has_band = FALSE;
  g_clear_pointer (&self->band_base, g_free);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  if (changed)
    graph_view_select_selection_changed (self);
}

/* ---- bad nodes ---- */

/**
 * vn_graph_view_next_bad:
 * @step: 1 forwards, -1 backwards, in the order of the nodes
 *
 * Travels to the next bad node after the focus, round the end, and selects it. A group that hides it opens.
 *
 * Returns: %FALSE if no node is bad
 */
gboolean
vn_graph_view_next_bad (VnGraphView *self,
                        int          step)
{
  guint n, at;

  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), FALSE);

  n = self->whole != NULL ? vn_scene_get_n_nodes (self->whole) : 0;
  at = vn_graph_view_get_focus_node (self);
  if (at == VN_SCENE_NONE)
    at = step > 0 ? n - 1 : 0;
  for (guint i = 0; self->whole_overlay != NULL && i < n; i++)
    {
      const VnOverlayItem *item;

      at = (at + n + (guint) step) % n;
      item = vn_overlay_get (self->whole_overlay, at);
      if (!item->measured || !item->is_bad)
        continue;
      vn_graph_view_select (self, &at, 1, FALSE);
      vn_graph_view_zoom_to_node (self, at);
      return TRUE;
    }
  return FALSE;
}
