/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of a bench besides its model: projects, recipes, configurations of other quantizers, and scripts. */
#include "bench-private.h"

#include "vn-config.h"
#include "vn-error.h"
#include "vn-export-settings.h"
#include "vn-file.h"
#include "vn-i18n.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* ---- open ---- */

static void
bench_files_apply_data (VnBench         *self,
                        const VnProject *project)
{
  if (project->data == NULL)
    return;
  vn_bench_set_n_samples (self, project->data->max_samples);
  /* Samples that run somebody's Python are opened when the user says so. */
  if (vn_project_runs_script (project))
    vn_bench_report (self, _("The samples of this project are preprocessed by a script: choose them again to run it."));
  else
    vn_bench_set_data (self, project->data);
}

/* What the project says is taken over when its model is there. */
static void
bench_files_apply_project (VnBench *self)
{
  g_autoptr(VnProject) project = g_steal_pointer (&self->opening.project);
  g_autofree char *path = g_steal_pointer (&self->opening.path);
  g_autoptr(GError) error = NULL;

  if (!vn_keeper_take_place (self->keeper, path, &error))
    vn_bench_report_error (self, _("Changes will be saved to a copy"), error);
  vn_bench_edit_recipe (self, vn_recipe_copy (project->recipe), _("Recipe of the project"));
  vn_run_list_set (self->runs, project->runs);
  vn_bench_changed (self, VN_CHANGED_RUNS);
  if (!vn_project_is_about (project, self->subject->model))
    vn_bench_report (self, _("The model changed since the project was saved: some rules may refer to nodes that no "
                             "longer exist."));
  vn_bench_take_sizes (self, project->sizes);
  bench_files_apply_data (self, project);
  vn_bench_show_last_run (self);
  vn_keeper_settle (self->keeper);
}

/**
 * vn_bench_open_project:
 * @path: of a project
 * @model: (nullable): where its model is now; %NULL: where it was
 *
 * Reads the model of the project in the background, as vn_bench_open() does. Recipe and samples follow it.
 *
 * Returns: %FALSE if the project cannot be read; with %VN_ERROR_MISSING_DATA if its model is not there
 */
gboolean
vn_bench_open_project (VnBench     *self,
                       const char  *path,
                       const char  *model,
                       GError     **error)
{
  VnProject *project;

  g_return_val_if_fail (VN_IS_BENCH (self) && path != NULL, FALSE);

  project = vn_project_load (path, error);
  if (project == NULL)
    return FALSE;
  if (model == NULL && !g_file_test (project->model, G_FILE_TEST_EXISTS))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("The model of this project, “%s”, no longer exists."),
                   project->model);
      vn_project_free (project);
      return FALSE;
    }
  vn_bench_open (self, model != NULL ? model : project->model);
  self->opening.project = project;
  self->opening.path = g_strdup (path);
  self->opening.then = bench_files_apply_project;
  return TRUE;
}

/**
 * vn_bench_is_opening_project:
 *
 * Returns: whether the model that is on its way, or has just come, is that of a project
 */
gboolean
vn_bench_is_opening_project (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  return self->opening.project != NULL;
}

static VnRecipe *
bench_files_load_config (VnBench     *self,
                         const char  *path,
                         GError     **error)
{
  g_autoptr(VnConfig) config = vn_config_load (path, error);

  if (config == NULL || !vn_config_bind (config, self->subject->model, TRUE, error))
    return NULL;
  return vn_recipe_copy (config->recipe);
}

/* A recipe says so of itself; anything else may be a configuration of another quantizer. */
static VnRecipe *
bench_files_load_settings (VnBench     *self,
                           const char  *path,
                           GError     **error)
{
  g_autoptr(GError) reason = NULL;
  VnRecipe *recipe = vn_recipe_load (path, &reason);

  if (recipe != NULL || !g_error_matches (reason, VN_ERROR, VN_ERROR_MALFORMED))
    {
      if (recipe == NULL)
        g_propagate_error (error, g_steal_pointer (&reason));
      return recipe;
    }
  return bench_files_load_config (self, path, error);
}

/**
 * vn_bench_open_settings:
 * @path: of a recipe, or of a configuration of XQuant, XSlim, AMD's quantizers or ONNX Runtime
 * @error: return location
 *
 * Its settings and rules take the place of the present ones, as one step that can be undone. A model must be open.
 *
 * Returns: %FALSE if they cannot be read; all stays as it is
 */
gboolean
vn_bench_open_settings (VnBench     *self,
                        const char  *path,
                        GError     **error)
{
  VnRecipe *recipe;

  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);
  g_return_val_if_fail (self->subject->model != NULL, FALSE);
  g_return_val_if_fail (path != NULL, FALSE);

  recipe = bench_files_load_settings (self, path, error);
  if (recipe == NULL)
    return FALSE;
  vn_bench_edit_recipe (self, recipe, _("Recipe opened"));
  return TRUE;
}

/* ---- save ---- */

