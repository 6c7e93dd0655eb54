/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lies over the network: selection, boundary, hover, rubber band. Sizes are screen pixels. */
#include "vn-graph-painter-private.h"

#include <math.h>

#define RING         1.6
#define FOCUS_RING   3.5
#define FOCUS_OUTER  1.5
#define REGION_RADIUS 14.
#define CHIP_HEIGHT  18.
#define CHIP_MIN     34.
#define CHIP_ICON    14.    /* the sign of a leak, and the gap behind it */
#define SELECTED_EDGE 3.
#define START_RING   12.    /* at the start of a selected tensor */
#define START_LINE   2.

/**
 * vn_graph_state_init:
 *
 * Nothing selected, nothing hovered.
 */
void
vn_graph_state_init (VnGraphState *self)
{
  g_return_if_fail (self != NULL);

  *self = (VnGraphState) { .hover_node = VN_SCENE_NONE, .hover_edge = VN_SCENE_NONE,
                           .hover_stub = VN_SCENE_NONE, .focus_node = VN_SCENE_NONE,
                           .selected_edge = VN_SCENE_NONE, .hover_frame = VN_SCENE_NONE };
}

static double
paint_state_radius_of (Paint *paint,
                       guint  node)
{
  if (paint->level == VN_GRAPH_FAR)
    return 1.5 * paint->px;
  if (vn_scene_get_node (paint->self->scene, node)->kind == VN_SCENE_PAIR ||
      vn_scene_node_is_pill (vn_scene_get_node (paint->self->scene, node)))
    return vn_graph_layout_get_box (paint->self->layout, node)->height / 2;
  return BOX_RADIUS;
}

/* A ring outside the box, its inner edge @distance pixels away. */
static void
paint_ring (Paint  *paint,
            guint   node,
            double  distance,
            double  width,
            double  alpha)
{
  const VnRect *box = vn_graph_layout_get_box (paint->self->layout, node);

  vn_paint_rounded (paint, *box, paint_state_radius_of (paint, node), (distance + width / 2) * paint->px);
  cairo_set_line_width (paint->cr, width * paint->px);
  vn_paint_set_color (paint, paint->self->theme.accent, alpha);
  cairo_stroke (paint->cr);
}

/* The region's tint leaves the boxes alone: their colours mean something. */
static void
paint_region (Paint        *paint,
              const VnRect *region)
{
  static const double dashes[] = { 6, 4 };
  VnGraphPainter *self = paint->self;
  double scaled[2] = { dashes[0] * paint->px, dashes[1] * paint->px };

  vn_paint_rounded (paint, *region, REGION_RADIUS, 0);
  vn_graph_index_find_nodes (self->index, *region, self->found);
  for (guint i = 0; i < self->found->len; i++)
    {
      guint node = g_array_index (self->found, guint, i);

      vn_paint_rounded (paint, *vn_graph_layout_get_box (self->layout, node), paint_state_radius_of (paint, node), 0);
    }
  cairo_set_fill_rule (paint->cr, CAIRO_FILL_RULE_EVEN_ODD);
  vn_paint_set_color (paint, self->theme.accent, 0.09);
  cairo_fill (paint->cr);
  cairo_set_fill_rule (paint->cr, CAIRO_FILL_RULE_WINDING);

  vn_paint_rounded (paint, *region, REGION_RADIUS, 0);
  cairo_set_dash (paint->cr, scaled, 2, 0);
  cairo_set_line_width (paint->cr, 1.5 * paint->px);
  vn_paint_set_color (paint, self->theme.accent, 1);
  cairo_stroke (paint->cr);
  cairo_set_dash (paint->cr, NULL, 0, 0);
}

/* Where a chip sits: where its edge crosses the border of a region, else next to the arrow. */
static VnPoint
paint_state_chip_place (Paint              *paint,
                        const VnGraphState *state,
                        const VnGraphChip  *chip)
{
  guint n;
  const VnPoint *points = vn_graph_layout_get_route (paint->self->layout, chip->edge, &n, NULL);
  VnPoint end;

  if (n == 0)
    return (VnPoint) { NAN, NAN };
  end = chip->enters ? points[n - 1] : points[0];
  for (guint i = 0; i < state->n_regions; i++)
    {
      const VnRect *region = &state->regions[i];

      if (end.x < region->x || end.x > region->x + region->width
          || end.y < region->y || end.y > region->y + region->height)
        continue;
      return vn_paint_point_on_route (points, n, chip->enters ? region->y : region->y + region->height,
                                      chip->enters);
    }
  return vn_paint_point_on_route (points, n, end.y + (chip->enters ? -16 : 10), chip->enters);
}

