/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws edges: curves, arrows, shared lanes and stubs; from far away as plain lines in batches. */
#include "vn-graph-painter-private.h"

#include "vn-i18n.h"

#include <math.h>
#include <string.h>

#define EDGE_WIDTH      1.5
#define FAR_WIDTH       0.8    /* in pixels */
#define FAR_ALPHA       0.25
#define FAR_BATCH      64
#define FAR_STRAIGHT    0.15   /* zoom below which curves are drawn as lines */
#define DIAMOND         6.     /* half the size */

static const double float_dashes[] = { 5, 3 };

static void
paint_edge_trace (Paint         *paint,
                  const VnPoint *points,
                  guint          first,
                  guint          n,
                  double         shorten,
                  gboolean       plain)
{
  cairo_move_to (paint->cr, points[first].x, points[first].y);
  for (guint i = first + 1; i < n; i++)
    {
      VnPoint to = points[i], c1, c2;

      if (i + 1 == n)
        to.y -= MIN (shorten, to.y - points[i - 1].y);
      if (i % 2 == 1 || (plain && !vn_route_turns (points, n, i - 1)) || points[i - 1].x == to.x)
        {
          cairo_line_to (paint->cr, to.x, to.y);
          continue;
        }
      vn_route_controls (points, n, i - 1, &c1, &c2);
      cairo_curve_to (paint->cr, c1.x, c1.y, c2.x, c2.y, to.x, to.y);
    }
}

static void
paint_arrow (Paint   *paint,
             VnPoint  tip,
             double   size)
{
  cairo_move_to (paint->cr, tip.x, tip.y);
  cairo_line_to (paint->cr, tip.x - size / 2, tip.y - size);
  cairo_line_to (paint->cr, tip.x + size / 2, tip.y - size);
  cairo_close_path (paint->cr);
  cairo_fill (paint->cr);
}

static double
paint_edge_curve_parameter (VnPoint a,
                            VnPoint c1,
                            VnPoint c2,
                            VnPoint b,
                            double  y)
{
  double low = 0, high = 1;

  for (guint i = 0; i < 24; i++)
    {
      double t = (low + high) / 2, u = 1 - t;
      double at = u * u * u * a.y + 3 * u * u * t * c1.y + 3 * u * t * t * c2.y + t * t * t * b.y;

      if (at < y)
        low = t;
      else
        high = t;
    }
  return (low + high) / 2;
}

static VnPoint
paint_edge_point_on_piece (const VnPoint *points,
                           guint          n_points,
                           guint          i,
                           double         y)
{
  VnPoint a = points[i], b = points[i + 1], c1, c2;
  double t, u;

  if (i % 2 == 0 || a.x == b.x)
    return (VnPoint) { a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y), y };
  vn_route_controls (points, n_points, i, &c1, &c2);
  t = paint_edge_curve_parameter (a, c1, c2, b, y);
  u = 1 - t;
  return (VnPoint) { u * u * u * a.x + 3 * u * u * t * c1.x + 3 * u * t * t * c2.x + t * t * t * b.x, y };
}

/* The point of a route at a height, where it runs down there: the first such place, or the last one. Its beginning or its end if
 * it does not reach there. */
VnPoint
vn_paint_point_on_route (const VnPoint *points,
                         guint          n_points,
                         double         y,
                         gboolean       last)
{
  for (guint k = 0; k + 1 < n_points; k++)
    {
      guint i = last ? n_points - 2 - k : k;

      if (y >= points[i].y && y <= points[i + 1].y && points[i].y < points[i + 1].y)
        return paint_edge_point_on_piece (points, n_points, i, y);
      if (k == 0 && (last ? y > points[i + 1].y : y < points[i].y))
        return points[last ? i + 1 : i];
    }
  return n_points == 0 ? (VnPoint) { 0, 0 } : points[last ? 0 : n_points - 1];
}

