/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drafts: projects without a name of the user's, and a lock for each that the system releases when the program ends. */
#include "vn-draft.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_SUFFIX ".lock"

struct _VnDraft
{
  char            *path, *lock_path;
  int              lock;     /* file descriptor */
  gatomicrefcount  ref;
};

/**
 * vn_drafts_dup_folder:
 *
 * Returns: (transfer full): where the program keeps drafts; it may not be there yet
 */
char *
vn_drafts_dup_folder (void)
{
  return g_build_filename (g_get_user_state_dir (), "vernier", "drafts", NULL);
}

/**
 * vn_drafts_have:
 *
 * Returns: whether @path is that of a draft in @folder
 */
gboolean
vn_drafts_have (const char *folder,
                const char *path)
{
  g_autofree char *whole = NULL, *parent = NULL, *drafts = NULL;

  g_return_val_if_fail (folder != NULL && path != NULL, FALSE);

  whole = g_canonicalize_filename (path, NULL);
  parent = g_path_get_dirname (whole);
  drafts = g_canonicalize_filename (folder, NULL);
  return g_str_equal (parent, drafts) && vn_project_is_file (path);
}

/* The last call of the system failed. */
static gboolean
draft_fail (const char  *path,
            GError     **error)
{
  int code = errno;

  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), _("Cannot back up unsaved changes to “%s”: %s"), path,
               g_strerror (code));
  return FALSE;
}

static gboolean
draft_fail_remove (const char  *path,
                   GError     **error)
{
  int code = errno;

  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), _("Cannot remove “%s”: %s"), path, g_strerror (code));
  return FALSE;
}

/* Somebody may remove the file of the lock between open and lock: then it locks nothing. */
static gboolean
draft_lock (VnDraft  *self,
            GError  **error)
{
  for (guint i = 0; i < 10; i++)
    {
      struct stat held, there;

      self->lock = g_open (self->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      if (self->lock < 0)
        return draft_fail (self->lock_path, error);
      if (flock (self->lock, LOCK_EX | LOCK_NB) != 0)
        break;
      if (fstat (self->lock, &held) == 0 && stat (self->lock_path, &there) == 0 && held.st_ino == there.st_ino)
        return TRUE;
      close (self->lock);
      self->lock = -1;
    }
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s” is already open in another window"), self->path);
  return FALSE;
}

static VnDraft *
draft_take (const char  *path,
            GError     **error)
{
  g_autoptr(VnDraft) self = g_new0 (VnDraft, 1);

  g_atomic_ref_count_init (&self->ref);
  self->path = g_strdup (path);
  self->lock_path = g_strconcat (path, LOCK_SUFFIX, NULL);
  self->lock = -1;
  return draft_lock (self, error) ? g_steal_pointer (&self) : NULL;
}

/**
 * vn_draft_new:
 * @folder: is made if it is not there
 *
 * Returns: (transfer full) (nullable): a place for a draft, with no file yet; %NULL if nothing can be written in @folder
 */
VnDraft *
vn_draft_new (const char  *folder,
              GError     **error)
{
  g_autofree char *id = NULL, *name = NULL, *path = NULL;

  g_return_val_if_fail (folder != NULL, NULL);

  if (g_mkdir_with_parents (folder, 0700) != 0)
    {
      draft_fail (folder, error);
      return NULL;
    }
  id = vn_project_run_make_id ();
  name = g_strconcat (id, VN_PROJECT_SUFFIX, NULL);
  path = g_build_filename (folder, name, NULL);
  return draft_take (path, error);
}

/**
 * vn_draft_open:
 * @path: of the draft
 *
 * Returns: (transfer full) (nullable): the draft; %NULL if somebody works on it already
 */
VnDraft *
vn_draft_open (const char  *path,
               GError     **error)
{
  g_return_val_if_fail (path != NULL, NULL);

  return draft_take (path, error);
}

VnDraft *
vn_draft_ref (VnDraft *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/**
 * vn_draft_unref:
 *
 * Whoever gives up a draft last lets others open it. Where nothing was saved nothing is left.
 */
void
vn_draft_unref (VnDraft *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  if (self->lock >= 0)
    {
      if (!g_file_test (self->path, G_FILE_TEST_EXISTS))
        g_unlink (self->lock_path);
      close (self->lock);
    }
  g_free (self->path);
  g_free (self->lock_path);
  g_free (self);
}

const char *
vn_draft_get_path (VnDraft *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->path;
}

static gboolean
draft_remove_runs (VnDraft  *self,
                   GError  **error)
{
  g_autofree char *folder = g_strconcat (self->path, VN_PROJECT_RUNS_SUFFIX, NULL);
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  if (dir == NULL)
    return TRUE;
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (g_unlink (path) != 0)
        return draft_fail_remove (path, error);
    }
  return g_rmdir (folder) == 0 || draft_fail_remove (folder, error);
}

/**
 * vn_draft_discard:
 *
 * Removes the files of the draft.
 *
 * Returns: %FALSE if some of them are left
 */
gboolean
vn_draft_discard (VnDraft  *self,
                  GError  **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (g_unlink (self->path) != 0 && errno != ENOENT)
    return draft_fail_remove (self->path, error);
  return draft_remove_runs (self, error);
}

/* ---- all of them ---- */

static int
draft_compare_newest (gconstpointer a,
                      gconstpointer b)
{
  return -g_strcmp0 (*(char * const *) a, *(char * const *) b);   /* names begin with the time */
}

/**
 * vn_drafts_list:
 *
 * Returns: (transfer container) (element-type filename): paths of the drafts in @folder that nobody works on, newest first
 */
GPtrArray *
vn_drafts_list (const char *folder)
{
  g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GDir) dir = NULL;
  const char *name;

  g_return_val_if_fail (folder != NULL, NULL);

  dir = g_dir_open (folder, 0, NULL);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autoptr(VnDraft) draft = vn_project_is_file (path) ? draft_take (path, NULL) : NULL;

      if (draft != NULL)
        g_ptr_array_add (paths, g_steal_pointer (&path));
    }
  g_ptr_array_sort (paths, draft_compare_newest);
  return g_steal_pointer (&paths);
}