/* In pixels, about the place where it sits. */
static VnRect
paint_state_chip_box (Paint             *paint,
                      const VnGraphChip *chip,
                      double            *text_width)
{
  double width;

  vn_paint_text (paint, TEXT_VALUE, chip->label, 0, text_width);
  width = MAX (*text_width + 16 + (chip->is_leak ? CHIP_ICON : 0), CHIP_MIN);
  return (VnRect) { -width / 2, -CHIP_HEIGHT / 2, width, CHIP_HEIGHT };
}

/* The sign of a warning: white, with its mark cut out. */
static void
paint_chip_icon (Paint *paint,
                 double x)
{
  cairo_move_to (paint->cr, x + 5, -5);
  cairo_line_to (paint->cr, x + 10, 4);
  cairo_line_to (paint->cr, x, 4);
  cairo_close_path (paint->cr);
  cairo_fill (paint->cr);
  vn_paint_set_color (paint, paint->self->theme.leak, 1);
  cairo_rectangle (paint->cr, x + 4.3, -2.2, 1.4, 3.2);
  cairo_rectangle (paint->cr, x + 4.3, 1.8, 1.4, 1.3);
  cairo_fill (paint->cr);
}

static void
paint_chip (Paint              *paint,
            const VnGraphState *state,
            const VnGraphChip  *chip)
{
  VnPoint at = paint_state_chip_place (paint, state, chip);
  PangoLayout *layout;
  double width, left;
  VnRect box;

  if (isnan (at.x) || chip->label[0] == '\0')
    return;
  layout = vn_paint_text (paint, TEXT_VALUE, chip->label, 0, NULL);
  box = paint_state_chip_box (paint, chip, &width);
  left = -(width + (chip->is_leak ? CHIP_ICON : 0)) / 2;
  cairo_save (paint->cr);
  cairo_translate (paint->cr, at.x, at.y);
  cairo_scale (paint->cr, paint->px, paint->px);
  vn_paint_rounded (paint, box, CHIP_HEIGHT / 2, 0);
  vn_paint_set_color (paint, chip->is_leak ? paint->self->theme.leak : paint->self->theme.accent, 1);
  cairo_fill (paint->cr);
  cairo_set_source_rgb (paint->cr, 1, 1, 1);
  vn_paint_show_middle (paint, layout, left + (chip->is_leak ? CHIP_ICON : 0), 0);
  if (chip->is_leak)
    paint_chip_icon (paint, left);
  cairo_restore (paint->cr);
}

/**
 * vn_graph_painter_get_chip:
 * @chip: number of a chip of @state
 * @box: (out): where it is, in pixels
 *
 * Returns: %FALSE if it is not drawn with that camera
 */
gboolean
vn_graph_painter_get_chip (VnGraphPainter     *self,
                           VnGraphCamera       camera,
                           const VnGraphState *state,
                           guint               chip,
                           VnRect             *box)
{
  Paint paint = { .self = self, .camera = camera, .px = 1 / camera.zoom, .level = vn_graph_level_of_zoom (camera.zoom) };
  double width;
  VnPoint at;

  g_return_val_if_fail (self != NULL && state != NULL && box != NULL, FALSE);

  if (self->layout == NULL || chip >= state->n_chips || paint.level == VN_GRAPH_FAR || state->chips[chip].label[0] == '\0')
    return FALSE;
  at = paint_state_chip_place (&paint, state, &state->chips[chip]);
  if (isnan (at.x))
    return FALSE;
  *box = paint_state_chip_box (&paint, &state->chips[chip], &width);
  box->x += (at.x - camera.origin.x) * camera.zoom;
  box->y += (at.y - camera.origin.y) * camera.zoom;
  return TRUE;
}

