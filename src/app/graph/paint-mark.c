/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The signs of nodes that differ from those of another network: plus, minus and unequal, on the upper right corner of the box. */
#include "vn-graph-painter-private.h"

#define RADIUS      8.    /* of the disc, in pixels at 100 % */
#define ARM         3.6   /* of the sign, likewise */
#define LEAST_BLOCK 9     /* pixels of height of a far block that has room for a sign */

static void
paint_mark_sign (cairo_t     *cr,
                 VnSceneMark  mark,
                 double       x,
                 double       y,
                 double       arm)
{
  if (mark == VN_MARK_CHANGED)
    {
      cairo_move_to (cr, x - arm, y - 0.45 * arm);
      cairo_line_to (cr, x + arm, y - 0.45 * arm);
      cairo_move_to (cr, x - arm, y + 0.45 * arm);
      cairo_line_to (cr, x + arm, y + 0.45 * arm);
      cairo_move_to (cr, x - 0.6 * arm, y + arm);
      cairo_line_to (cr, x + 0.6 * arm, y - arm);
      return;
    }
  cairo_move_to (cr, x - arm, y);
  cairo_line_to (cr, x + arm, y);
  if (mark == VN_MARK_MISSING)
    return;
  cairo_move_to (cr, x, y - arm);
  cairo_line_to (cr, x, y + arm);
}

/* Draws the sign of a node, if it has one, at near or middle level. */
void
vn_paint_mark (Paint      *paint,
               const Look *look)
{
  double scale = CLAMP (paint->camera.zoom, 0.7, 1) / paint->camera.zoom;
  double x = look->box.x + look->box.width - 2 * scale, y = look->box.y + 2 * scale;

  if (look->mark == VN_MARK_NONE)
    return;
  cairo_new_path (paint->cr);
  cairo_arc (paint->cr, x, y, RADIUS * scale, 0, 2 * G_PI);
  vn_paint_set_ink (paint, 1);
  cairo_fill (paint->cr);
  paint_mark_sign (paint->cr, look->mark, x, y, ARM * scale);
  cairo_set_line_width (paint->cr, 1.6 * scale);
  vn_paint_set_color (paint, paint->self->theme.canvas, 1);
  cairo_stroke (paint->cr);
}

/* Draws the sign of a far block with these corners, in pixels, if it has one and there is room. */
void
vn_paint_far_mark (Paint       *paint,
                   VnSceneMark  mark,
                   double       x,
                   double       y,
                   double       width,
                   double       height)
{
  if (mark == VN_MARK_NONE || height < LEAST_BLOCK || width < LEAST_BLOCK)
    return;
  paint_mark_sign (paint->cr, mark, x + width / 2, y + height / 2, 3);
  cairo_set_line_width (paint->cr, 1.2);
  vn_paint_set_ink (paint, 0.9);
  cairo_stroke (paint->cr);
}
