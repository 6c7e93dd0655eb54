/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Pages of A4, filled from top to bottom. */

#include "vn-pen.h"

G_BEGIN_DECLS

#define PDF_WIDTH   595.28
#define PDF_HEIGHT  841.89
#define PDF_MARGIN   42.0
#define PDF_INNER   (PDF_WIDTH - 2 * PDF_MARGIN)

/**
 * PdfPage:
 * @y: where the next thing goes
 * @number: of the page, from 1
 * @n_pages: 0: not known yet
 */
typedef struct
{
  cairo_t    *cr;
  VnPen      *pen;
  double      y;
  guint       number, n_pages;
  const char *foot;      /* stands at the left below each page */
} PdfPage;

/* A piece of text: @width is that of lines; @lines: how many at most, 0: all; what is too long loses its middle, or with @cut_end its end. */
typedef struct
{
  double   size, alpha, width;
  gboolean bold, monospace, at_right, cut_end;
  guint    lines;
} PdfText;

void     _vn_pdf_begin   (PdfPage       *self,
                          cairo_t       *cr);
void     _vn_pdf_end     (PdfPage       *self);
void     _vn_pdf_break   (PdfPage       *self);
void     _vn_pdf_need    (PdfPage       *self,
                          double         height);
void     _vn_pdf_skip    (PdfPage       *self,
                          double         height);
double   _vn_pdf_measure (PdfPage       *self,
                          const PdfText *style,
                          const char    *text);
double   _vn_pdf_measure_width (PdfPage  *self,
                          const PdfText *style,
                          const char    *text);
double   _vn_pdf_put     (PdfPage       *self,
                          const PdfText *style,
                          double         x,
                          double         y,
                          const char    *text);
void     _vn_pdf_write   (PdfPage       *self,
                          const PdfText *style,
                          const char    *text);
void     _vn_pdf_rule    (PdfPage       *self,
                          double         alpha,
                          double         width);

G_END_DECLS
