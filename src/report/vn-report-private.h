/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the printers of the report share. */

#include "vn-report.h"

G_BEGIN_DECLS

guint             _vn_report_count_marked (VnErrorTable *errors);
char             *_vn_report_cell         (const char    *text);
void              _vn_report_append_verdict (GString             *text,
                                             const VnReportInput *input);
void              _vn_report_append_notes (GString       *text,
                                           VnNotes       *notes);   /* nullable */

G_END_DECLS
