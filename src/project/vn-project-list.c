/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of runs that a project keeps: adding, taking over, removing, and the files that belong to it. */
#include "vn-project-file.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <errno.h>
#include <glib/gstdio.h>

/**
 * vn_project_add_run:
 * @run: (transfer none): saved with the project, if it is not yet
 */
void
vn_project_add_run (VnProject    *self,
                    VnProjectRun *run)
{
  g_return_if_fail (self != NULL && run != NULL && vn_project_find_run (self, run->id) == NULL);

  g_ptr_array_add (self->runs, vn_project_run_ref (run));
}

static gboolean
project_list_is_same_model (const VnProject *a,
                            const VnProject *b)
{
  return g_str_equal (a->model, b->model) || (a->digest != NULL && g_strcmp0 (a->digest, b->digest) == 0);
}

/* What is at @path, if its runs can be taken over. */
static VnProject *
project_list_load_old (const VnProject  *self,
                       const char       *path,
                       GError          **error)
{
  g_autoptr(VnProject) old = vn_project_load (path, error);

  if (old == NULL)
    {
      g_prefix_error (error, _("The existing file would be overwritten and is not a readable project; choose another name. "));
      return NULL;
    }
  if (old->runs->len == 0 || project_list_is_same_model (self, old))
    return g_steal_pointer (&old);
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               ngettext ("“%s” has %u run of another model, which would be lost; choose another name",
                         "“%s” has %u runs of another model, which would be lost; choose another name", old->runs->len),
               path, old->runs->len);
  return NULL;
}

/**
 * vn_project_keep_runs:
 * @path: where the project will be saved
 *
 * Takes over the runs of the project that @self replaces.
 *
 * Returns: %FALSE if what is there is no project that can be read, or has runs of another model: they would be lost
 */
gboolean
vn_project_keep_runs (VnProject   *self,
                      const char  *path,
                      GError     **error)
{
  g_autoptr(VnProject) old = NULL;
  g_autoptr(GPtrArray) own = NULL;

  g_return_val_if_fail (self != NULL && path != NULL, FALSE);

  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return TRUE;
  old = project_list_load_old (self, path, error);
  if (old == NULL)
    return FALSE;
  own = g_steal_pointer (&self->runs);   /* come behind those that were there */
  self->runs = g_ptr_array_ref (old->runs);
  for (guint i = 0; i < own->len; i++)
    {
      VnProjectRun *run = g_ptr_array_index (own, i);

      if (vn_project_find_run (self, run->id) == NULL)
        vn_project_add_run (self, run);
    }
  return TRUE;
}

/**
 * vn_project_merge_runs:
 * @path: where the project will be saved once more
 * @removed: (nullable) (element-type VnProjectRun): those that are to go
 *
 * Takes over the runs that others have added to the file since; of those that both have, the lines of @self hold.
 *
 * Returns: %FALSE as for vn_project_keep_runs()
 */
gboolean
vn_project_merge_runs (VnProject   *self,
                       const char  *path,
                       GPtrArray   *removed,
                       GError     **error)
{
  g_autoptr(VnProject) old = NULL;

  g_return_val_if_fail (self != NULL && path != NULL, FALSE);

  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return TRUE;
  old = project_list_load_old (self, path, error);
  if (old == NULL)
    return FALSE;
  for (guint i = 0; i < old->runs->len; i++)
    {
      VnProjectRun *run = g_ptr_array_index (old->runs, i);

      if (vn_project_find_run (self, run->id) == NULL && (removed == NULL || vn_project_runs_find (removed, run->id) == NULL))
        vn_project_runs_insert (self->runs, vn_project_run_ref (run));
    }
  return TRUE;
}

/**
 * vn_project_run_remove_file:
 * @project: path of the project that listed the run
 * @removed: (out) (optional): whether there was a file of its own
 *
 * Removes the file of the run, unless it may belong to another project.
 *
 * Returns: %FALSE if it is left
 */
gboolean
vn_project_run_remove_file (const VnProjectRun *self,
                            const char         *project,
                            gboolean           *removed,
                            GError            **error)
{
  g_autofree char *folder = NULL;

  g_return_val_if_fail (self != NULL && project != NULL, FALSE);

  if (removed != NULL)
    *removed = FALSE;
  if (!vn_project_run_is_own (self, project) || !g_file_test (self->file, G_FILE_TEST_EXISTS))
    return TRUE;
  if (g_unlink (self->file) != 0)
    {
      int code = errno;

      g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), _("Cannot remove “%s”: %s"), self->file,
                   g_strerror (code));
      return FALSE;
    }
  folder = g_path_get_dirname (self->file);
  g_rmdir (folder);   /* if that was the last */
  if (removed != NULL)
    *removed = TRUE;
  return TRUE;
}

/**
 * vn_project_remove_run:
 * @path: of the project, which is saved
 * @file_removed: (out): whether the file of the run was removed: not if it may belong to another project, or is gone
 *
 * Returns: %FALSE if there is no such run, or something cannot be written; then the run is still in the list, or its file
 *   is left
 */
gboolean
vn_project_remove_run (VnProject   *self,
                       const char  *path,
                       const char  *id,
                       gboolean    *file_removed,
                       GError     **error)
{
  g_autoptr(VnProjectRun) run = NULL;
  VnProjectRun *found;

  g_return_val_if_fail (self != NULL && path != NULL && id != NULL && file_removed != NULL, FALSE);

  *file_removed = FALSE;
  found = vn_project_find_run (self, id);
  if (found == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: the project has no run “%s”; “vernier-cli runs” lists them"), path,
                   id);
      return FALSE;
    }
  run = vn_project_run_ref (found);
  g_ptr_array_remove (self->runs, found);
  if (!vn_project_save (self, path, error))
    return FALSE;
  return vn_project_run_remove_file (run, path, file_removed, error);
}

/* ---- files ---- */

/**
 * vn_project_add_files:
 * @path: (nullable): of the project, if that may not be replaced
 * @set: told the project and the files of its runs: none of them may be replaced
 */
void
vn_project_add_files (const VnProject *self,
                      const char      *path,
                      VnFileSet       *set)
{
  g_return_if_fail (self != NULL && set != NULL);

  vn_file_set_reads (set, path, _("the project"));
  for (guint i = 0; i < self->runs->len; i++)
    vn_file_set_reads (set, ((const VnProjectRun *) g_ptr_array_index (self->runs, i))->file, _("the result of a run"));
}

/**
 * vn_project_add_outputs:
 * @set: told what saving a new run writes beside the project
 * @path: of the project
 * @run: id of the run
 * @what: what says that it is written: “--save-project”
 */
void
vn_project_add_outputs (VnFileSet  *set,
                        const char *path,
                        const char *run,
                        const char *what)
{
  g_autofree char *file = NULL, *folder = NULL, *name = NULL;

  g_return_if_fail (set != NULL && path != NULL && run != NULL);

  file = vn_project_run_dup_own_path (run, path);
  folder = g_path_get_dirname (file);
  name = g_path_get_basename (file);
  vn_file_set_writes_in (set, folder, name, what);
}
