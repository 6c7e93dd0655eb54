/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pen that writes SVG. Colours are classes, so that a page may show it light and dark; text is text in the reader's fonts. */
#include "vn-pen-private.h"

#include <math.h>
#include <string.h>

typedef struct
{
  VnPen    pen;
  GString *text;
  GString *path;
  GArray  *tags;     /* of const char *: what closes each open group */
} SvgPen;

static const char * const words[VN_N_TONES] = { "", "i", "c", "a", "x", "e", "o", "b" };

/* ---- numbers ---- */

/* As short as it can be: no zeros behind, none before the point. */
static void
pen_svg_append_number (GString *text,
                       double   number,
                       guint    decimals)
{
  static const char * const formats[] = { "%.0f", "%.1f", "%.2f" };
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  char *start = buffer;
  gsize n;

  if (!isfinite (number))
    number = 0;
  g_ascii_formatd (buffer, sizeof buffer, formats[decimals], number);
  if (strchr (buffer, '.') != NULL)
    {
      for (n = strlen (buffer); buffer[n - 1] == '0'; n--)
        buffer[n - 1] = '\0';
      if (buffer[n - 1] == '.')
        buffer[n - 1] = '\0';
    }
  if (g_str_equal (buffer, "-0") || g_str_equal (buffer, "0"))
    start = strcpy (buffer, "0");
  else if (g_str_has_prefix (buffer, "0."))
    start++;
  g_string_append (text, start);
}

static void
pen_svg_append_attribute (GString    *text,
                          const char *name,
                          double      number,
                          guint       decimals)
{
  g_string_append_printf (text, " %s=\"", name);
  pen_svg_append_number (text, number, decimals);
  g_string_append_c (text, '"');
}

/* ---- looks ---- */

static guint
pen_svg_get_level (double t)
{
  return isnan (t) ? VN_PEN_LEVELS : (guint) lround (CLAMP (t, 0, 1) * VN_PEN_LEVELS);
}

/* "fe12": the fill of errors at level 12. */
static void
pen_svg_append_class (GString *text,
                      char     use,
                      VnShade  shade)
{
  g_string_append_printf (text, "%c%s", use, words[shade.tone]);
  if (shade.tone == VN_TONE_ERROR || shade.tone == VN_TONE_ON_ERROR)
    g_string_append_printf (text, "%u", pen_svg_get_level (shade.t));
  else if (shade.tone == VN_TONE_ICON)
    g_string_append_printf (text, "%d", (int) shade.t);
}

static void
pen_svg_append_look (SvgPen         *self,
                     const VnStroke *stroke)
{
  const gboolean fills = stroke->fill.tone != VN_TONE_NONE, draws = stroke->line.tone != VN_TONE_NONE;

  g_string_append (self->text, " class=\"");
  if (fills)
    pen_svg_append_class (self->text, 'f', stroke->fill);
  else
    g_string_append (self->text, "fn");
  if (draws)
    {
      g_string_append_c (self->text, ' ');
      pen_svg_append_class (self->text, 's', stroke->line);
    }
  g_string_append_c (self->text, '"');
  if (fills && stroke->fill.alpha < 1)
    pen_svg_append_attribute (self->text, "fill-opacity", stroke->fill.alpha, 2);
  if (draws && stroke->line.alpha < 1)
    pen_svg_append_attribute (self->text, "stroke-opacity", stroke->line.alpha, 2);
  if (draws && stroke->width != 1)
    pen_svg_append_attribute (self->text, "stroke-width", stroke->width, 2);
  if (draws && stroke->n_dashes > 0)
    {
      g_string_append (self->text, " stroke-dasharray=\"");
      for (guint i = 0; i < stroke->n_dashes; i++)
        {
          g_string_append (self->text, i > 0 ? " " : "");
          pen_svg_append_number (self->text, stroke->dashes[i], 1);
        }
      g_string_append_c (self->text, '"');
    }
}

/* ---- the pen ---- */

static void
pen_svg_free (VnPen *pen)
{
  SvgPen *self = (SvgPen *) pen;

  g_string_free (self->path, TRUE);
  g_array_unref (self->tags);
  g_free (self);
}

static void
pen_svg_open (SvgPen     *self,
              const char *closing)
{
  g_array_append_val (self->tags, closing);
}

