/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The painter as a whole: what it draws, the frame of one drawing, and the boxes. */
#include "vn-graph-painter-private.h"

#include <math.h>

#define NEAR_ZOOM   0.9
#define MIDDLE_ZOOM 0.45
#define OVERHANG    16.    /* rings, chips and arrows reach so far beyond boxes, in pixels */

/**
 * vn_graph_painter_new:
 *
 * Returns: (transfer full): a painter in the light style with nothing to draw
 */
VnGraphPainter *
vn_graph_painter_new (void)
{
  VnGraphPainter *self = g_new0 (VnGraphPainter, 1);

  vn_graph_theme_init (&self->theme, FALSE, FALSE);
  self->font = g_strdup (self->theme.font);
  self->theme.font = self->font;
  self->fade = 1;
  self->found = g_array_new (FALSE, FALSE, sizeof (guint));
  vn_paint_texts_init (self);
  return self;
}

/**
 * vn_graph_painter_free:
 *
 * Frees the painter.
 */
void
vn_graph_painter_free (VnGraphPainter *self)
{
  if (self == NULL)
    return;

  vn_graph_painter_set_content (self, NULL, NULL, NULL);
  vn_graph_painter_set_overlay (self, NULL);
  vn_graph_painter_set_fade (self, NULL, 1);
  for (guint i = 0; i < N_TEXT_STYLES; i++)
    pango_font_description_free (self->fonts[i]);
  g_hash_table_unref (self->texts);
  g_object_unref (self->context);
  g_array_unref (self->found);
  g_clear_pointer (&self->rects, g_array_unref);
  g_free (self->font);
  g_free (self);
}

/**
 * vn_graph_painter_set_content:
 * @scene: (nullable): sealed
 * @layout: (nullable): of @scene
 * @index: (nullable): of @layout; must outlive its use here
 *
 * Sets what is drawn. Drops an overlay that does not fit.
 */
void
vn_graph_painter_set_content (VnGraphPainter     *self,
                              VnScene            *scene,
                              VnGraphLayout           *layout,
                              const VnGraphIndex *index)
{
  if (scene != NULL)
    vn_scene_ref (scene);
  if (layout != NULL)
    vn_graph_layout_ref (layout);
  g_clear_pointer (&self->scene, vn_scene_unref);
  g_clear_pointer (&self->layout, vn_graph_layout_unref);
  self->scene = scene;
  self->layout = layout;
  self->index = index;
  if (self->overlay != NULL
      && (scene == NULL || vn_overlay_get_n (self->overlay) != vn_scene_get_n_nodes (scene)))
    g_clear_pointer (&self->overlay, vn_overlay_unref);
  vn_graph_painter_set_fade (self, NULL, 1);
}

/**
 * vn_graph_painter_set_overlay:
 * @overlay: (nullable): as many nodes as the scene
 */
void
vn_graph_painter_set_overlay (VnGraphPainter *self,
                              VnOverlay      *overlay)
{
  g_return_if_fail (overlay == NULL || self->scene == NULL
                    || vn_overlay_get_n (overlay) == vn_scene_get_n_nodes (self->scene));

  if (overlay != NULL)
    vn_overlay_ref (overlay);
  g_clear_pointer (&self->overlay, vn_overlay_unref);
  self->overlay = overlay;
}

/**
 * vn_graph_painter_set_fade:
 * @from: (nullable): the overlay shown before; same size
 * @progress: 0 … 1: how much of the present one is seen already
 *
 * Mixes two overlays' fills, so that a change is seen to happen. 1 ends it.
 */
void
vn_graph_painter_set_fade (VnGraphPainter *self,
                           VnOverlay      *from,
                           double          progress)
{
  if (from != NULL)
    vn_overlay_ref (from);
  g_clear_pointer (&self->fade_from, vn_overlay_unref);
  self->fade_from = from;
  self->fade = progress;
}

/**
 * vn_graph_painter_set_theme:
 * @theme: copied, the font's name included
 */
void
vn_graph_painter_set_theme (VnGraphPainter     *self,
                            const VnGraphTheme *theme)
{
  gboolean new_font = g_strcmp0 (theme->font, self->font) != 0;

  if (new_font)
    {
      g_free (self->font);
      self->font = g_strdup (theme->font);
    }
  self->theme = *theme;
  self->theme.font = self->font;
  if (new_font)
    vn_paint_texts_clear (self);
}

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

/**
 * vn_graph_camera_fit:
 * @margin: kept free on each side, in pixels
 * @max_zoom: never closer than this
 *
 * Returns: the camera that shows all of @bounds in the middle of @width × @height pixels
 */
VnGraphCamera
vn_graph_camera_fit (VnRect bounds,
                     double width,
                     double height,
                     double margin,
                     double max_zoom)
{
  VnGraphCamera camera;

  camera.zoom = MIN (MAX (width - 2 * margin, 1) / MAX (bounds.width, 1),
                     MAX (height - 2 * margin, 1) / MAX (bounds.height, 1));
  camera.zoom = MIN (camera.zoom, max_zoom);
  camera.origin.x = bounds.x + bounds.width / 2 - width / 2 / camera.zoom;
  camera.origin.y = bounds.y + bounds.height / 2 - height / 2 / camera.zoom;
  return camera;
}

