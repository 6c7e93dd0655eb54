/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The long work of a document: opening, quantizing and exporting in the background, one job at a time. */
#include "vn-document-private.h"

#include "vn-cure-job.h"
#include "vn-curve-job.h"
#include "vn-drop.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-verify-job.h"

#include <math.h>

static void
document_jobs_end_job (VnDocument *self)
{
  self->work = VN_WORK_NONE;
  g_clear_object (&self->job);
  g_clear_object (&self->cancellable);
}

/**
 * Prepared: what a run takes of the document.
 */
typedef struct
{
  VnDataSpec        *data;
  GHashTable        *given;      /* nullable */
  VnQuantizeSettings settings;   /* borrows them */
} Prepared;

static void
document_jobs_prepare (VnDocument *self,
                       Prepared   *prepared)
{
  if (self->data != NULL)
    {
      prepared->data = vn_data_spec_copy (self->data);
      prepared->data->max_samples = self->n_samples;
    }
  prepared->given = vn_document_dup_given_shapes (self, prepared->data);
  prepared->settings = (VnQuantizeSettings) { .model = self->model, .data = prepared->data, .recipe = self->recipe,
                                              .input_shapes = prepared->given };
}

static void
document_jobs_clear_prepared (Prepared *prepared)
{
  g_clear_pointer (&prepared->data, vn_data_spec_free);
  g_clear_pointer (&prepared->given, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Prepared, document_jobs_clear_prepared)

/**
 * vn_document_make_run:
 *
 * Returns: (transfer full): a job that quantizes with the present recipe on the present samples, if there are some
 */
VnJob *
vn_document_make_run (VnDocument *self)
{
  g_auto(Prepared) prepared = { 0 };

  document_jobs_prepare (self, &prepared);
  prepared.settings.earlier = self->result != NULL ? self->result->stats : NULL;
  return vn_quantize_job_new (&prepared.settings);
}

/* Other work would make it slower, and is taken up behind it. */
void
vn_document_make_room (VnDocument *self)
{
  self->origins_again = self->origins != NULL;
  vn_document_cancel_origins (self);
}

static void
document_jobs_job_ended (GObject      *source,
                         GAsyncResult *async,
                         gpointer      data)
{
  g_autoptr(VnDocument) self = data;
  g_autoptr(VnJob) job = g_object_ref (VN_JOB (source));
  g_autoptr(GError) error = NULL;
  gboolean ok = vn_job_finish (job, async, &error);
  VnWork work = self->work;
  gboolean again = self->again;

  if (self->job != job)   /* dropped in the meantime */
    return;
  document_jobs_end_job (self);
  self->again = FALSE;
  /* when the recipe has changed since, nobody wants what began with the one before */
  if (ok && !(again && (work == VN_WORK_IMPROVE || work == VN_WORK_CURES || work == VN_WORK_CURVE)))
    vn_document_take_job (self, job, work);
  else if (!ok && work == VN_WORK_VERIFY && g_error_matches (error, VN_VERIFY_ERROR, VN_VERIFY_ERROR_REFUSED))
    vn_document_take_refusal (self, error);
  else if (!ok && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_signal_emit (self, vn_document_signals[VN_SIGNAL_FAILED], 0, vn_job_id_get_failure (vn_job_get_id (job)), error);
  if (again && self->model != NULL && !vn_document_lacks_samples (self) && self->job == NULL)
    vn_document_quantize (self, NULL);
  else if (self->origins_again)
    vn_document_search_origins (self);
  self->origins_again = FALSE;
  vn_document_verify_usually (self);
  g_signal_emit (self, vn_document_signals[VN_SIGNAL_JOB], 0);
  vn_drop_memory ();
}

void
vn_document_start_job (VnDocument *self,
                       VnJob      *job,
                       VnWork      work)
{
  vn_document_drop_verifying (self);
  self->job = job;
  self->work = work;
  self->cancellable = g_cancellable_new ();
  vn_job_start (job, self->cancellable, document_jobs_job_ended, g_object_ref (self));
  g_signal_emit (self, vn_document_signals[VN_SIGNAL_JOB], 0);
}

static gboolean
document_jobs_can_run (VnDocument  *self,
                       gboolean     lacks_samples,
                       GError     **error)
{
  if (self->model != NULL && !lacks_samples)
    return vn_model_check_files (self->model, error);
  g_set_error_literal (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                       self->model == NULL ? _("No model is open.") : _("No samples have been chosen."));
  return FALSE;
}

gboolean
vn_document_is_idle (VnDocument  *self,
                     GError     **error)
{
  if (self->job == NULL)
    return TRUE;
  g_set_error_literal (error, VN_ERROR, VN_ERROR_SETTING, _("Another job is running: wait until it finishes, or cancel it."));
  return FALSE;
}

/* A result that a recipe from before the last change made is not what the user sees. */
gboolean
vn_document_has_network (VnDocument  *self,
                         GError     **error)
{
  if (self->past != NULL)
    g_set_error_literal (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                         _("The model of an earlier run is not stored: quantize again, then export."));
  else if (self->result == NULL)
    g_set_error_literal (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                         _("The model has not been quantized yet, so there is nothing to export."));
  else if (vn_document_get_expecting (self) != VN_EXPECTING_NOTHING)
    g_set_error_literal (error, VN_ERROR, VN_ERROR_SETTING,
                         _("The recipe has changed since the last full run: complete a full run, or revert the change."));
  else
    return TRUE;
  return FALSE;
}

/* Before anything is tried: there is nothing else that uses the processors, and nothing waits to be confirmed. */
static gboolean
document_jobs_can_try (VnDocument  *self,
                       Prepared    *prepared,
                       GError     **error)
{
  if (!document_jobs_can_run (self, self->data == NULL, error) || !vn_document_is_idle (self, error))
    return FALSE;
  vn_document_cancel_origins (self);
  if (vn_document_get_expecting (self) == VN_EXPECTING_SOON)
    vn_document_stop_expecting (self);
  document_jobs_prepare (self, prepared);
  self->job_data_serial = self->data_serial;
  return TRUE;
}

/* Stops what runs without waiting for it; its end is then nobody's business any more. */
static void
document_jobs_drop_job (VnDocument *self)
{
  if (self->job == NULL)
    return;
  g_cancellable_cancel (self->cancellable);
  document_jobs_end_job (self);
  self->again = FALSE;
  self->origins_again = FALSE;
}

/**
 * vn_document_drop_run:
 *
 * Stops what runs with a recipe that does not hold any more, without waiting for it.
 */
void
vn_document_drop_run (VnDocument *self)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  vn_document_cancel_origins (self);
  if (self->work != VN_WORK_QUANTIZE && self->work != VN_WORK_IMPROVE && self->work != VN_WORK_CURES && self->work != VN_WORK_CURVE &&
      self->work != VN_WORK_VERIFY)
    return;
  document_jobs_drop_job (self);
  g_signal_emit (self, vn_document_signals[VN_SIGNAL_JOB], 0);
}

/**
 * vn_document_open:
 * @path: an ONNX file
 *
 * Reads the model in the background; the present one stays until the new one is ready.
 */
void
vn_document_open (VnDocument *self,
                  const char *path)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  document_jobs_drop_job (self);
  self->opened = NULL;
  self->reloads = FALSE;
  self->is_demo = FALSE;
  g_clear_pointer (&self->project, vn_project_free);
  g_clear_pointer (&self->opening, g_free);
  vn_document_start_job (self, vn_open_job_new (path), VN_WORK_OPEN);
}

