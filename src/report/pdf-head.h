/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What stands at the top of a report on pages. */

#include "pdf-page.h"

G_BEGIN_DECLS

void _vn_pdf_add_title  (PdfPage             *self,
                         const VnReportModel *model);
void _vn_pdf_add_cards  (PdfPage             *self,
                         const VnReportModel *model);
void _vn_pdf_add_glance (PdfPage             *self,
                         const VnReportModel *model);

G_END_DECLS
