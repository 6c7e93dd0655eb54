/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Training as part of quantizing: learned from samples that were calibrated with, judged on those held out, after all other
 * repairs. */
#include "vn-job-input.h"

#include "vn-error.h"
#include "vn-format.h"
#include "vn-i18n.h"

/*< private >
 * vn_job_note_training:
 * @gain: of training that is kept
 */
void
vn_job_note_training (const VnJobInput   *self,
                      const VnRepairGain *gain)
{
  g_autofree char *more = NULL;

  g_return_if_fail (self != NULL && gain != NULL);

  more = vn_format_signed_db (gain->after_db - gain->before_db);
  vn_notes_add (self->notes, VN_NOTE_INFO, "trained", "train",
                ngettext ("Training: kept for %u of %u block; output SQNR %s",
                          "Training: kept for %u of %u blocks; output SQNR %s", gain->n_tried), gain->n_kept, gain->n_tried,
                more);
}

/*< private >
 * vn_job_train:
 * @job: told how far it is
 * @corrected, @rounded: (nullable): the prepared network with biases and weights of other repairs
 * @stats: what ranges are found from
 * @result: (out): to be cleared: the prepared network with weights and biases, and what ranges are found from with them
 * @gain: (out): what it has brought
 *
 * Trains what the recipe says.
 */
gboolean
vn_job_train (const VnJobInput  *self,
              VnJob             *job,
              const VnModel     *corrected,
              const VnModel     *rounded,
              VnStats           *stats,
              VnTrainResult     *result,
              VnRepairGain      *gain,
              GCancellable      *cancellable,
              GError           **error)
{
  g_autoptr(VnRecipe) recipe = NULL;
  g_autoptr(VnModel) start = NULL;
  g_autoptr(VnJudge) judge = NULL;
  g_autoptr(GArray) learned = NULL;
  VnRepairSamples samples;
  VnProgress progress;
  VnTrainInput input;

  g_return_val_if_fail (self != NULL && job != NULL && stats != NULL && result != NULL && gain != NULL, FALSE);

  *result = (VnTrainResult) { 0 };
  if (self->dataset == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("Training needs samples: add --data, or turn “train” off"));
      return FALSE;
    }
  recipe = vn_job_make_pairs_recipe (self->recipe);
  start = vn_job_take_rounded (self, corrected, rounded);
  learned = vn_job_take_samples (self->calibration, self->recipe->train_samples);
  samples = vn_job_get_samples (self, learned);
  judge = vn_job_make_judge (self, learned, VN_JUDGED_SAMPLES, cancellable, error);
  if (judge == NULL)
    return FALSE;
  progress = vn_job_get_reporter (job);
  input = (VnTrainInput) { .prepared = self->prepared, .start = start, .planned = corrected, .recipe = recipe, .stats = stats,
                           .samples = &samples, .seconds = self->train_seconds, .judge = judge, .progress = &progress };
  if (!vn_train (&input, result, gain, cancellable, error))
    return FALSE;
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}
