/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of a document besides its model: projects, recipes, configurations of other quantizers and scripts, and the demo. */
#include "vn-document-private.h"

#include "vn-config.h"
#include "vn-error.h"
#include "vn-export-settings.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-places.h"
#include "vn-settings.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* ---- open ---- */

static void
document_files_apply_data (VnDocument      *self,
                           const VnProject *project)
{
  if (project->data == NULL)
    return;
  vn_document_set_n_samples (self, project->data->max_samples);
  /* Samples that run somebody's Python are opened when the user says so. */
  if (vn_project_runs_script (project))
    vn_document_tell (self, _("The samples of this project are preprocessed by a script: choose them again to run it."));
  else
    vn_document_set_data (self, project->data);
}

/* What the project says is taken over when its model is there. */
static void
document_files_apply_project (VnDocument *self)
{
  g_autoptr(VnProject) project = g_steal_pointer (&self->project);
  g_autofree char *path = g_steal_pointer (&self->opening);
  g_autoptr(GError) error = NULL;

  if (!vn_document_take_place (self, path, &error))
    g_signal_emit (self, vn_document_signals[VN_SIGNAL_FAILED], 0, _("Changes will be saved to a copy"), error);
  vn_document_edit_recipe (self, vn_recipe_copy (project->recipe), _("Recipe of the project"));
  vn_document_set_runs (self, project->runs);
  if (!vn_project_is_about (project, self->model))
    vn_document_tell (self, _("The model changed since the project was saved: some rules may refer to nodes that no "
                              "longer exist."));
  vn_document_take_sizes (self, project->sizes);
  document_files_apply_data (self, project);
  vn_document_show_last_run (self);
  self->kept_changes = self->changes;
}


/**
 * vn_document_open_project:
 * @path: of a project
 * @model: (nullable): where its model is now; %NULL: where it was
 * @error: return location
 *
 * Reads the model of the project in the background, as vn_document_open() does. Recipe and samples follow it.
 *
 * Returns: %FALSE if the project cannot be read; with %VN_ERROR_MISSING_DATA if its model is not there
 */
gboolean
vn_document_open_project (VnDocument  *self,
                          const char  *path,
                          const char  *model,
                          GError     **error)
{
  VnProject *project;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);
  g_return_val_if_fail (path != NULL, FALSE);

  project = vn_project_load (path, error);
  if (project == NULL)
    return FALSE;
  if (model == NULL && !g_file_test (project->model, G_FILE_TEST_EXISTS))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("The model of this project, “%s”, no longer exists."), project->model);
      vn_project_free (project);
      return FALSE;
    }
  vn_document_open (self, model != NULL ? model : project->model);
  self->project = project;
  self->opening = g_strdup (path);
  self->opened = document_files_apply_project;
  return TRUE;
}

/**
 * vn_document_is_opening_project:
 *
 * Returns: whether the model that is on its way, or has just come, is that of a project
 */
gboolean
vn_document_is_opening_project (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  return self->project != NULL;
}

static VnRecipe *
document_files_load_config (VnDocument  *self,
                            const char  *path,
                            GError     **error)
{
  g_autoptr(VnConfig) config = vn_config_load (path, error);

  if (config == NULL || !vn_config_bind (config, self->model, TRUE, error))
    return NULL;
  return vn_recipe_copy (config->recipe);
}

/* A recipe says so of itself; anything else may be a configuration of another quantizer. */
static VnRecipe *
document_files_load_settings (VnDocument  *self,
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
  return document_files_load_config (self, path, error);
}

/**
 * vn_document_open_settings:
 * @path: of a recipe, or of a configuration of XQuant, XSlim, AMD's quantizers or ONNX Runtime
 * @error: return location
 *
 * Its settings and rules take the place of the present ones, as one step that can be undone. A model must be open.
 *
 * Returns: %FALSE if they cannot be read; all stays as it is
 */
gboolean
vn_document_open_settings (VnDocument  *self,
                           const char  *path,
                           GError     **error)
{
  VnRecipe *recipe;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);
  g_return_val_if_fail (self->model != NULL, FALSE);
  g_return_val_if_fail (path != NULL, FALSE);

  recipe = document_files_load_settings (self, path, error);
  if (recipe == NULL)
    return FALSE;
  vn_document_edit_recipe (self, recipe, _("Recipe opened"));
  return TRUE;
}

/**
 * vn_document_use_folder:
 * @path: a folder of samples
 *
 * Takes the samples from there, prepared as the present ones.
 */
void
vn_document_use_folder (VnDocument *self,
                        const char *path)
{
  g_autoptr(VnDataSpec) data = NULL;

  g_return_if_fail (VN_IS_DOCUMENT (self));
  g_return_if_fail (path != NULL);

  data = self->data != NULL ? vn_data_spec_copy (self->data) : vn_data_spec_new (path);
  if (self->data == NULL)
    data->held_out = vn_settings_get_int ("held-out", VN_HELD_OUT_USUAL);
  g_free (data->path);
  data->path = g_strdup (path);
  vn_document_set_data (self, data);
}

/* ---- the demo ---- */

static void
document_files_quantize_demo (VnDocument *self)
{
  g_autofree char *folder = vn_demo_find ();
  g_autofree char *samples = folder != NULL ? g_build_filename (folder, "samples", NULL) : NULL;
  g_autoptr(VnDataSpec) data = NULL;
  g_autoptr(GError) error = NULL;

  if (samples == NULL || !g_file_test (samples, G_FILE_TEST_IS_DIR))
    return;
  data = vn_data_spec_new (samples);
  vn_preprocess_set_preset (&data->preprocess, "minus-one-one", NULL);
  vn_document_set_data (self, data);
  if (!vn_document_quantize (self, &error))
    g_signal_emit (self, vn_document_signals[VN_SIGNAL_FAILED], 0, _("The demo could not be quantized"), error);
}