/* ---- the frame of one drawing ---- */

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
graph_painter_fill_of (const VnGraphTheme *theme,
                       const VnSceneNode  *node,
                       const VnOverlay    *overlay,
                       guint               index)
{
  VnOverlayKind kind = overlay != NULL ? vn_overlay_get_kind (overlay) : VN_OVERLAY_NONE;
  const VnOverlayItem *item = overlay != NULL ? vn_overlay_get (overlay, index) : NULL;

  if (node->kind != VN_SCENE_NODE)
    return theme->canvas;
  if (node->excluded)
    return theme->excluded;
  if (kind == VN_OVERLAY_NONE || kind == VN_OVERLAY_PRECISION)
    return vn_heat_color (VN_HEAT_ERROR, theme->dark, 0);
  if (!item->measured)
    return theme->canvas;
  return vn_heat_color (kind == VN_OVERLAY_AMOUNT ? VN_HEAT_AMOUNT : VN_HEAT_ERROR, theme->dark,
                        item->is_nan ? 1 : item->t);
}

/* Decides the colours of a node. */
Look
vn_paint_look (Paint *paint,
               guint  node)
{
  VnGraphPainter *self = paint->self;
  Look look = { .node = vn_scene_get_node (self->scene, node),
                .box = *vn_graph_layout_get_box (self->layout, node) };
  double t = 0;

  if (self->overlay != NULL && look.node->kind == VN_SCENE_NODE
      && vn_overlay_get_kind (self->overlay) != VN_OVERLAY_NONE
      && vn_overlay_get_kind (self->overlay) != VN_OVERLAY_PRECISION)
    look.item = vn_overlay_get (self->overlay, node);
  look.is_excluded = look.node->excluded;
  look.is_bad = look.item != NULL && look.item->measured && look.item->is_bad && !look.is_excluded
                && vn_overlay_get_kind (self->overlay) == VN_OVERLAY_ERROR;
  look.fill = graph_painter_fill_of (&self->theme, look.node, self->overlay, node);
  if (self->fade < 1)
    look.fill = vn_color_mix (graph_painter_fill_of (&self->theme, look.node, self->fade_from, node), look.fill,
                              self->fade);
  if (paint->level == VN_GRAPH_FAR)
    return look;
  look.text = vn_color_get_text (look.fill);
  if (look.item != NULL && look.item->measured)
    t = look.item->is_nan ? 1 : look.item->t;
  look.dim = t <= 0.3 && !self->theme.high_contrast ? 0.68 : 1;
  return look;
}

static void
graph_painter_paint_nodes (Paint *paint)
{
  VnGraphPainter *self = paint->self;
  g_autoptr(GArray) bad = g_array_new (FALSE, FALSE, sizeof (Look));

  vn_graph_index_find_nodes (self->index, paint->area, self->found);
  if (paint->level == VN_GRAPH_FAR)
    {
      vn_paint_far_nodes (paint, self->found);
      return;
    }
  for (guint i = 0; i < self->found->len; i++)
    {
      Look look = vn_paint_look (paint, g_array_index (self->found, guint, i));

      if (look.is_bad)
        g_array_append_val (bad, look);
      else
        vn_paint_node (paint, &look);
    }
  for (guint i = 0; i < bad->len; i++)
    vn_paint_node (paint, &g_array_index (bad, Look, i));
}

/**
 * vn_graph_painter_draw_background:
 *
 * Fills the rectangle (0, 0, @width, @height) with the canvas.
 */
void
vn_graph_painter_draw_background (VnGraphPainter *self,
                                  cairo_t        *cr,
                                  double          width,
                                  double          height)
{
  cairo_set_source_rgb (cr, self->theme.canvas.r, self->theme.canvas.g, self->theme.canvas.b);
  cairo_rectangle (cr, 0, 0, width, height);
  cairo_fill (cr);
}

/**
 * vn_graph_painter_draw:
 * @width: of the part to be drawn, in pixels of @cr
 * @height: likewise
 *
 * Draws canvas, edges and boxes; only what lies in the rectangle (0, 0, @width, @height) is looked at. The
 * caller clips.
 */
void
vn_graph_painter_draw (VnGraphPainter *self,
                       cairo_t        *cr,
                       VnGraphCamera   camera,
                       double          width,
                       double          height)
{
  Paint paint;

  vn_graph_painter_draw_background (self, cr, width, height);
  if (self->scene == NULL || self->layout == NULL || self->index == NULL)
    return;

  paint = vn_paint_begin (self, cr, camera, width, height);
  vn_paint_edges (&paint);
  graph_painter_paint_nodes (&paint);
  vn_paint_end (&paint);
}
