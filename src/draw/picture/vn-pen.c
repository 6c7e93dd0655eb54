/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pens: what all kinds of them share: colours, text that is measured without a font, and calls of the kind. */
#include "vn-pen-private.h"

#include "vn-heat.h"

#include <math.h>
#include <string.h>

const VnPenTheme vn_pen_theme_light = { FALSE, { 0, 0, 0 }, { 1, 1, 1 }, { 0.208, 0.518, 0.894 }, NULL };
const VnPenTheme vn_pen_theme_dark = { TRUE, { 1, 1, 1 }, { 0.1176, 0.1176, 0.1176 }, { 0.208, 0.518, 0.894 }, NULL };

/* Upper ruler, its ticks, wedge, lip, lower ruler, its ticks, and five steps of error. */
const guint _vn_pen_icon_colors[VN_PEN_ICON_COLORS] = {
  0x2a7bdf, 0x99c1f1, 0xcfe3fb, 0xc0bfbc, 0xf6f5f4, 0x77767b, 0xf9f06b, 0xf8c443, 0xf08c2e, 0xd9502c, 0x8f1240,
};

/*< private >
 * _vn_pen_find_color:
 *
 * Returns: the colour of a shade, without its alpha
 */
VnColor
_vn_pen_find_color (VnShade           shade,
                    const VnPenTheme *theme)
{
  switch (shade.tone)
    {
    case VN_TONE_CANVAS:
      return theme->canvas;
    case VN_TONE_ACCENT:
      return theme->accent;
    case VN_TONE_EXCLUDED:
      return vn_color_from_hex (theme->dark ? 0x2a2a2a : 0xf2f2f2);
    case VN_TONE_ERROR:
      return vn_heat_color (VN_HEAT_ERROR, theme->dark, shade.t);
    case VN_TONE_ON_ERROR:
      return vn_color_get_text (vn_heat_color (VN_HEAT_ERROR, theme->dark, shade.t));
    case VN_TONE_ICON:
      return vn_color_from_hex (_vn_pen_icon_colors[CLAMP ((int) shade.t, 0, (int) VN_PEN_ICON_COLORS - 1)]);
    case VN_TONE_NONE:
    case VN_TONE_INK:
    case VN_N_TONES:
    default:
      return theme->ink;
    }
}

/* ---- text ---- */

/* Parts of the size, of a wide common font: so that what fits here fits with any. */
static double
pen_measure_char (gunichar c)
{
  if (g_unichar_iszerowidth (c))
    return 0;
  if (g_unichar_iswide (c))
    return 1.05;
  if (c < 128 && strchr ("ijl.,:;|!'()[]{}ft /", (int) c) != NULL)
    return 0.38;
  if (c == 'm' || c == 'w' || c == 'M' || c == 'W')
    return 0.95;
  return g_unichar_isupper (c) ? 0.72 : 0.63;
}

/**
 * vn_pen_measure:
 * @text: valid UTF-8
 *
 * Returns: how wide a line of text is at most, in the unit of @size. The same on every machine, whatever its fonts.
 */
double
vn_pen_measure (const char *text,
                double      size,
                gboolean    bold)
{
  double width = 0;

  g_return_val_if_fail (text != NULL, 0);

  for (const char *at = text; *at != '\0'; at = g_utf8_next_char (at))
    width += pen_measure_char (g_utf8_get_char (at));
  return width * size * (bold ? 1.08 : 1);
}

/**
 * vn_pen_shorten:
 * @text: valid UTF-8
 *
 * Returns: (transfer full): @text, with its middle left out if it is wider than @width
 */
char *
vn_pen_shorten (const char *text,
                double      size,
                gboolean    bold,
                double      width)
{
  glong n, keep;

  g_return_val_if_fail (text != NULL, NULL);

  if (vn_pen_measure (text, size, bold) <= width)
    return g_strdup (text);
  n = g_utf8_strlen (text, -1);
  keep = MIN (n - 1, (glong) (width / (0.38 * size)));
  for (; keep > 1; keep--)
    {
      glong head = keep / 3;
      g_autofree char *first = g_utf8_substring (text, 0, head), *last = g_utf8_substring (text, n - (keep - head), n);
      g_autofree char *whole = g_strconcat (first, "…", last, NULL);

      if (vn_pen_measure (whole, size, bold) <= width)
        return g_steal_pointer (&whole);
    }
  return g_strdup ("…");
}