static void
paint_diamond (Paint         *paint,
               const VnPoint *points,
               guint          n)
{
  VnPoint at = vn_paint_point_on_route (points, n, points[n - 1].y - ARROW_SIZE - DIAMOND, TRUE);

  cairo_move_to (paint->cr, at.x, at.y - DIAMOND);
  cairo_line_to (paint->cr, at.x + DIAMOND, at.y);
  cairo_line_to (paint->cr, at.x, at.y + DIAMOND);
  cairo_line_to (paint->cr, at.x - DIAMOND, at.y);
  cairo_close_path (paint->cr);
  vn_paint_set_color (paint, paint->self->theme.canvas, 1);
  cairo_fill_preserve (paint->cr);
  cairo_set_line_width (paint->cr, 1.3);
  vn_paint_set_ink (paint, 0.75);
  cairo_stroke (paint->cr);
}

/* Draws an edge whole, shared lanes included: width in world units, at least as many pixels. */
void
vn_paint_edge (Paint   *paint,
               guint    edge,
               double   width,
               VnColor  color,
               double   alpha)
{
  const VnSceneEdge *data = vn_scene_get_edge (paint->self->scene, edge);
  double arrow = MAX (ARROW_SIZE, width * 2.6);
  guint n;
  const VnPoint *points = vn_graph_layout_get_route (paint->self->layout, edge, &n, NULL);

  if (n == 0)
    return;
  width = MAX (width, (paint->level == VN_GRAPH_FAR ? 1.5 : 1) * paint->px);
  paint_edge_trace (paint, points, 0, n, arrow - 1, FALSE);
  cairo_set_line_width (paint->cr, width);
  vn_paint_set_color (paint, color, alpha);
  if (data->is_float)
    cairo_set_dash (paint->cr, float_dashes, 2, 0);
  cairo_stroke (paint->cr);
  cairo_set_dash (paint->cr, NULL, 0, 0);
  paint_arrow (paint, points[n - 1], arrow);
  if (data->changes && paint->level == VN_GRAPH_NEAR)
    paint_diamond (paint, points, n);
}

static void
paint_own_part (Paint *paint,
                guint  edge)
{
  const VnSceneEdge *data = vn_scene_get_edge (paint->self->scene, edge);
  const VnGraphTheme *theme = &paint->self->theme;
  guint n, own;
  const VnPoint *points = vn_graph_layout_get_route (paint->self->layout, edge, &n, &own);

  if (n == 0)
    return;
  paint_edge_trace (paint, points, own, n, ARROW_SIZE - 1, FALSE);
  cairo_set_line_width (paint->cr, MAX (theme->high_contrast ? 2 : EDGE_WIDTH, paint->px));
  vn_paint_set_ink (paint, theme->edge_alpha);
  if (data->is_float)
    cairo_set_dash (paint->cr, float_dashes, 2, 0);
  cairo_stroke (paint->cr);
  if (data->is_float)
    cairo_set_dash (paint->cr, NULL, 0, 0);
  vn_paint_set_ink (paint, theme->edge_alpha + 0.12);
  paint_arrow (paint, points[n - 1], ARROW_SIZE);
  if (data->changes && paint->level == VN_GRAPH_NEAR)
    paint_diamond (paint, points, n);
}

static gboolean
paint_edge_too_small (const VnPoint *points,
                      guint          first,
                      guint          n,
                      double         least)
{
  double length = 0;

  for (guint i = first + 1; i < n; i++)
    length += fabs (points[i].x - points[i - 1].x) + fabs (points[i].y - points[i - 1].y);
  return length < least;
}

