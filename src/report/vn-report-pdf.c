/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report on pages of A4. The first page tells verdict, figures, where the error starts and what was done. */
#include "vn-report.h"

#include "pdf-head.h"
#include "pdf-table.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <cairo-pdf.h>
#include <math.h>

const gboolean vn_report_has_pdf = TRUE;

#define MOST_NOTES   40u     /* on paper; JSON and Markdown have all */
#define MOST_FACT   600u     /* characters */
#define ROW          13.0
#define LEAST_PAIR  200.0    /* wide: of two pictures that stand beside each other */
#define LEAST_SIDE  160.0    /* of what stands beside something wide */
#define SIDE          0.34   /* of the width, that it takes */
#define SIDE_GAP     24.0
#define LEAST_ROOM   95.0    /* of what is below the title of a section on the same page */
#define PICTURE       1.45   /* pictures are drawn so much wider and then made smaller, as text on paper is */

typedef struct
{
  PdfPage                page;
  const VnReportSection *section;
} Pdf;

static const PdfText plain = { .size = 10, .alpha = 0.9, .width = PDF_INNER };
static const PdfText dim = { .size = 8.5, .alpha = 0.6, .width = PDF_INNER };
static const PdfText heading = { .size = 12.5, .alpha = 1, .width = PDF_INNER, .bold = TRUE };

/* ---- words ---- */

static void
pdf_add_facts (Pdf                   *self,
               const VnReportContent *content)
{
  const double left = MIN (160, 0.4 * self->page.inner);
  const PdfText label = { .size = 9, .alpha = 0.6, .width = left - 10, .lines = 1 };
  const PdfText value = { .size = 9, .alpha = 0.9, .width = self->page.inner - left };

  if (content->intro != NULL)
    {
      _vn_pdf_write (&self->page, &plain, content->intro);
      return;
    }
  for (guint i = 0; i < content->facts->len; i++)
    {
      const VnReportFact *fact = g_ptr_array_index (content->facts, i);
      g_autoptr(GString) text = g_string_new (NULL);
      double height;

      if (fact->join != VN_REPORT_APART || *fact->value->display == '\0')
        continue;
      for (guint k = i; k < content->facts->len && (k == i ||
                                                    (fact = g_ptr_array_index (content->facts, k))->join != VN_REPORT_APART); k++)
        {
          g_autofree char *shown = vn_report_value_dup_shown (fact->value, MOST_FACT);

          _vn_pdf_append_joined (text, fact->join, shown);
        }
      fact = g_ptr_array_index (content->facts, i);
      height = _vn_pdf_measure (&self->page, &value, text->str);
      height = MAX (height, ROW);
      _vn_pdf_need (&self->page, height);
      _vn_pdf_put (&self->page, &label, self->page.left, self->page.y, fact->label);
      _vn_pdf_put (&self->page, &value, self->page.left + left, self->page.y, text->str);
      self->page.y += height;
    }
}

static void
pdf_add_verdict (Pdf                   *self,
                 const VnReportContent *content)
{
  const PdfText title = { .size = 15, .alpha = 1, .width = PDF_INNER, .bold = TRUE };

  _vn_pdf_write (&self->page, &title, content->title);
  self->page.y += 2;
  _vn_pdf_write (&self->page, &plain, content->text);
}

static void
pdf_add_notes (Pdf                   *self,
               const VnReportContent *content)
{
  for (guint i = 0; i < MIN (content->lines->len, MOST_NOTES); i++)
    {
      const VnReportLine *line = g_ptr_array_index (content->lines, i);
      g_autofree char *text = g_strconcat (line->title != NULL ? line->title : "", line->title != NULL ? " " : "",
                                           line->subject != NULL ? line->subject : "", line->subject != NULL ? ": " : "",
                                           line->text,
                                           line->remedy != NULL ? ". " : "", line->remedy, NULL);
      const PdfText style = { .size = self->section->is_head ? 10 : 8.5, .alpha = 0.9, .width = PDF_INNER, .lines = 6 };

      _vn_pdf_write (&self->page, &style, text);
      self->page.y += 2;
    }
}