static void
paint_boundary (Paint              *paint,
                const VnGraphState *state)
{
  const VnGraphTheme *theme = &paint->self->theme;

  for (guint i = 0; i < state->n_chips; i++)
    vn_paint_edge (paint, state->chips[i].edge, 2.5, state->chips[i].is_leak ? theme->leak : theme->accent,
                   1);
  if (paint->level == VN_GRAPH_FAR)
    return;
  for (guint i = 0; i < state->n_chips; i++)
    paint_chip (paint, state, &state->chips[i]);
}

static void
paint_hover_node (Paint *paint,
                  guint  node)
{
  const VnRect *box = vn_graph_layout_get_box (paint->self->layout, node);

  vn_paint_rounded (paint, *box, paint_state_radius_of (paint, node), 0);
  vn_paint_set_color (paint, paint->self->theme.ink, 0.07);
  cairo_fill (paint->cr);
  vn_paint_rounded (paint, *box, paint_state_radius_of (paint, node), -0.5 * paint->px);
  cairo_set_line_width (paint->cr, MAX (1, paint->px));
  vn_paint_set_ink (paint, 0.6);
  cairo_stroke (paint->cr);
}

/* Whoever reads it: each of these edges, or the stubs at the ends of a long one. */
static void
paint_selected_tensor (Paint *paint,
                       guint  edge)
{
  VnGraphPainter *self = paint->self;
  const VnSceneEdge *selected = vn_scene_get_edge (self->scene, edge);
  VnPoint start = { NAN, NAN };
  guint n_edges, n;
  const guint *edges = vn_scene_get_out_edges (self->scene, selected->from, &n_edges);

  for (guint i = 0; i < n_edges; i++)
    {
      const VnPoint *points;

      if (g_strcmp0 (vn_scene_get_edge (self->scene, edges[i])->value, selected->value) != 0)
        continue;
      points = vn_graph_layout_get_route (self->layout, edges[i], &n, NULL);
      vn_paint_edge (paint, edges[i], SELECTED_EDGE, self->theme.accent, 1);
      if (n > 0)
        start = points[0];
    }
  vn_graph_index_find_stubs (self->index, paint->area, self->found);
  for (guint i = 0; i < self->found->len; i++)
    {
      const VnGraphLayoutStub *stub = vn_graph_layout_get_stub (self->layout, g_array_index (self->found, guint, i));

      if (g_strcmp0 (vn_scene_get_edge (self->scene, stub->edge)->value, selected->value) != 0)
        continue;
      vn_paint_rounded (paint, stub->box, stub->box.height / 2, 0.5);
      cairo_set_line_width (paint->cr, MAX (SELECTED_EDGE / 2, 1.5 * paint->px));
      vn_paint_set_color (paint, self->theme.accent, 1);
      cairo_stroke (paint->cr);
      if (stub->at_source)
        start = stub->route[0];
    }
  if (isnan (start.x))
    return;
  cairo_arc (paint->cr, start.x, start.y, (START_RING - START_LINE) / 2 * paint->px, 0, 2 * G_PI);
  vn_paint_set_color (paint, self->theme.canvas, 1);
  cairo_fill_preserve (paint->cr);
  vn_paint_set_color (paint, self->theme.accent, 1);
  cairo_set_line_width (paint->cr, START_LINE * paint->px);
  cairo_stroke (paint->cr);
}

/* The canvas veils the box to 55 %, and a dash of accent runs round it. */
static void
paint_measuring (Paint  *paint,
                 guint   node,
                 double  phase)
{
  const VnRect *box = vn_graph_layout_get_box (paint->self->layout, node);
  double round = 2 * (box->width + box->height), dashes[2] = { 24, round - 24 };

  vn_paint_rounded (paint, *box, paint_state_radius_of (paint, node), 0);
  vn_paint_set_color (paint, paint->self->theme.canvas, 0.45);
  cairo_fill (paint->cr);
  vn_paint_rounded (paint, *box, paint_state_radius_of (paint, node), -1);
  cairo_set_dash (paint->cr, dashes, 2, -phase * round);
  cairo_set_line_width (paint->cr, 2);
  vn_paint_set_color (paint, paint->self->theme.accent, 1);
  cairo_stroke (paint->cr);
  cairo_set_dash (paint->cr, NULL, 0, 0);
}

