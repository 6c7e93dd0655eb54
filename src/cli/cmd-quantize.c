/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command "quantize": the whole way from a float model to a quantized one with its report. */
#include "vn-cmd-project.h"

#include "vn-config.h"
#include "vn-cure-job.h"
#include "vn-curve-job.h"
#include "vn-error.h"
#include "vn-export-settings.h"
#include "vn-file.h"
#include "vn-file-hold.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-improve-job.h"
#include "vn-report.h"
#include "vn-verify-job.h"

#include <math.h>
#include <string.h>

static char *export_script, *export_xquant;
static char *output, *preset, *recipe_file, *config_file, *save_recipe, *save_project, *report, *save_stats, *weakest;
static char **rules, **excludes, **stats;
static gboolean skip_compare, resume, origins, cures, improve, accuracy_first, verify, no_verify;
static double improve_seconds = VN_IMPROVE_SECONDS;
static gboolean curve;
static char *curve_cost, *budget_size, *budget_float, *target_sqnr;
static int n_calibration;
static double save_every;

static const GOptionEntry entries[] = {
  VN_CMD_GROUP_MARK (OUTPUT),
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_("the quantized model"), N_("FILE") },
  VN_CMD_GROUP_MARK (TARGET),
  { "preset", 'p', 0, G_OPTION_ARG_STRING, &preset, N_("Target (default: cpu)"), N_("NAME") },
  { "recipe", 'r', 0, G_OPTION_ARG_FILENAME, &recipe_file, N_("Read settings and rules from a file; other options "
                                                              "override it"), N_("FILE") },
  { "config", 'c', 0, G_OPTION_ARG_FILENAME, &config_file,
    N_("Read settings and rules from a configuration of XQuant, XSlim, AMD's quantizers or ONNX Runtime"), N_("FILE") },
  VN_CMD_GROUP_MARK (OUTPUT),
  { "save-recipe", 0, 0, G_OPTION_ARG_FILENAME, &save_recipe, N_("Write settings and rules to a file"), N_("FILE") },
  { "save-project", 0, 0, G_OPTION_ARG_FILENAME, &save_project,
    N_("Save model, samples and recipe as a project, which the application can open"), N_("FILE.vernier") },
  { "export-script", 0, 0, G_OPTION_ARG_FILENAME, &export_script,
    N_("Write a Python script for onnxruntime.quantization"), N_("FILE") },
  { "export-xquant", 0, 0, G_OPTION_ARG_FILENAME, &export_xquant, N_("Write a configuration of XQuant"), N_("FILE") },
  VN_CMD_GROUP_MARK (PLACEMENT),
  { "rule", 0, 0, G_OPTION_ARG_STRING_ARRAY, &rules,
    N_("Add a rule for nodes or tensors, in recipe syntax (repeatable)"), "JSON" },
  { "exclude", 'x', 0, G_OPTION_ARG_STRING_ARRAY, &excludes, N_("Leave nodes in float (repeatable)"), "NAME|GLOB|type:OP" },
  VN_CMD_GROUP_MARK (REPAIR),
  { "auto", 0, 0, G_OPTION_ARG_NONE, &improve, N_("Try fixes for the output error, and keep those that help"), NULL },
  { "time", 0, 0, G_OPTION_ARG_DOUBLE, &improve_seconds, N_("With --auto or --cures: time limit (default: 60)"), N_("SECONDS") },
  { "accuracy-first", 0, 0, G_OPTION_ARG_NONE, &accuracy_first,
    N_("With --auto: ignore its speed limits; otherwise the export takes at most 1.25 times as long in ONNX Runtime "
       "as without --auto, and keeps at least half of its integer MACs"), NULL },
  { "curve", 0, 0, G_OPTION_ARG_NONE, &curve,
    N_("Mixed precision: the trade-off of accuracy and cost for float, 16 bits or 4 bits in some tensors, from "
       "cheapest to most accurate"), NULL },
  { "curve-cost", 0, 0, G_OPTION_ARG_STRING, &curve_cost,
    N_("Cost to trade for accuracy: size, float (MACs outside 8-bit) or time (default: size with --budget-size, else float)"), N_("COST") },
  { "target-sqnr", 0, 0, G_OPTION_ARG_STRING, &target_sqnr, N_("Mixed precision: the cheapest configuration with at "
                                                               "least this mean output SQNR"), "DB" },
  { "budget-size", 0, 0, G_OPTION_ARG_STRING, &budget_size, N_("Mixed precision: the most accurate configuration up "
                                                               "to this size, such as 1.2MB"), N_("SIZE") },
  { "budget-float", 0, 0, G_OPTION_ARG_STRING, &budget_float,
    N_("Mixed precision: the most accurate configuration with at most this share of MACs outside 8-bit, such as 10%"), N_("SHARE") },
  VN_CMD_GROUP_MARK (RANGES),
  { "stats", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &stats,
    N_("Use statistics from “calibrate” instead of samples; several files are merged (repeatable)"), N_("FILE") },
  { "save-stats", 0, 0, G_OPTION_ARG_FILENAME, &save_stats, N_("Save the statistics, for --stats"), N_("FILE") },
  { "resume", 0, 0, G_OPTION_ARG_NONE, &resume, N_("With --save-stats: resume an interrupted run"), NULL },
  { "save-every", 0, 0, G_OPTION_ARG_DOUBLE, &save_every,
    N_("With --save-stats: interval for saving progress, for --resume (default: 10)"), N_("SECONDS") },
  VN_CMD_GROUP_MARK (DATA),
  { "calibration-samples", 0, 0, G_OPTION_ARG_INT, &n_calibration,
    N_("Number of calibration samples (default: all but the held-out ones)"), N_("N") },
  VN_CMD_GROUP_MARK (OUTPUT),
  { "skip-compare", 0, 0, G_OPTION_ARG_NONE, &skip_compare, N_("Do not measure the error"), NULL },
  { "origins", 0, 0, G_OPTION_ARG_NONE, &origins, N_("Measure how much each tensor alone degrades the outputs: error "
                                                     "sources and their causes"), NULL },
  { "cures", 0, 0, G_OPTION_ARG_NONE, &cures, N_("Like --origins, and also measure the gain and cost of each suggested fix"), NULL },
  { "verify", 0, 0, G_OPTION_ARG_NONE, &verify,
    N_("Run the export in ONNX Runtime on more samples, also if it is large or for another runtime; without one the command fails (see verify)"), NULL },
  { "no-verify", 0, 0, G_OPTION_ARG_NONE, &no_verify, N_("Do not check the export in ONNX Runtime"), NULL },
  { "weakest", 0, 0, G_OPTION_ARG_STRING, &weakest,
    N_("Metric that ranks the weakest tensors, see “list metrics” (default: contribution where --origins measures it, "
       "else sqnr)"),
    N_("METRIC") },
  { "report", 0, 0, G_OPTION_ARG_FILENAME, &report,
    N_("Write a report: all formats to a folder, or one to a file (.html, .pdf, .md, .json)"), N_("PATH") },
  { NULL }
};