/* From far: many edges in one stroke; what is shorter than two pixels lies between touching boxes. */
static void
paint_far_edges (Paint        *paint,
                 const GArray *edges)
{
  const VnGraphTheme *theme = &paint->self->theme;
  guint pending = 0;

  cairo_set_line_width (paint->cr, (theme->high_contrast ? 2 : FAR_WIDTH) * paint->px);
  vn_paint_set_ink (paint, MAX (FAR_ALPHA, theme->edge_alpha));
  for (guint i = 0; i < edges->len; i++)
    {
      guint n, own;
      const VnPoint *points = vn_graph_layout_get_route (paint->self->layout,
                                                         g_array_index (edges, guint, i), &n, &own);

      if (n == 0 || paint_edge_too_small (points, own, n, 2 * paint->px))
        continue;
      paint_edge_trace (paint, points, own, n, 0, paint->camera.zoom < FAR_STRAIGHT);
      if (++pending % FAR_BATCH == 0)
        cairo_stroke (paint->cr);
    }
  cairo_stroke (paint->cr);
}

static const char *
paint_edge_short_name (const VnSceneNode *node)
{
  return vn_scene_node_is_pill (node) ? node->name : node->kind == VN_SCENE_PAIR ? node->detail : node->op;
}

/* Draws a stub: the line to its pill, and the pill with the other end's name. */
void
vn_paint_stub (Paint              *paint,
               const VnGraphLayoutStub *stub,
               gboolean            hovered)
{
  const VnGraphTheme *theme = &paint->self->theme;
  const VnSceneEdge *edge = vn_scene_get_edge (paint->self->scene, stub->edge);
  const VnSceneNode *other = vn_scene_get_node (paint->self->scene, stub->at_source ? edge->to : edge->from);
  g_autofree char *label = NULL;
  PangoLayout *layout;
  double width;

  paint_edge_trace (paint, stub->route, 0, 4, stub->at_source ? 0 : ARROW_SIZE - 1, paint->level == VN_GRAPH_FAR);
  cairo_set_line_width (paint->cr, MAX (EDGE_WIDTH, paint->px));
  vn_paint_set_ink (paint, theme->edge_alpha);
  cairo_stroke (paint->cr);
  if (!stub->at_source && paint->level != VN_GRAPH_FAR)
    paint_arrow (paint, stub->route[3], ARROW_SIZE);

  vn_paint_rounded (paint, stub->box, stub->box.height / 2, -0.5);
  vn_paint_set_color (paint, theme->canvas, 1);
  cairo_fill_preserve (paint->cr);
  cairo_set_line_width (paint->cr, MAX (1, paint->px));
  vn_paint_set_ink (paint, hovered ? 0.75 : 0.38);
  cairo_stroke (paint->cr);
  if (paint->level == VN_GRAPH_FAR)
    return;

  if (stub->n_edges > 1)
    label = g_strdup_printf (ngettext ("%u distant consumer ↓",
                                       "%u distant consumers ↓", stub->n_edges), stub->n_edges);
  else if (other->kind == VN_SCENE_GROUP)
    label = g_strdup_printf ("%s %s", other->op, stub->at_source ? "↓" : "↑");
  else
    label = g_strdup_printf ("%s %u %s", paint_edge_short_name (other), other->source, stub->at_source ? "↓" : "↑");
  layout = vn_paint_text (paint, TEXT_SMALL, label, stub->box.width - 12, &width);
  vn_paint_set_ink (paint, 0.85);
  vn_paint_show_middle (paint, layout, stub->box.x + (stub->box.width - width) / 2,
                        stub->box.y + stub->box.height / 2);
}

/* Draws the edges and stubs of the visible part. */
void
vn_paint_edges (Paint *paint)
{
  VnGraphPainter *self = paint->self;

  vn_graph_index_find_edges (self->index, paint->area, self->found);
  if (paint->level == VN_GRAPH_FAR)
    paint_far_edges (paint, self->found);
  else
    for (guint i = 0; i < self->found->len; i++)
      paint_own_part (paint, g_array_index (self->found, guint, i));

  if (paint->camera.zoom < FAR_STRAIGHT)
    return;
  vn_graph_index_find_stubs (self->index, paint->area, self->found);
  for (guint i = 0; i < self->found->len; i++)
    vn_paint_stub (paint, vn_graph_layout_get_stub (self->layout, g_array_index (self->found, guint, i)),
                   FALSE);
}