static void
paint_rings (Paint              *paint,
             const VnGraphState *state)
{
  VnGraphPainter *self = paint->self;

  vn_graph_index_find_nodes (self->index, paint->area, self->found);
  for (guint i = 0; i < self->found->len; i++)
    {
      guint node = g_array_index (self->found, guint, i);

      if (state->measuring != NULL && state->measuring[node])
        paint_measuring (paint, node, state->phase);
      if (state->partly != NULL && state->partly[node] && node != state->focus_node)
        paint_ring (paint, node, 1, RING, 0.45);
      if (state->selected != NULL && state->selected[node] && node != state->focus_node)
        paint_ring (paint, node, 1, RING, 1);
    }
  if (state->focus_node == VN_SCENE_NONE)
    return;
  paint_ring (paint, state->focus_node, 1, FOCUS_RING, 1);
  paint_ring (paint, state->focus_node, 1.5 + FOCUS_RING, FOCUS_OUTER, 0.45);
}

static void
paint_band (Paint        *paint,
            const VnRect *band)
{
  cairo_rectangle (paint->cr, band->x, band->y, band->width, band->height);
  vn_paint_set_color (paint, paint->self->theme.accent, 0.15);
  cairo_fill_preserve (paint->cr);
  cairo_set_line_width (paint->cr, paint->px);
  vn_paint_set_color (paint, paint->self->theme.accent, 1);
  cairo_stroke (paint->cr);
}

static void
paint_lasso (Paint         *paint,
             const VnPoint *line,
             guint          n)
{
  double dash[] = { 6 * paint->px, 4 * paint->px };

  for (guint i = 0; i < n; i++)
    cairo_line_to (paint->cr, line[i].x, line[i].y);
  cairo_close_path (paint->cr);
  cairo_set_fill_rule (paint->cr, CAIRO_FILL_RULE_EVEN_ODD);
  vn_paint_set_color (paint, paint->self->theme.accent, 0.15);
  cairo_fill_preserve (paint->cr);
  cairo_set_line_width (paint->cr, 1.5 * paint->px);
  cairo_set_dash (paint->cr, dash, 2, 0);
  vn_paint_set_color (paint, paint->self->theme.accent, 1);
  cairo_stroke (paint->cr);
  cairo_set_dash (paint->cr, NULL, 0, 0);
  cairo_set_fill_rule (paint->cr, CAIRO_FILL_RULE_WINDING);
}

/**
 * vn_graph_painter_draw_state:
 *
 * Draws what changes with pointer and selection over what vn_graph_painter_draw() drew with the same camera.
 */
void
vn_graph_painter_draw_state (VnGraphPainter     *self,
                             cairo_t            *cr,
                             VnGraphCamera       camera,
                             double              width,
                             double              height,
                             const VnGraphState *state)
{
  Paint paint;

  g_return_if_fail (self != NULL);

  if (self->scene == NULL || self->layout == NULL || self->index == NULL)
    return;

  paint = vn_paint_begin (self, cr, camera, width, height);
  for (guint i = 0; i < state->n_regions; i++)
    paint_region (&paint, &state->regions[i]);
  if (state->hover_edge != VN_SCENE_NONE)
    vn_paint_edge (&paint, state->hover_edge, 2.5, self->theme.ink, 0.7);
  paint_boundary (&paint, state);
  if (state->selected_edge != VN_SCENE_NONE)
    paint_selected_tensor (&paint, state->selected_edge);
  if (state->hover_frame != VN_SCENE_NONE)
    vn_paint_frame_hover (&paint, state->hover_frame);
  if (state->hover_stub != VN_SCENE_NONE)
    vn_paint_stub (&paint, vn_graph_layout_get_stub (self->layout, state->hover_stub), TRUE);
  if (state->hover_node != VN_SCENE_NONE)
    paint_hover_node (&paint, state->hover_node);
  paint_rings (&paint, state);
  if (state->has_band)
    paint_band (&paint, &state->band);
  if (state->n_lasso > 1)
    paint_lasso (&paint, state->lasso, state->n_lasso);
  vn_paint_end (&paint);
}
