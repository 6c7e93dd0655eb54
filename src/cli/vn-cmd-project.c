/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps a run in the project that was given, and in the one that is asked for. */
#include "vn-cmd-project.h"

#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-shown.h"

/**
 * vn_cmd_make_project:
 *
 * Returns: (transfer full) (nullable): what is done, for the next time and for the window, with the runs of the project at
 *   @self.save that it replaces, and without samples that came on the standard input; errors of vn_project_keep_runs()
 */
VnProject *
vn_cmd_make_project (const VnCmdKeep   *self,
                     const VnModel     *model,
                     const VnDataSpec  *data,
                     const VnRecipe    *recipe,
                     GError           **error)
{
  g_autofree char *digest = NULL;
  g_autoptr(VnProject) project = NULL;

  g_return_val_if_fail (self != NULL && model != NULL && recipe != NULL, NULL);

  digest = vn_model_dup_digest (model);
  if (data != NULL && vn_file_is_standard_input (data->path))
    data = NULL;
  project = vn_project_new (self->model, digest, data, recipe);
  vn_project_set_sizes (project, self->sizes);
  return vn_project_keep_runs (project, self->save, error) ? g_steal_pointer (&project) : NULL;
}

static gboolean
cmd_project_add_run (const VnCmdKeep  *self,
                     VnProject        *project,
                     const char       *path,
                     VnRun            *result,
                     GError          **error)
{
  g_autoptr(VnRun) record = NULL;
  g_autoptr(VnProjectRun) run = NULL;
  g_autofree char *line = NULL;

  /* beside a device or a pipe there is no place for files */
  if (!g_file_test (path, G_FILE_TEST_EXISTS) || g_file_test (path, G_FILE_TEST_IS_REGULAR))
    {
      record = vn_run_without_networks (result);
      run = vn_project_run_new (self->run, record);
      vn_project_add_run (project, run);
    }
  if (!vn_project_save (project, path, error))
    return FALSE;
  if (run == NULL)
    return TRUE;
  line = vn_shown_printf (_("  saved as run %u of %s; “vernier-cli runs” lists all runs\n"), project->runs->len, path);
  g_string_append (self->lines, line);
  return TRUE;
}

static gboolean
cmd_project_save (const VnCmdKeep  *self,
                  VnRun            *result,
                  GError          **error)
{
  g_autoptr(VnProject) project = vn_cmd_make_project (self, result->source, result->data, result->recipe, error);

  return project != NULL && cmd_project_add_run (self, project, self->save, result, error);
}

/* The project may have changed while the network ran. What cannot be kept is no reason to fail: nobody asked for it. */
static void
cmd_project_keep_in_given (const VnCmdKeep *self,
                           VnRun           *result,
                           GError          *reason)
{
  g_autoptr(VnProject) project = NULL;
  g_autoptr(VnNotes) notes = NULL;

  if (reason == NULL && vn_file_check_target (self->given, &reason) && (project = vn_project_load (self->given, &reason)) != NULL)
    cmd_project_add_run (self, project, self->given, result, &reason);
  if (reason == NULL)
    return;
  notes = vn_notes_new ();
  vn_notes_add (notes, VN_NOTE_WARNING, "project", self->given, _("The run was not saved in the project: %s"), reason->message);
  vn_cmd_print_notes (notes);
  g_error_free (reason);
}

/**
 * vn_cmd_keep_run:
 *
 * Adds the run to both projects, which nobody else changes from here on until vn_cmd_end_files().
 *
 * Returns: %FALSE if it could not be kept in the one that is asked for, or Ctrl-C came
 */
gboolean
vn_cmd_keep_run (const VnCmdKeep  *self,
                 VnRun            *result,
                 GError          **error)
{
  GError *reason = NULL;

  g_return_val_if_fail (self != NULL && result != NULL, FALSE);

  if (self->save == NULL && self->given == NULL)
    return TRUE;
  if (!vn_cmd_lock_projects (self->save, self->given, &reason) &&
      (self->save != NULL || g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED)))
    {
      g_propagate_error (error, reason);
      return FALSE;
    }
  if (self->save != NULL && !cmd_project_save (self, result, error))
    return FALSE;
  if (self->given != NULL)
    cmd_project_keep_in_given (self, result, reason);
  return TRUE;
}
