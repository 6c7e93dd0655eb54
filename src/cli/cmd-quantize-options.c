/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of "quantize", and what they must not say together. */
#include "cmd-quantize.h"

#include "vn-i18n.h"
#include "vn-improve-job.h"

VnQuantizeOptions vn_quantize_options = { .improve_seconds = VN_IMPROVE_SECONDS };

#define VALUE(NAME) &vn_quantize_options.NAME

const GOptionEntry vn_cmd_quantize_entries[] = {
  VN_CMD_GROUP_MARK (OUTPUT),
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, VALUE (output), N_("the quantized model"), N_("FILE") },
  VN_CMD_GROUP_MARK (TARGET),
  { "preset", 'p', 0, G_OPTION_ARG_STRING, VALUE (preset), N_("Types and format (default: cpu)"), N_("NAME") },
  { "target", 0, 0, G_OPTION_ARG_STRING, VALUE (target), N_("Runtime to quantize for, see “list targets”; replaces --preset"),
    N_("ID") },
  { "wide", 0, 0, G_OPTION_ARG_NONE, VALUE (wide),
    N_("With --target: its most accurate variant, usually with 16-bit activations"), NULL },
  { "recipe", 'r', 0, G_OPTION_ARG_FILENAME, VALUE (recipe_file),
    N_("Read settings and rules from a file; other options override it"), N_("FILE") },
  { "config", 'c', 0, G_OPTION_ARG_FILENAME, VALUE (config_file),
    N_("Read settings and rules from a configuration of XQuant, XSlim, AMD's quantizers or ONNX Runtime"), N_("FILE") },
  VN_CMD_GROUP_MARK (OUTPUT),
  { "save-recipe", 0, 0, G_OPTION_ARG_FILENAME, VALUE (save_recipe), N_("Write settings and rules to a file"), N_("FILE") },
  { "save-project", 0, 0, G_OPTION_ARG_FILENAME, VALUE (save_project),
    N_("Save model, samples and recipe as a project, which the application can open"), N_("FILE.vernier") },
  { "export-script", 0, 0, G_OPTION_ARG_FILENAME, VALUE (export_script),
    N_("Write a Python script for onnxruntime.quantization"), N_("FILE") },
  { "export-xquant", 0, 0, G_OPTION_ARG_FILENAME, VALUE (export_xquant), N_("Write a configuration of XQuant"), N_("FILE") },
  VN_CMD_GROUP_MARK (PLACEMENT),
  { "rule", 0, 0, G_OPTION_ARG_STRING_ARRAY, VALUE (rules),
    N_("Add a rule for nodes or tensors, in recipe syntax (repeatable)"), "JSON" },
  { "exclude", 'x', 0, G_OPTION_ARG_STRING_ARRAY, VALUE (excludes),
    N_("Leave nodes in float (repeatable)"), "NAME|GLOB|type:OP" },
  VN_CMD_GROUP_MARK (REPAIR),
  { "auto", 0, 0, G_OPTION_ARG_NONE, VALUE (improve),
    N_("Try fixes for the output error, and keep those that help"), NULL },
  { "time", 0, 0, G_OPTION_ARG_DOUBLE, VALUE (improve_seconds),
    N_("With --auto or --cures: time limit (default: 60)"), N_("SECONDS") },
  { "accuracy-first", 0, 0, G_OPTION_ARG_NONE, VALUE (accuracy_first),
    N_("With --auto: ignore its speed limits; otherwise the export takes at most 1.25 times as long in ONNX Runtime "
       "as without --auto, and keeps at least half of its integer MACs"), NULL },
  { "curve", 0, 0, G_OPTION_ARG_NONE, VALUE (curve),
    N_("Mixed precision: the trade-off of accuracy and cost for float, 16 bits or 4 bits in some tensors, from "
       "cheapest to most accurate"), NULL },
  { "curve-cost", 0, 0, G_OPTION_ARG_STRING, VALUE (curve_cost),
    N_("Cost to trade for accuracy: size, float (MACs outside 8-bit) or time (default: size with --budget-size "
       "and where only weights are quantized, else float)"),
    N_("COST") },
  { "target-sqnr", 0, 0, G_OPTION_ARG_STRING, VALUE (target_sqnr),
    N_("Mixed precision: the cheapest configuration with at least this mean output SQNR"), "DB" },
  { "budget-size", 0, 0, G_OPTION_ARG_STRING, VALUE (budget_size),
    N_("Mixed precision: the most accurate configuration up to this size, such as 1.2MB"), N_("SIZE") },
  { "budget-float", 0, 0, G_OPTION_ARG_STRING, VALUE (budget_float),
    N_("Mixed precision: the most accurate configuration with at most this share of MACs outside 8-bit, such as 10%"),
    N_("SHARE") },
  VN_CMD_GROUP_MARK (RANGES),
  { "stats", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, VALUE (stats),
    N_("Use statistics from “calibrate” instead of samples; several files are merged (repeatable)"), N_("FILE") },
  { "save-stats", 0, 0, G_OPTION_ARG_FILENAME, VALUE (save_stats), N_("Save the statistics, for --stats"), N_("FILE") },
  { "resume", 0, 0, G_OPTION_ARG_NONE, VALUE (resume), N_("With --save-stats: resume an interrupted run"), NULL },
  { "save-every", 0, 0, G_OPTION_ARG_DOUBLE, VALUE (save_every),
    N_("With --save-stats: interval for saving progress, for --resume (default: 10)"), N_("SECONDS") },
  VN_CMD_GROUP_MARK (DATA),
  { "calibration-samples", 0, 0, G_OPTION_ARG_INT, VALUE (n_calibration),
    N_("Number of calibration samples (default: all but the held-out ones)"), N_("N") },
  VN_CMD_GROUP_MARK (OUTPUT),
  { "skip-compare", 0, 0, G_OPTION_ARG_NONE, VALUE (skip_compare), N_("Do not measure the error"), NULL },
  { "origins", 0, 0, G_OPTION_ARG_NONE, VALUE (origins),
    N_("Measure how much each tensor alone degrades the outputs: error sources and their causes"), NULL },
  { "cures", 0, 0, G_OPTION_ARG_NONE, VALUE (cures),
    N_("Like --origins, and also measure the gain and cost of each suggested fix"), NULL },
  { "verify", 0, 0, G_OPTION_ARG_NONE, VALUE (verify),
    N_("Run the export in the runtime of its target, or else in ONNX Runtime, on more samples, also if it is large; where "
       "that is not found, the command fails (see verify)"), NULL },
  { "no-verify", 0, 0, G_OPTION_ARG_NONE, VALUE (no_verify), N_("Do not run the export in a runtime"), NULL },
  { "fail-unless", 0, 0, G_OPTION_ARG_STRING, VALUE (fail_unless),
    N_("Exit with 1 if the verdict is worse: good, weak-spot or care; all is written first"), N_("LEVEL") },
  { "weakest", 0, 0, G_OPTION_ARG_STRING, VALUE (weakest),
    N_("Metric that ranks the weakest tensors, see “list metrics” (default: contribution where --origins measures it, "
       "else sqnr)"),
    N_("METRIC") },
  { "report", 0, 0, G_OPTION_ARG_FILENAME, VALUE (report),
    N_("Write a report: all formats to a folder, or one to a file (.html, .pdf, .md, .json)"), N_("PATH") },
  { NULL }
};