static void
pen_svg_begin (VnPen      *pen,
               const char *id,
               const char *title)
{
  SvgPen *self = (SvgPen *) pen;

  g_string_append (self->text, "<g");
  if (id != NULL)
    {
      g_string_append (self->text, " id=\"");
      vn_pen_append_markup (self->text, id);
      g_string_append_c (self->text, '"');
    }
  g_string_append_c (self->text, '>');
  if (title != NULL)
    {
      g_string_append (self->text, "<title>");
      vn_pen_append_markup (self->text, title);
      g_string_append (self->text, "</title>");
    }
  pen_svg_open (self, "</g>\n");
}

static void
pen_svg_begin_window (VnPen  *pen,
                      double  x,
                      double  y,
                      double  width,
                      double  height)
{
  SvgPen *self = (SvgPen *) pen;

  g_string_append (self->text, "<svg");
  pen_svg_append_attribute (self->text, "x", x, 1);
  pen_svg_append_attribute (self->text, "y", y, 1);
  pen_svg_append_attribute (self->text, "width", width, 1);
  pen_svg_append_attribute (self->text, "height", height, 1);
  g_string_append (self->text, ">\n");
  pen_svg_open (self, "</svg>\n");
}

static void
pen_svg_end (VnPen *pen)
{
  SvgPen *self = (SvgPen *) pen;

  g_return_if_fail (self->tags->len > 0);

  g_string_append (self->text, g_array_index (self->tags, const char *, self->tags->len - 1));
  g_array_set_size (self->tags, self->tags->len - 1);
}

static void
pen_svg_append_point (SvgPen *self,
                      char    command,
                      double  x,
                      double  y)
{
  g_string_append_c (self->path, command);
  pen_svg_append_number (self->path, x, 1);
  g_string_append_c (self->path, ' ');
  pen_svg_append_number (self->path, y, 1);
}

static void
pen_svg_move (VnPen  *pen,
              double  x,
              double  y)
{
  pen_svg_append_point ((SvgPen *) pen, 'M', x, y);
}

static void
pen_svg_line (VnPen  *pen,
              double  x,
              double  y)
{
  pen_svg_append_point ((SvgPen *) pen, 'L', x, y);
}

static void
pen_svg_curve (VnPen        *pen,
               const double  controls[4],
               double        x,
               double        y)
{
  SvgPen *self = (SvgPen *) pen;

  pen_svg_append_point (self, 'C', controls[0], controls[1]);
  pen_svg_append_point (self, ' ', controls[2], controls[3]);
  pen_svg_append_point (self, ' ', x, y);
}

static void
pen_svg_close (VnPen *pen)
{
  g_string_append_c (((SvgPen *) pen)->path, 'Z');
}

static void
pen_svg_paint (VnPen          *pen,
               const VnStroke *stroke)
{
  SvgPen *self = (SvgPen *) pen;

  if (self->path->len > 0)
    {
      g_string_append (self->text, "<path");
      pen_svg_append_look (self, stroke);
      g_string_append_printf (self->text, " d=\"%s\"/>\n", self->path->str);
    }
  g_string_truncate (self->path, 0);
}

static void
pen_svg_rect (VnPen          *pen,
              double          x,
              double          y,
              double          width,
              double          height,
              double          radius,
              const VnStroke *stroke)
{
  SvgPen *self = (SvgPen *) pen;

  g_string_append (self->text, "<rect");
  pen_svg_append_attribute (self->text, "x", x, 1);
  pen_svg_append_attribute (self->text, "y", y, 1);
  pen_svg_append_attribute (self->text, "width", MAX (width, 0), 1);
  pen_svg_append_attribute (self->text, "height", MAX (height, 0), 1);
  if (radius > 0)
    pen_svg_append_attribute (self->text, "rx", radius, 1);
  pen_svg_append_look (self, stroke);
  g_string_append (self->text, "/>");
}

static void
pen_svg_circle (VnPen          *pen,
                double          x,
                double          y,
                double          radius,
                const VnStroke *stroke)
{
  SvgPen *self = (SvgPen *) pen;

  g_string_append (self->text, "<circle");
  pen_svg_append_attribute (self->text, "cx", x, 1);
  pen_svg_append_attribute (self->text, "cy", y, 1);
  pen_svg_append_attribute (self->text, "r", radius, 1);
  pen_svg_append_look (self, stroke);
  g_string_append (self->text, "/>");
}

