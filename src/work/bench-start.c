/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Long work of a bench: how each kind begins and ends, and what makes room for what. */
#include "bench-private.h"

#include "vn-drop.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-origins-job.h"
#include "vn-verify-job.h"

/* ---- end ---- */

/* What waits is begun once more. */
static void
bench_start_go_on (VnBench  *self,
                   gboolean  again)
{
  if (again && self->subject->model != NULL && !vn_bench_lacks_samples (self) &&
      vn_works_get_job (self->works, VN_PLACE_FRONT) == NULL)
    vn_bench_works[VN_WORK_QUANTIZE].start (self, NULL);
  else if (self->waiting.origins)
    vn_bench_works[VN_WORK_ORIGINS].start (self, NULL);
  self->waiting.origins = FALSE;
  vn_bench_verify_usually (self);
}

/* An export that ONNX Runtime refuses is something that is known of it. */
static gboolean
bench_start_take_refusal (VnBench      *self,
                          VnWork        work,
                          gpointer      network,
                          const GError *error)
{
  g_autoptr(VnRun) refused = NULL;
  const gboolean was_asked = work == VN_WORK_VERIFY;

  if (!(was_asked && g_error_matches (error, VN_VERIFY_ERROR, VN_VERIFY_ERROR_REFUSED)) && work != VN_WORK_CHECK)
    return FALSE;
  if (self->shown.run == NULL || (!was_asked && self->shown.run->quantized != network))
    return TRUE;
  refused = vn_job_note_unverified (self->shown.run, error, was_asked);
  vn_bench_take_measured (self, refused);
  return TRUE;
}

static void
bench_start_ended (gpointer      owner,
                   VnWork        work,
                   VnJob        *job,
                   gpointer      subject,
                   const GError *error)
{
  g_autoptr(VnBench) self = g_object_ref (VN_BENCH (owner));
  const VnWorkInfo *info = vn_work_get_info (work);
  const gboolean is_front = info->place == VN_PLACE_FRONT;
  const gboolean again = is_front && self->waiting.quantize;
  /* when the recipe has changed since, nobody wants what began with the one before */
  const gboolean is_moot = again && (info->flags & VN_WORK_TRIES) != 0;

  if (is_front)
    self->waiting.quantize = FALSE;
  vn_bench_hold (self);
  vn_bench_changed (self, VN_CHANGED_WORK);
  if (error == NULL && !is_moot)
    vn_bench_works[work].take (self, job, subject);
  else if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    vn_bench_notify (self, &(VnNotice) { .kind = VN_NOTICE_CANCELED, .text = "", .error = error });
  else if (error != NULL && !bench_start_take_refusal (self, work, subject, error))
    vn_bench_report_error (self, vn_job_id_get_failure (vn_job_get_id (job)), error);
  vn_bench_release (self);
  if (error == NULL && !is_moot && (is_front || info->done != NULL))
    vn_bench_notify (self, &(VnNotice) { .kind = VN_NOTICE_DONE, .text = info->done != NULL ? _(info->done) : "" });
  if (is_front)
    bench_start_go_on (self, again);
  vn_drop_memory ();
}

const VnWorksFuncs vn_bench_works_funcs = { bench_start_ended };

/* ---- begin ---- */

/*< private >
 * vn_bench_start:
 * @job: (transfer full): nothing is under way in the place of @work
 */
void
vn_bench_start (VnBench *self,
                VnWork   work,
                VnJob   *job)
{
  if (vn_work_get_info (work)->place == VN_PLACE_FRONT)
    vn_bench_drop_check (self);
  vn_works_start (self->works, work, job, vn_subject_ref (self->subject), (GDestroyNotify) vn_subject_unref);
  vn_bench_changed (self, VN_CHANGED_WORK);
}

/*< private >
 * vn_bench_is_idle:
 *
 * Returns: whether nothing is under way that the user waits for
 */