/**
 * vn_cmd_quantize_refuse:
 * @message: translated: what is wrong with the options
 *
 * Returns: %FALSE, with that as %G_OPTION_ERROR_BAD_VALUE
 */
gboolean
vn_cmd_quantize_refuse (GError     **error,
                        const char  *message)
{
  g_return_val_if_fail (message != NULL, FALSE);

  g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, message);
  return FALSE;
}

/**
 * vn_cmd_quantize_check_options:
 *
 * Returns: %FALSE with %G_OPTION_ERROR_BAD_VALUE if there are options that say how others work, but not those, or that exclude
 *   each other
 */
gboolean
vn_cmd_quantize_check_options (GError **error)
{
  const VnQuantizeOptions *options = &vn_quantize_options;
  VnMetric metric;

  if (!options->improve && (options->accuracy_first || (options->improve_seconds != VN_IMPROVE_SECONDS && !options->cures)))
    return vn_cmd_quantize_refuse (error, _("--time and --accuracy-first require --auto"));
  if (options->origins && options->skip_compare)
    return vn_cmd_quantize_refuse (error, _("--origins measures the error and cannot be combined with --skip-compare"));
  if (options->fail_unless != NULL && options->skip_compare)
    return vn_cmd_quantize_refuse (error, _("--fail-unless needs the error and cannot be combined with --skip-compare"));
  if (options->save_every != 0 && options->save_stats == NULL)
    return vn_cmd_quantize_refuse (error, _("--save-every requires --save-stats"));
  if (options->verify && options->no_verify)
    return vn_cmd_quantize_refuse (error, _("--verify and --no-verify exclude each other"));
  if (options->n_calibration < 0)
    return vn_cmd_quantize_refuse (error, _("--calibration-samples must not be negative"));
  if (options->save_project != NULL && !vn_project_is_file (options->save_project))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--save-project: “%s” does not end in .vernier, "
                                                                      "the extension of projects"),
                   options->save_project);
      return FALSE;
    }
  if (!vn_cmd_check_least_verdict (options->fail_unless, error))
    return FALSE;
  if (options->weakest == NULL || vn_metric_find (options->weakest, &metric))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--weakest: there is no metric “%s”; “vernier-cli "
                                                                  "list metrics” lists all"),
               options->weakest);
  return FALSE;
}
