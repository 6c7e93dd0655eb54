/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Pages, filled from top to bottom: A4 on paper, or as wide as the window that shows them. */

#include "vn-pen.h"
#include "vn-report.h"

#include <cairo.h>

G_BEGIN_DECLS

#define PDF_WIDTH   VN_REPORT_A4_WIDTH
#define PDF_HEIGHT  841.89
#define PDF_INNER  (-1.0)      /* of a piece of text: as wide as there is between the margins */

typedef struct _PdfPage PdfPage;

/**
 * PdfLink: a place on a page where a node is drawn, or told of.
 * @page: from 1
 * @node: index in the graph
 * @title: what is said of it
 * @t: how bad it is, 0 … 1
 * @is_row: of a table, not a box of the network
 */
typedef struct
{
  guint     page, node;
  double    x, y, width, height, t;
  char     *title;
  gboolean  is_row;
} PdfLink;

/**
 * PdfPage: lengths are in points.
 * @y: where the next thing goes
 * @width, @height, @margin: of all pages
 * @left, @inner: where what is added begins, and how wide it may be: between the margins, or a column
 * @links: of PdfLink
 * @number: of the page, from 1
 * @n_pages: 0: not known yet
 * @turn: (nullable): gives what the next page is drawn on, for @turn_data; %NULL: cairo_show_page() does
 * @said: (nullable): takes all text
 */
struct _PdfPage
{
  cairo_t    *cr;
  VnPen      *pen;
  double      y, width, height, margin, left, inner;
  GArray     *links;
  guint       number, n_pages;
  const char *foot;      /* stands at the left below each page */
  cairo_t  *(*turn) (PdfPage *self);
  gpointer    turn_data;
  GString    *said;
  gboolean    in_link;
};

/* A piece of text: @width is that of lines, 0: there is one; @lines: how many at most, 0: all; what is too long loses its middle,
 * or with @cut_end its end. */
typedef struct
{
  double   size, alpha, width;
  gboolean bold, monospace, at_right, cut_end;
  guint    lines;
} PdfText;

void     _vn_pdf_begin   (PdfPage       *self,
                          cairo_t       *cr,
                          double         width);
void     _vn_pdf_end     (PdfPage       *self);
void     _vn_pdf_clear   (PdfPage       *self);
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
void     _vn_pdf_begin_row (PdfPage     *self,
                          guint          node,
                          double         height,
                          const char    *title);
void     _vn_pdf_end_row (PdfPage       *self);

G_END_DECLS
