/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section: where error starts: what each quantized tensor alone costs the outputs. */
#include "vn-report-build.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

static const VnReportColumn columns[] = {
  { "tensor", N_("Tensor"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "node", N_("Node"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "role", N_("Role"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "share", N_("Share of the error"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "alone_sqnr_db", N_("Output SQNR, only this quantized"), N_("dB"), TRUE, VN_REPORT_APART, 0 },
  { "local_sqnr_db", N_("Local SQNR"), N_("dB"), TRUE, VN_REPORT_APART, 0 },
  { "share_error", N_("Standard error of the share"), NULL, TRUE, VN_REPORT_APART, 0 },
  { "samples", N_("Samples"), NULL, TRUE, VN_REPORT_APART, 0 },
};

static const VnReportPart parts[] = {
  { NULL, N_("Each tensor quantized alone, everything else in float: SQNR of the outputs, SQNR of the tensor itself "
             "(for a weight or bias: of its layer's output), and its share of the total output noise. Tensors that "
             "matter are measured on more samples; with 0 samples, the values are estimates.") },
};

#define BRIEFS 4u

static char *
section_origins_dup_reason (VnRun                *run,
                            const VnContribution *item)
{
  for (guint i = 0; run->diagnosis != NULL && i < vn_diagnosis_get_n (run->diagnosis); i++)
    {
      const VnFinding *finding = vn_diagnosis_get (run->diagnosis, i);

      if (g_str_equal (finding->tensor, item->name))
        return g_strdup_printf ("%s: %s", vn_contribution_role_get_title (item->role), vn_reason_get_title (finding->reason));
    }
  return g_strdup (vn_contribution_role_get_title (item->role));
}

static void
section_origins_add_briefs (VnReportSection *section,
                            VnRun           *run,
                            const GArray    *order)
{
  for (guint i = 0; i < MIN (order->len, BRIEFS); i++)
    {
      const VnContribution *item = vn_contributions_get (run->contributions, g_array_index (order, guint, i));

      _vn_report_add_brief (section, g_strdup_printf ("%.0f %%", 100 * item->share), g_strdup (item->name),
                            section_origins_dup_reason (run, item));
    }
}

void
_vn_report_build_origins (VnReportSection *section,
                          VnRun           *run)
{
  g_autoptr(GArray) order = NULL;
  VnReportContent *table;

  if (run->contributions == NULL || vn_contributions_get_n (run->contributions) == 0)
    return;
  order = vn_contributions_sort (run->contributions);
  section_origins_add_briefs (section, run, order);
  table = _vn_report_add_table (section, NULL, columns, G_N_ELEMENTS (columns), parts, G_N_ELEMENTS (parts));
  for (guint i = 0; i < order->len; i++)
    {
      const VnContribution *item = vn_contributions_get (run->contributions, g_array_index (order, guint, i));
      GPtrArray *row = _vn_report_add_row (table);

      g_ptr_array_add (row, _vn_report_text (item->name));
      g_ptr_array_add (row, _vn_report_text_as (item->node, item->node[0] != '\0' ? item->node : _("(input)")));
      g_ptr_array_add (row, _vn_report_text_as (vn_contribution_role_get_id (item->role),
                                                  vn_contribution_role_get_title (item->role)));
      g_ptr_array_add (row, _vn_report_number (item->share, g_strdup_printf ("%.1f %%", 100 * item->share)));
      g_ptr_array_add (row, _vn_report_number (item->alone_db, vn_format_fixed (item->alone_db, 2)));
      g_ptr_array_add (row, _vn_report_number (item->local_db, vn_format_fixed (item->local_db, 2)));
      g_ptr_array_add (row, isfinite (item->share_error)
                       ? _vn_report_number (item->share_error, g_strdup_printf ("%.2f %%", 100 * item->share_error))
                                                         : _vn_report_absent ());
      g_ptr_array_add (row, _vn_report_int (item->n_samples, NULL));
    }
}
