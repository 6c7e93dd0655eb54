/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads what is to be compared, in the background: a run from its file, a model of another tool, and its error against the float
 * network. */
#include "vn-compare-source.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-thread.h"

#include <string.h>

G_DEFINE_FINAL_TYPE (VnCompareSource, vn_compare_source, G_TYPE_OBJECT)

static void
compare_source_changed (VnCompareSource *self)
{
  g_signal_emit_by_name (self, "changed");
}

static void
compare_source_set_model (VnCompareSource *self,
                          VnComparedModel *model)
{
  g_clear_pointer (&self->model, vn_compared_model_unref);
  self->model = model;
}

static void
vn_compare_source_dispose (GObject *object)
{
  VnCompareSource *self = VN_COMPARE_SOURCE (object);

  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_object (&self->job);
  g_clear_object (&self->document);
  g_clear_pointer (&self->model, vn_compared_model_unref);
  g_clear_pointer (&self->file, vn_model_unref);
  g_clear_pointer (&self->run, vn_project_run_unref);
  g_clear_error (&self->error);
  g_clear_pointer (&self->title, g_free);
  g_clear_pointer (&self->detail, g_free);
  g_clear_pointer (&self->path, g_free);
  G_OBJECT_CLASS (vn_compare_source_parent_class)->dispose (object);
}

static void
vn_compare_source_class_init (VnCompareSourceClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_compare_source_dispose;
  g_signal_new ("changed", VN_TYPE_COMPARE_SOURCE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
vn_compare_source_init (VnCompareSource *self)
{
}

/* ---- words ---- */

static char *
compare_source_dup_run_detail (const VnProjectRun *run)
{
  g_autoptr(GDateTime) time = g_date_time_new_from_unix_local (run->time);
  g_autofree char *bytes = vn_format_bytes (run->figures.quantized_bytes);
  /* else the title tells it */
  g_autofree char *when = run->name != NULL && time != NULL ? g_date_time_format (time, " · %H:%M") : g_strdup ("");

  return g_strdup_printf ("%s · %s%s", run->preset, bytes, when);
}

static void
compare_source_describe (VnCompareSource *self)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));
  VnRun *result = vn_bench_get_confirmed (VN_BENCH (self->document));
  g_autofree char *bytes = NULL;

  g_clear_pointer (&self->title, g_free);
  g_clear_pointer (&self->detail, g_free);
  switch (self->kind)
    {
    case VN_COMPARE_FLOAT:
      self->title = g_strdup (_("Float"));
      self->detail = model != NULL && model->file_size > 0 ? vn_format_bytes (model->file_size) : g_strdup ("");
      break;
    case VN_COMPARE_NOW:
      self->title = g_strdup (_("Quantized"));
      bytes = result != NULL ? vn_format_bytes (result->quantized_bytes) : g_strdup ("");
      self->detail = g_strdup_printf (_("%s · now"), bytes);
      break;
    case VN_COMPARE_RUN:
      self->title = vn_project_run_dup_title (self->run);
      self->detail = compare_source_dup_run_detail (self->run);
      break;
    case VN_COMPARE_OPEN:
      self->title = g_strdup (_("Open File…"));
      self->detail = g_strdup ("");
      break;
    case VN_COMPARE_FILE:
    default:
      self->title = g_filename_display_basename (self->path);
      self->detail = self->file != NULL ? vn_format_bytes (self->file->file_size) : g_strdup ("");
      break;
    }
}

/* ---- work ---- */

static void
compare_source_end (VnCompareSource *self)
{
  g_clear_object (&self->job);
  g_clear_object (&self->cancellable);
}

static void
compare_source_failed (VnCompareSource *self,
                       GError          *error)
{
  compare_source_end (self);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      compare_source_changed (self);
      return;
    }
  g_clear_error (&self->error);
  self->error = g_error_copy (error);
  compare_source_changed (self);
  vn_bench_report_error (VN_BENCH (self->document), vn_job_id_get_failure (VN_JOB_COMPARE), error);
}

/* Whether @source is the job that is waited for and has succeeded: why not is told here. */
static gboolean
compare_source_finish (VnCompareSource *self,
                       GObject         *source,
                       GAsyncResult    *async)
{
  g_autoptr(GError) error = NULL;
  gboolean ok = vn_job_finish (VN_JOB (source), async, &error);

  if (self->job != VN_JOB (source))
    return FALSE;
  if (!ok)
    compare_source_failed (self, error);
  return ok;
}

static void
compare_source_start (VnCompareSource     *self,
                      VnJob               *job,
                      GAsyncReadyCallback  done)
{
  self->job = job;
  self->cancellable = g_cancellable_new ();
  vn_job_start (job, self->cancellable, done, g_object_ref (self));
  compare_source_changed (self);
}

