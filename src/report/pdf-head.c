/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands at the top of a report on pages: its title, its figures, and the gist of what follows. */
#include "pdf-head.h"

#include <math.h>

#define ICON         34.0
#define MADE        120.0    /* wide: when it was made */
#define CARD         54.0
#define LEAST_CARD   90.0    /* wide */
#define LEAST_LIST  200.0    /* wide: of two that stand beside each other */

/*< private >
 * _vn_pdf_add_title:
 *
 * Adds what the report is, of which network, and when it was made.
 */
void
_vn_pdf_add_title (PdfPage             *self,
                   const VnReportModel *model)
{
  const double made_width = model->made != NULL ? MADE : 0, x = self->left + ICON + 12,
  width = self->inner - ICON - 12 - made_width, top = self->y;
  const PdfText title = { .size = 19, .alpha = 1, .width = width, .bold = TRUE, .lines = 1 },
  made = { .size = 8.5, .alpha = 0.6, .width = made_width, .at_right = TRUE };
  const PdfText dim = { .size = 8.5, .alpha = 0.6, .width = width, .lines = 2 };
  g_autofree char *about = vn_report_model_dup_about (model);
  g_auto(GStrv) lines = model->made != NULL ? g_strsplit (model->made, "\n", -1) : NULL;

  vn_sign_draw_icon (self->pen, self->left - 2, top - 1, ICON);
  self->y += _vn_pdf_put (self, &title, x, top, model->title);
  self->y += _vn_pdf_put (self, &dim, x, self->y, about);
  for (guint i = 0; lines != NULL && lines[i] != NULL; i++)
    _vn_pdf_put (self, &made, self->left + self->inner - made_width, top + 5 + 13 * i, lines[i]);
  self->y = MAX (self->y, top + ICON) + 6;
  _vn_pdf_rule (self, 1, 1.4);
  self->y += 12;
}

/*< private >
 * _vn_pdf_add_cards:
 *
 * Adds the figures of the head beside each other, in rows where the page is narrow.
 */
void
_vn_pdf_add_cards (PdfPage             *self,
                   const VnReportModel *model)
{
  const VnStroke box = { .fill = VN_INK (0.045) };
  g_autoptr(GPtrArray) briefs = g_ptr_array_new ();
  guint n_rows, n_columns;
  double width;

  for (guint i = 0; i < model->sections->len; i++)
    {
      const VnReportSection *section = g_ptr_array_index (model->sections, i);

      for (guint k = 0; section->is_head && k < section->briefs->len; k++)
        g_ptr_array_add (briefs, g_ptr_array_index (section->briefs, k));
    }
  if (briefs->len == 0)
    return;
  self->y += 8;
  n_rows = (guint) ceil (briefs->len * LEAST_CARD / (self->inner - 24));
  n_columns = (briefs->len + n_rows - 1) / n_rows;
  width = (self->inner - 24) / n_columns;
  vn_pen_rect (self->pen, self->left, self->y, self->inner, n_rows * CARD, 7, &box);
  for (guint i = 0; i < briefs->len; i++)
    {
      const VnReportBrief *brief = g_ptr_array_index (briefs, i);
      const PdfText figure = { .size = n_columns > 4 ? 10 : 12, .alpha = 1, .width = width - 8, .bold = TRUE, .lines = 1 };
      const PdfText label = { .size = 7.5, .alpha = 0.65, .width = width - 8, .lines = 2 };
      const double x = self->left + 12 + i % n_columns * width, y = self->y + i / n_columns * CARD;

      _vn_pdf_put (self, &figure, x, y + 8, brief->figure);
      _vn_pdf_put (self, &label, x, y + 26, brief->label);
    }
  self->y += n_rows * CARD;
}

/* Puts a text on the page, or only measures it, and returns its height. */
typedef double (*PdfPut) (PdfPage       *self,
                          const PdfText *style,
                          double         x,
                          double         y,
                          const char    *text);

static double
pdf_head_measure (PdfPage       *self,
                  const PdfText *style,
                  double         x,
                  double         y,
                  const char    *text)
{
  return _vn_pdf_measure (self, style, text);
}

