/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The painter as a whole: what it draws, and in which order. */
#include "vn-graph-painter-private.h"

#include <math.h>

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
  vn_graph_painter_set_groups (self, NULL);
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
  g_return_if_fail (self != NULL);

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
 * vn_graph_painter_set_groups:
 * @groups: (nullable): that the frames of the layout are named after
 */
void
vn_graph_painter_set_groups (VnGraphPainter *self,
                             VnGroups       *groups)
{
  g_return_if_fail (self != NULL);

  if (groups != NULL)
    vn_groups_ref (groups);
  g_clear_pointer (&self->groups, vn_groups_unref);
  self->groups = groups;
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
  g_return_if_fail (self != NULL);

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
  gboolean new_font;

  g_return_if_fail (self != NULL);

  new_font = g_strcmp0 (theme->font, self->font) != 0;
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

/* ---- one drawing ---- */

static void
graph_painter_paint_box (Paint      *paint,
                         const Look *look)
{
  if (look->node->kind == VN_SCENE_GROUP)
    vn_paint_group (paint, look);
  else
    vn_paint_node (paint, look);
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
        graph_painter_paint_box (paint, &look);
    }
  for (guint i = 0; i < bad->len; i++)
    graph_painter_paint_box (paint, &g_array_index (bad, Look, i));
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
  g_return_if_fail (self != NULL);

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

  g_return_if_fail (self != NULL);

  vn_graph_painter_draw_background (self, cr, width, height);
  if (self->scene == NULL || self->layout == NULL || self->index == NULL)
    return;

  paint = vn_paint_begin (self, cr, camera, width, height);
  vn_paint_frames (&paint);
  vn_paint_edges (&paint);
  vn_paint_frame_titles (&paint);
  graph_painter_paint_nodes (&paint);
  vn_paint_end (&paint);
}
