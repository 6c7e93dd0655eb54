/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run came to, as the command "quantize" prints it for people. */
#include "vn-cmd.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-kept-details.h"
#include "vn-improve-job.h"

#include <math.h>

/* Those beside the worst, whose figure is the output's. */
static void
cmd_result_print_parts (const VnErrorRow *row)
{
  const VnErrorPart *worst = vn_error_row_get_worst_part (row);

  for (guint i = 0; row->parts != NULL && i < row->parts->len; i++)
    {
      const VnErrorPart *part = g_ptr_array_index (row->parts, i);
      g_autofree char *title = vn_error_part_dup_title (part), *db = vn_format_db_column (part->sqnr_db);

      if (part->is_dead)
        vn_cmd_print (_("    %s: dead, a single constant in the quantized model\n"), title);
      else if (part != worst)
        vn_cmd_print (_("    %s: SQNR %s\n"), title, db);
    }
}

static void
cmd_result_print_preparation (const VnErrorRow *row)
{
  g_autofree char *db = vn_format_db_column (row->preparation_db);

  vn_cmd_print (_("    preparation alone: SQNR %s\n"), db);
}

static void
cmd_result_print_outputs (VnErrorTable *errors)
{
  for (guint i = 0; i < vn_error_table_get_n (errors); i++)
    {
      const VnErrorRow *row = vn_error_table_get (errors, i);
      g_autofree char *db = vn_format_db_column_margin (row->sqnr_db, row->margin_db), *title = vn_error_row_dup_title (row);

      if (row->is_output)
        vn_cmd_print (_("  output %s: SQNR %s, cosine %.5f\n"), title, db, row->cosine);
      else if (row->is_last)
        vn_cmd_print (_("  %s, last before unsupported nodes: SQNR %s, cosine %.5f\n"), row->value, db,
                      row->cosine);
      if (row->is_output)
        cmd_result_print_parts (row);
      if (!isnan (row->preparation_db))
        cmd_result_print_preparation (row);
    }
}

/* By the chosen measure, or where error starts if that is known; how much of it has come together stands beside it. */
static void
cmd_result_print_weakest (VnErrorTable *errors,
                          const char   *weakest)
{
  VnMetric metric = vn_error_table_get_weakest_metric (errors);
  g_autoptr(GArray) order = NULL;

  if (weakest != NULL)
    vn_metric_find (weakest, &metric);
  order = vn_error_table_sort_by (errors, metric);
  if (metric == VN_METRIC_SQNR)
    vn_cmd_print ("%s\n", _("Weakest tensors"));
  else
    vn_cmd_print (_("Weakest tensors (%s; SQNR)\n"), _(vn_metric_get_info (metric)->title));
  for (guint i = 0; i < MIN (order->len, 5); i++)
    {
      const VnErrorRow *row = vn_error_table_get (errors, g_array_index (order, guint, i));
      g_autofree char *db = vn_format_db_column (row->sqnr_db);
      g_autofree char *value = vn_metric_format (metric, vn_metric_get (row, metric));

      if (!vn_metric_is_measured (row, metric))
        break;
      if (metric != VN_METRIC_SQNR)
        vn_cmd_print ("  %10s", value);
      vn_cmd_print ("  %10s  %-12s %s%s\n", db, row->op_type, row->node[0] != '\0' ? row->node : row->value,
                    vn_error_row_is_marked (row) ? "  !" : "");
    }
}

/* What --auto has tried, and what came of it. */
static void
cmd_result_print_steps (VnNotes *notes)
{
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    if (g_str_equal (vn_notes_get (notes, i)->code, VN_NOTE_CODE_AUTO))
      vn_cmd_print ("  %s\n", vn_notes_get (notes, i)->text);
}

/* Lines of origins, those that matter first. */
#define ORIGIN_LINES 10

static void
cmd_result_print_origins (VnContributions *contributions)
{
  g_autoptr(GArray) order = vn_contributions_sort (contributions);

  vn_cmd_print (_("  error sources (share of the output error; output SQNR with only this quantized; local SQNR):\n"));
  for (guint i = 0; i < MIN (order->len, ORIGIN_LINES); i++)
    {
      const VnContribution *item = vn_contributions_get (contributions, g_array_index (order, guint, i));

      vn_cmd_print (_("    %5.1f %%  %6.1f dB  %6.1f dB  %-10s %s\n"), 100 * item->share, item->alone_db, item->local_db,
                    vn_contribution_role_get_title (item->role), item->name);
    }
}

