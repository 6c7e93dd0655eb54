/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs that the project of a bench keeps: any of them can be brought back, named, and removed. */
#include "bench-private.h"

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
bench_runs_free_reading (gpointer data)
{
  Reading *self = data;

  vn_project_run_unref (self->run);
  vn_model_unref (self->model);
  g_free (self->place);
  g_strfreev (self->known);
  g_free (self);
}

static void
bench_runs_changed (VnBench *self)
{
  vn_keeper_touch (self->keeper);
  vn_bench_changed (self, VN_CHANGED_RUNS);
}

/**
 * vn_bench_find_run:
 * @id: of a run
 *
 * Returns: (transfer none) (nullable): that run
 */
VnProjectRun *
vn_bench_find_run (VnBench    *self,
                   const char *id)
{
  g_return_val_if_fail (VN_IS_BENCH (self) && id != NULL, NULL);

  return vn_run_list_find (self->runs, id);
}

/* ---- back ---- */

static void
bench_runs_read_on_thread (GTask        *task,
                           gpointer      source,
                           gpointer      data,
                           GCancellable *cancellable)
{
  Reading *reading = data;
  GError *error = NULL;
  g_autoptr(VnRun) record = vn_project_run_load (reading->run, reading->place, &error);
  VnRun *result = NULL;

  if (record != NULL && record->data != NULL)
    vn_data_spec_trust_known (record->data, (const char * const *) reading->known);
  if (record != NULL)
    result = vn_run_with_model (record, reading->model, &error);
  if (result != NULL)
    g_task_return_pointer (task, result, (GDestroyNotify) vn_run_unref);
  else
    g_task_return_error (task, error);
}

static void
bench_runs_take_read (VnBench *self,
                      Reading *reading,
                      VnRun   *past)
{
  g_autofree char *name = vn_project_run_dup_title (reading->run);
  g_autofree char *title = g_strdup_printf (_("“%s” restored"), name);

  if (reading->restores)
    vn_bench_bring_back (self, past, title);
  else if (self->shown.run == NULL && vn_recipe_equal (past->recipe, self->recipe))
    {
      vn_bench_show_past (self, past);
      vn_bench_verify_usually (self);
    }
}

static void
bench_runs_read (GObject      *source,
                 GAsyncResult *async,
                 gpointer      data)
{
  VnBench *self = VN_BENCH (source);
  Reading *reading = g_task_get_task_data (G_TASK (async));
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRun) past = g_task_propagate_pointer (G_TASK (async), &error);

  if (self->subject->model != reading->model)   /* another was opened in the meantime */
    return;
  if (past != NULL)
    bench_runs_take_read (self, reading, past);
  else
    vn_bench_report_error (self, _("The run could not be restored"), error);
}

static Reading *
bench_runs_new_reading (VnBench            *self,
                        const VnProjectRun *run)
{
  const char *place = vn_bench_get_place (self);
  Reading *reading = g_new0 (Reading, 1);

  reading->run = vn_project_run_copy (run);
  reading->model = vn_model_ref (self->subject->model);
  reading->place = g_strdup (place != NULL ? place : "");
  reading->known = self->subject->data != NULL && vn_data_spec_may_run (self->subject->data)
                   ? vn_data_spec_list_scripts (self->subject->data) : g_new0 (char *, 1);
  return reading;
}

/**
 * vn_bench_read_run_async:
 * @run: one that the project keeps; there is a model
 *
 * Reads in the background what a run found, and changes nothing.
 */
void
vn_bench_read_run_async (VnBench             *self,
                         const VnProjectRun  *run,
                         GCancellable        *cancellable,
                         GAsyncReadyCallback  callback,
                         gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;

  g_return_if_fail (VN_IS_BENCH (self) && run != NULL && self->subject->model != NULL);

  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_task_data (task, bench_runs_new_reading (self, run), bench_runs_free_reading);
  vn_thread_run_task (task, bench_runs_read_on_thread);
}

/**
 * vn_bench_read_run_finish:
 *
 * Returns: (transfer full) (nullable): what the run found; %NULL with @error set, also if another model is open by now
 */
VnRun *
vn_bench_read_run_finish (VnBench       *self,
                          GAsyncResult  *async,
                          GError       **error)
{
  Reading *reading = g_task_get_task_data (G_TASK (async));
  g_autoptr(VnRun) past = NULL;

  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  past = g_task_propagate_pointer (G_TASK (async), error);
  if (past == NULL || reading->model == self->subject->model)
    return g_steal_pointer (&past);
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, _("Another model is open"));
  return NULL;
}

static void
bench_runs_begin_read (VnBench      *self,
                       VnProjectRun *run,
                       gboolean      restores)
{
  g_autoptr(GTask) task = g_task_new (self, NULL, bench_runs_read, NULL);
  Reading *reading = bench_runs_new_reading (self, run);

  reading->restores = restores;
  g_task_set_task_data (task, reading, bench_runs_free_reading);
  vn_thread_run_task (task, bench_runs_read_on_thread);
}

/**
 * vn_bench_restore_run:
 * @id: of a run
 *
 * Reads in the background what the run found; then its recipe becomes the present one, as a step that can be undone, and its
 * result is shown.
 */
void
vn_bench_restore_run (VnBench    *self,
                      const char *id)
{
  VnProjectRun *run;

  g_return_if_fail (VN_IS_BENCH (self) && id != NULL);

  run = vn_bench_find_run (self, id);
  if (run != NULL && self->subject->model != NULL)
    bench_runs_begin_read (self, run, TRUE);
}

/*< private >
 * vn_bench_show_last_run:
 *
 * Reads in the background what the last run with the present recipe found, and shows it.
 */
void
vn_bench_show_last_run (VnBench *self)
{
  VnProjectRun *run;

  run = vn_run_list_find_recipe (self->runs, self->recipe);
  if (run != NULL)
    bench_runs_begin_read (self, run, FALSE);
}

/* ---- names, and fewer ---- */

/**
 * vn_bench_rename_run:
 * @name: (nullable): what the user calls it
 */
void
vn_bench_rename_run (VnBench    *self,
                     const char *id,
                     const char *name)
{
  VnProjectRun *run;

  g_return_if_fail (VN_IS_BENCH (self) && id != NULL);

  run = vn_bench_find_run (self, id);
  if (run == NULL || g_strcmp0 (run->name, name) == 0)
    return;
  vn_project_run_set_name (run, name);
  bench_runs_changed (self);
}

/**
 * vn_bench_remove_run:
 *
 * Takes a run off the list. Until another model is open it can come back; its file stays that long.
 */
void
vn_bench_remove_run (VnBench    *self,
                     const char *id)
{
  g_return_if_fail (VN_IS_BENCH (self) && id != NULL);

  if (vn_run_list_remove (self->runs, id))
    bench_runs_changed (self);
}

/**
 * vn_bench_return_run:
 *
 * Puts the run that was removed last back into the list.
 *
 * Returns: %FALSE if none was removed
 */
gboolean
vn_bench_return_run (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  if (!vn_run_list_return (self->runs))
    return FALSE;
  bench_runs_changed (self);
  return TRUE;
}
