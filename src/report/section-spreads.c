/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section: histograms of the tensors that cost most, with the ranges that were taken of them. */
#include "vn-report-build.h"

#include "vn-i18n.h"

static const char *
section_spreads_find_reason (VnDiagnosis *diagnosis,
                             const char  *tensor)
{
  for (guint i = 0; diagnosis != NULL && i < vn_diagnosis_get_n (diagnosis); i++)
    {
      const VnFinding *finding = vn_diagnosis_get (diagnosis, i);

      if (g_str_equal (finding->tensor, tensor))
        return finding->text;
    }
  return NULL;
}

void
_vn_report_build_spreads (VnReportSection *section,
                          VnRun           *run)
{
  g_autoptr(GPtrArray) spreads = vn_run_list_spreads (run);

  for (guint i = 0; spreads != NULL && i < spreads->len; i++)
    {
      const VnSpread *spread = g_ptr_array_index (spreads, i);
      const char *reason = section_spreads_find_reason (run->diagnosis, spread->tensor);
      g_autofree char *title = g_strdup_printf ("%s (%s)", spread->tensor, vn_contribution_role_get_title (spread->role));

      _vn_report_add_picture (section, title, reason != NULL ? reason : _("Number of values on a logarithmic scale; "
                                                                          "the lines mark the quantization range."),
                              vn_picture_new_histogram (spread));
    }
}