static const char *
cmd_result_name_subject (const VnFinding *finding)
{
  if (*finding->tensor != '\0')
    return finding->tensor;
  return vn_reason_get_scope (finding->reason) == VN_SCOPE_RUN ? _("samples") : _("the model");
}

static void
cmd_result_print_reasons (VnDiagnosis *diagnosis)
{
  vn_cmd_print (_("  causes:\n"));
  for (guint i = 0; i < vn_diagnosis_get_n (diagnosis) && i < ORIGIN_LINES; i++)
    {
      const VnFinding *finding = vn_diagnosis_get (diagnosis, i);

      vn_cmd_print (_("    %s: %s. %s\n"), cmd_result_name_subject (finding), vn_reason_get_title (finding->reason),
                    finding->text);
    }
}

static void
cmd_result_print_cures (VnDiagnosis *diagnosis)
{
  vn_cmd_print (_("  fixes (mean output SQNR):\n"));
  for (guint i = 0; i < vn_diagnosis_get_n_trials (diagnosis); i++)
    {
      const VnCureTrial *trial = vn_diagnosis_get_trial (diagnosis, i);
      g_autofree char *text = vn_cure_trial_dup_text (trial);

      vn_cmd_print (_("    %s: %s: %s\n"), *trial->tensor != '\0' ? trial->tensor : _("samples"), vn_cure_get_title (trial->cure),
                    text);
    }
}

/**
 * vn_cmd_print_result:
 * @report: of @result
 * @output: (nullable): where it was written to
 * @weakest: (nullable): id of the metric that the weakest tensors are listed by
 *
 * Prints a result for people.
 */
void
vn_cmd_print_result (VnRun               *result,
                     const VnReportModel *report,
                     const char          *output,
                     const char          *weakest)
{
  g_autofree char *before = NULL, *after = NULL;
  double ratio;

  g_return_if_fail (result != NULL && report != NULL);

  ratio = (double) result->float_bytes / (double) MAX (result->quantized_bytes, 1);
  before = vn_format_bytes_column (result->float_bytes);
  after = vn_format_bytes_column (result->quantized_bytes);
  vn_cmd_print (ratio > 0 && ratio < 1 ? _("%s: %s, was %s (%.2f times larger)\n") : _("%s: %s, was %s (%.2f times smaller)\n"),
                output != NULL ? output : _("quantized model"), after, before, ratio > 0 && ratio < 1 ? 1 / ratio : ratio);
  vn_cmd_print (result->left_out ? ngettext ("  %u tensors quantized; calibrated on %u sample; measured on %u, each "
                                             "held out in turn\n",
                                             "  %u tensors quantized; calibrated on %u samples; measured on %u, each "
                                             "held out in turn\n", result->n_calibration)
                                 : ngettext ("  %u tensors quantized; calibrated on %u sample, measured on %u\n",
                                             "  %u tensors quantized; calibrated on %u samples, measured on %u\n",
                                             result->n_calibration),
                vn_quant_plan_count_quantized (result->plan), result->n_calibration, result->n_held_out);
  vn_cmd_print_verdict (report);
  if (result->errors != NULL)
    cmd_result_print_outputs (result->errors);
  if (result->accuracy.valid)
    vn_cmd_print (ngettext ("  top-1 on %u labeled sample: float %.1f %%, quantized %.1f %%\n",
                            "  top-1 on %u labeled samples: float %.1f %%, quantized %.1f %%\n", result->accuracy.n),
                            result->accuracy.n,
                  100.0 * result->accuracy.float_top1 / result->accuracy.n,
                  100.0 * result->accuracy.quant_top1 / result->accuracy.n);
  if (vn_kept_is_known (&result->accuracy.kept))
    {
      g_autofree char *kept = vn_kept_dup_text (&result->accuracy.kept), *details = vn_kept_dup_details (&result->accuracy.kept);

      vn_cmd_print ("  %s\n", kept);
      if (details != NULL)
        vn_cmd_print ("  %s\n", details);
    }
  if (result->errors != NULL)
    cmd_result_print_weakest (result->errors, weakest);
  vn_cmd_print_runtime (result);
  cmd_result_print_steps (result->notes);
  if (result->curve != NULL)
    vn_cmd_print_curve (result->curve);
  if (result->contributions != NULL)
    cmd_result_print_origins (result->contributions);
  if (result->diagnosis != NULL && vn_diagnosis_get_n (result->diagnosis) > 0)
    cmd_result_print_reasons (result->diagnosis);
  if (result->diagnosis != NULL && vn_diagnosis_get_n_trials (result->diagnosis) > 0)
    cmd_result_print_cures (result->diagnosis);
}
