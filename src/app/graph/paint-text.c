/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws text on the graph: lines laid out once and kept in a cache, names shortened in the middle. */
#include "vn-graph-painter-private.h"

#include <string.h>

#define MAX_TEXTS 8000
#define LEAST_SIZE 7.5   /* of letters that one can still read */

static const struct { double size; gboolean bold; } styles[N_TEXT_STYLES] = {
  [TEXT_OP] = { 13, TRUE },
  [TEXT_SMALL] = { 11, FALSE },
  [TEXT_NAME] = { 11, FALSE },
  [TEXT_VALUE] = { 11, TRUE },
  [TEXT_BADGE] = { 10, TRUE },
  [TEXT_PILL] = { 12, TRUE },
  [TEXT_OP_MIDDLE] = { 12.5, TRUE },
  [TEXT_FAR] = { 10, TRUE },
};

typedef struct
{
  TextStyle style;
  int       width;    /* 0: unlimited */
  char     *text;
} TextKey;

static guint
paint_text_key_hash (gconstpointer data)
{
  const TextKey *key = data;

  return g_str_hash (key->text) * 31 + key->style * 7 + (guint) key->width;
}

static gboolean
paint_text_key_equal (gconstpointer a,
                      gconstpointer b)
{
  const TextKey *ka = a, *kb = b;

  return ka->style == kb->style && ka->width == kb->width && strcmp (ka->text, kb->text) == 0;
}

static void
paint_text_key_free (gpointer data)
{
  TextKey *key = data;

  g_free (key->text);
  g_free (key);
}

/* Makes the text machinery of a painter. Glyphs keep their fractional places, so that text does not crawl
 * while zooming. */
void
vn_paint_texts_init (VnGraphPainter *self)
{
  PangoFontMap *map = pango_cairo_font_map_new ();
  cairo_font_options_t *options = cairo_font_options_create ();

  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
  self->context = pango_font_map_create_context (map);
  pango_cairo_context_set_font_options (self->context, options);
  pango_context_set_round_glyph_positions (self->context, FALSE);
  cairo_font_options_destroy (options);
  g_object_unref (map);
  self->texts = g_hash_table_new_full (paint_text_key_hash, paint_text_key_equal, paint_text_key_free, g_object_unref);
  vn_paint_texts_clear (self);
}

/* Forgets all laid-out text and takes the theme's font from now on. */
void
vn_paint_texts_clear (VnGraphPainter *self)
{
  g_hash_table_remove_all (self->texts);
  for (guint i = 0; i < N_TEXT_STYLES; i++)
    {
      g_clear_pointer (&self->fonts[i], pango_font_description_free);
      self->fonts[i] = pango_font_description_new ();
      pango_font_description_set_family (self->fonts[i], self->font);
      pango_font_description_set_absolute_size (self->fonts[i], styles[i].size * PANGO_SCALE);
      if (styles[i].bold)
        pango_font_description_set_weight (self->fonts[i], PANGO_WEIGHT_BOLD);
    }
}

/* Forgets laid-out text where there is much of it; between drawings, because a drawing holds several lines at a time. */
void
vn_paint_texts_trim (VnGraphPainter *self)
{
  if (g_hash_table_size (self->texts) >= MAX_TEXTS)
    g_hash_table_remove_all (self->texts);
}

static double
paint_text_measure (PangoLayout *layout)
{
  PangoRectangle logical;

  pango_layout_get_extents (layout, NULL, &logical);
  return logical.width / (double) PANGO_SCALE;
}

/* "/features.13/conv/1/Conv" becomes "/feat…/1/Conv": what follows the last slash stays whole where it
 * fits. */
static void
paint_text_shorten_name (PangoLayout *layout,
                         const char  *name,
                         double       max_width)
{
  const char *tail = strrchr (name, '/');
  glong n;

  if (tail == NULL || tail == name)
    return;

  n = g_utf8_pointer_to_offset (name, tail);
  while (n > 1)
    {
      g_autofree char *head = NULL, *text = NULL;
      double width = paint_text_measure (layout);

      if (width <= max_width)
        return;
      n -= MAX (1, (glong) ((width - max_width) / 7));
      if (n < 1)
        break;
      head = g_utf8_substring (name, 0, n);
      text = g_strconcat (head, "…", tail, NULL);
      pango_layout_set_text (layout, text, -1);
    }
  if (paint_text_measure (layout) > max_width)
    pango_layout_set_text (layout, name, -1);
}

/* Smaller letters instead of fewer, as far as they can be read; then the ends stay, where numbers of layers are. */
static void
paint_text_shrink (VnGraphPainter *self,
                   PangoLayout    *layout,
                   TextStyle       style,
                   double          max_width)
{
  PangoFontDescription *font = pango_font_description_copy (self->fonts[style]);
  double size = styles[style].size * max_width / paint_text_measure (layout);

  pango_font_description_set_absolute_size (font, MAX (size, LEAST_SIZE) * PANGO_SCALE);
  pango_layout_set_font_description (layout, font);
  pango_font_description_free (font);
}

/* A laid-out line, which lasts until the drawing ends. @max_width is in world units, for TEXT_OP_MIDDLE in pixels; 0 does not
 * shorten. @width (nullable) receives the width in the same unit. */
PangoLayout *
vn_paint_text (Paint      *paint,
               TextStyle   style,
               const char *text,
               double      max_width,
               double     *width)
{
  const gboolean shrinks = style == TEXT_FAR || style == TEXT_OP_MIDDLE;
  VnGraphPainter *self = paint->self;
  TextKey probe = { style, (int) max_width, (char *) text };
  PangoLayout *layout = g_hash_table_lookup (self->texts, &probe);

  if (layout == NULL)
    {
      TextKey *key = g_new (TextKey, 1);

      *key = (TextKey) { style, (int) max_width, g_strdup (text) };
      layout = pango_layout_new (self->context);
      pango_layout_set_font_description (layout, self->fonts[style]);
      pango_layout_set_single_paragraph_mode (layout, TRUE);
      pango_layout_set_text (layout, text, -1);
      if (max_width > 0)
        {
          if (style == TEXT_NAME)
            paint_text_shorten_name (layout, text, max_width);
          if (shrinks && paint_text_measure (layout) > max_width)
            paint_text_shrink (self, layout, style, max_width);
          if (paint_text_measure (layout) > max_width)
            {
              pango_layout_set_ellipsize (layout, style == TEXT_NAME || shrinks ? PANGO_ELLIPSIZE_MIDDLE : PANGO_ELLIPSIZE_END);
              pango_layout_set_width (layout, (int) (max_width * PANGO_SCALE));
            }
        }
      g_hash_table_insert (self->texts, key, layout);
    }
  if (width != NULL)
    *width = paint_text_measure (layout);
  return layout;
}

/* Draws a line of text with its baseline at a height. */
void
vn_paint_show (Paint       *paint,
               PangoLayout *layout,
               double       x,
               double       baseline)
{
  cairo_move_to (paint->cr, x, baseline - pango_layout_get_baseline (layout) / (double) PANGO_SCALE);
  pango_cairo_show_layout (paint->cr, layout);
}

/* Draws a line of text so that its capitals are centred about a height. */
void
vn_paint_show_middle (Paint       *paint,
                      PangoLayout *layout,
                      double       x,
                      double       middle)
{
  const PangoFontDescription *font = pango_layout_get_font_description (layout);
  double size = pango_font_description_get_size (font) / (double) PANGO_SCALE;

  vn_paint_show (paint, layout, x, middle + 0.35 * size);
}
