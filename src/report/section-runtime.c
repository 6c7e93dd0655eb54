/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section: what ONNX Runtime is expected to make of the export: share on integers, time beside float, and what it computes in float. */
#include "vn-report-build.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>
#include <string.h>

static const VnReportColumn columns[] = {
  { "node", N_("Node"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "type", N_("Type"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "kernel", N_("Kernel"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "reason", N_("Why in float"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "share", N_("Share of the time"), NULL, TRUE, VN_REPORT_APART, 0 },
};

static const VnReportPart parts[] = {
  { NULL, N_("Nodes between quantizers that ONNX Runtime computes in float on a processor, the one that takes longest first.") },
};

static VnReportValue *
section_runtime_percent (double share)
{
  return isnan (share) ? _vn_report_nothing () : _vn_report_number (share, g_strdup_printf ("%.1f %%", 100 * share));
}

static VnReportValue *
section_runtime_time (double seconds)
{
  return seconds > 0 ? _vn_report_number (seconds, g_strdup_printf ("%.2f ms", 1e3 * seconds)) : _vn_report_nothing ();
}

static void
section_runtime_add_facts (VnReportSection         *section,
                           const VnRuntimeForecast *forecast)
{
  GPtrArray *facts = _vn_report_add_facts (section, NULL);
  double ratio = vn_runtime_forecast_ratio (forecast);

  _vn_report_fact (facts, "integer_share", _("Multiplications on integers"), section_runtime_percent (vn_runtime_forecast_integer_share (forecast)));
  _vn_report_fact (facts, "seconds", _("Time expected, one thread"), section_runtime_time (forecast->seconds));
  _vn_report_fact (facts, "float_seconds", _("Of the float network"), section_runtime_time (forecast->float_seconds));
  _vn_report_fact_joined (facts, "time_ratio", VN_REPORT_JOIN_PARENTHESES,
                          isnan (ratio) ? _vn_report_nothing ()
                                        : _vn_report_number (ratio, g_strdup_printf (_("%.2f times that"), ratio)));
  _vn_report_fact (facts, "conversion_share", _("Conversions and changes of layout"),
                   section_runtime_percent (forecast->seconds > 0 ? forecast->conversion_seconds / forecast->seconds : NAN));
}

static int
section_runtime_compare (gconstpointer a,
                         gconstpointer b)
{
  const VnRuntimeNode *first = *(const VnRuntimeNode * const *) a, *second = *(const VnRuntimeNode * const *) b;

  return first->seconds > second->seconds ? -1 : first->seconds < second->seconds ? 1 : strcmp (first->label, second->label);
}

static void
section_runtime_add_nodes (VnReportSection         *section,
                           const VnRuntimeForecast *forecast)
{
  g_autoptr(GPtrArray) found = g_ptr_array_new ();
  VnReportContent *table;

  for (guint i = 0; i < forecast->nodes->len; i++)
    {
      VnRuntimeNode *node = g_ptr_array_index (forecast->nodes, i);

      if (node->kind == VN_RUNTIME_FLOAT && node->reason != VN_RUNTIME_REASON_NONE && !node->converts)
        g_ptr_array_add (found, node);
    }
  if (found->len == 0)
    return;
  g_ptr_array_sort (found, section_runtime_compare);
  table = _vn_report_add_table (section, "float_nodes", columns, G_N_ELEMENTS (columns), parts, G_N_ELEMENTS (parts));
  for (guint i = 0; i < found->len; i++)
    {
      const VnRuntimeNode *node = g_ptr_array_index (found, i);
      GPtrArray *row = _vn_report_add_row (table);

      g_ptr_array_add (row, _vn_report_text (node->label));
      g_ptr_array_add (row, _vn_report_text (node->op_type));
      g_ptr_array_add (row, _vn_report_text (node->kernel));
      g_ptr_array_add (row, _vn_report_text_as (vn_runtime_reason_get_id (node->reason), vn_runtime_reason_get_text (node->reason)));
      g_ptr_array_add (row, section_runtime_percent (node->seconds / forecast->seconds));
    }
}

void
_vn_report_build_runtime (VnReportSection     *section,
                          const VnReportInput *input)
{
  if (input->forecast == NULL)
    return;
  section_runtime_add_facts (section, input->forecast);
  section_runtime_add_nodes (section, input->forecast);
}
