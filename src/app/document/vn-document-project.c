/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The project of a document writes itself: into the file that its user chose, or, until there is one, into a draft. All files are
 * written by one thread, in the order in which they were asked for. */
#include "vn-document-private.h"

#include "vn-error.h"
#include "vn-file-lock.h"
#include "vn-i18n.h"

#define DELAY_MS 1000
#define LOCK_SECONDS 5

/**
 * Keeping: a project on its way to a file. All but @document and @error is the thread's until that is done with it.
 * @project: copies
 * @records: (element-type VnRunRecord): by run of @project when it was asked for; what is not saved by then
 * @removed: (element-type VnProjectRun): runs that the file is not to have any more
 * @from: (nullable): of the project that keeps the runs, if that is another
 * @is_last: nothing is written behind it: removed runs lose their files
 * @ended: @error is there; under the lock of the keeper
 */
typedef struct
{
  VnDocument *document;
  guint       serial, changes;
  VnModel    *model;
  char       *digest;
  VnProject  *project;
  GPtrArray  *records, *removed;
  VnDraft    *draft;
  char       *path, *from;
  gboolean    is_last;
  gboolean    ended;
  GError     *error;
} Keeping;

static GMutex keeper_lock;
static GCond keeper_ended;

static void
document_project_free_keeping (Keeping *self)
{
  g_clear_object (&self->document);
  g_clear_pointer (&self->model, vn_model_unref);
  g_clear_pointer (&self->project, vn_project_free);
  g_clear_pointer (&self->records, g_ptr_array_unref);
  g_clear_pointer (&self->removed, g_ptr_array_unref);
  g_clear_pointer (&self->draft, vn_draft_unref);
  g_clear_error (&self->error);
  g_free (self->digest);
  g_free (self->path);
  g_free (self->from);
  g_free (self);
}

/* ---- on the thread ---- */

static gboolean
document_project_fetch_runs (Keeping  *self,
                             GError  **error)
{
  for (guint i = 0; self->from != NULL && i < self->project->runs->len; i++)
    if (!vn_project_run_fetch (g_ptr_array_index (self->project->runs, i), self->from, error))
      return FALSE;
  return TRUE;
}

static gboolean
document_project_clear_removed (Keeping  *self,
                                GError  **error)
{
  for (guint i = 0; self->is_last && i < self->removed->len; i++)
    if (!vn_project_run_remove_file (g_ptr_array_index (self->removed, i), self->path, NULL, error))
      return FALSE;
  return TRUE;
}

static gboolean
document_project_write (Keeping  *self,
                        GError  **error)
{
  const char *paths[] = { self->path, NULL };
  g_autoptr(VnFileLock) lock = NULL;

  if (self->digest == NULL)
    self->digest = vn_model_dup_digest (self->model);
  lock = vn_file_lock_new (paths, LOCK_SECONDS, NULL);     /* who waits longer would lose more */
  g_free (self->project->digest);
  self->project->digest = g_strdup (self->digest);
  return document_project_fetch_runs (self, error) && vn_project_merge_runs (self->project, self->path, self->removed, error) &&
         vn_project_save (self->project, self->path, error) && document_project_clear_removed (self, error);
}

static gboolean document_project_kept (gpointer data);

static void
document_project_keep_on_thread (gpointer data,
                                 gpointer user_data)
{
  Keeping *self = data;
  GError *error = NULL;

  document_project_write (self, &error);
  g_mutex_lock (&keeper_lock);
  self->error = error;
  self->ended = TRUE;
  g_cond_broadcast (&keeper_ended);
  g_mutex_unlock (&keeper_lock);
  g_idle_add (document_project_kept, self);
}

static GThreadPool *
document_project_get_keeper (void)
{
  static GThreadPool *pool;

  if (pool == NULL)
    pool = g_thread_pool_new (document_project_keep_on_thread, NULL, 1, FALSE, NULL);
  return pool;
}

/* ---- what it comes back with ---- */