static void
pen_svg_text (VnPen      *pen,
              double      x,
              double      baseline,
              VnFont      font,
              VnShade     shade,
              const char *text)
{
  static const char * const anchors[] = { NULL, "middle", "end" };
  SvgPen *self = (SvgPen *) pen;

  g_string_append (self->text, "<text");
  pen_svg_append_attribute (self->text, "x", x, 1);
  pen_svg_append_attribute (self->text, "y", baseline, 1);
  pen_svg_append_attribute (self->text, "font-size", font.size, 1);
  if (font.bold)
    g_string_append (self->text, " font-weight=\"bold\"");
  if (anchors[font.anchor] != NULL)
    g_string_append_printf (self->text, " text-anchor=\"%s\"", anchors[font.anchor]);
  g_string_append (self->text, " class=\"");
  pen_svg_append_class (self->text, 'f', shade);
  g_string_append_c (self->text, '"');
  if (shade.alpha < 1)
    pen_svg_append_attribute (self->text, "fill-opacity", shade.alpha, 2);
  g_string_append_c (self->text, '>');
  vn_pen_append_markup (self->text, text);
  g_string_append (self->text, "</text>\n");
}

static const VnPenKind kind = {
  pen_svg_free, pen_svg_begin, pen_svg_begin_window, pen_svg_end, pen_svg_move, pen_svg_line, pen_svg_curve, pen_svg_close,
  pen_svg_paint, pen_svg_rect, pen_svg_circle, pen_svg_text, NULL,
};

/**
 * vn_pen_new_svg:
 * @text: borrowed: what is drawn is appended; the element "svg" around it is the caller's
 *
 * Returns: (transfer full): a pen that writes elements whose classes vn_pen_append_css() describes
 */
VnPen *
vn_pen_new_svg (GString *text)
{
  SvgPen *self;

  g_return_val_if_fail (text != NULL, NULL);

  self = g_new0 (SvgPen, 1);
  *self = (SvgPen) { { .kind = &kind }, text, g_string_new (NULL), g_array_new (FALSE, FALSE, sizeof (char *)) };
  return &self->pen;
}

/* ---- classes ---- */

static void
pen_svg_append_rule (GString          *text,
                     const char       *uses,
                     VnShade           shade,
                     const VnPenTheme *theme)
{
  static const struct { char use; const char *property; } properties[] = { { 'f', "fill" }, { 's', "stroke" } };
  VnColor color = _vn_pen_find_color (shade, theme);

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    {
      if (strchr (uses, properties[i].use) == NULL)
        continue;
      g_string_append_c (text, '.');
      pen_svg_append_class (text, properties[i].use, shade);
      g_string_append_printf (text, "{%s:#%02x%02x%02x}", properties[i].property, (guint) lround (255 * color.r),
                              (guint) lround (255 * color.g), (guint) lround (255 * color.b));
    }
}

/**
 * vn_pen_append_css:
 * @text: a style sheet
 * @dark: for a dark page
 *
 * Appends the colours of all classes that an SVG pen uses.
 */
void
vn_pen_append_css (GString  *text,
                   gboolean  dark)
{
  const VnPenTheme *theme = dark ? &vn_pen_theme_dark : &vn_pen_theme_light;

  g_return_if_fail (text != NULL);

  g_string_append (text, ".fn{fill:none}");
  for (VnTone tone = VN_TONE_INK; tone < VN_TONE_ERROR; tone++)
    pen_svg_append_rule (text, "fs", (VnShade) { tone, 1, 0 }, theme);
  for (guint level = 0; level <= VN_PEN_LEVELS; level++)
    {
      const double t = (double) level / VN_PEN_LEVELS;

      pen_svg_append_rule (text, "fs", VN_SHADE_AT (ERROR, t), theme);
      pen_svg_append_rule (text, "f", VN_SHADE_AT (ON_ERROR, t), theme);
    }
  for (guint color = 0; color < VN_PEN_ICON_COLORS && !dark; color++)
    pen_svg_append_rule (text, "f", VN_SHADE_AT (ICON, color), theme);
  g_string_append_c (text, '\n');
}