/**
 * vn_document_reload:
 *
 * Reads the model once more in the background, from the file it came from. Recipe, history, samples and project stay.
 */
void
vn_document_reload (VnDocument *self)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  if (self->model == NULL || self->model->path == NULL)
    return;
  document_jobs_drop_job (self);
  self->opened = NULL;
  self->reloads = TRUE;
  vn_document_start_job (self, vn_open_job_new (self->model->path), VN_WORK_OPEN);
}

/**
 * vn_document_quantize:
 *
 * Begins a run with the present recipe on the wanted number of samples, spread over what there is. Where the last one
 * had the same samples its statistics serve again.
 * While a run is under way it is stopped, and followed by one more.
 *
 * Returns: %FALSE if no model is open, or no samples have been chosen and the recipe takes some
 */
gboolean
vn_document_quantize (VnDocument  *self,
                      GError     **error)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  if (!document_jobs_can_run (self, vn_document_lacks_samples (self), error))
    return FALSE;
  vn_document_cancel_origins (self);
  if (self->job != NULL)
    {
      self->again = TRUE;
      if (self->work != VN_WORK_OPEN && self->work != VN_WORK_EXPORT)
        g_cancellable_cancel (self->cancellable);
      return TRUE;
    }
  self->job_data_serial = self->data_serial;
  if (vn_document_get_expecting (self) == VN_EXPECTING_SOON)
    vn_document_stop_expecting (self);
  vn_document_start_job (self, vn_document_make_run (self), VN_WORK_QUANTIZE);
  g_signal_emit (self, vn_document_signals[VN_SIGNAL_EXPECTED], 0);
  return TRUE;
}

