/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are no models: projects, recipes, configurations of other quantizers, scripts. */
#include "vn-window-private.h"

#include "vn-compat.h"
#include "vn-config.h"
#include "vn-error.h"
#include "vn-export-settings.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-project-file.h"
#include "vn-settings-dialog.h"

#include <string.h>

/* ---- open ---- */

/* What the project says is taken over when its model is there. */
static void
window_files_project_model_ready (VnWindow *self)
{
  g_autoptr(VnProject) project = g_steal_pointer (&self->project);
  VnModel *model = vn_document_get_model (self->document);

  if (project == NULL || model == NULL || g_strcmp0 (model->path, project->model) != 0)
    return;
  vn_document_edit_recipe (self->document, vn_recipe_copy (project->recipe), _("Recipe of the project"));
  if (!vn_project_is_about (project, model))
    vn_window_toast (self, _("The model changed since the project was saved: rules may speak of nodes that are gone."), NULL, NULL);
  if (project->data == NULL)
    return;
  vn_document_set_n_samples (self->document, project->data->max_samples);
  /* Samples that run somebody's Python are opened when the user says so. */
  if (vn_project_runs_script (project))
    vn_window_toast (self, _("The samples of this project are prepared by a script: choose them anew to run it."), NULL, NULL);
  else
    vn_document_set_data (self->document, project->data);
}

/**
 * vn_window_open_project:
 * @path: of a project
 */
void
vn_window_open_project (VnWindow   *self,
                        const char *path)
{
  g_autoptr(GError) error = NULL;
  VnProject *project = vn_project_load (path, &error);

  if (project == NULL)
    {
      vn_window_toast_error (self, _("The project could not be opened"), error);
      return;
    }
  g_clear_pointer (&self->project, vn_project_free);
  self->project = project;
  vn_document_open (self->document, project->model);
}

static VnRecipe *
window_files_load_config (VnWindow    *self,
                          const char  *path,
                          GError     **error)
{
  g_autoptr(VnConfig) config = vn_config_load (path, error);

  if (config == NULL || !vn_config_bind (config, vn_document_get_model (self->document), TRUE, error))
    return NULL;
  return vn_recipe_copy (config->recipe);
}

/* A recipe says so of itself; anything else may be a configuration of another quantizer. */
static VnRecipe *
window_files_load_settings (VnWindow    *self,
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
  return window_files_load_config (self, path, error);
}

/**
 * vn_window_open_settings:
 * @path: of a recipe, or of a configuration of XQuant, XSlim, AMD's quantizers or ONNX Runtime
 *
 * Its settings and rules take the place of the present ones, as one step that can be undone.
 */
void
vn_window_open_settings (VnWindow   *self,
                         const char *path)
{
  g_autoptr(GError) error = NULL;
  VnRecipe *recipe;

  if (vn_document_get_model (self->document) == NULL)
    {
      vn_window_toast (self, _("Open a model first: a recipe needs one."), NULL, NULL);
      return;
    }
  recipe = window_files_load_settings (self, path, &error);
  if (recipe == NULL)
    {
      vn_window_toast_error (self, _("The recipe could not be opened"), error);
      return;
    }
  vn_document_edit_recipe (self->document, recipe, _("Recipe opened"));
  vn_window_toast (self, _("Recipe opened"), _("Undo"), "win.undo");
}

/* ---- save ---- */

static void
window_files_tell_saved (VnWindow     *self,
                         gboolean      ok,
                         const GError *error)
{
  if (ok)
    vn_window_toast (self, _("Saved"), NULL, NULL);
  else
    vn_window_toast_error (self, _("The file could not be saved"), error);
}

static void
window_files_save_project_chosen (GFile    *file,
                                  gpointer  data)
{
  VnWindow *self = data;
  VnModel *model = vn_document_get_model (self->document);
  g_autofree char *digest = vn_model_dup_digest (model);
  g_autoptr(VnProject) project = vn_project_new (model->path, digest, vn_document_get_data (self->document),
                                                 vn_document_get_recipe (self->document));
  g_autoptr(GError) error = NULL;

  if (project->data != NULL)
    project->data->max_samples = vn_document_get_n_samples (self->document);
  window_files_tell_saved (self, vn_project_save (project, g_file_peek_path (file), &error), error);
}