static VnProjectRun *
document_project_find_run (GPtrArray  *runs,
                           const char *id)
{
  for (guint i = 0; i < runs->len; i++)
    {
      VnProjectRun *run = g_ptr_array_index (runs, i);

      if (g_str_equal (run->id, id))
        return run;
    }
  return NULL;
}

/* What is in a file need not be in memory, unless more was found since. */
static void
document_project_take_run (VnDocument   *self,
                           VnProjectRun *saved,
                           VnRunRecord  *record,
                           guint         at)
{
  VnProjectRun *own = document_project_find_run (self->runs, saved->id);

  if (own == NULL)
    {
      if (document_project_find_run (self->removed_runs, saved->id) == NULL)
        g_ptr_array_insert (self->runs, (int) MIN (at, self->runs->len), vn_project_run_ref (saved));
      return;
    }
  g_free (own->file);
  own->file = g_strdup (saved->file);
  if (own->record != NULL && own->record == record)
    g_clear_pointer (&own->record, vn_run_record_unref);
}

static VnRunRecord *
document_project_get_record (const Keeping *keeping,
                             const char    *id)
{
  for (guint i = 0; i < keeping->records->len; i++)
    {
      const VnProjectRun *run = g_ptr_array_index (keeping->records, i);

      if (g_str_equal (run->id, id))
        return run->record;
    }
  return NULL;
}

static void
document_project_take_kept (VnDocument *self,
                            Keeping    *keeping)
{
  if (self->digest == NULL)
    self->digest = g_strdup (keeping->digest);
  self->kept_changes = keeping->changes;
  for (guint i = 0; i < keeping->project->runs->len; i++)
    {
      VnProjectRun *run = g_ptr_array_index (keeping->project->runs, i);

      document_project_take_run (self, run, document_project_get_record (keeping, run->id), i);
    }
  g_signal_emit (self, vn_document_signals[VN_SIGNAL_RUNS], 0);
}

/* It is said once that nothing can be written; trying goes on with every change. */
static void
document_project_tell_failure (VnDocument *self,
                               GError     *error)
{
  if (!self->keep_failed)
    g_signal_emit (self, vn_document_signals[VN_SIGNAL_FAILED], 0, _("The work could not be saved"), error);
  self->keep_failed = TRUE;
}

static gboolean
document_project_kept (gpointer data)
{
  Keeping *keeping = data;
  VnDocument *self = keeping->document;

  self->n_keeping--;
  if (self->keep_serial == keeping->serial && self->runs != NULL)
    {
      if (keeping->error == NULL)
        {
          self->keep_failed = FALSE;
          document_project_take_kept (self, keeping);
        }
      else
        document_project_tell_failure (self, keeping->error);
    }
  document_project_free_keeping (keeping);
  return G_SOURCE_REMOVE;
}

/* ---- begin ---- */

static gboolean
document_project_is_worth (VnDocument *self)
{
  return self->model != NULL && self->model->path != NULL &&
         (self->project_path != NULL ||
          (!self->is_demo && (self->runs->len > 0 || self->data != NULL || vn_history_can_undo (self->history))));
}

static VnProject *
document_project_snapshot (VnDocument *self)
{
  VnProject *project = vn_project_new (self->model->path, self->digest, self->data, self->recipe);
  g_autoptr(GHashTable) sizes = NULL;

  if (project->data != NULL)
    project->data->max_samples = self->n_samples;
  sizes = vn_document_dup_chosen_sizes (self);
  vn_project_set_sizes (project, sizes);
  for (guint i = 0; i < self->runs->len; i++)
    {
      g_autoptr(VnProjectRun) copy = vn_project_run_copy (g_ptr_array_index (self->runs, i));

      vn_project_add_run (project, copy);
    }
  return project;
}

/* Lines with the records that they have now: saving lets go of those of the project. */
static GPtrArray *
document_project_copy_runs (GPtrArray *runs)
{
  GPtrArray *copies = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_project_run_unref);

  for (guint i = 0; i < runs->len; i++)
    g_ptr_array_add (copies, vn_project_run_copy (g_ptr_array_index (runs, i)));
  return copies;
}

