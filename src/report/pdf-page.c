/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages: text by Pango, which knows all scripts, and a new page where there is no room. */
#include "pdf-page.h"

#include "vn-i18n.h"
#include "vn-report.h"

#include <pango/pangocairo.h>

#define MARGIN 42.0

static PangoLayout *
pdf_page_lay (PdfPage       *self,
              const PdfText *style,
              const char    *text)
{
  PangoLayout *layout = pango_cairo_create_layout (self->cr);
  g_autoptr(PangoFontDescription) font = pango_font_description_new ();
  g_autofree char *clean = vn_pen_dup_clean (text);
  const double width = style->width < 0 ? self->inner : style->width;

  pango_font_description_set_family (font, style->monospace ? "Monospace" : "Cantarell");
  pango_font_description_set_absolute_size (font, style->size * PANGO_SCALE);
  pango_font_description_set_weight (font, style->bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  vn_pen_set_up_text (layout);
  pango_layout_set_font_description (layout, font);
  pango_layout_set_width (layout, width > 0 ? (int) (width * PANGO_SCALE) : -1);
  pango_layout_set_alignment (layout, style->at_right ? PANGO_ALIGN_RIGHT : PANGO_ALIGN_LEFT);
  pango_layout_set_wrap (layout, PANGO_WRAP_WORD_CHAR);
  if (style->lines > 0)
    {
      pango_layout_set_height (layout, -(int) style->lines);
      pango_layout_set_ellipsize (layout, style->cut_end ? PANGO_ELLIPSIZE_END : PANGO_ELLIPSIZE_MIDDLE);
    }
  pango_layout_set_text (layout, clean, -1);
  return layout;
}

static void
pdf_page_clear_link (gpointer link)
{
  g_free (((PdfLink *) link)->title);
}

static void
pdf_page_add_link (PdfPage         *self,
                   const VnPenLink *link,
                   gboolean         is_row)
{
  PdfLink placed = { self->number, link->node, link->x, link->y, link->width, link->height, link->t,
                     vn_pen_dup_clean (link->title), is_row };

  g_array_append_val (self->links, placed);
}

static void
pdf_page_take_link (const VnPenLink *link,
                    gpointer         data)
{
  pdf_page_add_link (data, link, FALSE);
}

static void
pdf_page_open (PdfPage *self,
               cairo_t *cr)
{
  cairo_font_options_t *options = cairo_font_options_create ();

  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_NONE);
  cairo_set_font_options (cr, options);
  cairo_font_options_destroy (options);
  self->cr = cr;
  g_clear_pointer (&self->pen, vn_pen_free);
  self->pen = vn_pen_new_cairo (cr, &vn_pen_theme_light);
  vn_pen_set_link_func (self->pen, pdf_page_take_link, self);
  self->y = self->margin;
}

/*< private >
 * _vn_pdf_begin:
 * @cr: borrowed
 * @width: of all pages; narrow ones have narrow margins
 *
 * Begins the first page.
 */
void
_vn_pdf_begin (PdfPage *self,
               cairo_t *cr,
               double   width)
{
  self->width = width;
  self->height = PDF_HEIGHT;
  self->margin = width < PDF_WIDTH ? MARGIN / 2 : MARGIN;
  self->left = self->margin;
  self->inner = self->width - 2 * self->margin;
  self->links = g_array_new (FALSE, FALSE, sizeof (PdfLink));
  g_array_set_clear_func (self->links, pdf_page_clear_link);
  self->number = 1;
  pdf_page_open (self, cr);
}

static void
pdf_page_write_foot (PdfPage *self)
{
  const PdfText style = { .size = 8, .alpha = 0.55, .width = self->width - 2 * self->margin - 60, .lines = 1 };
  g_autofree char *place = NULL;

  _vn_pdf_put (self, &style, self->margin, self->height - 32, self->foot);
  if (self->n_pages == 0)
    return;
  /* Translators: number of a page, and how many there are */
  place = g_strdup_printf (_("%u of %u"), self->number, self->n_pages);
  vn_pen_text (self->pen, self->width - self->margin, self->height - 24, (VnFont) { 8, FALSE, VN_ANCHOR_END }, VN_INK (0.55),
               place);
}

void
_vn_pdf_end (PdfPage *self)
{
  pdf_page_write_foot (self);
  if (self->turn == NULL)
    cairo_show_page (self->cr);
  g_clear_pointer (&self->pen, vn_pen_free);
}

/*< private >
 * _vn_pdf_clear:
 *
 * Frees what a page that was ended still has.
 */
void
_vn_pdf_clear (PdfPage *self)
{
  g_clear_pointer (&self->links, g_array_unref);
}

void
_vn_pdf_break (PdfPage *self)
{
  pdf_page_write_foot (self);
  self->number++;
  self->y = self->margin;
  if (self->turn != NULL)
    pdf_page_open (self, self->turn (self));
  else
    cairo_show_page (self->cr);
}

