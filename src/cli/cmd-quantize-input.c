/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What "quantize" works on: model or project, recipe, samples and statistics, as the options say; and the files of all that. */
#include "cmd-quantize.h"

#include "vn-cmd-project.h"
#include "vn-config.h"
#include "vn-export-job.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-ranks.h"
#include "vn-report.h"

static VnProject *
quantize_input_open_project (const char  *path,
                             GError     **error)
{
  g_autoptr(VnProject) project = vn_project_load (path, error);

  if (project == NULL || vn_quantize_options.config_file == NULL)
    return g_steal_pointer (&project);
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--config cannot be used with a project: specify the model"));
  return NULL;
}

/* What --config says, instead of a preset or a recipe; other options change what it says. Samples of the command line come
 * before those it names. */
static gboolean
quantize_input_use_config (VnModel     *model,
                           VnRecipe   **recipe,
                           VnDataSpec **data,
                           GError     **error)
{
  const VnQuantizeOptions *options = &vn_quantize_options;
  g_autoptr(VnConfig) config = NULL;

  if (options->preset != NULL || options->target != NULL || options->recipe_file != NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   _("--config cannot be combined with --preset, --target or --recipe"));
      return FALSE;
    }
  config = vn_cmd_load_config (options->config_file, error);
  if (config == NULL || !vn_config_bind (config, model, options->stats != NULL || vn_cmd_options.data != NULL, error) ||
      !vn_cmd_apply_settings (config->recipe, error) ||
      !vn_cmd_add_rules (config->recipe, options->rules, options->excludes, error))
    return FALSE;
  vn_cmd_print_notes (config->notes);
  vn_recipe_free (*recipe);
  *recipe = vn_recipe_copy (config->recipe);
  if (!vn_recipe_validate (*recipe, error))
    return FALSE;
  if (vn_cmd_options.data == NULL && (options->stats != NULL || (!config->needs_samples && !vn_config_names_samples (config))))
    return TRUE;
  if (config->inputs->len > 0)
    {
      g_clear_pointer (data, vn_data_spec_free);
      *data = vn_config_make_data (config, model, vn_cmd_options.data, error);
      if (*data != NULL &&
          (!vn_cmd_check_trust (*data, options->config_file, error) || !vn_cmd_complete_data_spec (*data, error)))
        return FALSE;
    }
  else if (*data == NULL)
    *data = vn_cmd_make_data_spec (error);
  if (*data == NULL)
    return FALSE;
  vn_cmd_hold_out (*data, 0);   /* as the tools do that configurations are of: they calibrate on all samples */
  return TRUE;
}

/* ---- files ---- */

/* What options and the project name, before the network is opened. */
static VnFileSet *
quantize_input_list_files (const char       *model,
                           const VnProject  *project,
                           const char       *path,
                           const char       *run)
{
  const VnQuantizeOptions *options = &vn_quantize_options;
  VnFileSet *files = vn_cmd_new_files (model);
  g_autofree char *kept = options->save_stats != NULL ? vn_rounding_dup_kept_path (options->save_stats) : NULL;

  if (project != NULL)
    vn_project_add_files (project, path, files);
  if (project != NULL && vn_file_check_target (path, NULL))
    vn_project_add_outputs (files, path, run, _("the result of the run"));
  vn_file_set_reads (files, options->recipe_file, _("the recipe"));
  vn_file_set_reads (files, options->config_file, _("the configuration"));
  for (char **at = options->stats; at != NULL && *at != NULL; at++)
    vn_file_set_reads (files, *at, _("a statistics file in use"));
  vn_file_set_writes (files, options->output, _("the quantized model"));
  vn_report_add_outputs (files, options->report);
  vn_file_set_writes (files, options->save_recipe, "--save-recipe");
  vn_file_set_writes (files, options->save_project, "--save-project");
  if (options->save_project != NULL)
    vn_project_add_outputs (files, options->save_project, run, "--save-project");
  vn_file_set_writes (files, options->export_script, "--export-script");
  vn_file_set_writes (files, options->export_xquant, "--export-xquant");
  vn_calibrate_add_outputs (files, options->save_stats, "--save-stats");
  vn_file_set_writes (files, kept, "--save-stats");
  return files;
}