static Keeping *
document_project_begin (VnDocument *self,
                        const char *path,
                        const char *from)
{
  Keeping *keeping = g_new0 (Keeping, 1);

  keeping->document = g_object_ref (self);
  keeping->serial = self->keep_serial;
  keeping->changes = self->changes;
  keeping->model = vn_model_ref (self->model);
  keeping->digest = g_strdup (self->digest);
  keeping->project = document_project_snapshot (self);
  keeping->records = document_project_copy_runs (self->runs);
  keeping->removed = document_project_copy_runs (self->removed_runs);
  keeping->draft = self->draft != NULL ? vn_draft_ref (self->draft) : NULL;
  keeping->path = g_strdup (path);
  keeping->from = g_strdup (from);
  return keeping;
}

static void
document_project_push (Keeping *keeping)
{
  keeping->document->n_keeping++;
  g_thread_pool_push (document_project_get_keeper (), keeping, NULL);
}

static gboolean
document_project_has_place (VnDocument  *self,
                            GError     **error)
{
  g_autofree char *folder = NULL;

  if (self->project_path != NULL || self->draft != NULL)
    return TRUE;
  folder = vn_drafts_dup_folder ();
  self->draft = vn_draft_new (folder, error);
  return self->draft != NULL;
}

/**
 * vn_document_keep:
 *
 * Begins to write what was done, if anything was since the last time.
 */
void
vn_document_keep (VnDocument *self)
{
  g_autoptr(GError) error = NULL;

  g_return_if_fail (VN_IS_DOCUMENT (self));

  g_clear_handle_id (&self->keep_source, g_source_remove);
  if (self->kept_changes == self->changes || !document_project_is_worth (self))
    return;
  if (!document_project_has_place (self, &error))
    {
      document_project_tell_failure (self, error);
      return;
    }
  self->kept_changes = self->changes;
  document_project_push (document_project_begin (self, vn_document_get_place (self), NULL));
}

static gboolean
document_project_keep_now (gpointer data)
{
  VnDocument *self = data;

  self->keep_source = 0;
  vn_document_keep (self);
  return G_SOURCE_REMOVE;
}

/**
 * vn_document_touch:
 *
 * Something that a project keeps has changed.
 */
void
vn_document_touch (VnDocument *self)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  self->changes++;
  if (self->keep_source == 0)
    self->keep_source = g_timeout_add (DELAY_MS, document_project_keep_now, self);
}

static void
document_project_wait (const Keeping *keeping)
{
  g_mutex_lock (&keeper_lock);
  while (!keeping->ended)
    g_cond_wait (&keeper_ended, &keeper_lock);
  g_mutex_unlock (&keeper_lock);
}

/**
 * vn_document_flush:
 *
 * Writes what was done and waits for it: before the program ends.
 */
void
vn_document_flush (VnDocument *self)
{
  Keeping *keeping;

  g_return_if_fail (VN_IS_DOCUMENT (self));

  vn_document_keep (self);
  if (vn_document_get_place (self) == NULL || (self->n_keeping == 0 && self->removed_runs->len == 0))
    return;
  keeping = document_project_begin (self, vn_document_get_place (self), NULL);
  keeping->serial = self->keep_serial - 1;   /* nobody is interested any more */
  keeping->is_last = TRUE;
  document_project_push (keeping);
  document_project_wait (keeping);
}

/**
 * vn_document_leave_project:
 *
 * What is open now will not be any more: what was done is kept where it was, and said.
 */
void
vn_document_leave_project (VnDocument *self)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  vn_document_keep (self);
  if (self->removed_runs->len > 0)
    {
      Keeping *keeping = document_project_begin (self, vn_document_get_place (self), NULL);

      keeping->is_last = TRUE;
      document_project_push (keeping);
    }
  if (self->draft != NULL)
    {
      g_autofree char *title = vn_document_dup_title (self);

      g_signal_emit (self, vn_document_signals[VN_SIGNAL_LEFT], 0, title, vn_draft_get_path (self->draft));
    }
  self->keep_serial++;
  self->kept_changes = self->changes;
  self->keep_failed = FALSE;
  g_ptr_array_set_size (self->removed_runs, 0);
  g_clear_pointer (&self->draft, vn_draft_unref);
  g_clear_pointer (&self->project_path, g_free);
  g_clear_pointer (&self->digest, g_free);
}