static void
pdf_add_command (Pdf                   *self,
                 const VnReportContent *content)
{
  const PdfText code = { .size = 8, .alpha = 1, .width = self->page.inner - 16, .monospace = TRUE, .lines = 30 };
  const VnStroke box = { .fill = VN_INK (0.05) };
  double height;

  if (content->text == NULL)
    return;
  height = _vn_pdf_measure (&self->page, &code, content->text) + 10;
  _vn_pdf_skip (&self->page, 6);
  _vn_pdf_need (&self->page, height + 16);
  _vn_pdf_write (&self->page, &dim, content->intro);
  self->page.y += 3;
  vn_pen_rect (self->page.pen, self->page.left, self->page.y, self->page.inner, height, 5, &box);
  _vn_pdf_put (&self->page, &code, self->page.left + 8, self->page.y + 5, content->text);
  self->page.y += height;
}

static void
pdf_add_table (Pdf                   *self,
               const VnReportContent *content)
{
  _vn_pdf_add_table (&self->page, content);
}

/* ---- pictures ---- */

/* At half the width where two stand beside each other. */
static double
pdf_put_picture (Pdf                   *self,
                 const VnReportContent *content,
                 double                 x,
                 double                 width)
{
  const double wide = width * PICTURE, height = vn_picture_get_height (content->picture, wide) / PICTURE;
  const PdfText title = { .size = content->place == VN_REPORT_ALONE ? 9 : 10, .alpha = 1, .width = width, .bold = TRUE,
                          .lines = 1 }, text = { .size = 8, .alpha = 0.6, .width = width, .lines = 3 };
  const double top = self->page.y;

  if (content->title != NULL)
    self->page.y += _vn_pdf_put (&self->page, &title, x, self->page.y, content->title) + 2;
  cairo_save (self->page.cr);
  cairo_translate (self->page.cr, x, self->page.y);
  cairo_scale (self->page.cr, 1 / PICTURE, 1 / PICTURE);
  vn_picture_draw (content->picture, self->page.pen, wide);
  cairo_restore (self->page.cr);
  self->page.y += height + 2;
  if (content->place != VN_REPORT_BESIDE)
    self->page.y += _vn_pdf_put (&self->page, &text, x, self->page.y, content->text);
  return self->page.y - top;
}

static double
pdf_measure_picture (const VnReportContent *content,
                     double                 width)
{
  return vn_picture_get_height (content->picture, width * PICTURE) / PICTURE + (content->title != NULL ? 14 : 0) + 24;
}

static void
pdf_add_picture (Pdf                   *self,
                 const VnReportContent *content)
{
  if (vn_picture_get_height (content->picture, self->page.inner) <= 0)
    return;
  _vn_pdf_skip (&self->page, 6);
  _vn_pdf_need (&self->page, pdf_measure_picture (content, self->page.inner));
  pdf_put_picture (self, content, self->page.left, self->page.inner);
}

/* Two beside each other. */
static guint
pdf_add_pair (Pdf   *self,
              guint  i)
{
  const gboolean narrow = (self->page.inner - 20) / 2 < LEAST_PAIR;
  const double width = narrow ? self->page.inner : (self->page.inner - 20) / 2;
  const GPtrArray *contents = self->section->contents;
  const VnReportContent *first = g_ptr_array_index (contents, i), *second = i + 1 < contents->len
                                 ? g_ptr_array_index (contents, i + 1) : NULL;
  double top, height, other = 0;

  if (second != NULL && (narrow || second->kind != VN_REPORT_PICTURE || !vn_picture_is_small (second->picture)))
    second = NULL;
  _vn_pdf_skip (&self->page, 6);
  _vn_pdf_need (&self->page, pdf_measure_picture (first, width));
  top = self->page.y;
  height = pdf_put_picture (self, first, self->page.left, width);
  if (second != NULL)
    {
      self->page.y = top;
      other = pdf_put_picture (self, second, self->page.left + width + 20, width);
    }
  self->page.y = top + MAX (height, other);
  return second != NULL ? 2 : 1;
}

