/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for where the error of the result starts: a job beside the one that the user waits for. */
#include "vn-document-private.h"

#include "vn-drop.h"
#include "vn-i18n.h"
#include "vn-origins-job.h"

static void
document_origins_emit (VnDocument *self,
                       guint       signal)
{
  g_signal_emit (self, vn_document_signals[signal], 0);
}

/**
 * vn_document_renew_run:
 * @result: of the last run, with what was found out since
 *
 * The run that is kept of the result learns of it, too.
 */
void
vn_document_renew_run (VnDocument *self,
                       VnResult   *result)
{
  const VnProjectRun *last = self->runs->len > 0 ? g_ptr_array_index (self->runs, self->runs->len - 1) : NULL;
  g_autoptr(VnRunRecord) record = NULL;
  g_autoptr(VnResult) named = NULL;
  VnProjectRun *renewed;

  if (last == NULL || last->time != result->time)
    return;
  named = vn_document_dup_named (self, result);
  record = vn_run_record_new (named);
  renewed = vn_project_run_new (last->id, record);
  vn_project_run_set_name (renewed, last->name);
  g_ptr_array_add (self->runs, renewed);
  g_ptr_array_remove_index (self->runs, self->runs->len - 2);
  vn_document_touch (self);
  document_origins_emit (self, VN_SIGNAL_RUNS);
}

/* What was measured in ONNX Runtime while the search was under way stays known. */
static VnResult *
document_origins_join (VnDocument *self,
                       VnResult   *found)
{
  VnResult *shown = self->result;

  if (shown == NULL || shown->quantized != found->quantized || shown->notes == found->notes)
    return vn_result_ref (found);
  return vn_result_new_with_verification (found, shown->verification, shown->forecast != NULL ? vn_runtime_forecast_copy (shown->forecast) : NULL,
                                          shown->notes);
}

static void
document_origins_ended (GObject      *source,
                        GAsyncResult *async,
                        gpointer      data)
{
  g_autoptr(VnDocument) self = data;
  g_autoptr(VnJob) job = g_object_ref (VN_JOB (source));
  g_autoptr(GError) error = NULL;
  gboolean ok = vn_job_finish (job, async, &error);
  VnResult *result = vn_origins_job_get_result (job);

  if (self->origins != job)   /* dropped in the meantime */
    return;
  g_clear_object (&self->origins);
  g_clear_object (&self->origins_cancellable);
  if (ok && result != NULL)
    {
      g_autoptr(VnResult) joined = document_origins_join (self, result);

      vn_document_renew_run (self, joined);
      vn_document_set_result (self, joined);
    }
  else if (!ok && !g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_signal_emit (self, vn_document_signals[VN_SIGNAL_FAILED], 0, _("The error sources could not be determined"), error);
  document_origins_emit (self, VN_SIGNAL_ORIGINS);
  vn_drop_memory ();
}

/**
 * vn_document_cancel_origins:
 *
 * Stops the search for where error starts without waiting for it.
 */
void
vn_document_cancel_origins (VnDocument *self)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  if (self->origins == NULL)
    return;
  g_cancellable_cancel (self->origins_cancellable);
  g_clear_object (&self->origins);
  g_clear_object (&self->origins_cancellable);
  document_origins_emit (self, VN_SIGNAL_ORIGINS);
}

/**
 * vn_document_find_origins:
 * @run: that gave the present result, or that would give it again
 *
 * Begins to look for where the error of the present result starts. The result stays usable; it comes again, with what was
 * found, when the search is over.
 */
void
vn_document_find_origins (VnDocument *self,
                          VnJob      *run)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  vn_document_cancel_origins (self);
  if (self->result == NULL || self->result->errors == NULL || self->result->contributions != NULL)
    return;
  self->origins = vn_origins_job_new (run, self->result);
  self->origins_cancellable = g_cancellable_new ();
  vn_job_start (self->origins, self->origins_cancellable, document_origins_ended, g_object_ref (self));
  document_origins_emit (self, VN_SIGNAL_ORIGINS);
}

/**
 * vn_document_search_origins:
 *
 * Begins the search once more, after it was cancelled: the present recipe is run again for it.
 *
 * Returns: %FALSE if there is nothing to look for, or the result is not that of the present recipe and samples
 */
gboolean
vn_document_search_origins (VnDocument *self)
{
  g_autoptr(VnJob) run = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  if (self->data == NULL || self->job != NULL || self->result == NULL || vn_document_is_stale (self))
    return FALSE;
  run = vn_document_make_run (self);
  vn_document_find_origins (self, run);
  return self->origins != NULL;
}

/**
 * vn_document_get_origins_job:
 *
 * Returns: (transfer none) (nullable): the search that is under way
 */
VnJob *
vn_document_get_origins_job (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return self->origins;
}