/**
 * Loading: what a thread makes a compared model of.
 */
typedef struct
{
  VnModel         *float_model;
  VnProjectRun    *run;
  VnModel         *file;
  VnErrorTable    *errors;
  VnComparedModel *model;
} Loading;

static void
compare_source_free_loading (gpointer data)
{
  Loading *self = data;

  vn_model_unref (self->float_model);
  g_clear_pointer (&self->run, vn_project_run_unref);
  g_clear_pointer (&self->file, vn_model_unref);
  g_clear_pointer (&self->errors, vn_error_table_unref);
  g_clear_pointer (&self->model, vn_compared_model_unref);
  g_free (self);
}

/* Where the project lies that keeps the run: its runs are in a folder beside it. */
static char *
compare_source_dup_project (const VnProjectRun *run)
{
  g_autofree char *folder = run->file != NULL ? g_path_get_dirname (run->file) : NULL;

  if (folder != NULL && g_str_has_suffix (folder, VN_PROJECT_RUNS_SUFFIX))
    folder[strlen (folder) - strlen (VN_PROJECT_RUNS_SUFFIX)] = '\0';
  return folder != NULL ? g_steal_pointer (&folder) : g_strdup (".");
}

static void
compare_source_run_loading (GTask        *task,
                            gpointer      source,
                            gpointer      data,
                            GCancellable *cancellable)
{
  Loading *loading = data;
  g_autoptr(VnRun) record = NULL;
  g_autoptr(VnRun) result = NULL;
  GError *error = NULL;

  if (loading->run != NULL)
    {
      g_autofree char *project = compare_source_dup_project (loading->run);

      record = vn_project_run_load (loading->run, project, &error);
      result = record != NULL ? vn_run_with_model (record, loading->float_model, &error) : NULL;
      if (result != NULL)
        loading->model = vn_compared_model_new_result (result);
    }
  else
    loading->model = vn_compared_model_new_file (loading->float_model, loading->file, loading->errors);
  if (loading->errors != NULL)
    vn_compared_model_make_forecast (loading->model);   /* before, it would only be in the way of seeing the network */
  if (loading->model != NULL)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void compare_source_measure (VnCompareSource *self);

static void
compare_source_loaded (GObject      *source,
                       GAsyncResult *async,
                       gpointer      data)
{
  VnCompareSource *self = VN_COMPARE_SOURCE (source);
  Loading *loading = g_task_get_task_data (G_TASK (async));
  g_autoptr(GError) error = NULL;

  if (self->cancellable == NULL || self->cancellable != g_task_get_cancellable (G_TASK (async)))
    return;
  if (!g_task_propagate_boolean (G_TASK (async), &error))
    {
      compare_source_failed (self, error);
      return;
    }
  compare_source_end (self);
  compare_source_set_model (self, g_steal_pointer (&loading->model));
  compare_source_describe (self);
  if (self->kind == VN_COMPARE_FILE && !self->was_measured)
    compare_source_measure (self);
  else
    compare_source_changed (self);
}

/* @errors: (nullable): of a file */
static void
compare_source_load_in_thread (VnCompareSource *self,
                               VnErrorTable    *errors)
{
  g_autoptr(GTask) task = NULL;
  Loading *loading = g_new0 (Loading, 1);

  loading->float_model = vn_model_ref (vn_bench_get_model (VN_BENCH (self->document)));
  loading->run = self->run != NULL ? vn_project_run_ref (self->run) : NULL;
  loading->file = self->file != NULL ? vn_model_ref (self->file) : NULL;
  loading->errors = errors != NULL ? vn_error_table_ref (errors) : NULL;
  self->cancellable = g_cancellable_new ();
  task = g_task_new (self, self->cancellable, compare_source_loaded, NULL);
  g_task_set_task_data (task, loading, compare_source_free_loading);
  vn_thread_run_task (task, compare_source_run_loading);
}

/* ---- a file ---- */

static void
compare_source_file_opened (GObject      *source,
                            GAsyncResult *async,
                            gpointer      data)
{
  g_autoptr(VnCompareSource) self = data;

  if (!compare_source_finish (self, source, async) || vn_bench_get_model (VN_BENCH (self->document)) == NULL)
    return;
  self->file = vn_model_ref (vn_open_job_get_model (VN_JOB (source)));
  compare_source_end (self);
  compare_source_load_in_thread (self, NULL);
}

static void
compare_source_run_forecast (GTask        *task,
                             gpointer      source,
                             gpointer      data,
                             GCancellable *cancellable)
{
  vn_compared_model_make_forecast (data);
  g_task_return_boolean (task, TRUE);
}

static void
compare_source_forecast (GObject      *source,
                         GAsyncResult *async,
                         gpointer      data)
{
  compare_source_changed (VN_COMPARE_SOURCE (source));
}

/* Of a file that cannot be measured. */
static void
compare_source_make_forecast (VnCompareSource *self)
{
  g_autoptr(GTask) task = NULL;

  if (self->model == NULL)
    return;
  task = g_task_new (self, NULL, compare_source_forecast, NULL);
  g_task_set_task_data (task, vn_compared_model_ref (self->model), (GDestroyNotify) vn_compared_model_unref);
  vn_thread_run_task (task, compare_source_run_forecast);
}

static void
compare_source_file_measured (GObject      *source,
                              GAsyncResult *async,
                              gpointer      data)
{
  g_autoptr(VnCompareSource) self = data;
  g_autoptr(VnErrorTable) errors = NULL;

  if (!compare_source_finish (self, source, async))
    {
      compare_source_make_forecast (self);
      return;
    }
  errors = vn_error_table_ref (vn_compare_job_get_errors (VN_JOB (source)));
  compare_source_end (self);
  compare_source_load_in_thread (self, errors);
}

/**
 * vn_compare_source_dup_data:
 * @result: (nullable): of a run: its samples
 * @shapes: (out) (transfer full) (nullable): sizes of inputs that the user gave
 * @n_calibration: (out): of them
 *
 * Returns: (transfer full): the samples to look at things with; random values, if none were chosen
 */
VnDataSpec *
vn_compare_source_dup_data (VnDocument  *document,
                            VnRun       *result,
                            GHashTable **shapes,
                            guint       *n_calibration)
{
  const VnDataSpec *data;
  VnDataSpec *copy;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && shapes != NULL && n_calibration != NULL, NULL);

  data = vn_bench_get_data (VN_BENCH (document));
  *n_calibration = 0;
  if (result != NULL && result->data != NULL)
    {
      data = result->data;
      *n_calibration = result->settings.n_calibration;
    }
  copy = data != NULL ? vn_data_spec_copy (data) : vn_data_spec_new (VN_DATA_RANDOM);
  *shapes = result != NULL && result->data != NULL && result->settings.shapes != NULL
            ? g_hash_table_ref (result->settings.shapes) : vn_bench_dup_given_shapes (VN_BENCH (document), copy);
  if (result == NULL)
    copy->max_samples = data != NULL ? vn_bench_get_n_samples (VN_BENCH (document)) : VN_MOST_MEASURED;
  return copy;
}

