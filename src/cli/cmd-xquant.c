/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Does what the program XQuant does with a configuration: MODEL.q.onnx and its analysis, in the working folder. */

#include "vn-cmd.h"

#include "vn-config.h"
#include "vn-error.h"
#include "vn-export-job.h"
#include "vn-file-hold.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-report.h"

#include <string.h>

#define N_RANDOM 4      /* where none are needed to quantize */

static char *config_file, *input, *output;

static const GOptionEntry entries[] = {
  VN_CMD_GROUP_MARK (TARGET),
  { "config", 'c', 0, G_OPTION_ARG_FILENAME, &config_file, N_("Configuration file"), N_("FILE") },
  { "input", 'i', 0, G_OPTION_ARG_FILENAME, &input, N_("Model to use instead of the one in the configuration"), N_("MODEL") },
  VN_CMD_GROUP_MARK (OUTPUT),
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, N_("Quantized model to write instead of the one in the configuration"),
    N_("FILE") },
  { NULL }
};

typedef struct
{
  char *model, *output, *report;
} Paths;

static void
cmd_xquant_clear_paths (Paths *self)
{
  g_free (self->model);
  g_free (self->output);
  g_free (self->report);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Paths, cmd_xquant_clear_paths)

static char *
cmd_xquant_dup_stem (const char *path)
{
  g_autofree char *base = g_path_get_basename (path);
  char *dot = strrchr (base, '.');

  if (dot != NULL && dot != base)
    *dot = '\0';
  return g_steal_pointer (&base);
}

/* FOLDER/PREFIX.onnx and FOLDER/PREFIX_report.md */
static gboolean
cmd_xquant_find_paths (VnConfig  *config,
                       Paths     *paths,
                       GError   **error)
{
  g_autofree char *folder = NULL, *stem = NULL, *prefix = NULL, *file = NULL;

  if (input == NULL && config->model == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: model_parameters.onnx_model is missing; set it, or use --input"),
                   config_file);
      return FALSE;
    }
  paths->model = input != NULL ? g_strdup (input) : vn_config_find_file (config, config->model);
  stem = cmd_xquant_dup_stem (output != NULL ? output : paths->model);
  folder = output != NULL || config->working_dir == NULL ? g_path_get_dirname (output != NULL ? output : paths->model)
                                                         : g_strdup (config->working_dir);
  prefix = output != NULL ? g_strdup (stem) : config->prefix != NULL ? g_strdup (config->prefix) : g_strconcat (stem, ".q", NULL);
  if (strchr (prefix, G_DIR_SEPARATOR) != NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("%s: model_parameters.output_prefix: “%s” is not allowed; put folders in working_dir"), config_file, prefix);
      return FALSE;
    }
  file = g_strconcat (prefix, ".onnx", NULL);
  paths->output = output != NULL ? g_strdup (output) : g_build_filename (folder, file, NULL);
  g_clear_pointer (&file, g_free);
  file = g_strconcat (prefix, "_report.md", NULL);
  paths->report = config->analyze ? g_build_filename (folder, file, NULL) : NULL;
  return TRUE;
}

/* The folder may be made later. */
static void
cmd_xquant_add_output (VnFileSet  *files,
                       const char *path,
                       const char *what)
{
  g_autofree char *folder = path != NULL ? g_path_get_dirname (path) : NULL;
  g_autofree char *name = path != NULL ? g_path_get_basename (path) : NULL;

  vn_file_set_writes_in (files, folder, name, what);
}

static VnFileSet *
cmd_xquant_list_files (const Paths *paths)
{
  VnFileSet *files = vn_cmd_new_files (paths->model);

  vn_file_set_reads (files, config_file, _("the configuration"));
  cmd_xquant_add_output (files, paths->output, _("the quantized model"));
  cmd_xquant_add_output (files, paths->report, _("the analysis"));
  return files;
}

static gboolean
cmd_xquant_make_folder (const char  *file,
                        GError     **error)
{
  g_autofree char *folder = g_path_get_dirname (file);

  return vn_file_make_folder (folder, error);
}

/* In the layout of XQuant, if there are errors to lay out. */
static VnReportModel *
cmd_xquant_make_report (VnRun *result)
{
  return vn_report_model_new (result, result->errors != NULL ? VN_REPORT_LAYOUT_XSLIM : VN_REPORT_LAYOUT_REPORT);
}

static gboolean
cmd_xquant_write_results (const Paths          *paths,
                          VnRun                *result,
                          const VnReportModel  *report,
                          GError              **error)
{
  g_autoptr(VnJob) export = vn_export_job_new (result, paths->output, NULL);

  if (paths->report != NULL && !vn_report_write (report, NULL, paths->report, error))
    return FALSE;
  /* The model comes last, when the analysis is complete and waits for its name. */
  vn_file_hold (FALSE);
  return vn_cmd_run_job (export, error);
}

/* Samples of the command line come first, then those of the configuration. */
static VnDataSpec *
cmd_xquant_make_data (VnConfig  *config,
                      VnModel   *model,
                      GError   **error)
{
  g_autoptr(VnDataSpec) spec = NULL;

  if (vn_cmd_options.data == NULL && !config->needs_samples && !vn_config_names_samples (config))
    {
      spec = vn_data_spec_new (VN_DATA_RANDOM);
      spec->max_samples = N_RANDOM;
    }
  else if (vn_cmd_options.data != NULL && config->inputs->len == 0)
    spec = vn_cmd_make_data_spec (error);
  else
    {
      spec = vn_config_make_data (config, model, vn_cmd_options.data, error);
      if (spec == NULL || !vn_cmd_complete_data_spec (spec, error))
        return NULL;
      vn_cmd_trust_scripts (spec, config_file);
    }
  if (spec != NULL)
    spec->held_out = 0;   /* XQuant calibrates on all samples */
  return g_steal_pointer (&spec);
}