gboolean
vn_bench_is_idle (VnBench  *self,
                  GError  **error)
{
  if (vn_works_get_job (self->works, VN_PLACE_FRONT) == NULL)
    return TRUE;
  g_set_error_literal (error, VN_ERROR, VN_ERROR_SETTING, _("Another job is running: wait until it finishes, or cancel it."));
  return FALSE;
}

/*< private >
 * vn_bench_prepare:
 * @prepared: (out caller-allocates): settings for a run with the present recipe on the present samples
 */
void
vn_bench_prepare (VnBench         *self,
                  VnBenchPrepared *prepared)
{
  VnQuantizeSettings *settings = &prepared->settings;

  prepared->data = vn_subject_dup_data (self->subject);
  prepared->given = vn_subject_dup_given_shapes (self->subject, prepared->data);
  *settings = self->batch != NULL ? *self->batch : (VnQuantizeSettings) { 0 };
  settings->model = self->subject->model;
  settings->data = prepared->data;
  settings->recipe = self->recipe;
  settings->input_shapes = prepared->given;
}

void
vn_bench_clear_prepared (VnBenchPrepared *prepared)
{
  g_clear_pointer (&prepared->data, vn_data_spec_free);
  g_clear_pointer (&prepared->given, g_hash_table_unref);
}

/*< private >
 * vn_bench_make_run:
 *
 * Returns: (transfer full): a job that quantizes with the present recipe on the present samples, if there are some
 */
VnJob *
vn_bench_make_run (VnBench *self)
{
  g_auto(VnBenchPrepared) prepared = { 0 };

  vn_bench_prepare (self, &prepared);
  prepared.settings.earlier = self->shown.run != NULL ? self->shown.run->stats : NULL;
  return vn_quantize_job_new (&prepared.settings);
}

/* ---- stop ---- */

/*< private >
 * vn_bench_drop_front:
 *
 * Stops what the user waits for without waiting for its end, which nobody hears of.
 */
void
vn_bench_drop_front (VnBench *self)
{
  if (!vn_works_drop (self->works, VN_PLACE_FRONT))
    return;
  self->waiting.quantize = FALSE;
  self->waiting.origins = FALSE;
}

/*< private >
 * vn_bench_drop_stale:
 *
 * Stops what runs with a recipe that does not hold any more, without waiting for it.
 */
void
vn_bench_drop_stale (VnBench *self)
{
  vn_bench_cancel_origins (self);
  if ((vn_work_get_info (vn_works_get_work (self->works, VN_PLACE_FRONT))->flags & VN_WORK_STALE) == 0)
    return;
  vn_bench_drop_front (self);
  vn_bench_changed (self, VN_CHANGED_WORK);
}

/*< private >
 * vn_bench_make_room:
 *
 * Other work would make it slower, and is begun once more behind it.
 */
void
vn_bench_make_room (VnBench *self)
{
  self->waiting.origins = vn_works_get_job (self->works, VN_PLACE_SEARCH) != NULL;
  vn_bench_cancel_origins (self);
}

/* ---- where error starts ---- */

/**
 * vn_bench_cancel_origins:
 *
 * Stops the search for where error starts without waiting for it.
 */
void
vn_bench_cancel_origins (VnBench *self)
{
  g_return_if_fail (VN_IS_BENCH (self));

  if (vn_works_drop (self->works, VN_PLACE_SEARCH))
    vn_bench_changed (self, VN_CHANGED_WORK);
}

/*< private >
 * vn_bench_find_origins:
 * @run: that gave the present run, or that would give it again
 *
 * Begins to look for where the error of the present run starts. The run stays usable; it comes again, with what was found, when
 * the search is over.
 */
void
vn_bench_find_origins (VnBench *self,
                       VnJob   *run)
{
  vn_bench_cancel_origins (self);
  if (self->batch == NULL && self->shown.run != NULL && self->shown.run->errors != NULL && self->shown.run->contributions == NULL)
    vn_bench_start (self, VN_WORK_ORIGINS, vn_origins_job_new (run, self->shown.run));
}

/**
 * vn_bench_get_origins_job:
 *
 * Returns: (transfer none) (nullable): the search that is under way
 */
