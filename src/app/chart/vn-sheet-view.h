/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-report.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * VnSheetView: a page of a report on paper, as wide as there is room. What is not looked at takes no memory:
 * vn_sheet_view_set_near().
 */
#define VN_TYPE_SHEET_VIEW (vn_sheet_view_get_type ())
G_DECLARE_FINAL_TYPE (VnSheetView, vn_sheet_view, VN, SHEET_VIEW, GtkWidget)

GtkWidget *vn_sheet_view_new       (void);
void       vn_sheet_view_set_sheet (VnSheetView         *self,
                                    const VnReportSheet *sheet,
                                    guint                number,
                                    guint                n_sheets);
void       vn_sheet_view_set_near  (VnSheetView         *self,
                                    gboolean             near);
gboolean   vn_sheet_view_is_sharp  (VnSheetView         *self);

G_END_DECLS
