/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves a project a moment after it has changed. All files are written by one thread, in the order in which they were asked
 * for. */
#include "vn-keeper.h"

#include "vn-draft.h"
#include "vn-file-lock.h"

#define DELAY_MS 1000
#define LOCK_SECONDS 5

struct _VnKeeper
{
  GObject             *owner;           /* borrowed; NULL: it is gone */
  const VnKeeperFuncs *funcs;

  char    *path;                        /* nullable: the file of the user */
  VnDraft *draft;                       /* nullable: where the work is kept until there is such a file */
  char    *digest;                      /* nullable: of the model, if it is known */
  guint    source;                      /* timeout */
  guint    changes, kept_changes;
  guint    serial;                      /* another for each project */
  guint    n_keeping;                   /* writings that are on their way */
  gboolean has_failed;                  /* and that was reported */
};

/**
 * Keeping: a project on its way to a file. All but @keeper and @error is the thread's until that is done with it.
 * @from: (nullable): of the project that keeps the runs, if that is another
 * @is_last: nothing is written behind it: removed runs lose their files
 * @ended: @error is there; under the lock of the keeper
 */
typedef struct
{
  VnKeeper *keeper;
  GObject  *owner;
  guint     serial, changes;
  VnSaving    kept;
  char     *digest;
  VnDraft  *draft;
  char     *path, *from;
  gboolean  is_last;
  gboolean  ended;
  GError   *error;
} Keeping;

static GMutex keeper_lock;
static GCond keeper_ended;

static void
keeper_clear (gpointer data)
{
  VnKeeper *self = data;

  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->draft, vn_draft_unref);
  g_clear_pointer (&self->digest, g_free);
}

static void
keeper_free_keeping (Keeping *self)
{
  if (self->keeper != NULL)
    g_rc_box_release_full (self->keeper, keeper_clear);
  g_clear_object (&self->owner);
  g_clear_pointer (&self->kept.model, vn_model_unref);
  g_clear_pointer (&self->kept.project, vn_project_free);
  g_clear_pointer (&self->kept.records, g_ptr_array_unref);
  g_clear_pointer (&self->kept.removed, g_ptr_array_unref);
  g_clear_pointer (&self->draft, vn_draft_unref);
  g_clear_error (&self->error);
  g_free (self->digest);
  g_free (self->path);
  g_free (self->from);
  g_free (self);
}

/**
 * vn_keeper_new:
 * @owner: what the functions are called with; it is kept alive while something is written
 *
 * Returns: (transfer full): of a project that has no file
 */
VnKeeper *
vn_keeper_new (GObject             *owner,
               const VnKeeperFuncs *funcs)
{
  VnKeeper *self;

  g_return_val_if_fail (G_IS_OBJECT (owner) && funcs != NULL, NULL);

  self = g_rc_box_new0 (VnKeeper);
  self->owner = owner;
  self->funcs = funcs;
  return self;
}

/**
 * vn_keeper_free:
 * @self: (nullable):
 */
void
vn_keeper_free (VnKeeper *self)
{
  if (self == NULL)
    return;
  g_clear_handle_id (&self->source, g_source_remove);
  self->owner = NULL;
  g_rc_box_release_full (self, keeper_clear);
}

/* ---- on the thread ---- */

static gboolean
keeper_fetch_runs (Keeping  *self,
                   GError  **error)
{
  for (guint i = 0; self->from != NULL && i < self->kept.project->runs->len; i++)
    if (!vn_project_run_fetch (g_ptr_array_index (self->kept.project->runs, i), self->from, error))
      return FALSE;
  return TRUE;
}

static gboolean
keeper_clear_removed (Keeping  *self,
                      GError  **error)
{
  for (guint i = 0; self->is_last && i < self->kept.removed->len; i++)
    if (!vn_project_run_remove_file (g_ptr_array_index (self->kept.removed, i), self->path, NULL, error))
      return FALSE;
  return TRUE;
}

static gboolean
keeper_write (Keeping  *self,
              GError  **error)
{
  const char *paths[] = { self->path, NULL };
  VnProject *project = self->kept.project;
  g_autoptr(VnFileLock) lock = NULL;

  if (self->digest == NULL)
    self->digest = vn_model_dup_digest (self->kept.model);
  lock = vn_file_lock_new (paths, LOCK_SECONDS, NULL);     /* who waits longer would lose more */
  g_free (project->digest);
  project->digest = g_strdup (self->digest);
  return keeper_fetch_runs (self, error) && vn_project_merge_runs (project, self->path, self->kept.removed, error) &&
         vn_project_save (project, self->path, error) && keeper_clear_removed (self, error);
}

static gboolean keeper_kept (gpointer data);

static void
keeper_keep_on_thread (gpointer data,
                       gpointer user_data)
{
  Keeping *self = data;
  GError *error = NULL;

  keeper_write (self, &error);
  g_mutex_lock (&keeper_lock);
  self->error = error;
  self->ended = TRUE;
  g_cond_broadcast (&keeper_ended);
  g_mutex_unlock (&keeper_lock);
  g_idle_add (keeper_kept, self);
}

