/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a step of “--auto” is kept, and what is told of it: both in one place, so that nothing is called kept that the result
 * has not. */
#include "improve-private.h"

#include "vn-i18n.h"
#include "vn-model-data.h"
#include "vn-setting.h"
#include "vn-thresholds.h"

#include <math.h>

/* Time beside that of the best so far: forecasts of one network in two forms do not differ by less for nothing. */
#define FASTER 0.95

/* What costs too much beside what was kept since costs too much once more: that is told once, as it is now. */
static void
improve_forget_refusal (VnImproveJob         *self,
                        const VnImproveStep  *step,
                        VnImproveOutcome      outcome)
{
  for (guint i = 0; i < self->tries->len; i++)
    {
      const VnImproveTry *entry = g_ptr_array_index (self->tries, i);

      if (entry->title == step->title && entry->outcome == outcome && isnan (entry->after_db) && entry->reason == NULL)
        {
          g_ptr_array_remove_index (self->tries, i);
          return;
        }
    }
}

/*< private >
 * vn_improve_add_try:
 * @trial: (nullable): not measured
 */
void
vn_improve_add_try (VnImproveJob         *self,
                    const VnImproveStep  *step,
                    VnImproveOutcome      outcome,
                    const VnImproveTrial *trial,
                    const GError         *reason)
{
  VnImproveTry *entry;

  g_return_if_fail (self != NULL && step != NULL);

  entry = g_new0 (VnImproveTry, 1);
  *entry = (VnImproveTry) { step->title, outcome, self->best.judgement.sqnr_db, NAN, self->best.price.ratio, NAN,
                            self->best.price.integer_share, NAN, self->best.price.wide_share, NAN, 0, NAN, NULL };
  entry->reason = reason != NULL ? g_strdup (reason->message) : NULL;
  if (trial != NULL)
    {
      entry->after_db = trial->judgement.each != NULL ? trial->judgement.sqnr_db : NAN;
      entry->after_ratio = trial->price.ratio;
      entry->after_share = trial->price.integer_share;
      entry->after_wide = trial->price.wide_share;
      entry->size = trial->price.size;
      entry->bytes = (gint64) trial->bytes - (gint64) self->best.bytes;
    }
  if (isnan (entry->after_db) && reason == NULL)
    improve_forget_refusal (self, step, outcome);
  g_ptr_array_add (self->tries, entry);
}

/* As the verdict has it. */
static gboolean
improve_is_unusable (const VnJudgement *judgement)
{
  double chance, loss = vn_kept_get_loss (&judgement->kept, &chance);

  return loss - chance > 1 - VN_KEPT_CARE || judgement->sqnr_db < vn_metric_get_info (VN_METRIC_SQNR)->bad;
}

/*< private >
 * vn_improve_get_limit:
 *
 * Times are forecast: as long as the best is of no use, what makes it usable is not refused for them.
 *
 * Returns: what the next export may cost
 */
VnImproveLimit
vn_improve_get_limit (const VnImproveJob *self)
{
  VnImproveLimit limit = { INFINITY, 0, INFINITY, INFINITY, INFINITY };

  g_return_val_if_fail (self != NULL, limit);

  limit = self->most;
  if (self->best.judgement.each != NULL && improve_is_unusable (&self->best.judgement))
    limit.ratio = INFINITY;
  return limit;
}

/*< private >
 * vn_improve_check_price:
 *
 * Returns: what speaks against an export however good it is; %VN_IMPROVE_KEPT: nothing. What cannot be told does not
 */
VnImproveOutcome
vn_improve_check_price (const VnImproveJob   *self,
                        const VnImprovePrice *price)
{
  VnImproveLimit limit;

  g_return_val_if_fail (self != NULL && price != NULL, VN_IMPROVE_KEPT);

  limit = vn_improve_get_limit (self);
  return vn_improve_limit_check (&limit, price);
}

/* What is as good and takes less time is better. */
static gboolean
improve_is_faster (const VnImproveTrial *trial,
                   const VnImproveTrial *best)
{
  return trial->judgement.sqnr_db >= best->judgement.sqnr_db && trial->price.ratio < FASTER * best->price.ratio;
}

/* The one place where what is better is decided: by the answers that are kept where that is clear, or else by the outputs. Equal
 * networks have equal figures: what is better is another network for certain. */
static VnImproveOutcome
improve_decide (const VnImproveJob   *self,
                const VnImproveStep  *step,
                const VnImproveTrial *trial)
{
  const VnJudgement *before = &self->best.judgement, *after = &trial->judgement;
  double chance = step->least_gain > 0 ? MAX (step->least_gain, vn_judgement_get_error (after, before)) : 0;
  int answers = vn_judgement_compare_answers (after, before);

  if (answers == 0)
    answers = after->sqnr_db > before->sqnr_db + chance || improve_is_faster (trial, &self->best) ? 1 : -1;
  return answers > 0 ? vn_improve_check_price (self, &trial->price) : VN_IMPROVE_NO_GAIN;
}

/*< private >
 * vn_improve_judge:
 * @recipe: what made @trial
 * @trial: (inout): measured; is empty afterwards if it is kept
 *
 * Keeps a recipe if it is better, and tells.
 *
 * Returns: whether it is kept
 */
gboolean
vn_improve_judge (VnImproveJob        *self,
                  const VnImproveStep *step,
                  const VnRecipe      *recipe,
                  VnImproveTrial      *trial)
{
  VnImproveOutcome outcome;

  g_return_val_if_fail (self != NULL && step != NULL && recipe != NULL && trial != NULL, FALSE);

  outcome = improve_decide (self, step, trial);
  vn_improve_add_try (self, step, outcome, trial, NULL);
  if (outcome != VN_IMPROVE_KEPT)
    return FALSE;
  vn_improve_trial_take (&self->best, trial);
  vn_improve_trial_clear (&self->simple);
  self->most.ratio = fmax (self->most.ratio, self->best.price.ratio);
  g_ptr_array_add (self->earlier, self->recipe);
  self->recipe = vn_recipe_copy (recipe);
  return TRUE;
}

