/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The first screen of a report in HTML. */

#include "html-text.h"

G_BEGIN_DECLS

void _vn_html_add_title  (Html                *self,
                          const VnReportModel *model);
void _vn_html_add_cards  (Html                *self,
                          const VnReportModel *model);
void _vn_html_add_glance (Html                *self,
                          const VnReportModel *model);
void _vn_html_add_foot   (Html                *self,
                          const VnReportModel *model);

G_END_DECLS