typedef void (*PdfFunc) (Pdf *self, const VnReportContent *content);

static const PdfFunc kinds[VN_REPORT_N_KINDS] = {
  [VN_REPORT_FACTS] = pdf_add_facts,
  [VN_REPORT_TABLE] = pdf_add_table,
  [VN_REPORT_VERDICT] = pdf_add_verdict,
  [VN_REPORT_NOTES] = pdf_add_notes,
  [VN_REPORT_COMMAND] = pdf_add_command,
  [VN_REPORT_PICTURE] = pdf_add_picture,
};

/* ---- beside each other ---- */

/* Returns: how many contents from @i on stand beside each other: 0: they do not */
static guint
pdf_count_beside (const Pdf *self,
                  guint      i)
{
  const GPtrArray *contents = self->section->contents;
  guint n = i;

  if (((const VnReportContent *) g_ptr_array_index (contents, i))->place != VN_REPORT_WIDE ||
      SIDE * self->page.inner < LEAST_SIDE)
    return 0;
  for (n++; n < contents->len && ((const VnReportContent *) g_ptr_array_index (contents, n))->place == VN_REPORT_BESIDE; n++)
    ;
  return n - i > 1 ? n - i : 0;
}

/* What is beside something wide is short: it is not broken. */
static void
pdf_add_column (Pdf   *self,
                guint  first,
                guint  n)
{
  for (guint i = first; i < first + n; i++)
    {
      const VnReportContent *content = g_ptr_array_index (self->section->contents, i);

      self->page.y += i > first ? 10 : 0;
      if (content->kind == VN_REPORT_PICTURE)
        pdf_put_picture (self, content, self->page.left, self->page.inner);
      else
        kinds[content->kind] (self, content);
    }
}

static void
pdf_add_beside (Pdf   *self,
                guint  i,
                guint  n)
{
  const VnReportContent *wide = g_ptr_array_index (self->section->contents, i);
  const double left = self->page.left, inner = self->page.inner, side = floor (SIDE * inner), width = inner - side - SIDE_GAP;
  double top, foot;

  _vn_pdf_skip (&self->page, 10);
  _vn_pdf_need (&self->page, MAX (pdf_measure_picture (wide, width), 190));
  top = self->page.y;
  foot = top + pdf_put_picture (self, wide, left, width);
  self->page.y = top;
  self->page.left = left + width + SIDE_GAP;
  self->page.inner = side;
  pdf_add_column (self, i + 1, n - 1);
  self->page.left = left;
  self->page.inner = inner;
  self->page.y = MAX (self->page.y, foot);
}

/* ---- the whole ---- */

static void
pdf_add_contents (Pdf                   *self,
                  const VnReportSection *section)
{
  self->section = section;
  for (guint i = 0; i < section->contents->len;)
    {
      const VnReportContent *content = g_ptr_array_index (section->contents, i);
      const guint n_beside = pdf_count_beside (self, i);

      if (n_beside > 0)
        pdf_add_beside (self, i, n_beside);
      else if (content->kind == VN_REPORT_PICTURE && vn_picture_is_small (content->picture))
        {
          i += pdf_add_pair (self, i);
          continue;
        }
      else
        kinds[content->kind] (self, content);
      i += MAX (n_beside, 1);
    }
}

static gboolean
pdf_says (const VnReportSection *section)
{
  for (guint i = 0; i < section->contents->len; i++)
    {
      const VnReportContent *content = g_ptr_array_index (section->contents, i);

      if ((content->kind == VN_REPORT_TABLE && content->rows->len > 0) ||
          (content->kind == VN_REPORT_NOTES && content->lines->len > 0) ||
          (content->kind != VN_REPORT_TABLE && content->kind != VN_REPORT_NOTES))
        return TRUE;
    }
  return FALSE;
}