VnJob *
vn_bench_get_origins_job (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return vn_works_get_job (self->works, VN_PLACE_SEARCH);
}

/* ---- runtimes, unasked ---- */

static gboolean
bench_start_was_verified (VnRun *result)
{
  for (guint i = 0; i < vn_notes_get_n (result->notes); i++)
    if (g_str_equal (vn_notes_get (result->notes, i)->code, VN_NOTE_CODE_NOT_VERIFIED))
      return TRUE;
  return result->verification != NULL;
}

static void
bench_start_look (GTask        *task,
                  gpointer      source,
                  gpointer      data,
                  GCancellable *cancellable)
{
  vn_verify_job_look_for_runtimes (cancellable);
  g_task_return_boolean (task, TRUE);
}

/* That it is missing, if it is, is to be seen at once. */
static void
bench_start_looked (GObject      *source,
                    GAsyncResult *async,
                    gpointer      data)
{
  g_autofree GWeakRef *place = data;
  g_autoptr(VnBench) self = g_weak_ref_get (place);
  gboolean ok = g_task_propagate_boolean (G_TASK (async), NULL);

  g_weak_ref_clear (place);
  if (self == NULL || !ok)
    return;
  g_clear_object (&self->looking);
  vn_bench_changed (self, VN_CHANGED_WORK);
}

/**
 * vn_bench_look_for_runtimes:
 *
 * Begins to look which runtimes there are on this machine, unless that is known or not wanted; "work-changed" tells that it is
 * known: vn_verify_runtime_get_state().
 */
void
vn_bench_look_for_runtimes (VnBench *self)
{
  g_autoptr(GTask) task = NULL;
  GWeakRef *place;

  g_return_if_fail (VN_IS_BENCH (self));

  if (!vn_verify_job_is_usual () || !vn_verify_job_needs_look () || self->looking != NULL)
    return;
  place = g_new0 (GWeakRef, 1);
  g_weak_ref_init (place, self);
  self->looking = g_cancellable_new ();
  task = g_task_new (NULL, self->looking, bench_start_looked, place);
  g_task_run_in_thread (task, bench_start_look);
}

/*< private >
 * vn_bench_drop_check:
 *
 * Stops what vn_bench_verify_usually() began, without waiting for it.
 */
void
vn_bench_drop_check (VnBench *self)
{
  if (self->looking != NULL)
    g_cancellable_cancel (self->looking);
  g_clear_object (&self->looking);
  vn_works_drop (self->works, VN_PLACE_CHECK);
}

/*< private >
 * vn_bench_verify_usually:
 *
 * Begins to run what the present run exports in ONNX Runtime, if that is usual, it has not been tried yet, and nothing else goes
 * on. Of an earlier run, whose network is not kept, looks only whether there is an ONNX Runtime.
 */
void
vn_bench_verify_usually (VnBench *self)
{
  g_autoptr(GError) reason = NULL;
  g_autoptr(VnRun) refused = NULL;

  if (self->batch != NULL)
    return;
  /* of an earlier run there is nothing to be run, but it is told whether there could be */
  if (self->shown.past != NULL && self->shown.past->verification == NULL)
    vn_bench_look_for_runtimes (self);
  if (!vn_verify_job_is_usual () || vn_works_get_job (self->works, VN_PLACE_FRONT) != NULL ||
      vn_works_get_job (self->works, VN_PLACE_CHECK) != NULL || !vn_bench_has_network (self, NULL) ||
      bench_start_was_verified (self->shown.run))
    return;
  if (vn_verify_job_suits (self->shown.run, &reason))
    {
      vn_works_start (self->works, VN_WORK_CHECK, vn_verify_job_new_for_result (self->shown.run, NULL, NULL, FALSE),
                      vn_model_ref (self->shown.run->quantized), (GDestroyNotify) vn_model_unref);
      return;
    }
  refused = vn_job_note_unverified (self->shown.run, reason, FALSE);
  vn_bench_take_measured (self, refused);
}
