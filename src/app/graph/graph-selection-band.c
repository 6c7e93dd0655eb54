/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a drag selects: the boxes that a rubber band touches, or that a line drawn free-hand goes round. */
#include "graph-selection-private.h"

#include <math.h>
#include <string.h>

/* ---- rubber band ---- */

/**
 * vn_graph_selection_begin_band:
 *
 * Selects nothing unless @extend; what is picked from now on comes to what is selected then.
 */
void
vn_graph_selection_begin_band (VnGraphSelection *self,
                               gboolean          extend)
{
  guint n;

  g_return_if_fail (VN_IS_GRAPH_SELECTION (self));

  n = vn_graph_content_get_n_nodes (self->content);
  if (!extend)
    vn_graph_selection_select_none (self);
  g_free (self->band_base);
  self->band_base = g_memdup2 (self->picked, n + 1);
}

/* Picks boxes besides those that were picked when the drag began. */
static void
selection_band_pick (VnGraphSelection *self,
                     const GArray     *boxes)
{
  if (self->band_base == NULL)
    return;
  memcpy (self->picked, self->band_base, vn_scene_get_n_nodes (self->content->whole));
  for (guint i = 0; i < boxes->len; i++)
    _vn_graph_selection_pick_box (self, g_array_index (boxes, guint, i), 1);
  _vn_graph_selection_mark_boxes (self);
  g_signal_emit_by_name (self, "marks-changed");
}

/**
 * vn_graph_selection_update_band:
 * @from, @to: corners of the band, in the world
 *
 * Rings what the band touches; the selection itself is announced when it ends.
 */
void
vn_graph_selection_update_band (VnGraphSelection *self,
                                VnPoint           from,
                                VnPoint           to)
{
  g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));

  g_return_if_fail (VN_IS_GRAPH_SELECTION (self));

  self->has_band = TRUE;
  self->band = (VnRect) { MIN (from.x, to.x), MIN (from.y, to.y), fabs (from.x - to.x), fabs (from.y - to.y) };
  vn_graph_index_find_nodes (self->content->index, self->band, nodes);
  selection_band_pick (self, nodes);
}

/**
 * vn_graph_selection_end_band:
 *
 * Tells of what was picked.
 */
void
vn_graph_selection_end_band (VnGraphSelection *self)
{
  gboolean changed;

  g_return_if_fail (VN_IS_GRAPH_SELECTION (self));

  if (self->band_base == NULL)    /* other boxes are shown since */
    return;
  changed = memcmp (self->picked, self->band_base, vn_scene_get_n_nodes (self->content->whole)) != 0;
  self->has_band = FALSE;
  g_clear_pointer (&self->band_base, g_free);
  g_signal_emit_by_name (self, "marks-changed");
  if (changed)
    _vn_graph_selection_was_changed (self);
}

/* ---- lasso ---- */

/* Whether a ray from @at to the right crosses the closed line an odd number of times. */
static gboolean
selection_lasso_encloses (const GArray *line,
                          double        x,
                          double        y)
{
  gboolean inside = FALSE;

  for (guint i = 0, before = line->len - 1; i < line->len; before = i++)
    {
      const VnPoint *a = &g_array_index (line, VnPoint, i), *b = &g_array_index (line, VnPoint, before);

      if ((a->y > y) != (b->y > y) && x < a->x + (y - a->y) / (b->y - a->y) * (b->x - a->x))
        inside = !inside;
    }
  return inside;
}

/* A box is meant if its middle or a corner is enclosed, or if the line runs inside of it. */
static gboolean
selection_lasso_touches (const GArray *line,
                         const VnRect *box)
{
  double x1 = box->x + box->width, y1 = box->y + box->height;

  if (selection_lasso_encloses (line, (box->x + x1) / 2, (box->y + y1) / 2)
      || selection_lasso_encloses (line, box->x, box->y) || selection_lasso_encloses (line, x1, box->y)
      || selection_lasso_encloses (line, box->x, y1) || selection_lasso_encloses (line, x1, y1))
    return TRUE;
  for (guint i = 0; i < line->len; i++)
    {
      const VnPoint *at = &g_array_index (line, VnPoint, i);

      if (at->x >= box->x && at->x <= x1 && at->y >= box->y && at->y <= y1)
        return TRUE;
    }
  return FALSE;
}

static VnRect
selection_lasso_get_bounds (const GArray *line)
{
  VnPoint first = g_array_index (line, VnPoint, 0);
  double x0 = first.x, y0 = first.y, x1 = first.x, y1 = first.y;

  for (guint i = 1; i < line->len; i++)
    {
      const VnPoint *at = &g_array_index (line, VnPoint, i);

      x0 = MIN (x0, at->x);
      y0 = MIN (y0, at->y);
      x1 = MAX (x1, at->x);
      y1 = MAX (y1, at->y);
    }
  return (VnRect) { x0, y0, x1 - x0, y1 - y0 };
}

static void
selection_lasso_pick (VnGraphSelection *self)
{
  g_autoptr(GArray) near = g_array_new (FALSE, FALSE, sizeof (guint)), boxes = g_array_new (FALSE, FALSE, sizeof (guint));

  vn_graph_index_find_nodes (self->content->index, selection_lasso_get_bounds (self->lasso), near);
  for (guint i = 0; i < near->len; i++)
    if (selection_lasso_touches (self->lasso, vn_graph_layout_get_box (self->content->layout, g_array_index (near, guint, i))))
      g_array_append_val (boxes, g_array_index (near, guint, i));
  selection_band_pick (self, boxes);
}

/**
 * vn_graph_selection_begin_lasso:
 * @from: in the world
 *
 * Selects nothing unless @extend, and begins the line.
 */
void
vn_graph_selection_begin_lasso (VnGraphSelection *self,
                                VnPoint           from,
                                gboolean          extend)
{
  g_return_if_fail (VN_IS_GRAPH_SELECTION (self));

  vn_graph_selection_begin_band (self, extend);
  g_clear_pointer (&self->lasso, g_array_unref);
  self->lasso = g_array_new (FALSE, FALSE, sizeof (VnPoint));
  g_array_append_val (self->lasso, from);
}

/**
 * vn_graph_selection_update_lasso:
 * @to: in the world
 * @step: least distance of two points of the line, in the world
 *
 * Rings what the line encloses; the selection itself is announced when it ends.
 */
void
vn_graph_selection_update_lasso (VnGraphSelection *self,
                                 VnPoint           to,
                                 double            step)
{
  const VnPoint *last;

  g_return_if_fail (VN_IS_GRAPH_SELECTION (self));

  if (self->lasso == NULL)    /* other boxes are shown since */
    return;
  last = &g_array_index (self->lasso, VnPoint, self->lasso->len - 1);
  if (hypot (to.x - last->x, to.y - last->y) < step)
    return;
  g_array_append_val (self->lasso, to);
  if (self->lasso->len > 2)
    selection_lasso_pick (self);
  g_signal_emit_by_name (self, "marks-changed");
}

/**
 * vn_graph_selection_end_lasso:
 *
 * Tells of what was picked.
 *
 * Returns: %FALSE: nothing was drawn, it was a click
 */
gboolean
vn_graph_selection_end_lasso (VnGraphSelection *self)
{
  gboolean drawn;

  g_return_val_if_fail (VN_IS_GRAPH_SELECTION (self), FALSE);

  if (self->lasso == NULL)
    return FALSE;
  drawn = self->lasso->len > 2;
  g_clear_pointer (&self->lasso, g_array_unref);
  vn_graph_selection_end_band (self);
  return drawn;
}