/**
 * vn_document_improve:
 * @seconds: when all is to end
 * @accuracy_first: also what makes the export slower in ONNX Runtime
 *
 * Begins to try what may lower the error, starting from the present recipe. What was found is one step that can be undone; how
 * the single steps did is told by vn_document_get_tries().
 *
 * Returns: %FALSE if no model is open, no samples have been chosen, or something else is going on
 */
gboolean
vn_document_improve (VnDocument  *self,
                     double       seconds,
                     gboolean     accuracy_first,
                     GError     **error)
{
  g_auto(Prepared) prepared = { 0 };
  VnImproveSettings settings = { .seconds = seconds, .accuracy_first = accuracy_first };

  g_return_val_if_fail (VN_IS_DOCUMENT (self) && seconds > 0, FALSE);

  if (!document_jobs_can_try (self, &prepared, error))
    return FALSE;
  settings.quantize = prepared.settings;
  settings.plain = self->past == NULL && !vn_document_is_stale (self) ? self->result : NULL;
  self->improve_ends = g_get_monotonic_time () + (gint64) (seconds * G_USEC_PER_SEC);
  vn_document_start_job (self, vn_improve_job_new (&settings), VN_WORK_IMPROVE);
  return TRUE;
}

/**
 * vn_document_measure_cures:
 * @seconds: no cure is tried that would probably take longer
 *
 * Begins to measure what the cures of the present result gain; it comes again with them.
 *
 * Returns: %FALSE if no model is open, no samples have been chosen, or something else is going on
 */
gboolean
vn_document_measure_cures (VnDocument  *self,
                           double       seconds,
                           GError     **error)
{
  g_auto(Prepared) prepared = { 0 };
  VnCureSettings settings = { .seconds = seconds, .n_tensors = VN_CURE_TENSORS };

  g_return_val_if_fail (VN_IS_DOCUMENT (self) && seconds > 0, FALSE);

  if (!document_jobs_can_try (self, &prepared, error))
    return FALSE;
  settings.quantize = prepared.settings;
  vn_document_start_job (self, vn_cure_job_new (&settings), VN_WORK_CURES);
  return TRUE;
}

/**
 * vn_document_measure_curve:
 * @cost: what accuracy is paid with
 *
 * Begins to calculate what mixed precision can make of the present recipe, which stays: vn_document_get_curve().
 *
 * Returns: %FALSE if no model is open, no samples have been chosen, or something else is going on
 */
gboolean
vn_document_measure_curve (VnDocument   *self,
                           VnCurveCost   cost,
                           GError      **error)
{
  g_auto(Prepared) prepared = { 0 };
  VnCurveSettings settings = { .cost = cost, .target_db = NAN, .most_float = NAN };

  g_return_val_if_fail (VN_IS_DOCUMENT (self) && cost < VN_N_CURVE_COSTS, FALSE);

  if (!document_jobs_can_try (self, &prepared, error))
    return FALSE;
  settings.quantize = prepared.settings;
  vn_document_start_job (self, vn_curve_job_new (&settings), VN_WORK_CURVE);
  return TRUE;
}

/**
 * vn_document_verify:
 *
 * Begins to run what the present result exports in ONNX Runtime; the result comes again with what was measured.
 *
 * Returns: %FALSE if there is nothing to export, or something else is going on
 */
gboolean
vn_document_verify (VnDocument  *self,
                    GError     **error)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  if (!vn_document_has_network (self, error) || !vn_document_is_idle (self, error))
    return FALSE;
  vn_document_make_room (self);
  vn_document_start_job (self, vn_verify_job_new_for_result (self->result, NULL, NULL, TRUE), VN_WORK_VERIFY);
  return TRUE;
}

VnJob *
vn_document_get_job (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return self->job;
}

/**
 * vn_document_cancel:
 *
 * Asks the running job to end, or else the measurement of what a change does, or the search for where error starts. What was there
 * before it stays.
 */
void
vn_document_cancel (VnDocument *self)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  self->again = FALSE;
  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  else if (!vn_document_cancel_expecting (self))
    vn_document_cancel_origins (self);
}
