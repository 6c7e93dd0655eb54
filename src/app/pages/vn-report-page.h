/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-page.h"

G_BEGIN_DECLS

/**
 * VnReportPage: the report as it will be exported.
 */
#define VN_TYPE_REPORT_PAGE (vn_report_page_get_type ())
G_DECLARE_FINAL_TYPE (VnReportPage, vn_report_page, VN, REPORT_PAGE, AdwBin)

gboolean vn_report_page_is_busy (VnReportPage *self);

G_END_DECLS