/* As soon as the model is open: its weights are found out by that. */
static gboolean
quantize_input_check_files (const VnQuantizeInput  *self,
                            VnFileSet              *files,
                            GError                **error)
{
  const VnQuantizeOptions *options = &vn_quantize_options;
  const VnCmdKeep keep = { .save = options->save_project, .model = self->path };
  g_autoptr(VnProject) project = NULL;

  if (options->save_project != NULL)
    {
      project = vn_cmd_make_project (&keep, self->model, self->data, self->recipe, error);
      if (project == NULL)
        return FALSE;
      vn_project_add_files (project, NULL, files);
    }
  vn_model_add_files (self->model, files);
  vn_data_spec_add_files (self->data, files);
  vn_recipe_add_files (self->recipe, files);
  return vn_export_add_outputs (files, self->model, options->output, options->report, &self->write, error) &&
         vn_cmd_folder_add_outputs (&self->folder, self->model, files, error) && vn_file_set_check (files, error);
}

/* ---- samples and statistics ---- */

/* Where ranges come from: samples (@kept: (nullable): those of the project at @path), files of statistics, or a table of given
 * ones. */
static gboolean
quantize_input_check_sources (const VnRecipe    *recipe,
                              const VnDataSpec  *kept,
                              const char        *path,
                              VnDataSpec       **data,
                              GError           **error)
{
  const VnQuantizeOptions *options = &vn_quantize_options;
  const char *wrong = NULL;

  if (options->config_file != NULL && vn_cmd_options.data == NULL && options->stats == NULL && !options->resume)
    return TRUE;
  if (options->stats != NULL && options->save_stats != NULL)
    wrong = _("--save-stats cannot be combined with --stats: no statistics are collected from samples");
  else if (options->resume && options->save_stats == NULL)
    wrong = _("--resume requires --save-stats: the interrupted run saved its progress next to that file");
  if (wrong != NULL)
    {
      g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, wrong);
      return FALSE;
    }
  if (options->config_file != NULL)   /* which says how its samples are read */
    return TRUE;
  if (vn_cmd_options.data == NULL && (options->stats != NULL || recipe->ranges != NULL || !vn_recipe_needs_samples (recipe)) &&
      !(options->origins && kept != NULL))
    {
      if (options->origins)
        g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--origins needs samples: add --data"));
      return !options->origins;
    }
  *data = vn_cmd_take_data_spec (kept, path, error);
  if (*data == NULL)
    return FALSE;
  vn_cmd_hold_out (*data, (*data)->held_out);
  return TRUE;
}

/* Of several processes one looks at what is left of an interrupted run, and tells the others. */
static gboolean
quantize_input_resume (VnStats **base,
                       GError  **error)
{
  const VnQuantizeOptions *options = &vn_quantize_options;
  GError *reason = NULL;

  if (options->save_stats == NULL)
    return TRUE;
  if (vn_ranks_get_rank () == 0 && options->resume)
    vn_calibrate_resume (options->save_stats, base, &reason);
  else if (vn_ranks_get_rank () == 0 && vn_calibrate_clear_parts (options->save_stats, &reason))
    vn_cmd_clear_kept_rounding (options->save_stats, &reason);
  return vn_cmd_agree (reason, error) && vn_cmd_share_stats (base, error);
}

/* ---- all ---- */