/* Against the float network, on the samples that there are. */
static void
compare_source_measure (VnCompareSource *self)
{
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnDataSpec) data = NULL;
  guint n_calibration;

  self->was_measured = TRUE;
  data = vn_compare_source_dup_data (self->document, NULL, &shapes, &n_calibration);
  data->max_samples = data->max_samples > 0 ? MIN (data->max_samples, VN_MOST_MEASURED) : VN_MOST_MEASURED;
  compare_source_start (self, vn_compare_job_new (vn_bench_get_model (VN_BENCH (self->document)), self->file, data, shapes, 0),
                        compare_source_file_measured);
}

/**
 * vn_compare_source_measure_again:
 *
 * For a file that could not be measured: something about the samples is otherwise now.
 */
void
vn_compare_source_measure_again (VnCompareSource *self)
{
  g_return_if_fail (VN_IS_COMPARE_SOURCE (self));

  if (!vn_compare_source_may_measure_again (self))
    return;
  g_clear_error (&self->error);
  compare_source_measure (self);
}

/* ---- a run without its networks ---- */

static void
compare_source_rebuilt (GObject      *source,
                        GAsyncResult *async,
                        gpointer      data)
{
  g_autoptr(VnCompareSource) self = data;

  if (!compare_source_finish (self, source, async))
    return;
  compare_source_set_model (self, vn_compared_model_new_result (vn_quantize_job_get_result (VN_JOB (source))));
  compare_source_end (self);
  compare_source_changed (self);
}

/**
 * vn_compare_source_rebuild:
 *
 * Quantizes once more as a run did that was kept, because its networks were not: then its tensors can be looked at.
 */
void
vn_compare_source_rebuild (VnCompareSource *self)
{
  VnRun *result, *now;
  VnQuantizeSettings settings;

  g_return_if_fail (VN_IS_COMPARE_SOURCE (self));

  result = self->model != NULL ? vn_compared_model_get_result (self->model) : NULL;
  if (result == NULL || result->data == NULL || vn_compare_source_is_busy (self) || vn_compared_model_has_network (self->model))
    return;
  now = vn_bench_get_confirmed (VN_BENCH (self->document));
  settings = (VnQuantizeSettings) { .model = result->source, .data = result->data, .recipe = result->recipe,
                                    .input_shapes = result->settings.shapes,
                                    .n_calibration = result->settings.n_calibration, .earlier = now != NULL ? now->stats : NULL };
  compare_source_start (self, vn_quantize_job_new (&settings), compare_source_rebuilt);
}

