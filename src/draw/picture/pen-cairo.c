/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pen that draws on cairo: window, pictures and PDF. */
#include "vn-pen-private.h"

#include "vn-i18n.h"

#include <pango/pangocairo.h>

typedef struct
{
  VnPen       pen;
  cairo_t    *cr;
  VnPenTheme  theme;
} CairoPen;

static void
pen_cairo_free (VnPen *pen)
{
  g_free (pen);
}

static void
pen_cairo_begin (VnPen      *pen,
                 const char *id,
                 const char *title)
{
  cairo_save (((CairoPen *) pen)->cr);
}

static void
pen_cairo_begin_window (VnPen  *pen,
                        double  x,
                        double  y,
                        double  width,
                        double  height)
{
  cairo_t *cr = ((CairoPen *) pen)->cr;

  cairo_save (cr);
  cairo_rectangle (cr, x, y, width, height);
  cairo_clip (cr);
  cairo_translate (cr, x, y);
}

static void
pen_cairo_end (VnPen *pen)
{
  cairo_restore (((CairoPen *) pen)->cr);
}

static void
pen_cairo_move (VnPen  *pen,
                double  x,
                double  y)
{
  cairo_move_to (((CairoPen *) pen)->cr, x, y);
}

static void
pen_cairo_line (VnPen  *pen,
                double  x,
                double  y)
{
  cairo_line_to (((CairoPen *) pen)->cr, x, y);
}

static void
pen_cairo_curve (VnPen        *pen,
                 const double  controls[4],
                 double        x,
                 double        y)
{
  cairo_curve_to (((CairoPen *) pen)->cr, controls[0], controls[1], controls[2], controls[3], x, y);
}

static void
pen_cairo_close (VnPen *pen)
{
  cairo_close_path (((CairoPen *) pen)->cr);
}

static void
pen_cairo_set_shade (CairoPen *self,
                     VnShade   shade)
{
  VnColor color = _vn_pen_find_color (shade, &self->theme);

  cairo_set_source_rgba (self->cr, color.r, color.g, color.b, shade.alpha);
}

static void
pen_cairo_paint (VnPen          *pen,
                 const VnStroke *stroke)
{
  CairoPen *self = (CairoPen *) pen;

  if (stroke->fill.tone != VN_TONE_NONE)
    {
      pen_cairo_set_shade (self, stroke->fill);
      cairo_fill_preserve (self->cr);
    }
  if (stroke->line.tone != VN_TONE_NONE)
    {
      pen_cairo_set_shade (self, stroke->line);
      cairo_set_line_width (self->cr, stroke->width);
      cairo_set_dash (self->cr, stroke->dashes, (int) stroke->n_dashes, 0);
      cairo_stroke_preserve (self->cr);
    }
  cairo_new_path (self->cr);
}

static void
pen_cairo_rect (VnPen          *pen,
                double          x,
                double          y,
                double          width,
                double          height,
                double          radius,
                const VnStroke *stroke)
{
  cairo_t *cr = ((CairoPen *) pen)->cr;

  if (radius > 0)
    {
      cairo_new_sub_path (cr);
      cairo_arc (cr, x + width - radius, y + radius, radius, -G_PI_2, 0);
      cairo_arc (cr, x + width - radius, y + height - radius, radius, 0, G_PI_2);
      cairo_arc (cr, x + radius, y + height - radius, radius, G_PI_2, G_PI);
      cairo_arc (cr, x + radius, y + radius, radius, G_PI, 1.5 * G_PI);
      cairo_close_path (cr);
    }
  else
    cairo_rectangle (cr, x, y, width, height);
  pen_cairo_paint (pen, stroke);
}

static void
pen_cairo_circle (VnPen          *pen,
                  double          x,
                  double          y,
                  double          radius,
                  const VnStroke *stroke)
{
  cairo_t *cr = ((CairoPen *) pen)->cr;

  cairo_new_sub_path (cr);
  cairo_arc (cr, x, y, radius, 0, 2 * G_PI);
  pen_cairo_paint (pen, stroke);
}

/**
 * vn_pen_set_up_text:
 * @layout: without text
 *
 * Letters are shaped by the rules of the language that texts are in, which need not be that of the locale: Turkish has no
 * ligature of f and i. Their places are not rounded to pixels.
 */
void
vn_pen_set_up_text (struct _PangoLayout *layout)
{
  PangoContext *context;

  g_return_if_fail (layout != NULL);

  context = pango_layout_get_context (layout);
  pango_context_set_language (context, pango_language_from_string (C_("language of the report", "en")));
  pango_context_set_round_glyph_positions (context, FALSE);
}

static void
pen_cairo_text (VnPen      *pen,
                double      x,
                double      baseline,
                VnFont      font,
                VnShade     shade,
                const char *text)
{
  CairoPen *self = (CairoPen *) pen;
  g_autoptr(PangoLayout) layout = pango_cairo_create_layout (self->cr);
  g_autoptr(PangoFontDescription) description = pango_font_description_new ();
  g_autofree char *clean = vn_pen_dup_clean (text);
  PangoRectangle logical;

  pango_font_description_set_family (description, self->theme.font != NULL ? self->theme.font : "Cantarell");
  pango_font_description_set_absolute_size (description, font.size * PANGO_SCALE);
  pango_font_description_set_weight (description, font.bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  vn_pen_set_up_text (layout);
  pango_layout_set_font_description (layout, description);
  pango_layout_set_single_paragraph_mode (layout, TRUE);
  pango_layout_set_text (layout, clean, -1);
  pango_layout_get_extents (layout, NULL, &logical);
  x -= logical.width / (double) PANGO_SCALE * (font.anchor == VN_ANCHOR_START ? 0 : font.anchor == VN_ANCHOR_MIDDLE ? 0.5 : 1);
  pen_cairo_set_shade (self, shade);
  cairo_move_to (self->cr, x, baseline - pango_layout_get_baseline (layout) / (double) PANGO_SCALE);
  pango_cairo_show_layout (self->cr, layout);
  cairo_new_path (self->cr);
}

static void
pen_cairo_locate (VnPen  *pen,
                  double *x,
                  double *y,
                  double *width,
                  double *height)
{
  cairo_user_to_device (((CairoPen *) pen)->cr, x, y);
  cairo_user_to_device_distance (((CairoPen *) pen)->cr, width, height);
}

static const VnPenKind kind = {
  pen_cairo_free, pen_cairo_begin, pen_cairo_begin_window, pen_cairo_end, pen_cairo_move, pen_cairo_line, pen_cairo_curve,
  pen_cairo_close, pen_cairo_paint, pen_cairo_rect, pen_cairo_circle, pen_cairo_text,
  pen_cairo_locate,
};

/**
 * vn_pen_new_cairo:
 * @cr: borrowed: it must live as long as the pen
 *
 * Returns: (transfer full): a pen that draws on @cr in the colours of @theme
 */
VnPen *
vn_pen_new_cairo (cairo_t          *cr,
                  const VnPenTheme *theme)
{
  CairoPen *self;

  g_return_val_if_fail (cr != NULL && theme != NULL, NULL);

  self = g_new0 (CairoPen, 1);
  *self = (CairoPen) { { .kind = &kind }, cr, *theme };
  return &self->pen;
}