/* Project, recipe and samples: what can be known before the model is opened. */
static gboolean
quantize_input_read_options (VnQuantizeInput  *self,
                             GError          **error)
{
  const VnQuantizeOptions *options = &vn_quantize_options;
  const char *preset = options->preset;

  self->path = self->given;
  if (vn_project_is_file (self->given))
    {
      self->project = quantize_input_open_project (self->given, error);
      if (self->project == NULL)
        return FALSE;
      self->path = self->project->model;
    }
  if (!vn_cmd_folder_open (&self->folder, &self->path, &vn_quantize_options.output, error))
    return FALSE;
  if (!vn_cmd_quantize_check_options (error))
    return FALSE;
  if (!vn_cmd_choose_target (&preset, options->target, options->wide, error))
    return FALSE;
  self->recipe = vn_cmd_make_recipe (self->project != NULL ? self->project->recipe : NULL, preset, options->recipe_file,
                                     options->rules, options->excludes, error);
  if (self->recipe == NULL ||
      !quantize_input_check_sources (self->recipe, self->project != NULL ? self->project->data : NULL, self->given, &self->data,
                                     error) ||
      !vn_cmd_fill_write_options (&self->write, error))
    return FALSE;
  if (options->output != NULL || options->report != NULL || vn_cmd_options.json)
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, _("-o is missing: specify where to write the "
                                                               "quantized model"));
  return FALSE;
}

/**
 * vn_quantize_input_open:
 * @self: (out caller-allocates): cleared by vn_quantize_input_clear(), also after an error
 * @given: a model, a project, or a folder of onnxruntime-genai; must outlive @self
 *
 * Reads what the options name, and checks that nothing of it would be written over.
 */
gboolean
vn_quantize_input_open (VnQuantizeInput  *self,
                        const char       *given,
                        GError          **error)
{
  g_autoptr(VnFileSet) files = NULL;

  g_return_val_if_fail (self != NULL && given != NULL, FALSE);

  *self = (VnQuantizeInput) { .given = given, .run = vn_project_run_make_id () };
  if (!quantize_input_read_options (self, error))
    return FALSE;
  files = quantize_input_list_files (self->path, self->project, given, self->run);
  if (!vn_file_set_check (files, error))
    return FALSE;
  self->model = vn_cmd_open_model_sized (self->path, &self->shapes, error);
  if (self->model != NULL && vn_quantize_options.config_file == NULL)   /* which says how its samples are read */
    vn_cmd_take_metadata (self->data, self->model);
  if (self->model == NULL ||
      (vn_quantize_options.config_file != NULL && !quantize_input_use_config (self->model, &self->recipe, &self->data, error)) ||
      !quantize_input_check_files (self, files, error) ||
      !quantize_input_resume (&self->base, error))
    return FALSE;
  if (self->project != NULL)
    self->shapes = vn_project_merge_sizes (self->project, g_steal_pointer (&self->shapes));
  return TRUE;
}

void
vn_quantize_input_clear (VnQuantizeInput *self)
{
  g_return_if_fail (self != NULL);

  vn_cmd_folder_clear (&self->folder);
  g_clear_pointer (&self->project, vn_project_free);
  g_clear_pointer (&self->run, g_free);
  g_clear_pointer (&self->model, vn_model_unref);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  g_clear_pointer (&self->data, vn_data_spec_free);
  g_clear_pointer (&self->shapes, g_hash_table_unref);
  g_clear_pointer (&self->base, vn_stats_unref);
}

/**
 * vn_quantize_input_note:
 * @notes: of the run, which get what there is to say of its samples and its project
 */
void
vn_quantize_input_note (const VnQuantizeInput *self,
                        VnNotes               *notes)
{
  g_return_if_fail (self != NULL && notes != NULL);

  if (self->data == NULL)
    vn_cmd_note_idle_data (notes, NULL, _("no samples are read"));
  else if (self->project != NULL && vn_cmd_options.data == NULL)
    vn_cmd_note_idle_kept (notes, self->data);
  if (self->project != NULL && !vn_project_is_about (self->project, self->model))
    vn_notes_add (notes, VN_NOTE_WARNING, "project", self->path,
                  _("The model changed since the project was saved: rules may refer to nodes that no longer exist"));
}