static void
pdf_add_section (Pdf                   *self,
                 const VnReportSection *section)
{
  double room = LEAST_ROOM;

  if (!pdf_says (section))
    return;
  if (((VnReportContent *) g_ptr_array_index (section->contents, 0))->kind == VN_REPORT_PICTURE)
    room = 34 + pdf_measure_picture (g_ptr_array_index (section->contents, 0), self->page.inner);
  _vn_pdf_skip (&self->page, 14);
  _vn_pdf_need (&self->page, MIN (room, self->page.height - 3 * self->page.margin));
  _vn_pdf_write (&self->page, &heading, section->title);
  self->page.y += 3;
  pdf_add_contents (self, section);
}

static void
pdf_add_sections (Pdf                 *self,
                  const VnReportModel *model,
                  VnReportStage        stage,
                  const VnReportSection *but)
{
  for (guint i = 0; i < model->sections->len; i++)
    {
      const VnReportSection *section = g_ptr_array_index (model->sections, i);

      if (section->stage == stage && section != but)
        pdf_add_section (self, section);
    }
}

static void
pdf_add_all (Pdf                 *self,
             const VnReportModel *model)
{
  const VnReportSection *summary = vn_report_model_find (model, "summary");

  _vn_pdf_add_title (&self->page, model);
  if (summary != NULL)
    pdf_add_contents (self, summary);
  _vn_pdf_add_cards (&self->page, model);
  pdf_add_sections (self, model, VN_REPORT_STAGE_FIRST, NULL);
  _vn_pdf_add_glance (&self->page, model);
  pdf_add_sections (self, model, VN_REPORT_STAGE_REST, NULL);
  pdf_add_sections (self, model, VN_REPORT_STAGE_HEAD, summary);
}

static cairo_status_t
pdf_take_bytes (void                *closure,
                const unsigned char *data,
                unsigned int         length)
{
  if (closure != NULL)
    g_byte_array_append (closure, data, length);
  return CAIRO_STATUS_SUCCESS;
}

/* Returns: how many pages it has. The same report gives the same bytes: the file does not say when it was made. */
static guint
pdf_draw_all (const VnReportModel *model,
              GByteArray          *bytes,
              guint                n_pages,
              cairo_status_t      *status)
{
  cairo_surface_t *surface = cairo_pdf_surface_create_for_stream (pdf_take_bytes, bytes, PDF_WIDTH, PDF_HEIGHT);
  cairo_t *cr = cairo_create (surface);
  Pdf self = { { .n_pages = n_pages, .foot = model->foot != NULL ? model->foot : model->title }, NULL };

  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_TITLE, model->title);
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATE_DATE, NULL);
  _vn_pdf_begin (&self.page, cr, PDF_WIDTH);
  pdf_add_all (&self, model);
  _vn_pdf_end (&self.page);
  _vn_pdf_clear (&self.page);
  cairo_surface_finish (surface);
  *status = cairo_status (cr) != CAIRO_STATUS_SUCCESS ? cairo_status (cr) : cairo_surface_status (surface);
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
  return self.page.number;
}

/**
 * vn_report_print_pdf:
 *
 * Returns: (transfer full) (nullable): the report on pages of A4
 */
GBytes *
vn_report_print_pdf (const VnReportModel  *model,
                     GError              **error)
{
  g_autoptr(GByteArray) bytes = g_byte_array_new ();
  cairo_status_t status;
  guint n_pages;

  g_return_val_if_fail (model != NULL, NULL);

  if (!vn_memory_expect (VN_REPORT_FONT_BYTES, error))
    return NULL;
  n_pages = pdf_draw_all (model, NULL, 0, &status);
  if (status == CAIRO_STATUS_SUCCESS)
    pdf_draw_all (model, bytes, n_pages, &status);
  if (status != CAIRO_STATUS_SUCCESS)
    {
      g_set_error (error, VN_ERROR, status == CAIRO_STATUS_NO_MEMORY ? VN_ERROR_MEMORY : VN_ERROR_LIMIT,
                   _("The report cannot be drawn as PDF: %s"), cairo_status_to_string (status));
      return NULL;
    }
  return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
}

/* ---- sheets ---- */

