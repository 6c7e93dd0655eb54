/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs what a document exports in ONNX Runtime without being asked, beside everything else: the result learns of it when it is known. Where
 * there is no ONNX Runtime it is installed, if the user wants that, beside everything else, too. */
#include "vn-document-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-ort-install.h"
#include "vn-verify-job.h"

static gboolean
document_verify_was_tried (VnResult *result)
{
  for (guint i = 0; i < vn_notes_get_n (result->notes); i++)
    if (g_str_equal (vn_notes_get (result->notes, i)->code, VN_NOTE_CODE_NOT_VERIFIED))
      return TRUE;
  return result->verification != NULL;
}

/* The result may have learned other things of the same network since. */
static void
document_verify_take (VnDocument   *self,
                      VnJob        *job,
                      const GError *reason)
{
  VnResult *found = reason == NULL ? vn_verify_job_get_verified (job) : NULL;
  g_autoptr(VnResult) result = NULL;

  if (self->result == NULL || self->result->quantized != self->verified_network || document_verify_was_tried (self->result))
    return;
  result = found != NULL ? vn_job_take_verification (self->result, found->verification, vn_verify_job_get_kernels (job))
                         : vn_job_note_unverified (self->result, reason, FALSE);
  vn_document_take_measured (self, result);
}

static void
document_verify_ended (GObject      *source,
                       GAsyncResult *async,
                       gpointer      data)
{
  g_autoptr(VnDocument) self = data;
  g_autoptr(VnJob) job = g_object_ref (VN_JOB (source));
  g_autoptr(GError) error = NULL;
  gboolean ok = vn_job_finish (job, async, &error);

  if (self->verifying != job)   /* dropped in the meantime */
    return;
  if (ok || !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    document_verify_take (self, job, error);
  vn_document_drop_verifying (self);
}

/**
 * vn_document_drop_verifying:
 *
 * Stops what vn_document_verify_usually() began, without waiting for it.
 */
void
vn_document_drop_verifying (VnDocument *self)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  if (self->looking != NULL)
    g_cancellable_cancel (self->looking);
  g_clear_object (&self->looking);
  if (self->verifying == NULL)
    return;
  g_cancellable_cancel (self->verifying_cancellable);
  g_clear_object (&self->verifying);
  g_clear_object (&self->verifying_cancellable);
  g_clear_pointer (&self->verified_network, vn_model_unref);
}

static void
document_verify_look (GTask        *task,
                      gpointer      source,
                      gpointer      data,
                      GCancellable *cancellable)
{
  vn_verify_job_look_for_runtime (cancellable);
  g_task_return_boolean (task, TRUE);
}

/* That it is missing, if it is, is to be seen at once. */
static void
document_verify_looked (GObject      *source,
                        GAsyncResult *async,
                        gpointer      data)
{
  g_autofree GWeakRef *place = data;
  g_autoptr(VnDocument) self = g_weak_ref_get (place);
  gboolean ok = g_task_propagate_boolean (G_TASK (async), NULL);

  g_weak_ref_clear (place);
  if (self == NULL || !ok)
    return;
  g_clear_object (&self->looking);
  g_signal_emit (self, vn_document_signals[VN_SIGNAL_JOB], 0);
}

/* Of an earlier run there is nothing to be run, but it is told whether there could be. */
static void
document_verify_begin_look (VnDocument *self)
{
  g_autoptr(GTask) task = NULL;
  GWeakRef *place;

  if (vn_verify_job_lacks_runtime () || self->looking != NULL)
    return;
  place = g_new0 (GWeakRef, 1);
  g_weak_ref_init (place, self);
  self->looking = g_cancellable_new ();
  task = g_task_new (NULL, self->looking, document_verify_looked, place);
  g_task_run_in_thread (task, document_verify_look);
}

/**
 * vn_document_verify_usually:
 *
 * Begins to run what the present result exports in ONNX Runtime, if that is usual, it has not been tried yet, and nothing else goes on. Of
 * an earlier run, whose network is not kept, looks only whether there is an ONNX Runtime.
 */
void
vn_document_verify_usually (VnDocument *self)
{
  g_autoptr(GError) reason = NULL;

  g_return_if_fail (VN_IS_DOCUMENT (self));

  if (vn_verify_job_is_usual () && self->past != NULL && self->past->verification == NULL)
    document_verify_begin_look (self);
  if (!vn_verify_job_is_usual () || self->job != NULL || self->verifying != NULL || !vn_document_has_network (self, NULL) ||
      document_verify_was_tried (self->result))
    return;
  self->verified_network = vn_model_ref (self->result->quantized);
  self->verifying = vn_verify_job_new_for_result (self->result, NULL, NULL, FALSE);
  if (!vn_verify_job_suits (self->result, &reason))
    {
      document_verify_take (self, self->verifying, reason);
      vn_document_drop_verifying (self);
      return;
    }
  self->verifying_cancellable = g_cancellable_new ();
  vn_job_start (self->verifying, self->verifying_cancellable, document_verify_ended, g_object_ref (self));
}

/* ---- installing ---- */

static void
document_verify_installed (GObject      *source,
                           GAsyncResult *async,
                           gpointer      data)
{
  g_autofree GWeakRef *place = data;
  g_autoptr(VnDocument) self = g_weak_ref_get (place);
  g_autoptr(GError) error = NULL;
  gboolean ok = vn_job_finish (VN_JOB (source), async, &error);

  g_weak_ref_clear (place);
  if (self == NULL)
    return;
  g_clear_object (&self->installing);
  g_clear_object (&self->installing_cancellable);
  if (!ok && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_signal_emit (self, vn_document_signals[VN_SIGNAL_FAILED], 0, _("ONNX Runtime was not installed"), error);
  if (ok)
    g_signal_emit (self, vn_document_signals[VN_SIGNAL_DONE], 0, _("ONNX Runtime is installed"));
  if (!ok || !vn_document_verify (self, NULL))   /* what was waited for; other work goes on, and may verify its own */
    g_signal_emit (self, vn_document_signals[VN_SIGNAL_JOB], 0);
}

/**
 * vn_document_install_runtime:
 *
 * Begins to make a Python environment with onnxruntime in the folder of caches, beside everything else; ask the user before. What the
 * document exports is run there afterwards, if nothing else goes on then.
 *
 * Returns: %FALSE if that goes on already
 */
gboolean
vn_document_install_runtime (VnDocument  *self,
                             GError     **error)
{
  GWeakRef *place;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  if (self->installing != NULL)
    {
      g_set_error_literal (error, VN_ERROR, VN_ERROR_SETTING, _("Another job is running: wait until it finishes, or "
                                                                "cancel it."));
      return FALSE;
    }
  place = g_new0 (GWeakRef, 1);
  g_weak_ref_init (place, self);
  self->installing = vn_ort_install_new (NULL);
  self->installing_cancellable = g_cancellable_new ();
  vn_job_start (self->installing, self->installing_cancellable, document_verify_installed, place);
  g_signal_emit (self, vn_document_signals[VN_SIGNAL_JOB], 0);
  return TRUE;
}

/**
 * vn_document_cancel_install:
 *
 * Asks the installation of ONNX Runtime to end, if there is one: nothing stays of it.
 */
void
vn_document_cancel_install (VnDocument *self)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  if (self->installing_cancellable != NULL)
    g_cancellable_cancel (self->installing_cancellable);
}

/**
 * vn_document_get_install_job:
 *
 * Returns: (transfer none) (nullable): the job that installs ONNX Runtime; its end is told by "job-changed"
 */
VnJob *
vn_document_get_install_job (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return self->installing;
}