/* ---- the file of the user ---- */

/**
 * vn_document_get_place:
 *
 * Returns: (transfer none) (nullable): where the work is kept: the project, or a draft
 */
const char *
vn_document_get_place (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  if (self->project_path != NULL)
    return self->project_path;
  return self->draft != NULL ? vn_draft_get_path (self->draft) : NULL;
}

/**
 * vn_document_get_project_path:
 *
 * Returns: (transfer none) (nullable): the file that the user chose for the project; %NULL: none yet
 */
const char *
vn_document_get_project_path (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return self->project_path;
}

/* The project is there: the draft has had its day. */
static void
document_project_move_to (VnDocument *self,
                          const char *path)
{
  g_autoptr(GError) error = NULL;

  if (self->draft != NULL && !vn_draft_discard (self->draft, &error))
    vn_document_tell (self, error->message);
  g_clear_pointer (&self->draft, vn_draft_unref);
  g_free (self->project_path);
  self->project_path = g_canonicalize_filename (path, NULL);
  self->keep_failed = FALSE;
}

/**
 * vn_document_save_project:
 * @path: of the file, from now on that of the project
 *
 * Writes model, samples, recipe and runs, and keeps the file up to date from now on. There must be a model that comes from a file.
 *
 * Returns: %FALSE if the file could not be written
 */
gboolean
vn_document_save_project (VnDocument  *self,
                          const char  *path,
                          GError     **error)
{
  Keeping *keeping;

  g_return_val_if_fail (VN_IS_DOCUMENT (self) && path != NULL, FALSE);
  g_return_val_if_fail (self->model != NULL && self->model->path != NULL, FALSE);

  g_clear_handle_id (&self->keep_source, g_source_remove);
  self->keep_serial++;   /* what is on its way goes elsewhere */
  keeping = document_project_begin (self, path, vn_document_get_place (self));
  keeping->serial = self->keep_serial - 1;
  document_project_push (keeping);
  document_project_wait (keeping);
  if (keeping->error != NULL)
    {
      g_propagate_error (error, g_error_copy (keeping->error));
      return FALSE;
    }
  document_project_take_kept (self, keeping);
  document_project_move_to (self, path);
  return TRUE;
}

/* ---- a copy elsewhere ---- */

/**
 * vn_document_begin_copy:
 * @path: of the file
 *
 * Returns: (transfer full): the project as it is now, for vn_document_write_copy(); vn_document_free_copy() frees it
 */
gpointer
vn_document_begin_copy (VnDocument *self,
                        const char *path)
{
  Keeping *copy;

  g_return_val_if_fail (VN_IS_DOCUMENT (self) && self->model != NULL && path != NULL, NULL);

  copy = document_project_begin (self, path, vn_document_get_place (self));
  g_clear_object (&copy->document);
  return copy;
}

/**
 * vn_document_write_copy:
 *
 * Writes it, on any thread. The document goes on where it was.
 */
gboolean
vn_document_write_copy (gpointer   copy,
                        GError   **error)
{
  g_return_val_if_fail (copy != NULL, FALSE);

  return document_project_write (copy, error);
}

void
vn_document_free_copy (gpointer copy)
{
  if (copy != NULL)
    document_project_free_keeping (copy);
}

/**
 * vn_document_take_place:
 * @path: of the project or draft that is being opened
 *
 * Keeps what follows there.
 *
 * Returns: %FALSE if it is a draft that is open elsewhere
 */
gboolean
vn_document_take_place (VnDocument  *self,
                        const char  *path,
                        GError     **error)
{
  g_autofree char *folder = vn_drafts_dup_folder ();

  g_return_val_if_fail (VN_IS_DOCUMENT (self) && path != NULL, FALSE);

  if (vn_drafts_have (folder, path))
    {
      self->draft = vn_draft_open (path, error);
      return self->draft != NULL;
    }
  self->project_path = g_canonicalize_filename (path, NULL);
  return TRUE;
}