static void
pdf_free_sheet (gpointer data)
{
  VnReportSheet *sheet = data;

  cairo_surface_destroy (sheet->drawn);
  g_array_unref (sheet->links);
  g_free (sheet->text);
  g_free (sheet);
}

/* The sheet before has all its text. */
static void
pdf_close_sheet (PdfPage *page)
{
  GPtrArray *sheets = page->turn_data;

  ((VnReportSheet *) g_ptr_array_index (sheets, sheets->len - 1))->text = g_strdup (page->said->str);
  g_string_truncate (page->said, 0);
  cairo_destroy (page->cr);
}

static void
pdf_clear_link (gpointer link)
{
  g_free (((VnReportLink *) link)->title);
}

static cairo_t *
pdf_open_sheet (GPtrArray *sheets,
                double     width,
                double     height)
{
  VnReportSheet *sheet = g_new0 (VnReportSheet, 1);
  const cairo_rectangle_t extents = { 0, 0, width, height };

  *sheet = (VnReportSheet) { cairo_recording_surface_create (CAIRO_CONTENT_COLOR_ALPHA, &extents), width, height, NULL,
                              g_array_new (FALSE, FALSE, sizeof (VnReportLink)) };
  g_array_set_clear_func (sheet->links, pdf_clear_link);
  g_ptr_array_add (sheets, sheet);
  return cairo_create (sheet->drawn);
}

static cairo_t *
pdf_turn_sheet (PdfPage *page)
{
  pdf_close_sheet (page);
  return pdf_open_sheet (page->turn_data, page->width, page->height);
}

/* In reading order. */
static void
pdf_add_links (GPtrArray    *sheets,
               const GArray *links)
{
  for (guint i = 0; i < links->len; i++)
    {
      const PdfLink *link = &g_array_index (links, PdfLink, i);
      const VnReportSheet *sheet = g_ptr_array_index (sheets, link->page - 1);
      VnReportLink copy = { link->x, link->y, link->width, link->height, link->node, g_strdup (link->title), link->t };

      g_array_append_val (sheet->links, copy);
    }
}

static GPtrArray *
pdf_draw_sheets (const VnReportModel *model,
                 double               width,
                 guint                n_pages)
{
  g_autoptr(GPtrArray) sheets = g_ptr_array_new_with_free_func (pdf_free_sheet);
  g_autoptr(GString) said = g_string_new (NULL);
  Pdf self = { { .n_pages = n_pages, .foot = model->foot != NULL ? model->foot : model->title, .turn = pdf_turn_sheet,
                 .turn_data = sheets, .said = said }, NULL };

  _vn_pdf_begin (&self.page, pdf_open_sheet (sheets, width, PDF_HEIGHT), width);
  pdf_add_all (&self, model);
  _vn_pdf_end (&self.page);
  pdf_close_sheet (&self.page);
  pdf_add_links (sheets, self.page.links);
  _vn_pdf_clear (&self.page);
  return g_steal_pointer (&sheets);
}

/**
 * vn_report_draw_sheets:
 * @width: of the pages in points, at least %VN_REPORT_LEAST_WIDTH; %VN_REPORT_A4_WIDTH: they are those of the PDF
 *
 * Draws the report for a screen, as vn_report_print_pdf() does for paper. On narrower pages text is as large, and what stands
 * beside each other on paper comes below each other.
 *
 * Returns: (transfer full) (element-type VnReportSheet): the pages; %NULL with %VN_ERROR_MEMORY if there is too little for fonts
 */
GPtrArray *
vn_report_draw_sheets (const VnReportModel  *model,
                       double                width,
                       GError              **error)
{
  g_autoptr(GPtrArray) counted = NULL;

  g_return_val_if_fail (model != NULL && width >= VN_REPORT_LEAST_WIDTH, NULL);

  if (!vn_memory_expect (VN_REPORT_FONT_BYTES, error))
    return NULL;
  counted = pdf_draw_sheets (model, width, 0);
  return pdf_draw_sheets (model, width, counted->len);
}
