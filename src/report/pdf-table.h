/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Tables of a report on pages. */

#include "pdf-page.h"
#include "vn-report-model.h"

G_BEGIN_DECLS

void  _vn_pdf_add_table     (PdfPage               *page,
                             const VnReportContent *content);
/* What stands in one cell or fact, one after the other; @shown may be empty. */
void  _vn_pdf_append_joined (GString               *text,
                             VnReportJoin           join,
                             const char            *shown);

G_END_DECLS
