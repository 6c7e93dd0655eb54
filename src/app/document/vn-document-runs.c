/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs that the project of a document keeps: any of them can be brought back, named, and removed. */
#include "vn-document-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-thread.h"

/**
 * Reading: a run on its way back.
 * @restores: its recipe is to become the present one
 */
typedef struct
{
  VnProjectRun *run;
  VnModel      *model;
  char         *place;
  char        **known;      /* scripts that the user runs already */
  gboolean      restores;
} Reading;

static void
document_runs_free_reading (gpointer data)
{
  Reading *self = data;

  vn_project_run_unref (self->run);
  vn_model_unref (self->model);
  g_free (self->place);
  g_strfreev (self->known);
  g_free (self);
}

static void
document_runs_emit (VnDocument *self)
{
  vn_document_touch (self);
  g_signal_emit (self, vn_document_signals[VN_SIGNAL_RUNS], 0);
}

/**
 * vn_document_find_run:
 * @id: of a run
 *
 * Returns: (transfer none) (nullable): that run
 */
VnProjectRun *
vn_document_find_run (VnDocument *self,
                      const char *id)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self) && id != NULL, NULL);

  for (guint i = 0; i < self->runs->len; i++)
    if (g_str_equal (((VnProjectRun *) g_ptr_array_index (self->runs, i))->id, id))
      return g_ptr_array_index (self->runs, i);
  return NULL;
}

/**
 * vn_document_is_shown:
 *
 * Returns: whether what is shown is what @run found
 */
gboolean
vn_document_is_shown (VnDocument         *self,
                      const VnProjectRun *run)
{
  VnResult *result;
  g_autofree char *digest = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (self) && run != NULL, FALSE);

  result = vn_document_get_result (self);
  if (result == NULL || result->is_expected || result->time != run->time)
    return FALSE;
  digest = vn_recipe_dup_digest (result->recipe);
  return g_strcmp0 (digest, run->recipe_digest) == 0;
}

/* ---- back ---- */

static void
document_runs_read_on_thread (GTask        *task,
                              gpointer      source,
                              gpointer      data,
                              GCancellable *cancellable)
{
  Reading *reading = data;
  GError *error = NULL;
  g_autoptr(VnRunRecord) record = vn_project_run_load (reading->run, reading->place, &error);
  VnResult *result = NULL;

  if (record != NULL && record->data != NULL)
    vn_data_spec_trust_known (record->data, (const char * const *) reading->known);
  if (record != NULL)
    result = vn_run_record_restore (record, reading->model, &error);
  if (result != NULL)
    g_task_return_pointer (task, result, (GDestroyNotify) vn_result_unref);
  else
    g_task_return_error (task, error);
}

static void
document_runs_take_read (VnDocument *self,
                         Reading    *reading,
                         VnResult   *past)
{
  g_autofree char *name = vn_project_run_dup_title (reading->run);
  g_autofree char *title = g_strdup_printf (_("“%s” restored"), name);

  if (reading->restores)
    vn_document_bring_back (self, past, title);
  else if (self->result == NULL && vn_recipe_equal (past->recipe, self->recipe))
    vn_document_show_past (self, past);
}

static void
document_runs_read (GObject      *source,
                    GAsyncResult *async,
                    gpointer      data)
{
  VnDocument *self = VN_DOCUMENT (source);
  Reading *reading = g_task_get_task_data (G_TASK (async));
  g_autoptr(GError) error = NULL;
  g_autoptr(VnResult) past = g_task_propagate_pointer (G_TASK (async), &error);

  if (self->model != reading->model)   /* another was opened in the meantime */
    return;
  if (past != NULL)
    document_runs_take_read (self, reading, past);
  else
    g_signal_emit (self, vn_document_signals[VN_SIGNAL_FAILED], 0, _("The run could not be restored"), error);
}

static Reading *
document_runs_new_reading (VnDocument         *self,
                           const VnProjectRun *run)
{
  const char *place = vn_document_get_place (self);
  Reading *reading = g_new0 (Reading, 1);

  reading->run = vn_project_run_copy (run);
  reading->model = vn_model_ref (self->model);
  reading->place = g_strdup (place != NULL ? place : "");
  reading->known = self->data != NULL && vn_data_spec_may_run (self->data) ? vn_data_spec_list_scripts (self->data) : g_new0 (char *, 1);
  return reading;
}

/**
 * vn_document_read_run_async:
 * @run: one that the project keeps; there is a model
 *
 * Reads in the background what a run found, and changes nothing.
 */
