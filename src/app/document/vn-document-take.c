/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the document takes of a job that has ended: a model, a result, or what it learned of the present one. */
#include "vn-document-private.h"

#include "vn-cure-job.h"
#include "vn-curve-job.h"
#include "vn-export-job.h"
#include "vn-i18n.h"
#include "vn-verify-job.h"

#include <math.h>

/* The same once more is not another run. */
static VnProjectRun *
document_take_find_same (VnDocument         *self,
                         const VnProjectRun *run)
{
  for (guint i = 0; i < self->runs->len; i++)
    {
      VnProjectRun *old = g_ptr_array_index (self->runs, i);

      if (g_strcmp0 (old->recipe_digest, run->recipe_digest) == 0 && old->quantized_bytes == run->quantized_bytes &&
          (old->mean_sqnr == run->mean_sqnr || (isnan (old->mean_sqnr) && isnan (run->mean_sqnr))))
        return old;
    }
  return NULL;
}

/* What is left of a run when there is another result: a project can keep it. */
static void
document_take_keep_run (VnDocument *self,
                        VnResult   *result)
{
  g_autoptr(VnResult) named = vn_document_dup_named (self, result);
  g_autoptr(VnRunRecord) record = vn_run_record_new (named);
  g_autofree char *id = vn_project_run_make_id ();
  g_autoptr(VnProjectRun) run = vn_project_run_new (id, record);
  VnProjectRun *same = document_take_find_same (self, run);

  if (same != NULL)
    {
      g_autoptr(VnProjectRun) again = vn_project_run_new (same->id, record);

      vn_project_run_set_name (again, same->name);
      g_ptr_array_remove (self->runs, same);
      g_ptr_array_add (self->runs, g_steal_pointer (&again));
    }
  else
    g_ptr_array_add (self->runs, g_steal_pointer (&run));
  vn_document_touch (self);
  g_signal_emit (self, vn_document_signals[VN_SIGNAL_RUNS], 0);
}

static void
document_take_model (VnDocument *self,
                     VnJob      *job)
{
  void (*opened) (VnDocument *self) = g_steal_pointer (&self->opened);

  if (self->reloads)
    vn_document_renew_model (self, vn_open_job_get_model (job));
  else
    vn_document_set_model (self, vn_open_job_get_model (job));
  if (opened != NULL)
    opened (self);
}

static void
document_take_result (VnDocument *self,
                      VnResult   *result,
                      GHashTable *sizes)
{
  self->result_fits = self->data_serial == self->job_data_serial;
  if (self->result_fits && self->input_shapes != NULL && sizes != NULL)
    {
      g_clear_pointer (&self->sizes, g_hash_table_unref);
      self->sizes = g_hash_table_ref (sizes);
    }
  g_clear_pointer (&self->result_recipe, vn_recipe_free);
  self->result_recipe = vn_recipe_copy (result->recipe);
  document_take_keep_run (self, result);
  vn_document_judge_effects (self, result);
  vn_document_set_result (self, result);
  if (self->result_fits)
    vn_document_make_what_if (self);
}

/**
 * vn_document_take_known:
 * @known: of a whole run with the present recipe and samples
 *
 * Shows it once more.
 */
void
vn_document_take_known (VnDocument *self,
                        VnResult   *known)
{
  g_return_if_fail (VN_IS_DOCUMENT (self) && known != NULL);

  g_clear_pointer (&self->result_recipe, vn_recipe_free);
  self->result_recipe = vn_recipe_copy (known->recipe);
  vn_document_judge_effects (self, known);
  vn_document_set_result (self, known);
  vn_document_search_origins (self);
}

static void
document_take_run (VnDocument *self,
                   VnJob      *run)
{
  g_autoptr(VnResult) result = vn_document_join_curve (self, vn_quantize_job_get_result (run));

  document_take_result (self, result, vn_quantize_job_get_shapes (run));
  vn_document_find_origins (self, run);
}