/* Controls, and what turns the direction of writing or is no character at all. */
static gboolean
pen_is_harmful (gunichar c)
{
  return g_unichar_iscntrl (c) || (c >= 0x200e && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
         c == 0x2028 || c == 0x2029 || c == 0xfeff || (c >= 0xfdd0 && c <= 0xfdef) || (c & 0xfffe) == 0xfffe;
}

/**
 * vn_pen_dup_clean:
 * @text: bytes of any kind
 *
 * Returns: (transfer full): valid UTF-8 of characters that show; ends of lines and tabs have become blanks, what shows nothing a
 *   replacement character
 */
char *
vn_pen_dup_clean (const char *text)
{
  g_autofree char *valid = NULL;
  GString *clean;

  g_return_val_if_fail (text != NULL, NULL);

  valid = g_utf8_make_valid (text, -1);
  clean = g_string_sized_new (strlen (valid));
  for (const char *at = valid; *at != '\0'; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      if (c == '\n' || c == '\r' || c == '\t')
        g_string_append_c (clean, ' ');
      else
        g_string_append_unichar (clean, pen_is_harmful (c) ? 0xfffd : c);
    }
  return g_string_free (clean, FALSE);
}

/**
 * vn_pen_append_markup:
 * @text: HTML or SVG
 *
 * Appends @plain, cleaned, as text or within the quotes of an attribute: none of it is read as markup.
 */
void
vn_pen_append_markup (GString    *text,
                      const char *plain)
{
  g_autofree char *clean = NULL;

  g_return_if_fail (text != NULL && plain != NULL);

  clean = vn_pen_dup_clean (plain);
  for (const char *at = clean; *at != '\0'; at++)
    switch (*at)
      {
      case '&':
        g_string_append (text, "&amp;");
        break;
      case '<':
        g_string_append (text, "&lt;");
        break;
      case '>':
        g_string_append (text, "&gt;");
        break;
      case '"':
        g_string_append (text, "&quot;");
        break;
      default:
        g_string_append_c (text, *at);
      }
}

/* ---- calls ---- */

void
vn_pen_free (VnPen *self)
{
  if (self != NULL)
    self->kind->free (self);
}

/**
 * vn_pen_set_link_func:
 * @func: (nullable): is told of all nodes that are drawn from now on, and where, as far as the pen knows
 */
void
vn_pen_set_link_func (VnPen         *self,
                      VnPenLinkFunc  func,
                      gpointer       data)
{
  g_return_if_fail (self != NULL);

  self->link_func = func;
  self->link_data = data;
}

/**
 * vn_pen_link:
 * @link: in units of the drawing
 *
 * Says that a node is drawn there.
 */
void
vn_pen_link (VnPen           *self,
             const VnPenLink *link)
{
  VnPenLink placed;

  g_return_if_fail (self != NULL && link != NULL);

  if (self->link_func == NULL)
    return;
  placed = *link;
  if (self->kind->locate != NULL)
    self->kind->locate (self, &placed.x, &placed.y, &placed.width, &placed.height);
  self->link_func (&placed, self->link_data);
}

/**
 * vn_pen_begin:
 * @id: (nullable): what links may lead to, where there are links
 * @title: (nullable): told of what is drawn until vn_pen_end(), where that can be asked
 */
void
vn_pen_begin (VnPen      *self,
              const char *id,
              const char *title)
{
  g_return_if_fail (self != NULL);

  self->kind->begin (self, id, title);
}

/**
 * vn_pen_begin_window:
 *
 * Until vn_pen_end() what is drawn is seen in this rectangle only, and counts from its corner.
 */
void
vn_pen_begin_window (VnPen  *self,
                     double  x,
                     double  y,
                     double  width,
                     double  height)
{
  g_return_if_fail (self != NULL);

  self->kind->begin_window (self, x, y, width, height);
}

void
vn_pen_end (VnPen *self)
{
  g_return_if_fail (self != NULL);

  self->kind->end (self);
}

void
vn_pen_move (VnPen  *self,
             double  x,
             double  y)
{
  g_return_if_fail (self != NULL);

  self->kind->move (self, x, y);
}

void
vn_pen_line (VnPen  *self,
             double  x,
             double  y)
{
  g_return_if_fail (self != NULL);

  self->kind->line (self, x, y);
}

/**
 * vn_pen_curve:
 * @controls: x and y of the first control point, then of the second
 */
void
vn_pen_curve (VnPen        *self,
              const double  controls[4],
              double        x,
              double        y)
{
  g_return_if_fail (self != NULL);

  self->kind->curve (self, controls, x, y);
}

void
vn_pen_close (VnPen *self)
{
  g_return_if_fail (self != NULL);

  self->kind->close (self);
}

/**
 * vn_pen_paint:
 *
 * Draws the path since the last call, and begins a new one.
 */
void
vn_pen_paint (VnPen          *self,
              const VnStroke *stroke)
{
  g_return_if_fail (self != NULL && stroke != NULL);

  self->kind->paint (self, stroke);
}

void
vn_pen_rect (VnPen          *self,
             double          x,
             double          y,
             double          width,
             double          height,
             double          radius,
             const VnStroke *stroke)
{
  g_return_if_fail (self != NULL && stroke != NULL);

  self->kind->rect (self, x, y, width, height, MIN (radius, MIN (width, height) / 2), stroke);
}

void
vn_pen_circle (VnPen          *self,
               double          x,
               double          y,
               double          radius,
               const VnStroke *stroke)
{
  g_return_if_fail (self != NULL && stroke != NULL);

  self->kind->circle (self, x, y, radius, stroke);
}

/**
 * vn_pen_text:
 * @text: bytes of any kind
 */
void
vn_pen_text (VnPen      *self,
             double      x,
             double      baseline,
             VnFont      font,
             VnShade     shade,
             const char *text)
{
  g_return_if_fail (self != NULL && text != NULL);

  self->kind->text (self, x, baseline, font, shade, text);
}