static VnResult *
cmd_quantize_improve (const VnQuantizeSettings  *settings,
                      GError                   **error)
{
  VnImproveSettings improved = { .quantize = *settings, .seconds = improve_seconds, .accuracy_first = accuracy_first };
  g_autoptr(VnJob) job = NULL;

  if (stats != NULL || save_stats != NULL || skip_compare)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   _("--auto calibrates and compares on its own: it cannot be combined with --stats, --save-stats or "
                     "--skip-compare"));
      return NULL;
    }
  job = vn_improve_job_new (&improved);
  return vn_cmd_run_job (job, error) ? vn_result_ref (vn_improve_job_get_result (job)) : NULL;
}

static VnResult *
cmd_quantize_find_cures (const VnQuantizeSettings  *settings,
                         GError                   **error)
{
  VnCureSettings cured = { .quantize = *settings, .seconds = improve_seconds, .n_tensors = VN_CURE_TENSORS };
  g_autoptr(VnJob) job = NULL;

  if (improve || skip_compare)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   _("--cures measures a single recipe without changing it: it cannot be combined with --auto or "
                     "--skip-compare"));
      return NULL;
    }
  job = vn_cure_job_new (&cured);
  return vn_cmd_run_job (job, error) ? vn_result_ref (vn_cure_job_get_result (job)) : NULL;
}

