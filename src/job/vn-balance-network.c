/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Balancing of channels as part of quantizing: learned from samples to calibrate with, judged on those held out. */
#include "vn-job-input.h"

#include "vn-balance.h"
#include "vn-error.h"
#include "vn-format-traits.h"
#include "vn-i18n.h"

/* Samples to learn from: only half of those to calibrate with, if few are left to judge by, unless the user wants none held out.
 * Balanced channels all reach to the end of the range, so that samples that are not learned from may be cut off in any of them. */
static GArray *
balance_network_choose_samples (const VnJobInput *self)
{
  gboolean spares = self->data->held_out != 0 && vn_job_count_unseen (self) < VN_JUDGED_SAMPLES / 2;
  guint n = self->calibration->len;

  return vn_job_take_samples (self->calibration, spares ? (n + 1) / 2 : n);
}

/* Errors are measured in floats: operators on integers are written as pairs for that. */
static VnRecipe *
balance_network_make_recipe (const VnRecipe *recipe)
{
  VnRecipe *copy = vn_recipe_copy (recipe);

  if (vn_format_is (copy->format, VN_FORMAT_IS_OPERATORS | VN_FORMAT_IS_PRODUCTS))
    copy->format = vn_format_find (VN_FORMAT_HAS_PAIRS);
  return copy;
}

static void
balance_network_note (const VnJobInput   *self,
                      const VnRepairGain *gain)
{
  vn_notes_add (self->notes, VN_NOTE_INFO, "balanced", "balance-channels",
                _("Channels balanced in %u of %u groups of tensors; signal to noise of the outputs %.1f → %.1f dB"),
                gain->n_kept, gain->n_tried, gain->before_db, gain->after_db);
}

/*< private >
 * vn_job_balance_channels:
 * @job: told how far it is
 *
 * Replaces the prepared network by one that computes the same with channels of more even size.
 */
gboolean
vn_job_balance_channels (VnJobInput    *self,
                         VnJob         *job,
                         GCancellable  *cancellable,
                         GError       **error)
{
  g_autoptr(VnRecipe) recipe = NULL;
  g_autoptr(VnJudge) judge = NULL;
  g_autoptr(VnModel) balanced = NULL;
  g_autoptr(GArray) learned = NULL;
  VnProgress progress;
  VnRepairSamples learn;
  VnBalanceInput input;
  VnRepairGain gain;

  g_return_val_if_fail (self != NULL && job != NULL, FALSE);

  if (self->dataset == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("Balancing channels takes samples: give --data, or turn balance-channels off"));
      return FALSE;
    }
  progress = vn_job_get_reporter (job);
  learned = balance_network_choose_samples (self);
  learn = vn_job_get_samples (self, learned);
  judge = vn_job_make_judge (self, learned, VN_JUDGED_SAMPLES, cancellable, error);
  if (judge == NULL)
    return FALSE;
  recipe = balance_network_make_recipe (self->recipe);
  input = (VnBalanceInput) { self->prepared, recipe, &learn, judge, &progress };
  balanced = vn_balance_channels (&input, &gain, cancellable, error);
  if (balanced == NULL)
    return FALSE;
  vn_model_unref (self->prepared);
  self->prepared = g_steal_pointer (&balanced);
  balance_network_note (self, &gain);
  return TRUE;
}
