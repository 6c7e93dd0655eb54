/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Balancing of channels, and absorbing of biases, as part of quantizing: learned from samples to calibrate with, judged on those
 * held out. */
#include "vn-job-input.h"

#include "vn-absorb.h"
#include "vn-error.h"
#include "vn-format.h"
#include "vn-i18n.h"

/* Samples to learn from: only half of those to calibrate with, if few are left to judge by, unless the user wants none held out.
 * Balanced channels all reach to the end of the range, so that samples that are not learned from may be cut off in any of
 * them. */
static GArray *
balance_network_choose_samples (const VnJobInput *self)
{
  gboolean spares = self->data->held_out != 0 && vn_job_count_unseen (self) < VN_JUDGED_SAMPLES / 2;
  guint n = self->calibration->len;

  return vn_job_take_samples (self->calibration, spares ? (n + 1) / 2 : n);
}

/* One repair, judged by the network as it was. */
typedef VnModel *(*Repair) (const VnBalanceInput  *input,
                            VnRepairGain          *gain,
                            GCancellable          *cancellable,
                            GError               **error);

static gboolean
balance_network_repair (VnJobInput    *self,
                        VnJob         *job,
                        Repair         repair,
                        VnRepairGain  *gain,
                        GCancellable  *cancellable,
                        GError       **error)
{
  /* ranges found while the network runs are measured as they are written: pairs would have stored ones */
  g_autoptr(VnRecipe) recipe = self->recipe->dynamic ? vn_recipe_copy (self->recipe) : vn_job_make_pairs_recipe (self->recipe);
  g_autoptr(GArray) learned = balance_network_choose_samples (self);
  g_autoptr(VnJudge) judge = vn_job_make_judge (self, learned, VN_JUDGED_SAMPLES, cancellable, error);
  VnRepairSamples learn = vn_job_get_samples (self, learned);
  VnProgress progress = vn_job_get_reporter (job);
  VnBalanceInput input = { self->prepared, recipe, &learn, judge, &progress, self->draft };
  VnModel *repaired = judge != NULL ? repair (&input, gain, cancellable, error) : NULL;

  if (repaired == NULL)
    return FALSE;
  vn_model_unref (self->prepared);
  self->prepared = repaired;
  return TRUE;
}

static gboolean
balance_network_balance (VnJobInput    *self,
                         VnJob         *job,
                         GCancellable  *cancellable,
                         GError       **error)
{
  g_autofree char *more = NULL;
  VnRepairGain gain;

  if (!balance_network_repair (self, job, vn_balance_channels, &gain, cancellable, error))
    return FALSE;
  more = vn_format_signed_db (gain.after_db - gain.before_db);
  vn_notes_add (self->notes, VN_NOTE_INFO, "balanced", "balance-channels",
                _("Channels smoothed in %u of %u tensor groups; output SQNR %s"),
                gain.n_kept, gain.n_tried, more);
  return TRUE;
}

static gboolean
balance_network_absorb (VnJobInput    *self,
                        VnJob         *job,
                        GCancellable  *cancellable,
                        GError       **error)
{
  g_autofree char *more = NULL;
  VnRepairGain gain;

  if (!balance_network_repair (self, job, vn_absorb_biases, &gain, cancellable, error))
    return FALSE;
  more = vn_format_signed_db (gain.after_db - gain.before_db);
  vn_notes_add (self->notes, VN_NOTE_INFO, "absorbed", "absorb-bias",
                _("Biases absorbed after %u of %u layers; output SQNR %s"),
                gain.n_kept, gain.n_tried, more);
  return TRUE;
}

/*< private >
 * vn_job_wants_balance:
 *
 * Returns: whether there is something to do for vn_job_balance_channels()
 */
gboolean
vn_job_wants_balance (const VnRecipe *recipe)
{
  g_return_val_if_fail (recipe != NULL, FALSE);

  return vn_recipe_get_most (recipe, VN_LAYER_BALANCE_CHANNELS) != VN_BALANCE_CHANNELS_OFF || recipe->absorb_bias;
}

/* All that a network is prepared and balanced for; what is done to it afterwards does not matter. */
static VnRecipe *
balance_network_make_recipe (const VnRecipe *recipe)
{
  VnRecipe *copy = vn_recipe_copy (recipe);

  vn_recipe_turn_off (copy, VN_LAYER_ROUNDING);
  vn_recipe_turn_off (copy, VN_LAYER_BIAS_CORRECTION);
  vn_recipe_turn_off (copy, VN_LAYER_TRAIN);
  copy->range_search = VN_RANGE_SEARCH_OFF;
  return copy;
}

/*< private >
 * vn_job_balances_alike:
 *
 * Returns: whether both recipes make the same balanced network of the same samples
 */
gboolean
vn_job_balances_alike (const VnRecipe *a,
                       const VnRecipe *b)
{
  g_autoptr(VnRecipe) of_a = NULL, of_b = NULL;

  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  of_a = balance_network_make_recipe (a);
  of_b = balance_network_make_recipe (b);
  return vn_recipe_equal (of_a, of_b);
}

/*< private >
 * vn_job_balance_channels:
 * @job: told how far it is
 *
 * Replaces the prepared network by one that computes the same with channels of more even size, and smaller biases in front of
 * Relu.
 */
gboolean
vn_job_balance_channels (VnJobInput    *self,
                         VnJob         *job,
                         GCancellable  *cancellable,
                         GError       **error)
{
  gboolean balances;

  g_return_val_if_fail (self != NULL && job != NULL, FALSE);

  balances = vn_recipe_get_most (self->recipe, VN_LAYER_BALANCE_CHANNELS) != VN_BALANCE_CHANNELS_OFF;
  if (self->dataset == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   balances
                   ? _("Channel smoothing needs samples: add --data, or turn off balance-channels")
                   : _("Bias absorption needs samples: add --data, or turn off absorb-bias"));
      return FALSE;
    }
  return (!balances || balance_network_balance (self, job, cancellable, error)) &&
         (!self->recipe->absorb_bias || balance_network_absorb (self, job, cancellable, error));
}