static gboolean
cmd_quantize_wants_curve (void)
{
  return curve || curve_cost != NULL || target_sqnr != NULL || budget_size != NULL || budget_float != NULL;
}

static gboolean
cmd_quantize_read_wishes (VnCurveSettings  *wished,
                          GError          **error)
{
  char *end = NULL;

  if (stats != NULL || save_stats != NULL || cures)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   _("Mixed precision is selected by measuring on samples: it cannot be combined with --stats, "
                     "--save-stats or --cures"));
      return FALSE;
    }
  if (curve_cost != NULL && !vn_curve_cost_find (curve_cost, &wished->cost))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--curve-cost: there is no cost “%s”; choose "
                                                                      "size, float or time"), curve_cost);
      return FALSE;
    }
  wished->target_db = target_sqnr != NULL ? g_ascii_strtod (target_sqnr, &end) : NAN;
  if (target_sqnr != NULL && (end == target_sqnr || *end != '\0' || !isfinite (wished->target_db)))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--target-sqnr: “%s” is not a number of dB"), target_sqnr);
      return FALSE;
    }
  return (budget_size == NULL || vn_cmd_parse_size (budget_size, "--budget-size", &wished->most_bytes, error)) &&
         (budget_float == NULL || vn_cmd_parse_percent (budget_float, "--budget-float", &wished->most_float, error));
}

/* With --auto from what that comes to. */
static VnResult *
cmd_quantize_choose (const VnQuantizeSettings  *settings,
                     GError                   **error)
{
  VnCurveSettings wished = { .quantize = *settings, .cost = VN_N_CURVE_COSTS, .target_db = NAN, .most_float = NAN };
  g_autoptr(VnResult) improved = NULL;
  g_autoptr(VnJob) job = NULL;

  if (!cmd_quantize_read_wishes (&wished, error))
    return NULL;
  if (improve)
    {
      improved = cmd_quantize_improve (settings, error);
      if (improved == NULL)
        return NULL;
      wished.quantize.recipe = improved->recipe;
    }
  job = vn_curve_job_new (&wished);
  return vn_cmd_run_job (job, error) ? vn_result_ref (vn_curve_job_get_result (job)) : NULL;
}

static VnResult *
quantize (VnModel     *model,
          VnDataSpec  *data,
          VnRecipe    *recipe,
          GHashTable  *shapes,
          VnStats     *base,
          GError     **error)
{
  VnQuantizeSettings settings = { .model = model, .data = data, .recipe = recipe, .input_shapes = shapes,
                                  .n_calibration = (guint) MAX (n_calibration, 0), .skip_compare = skip_compare, .origins = origins,
                                  .stats = (const char * const *) stats, .save_stats = save_stats, .base = base,
                                  .keep_seconds = MAX (save_every, 0),
                                  .n_threads = (guint) vn_cmd_options.threads };
  g_autoptr(VnJob) job = NULL;

  if (cmd_quantize_wants_curve ())
    return cmd_quantize_choose (&settings, error);
  if (cures)
    return cmd_quantize_find_cures (&settings, error);
  if (improve)
    return cmd_quantize_improve (&settings, error);
  job = vn_quantize_job_new (&settings);
  if (!vn_cmd_run_job (job, error))
    {
      if (save_stats != NULL)
        vn_cmd_tell_kept (save_stats);
      return NULL;
    }
  return vn_result_ref (vn_quantize_job_get_result (job));
}

/* What --config says, instead of a preset or a recipe; other options change what it says. Samples of the command line come
 * before those it names. */
