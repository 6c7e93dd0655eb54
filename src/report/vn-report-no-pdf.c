/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of a build without cairo: reports are not drawn on pages. */
#include "vn-report.h"

const gboolean vn_report_has_pdf = FALSE;

GBytes *
vn_report_print_pdf (const VnReportModel  *model,
                     GError              **error)
{
  g_return_val_if_fail (model != NULL, NULL);

  vn_report_check_form (".pdf", error);
  return NULL;
}
