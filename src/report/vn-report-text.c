/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both reports say in words and numbers, so that they say the same. */
#include "vn-report-private.h"

#include "vn-i18n.h"

#include <math.h>

/**
 * _vn_report_worst_output:
 *
 * Returns: (nullable): the row of the graph output with the most noise; where nodes cannot be run, the last tensors
 *   before them count as outputs
 */
const VnErrorRow *
_vn_report_worst_output (VnErrorTable *errors)
{
  const VnErrorRow *worst = NULL;

  for (guint i = 0; errors != NULL && i < vn_error_table_get_n (errors); i++)
    {
      const VnErrorRow *row = vn_error_table_get (errors, i);

      if ((row->is_output || row->is_last) && (worst == NULL || row->noise_to_signal > worst->noise_to_signal))
        worst = row;
    }
  return worst;
}

guint
_vn_report_count_marked (VnErrorTable *errors)
{
  guint n = 0;

  for (guint i = 0; errors != NULL && i < vn_error_table_get_n (errors); i++)
    n += vn_error_row_is_marked (vn_error_table_get (errors, i));
  return n;
}

/**
 * vn_report_get_verdict:
 *
 * Returns: (nullable): one translated sentence by the worst output, %NULL if nothing was measured
 */
const char *
vn_report_get_verdict (VnErrorTable *errors)
{
  const VnErrorRow *worst = _vn_report_worst_output (errors);

  if (worst == NULL)
    return NULL;
  if (worst->sqnr_db >= 30)
    return _("As good as the float model");
  if (worst->sqnr_db >= 20)
    return _("Good");
  if (worst->sqnr_db >= 10)
    return _("Usable with care");
  return _("Not usable yet");
}