static gboolean
cmd_quantize_use_config (VnModel     *model,
                         VnRecipe   **recipe,
                         VnDataSpec **data,
                         GError     **error)
{
  g_autoptr(VnConfig) config = NULL;

  if (preset != NULL || recipe_file != NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--config cannot be combined with --preset or --recipe"));
      return FALSE;
    }
  config = vn_config_load (config_file, error);
  if (config == NULL || !vn_config_bind (config, model, stats != NULL || vn_cmd_options.data != NULL, error) ||
      !vn_cmd_apply_settings (config->recipe, error) || !vn_cmd_add_rules (config->recipe, rules, excludes, error))
    return FALSE;
  vn_cmd_print_notes (config->notes);
  vn_recipe_free (*recipe);
  *recipe = vn_recipe_copy (config->recipe);
  if (!vn_recipe_validate (*recipe, error))
    return FALSE;
  if (vn_cmd_options.data == NULL && (stats != NULL || (!config->needs_samples && !vn_config_names_samples (config))))
    return TRUE;
  if (config->inputs->len > 0)
    {
      g_clear_pointer (data, vn_data_spec_free);
      *data = vn_config_make_data (config, model, vn_cmd_options.data, error);
      if (*data != NULL && (!vn_cmd_check_trust (*data, config_file, error) || !vn_cmd_complete_data_spec (*data, error)))
        return FALSE;
    }
  else if (*data == NULL)
    *data = vn_cmd_make_data_spec (error);
  if (*data == NULL)
    return FALSE;
  vn_cmd_hold_out (*data, 0);   /* as the tools do that configurations are of: they calibrate on all samples */
  return TRUE;
}

/* The report's JSON is the command's JSON. */
static void
cmd_quantize_add_report_json (JsonBuilder         *json,
                              VnResult            *result,
                              const VnReportModel *said)
{
  vn_json_add_node (json, "report", vn_report_to_json (said));
  vn_json_begin_object (json, "seconds");
  for (guint i = 0; i < result->timings->len; i++)
    {
      const VnTiming *timing = &g_array_index (result->timings, VnTiming, i);

      vn_json_add_number (json, timing->id, timing->seconds);
    }
  json_builder_end_object (json);
}

/* What people and programs are told is the report. */
static void
cmd_quantize_tell (JsonBuilder *json,
                   VnResult    *result)
{
  VnReportInput input;
  g_autoptr(VnReportModel) said = NULL;

  vn_report_input_init (&input, result);
  said = vn_report_model_new (&input, VN_REPORT_LAYOUT_REPORT);
  vn_cmd_print_result (result, said, output, weakest);
  cmd_quantize_add_report_json (json, result, said);
}

static VnProject *
cmd_quantize_open_project (const char  *path,
                           GError     **error)
{
  g_autoptr(VnProject) project = vn_project_load (path, error);

  if (project == NULL || config_file == NULL)
    return g_steal_pointer (&project);
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--config cannot be used with a project: specify the model"));
  return NULL;
}

typedef char *(*ExportFunc) (const VnRecipe *, const VnModel *, const char *, const VnDataSpec *, VnNotes *, VnNotes *);

static gboolean
cmd_quantize_export_settings (const char       *file,
                              ExportFunc        func,
                              VnResult         *result,
                              const char       *model,
                              GError          **error)
{
  g_autofree char *text = NULL;

  if (file == NULL)
    return TRUE;
  text = func (result->recipe, result->source, model, result->data, result->notes, result->notes);
  return vn_file_write_all (file, text, strlen (text), error);
}

/* What writing needs beside the result.
 * @keep: where the run is kept, and what is told of that */
typedef struct
{
  VnCmdKeep           keep;
  const char         *python;
  VnOnnxWriteOptions  options;
} Writing;

