/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all that is drawn starts from: the frame of one drawing, colours, and how a node looks. */
#include "vn-graph-painter-private.h"

#include <math.h>

#define NEAR_ZOOM    0.9
#define MIDDLE_ZOOM  0.45
#define OVERHANG    16.    /* rings, chips and arrows reach so far beyond boxes, in pixels */

/**
 * vn_graph_level_of_zoom:
 *
 * Returns: how much is drawn at a zoom
 */
VnGraphLevel
vn_graph_level_of_zoom (double zoom)
{
  if (zoom >= NEAR_ZOOM - 1e-9)
    return VN_GRAPH_NEAR;
  return zoom >= MIDDLE_ZOOM - 1e-9 ? VN_GRAPH_MIDDLE : VN_GRAPH_FAR;
}

/* Puts @cr into world units; the transform is applied here and nowhere outside, because GTK 4.8 misplaces a
 * cairo node that is appended under a scale. */
Paint
vn_paint_begin (VnGraphPainter *self,
                cairo_t        *cr,
                VnGraphCamera   camera,
                double          width,
                double          height)
{
  Paint paint = { .self = self, .cr = cr, .camera = camera, .px = 1 / camera.zoom };
  double over = OVERHANG * paint.px;

  vn_paint_texts_trim (self);
  paint.level = vn_graph_level_of_zoom (camera.zoom);
  paint.area = (VnRect) { camera.origin.x - over, camera.origin.y - over,
                          width * paint.px + 2 * over, height * paint.px + 2 * over };
  cairo_get_matrix (cr, &paint.pixels);
  cairo_save (cr);
  cairo_scale (cr, camera.zoom, camera.zoom);
  cairo_translate (cr, -camera.origin.x, -camera.origin.y);
  return paint;
}

void
vn_paint_end (Paint *paint)
{
  cairo_restore (paint->cr);
}

void
vn_paint_set_color (Paint   *paint,
                    VnColor  color,
                    double   alpha)
{
  cairo_set_source_rgba (paint->cr, color.r, color.g, color.b, alpha);
}

/* Ink with an alpha that high contrast makes opaque. */
void
vn_paint_set_ink (Paint  *paint,
                  double  alpha)
{
  vn_paint_set_color (paint, paint->self->theme.ink, vn_graph_theme_alpha (&paint->self->theme, alpha));
}

/* Path of a rounded rectangle, grown by @outset on each side (negative: shrunk). */
void
vn_paint_rounded (Paint  *paint,
                  VnRect  box,
                  double  radius,
                  double  outset)
{
  double x0 = box.x - outset, y0 = box.y - outset;
  double x1 = box.x + box.width + outset, y1 = box.y + box.height + outset;
  double r = MIN (MAX (radius + outset, 0), MIN (x1 - x0, y1 - y0) / 2);

  cairo_new_sub_path (paint->cr);
  cairo_arc (paint->cr, x1 - r, y0 + r, r, -G_PI_2, 0);
  cairo_arc (paint->cr, x1 - r, y1 - r, r, 0, G_PI_2);
  cairo_arc (paint->cr, x0 + r, y1 - r, r, G_PI_2, G_PI);
  cairo_arc (paint->cr, x0 + r, y0 + r, r, G_PI, 3 * G_PI_2);
  cairo_close_path (paint->cr);
}

static VnColor
paint_look_fill_of (const VnGraphTheme *theme,
                    const VnSceneNode  *node,
                    const VnOverlay    *overlay,
                    guint               index)
{
  VnOverlayKind kind = overlay != NULL ? vn_overlay_get_kind (overlay) : VN_OVERLAY_NONE;
  const VnOverlayItem *item = overlay != NULL ? vn_overlay_get (overlay, index) : NULL;

  if (vn_scene_node_is_pill (node))
    return theme->canvas;
  if (node->excluded && !vn_overlay_kind_rates_float (kind))
    return theme->excluded;
  if (kind == VN_OVERLAY_NONE || kind == VN_OVERLAY_PRECISION)
    return vn_heat_color (VN_HEAT_ERROR, theme->dark, 0);
  if (!item->measured)
    return node->excluded ? theme->excluded : theme->canvas;
  if (kind == VN_OVERLAY_DIFFERENCE)
    return vn_heat_difference (theme->dark, item->is_nan ? 1 : item->t);
  return vn_heat_color (kind == VN_OVERLAY_ERROR ? VN_HEAT_ERROR : VN_HEAT_AMOUNT, theme->dark,
                        item->is_nan ? 1 : item->t);
}

/* Decides the colours of a node. */
Look
vn_paint_look (Paint *paint,
               guint  node)
{
  VnGraphPainter *self = paint->self;
  Look look = { .node = vn_scene_get_node (self->scene, node),
                .box = *vn_graph_layout_get_box (self->layout, node),
                .note = self->overlay != NULL ? vn_overlay_get_note (self->overlay, node) : NULL };
  double t = 0;

  if (self->overlay != NULL && !vn_scene_node_is_pill (look.node)
      && vn_overlay_get_kind (self->overlay) != VN_OVERLAY_NONE
      && vn_overlay_get_kind (self->overlay) != VN_OVERLAY_PRECISION)
    look.item = vn_overlay_get (self->overlay, node);
  look.is_excluded = look.node->excluded && !(look.item != NULL &&
                                              vn_overlay_kind_rates_float (vn_overlay_get_kind (self->overlay)));
  look.mark = self->overlay != NULL && look.node->kind == VN_SCENE_NODE
              ? vn_overlay_get (self->overlay, node)->mark : VN_MARK_NONE;
  look.is_bad = look.item != NULL && look.item->measured && look.item->is_bad && !look.is_excluded
                && vn_overlay_get_kind (self->overlay) == VN_OVERLAY_ERROR;
  look.fill = paint_look_fill_of (&self->theme, look.node, self->overlay, node);
  if (self->fade < 1)
    look.fill = vn_color_mix (paint_look_fill_of (&self->theme, look.node, self->fade_from, node), look.fill, self->fade);
  if (paint->level == VN_GRAPH_FAR)
    return look;
  look.text = vn_color_get_text (look.fill);
  if (look.item != NULL && look.item->measured)
    t = look.item->is_nan ? 1 : fabs ((double) look.item->t);
  look.dim = t <= 0.3 && !self->theme.high_contrast ? 0.68 : 1;
  return look;
}
