/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Signs: swatches and badges as the window has them, and the icon of the program. All can be told from each other in grey. */
#include "vn-sign.h"

#define BADGE_SIZE  10.0     /* of its letters */
#define BADGE_LEAST 24.0     /* wide */
#define ICON_GRID  128.0     /* that the icon is drawn on */

static const double dots[] = { 1.5, 2 }, dashes[] = { 4, 2.5 };

/**
 * vn_sign_swatch:
 *
 * Returns: the sign of an error
 */
VnSign
vn_sign_swatch (double t,
                guint  ticks)
{
  return (VnSign) { .kind = VN_SIGN_SWATCH, .t = t, .ticks = ticks };
}

/**
 * vn_sign_badge:
 * @letters: static
 *
 * Returns: the sign of a precision
 */
VnSign
vn_sign_badge (VnScenePrecision  precision,
               const char       *letters)
{
  return (VnSign) { .kind = VN_SIGN_BADGE, .precision = precision, .letters = letters };
}

/**
 * vn_sign_get_size:
 * @width, @height: (out): what it takes; 0 of %VN_SIGN_NONE
 */
void
vn_sign_get_size (const VnSign *self,
                  double       *width,
                  double       *height)
{
  g_return_if_fail (self != NULL && width != NULL && height != NULL);

  *width = *height = 0;
  if (self->kind == VN_SIGN_SWATCH)
    {
      *width = VN_SWATCH_WIDTH;
      *height = VN_SWATCH_HEIGHT;
    }
  else if (self->kind == VN_SIGN_BADGE)
    {
      *width = MAX (BADGE_LEAST, vn_pen_measure (self->letters, BADGE_SIZE, TRUE) + 8);
      *height = VN_BADGE_HEIGHT;
    }
}

static void
sign_draw_swatch (const VnSign *self,
                  VnPen        *pen,
                  double        x,
                  double        y)
{
  const VnStroke box = { .fill = VN_SHADE_AT (ERROR, self->t), .line = VN_INK (0.45), .width = 1 };
  const VnStroke none = { .fill = VN_SHADE (EXCLUDED, 1), .line = VN_INK (0.75), .width = 1.4, .dashes = dots, .n_dashes = 2 };

  vn_pen_rect (pen, x + 0.5, y + 1.5, VN_SWATCH_WIDTH - 1, VN_SWATCH_HEIGHT - 3, 3.5, self->t < 0 ? &none : &box);
  for (guint i = 0; self->t >= 0 && i < VN_SIGN_TICKS; i++)
    {
      const VnStroke tick = { .fill = { VN_TONE_ON_ERROR, i < self->ticks ? 1 : 0.22, self->t } };

      vn_pen_rect (pen, x + 4 + 4 * i, y + 4, 2, VN_SWATCH_HEIGHT - 8, 0, &tick);
    }
}

/* One corner is cut off. */
static void
sign_draw_cut (VnPen          *pen,
               double          x,
               double          y,
               double          width,
               const VnStroke *stroke)
{
  const double right = x + width, foot = y + VN_BADGE_HEIGHT - 1;

  vn_pen_move (pen, x, y);
  vn_pen_line (pen, right - 5, y);
  vn_pen_line (pen, right, y + 5);
  vn_pen_line (pen, right, foot);
  vn_pen_line (pen, x, foot);
  vn_pen_close (pen);
  vn_pen_paint (pen, stroke);
}

static void
sign_draw_badge (const VnSign *self,
                 VnPen        *pen,
                 double        x,
                 double        y)
{
  const gboolean wide = self->precision == VN_PRECISION_WIDE, pill = self->precision == VN_PRECISION_HALF ||
                        self->precision == VN_PRECISION_FLOAT;
  const VnFont font = { BADGE_SIZE, TRUE, VN_ANCHOR_MIDDLE };
  VnStroke stroke = { .fill = VN_SHADE_NONE, .line = VN_INK (0.5), .width = 1 };
  double width, height;

  vn_sign_get_size (self, &width, &height);
  if (wide)
    stroke = (VnStroke) { .fill = VN_INK (0.85), .line = VN_SHADE_NONE };
  if (pill)
    {
      stroke.line = VN_INK (0.75);
      stroke.width = 1.4;
      stroke.dashes = self->precision == VN_PRECISION_HALF ? dashes : dots;
      stroke.n_dashes = 2;
    }
  if (self->precision == VN_PRECISION_4)
    sign_draw_cut (pen, x + 0.5, y + 0.5, width - 1, &stroke);
  else
    vn_pen_rect (pen, x + 0.5, y + 0.5, width - 1, height - 1, pill ? height / 2 : 3.5, &stroke);
  vn_pen_text (pen, x + width / 2, y + 11, font, wide ? VN_SHADE (CANVAS, 1) : VN_INK (0.9), self->letters);
}