/* In one line if there is room, otherwise the detail below; a name that is too long for a line is shortened by itself. */
static double
pdf_head_put_brief (PdfPage             *self,
                    PdfPut               put,
                    const VnReportBrief *brief,
                    double               x,
                    double               y,
                    double               width)
{
  const PdfText label = { .size = 8.5, .alpha = 0.9, .width = width, .lines = brief->detail != NULL ? 1 : 2 };
  const PdfText detail = { .size = 8, .alpha = 0.65, .width = width, .lines = 2, .cut_end = TRUE };
  g_autofree char *line = brief->detail != NULL
                          ? g_strdup_printf ("%s: %s", brief->label, brief->detail) : g_strdup (brief->label);
  double height;

  if (brief->detail == NULL || _vn_pdf_measure_width (self, &label, line) <= width)
    return put (self, &label, x, y, line);
  height = put (self, &label, x, y, brief->label);
  return height + put (self, &detail, x, y + height, brief->detail);
}

static double
pdf_head_add_briefs (PdfPage               *self,
                     PdfPut                 put,
                     const VnReportSection *section,
                     double                 x,
                     double                 y,
                     double                 width)
{
  const double top = y;
  const PdfText title = { .size = 11, .alpha = 1, .width = width, .bold = TRUE, .lines = 1 };

  y += put (self, &title, x, y, section->title) + 3;
  for (guint i = 0; i < section->briefs->len; i++)
    {
      const VnReportBrief *brief = g_ptr_array_index (section->briefs, i);
      const double left = brief->figure != NULL ? 58 : 0;
      const PdfText figure = { .size = 8.5, .alpha = 1, .width = 56, .bold = TRUE, .lines = 1 };

      if (brief->figure != NULL)
        put (self, &figure, x, y, brief->figure);
      y += pdf_head_put_brief (self, put, brief, x + left, y, width - left) + 3;
    }
  return y - top;
}

/* Whether a list of the gist of a section stands before its table. */
static gboolean
pdf_head_has_briefs (const VnReportSection *section)
{
  return section->stage == VN_REPORT_STAGE_REST && section->briefs->len > 0;
}

/* The lists in their columns, the shorter one first; returns the height of the longer one. */
static double
pdf_head_add_columns (PdfPage             *self,
                      PdfPut               put,
                      const VnReportModel *model,
                      guint                n_columns,
                      double               width)
{
  double heights[2] = { 0, 0 };

  for (guint i = 0; i < model->sections->len; i++)
    {
      const VnReportSection *section = g_ptr_array_index (model->sections, i);
      const guint column = n_columns > 1 && heights[1] < heights[0] ? 1 : 0;

      if (!pdf_head_has_briefs (section))
        continue;
      heights[column] += 8 + pdf_head_add_briefs (self, put, section, self->left + column * (width + 24),
                                                  self->y + heights[column], width);
    }
  return MAX (heights[0], heights[1]);
}

/*< private >
 * _vn_pdf_add_glance:
 *
 * Adds the gist of the sections to come, two lists beside each other if there is room: as a whole on the next page where this one
 * is too short, and list by list where they stand below each other.
 */
void
_vn_pdf_add_glance (PdfPage             *self,
                    const VnReportModel *model)
{
  const guint n_columns = (self->inner - 24) / 2 >= LEAST_LIST ? 2 : 1;
  const double width = (self->inner - 24 * (n_columns - 1)) / n_columns;

  self->y += 12;
  if (n_columns > 1)
    {
      _vn_pdf_need (self, pdf_head_add_columns (self, pdf_head_measure, model, n_columns, width));
      self->y += pdf_head_add_columns (self, _vn_pdf_put, model, n_columns, width);
      return;
    }
  for (guint i = 0; i < model->sections->len; i++)
    {
      const VnReportSection *section = g_ptr_array_index (model->sections, i);

      if (!pdf_head_has_briefs (section))
        continue;
      _vn_pdf_need (self, pdf_head_add_briefs (self, pdf_head_measure, section, self->left, self->y, width));
      self->y += 8 + pdf_head_add_briefs (self, _vn_pdf_put, section, self->left, self->y, width);
    }
}