/**
 * vn_document_open_demo:
 *
 * Opens the demo's model, and quantizes it on its samples when it is there.
 *
 * Returns: %FALSE if there is no demo
 */
gboolean
vn_document_open_demo (VnDocument *self)
{
  g_autofree char *folder = vn_demo_find ();
  g_autofree char *path = folder != NULL ? g_build_filename (folder, "demo.onnx", NULL) : NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  if (path == NULL)
    return FALSE;
  vn_document_open (self, path);
  self->opened = document_files_quantize_demo;
  self->is_demo = TRUE;
  return TRUE;
}

/**
 * vn_document_is_demo:
 *
 * Returns: whether what was opened last is the demo
 */
gboolean
vn_document_is_demo (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  return self->is_demo;
}

/* ---- save ---- */

/* Runs of a project that is there stay in its list. */
static gboolean
document_files_save_project (VnDocument  *self,
                             const char  *path,
                             VnNotes     *notes,
                             GError     **error)
{
  return vn_document_save_project (self, path, error);
}

static gboolean
document_files_save_recipe (VnDocument  *self,
                            const char  *path,
                            VnNotes     *notes,
                            GError     **error)
{
  return vn_recipe_save (self->recipe, path, error);
}

static gboolean
document_files_save_script (VnDocument  *self,
                            const char  *path,
                            VnNotes     *notes,
                            GError     **error)
{
  g_autofree char *text = vn_recipe_to_ort_script (self->recipe, self->model, self->model->path, self->data, vn_document_get_run_notes (self), notes);

  return vn_file_write_all (path, text, strlen (text), error);
}

static gboolean
document_files_save_xquant (VnDocument  *self,
                            const char  *path,
                            VnNotes     *notes,
                            GError     **error)
{
  g_autofree char *text = vn_recipe_to_xquant (self->recipe, self->model, self->model->path, self->data, vn_document_get_run_notes (self), notes);

  return vn_file_write_all (path, text, strlen (text), error);
}

typedef struct
{
  const char *id, *ending;
  gboolean  (*save) (VnDocument *self, const char *path, VnNotes *notes, GError **error);
} SaveKind;

static const SaveKind *
document_files_find_kind (const char *id)
{
  static const SaveKind kinds[] = {
    { "project", VN_PROJECT_SUFFIX, document_files_save_project },
    { "recipe", ".recipe.json", document_files_save_recipe },
    { "script", "_quantize.py", document_files_save_script },
    { "xquant", ".xquant.json", document_files_save_xquant },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (kinds[i].id, id))
      return &kinds[i];
  return NULL;
}

/**
 * vn_document_get_save_ending:
 *
 * Returns: (nullable): what the names of such files end with; %NULL: there is no such kind
 */
const char *
vn_document_get_save_ending (const char *kind)
{
  g_return_val_if_fail (kind != NULL, NULL);

  return document_files_find_kind (kind) != NULL ? document_files_find_kind (kind)->ending : NULL;
}

/**
 * vn_document_dup_folder:
 *
 * Returns: (transfer full): where files that are made of the model are proposed to go: beside it, where that can be written, else to the
 *   documents
 */
char *
vn_document_dup_folder (VnDocument *self)
{
  const char *documents = g_get_user_special_dir (G_USER_DIRECTORY_DOCUMENTS);
  g_autofree char *beside = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  beside = self->model != NULL && self->model->path != NULL ? g_path_get_dirname (self->model->path) : NULL;
  if (beside != NULL && g_access (beside, W_OK) == 0)
    return g_steal_pointer (&beside);
  return g_strdup (documents != NULL ? documents : g_get_home_dir ());
}

/**
 * vn_document_dup_file_path:
 * @ending: what follows the model's name: "-quantized.onnx"
 *
 * Returns: (transfer full): where such a file is proposed to go
 */
char *
vn_document_dup_file_path (VnDocument *self,
                           const char *ending)
{
  g_autofree char *folder = NULL, *name = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  folder = vn_document_dup_folder (self);
  name = vn_document_dup_file_name (self, ending);
  return g_build_filename (folder, name, NULL);
}

/**
 * vn_document_dup_save_path:
 * @kind: "project", "recipe", "script" (Python for ONNX Runtime) or "xquant"
 *
 * Returns: (transfer full): where such a file is proposed to go: "/home/ada/detector.recipe.json"
 */
char *
vn_document_dup_save_path (VnDocument *self,
                           const char *kind)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);
  g_return_val_if_fail (kind != NULL && document_files_find_kind (kind) != NULL, NULL);

  return vn_document_dup_file_path (self, document_files_find_kind (kind)->ending);
}

/**
 * vn_document_save:
 * @kind: as for vn_document_dup_save_path()
 * @path: of the file
 * @notes: takes what such a file cannot say
 * @error: return location
 *
 * Writes what was decided. There must be a model that comes from a file.
 *
 * Returns: %FALSE if the file could not be written
 */
gboolean
vn_document_save (VnDocument  *self,
                  const char  *kind,
                  const char  *path,
                  VnNotes     *notes,
                  GError     **error)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);
  g_return_val_if_fail (self->model != NULL && self->model->path != NULL, FALSE);
  g_return_val_if_fail (kind != NULL && document_files_find_kind (kind) != NULL, FALSE);
  g_return_val_if_fail (path != NULL, FALSE);
  g_return_val_if_fail (notes != NULL, FALSE);

  return document_files_find_kind (kind)->save (self, path, notes, error);
}
