/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both reports say in words and numbers, so that they say the same. */
#include "vn-report-private.h"

#include "vn-i18n.h"

#include <math.h>

guint
_vn_report_count_marked (VnErrorTable *errors)
{
  guint n = 0;

  for (guint i = 0; errors != NULL && i < vn_error_table_get_n (errors); i++)
    n += vn_error_row_is_marked (vn_error_table_get (errors, i));
  return n;
}