/* NULL with an error set if something could not be written; otherwise the result, with what verifying found. */
static VnResult *
cmd_quantize_export (VnResult       *result,
                     const char     *model_path,
                     const char     *report_path,
                     gboolean        verifies,
                     const Writing  *writing,
                     GError        **error)
{
  g_autoptr(VnJob) export = vn_export_job_new (result, model_path, report_path);

  vn_export_job_set_write_options (export, &writing->options);
  if (verifies)
    vn_export_job_set_verify (export, writing->python, verify);
  return vn_cmd_run_job (export, error) ? vn_result_ref (vn_export_job_get_result (export)) : NULL;
}

/* What ONNX Runtime makes of it stands in all that is written. With --verify it is the file itself that is run, otherwise a copy. */
static VnResult *
cmd_quantize_verify (VnResult       *result,
                     const Writing  *writing,
                     GError        **error)
{
  if (!verify && (no_verify || !vn_verify_job_is_usual ()))
    return vn_result_ref (result);
  return cmd_quantize_export (result, verify ? output : NULL, NULL, TRUE, writing, error);
}

/* All is written and told then. That sums saturate on this processor is no fault of the export. */
static void
cmd_quantize_judge (const VnResult *result)
{
  const VnVerification *found = result->verification;
  g_autofree char *fault = found != NULL && !vn_verification_is_saturated (found) ? vn_verification_dup_fault (found) : NULL;
  g_autoptr(GError) reason = NULL;

  if (fault != NULL)
    reason = g_error_new (VN_VERIFY_ERROR, VN_VERIFY_ERROR_REFUSED, _("%s. The written files were kept"), fault);
  else if (verify && found == NULL)
    reason = g_error_new (VN_VERIFY_ERROR, VN_VERIFY_ERROR_MISSING, _("The export could not be run in ONNX Runtime. "
                                                                      "The written files were kept"));
  if (reason != NULL)
    vn_cmd_fail (reason);
}

/* The model comes last, when all else is complete and waits for its name; only with --verify, which runs it, it comes first. */
static gboolean
cmd_quantize_write (VnResult       **result,
                    const Writing   *writing,
                    GError         **error)
{
  g_autoptr(VnResult) written = cmd_quantize_verify (*result, writing, error);
  g_autoptr(VnResult) reported = NULL;
  g_autoptr(VnResult) last = NULL;

  if (written == NULL)
    return FALSE;
  vn_cmd_hold_files ();
  reported = report != NULL ? cmd_quantize_export (written, NULL, report, FALSE, writing, error) : vn_result_ref (written);
  if (reported == NULL || (save_recipe != NULL && !vn_recipe_save (written->recipe, save_recipe, error)) ||
      !cmd_quantize_export_settings (export_script, vn_recipe_to_ort_script, written, writing->keep.model, error) ||
      !cmd_quantize_export_settings (export_xquant, vn_recipe_to_xquant, written, writing->keep.model, error) ||
      !vn_cmd_keep_run (&writing->keep, written, error))
    return FALSE;
  if (!verify && output != NULL)
    {
      vn_file_hold (FALSE);
      last = cmd_quantize_export (written, output, NULL, FALSE, writing, error);
      if (last == NULL)
        return FALSE;
    }
  vn_result_unref (*result);
  *result = g_steal_pointer (&written);
  return TRUE;
}

/* What options and the project name, before the network is opened. */
static VnFileSet *
cmd_quantize_list_files (const char       *model,
                         const VnProject  *project,
                         const char       *path,
                         const char       *run)
{
  VnFileSet *files = vn_cmd_new_files (model);

  if (project != NULL)
    vn_project_add_files (project, path, files);
  if (project != NULL && vn_file_check_target (path, NULL))
    vn_project_add_outputs (files, path, run, _("the result of the run"));
  vn_file_set_reads (files, recipe_file, _("the recipe"));
  vn_file_set_reads (files, config_file, _("the configuration"));
  for (char **at = stats; at != NULL && *at != NULL; at++)
    vn_file_set_reads (files, *at, _("a statistics file in use"));
  vn_file_set_writes (files, output, _("the quantized model"));
  vn_report_add_outputs (files, report);
  vn_file_set_writes (files, save_recipe, "--save-recipe");
  vn_file_set_writes (files, save_project, "--save-project");
  if (save_project != NULL)
    vn_project_add_outputs (files, save_project, run, "--save-project");
  vn_file_set_writes (files, export_script, "--export-script");
  vn_file_set_writes (files, export_xquant, "--export-xquant");
  vn_calibrate_add_outputs (files, save_stats, "--save-stats");
  return files;
}