static void
window_files_save_recipe_chosen (GFile    *file,
                                 gpointer  data)
{
  VnWindow *self = data;
  g_autoptr(GError) error = NULL;

  window_files_tell_saved (self, vn_recipe_save (vn_document_get_recipe (self->document), g_file_peek_path (file), &error), error);
}

typedef char *(*TextFunc) (const VnRecipe *, const VnModel *, const char *, const VnDataSpec *, VnNotes *);

static void
window_files_save_text (VnWindow *self,
                        GFile    *file,
                        TextFunc  func)
{
  VnModel *model = vn_document_get_model (self->document);
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autofree char *text = func (vn_document_get_recipe (self->document), model, model->path,
                                vn_document_get_data (self->document), notes);
  g_autoptr(GError) error = NULL;
  gboolean ok = vn_file_write_all (g_file_peek_path (file), text, strlen (text), &error);
  g_autofree char *lost = NULL;

  if (!ok || vn_notes_get_n (notes) == 0)
    {
      window_files_tell_saved (self, ok, error);
      return;
    }
  lost = g_strdup_printf (_("Saved, but %s"), vn_notes_get (notes, 0)->text);
  vn_window_toast (self, lost, NULL, NULL);
}

static void
window_files_save_script_chosen (GFile    *file,
                                 gpointer  data)
{
  window_files_save_text (data, file, vn_recipe_to_ort_script);
}

static void
window_files_save_xquant_chosen (GFile    *file,
                                 gpointer  data)
{
  window_files_save_text (data, file, vn_recipe_to_xquant);
}

/* "detector.onnx" becomes "detector" and @ending. */
static char *
window_files_suggest_name (VnWindow   *self,
                           const char *ending)
{
  g_autofree char *title = vn_document_dup_title (self->document);

  if (g_str_has_suffix (title, ".onnx"))
    title[strlen (title) - strlen (".onnx")] = '\0';
  return g_strconcat (title, ending, NULL);
}

static void
window_files_action_save (GtkWidget  *widget,
                          const char *name,
                          GVariant   *parameter)
{
  static const struct { const char *id, *ending; VnChooseFunc chosen; } kinds[] = {
    { "project", VN_PROJECT_SUFFIX, window_files_save_project_chosen },
    { "recipe", ".recipe.json", window_files_save_recipe_chosen },
    { "script", "_quantize.py", window_files_save_script_chosen },
    { "xquant", ".xquant.json", window_files_save_xquant_chosen },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (kinds[i].id, g_variant_get_string (parameter, NULL)))
      {
        g_autofree char *suggestion = window_files_suggest_name (VN_WINDOW (widget), kinds[i].ending);

        vn_choose_file (widget, VN_CHOOSE_SAVE_OTHER, suggestion, kinds[i].chosen, widget, NULL);
      }
}

static void
window_files_settings_chosen (GFile    *file,
                              gpointer  data)
{
  if (g_file_peek_path (file) != NULL)
    vn_window_open_settings (data, g_file_peek_path (file));
}

static void
window_files_action_open_settings (GtkWidget  *widget,
                                   const char *name,
                                   GVariant   *parameter)
{
  vn_choose_file (widget, VN_CHOOSE_SETTINGS, NULL, window_files_settings_chosen, widget, NULL);
}

static void
window_files_action_all_settings (GtkWidget  *widget,
                                  const char *name,
                                  GVariant   *parameter)
{
  gtk_window_present (GTK_WINDOW (vn_settings_dialog_new (GTK_WINDOW (widget), VN_WINDOW (widget)->document)));
}

/**
 * vn_window_install_file_actions:
 */
void
vn_window_install_file_actions (GtkWidgetClass *klass)
{
  gtk_widget_class_install_action (klass, "win.save", "s", window_files_action_save);
  gtk_widget_class_install_action (klass, "win.open-settings", NULL, window_files_action_open_settings);
  gtk_widget_class_install_action (klass, "win.all-settings", NULL, window_files_action_all_settings);
}

/**
 * vn_window_update_file_actions:
 *
 * What speaks of a network needs one.
 */
void
vn_window_update_file_actions (VnWindow *self)
{
  VnModel *model = vn_document_get_model (self->document);

  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.save", model != NULL && model->path != NULL);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.open-settings", model != NULL);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.all-settings", model != NULL);
}

/**
 * vn_window_init_files:
 */
void
vn_window_init_files (VnWindow *self)
{
  g_signal_connect_object (self->document, "model-changed", G_CALLBACK (window_files_project_model_ready), self, G_CONNECT_SWAPPED);
}