static const VnImproveStep improve_remade = { "remade", N_("everything kept, repeated with all samples"), VN_IMPROVE_SETTING, 0 };

/*< private >
 * vn_improve_take_remade:
 * @trial: (inout): what all samples make of what was kept; is empty afterwards
 *
 * Tries are calibrated with fewer samples than the result: from here on its figure is the one that counts.
 */
void
vn_improve_take_remade (VnImproveJob   *self,
                        VnImproveTrial *trial)
{
  g_return_if_fail (self != NULL && trial != NULL && trial->judgement.each != NULL);

  if (trial->judgement.sqnr_db != self->best.judgement.sqnr_db)
    vn_improve_add_try (self, &improve_remade, VN_IMPROVE_REMADE, trial, NULL);
  vn_improve_trial_take (&self->best, trial);
}

/*< private >
 * vn_improve_step_back:
 *
 * Gives up what was kept last: made from all samples it costs too much.
 *
 * Returns: (transfer none) (nullable): what was told of it; %NULL: nothing has been kept
 */
VnImproveTry *
vn_improve_step_back (VnImproveJob *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  for (guint i = self->tries->len; i-- > 0 && self->earlier->len > 0;)
    {
      VnImproveTry *entry = g_ptr_array_index (self->tries, i);

      if (entry->outcome != VN_IMPROVE_KEPT)
        continue;
      entry->outcome = vn_improve_check_price (self, &self->best.price);
      entry->after_ratio = self->best.price.ratio;
      entry->after_share = self->best.price.integer_share;
      vn_recipe_free (self->recipe);
      self->recipe = g_ptr_array_steal_index (self->earlier, self->earlier->len - 1);
      return entry;
    }
  return NULL;
}

/* ---- the end ---- */

static gboolean
improve_equal_networks (const VnModel *a,
                        const VnModel *b)
{
  g_autofree char *of_a = vn_model_dup_digest (a), *of_b = vn_model_dup_digest (b);

  return g_str_equal (of_a, of_b);
}

/*< private >
 * vn_improve_is_in_vain:
 *
 * Returns: whether the last run is no better than the plain one by what users see, answers first, costs too much, or is the same
 * network
 */
gboolean
vn_improve_is_in_vain (const VnImproveJob *self)
{
  const VnRun *result, *whole;
  int answers;

  g_return_val_if_fail (self != NULL && self->result != NULL, TRUE);

  result = self->result;
  whole = self->whole;
  answers = vn_judgement_compare_answers (&(VnJudgement) { .kept = result->accuracy.kept },
                                          &(VnJudgement) { .kept = whole->accuracy.kept });
  if (answers < 0)
    return TRUE;
  if (answers == 0 && result->errors != NULL && whole->errors != NULL &&
      vn_error_table_get_comparable_sqnr (result->errors, whole->errors) <
        vn_error_table_get_comparable_sqnr (whole->errors, result->errors))
    return TRUE;
  return vn_improve_check_price (self, &self->best.price) != VN_IMPROVE_KEPT ||
         improve_equal_networks (result->quantized, whole->quantized);
}

static gboolean
improve_is_idle (const VnRun     *result,
                 const VnSetting *setting)
{
  for (guint i = 0; i < vn_notes_get_n (result->notes); i++)
    {
      const VnNote *note = vn_notes_get (result->notes, i);

      if (g_strcmp0 (note->code, VN_NOTE_CODE_IDLE_SETTING) == 0 && g_strcmp0 (note->subject, setting->id) == 0)
        return TRUE;
    }
  return FALSE;
}

/* Whether all that tells @after from @before changes nothing in the result. */
static gboolean
improve_changes_nothing (const VnImproveJob *self,
                         const VnRecipe     *before,
                         const VnRecipe     *after)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (before);
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  for (guint i = 0; i < n; i++)
    if (improve_is_idle (self->result, &settings[i]))
      vn_setting_copy (&settings[i], recipe, after);
  return vn_recipe_equal (recipe, after);
}

/*< private >
 * vn_improve_settle:
 *
 * What was kept in tries and changes nothing in the last run, where weights are rounded anew and may come out otherwise, is not
 * told as kept.
 */
void
vn_improve_settle (VnImproveJob *self)
{
  g_return_if_fail (self != NULL && self->result != NULL);

  for (guint i = 0, n_kept = 0; i < self->tries->len && n_kept < self->earlier->len; i++)
    {
      VnImproveTry *entry = g_ptr_array_index (self->tries, i);
      const VnRecipe *before = g_ptr_array_index (self->earlier, n_kept), *after = self->recipe;

      if (entry->outcome != VN_IMPROVE_KEPT)
        continue;
      if (++n_kept < self->earlier->len)
        after = g_ptr_array_index (self->earlier, n_kept);
      if (improve_changes_nothing (self, before, after))
        entry->outcome = VN_IMPROVE_GIVEN_UP;
    }
}

/*< private >
 * vn_improve_give_up:
 *
 * Tells that nothing of what was kept is in the result.
 */
void
vn_improve_give_up (VnImproveJob *self)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->tries->len; i++)
    {
      VnImproveTry *entry = g_ptr_array_index (self->tries, i);

      if (vn_improve_try_is_kept (entry))
        entry->outcome = VN_IMPROVE_GIVEN_UP;
    }
}