/* ---- public ---- */

/**
 * vn_compare_source_new:
 * @document: stays for as long as something is read or measured, even if its window is closed
 * @run: (nullable): of %VN_COMPARE_RUN
 * @path: (nullable): of %VN_COMPARE_FILE
 *
 * Returns: (transfer full): not loaded yet
 */
VnCompareSource *
vn_compare_source_new (VnDocument    *document,
                       VnCompareKind  kind,
                       VnProjectRun  *run,
                       const char    *path)
{
  VnCompareSource *self;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && (kind != VN_COMPARE_RUN || run != NULL) &&
                        (kind != VN_COMPARE_FILE || path != NULL), NULL);

  self = g_object_new (VN_TYPE_COMPARE_SOURCE, NULL);
  self->document = g_object_ref (document);
  self->kind = kind;
  self->run = run != NULL ? vn_project_run_ref (run) : NULL;
  self->path = g_strdup (path);
  compare_source_describe (self);
  return self;
}

static void
compare_source_load_run (VnCompareSource *self)
{
  VnRun *known = vn_bench_find_run_result (VN_BENCH (self->document), self->run);

  if (known != NULL)
    compare_source_set_model (self, vn_compared_model_new_result (known));
  else
    compare_source_load_in_thread (self, NULL);
}

/**
 * vn_compare_source_load:
 *
 * Begins to load it, if it is not there yet.
 */
void
vn_compare_source_load (VnCompareSource *self)
{
  VnModel *model;
  VnRun *result;

  g_return_if_fail (VN_IS_COMPARE_SOURCE (self));

  model = vn_bench_get_model (VN_BENCH (self->document));
  result = vn_bench_get_confirmed (VN_BENCH (self->document));
  if (self->model != NULL || model == NULL || vn_compare_source_is_busy (self) || self->error != NULL)
    return;
  if (self->kind == VN_COMPARE_FLOAT)
    compare_source_set_model (self, vn_compared_model_new_float (model));
  else if (self->kind == VN_COMPARE_NOW && result != NULL)
    compare_source_set_model (self, vn_compared_model_new_result (result));
  else if (self->kind == VN_COMPARE_RUN)
    compare_source_load_run (self);
  else if (self->kind == VN_COMPARE_FILE)
    compare_source_start (self, vn_open_job_new (self->path), compare_source_file_opened);
  if (self->model != NULL)
    compare_source_changed (self);
}

/**
 * vn_compare_source_forget_error:
 *
 * What failed may be tried again.
 */
void
vn_compare_source_forget_error (VnCompareSource *self)
{
  g_return_if_fail (VN_IS_COMPARE_SOURCE (self));

  g_clear_error (&self->error);
}

/**
 * vn_compare_source_update:
 * @run: (nullable): of %VN_COMPARE_RUN: as it is called now
 *
 * Another result is there: what the quantized network is now has to be looked at again.
 */
void
vn_compare_source_update (VnCompareSource *self,
                          VnProjectRun    *run)
{
  g_return_if_fail (VN_IS_COMPARE_SOURCE (self));

  if (run != NULL && run != self->run)
    {
      g_clear_pointer (&self->run, vn_project_run_unref);
      self->run = vn_project_run_ref (run);
    }
  compare_source_describe (self);
  if (self->kind == VN_COMPARE_NOW)
    compare_source_set_model (self, NULL);
}

/**
 * vn_compare_source_may_measure_again:
 *
 * Returns: whether it is a file that was opened but could not be measured
 */
gboolean
vn_compare_source_may_measure_again (VnCompareSource *self)
{
  g_return_val_if_fail (VN_IS_COMPARE_SOURCE (self), FALSE);

  return self->kind == VN_COMPARE_FILE && self->file != NULL && self->error != NULL && !vn_compare_source_is_busy (self);
}

gboolean
vn_compare_source_is_busy (VnCompareSource *self)
{
  g_return_val_if_fail (VN_IS_COMPARE_SOURCE (self), FALSE);

  return self->cancellable != NULL;
}

/**
 * vn_compare_source_cancel:
 *
 * Ends what goes on; what is there stays.
 */
void
vn_compare_source_cancel (VnCompareSource *self)
{
  g_return_if_fail (VN_IS_COMPARE_SOURCE (self));

  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
}
