/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model of a bench: opening one, and reading it once more. */
#include "bench-private.h"

#include "vn-i18n.h"

/* What was found out about the model before it is dropped; recipe, history and project are kept. */
static void
bench_open_show (VnBench          *self,
                 VnModel          *model,
                 const VnDataSpec *data)
{
  vn_bench_hold (self);
  vn_bench_cancel_origins (self);
  vn_bench_drop_check (self);
  vn_works_drop (self->works, VN_PLACE_WEIGHTS);
  vn_bench_forget_expected (self);
  vn_bench_let_go (self, self->subject, (GDestroyNotify) vn_subject_unref);   /* those who show its nodes have them still */
  self->subject = vn_subject_new (model, data, self->subject->n_samples);
  g_clear_pointer (&self->folder, vn_genai_folder_free);
  if (model != NULL && model->path != NULL)
    self->folder = vn_genai_folder_find (model->path);
  g_clear_pointer (&self->found.sizes, g_hash_table_unref);
  vn_bench_set_run (self, NULL);
  g_clear_pointer (&self->shown.run_subject, vn_subject_unref);
  g_clear_pointer (&self->shown.past_subject, vn_subject_unref);
  g_ptr_array_set_size (self->found.effects, 0);
  g_clear_object (&self->found.improved);
  g_clear_pointer (&self->found.curve, vn_curve_unref);
  vn_keeper_forget_digest (self->keeper);
  vn_file_watch_set_model (self->files, model);
  vn_bench_changed (self, VN_CHANGED_MODEL | VN_CHANGED_DATA | VN_CHANGED_RECIPE | VN_CHANGED_RUN | VN_CHANGED_EXPECTED |
                          VN_CHANGED_RUNS);
  vn_bench_release (self);
}

/* What is open now will not be any more: what was done is kept where it was. */
static void
bench_open_leave_project (VnBench *self)
{
  g_autofree char *title = vn_bench_dup_title (self), *left = vn_keeper_leave (self->keeper);

  if (left != NULL)
    vn_bench_notify (self, &(VnNotice) { .kind = VN_NOTICE_LEFT, .text = title, .path = left });
  vn_run_list_forget_removed (self->runs);
}

/**
 * vn_bench_set_model:
 * @model: (nullable): an opened model
 *
 * Shows @model. Runs, rules, history and samples of the model before it are dropped.
 */
void
vn_bench_set_model (VnBench *self,
                    VnModel *model)
{
  g_return_if_fail (VN_IS_BENCH (self));

  vn_bench_hold (self);
  bench_open_leave_project (self);
  vn_run_list_set (self->runs, NULL);
  vn_history_clear (self->history);
  g_ptr_array_set_size (self->recipe->overrides, 0);
  bench_open_show (self, model, NULL);
  vn_bench_release (self);
  vn_keeper_settle (self->keeper);   /* nothing was done yet */
}

static void
bench_open_begin (VnBench    *self,
                  const char *path,
                  gboolean    reloads)
{
  VnJob *job = vn_open_job_new (path);

  vn_open_job_leave_weights (job);
  vn_bench_hold (self);
  vn_bench_drop_front (self);
  self->opening.then = NULL;
  self->opening.reloads = reloads;
  vn_bench_start (self, VN_WORK_OPEN, job);
  vn_bench_release (self);
}

/**
 * vn_bench_open:
 * @path: an ONNX file, or a folder of onnxruntime-genai
 *
 * Reads the model in the background; the present one stays until the new one is ready.
 */
void
vn_bench_open (VnBench    *self,
               const char *path)
{
  g_autoptr(VnGenaiFolder) folder = NULL;
  g_autoptr(GError) error = NULL;

  g_return_if_fail (VN_IS_BENCH (self) && path != NULL);

  if (vn_genai_folder_is (path))
    {
      folder = vn_genai_folder_open (path, &error);
      if (folder == NULL)
        {
          vn_bench_report_error (self, vn_job_id_get_failure (VN_JOB_OPEN), error);
          return;
        }
      path = folder->model;
    }
  self->opening.is_demo = FALSE;
  g_clear_pointer (&self->opening.project, vn_project_free);
  g_clear_pointer (&self->opening.path, g_free);
  bench_open_begin (self, path, FALSE);
}

