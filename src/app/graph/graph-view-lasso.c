/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lasso of the graph view: a line drawn free-hand round the nodes that are to be selected. */
#include "vn-graph-view-private.h"

#include <math.h>

#define LEAST_STEP  3.    /* pixels between two points of the line */

/* Whether a ray from @at to the right crosses the closed line an odd number of times. */
static gboolean
graph_view_lasso_encloses (const GArray *line,
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
graph_view_lasso_touches (const GArray *line,
                          const VnRect *box)
{
  double x1 = box->x + box->width, y1 = box->y + box->height;

  if (graph_view_lasso_encloses (line, (box->x + x1) / 2, (box->y + y1) / 2)
      || graph_view_lasso_encloses (line, box->x, box->y) || graph_view_lasso_encloses (line, x1, box->y)
      || graph_view_lasso_encloses (line, box->x, y1) || graph_view_lasso_encloses (line, x1, y1))
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
graph_view_lasso_get_bounds (const GArray *line)
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
graph_view_lasso_pick (VnGraphView *self)
{
  g_autoptr(GArray) near = g_array_new (FALSE, FALSE, sizeof (guint)), boxes = g_array_new (FALSE, FALSE, sizeof (guint));

  vn_graph_index_find_nodes (self->index, graph_view_lasso_get_bounds (self->lasso_line), near);
  for (guint i = 0; i < near->len; i++)
    if (graph_view_lasso_touches (self->lasso_line, vn_graph_layout_get_box (self->layout, g_array_index (near, guint, i))))
      g_array_append_val (boxes, g_array_index (near, guint, i));
  vn_graph_view_pick_from_band (self, boxes);
}

/* Selects nothing unless @extend, and begins the line. */
void
vn_graph_view_begin_lasso (VnGraphView *self,
                           VnPoint      from,
                           gboolean     extend)
{
  vn_graph_view_begin_band (self, extend);
  g_clear_pointer (&self->lasso_line, g_array_unref);
  self->lasso_line = g_array_new (FALSE, FALSE, sizeof (VnPoint));
  g_array_append_val (self->lasso_line, from);
}

/* Rings what the line encloses; the selection itself is announced when it ends. */
void
vn_graph_view_update_lasso (VnGraphView *self,
                            VnPoint      to)
{
  const VnPoint *last = &g_array_index (self->lasso_line, VnPoint, self->lasso_line->len - 1);

  if (hypot (to.x - last->x, to.y - last->y) * self->camera.zoom < LEAST_STEP)
    return;
  g_array_append_val (self->lasso_line, to);
  self->state.lasso = (const VnPoint *) (gpointer) self->lasso_line->data;
  self->state.n_lasso = self->lasso_line->len;
  if (self->lasso_line->len > 2)
    graph_view_lasso_pick (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* Returns: FALSE: nothing was drawn, it was a click */
gboolean
vn_graph_view_end_lasso (VnGraphView *self)
{
  gboolean drawn = self->lasso_line->len > 2;

  self->state.lasso = NULL;
  self->state.n_lasso = 0;
  g_clear_pointer (&self->lasso_line, g_array_unref);
  vn_graph_view_end_band (self);
  return drawn;
}

/**
 * vn_graph_view_set_lasso:
 */
void
vn_graph_view_set_lasso (VnGraphView *self,
                         gboolean     lasso)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  self->lasso = lasso;
  gtk_widget_set_cursor_from_name (GTK_WIDGET (self), lasso ? "crosshair" : NULL);
}