static GThreadPool *
keeper_get_pool (void)
{
  static GThreadPool *pool;

  if (pool == NULL)
    pool = g_thread_pool_new (keeper_keep_on_thread, NULL, 1, FALSE, NULL);
  return pool;
}

/* ---- what it comes back with ---- */

static void
keeper_take_kept (VnKeeper *self,
                  Keeping  *keeping)
{
  if (self->digest == NULL)
    self->digest = g_strdup (keeping->digest);
  self->kept_changes = keeping->changes;
  self->funcs->kept (self->owner, &keeping->kept);
}

static void
keeper_report_failure (VnKeeper     *self,
                       const GError *error)
{
  if (!self->has_failed)
    self->funcs->failed (self->owner, error);
  self->has_failed = TRUE;
}

static gboolean
keeper_kept (gpointer data)
{
  Keeping *keeping = data;
  VnKeeper *self = keeping->keeper;

  self->n_keeping--;
  if (self->serial == keeping->serial && self->owner != NULL)
    {
      if (keeping->error == NULL)
        {
          self->has_failed = FALSE;
          keeper_take_kept (self, keeping);
        }
      else
        keeper_report_failure (self, keeping->error);
    }
  keeper_free_keeping (keeping);
  return G_SOURCE_REMOVE;
}

/* ---- begin ---- */

static Keeping *
keeper_begin (VnKeeper   *self,
              const char *path,
              const char *from)
{
  Keeping *keeping = g_new0 (Keeping, 1);

  self->funcs->snapshot (self->owner, &keeping->kept);
  vn_model_ref (keeping->kept.model);
  keeping->keeper = g_rc_box_acquire (self);
  keeping->owner = g_object_ref (self->owner);
  keeping->serial = self->serial;
  keeping->changes = self->changes;
  keeping->digest = g_strdup (self->digest);
  keeping->draft = self->draft != NULL ? vn_draft_ref (self->draft) : NULL;
  keeping->path = g_strdup (path);
  keeping->from = g_strdup (from);
  return keeping;
}

static void
keeper_push (Keeping *keeping)
{
  keeping->keeper->n_keeping++;
  g_thread_pool_push (keeper_get_pool (), keeping, NULL);
}

static gboolean
keeper_has_place (VnKeeper  *self,
                  GError   **error)
{
  g_autofree char *folder = NULL;

  if (self->path != NULL || self->draft != NULL)
    return TRUE;
  folder = vn_drafts_dup_folder ();
  self->draft = vn_draft_new (folder, error);
  return self->draft != NULL;
}

/**
 * vn_keeper_keep:
 *
 * Begins to write what was done, if anything was since the last time.
 */
void
vn_keeper_keep (VnKeeper *self)
{
  g_autoptr(GError) error = NULL;

  g_return_if_fail (self != NULL);

  g_clear_handle_id (&self->source, g_source_remove);
  if (self->kept_changes == self->changes || !self->funcs->is_worth (self->owner))
    return;
  if (!keeper_has_place (self, &error))
    {
      keeper_report_failure (self, error);
      return;
    }
  self->kept_changes = self->changes;
  keeper_push (keeper_begin (self, vn_keeper_get_place (self), NULL));
}

static gboolean
keeper_keep_now (gpointer data)
{
  VnKeeper *self = data;

  self->source = 0;
  vn_keeper_keep (self);
  return G_SOURCE_REMOVE;
}

/**
 * vn_keeper_touch:
 *
 * Something that a project keeps has changed.
 */
void
vn_keeper_touch (VnKeeper *self)
{
  g_return_if_fail (self != NULL);

  self->changes++;
  if (self->source == 0)
    self->source = g_timeout_add (DELAY_MS, keeper_keep_now, self);
}

/**
 * vn_keeper_settle:
 *
 * What there is now is what was opened: nothing of it has to be written.
 */
void
vn_keeper_settle (VnKeeper *self)
{
  g_return_if_fail (self != NULL);

  self->kept_changes = self->changes;
}

static void
keeper_wait (const Keeping *keeping)
{
  g_mutex_lock (&keeper_lock);
  while (!keeping->ended)
    g_cond_wait (&keeper_ended, &keeper_lock);
  g_mutex_unlock (&keeper_lock);
}

/**
 * vn_keeper_flush:
 *
 * Writes what was done and waits for it: before the program ends.
 */
void
vn_keeper_flush (VnKeeper *self)
{
  Keeping *keeping;

  g_return_if_fail (self != NULL);

  vn_keeper_keep (self);
  if (vn_keeper_get_place (self) == NULL)
    return;
  keeping = keeper_begin (self, vn_keeper_get_place (self), NULL);
  if (self->n_keeping == 0 && keeping->kept.removed->len == 0)
    {
      keeper_free_keeping (keeping);
      return;
    }
  keeping->serial = self->serial - 1;   /* nobody is interested any more */
  keeping->is_last = TRUE;
  keeper_push (keeping);
  keeper_wait (keeping);
}