/* Of a job that tells nothing of where its error starts. */
static void
document_take_whole (VnDocument *self,
                     VnResult   *result)
{
  g_autoptr(VnJob) run = NULL;

  document_take_result (self, result, NULL);
  if (!self->result_fits)
    return;
  run = vn_document_make_run (self);
  vn_document_find_origins (self, run);
}

/* What was found becomes one step of the recipe. */
static void
document_take_improved (VnDocument *self,
                        VnJob      *job)
{
  VnResult *result = vn_improve_job_get_result (job);

  vn_document_take_recipe (self, vn_recipe_copy (result->recipe), _("Improved automatically"));
  g_clear_pointer (&self->improved, g_object_unref);
  self->improved = g_object_ref (job);
  document_take_whole (self, result);
}

/* The present result learns of the curve; where there is none of this recipe, that of the job is one. */
static void
document_take_curve (VnDocument *self,
                     VnJob      *job)
{
  VnResult *found = vn_curve_job_get_result (job);
  g_autoptr(VnResult) result = vn_document_take_curve (self, found);

  if (result == NULL)
    {
      document_take_whole (self, found);
      return;
    }
  vn_document_renew_run (self, result);
  vn_document_set_result (self, result);
}

/* The result stays what it is, but now it is known what its cures gain. */
static void
document_take_cures (VnDocument *self,
                     VnJob      *job)
{
  VnResult *found = vn_cure_job_get_result (job);
  g_autoptr(VnResult) result = NULL;

  if (self->result == NULL || !vn_recipe_equal (self->result->recipe, found->recipe))
    return;
  result = vn_result_new_with_contributions (self->result, found->contributions);
  result->diagnosis = vn_diagnosis_ref (found->diagnosis);
  vn_document_set_result (self, result);
}

/**
 * vn_document_take_measured:
 * @result: (nullable): the same run with measured figures, or with a note that there are none
 */
void
vn_document_take_measured (VnDocument *self,
                           VnResult   *result)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  if (result == NULL || result == self->result || result == self->past || vn_document_get_expecting (self) != VN_EXPECTING_NOTHING)
    return;
  vn_document_renew_run (self, result);
  vn_document_set_result (self, result);
}

/*< private >
 * vn_document_take_refusal:
 * @reason: why ONNX Runtime refuses the export, which is what there is to know of it
 */
void
vn_document_take_refusal (VnDocument   *self,
                          const GError *reason)
{
  g_autoptr(VnResult) refused = NULL;

  g_return_if_fail (VN_IS_DOCUMENT (self) && reason != NULL);

  refused = self->result != NULL ? vn_job_note_unverified (self->result, reason, TRUE) : NULL;
  vn_document_take_measured (self, refused);
}

/*< private >
 * vn_document_take_job:
 * @job: has succeeded
 * @work: what it was for
 */
void
vn_document_take_job (VnDocument *self,
                      VnJob      *job,
                      VnWork      work)
{
  const char *title = "";

  g_return_if_fail (VN_IS_DOCUMENT (self) && job != NULL);

  if (work == VN_WORK_OPEN)
    document_take_model (self, job);
  else if (work == VN_WORK_QUANTIZE)
    {
      title = _("Errors updated");
      document_take_run (self, job);
    }
  else if (work == VN_WORK_IMPROVE)
    {
      title = _("Improved");
      document_take_improved (self, job);
    }
  else if (work == VN_WORK_CURES)
    {
      title = _("Fixes measured");
      document_take_cures (self, job);
    }
  else if (work == VN_WORK_CURVE)
    {
      title = _("Mixed precision calculated");
      document_take_curve (self, job);
    }
  else if (work == VN_WORK_VERIFY)
    {
      title = _("Verified");
      vn_document_take_measured (self, vn_verify_job_get_verified (job));
    }
  else
    {
      title = _("Exported");
      vn_document_take_measured (self, vn_export_job_get_result (job));
      g_signal_emit (self, vn_document_signals[VN_SIGNAL_WRITTEN], 0, vn_export_job_get_written (job));
    }
  g_signal_emit (self, vn_document_signals[VN_SIGNAL_DONE], 0, title);
}