/* Runs of a project that is there stay in its list. */
static gboolean
bench_files_save_project (VnBench     *self,
                          const char  *path,
                          VnNotes     *notes,
                          GError     **error)
{
  return vn_bench_save_project (self, path, error);
}

static gboolean
bench_files_save_recipe (VnBench     *self,
                         const char  *path,
                         VnNotes     *notes,
                         GError     **error)
{
  return vn_recipe_save (self->recipe, path, error);
}

static gboolean
bench_files_save_script (VnBench     *self,
                         const char  *path,
                         VnNotes     *notes,
                         GError     **error)
{
  g_autofree char *text = vn_recipe_to_ort_script (self->recipe, self->subject->model, self->subject->model->path,
                                                   self->subject->data, vn_bench_get_run_notes (self), notes);

  return vn_file_write_all (path, text, strlen (text), error);
}

static gboolean
bench_files_save_xquant (VnBench     *self,
                         const char  *path,
                         VnNotes     *notes,
                         GError     **error)
{
  g_autofree char *text = vn_recipe_to_xquant (self->recipe, self->subject->model, self->subject->model->path,
                                               self->subject->data, vn_bench_get_run_notes (self), notes);

  return vn_file_write_all (path, text, strlen (text), error);
}

typedef struct
{
  const char *id, *ending;
  gboolean  (*save) (VnBench *self, const char *path, VnNotes *notes, GError **error);
} SaveKind;

static const SaveKind *
bench_files_find_kind (const char *id)
{
  static const SaveKind kinds[] = {
    { "project", VN_PROJECT_SUFFIX, bench_files_save_project },
    { "recipe", ".recipe.json", bench_files_save_recipe },
    { "script", "_quantize.py", bench_files_save_script },
    { "xquant", ".xquant.json", bench_files_save_xquant },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (kinds[i].id, id))
      return &kinds[i];
  return NULL;
}

/**
 * vn_bench_get_save_ending:
 *
 * Returns: (nullable): what the names of such files end with; %NULL: there is no such kind
 */
const char *
vn_bench_get_save_ending (const char *kind)
{
  g_return_val_if_fail (kind != NULL, NULL);

  return bench_files_find_kind (kind) != NULL ? bench_files_find_kind (kind)->ending : NULL;
}

/**
 * vn_bench_dup_folder:
 *
 * Returns: (transfer full): where files that are made of the model are proposed to go: beside it, or beside the folder of a
 *   language model, where that can be written, else to the documents
 */
char *
vn_bench_dup_folder (VnBench *self)
{
  const char *documents = g_get_user_special_dir (G_USER_DIRECTORY_DOCUMENTS);
  g_autofree char *beside = NULL;

  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  beside = self->folder != NULL ? g_path_get_dirname (self->folder->path)
           : self->subject->model != NULL && self->subject->model->path != NULL
           ? g_path_get_dirname (self->subject->model->path) : NULL;
  if (beside != NULL && g_access (beside, W_OK) == 0)
    return g_steal_pointer (&beside);
  return g_strdup (documents != NULL ? documents : g_get_home_dir ());
}

/**
 * vn_bench_dup_file_path:
 * @ending: what follows the model's name: "-quantized.onnx"
 *
 * Returns: (transfer full): where such a file is proposed to go
 */
char *
vn_bench_dup_file_path (VnBench    *self,
                        const char *ending)
{
  g_autofree char *folder = NULL, *name = NULL;

  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  folder = vn_bench_dup_folder (self);
  name = vn_bench_dup_file_name (self, ending);
  return g_build_filename (folder, name, NULL);
}

/**
 * vn_bench_dup_save_path:
 * @kind: "project", "recipe", "script" (Python for ONNX Runtime) or "xquant"
 *
 * Returns: (transfer full): where such a file is proposed to go: "/home/ada/detector.recipe.json"
 */
char *
vn_bench_dup_save_path (VnBench    *self,
                        const char *kind)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);
  g_return_val_if_fail (kind != NULL && bench_files_find_kind (kind) != NULL, NULL);

  return vn_bench_dup_file_path (self, bench_files_find_kind (kind)->ending);
}

/**
 * vn_bench_save:
 * @kind: as for vn_bench_dup_save_path()
 * @path: of the file
 * @notes: takes what such a file cannot say
 * @error: return location
 *
 * Writes what was decided. There must be a model that comes from a file.
 *
 * Returns: %FALSE if the file could not be written
 */
gboolean
vn_bench_save (VnBench     *self,
               const char  *kind,
               const char  *path,
               VnNotes     *notes,
               GError     **error)
{
  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);
  g_return_val_if_fail (self->subject->model != NULL && self->subject->model->path != NULL, FALSE);
  g_return_val_if_fail (kind != NULL && bench_files_find_kind (kind) != NULL, FALSE);
  g_return_val_if_fail (path != NULL, FALSE);
  g_return_val_if_fail (notes != NULL, FALSE);

  return bench_files_find_kind (kind)->save (self, path, notes, error);
}
