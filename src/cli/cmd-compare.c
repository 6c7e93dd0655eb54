/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command "compare": errors of a quantized network beside its float original. */
#include "vn-cmd.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-ranks.h"
#include "vn-report.h"

static char *report_file, *fail_unless;
static int top = 20;

static const GOptionEntry entries[] = {
  { "report", 0, 0, G_OPTION_ARG_FILENAME, &report_file, N_("Write the report; the extension selects the format: "
                                                            ".html, .pdf, .json, otherwise Markdown"), N_("FILE") },
  { "top", 0, 0, G_OPTION_ARG_INT, &top, N_("Number of tensors to print, worst first (default: 20)"), N_("N") },
  { "fail-unless", 0, 0, G_OPTION_ARG_STRING, &fail_unless,
    N_("Exit with 1 if the verdict is worse: good, weak-spot or care; all is written first"), N_("LEVEL") },
  { NULL }
};

static const char *
cmd_compare_describe_place (const VnErrorRow *row)
{
  if (row->is_output)
    return _("  (output)");
  return row->is_last ? _("  (last before unsupported nodes)") : "";
}

static void
cmd_compare_print_table (VnErrorTable *errors)
{
  g_autoptr(GArray) order = vn_error_table_sort_worst (errors);

  vn_cmd_print (ngettext ("%u tensors over %u sample, worst first\n",
                          "%u tensors over %u samples, worst first\n", vn_error_table_get_n_samples (errors)),
                          vn_error_table_get_n (errors),
                vn_error_table_get_n_samples (errors));
  vn_cmd_print ("  %10s %12s %9s %11s  %-14s %s\n", _("SQNR"), _("noise/signal"), _("cosine"), _("local SQNR"), _("type"),
                _("tensor"));
  for (guint i = 0; i < MIN (order->len, (guint) MAX (top, 0)); i++)
    {
      const VnErrorRow *row = vn_error_table_get (errors, g_array_index (order, guint, i));
      g_autofree char *db = vn_format_db_column (row->sqnr_db);
      g_autofree char *local = row->has_local ? vn_format_db_column (row->local_db) : g_strdup ("");

      vn_cmd_print ("%s %10s %12.6g %9.5f %11s  %-14s %s%s\n", vn_error_row_is_marked (row) ? "!" : " ", db,
                    row->noise_to_signal, row->cosine, local, row->op_type, row->value, cmd_compare_describe_place (row));
    }
}

static void
cmd_compare_print_weights (VnErrorTable *errors)
{
  guint n = vn_error_table_get_n_weights (errors);

  if (n == 0 || top <= 0)
    return;
  vn_cmd_print (ngettext ("%u weight, worst first\n",
                          "%u weights, worst first\n", n), n);
  for (guint i = 0; i < MIN (n, (guint) top); i++)
    {
      const VnErrorRow *row = vn_error_table_get_weight (errors, i);
      g_autofree char *db = vn_format_db_column (row->sqnr_db);

      vn_cmd_print ("%s %10s %12.6g %9.5f  %-14s %s\n", vn_error_row_is_marked (row) ? "!" : " ", db, row->noise_to_signal,
                    row->cosine, row->op_type, row->value);
    }
}

static gboolean
cmd_compare_check_files (VnFileSet         *files,
                         const VnModel     *float_model,
                         const VnModel     *quant_model,
                         const VnDataSpec  *data,
                         GError           **error)
{
  vn_model_add_files (float_model, files);
  vn_model_add_files (quant_model, files);
  vn_data_spec_add_files (data, files);
  vn_file_set_writes (files, report_file, "--report");
  if (report_file != NULL && !vn_report_check_form (report_file, error))
    return FALSE;
  return vn_file_set_check (files, error);
}

static VnRun *
cmd_compare_make_run (VnJob      *job,
                      VnModel    *float_model,
                      VnModel    *quant_model,
                      VnDataSpec *data)
{
  VnRun *run = vn_run_new ();

  run->source = vn_model_ref (float_model);
  run->prepared = vn_model_ref (float_model);
  run->quantized = vn_model_ref (quant_model);
  run->data = vn_data_spec_copy (data);
  run->errors = vn_error_table_ref (vn_compare_job_get_errors (job));
  run->notes = vn_notes_ref (vn_compare_job_get_notes (job));
  run->n_held_out = vn_error_table_get_n_samples (run->errors);
  run->float_bytes = float_model->file_size;
  run->quantized_bytes = quant_model->file_size;
  return run;
}

static gboolean
compare_run (char        **args,
             JsonBuilder  *json,
             GError      **error)
{
  g_autoptr(VnDataSpec) data = top >= 0 && vn_cmd_check_least_verdict (fail_unless, error) ? vn_cmd_make_data_spec (error) : NULL;
  g_autoptr(VnFileSet) files = vn_cmd_new_files (args[0]);
  g_autoptr(VnModel) float_model = data != NULL ? vn_cmd_open_model (args[0], error) : NULL;
  g_autoptr(VnModel) quant_model = float_model != NULL ? vn_cmd_open_model (args[1], error) : NULL;
  g_autoptr(GError) shape_error = NULL;
  g_autoptr(GHashTable) shapes = quant_model != NULL ? vn_cmd_parse_shapes (float_model, &shape_error) : NULL;
  g_autoptr(VnJob) job = NULL;
  g_autoptr(VnReportModel) report = NULL;
  g_autoptr(VnRun) compared = NULL;

  if (top < 0)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--top must not be negative"));
      return FALSE;
    }
  if (quant_model == NULL || !cmd_compare_check_files (files, float_model, quant_model, data, error))
    return FALSE;
  if (shape_error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&shape_error));
      return FALSE;
    }
  vn_cmd_take_metadata (data, float_model);
  job = vn_compare_job_new (float_model, quant_model, data, shapes, (guint) vn_cmd_options.threads);
  if (!vn_cmd_run_job (job, error))
    return FALSE;
  compared = cmd_compare_make_run (job, float_model, quant_model, data);
  report = vn_cmd_new_report (compared, report_file != NULL);
  if (vn_ranks_get_rank () > 0)
    return TRUE;
  if (report_file != NULL && !vn_report_write (report, NULL, report_file, error))
    return FALSE;
  vn_cmd_print_run_notes (compared->notes);
  vn_cmd_print_verdict (report);
  cmd_compare_print_table (compared->errors);
  cmd_compare_print_weights (compared->errors);
  vn_cmd_json_report (json, report);
  vn_cmd_judge_verdict (compared, fail_unless);
  return TRUE;
}

static const char * const common[] = { "data", "samples", "preprocess", "shape", "report", "top", "fail-unless", "engine",
                                       "simulate-target", "threads", "json", NULL };

const VnCmd vn_cmd_compare = {
  .name = "compare",
  .usage = "FLOAT QUANTIZED --data PATH",
  .summary = N_("Measure the error of each tensor of a quantized model against the float model"),
  .options = entries,
  .common = common,
  .in_ranks = TRUE,
  .shares_loops = TRUE,
  .needs_data = TRUE,
  .n_args = 2,
  .run = compare_run,
};