static void
keeper_write_removed (VnKeeper *self)
{
  Keeping *keeping = vn_keeper_get_place (self) != NULL ? keeper_begin (self, vn_keeper_get_place (self), NULL) : NULL;

  if (keeping == NULL)
    return;
  keeping->is_last = TRUE;
  if (keeping->kept.removed->len > 0)
    keeper_push (keeping);
  else
    keeper_free_keeping (keeping);
}

/**
 * vn_keeper_leave:
 *
 * Another project comes: what was done is kept where it was.
 *
 * Returns: (transfer full) (nullable): path of the draft that it is in; %NULL: it is in no draft
 */
char *
vn_keeper_leave (VnKeeper *self)
{
  char *left;

  g_return_val_if_fail (self != NULL, NULL);

  vn_keeper_keep (self);
  keeper_write_removed (self);
  left = self->draft != NULL ? g_strdup (vn_draft_get_path (self->draft)) : NULL;
  self->serial++;
  self->kept_changes = self->changes;
  self->has_failed = FALSE;
  keeper_clear (self);
  return left;
}

/* ---- where ---- */

/**
 * vn_keeper_get_digest:
 *
 * Returns: (transfer none) (nullable): vn_model_dup_digest() of the model, if it was calculated
 */
const char *
vn_keeper_get_digest (VnKeeper *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->digest;
}

/**
 * vn_keeper_forget_digest:
 *
 * The model was read once more.
 */
void
vn_keeper_forget_digest (VnKeeper *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->digest, g_free);
}

/**
 * vn_keeper_get_place:
 *
 * Returns: (transfer none) (nullable): where the work is kept: the project, or a draft
 */
const char *
vn_keeper_get_place (VnKeeper *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (self->path != NULL)
    return self->path;
  return self->draft != NULL ? vn_draft_get_path (self->draft) : NULL;
}

/**
 * vn_keeper_get_path:
 *
 * Returns: (transfer none) (nullable): the file that the user chose; %NULL: none yet
 */
const char *
vn_keeper_get_path (VnKeeper *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->path;
}

/**
 * vn_keeper_save:
 * @path: of the file, from now on that of the project; a draft is not needed any more
 * @left: (out) (nullable) (transfer full): why the draft is still there; %NULL: it is not
 *
 * Writes the project, and keeps the file up to date from now on.
 *
 * Returns: %FALSE if the file could not be written
 */
gboolean
vn_keeper_save (VnKeeper    *self,
                const char  *path,
                char       **left,
                GError     **error)
{
  g_autoptr(GError) reason = NULL;
  Keeping *keeping;

  g_return_val_if_fail (self != NULL && path != NULL && left != NULL, FALSE);

  *left = NULL;
  g_clear_handle_id (&self->source, g_source_remove);
  self->serial++;   /* what is on its way goes elsewhere */
  keeping = keeper_begin (self, path, vn_keeper_get_place (self));
  keeping->serial = self->serial - 1;
  keeper_push (keeping);
  keeper_wait (keeping);
  if (keeping->error != NULL)
    {
      g_propagate_error (error, g_error_copy (keeping->error));
      return FALSE;
    }
  keeper_take_kept (self, keeping);
  if (self->draft != NULL && !vn_draft_discard (self->draft, &reason))
    *left = g_strdup (reason->message);
  g_clear_pointer (&self->draft, vn_draft_unref);
  g_free (self->path);
  self->path = g_canonicalize_filename (path, NULL);
  self->has_failed = FALSE;
  return TRUE;
}

/**
 * vn_keeper_take_place:
 * @path: of the project or draft that is being opened
 *
 * Keeps what follows there.
 *
 * Returns: %FALSE if it is a draft that is open elsewhere
 */
gboolean
vn_keeper_take_place (VnKeeper    *self,
                      const char  *path,
                      GError     **error)
{
  g_autofree char *folder = NULL;

  g_return_val_if_fail (self != NULL && path != NULL, FALSE);

  folder = vn_drafts_dup_folder ();
  if (vn_drafts_have (folder, path))
    {
      self->draft = vn_draft_open (path, error);
      return self->draft != NULL;
    }
  self->path = g_canonicalize_filename (path, NULL);
  return TRUE;
}

/* ---- a copy elsewhere ---- */

/**
 * vn_keeper_begin_copy:
 * @path: of the file
 *
 * Returns: (transfer full): the project as it is now, for vn_keeper_write_copy(); vn_keeper_free_copy() frees it
 */
gpointer
vn_keeper_begin_copy (VnKeeper   *self,
                      const char *path)
{
  Keeping *copy;

  g_return_val_if_fail (self != NULL && path != NULL, NULL);

  copy = keeper_begin (self, path, vn_keeper_get_place (self));
  g_clear_object (&copy->owner);
  g_rc_box_release_full (g_steal_pointer (&copy->keeper), keeper_clear);
  return copy;
}

/**
 * vn_keeper_write_copy:
 *
 * Writes it, on any thread. The project goes on where it was.
 */
gboolean
vn_keeper_write_copy (gpointer   copy,
                      GError   **error)
{
  g_return_val_if_fail (copy != NULL, FALSE);

  return keeper_write (copy, error);
}

void
vn_keeper_free_copy (gpointer copy)
{
  if (copy != NULL)
    keeper_free_keeping (copy);
}