/**
 * vn_sign_draw:
 * @x, @y: of its upper left corner
 */
void
vn_sign_draw (const VnSign *self,
              VnPen        *pen,
              double        x,
              double        y)
{
  g_return_if_fail (self != NULL && pen != NULL);

  if (self->kind == VN_SIGN_SWATCH)
    sign_draw_swatch (self, pen, x, y);
  else if (self->kind == VN_SIGN_BADGE)
    sign_draw_badge (self, pen, x, y);
}

/* ---- the icon ---- */

/* Colours of the icon, wherever it stands; VN_TONE_ICON names them by their number. */
enum { BLADE, BLADE_TICKS, WEDGE, LIP, SLIDE, SLIDE_TICKS, FIRST_STEP };

static VnStroke
sign_fill (guint color)
{
  return (VnStroke) { .fill = VN_SHADE_AT (ICON, color) };
}

typedef struct { VnPen *pen; double x, y, unit; } Icon;

static void
sign_icon_rect (const Icon *icon,
                double      x,
                double      y,
                double      width,
                double      height,
                double      radius,
                guint       color)
{
  const VnStroke stroke = sign_fill (color);

  vn_pen_rect (icon->pen, icon->x + x * icon->unit, icon->y + y * icon->unit, width * icon->unit, height * icon->unit,
               radius * icon->unit, &stroke);
}

/* Where the rulers meet: what is between them grows. */
static void
sign_icon_wedge (const Icon *icon)
{
  static const double heights[] = { 6, 7.2, 9.1, 11.1, 15.4, 20.7, 26.9, 32.8 };      /* of 6 + 28 · x^1.7 */
  const VnStroke stroke = sign_fill (WEDGE);

  vn_pen_move (icon->pen, icon->x + 26 * icon->unit, icon->y + 64 * icon->unit);
  for (guint i = 0; i < G_N_ELEMENTS (heights); i++)
    vn_pen_line (icon->pen, icon->x + (26 + 74.0 * i / (G_N_ELEMENTS (heights) - 1)) * icon->unit,
                 icon->y + (64 - heights[i]) * icon->unit);
  vn_pen_line (icon->pen, icon->x + 100 * icon->unit, icon->y + 64 * icon->unit);
  vn_pen_close (icon->pen);
  vn_pen_paint (icon->pen, &stroke);
}

/**
 * vn_sign_draw_icon:
 * @size: of the square that it is drawn in
 *
 * Draws the icon of the program: two rulers, and steps of error hanging where they meet.
 */
void
vn_sign_draw_icon (VnPen  *pen,
                   double  x,
                   double  y,
                   double  size)
{
  static const double steps[] = { 7, 12, 18, 25, 34 };
  const Icon icon = { pen, x, y, size / ICON_GRID };

  g_return_if_fail (pen != NULL);

  sign_icon_rect (&icon, 6, 14, 100, 50, 8, BLADE);
  for (guint i = 0; i < 8; i++)
    sign_icon_rect (&icon, 12 + 11 * i, 14, 2, i % 4 == 0 ? 10 : 6, 0, BLADE_TICKS);
  sign_icon_wedge (&icon);
  sign_icon_rect (&icon, 22, 66, 100, 46, 8, LIP);
  sign_icon_rect (&icon, 22, 64, 100, 44, 8, SLIDE);
  for (guint i = 0; i < 9; i++)
    sign_icon_rect (&icon, 28 + 11 * i, i % 4 == 0 ? 98 : 102, 2, i % 4 == 0 ? 10 : 6, 0, SLIDE_TICKS);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    sign_icon_rect (&icon, 26 + 15 * i, 64, 13.4, steps[i], 1.5, FIRST_STEP + i);
}