/**
 * vn_bench_reload:
 *
 * Reads the model once more in the background, from the file it came from. Recipe, history, samples and project stay.
 */
void
vn_bench_reload (VnBench *self)
{
  g_return_if_fail (VN_IS_BENCH (self));

  if (self->subject->model != NULL && self->subject->model->path != NULL)
    bench_open_begin (self, self->subject->model->path, TRUE);
}

/*< private >
 * vn_bench_take_model:
 * @job: has opened it
 */
void
vn_bench_take_model (VnBench  *self,
                     VnJob    *job,
                     gpointer  subject)
{
  void (*then) (VnBench *self) = g_steal_pointer (&self->opening.then);
  VnModel *model = vn_open_job_get_model (job);

  if (self->opening.reloads)
    bench_open_show (self, model, self->subject->data);
  else
    vn_bench_set_model (self, model);
  vn_bench_start (self, VN_WORK_WEIGHTS, vn_weights_job_new (model));
  if (then != NULL)
    then (self);
}

/*< private >
 * vn_bench_take_weights:
 * @job: has looked at the weights of the model that is open
 */
void
vn_bench_take_weights (VnBench  *self,
                       VnJob    *job,
                       gpointer  subject)
{
  VnNotes *found = vn_weights_job_get_notes (job);

  for (guint i = 0; i < vn_notes_get_n (found); i++)
    {
      const VnNote *note = vn_notes_get (found, i);

      vn_notes_add (self->subject->model->notes, note->level, note->code, note->subject, "%s", note->text);
    }
  vn_bench_changed (self, VN_CHANGED_NOTES);
}

/**
 * vn_bench_get_weights_job:
 *
 * Returns: (transfer none) (nullable): what looks at the weights of the model; the model can be worked on meanwhile
 */
VnJob *
vn_bench_get_weights_job (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return vn_works_get_job (self->works, VN_PLACE_WEIGHTS);
}

/**
 * vn_bench_leave_weights:
 *
 * Stops what looks at the weights of the model, without waiting for it or hearing of it: for whoever closes the bench.
 */
void
vn_bench_leave_weights (VnBench *self)
{
  g_return_if_fail (VN_IS_BENCH (self));

  vn_works_drop (self->works, VN_PLACE_WEIGHTS);
}

/* ---- the demo ---- */

static void
bench_open_quantize_demo (VnBench *self)
{
  g_autofree char *samples = g_build_filename (self->opening.demo, "samples", NULL);
  g_autoptr(VnDataSpec) data = NULL;
  g_autoptr(GError) error = NULL;

  if (!g_file_test (samples, G_FILE_TEST_IS_DIR))
    return;
  data = vn_data_spec_new (samples);
  vn_preprocess_set_preset (&data->preprocess, "minus-one-one", NULL);
  vn_bench_set_data (self, data);
  if (!vn_bench_quantize (self, &error))
    vn_bench_report_error (self, _("The demo could not be quantized"), error);
}

/**
 * vn_bench_open_demo:
 * @folder: with the demo's model and its samples
 *
 * Opens the demo's model, and quantizes it on its samples when it is there.
 */
void
vn_bench_open_demo (VnBench    *self,
                    const char *folder)
{
  g_autofree char *path = NULL;

  g_return_if_fail (VN_IS_BENCH (self) && folder != NULL);

  path = g_build_filename (folder, "demo.onnx", NULL);
  vn_bench_open (self, path);
  g_free (self->opening.demo);
  self->opening.demo = g_strdup (folder);
  self->opening.then = bench_open_quantize_demo;
  self->opening.is_demo = TRUE;
}

/**
 * vn_bench_is_demo:
 *
 * Returns: whether what was opened last is the demo
 */
gboolean
vn_bench_is_demo (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  return self->opening.is_demo;
}