/*< private >
 * _vn_pdf_need:
 *
 * Goes to a new page if there is not so much room on this one.
 */
void
_vn_pdf_need (PdfPage *self,
              double   height)
{
  if (self->y + height > self->height - self->margin - 6 && self->y > self->margin)
    _vn_pdf_break (self);
}

/*< private >
 * _vn_pdf_skip:
 *
 * Leaves room, but not at the top of a page.
 */
void
_vn_pdf_skip (PdfPage *self,
              double   height)
{
  if (self->y > self->margin)
    self->y += height;
}

/*< private >
 * _vn_pdf_measure:
 *
 * Returns: how high the text is
 */
double
_vn_pdf_measure (PdfPage       *self,
                 const PdfText *style,
                 const char    *text)
{
  g_autoptr(PangoLayout) layout = pdf_page_lay (self, style, text);
  PangoRectangle logical;

  pango_layout_get_extents (layout, NULL, &logical);
  return logical.height / (double) PANGO_SCALE;
}

/*< private >
 * _vn_pdf_measure_width:
 *
 * Returns: how wide the text is in one line
 */
double
_vn_pdf_measure_width (PdfPage       *self,
                       const PdfText *style,
                       const char    *text)
{
  PdfText line = *style;
  g_autoptr(PangoLayout) layout = NULL;
  PangoRectangle logical;

  line.width = 0;
  layout = pdf_page_lay (self, &line, text);
  pango_layout_get_extents (layout, NULL, &logical);
  return logical.width / (double) PANGO_SCALE;
}

/*< private >
 * _vn_pdf_put:
 *
 * Writes text whose first line begins at (@x, @y), wherever that is.
 *
 * Returns: how high it is
 */
double
_vn_pdf_put (PdfPage       *self,
             const PdfText *style,
             double         x,
             double         y,
             const char    *text)
{
  g_autoptr(PangoLayout) layout = pdf_page_lay (self, style, text);
  PangoRectangle logical;

  pango_layout_get_extents (layout, NULL, &logical);
  cairo_set_source_rgba (self->cr, 0, 0, 0, style->alpha);
  cairo_move_to (self->cr, x, y);
  pango_cairo_show_layout (self->cr, layout);
  cairo_new_path (self->cr);
  if (self->said != NULL)
    g_string_append_printf (self->said, "%s\n", pango_layout_get_text (layout));
  return logical.height / (double) PANGO_SCALE;
}

/*< private >
 * _vn_pdf_write:
 *
 * Writes a paragraph, on a new page if need be.
 */
void
_vn_pdf_write (PdfPage       *self,
               const PdfText *style,
               const char    *text)
{
  _vn_pdf_need (self, _vn_pdf_measure (self, style, text));
  self->y += _vn_pdf_put (self, style, self->left, self->y, text);
}

void
_vn_pdf_rule (PdfPage *self,
              double   alpha,
              double   width)
{
  const VnStroke stroke = { .line = VN_INK (alpha), .width = width };

  vn_pen_move (self->pen, self->left, self->y);
  vn_pen_line (self->pen, self->left + self->inner, self->y);
  vn_pen_paint (self->pen, &stroke);
}

/* Where the box of a node is; NULL: on no page yet. */
static const PdfLink *
pdf_page_find_box (const PdfPage *self,
                   guint          node)
{
  for (guint i = 0; i < self->links->len; i++)
    {
      const PdfLink *link = &g_array_index (self->links, PdfLink, i);

      if (!link->is_row && link->node == node)
        return link;
    }
  return NULL;
}

/*< private >
 * _vn_pdf_begin_row:
 * @node: that is told of until _vn_pdf_end_row()
 * @height: of what tells it, from where the page is
 *
 * On paper that leads to the box of the node, if there is one before.
 */
void
_vn_pdf_begin_row (PdfPage    *self,
                   guint       node,
                   double      height,
                   const char *title)
{
  const VnPenLink link = { self->left, self->y, self->inner, height, node, title, VN_REPORT_ROW_WEIGHT };
  const PdfLink *box;
  g_autofree char *attributes = NULL;

  pdf_page_add_link (self, &link, TRUE);
  box = pdf_page_find_box (self, node);
  if (self->turn != NULL || box == NULL)
    return;
  attributes = g_strdup_printf ("page=%u pos=[%d %d]", box->page, (int) box->x, (int) MAX (box->y - self->margin, 0));
  cairo_tag_begin (self->cr, CAIRO_TAG_LINK, attributes);
  self->in_link = TRUE;
}

void
_vn_pdf_end_row (PdfPage *self)
{
  if (self->in_link)
    cairo_tag_end (self->cr, CAIRO_TAG_LINK);
  self->in_link = FALSE;
}