void
vn_document_read_run_async (VnDocument          *self,
                            const VnProjectRun  *run,
                            GCancellable        *cancellable,
                            GAsyncReadyCallback  callback,
                            gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;

  g_return_if_fail (VN_IS_DOCUMENT (self) && run != NULL && self->model != NULL);

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_task_data (task, document_runs_new_reading (self, run), document_runs_free_reading);
  vn_thread_run_task (task, document_runs_read_on_thread);
}

/**
 * vn_document_read_run_finish:
 *
 * Returns: (transfer full) (nullable): what the run found; %NULL with @error set, also if another model is open by now
 */
VnResult *
vn_document_read_run_finish (VnDocument    *self,
                             GAsyncResult  *async,
                             GError       **error)
{
  Reading *reading = g_task_get_task_data (G_TASK (async));
  g_autoptr(VnResult) past = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  past = g_task_propagate_pointer (G_TASK (async), error);
  if (past == NULL || reading->model == self->model)
    return g_steal_pointer (&past);
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, _("Another model is open"));
  return NULL;
}

static void
document_runs_begin_read (VnDocument   *self,
                          VnProjectRun *run,
                          gboolean      restores)
{
  g_autoptr(GTask) task = g_task_new (self, NULL, document_runs_read, NULL);
  Reading *reading = document_runs_new_reading (self, run);

  reading->restores = restores;
  g_task_set_task_data (task, reading, document_runs_free_reading);
  vn_thread_run_task (task, document_runs_read_on_thread);
}

/**
 * vn_document_restore_run:
 * @id: of a run
 *
 * Reads in the background what the run found; then its recipe becomes the present one, as a step that can be undone, and its result is
 * shown.
 */
void
vn_document_restore_run (VnDocument *self,
                         const char *id)
{
  VnProjectRun *run;

  g_return_if_fail (VN_IS_DOCUMENT (self) && id != NULL);

  run = vn_document_find_run (self, id);
  if (run != NULL && self->model != NULL)
    document_runs_begin_read (self, run, TRUE);
}

/*< private >
 * vn_document_get_run_notes:
 *
 * Returns: (transfer none) (nullable): what a run with the present settings and samples told; %NULL: there was none
 */
VnNotes *
vn_document_get_run_notes (VnDocument *self)
{
  const VnResult *result;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  result = self->past != NULL ? self->past : self->result;
  return result != NULL && !vn_document_is_stale (self) ? result->notes : NULL;
}

/**
 * vn_document_show_last_run:
 *
 * Reads in the background what the last run with the present recipe found, and shows it.
 */
void
vn_document_show_last_run (VnDocument *self)
{
  g_autofree char *digest = NULL;

  g_return_if_fail (VN_IS_DOCUMENT (self));

  digest = vn_recipe_dup_digest (self->recipe);
  for (guint i = self->runs->len; i > 0; i--)
    {
      VnProjectRun *run = g_ptr_array_index (self->runs, i - 1);

      if (g_strcmp0 (run->recipe_digest, digest) != 0)
        continue;
      document_runs_begin_read (self, run, FALSE);
      return;
    }
}

/* ---- names, and fewer ---- */

/**
 * vn_document_rename_run:
 * @name: (nullable): what the user calls it
 */
void
vn_document_rename_run (VnDocument *self,
                        const char *id,
                        const char *name)
{
  VnProjectRun *run;

  g_return_if_fail (VN_IS_DOCUMENT (self) && id != NULL);

  run = vn_document_find_run (self, id);
  if (run == NULL || g_strcmp0 (run->name, name) == 0)
    return;
  vn_project_run_set_name (run, name);
  document_runs_emit (self);
}

/**
 * vn_document_remove_run:
 *
 * Takes a run off the list. Until another model is open it can come back; its file stays that long.
 */
void
vn_document_remove_run (VnDocument *self,
                        const char *id)
{
  VnProjectRun *run;

  g_return_if_fail (VN_IS_DOCUMENT (self) && id != NULL);

  run = vn_document_find_run (self, id);
  if (run == NULL)
    return;
  g_ptr_array_add (self->removed_runs, vn_project_run_ref (run));
  g_ptr_array_remove (self->runs, run);
  document_runs_emit (self);
}

/**
 * vn_document_return_run:
 *
 * Puts the run that was removed last back into the list.
 *
 * Returns: %FALSE if none was removed
 */
gboolean
vn_document_return_run (VnDocument *self)
{
  VnProjectRun *run;
  guint at = 0;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  if (self->removed_runs->len == 0)
    return FALSE;
  run = g_ptr_array_steal_index (self->removed_runs, self->removed_runs->len - 1);
  while (at < self->runs->len && ((const VnProjectRun *) g_ptr_array_index (self->runs, at))->time <= run->time)
    at++;
  g_ptr_array_insert (self->runs, (int) at, run);
  document_runs_emit (self);
  return TRUE;
}