static gboolean
cmd_quantize_refuse (GError     **error,
                     const char  *message)
{
  g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, message);
  return FALSE;
}

/* Options that say how others work, or exclude them. */
static gboolean
cmd_quantize_check_options (GError **error)
{
  VnMetric metric;

  if (!improve && (accuracy_first || (improve_seconds != VN_IMPROVE_SECONDS && !cures)))
    return cmd_quantize_refuse (error, _("--time and --accuracy-first require --auto"));
  if (origins && skip_compare)
    return cmd_quantize_refuse (error, _("--origins measures the error and cannot be combined with --skip-compare"));
  if (save_every != 0 && save_stats == NULL)
    return cmd_quantize_refuse (error, _("--save-every requires --save-stats"));
  if (verify && no_verify)
    return cmd_quantize_refuse (error, _("--verify and --no-verify exclude each other"));
  if (n_calibration < 0)
    return cmd_quantize_refuse (error, _("--calibration-samples must not be negative"));
  if (save_project != NULL && !vn_project_is_file (save_project))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--save-project: “%s” does not end in .vernier, "
                                                                      "the extension of projects"),
                   save_project);
      return FALSE;
    }
  if (weakest == NULL || vn_metric_find (weakest, &metric))
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--weakest: there is no metric “%s”; “vernier-cli "
                                                                  "list metrics” lists all"),
               weakest);
  return FALSE;
}

/* @model: as soon as it is open; its weights are found out by that. */
static gboolean
cmd_quantize_check_files (VnFileSet                 *files,
                          const VnModel             *model,
                          const char                *path,
                          const VnDataSpec          *data,
                          const VnRecipe            *recipe,
                          const VnOnnxWriteOptions  *write,
                          GError                   **error)
{
  const VnCmdKeep keep = { .save = save_project, .model = path };
  g_autoptr(VnProject) project = NULL;

  if (save_project != NULL)
    {
      project = vn_cmd_make_project (&keep, model, data, recipe, error);
      if (project == NULL)
        return FALSE;
      vn_project_add_files (project, NULL, files);
    }
  vn_model_add_files (model, files);
  vn_data_spec_add_files (data, files);
  vn_recipe_add_files (recipe, files);
  return vn_export_add_outputs (files, model, output, report, write, error) && vn_file_set_check (files, error);
}

/* Where ranges come from: samples (@kept: (nullable): those of the project at @path), files of statistics, or a table of given
 * ones. */
static gboolean
cmd_quantize_check_sources (const VnRecipe    *recipe,
                            const VnDataSpec  *kept,
                            const char        *path,
                            VnDataSpec       **data,
                            GError           **error)
{
  const char *wrong = NULL;

  if (config_file != NULL && vn_cmd_options.data == NULL && stats == NULL && !resume)
    return TRUE;
  if (stats != NULL && save_stats != NULL)
    wrong = _("--save-stats cannot be combined with --stats: no statistics are collected from samples");
  else if (resume && save_stats == NULL)
    wrong = _("--resume requires --save-stats: the interrupted run saved its progress next to that file");
  if (wrong != NULL)
    {
      g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, wrong);
      return FALSE;
    }
  if (config_file != NULL)   /* which says how its samples are read */
    return TRUE;
  if (vn_cmd_options.data == NULL && (stats != NULL || recipe->ranges != NULL || !vn_recipe_needs_samples (recipe)) &&
      !(origins && kept != NULL))
    return !origins || cmd_quantize_refuse (error, _("--origins needs samples: add --data"));
  *data = vn_cmd_take_data_spec (kept, path, error);
  if (*data == NULL)
    return FALSE;
  vn_cmd_hold_out (*data, (*data)->held_out);
  return TRUE;
}

