/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command "quantize": the whole way from a float model to a quantized one with its report. */
#include "cmd-quantize.h"

#include "vn-i18n.h"

static void
cmd_quantize_add_report_json (JsonBuilder         *json,
                              VnRun               *result,
                              const VnReportModel *report)
{
  vn_cmd_json_report (json, report);
  vn_json_begin_object (json, "seconds");
  for (guint i = 0; i < result->timings->len; i++)
    {
      const VnTiming *timing = &g_array_index (result->timings, VnTiming, i);

      vn_json_add_number (json, timing->id, timing->seconds);
    }
  json_builder_end_object (json);
}

static void
cmd_quantize_add_layers_json (JsonBuilder       *json,
                              const VnLayerFile *file)
{
  vn_json_begin_object (json, "sensitive_layers");
  vn_json_add_text (json, "tool", file->list->tool);
  vn_json_add_text (json, "file", file->path);
  vn_json_begin_array (json, "layers");
  for (guint i = 0; i < file->layers->len; i++)
    {
      const VnListedLayer *layer = g_ptr_array_index (file->layers, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "name", layer->name);
      vn_json_add_text (json, "node", layer->node);
      vn_json_add_number (json, "share", layer->share);
      vn_json_add_bool (json, "chosen", layer->is_chosen);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  json_builder_end_object (json);
}

/* Text and JSON are both of the report. */
static void
cmd_quantize_print (JsonBuilder       *json,
                    VnRun             *result,
                    const VnLayerFile *layers)
{
  g_autoptr(VnReportModel) report = vn_cmd_new_report (result, FALSE);

  vn_cmd_print_result (result, report, vn_quantize_options.output, vn_quantize_options.weakest);
  cmd_quantize_add_report_json (json, result, report);
  if (layers != NULL && layers->layers != NULL)
    cmd_quantize_add_layers_json (json, layers);
}

static gboolean
quantize_run (char        **args,
              JsonBuilder  *json,
              GError      **error)
{
  g_autofree char *python = vn_cmd_take_python (!vn_quantize_options.no_verify);
  g_autoptr(GString) lines = g_string_new (NULL);
  g_auto(VnQuantizeInput) input = { 0 };
  g_autoptr(VnRun) result = NULL;
  g_autoptr(VnLayerFile) layers = NULL;
  GError *reason = NULL;

  vn_quantize_input_open (&input, args[0], &reason);
  if (!vn_cmd_agree (reason, error))
    return FALSE;
  result = vn_cmd_quantize_do_works (&input, error);
  if (result == NULL)
    return FALSE;
  if (!vn_cmd_go_on_alone ())
    return TRUE;
  vn_quantize_input_note (&input, result->notes);
  if (!vn_cmd_quantize_write (&result, &input, python, lines, &layers, error) ||
      !vn_cmd_clear_kept_rounding (vn_quantize_options.save_stats, error))
    return FALSE;
  vn_cmd_print_run_notes (result->notes);
  cmd_quantize_print (json, result, layers);
  vn_cmd_print_lines (lines->str);
  vn_cmd_quantize_judge (result);
  return TRUE;
}

static const char * const common[] = { "output", "data", "samples", "preprocess", "preset", "method", "per-channel",
                                       "exclude", "auto", "verify", "report", "json", NULL };

const VnCmd vn_cmd_quantize = {
  .name = "quantize",
  .usage = "(MODEL (--data PATH | --stats FILE … | --ranges FILE) | PROJECT) -o FILE",
  .summary = N_("Quantize a model and measure the error of every tensor"),
  .options = vn_cmd_quantize_entries,
  .common = common,
  .in_ranks = TRUE,
  .shares_loops = TRUE,
  .needs_data = TRUE,
  .holds_out = TRUE,
  .takes_trust = TRUE,
  .has_settings = TRUE,
  .writes_model = TRUE,
  .n_args = 1,
  .run = quantize_run,
};
