/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section: the nodes that most of the error comes from, each with its cause and with what lowers it. */
#include "vn-report-build.h"

#include "vn-cause.h"
#include "vn-heat.h"
#include "vn-i18n.h"
#include "vn-weak-nodes.h"

#include <math.h>

#define MOST_NODES 8u

static const VnReportColumn columns[] = {
  { "band", NULL, NULL, FALSE, VN_REPORT_APART, 0 },
  { "error", N_("Error"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "node", N_("Node"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "type", N_("Type"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "cause", N_("Cause"), NULL, FALSE, VN_REPORT_APART, 0 },
  { "cure", N_("Fixes"), NULL, FALSE, VN_REPORT_APART, 0 },
};

static const VnReportPart own_parts[] = { { NULL, N_("By SQNR, without nodes that only propagate the error of another.") } };
static const VnReportPart share_parts[] = { { NULL, N_("By their share of the output error caused by quantization.") } };

/* What is known of why the tensors of a node cost what they do: its largest part first; NULL: nothing. */
static const VnFinding *
section_weakest_find (VnRun            *result,
                      const VnErrorRow *row)
{
  g_autoptr(GArray) parts = result->contributions != NULL && result->diagnosis != NULL
                            ? vn_contributions_find (result->contributions, row->value) : NULL;

  for (guint i = 0; parts != NULL && i < parts->len; i++)
    {
      const VnContribution *part = vn_contributions_get (result->contributions, g_array_index (parts, guint, i));

      for (guint k = 0; k < vn_diagnosis_get_n (result->diagnosis); k++)
        {
          const VnFinding *finding = vn_diagnosis_get (result->diagnosis, k);

          if (g_str_equal (finding->tensor, part->name) && g_str_equal (finding->node, part->node))
            return finding;
        }
    }
  return NULL;
}

/* Only what is kept with a run, so that its report is the same later. */
static char *
section_weakest_dup_cause (VnRun            *result,
                           const VnNode     *node,
                           const VnErrorRow *row,
                           const VnFinding  *finding)
{
  const VnNode *origin;
  g_autofree char *label = NULL;

  if (row->n_bad > 0)
    return g_strdup_printf (ngettext ("%.0f value became NaN or infinite.", "%.0f values became NaN or infinite.", row->n_bad),
                            (double) row->n_bad);
  if (finding != NULL)
    return g_strdup (finding->text);
  origin = vn_cause_find_origin (result, node);
  if (origin == NULL)
    return NULL;
  label = vn_node_dup_label (origin);
  return g_strdup_printf (_("Propagates the error of %s."), label);
}

/* The trial of a finding that gained most; else NULL, and @in_vain says whether any was made. */
static const VnCureTrial *
section_weakest_find_trial (VnDiagnosis     *diagnosis,
                            const VnFinding *finding,
                            gboolean        *in_vain)
{
  const VnCureTrial *best = NULL;

  *in_vain = FALSE;
  for (guint i = 0; i < vn_diagnosis_get_n_trials (diagnosis); i++)
    {
      const VnCureTrial *trial = vn_diagnosis_get_trial (diagnosis, i);

      if (!g_str_equal (trial->tensor, finding->tensor) || trial->reason != finding->reason)
        continue;
      *in_vain = *in_vain || trial->state == VN_TRIAL_NO_HELP || trial->state == VN_TRIAL_IMPOSSIBLE;
      if (trial->state == VN_TRIAL_HELPED && (best == NULL || trial->after_db > best->after_db))
        best = trial;
    }
  return best;
}

static char *
section_weakest_dup_cure (VnRun           *result,
                          const VnFinding *finding)
{
  g_autoptr(GArray) cures = finding != NULL ? vn_finding_list_cures (finding) : NULL;
  gboolean in_vain;
  const VnCureTrial *trial = finding != NULL ? section_weakest_find_trial (result->diagnosis, finding, &in_vain) : NULL;

  if (trial != NULL)
    return g_strdup_printf ("%+.1f\u00a0dB: %s", trial->after_db - trial->before_db, _(vn_cure_get_title (trial->cure)));
  if (cures == NULL || cures->len == 0)
    return NULL;
  if (in_vain)
    return g_strdup (_("no fix that was tried"));
  if (!(finding->share > 0 && finding->share < 1))
    return g_strdup (_(vn_cure_get_title (g_array_index (cures, VnCure, 0))));
  /* Translators: a cure, and the decibels that are won if the tensor added no error any more */
  return g_strdup_printf (_("%s (at most %+.1f\u00a0dB)"), _(vn_cure_get_title (g_array_index (cures, VnCure, 0))),
                          -10 * log10 (1 - finding->share));
}

static VnReportValue *
section_weakest_band (VnErrorTable     *errors,
                      const VnErrorRow *row,
                      VnMetric          metric)
{
  const VnHeatHandles handles = metric == VN_METRIC_CONTRIBUTION
                                ? vn_heat_handles_for_run (metric, errors) : vn_heat_default_handles (metric);
  const double axis = vn_heat_axis (metric, vn_metric_get (row, metric));
  const guint ticks = vn_heat_ticks (axis, handles);
  const VnBand band = vn_heat_get_band (ticks);

  return _vn_report_signed (_vn_report_text_as (vn_band_get_id (band), _(vn_band_get_title (band))),
                            vn_sign_swatch (vn_heat_t (axis, handles), ticks));
}

static void
section_weakest_add (VnReportContent *table,
                     VnRun           *result,
                     const VnNode    *node,
                     VnMetric         metric)
{
  const VnErrorRow *row = vn_run_get_node_error (result, node);
  const VnFinding *finding = section_weakest_find (result, row);
  g_autofree char *label = vn_node_dup_label (node), *cause = section_weakest_dup_cause (result, node, row, finding);
  g_autofree char *cure = section_weakest_dup_cure (result, finding);
  GPtrArray *cells = _vn_report_add_row (table);

  g_ptr_array_add (cells, section_weakest_band (result->errors, row, metric));
  g_ptr_array_add (cells, _vn_report_number (vn_metric_get (row, metric),
                                             vn_metric_format (metric, vn_metric_get (row, metric))));
  g_ptr_array_add (cells, _vn_report_about (_vn_report_text (label), node));
  g_ptr_array_add (cells, _vn_report_text (node->op_type));
  g_ptr_array_add (cells, _vn_report_text (cause));
  g_ptr_array_add (cells, _vn_report_text (cure));
}

void
_vn_report_build_weakest (VnReportSection *section,
                          VnRun           *run)
{
  g_autoptr(GArray) weak = run->recipe != NULL ? vn_weak_nodes_list (run) : NULL;
  VnReportContent *table;
  VnMetric metric;

  if (weak == NULL || weak->len == 0)
    return;
  metric = vn_error_table_get_weakest_metric (run->errors);
  table = _vn_report_add_table (section, NULL, columns, G_N_ELEMENTS (columns), metric == VN_METRIC_CONTRIBUTION
                                ? share_parts : own_parts, 1);
  table->is_large = TRUE;
  for (guint i = 0; i < MIN (weak->len, MOST_NODES); i++)
    section_weakest_add (table, run, g_ptr_array_index (run->source->graph->nodes, g_array_index (weak, guint, i)),
                         metric);
}