static VnRun *
cmd_xquant_quantize (VnConfig    *config,
                     VnModel     *model,
                     VnDataSpec  *data,
                     GHashTable  *given,
                     GError     **error)
{
  g_autoptr(GHashTable) shapes = given != NULL ? g_hash_table_ref (given) : vn_config_make_shapes (config, model, error);
  VnQuantizeSettings settings = { .model = model, .data = data, .recipe = config->recipe, .input_shapes = shapes,
                                  .n_calibration = config->n_samples,
                                  .skip_compare = !config->analyze, .n_threads = (guint) vn_cmd_options.threads };
  g_autoptr(VnJob) job = vn_quantize_job_new (&settings);

  if (!vn_cmd_run_job (job, error))
    return NULL;
  return vn_run_ref (vn_quantize_job_get_result (job));
}

/* Of the configuration and of the run, in one list. */
static void
cmd_xquant_add_notes (VnNotes *notes,
                      VnNotes *more)
{
  for (guint i = 0; i < vn_notes_get_n (more); i++)
    {
      const VnNote *note = vn_notes_get (more, i);

      vn_notes_add_remedy (notes, note->level, note->code, note->subject, note->remedy, "%s", note->text);
    }
}

static void
cmd_xquant_print_result (JsonBuilder         *json,
                         const Paths         *paths,
                         VnConfig            *config,
                         VnRun               *result,
                         const VnReportModel *report)
{
  g_autofree char *before = vn_format_bytes_column (result->float_bytes);
  g_autofree char *after = vn_format_bytes_column (result->quantized_bytes);

  vn_cmd_print (_("%s: %s, was %s\n"), paths->output, after, before);
  vn_cmd_print_verdict (report);
  for (guint i = 0; result->errors != NULL && i < vn_error_table_get_n (result->errors); i++)
    {
      const VnErrorRow *row = vn_error_table_get (result->errors, i);
      g_autofree char *db = vn_format_db_column (row->sqnr_db);

      if (row->is_output)
        vn_cmd_print (_("  output %s: SQNR %s, cosine %.5f\n"), row->value, db, row->cosine);
    }
  if (paths->report != NULL)
    vn_cmd_print (_("%s: the analysis\n"), paths->report);
  vn_json_add_text (json, "output", paths->output);
  if (paths->report != NULL)
    {
      vn_json_add_text (json, "report", paths->report);
    }
  vn_cmd_json_verdict (json, report);
  cmd_xquant_add_notes (config->notes, result->notes);
  vn_cmd_json_notes (json, config->notes);
}

static VnConfig *
cmd_xquant_load_config (GError **error)
{
  g_autoptr(VnConfig) config = NULL;

  if (config_file == NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, _("-c is missing: specify the configuration"));
      return NULL;
    }
  config = vn_cmd_load_config (config_file, error);
  if (config == NULL)
    return NULL;
  if (g_str_equal (config->format, "xquant"))
    return g_steal_pointer (&config);
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s: not a configuration of XQuant or XSlim; use “quantize "
                                                        "--config” instead"),
               config_file);
  return NULL;
}

static gboolean
xquant_run (char        **args,
            JsonBuilder  *json,
            GError      **error)
{
  g_autoptr(VnConfig) config = cmd_xquant_load_config (error);
  g_auto(Paths) paths = { NULL };
  g_autoptr(VnFileSet) files = NULL;
  g_autoptr(VnDataSpec) data = NULL;
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnRun) result = NULL;
  g_autoptr(VnReportModel) report = NULL;

  if (config == NULL || !cmd_xquant_find_paths (config, &paths, error))
    return FALSE;
  files = cmd_xquant_list_files (&paths);
  if (!vn_file_set_check (files, error))
    return FALSE;
  model = vn_cmd_open_model_sized (paths.model, &shapes, error);
  if (model == NULL || !vn_config_bind (config, model, vn_cmd_options.data != NULL, error) ||
      (data = cmd_xquant_make_data (config, model, error)) == NULL)
    return FALSE;
  vn_model_add_files (model, files);
  vn_data_spec_add_files (data, files);
  vn_recipe_add_files (config->recipe, files);
  if (!vn_file_set_check (files, error))
    return FALSE;
  vn_cmd_print_notes (config->notes);
  result = cmd_xquant_quantize (config, model, data, shapes, error);
  if (result == NULL)
    return FALSE;
  vn_cmd_hold_files ();
  if (!cmd_xquant_make_folder (paths.output, error))
    return FALSE;
  report = cmd_xquant_make_report (result);
  if (!cmd_xquant_write_results (&paths, result, report, error))
    return FALSE;
  vn_cmd_print_run_notes (result->notes);
  cmd_xquant_print_result (json, &paths, config, result, report);
  return TRUE;
}

static const char * const common[] = { "config", "input", "output", "data", "samples", "preprocess", "shape", "engine", "threads",
                                       "json", NULL };

const VnCmd vn_cmd_xquant = {
  .name = "xquant",
  .usage = "-c CONFIG.json [-i MODEL] [-o FILE]",
  .summary = N_("Quantize with a configuration of XQuant or XSlim"),
  .options = entries,
  .common = common,
  .needs_data = TRUE,
  .n_args = 0,
  .run = xquant_run,
};