static gboolean
cmd_quantize_take_up (VnStats **base,
                      GError  **error)
{
  if (save_stats == NULL)
    return TRUE;
  return resume ? vn_calibrate_take_up (save_stats, base, error) : vn_calibrate_clear_parts (save_stats, error);
}

static gboolean
quantize_run (char        **args,
              JsonBuilder  *json,
              GError      **error)
{
  g_autoptr(VnDataSpec) data = NULL;
  g_autoptr(VnProject) project = NULL;
  g_autoptr(VnRecipe) recipe = NULL;
  g_autoptr(VnFileSet) files = NULL;
  const char *path = args[0];
  g_autofree char *run = vn_project_run_make_id ();
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnStats) base = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnResult) result = NULL;
  g_autoptr(GString) told = g_string_new (NULL);
  g_autofree char *python = vn_cmd_take_python (!no_verify);
  Writing writing;

  if (vn_project_is_file (path))
    {
      project = cmd_quantize_open_project (path, error);
      if (project == NULL)
        return FALSE;
      path = project->model;
    }
  if (!cmd_quantize_check_options (error))
    return FALSE;
  recipe = vn_cmd_make_recipe (project != NULL ? project->recipe : NULL, preset, recipe_file, rules, excludes, error);
  if (recipe == NULL || !cmd_quantize_check_sources (recipe, project != NULL ? project->data : NULL, args[0], &data, error) ||
      !vn_cmd_fill_write_options (&writing.options, error))
    return FALSE;
  if (output == NULL && report == NULL && !vn_cmd_options.json)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, _("-o is missing: specify where to write the "
                                                                   "quantized model"));
      return FALSE;
    }
  files = cmd_quantize_list_files (path, project, args[0], run);
  if (!vn_file_set_check (files, error))
    return FALSE;
  model = vn_cmd_open_model_sized (path, &shapes, error);
  if (model == NULL || (config_file != NULL && !cmd_quantize_use_config (model, &recipe, &data, error)) ||
      !cmd_quantize_check_files (files, model, path, data, recipe, &writing.options, error) || !cmd_quantize_take_up (&base, error))
    return FALSE;
  if (project != NULL)
    shapes = vn_project_merge_sizes (project, g_steal_pointer (&shapes));
  result = quantize (model, data, recipe, shapes, base, error);
  if (result == NULL)
    return FALSE;
  if (data == NULL)
    vn_cmd_note_idle_data (result->notes, NULL, _("no samples are read"));
  else if (project != NULL && vn_cmd_options.data == NULL)
    vn_cmd_note_idle_kept (result->notes, data);
  if (project != NULL && !vn_project_is_about (project, model))
    vn_notes_add (result->notes, VN_NOTE_WARNING, "project", path,
                  _("The model changed since the project was saved: rules may refer to nodes that no longer exist"));
  writing = (Writing) { { save_project, project != NULL ? args[0] : NULL, path, run, told, shapes }, python, writing.options };
  if (!cmd_quantize_write (&result, &writing, error))
    return FALSE;
  vn_cmd_print_run_notes (result->notes);
  cmd_quantize_tell (json, result);
  vn_cmd_print_lines (told->str);
  cmd_quantize_judge (result);
  return TRUE;
}

static const char * const common[] = { "output", "data", "samples", "preprocess", "preset", "method", "per-channel",
                                       "exclude", "auto", "verify", "report", "json", NULL };

const VnCmd vn_cmd_quantize = {
  .name = "quantize",
  .usage = "(MODEL (--data PATH | --stats FILE … | --ranges FILE) | PROJECT) -o FILE",
  .summary = N_("Quantize a model and measure the error of every tensor"),
  .options = entries,
  .common = common,
  .needs_data = TRUE,
  .holds_out = TRUE,
  .takes_trust = TRUE,
  .has_settings = TRUE,
  .writes_model = TRUE,
  .n_args = 1,
  .run = quantize_run,
};
