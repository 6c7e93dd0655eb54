/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How each kind of step of “--auto” is tried, in the time that there is for it. */
#include "improve-private.h"

#include "improve-deadline.h"

#include "vn-error.h"
#include "vn-memory.h"

#include <math.h>

/* ---- time ---- */

/*< private >
 * vn_improve_get_seconds:
 *
 * Returns: since the job began
 */
double
vn_improve_get_seconds (const VnImproveJob *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return (double) (g_get_monotonic_time () - self->began) / G_USEC_PER_SEC;
}

/* Seconds until the last run must begin, which does all of @recipe once more and compares every tensor. */
static double
improve_get_left (const VnImproveJob *self,
                  const VnRecipe     *recipe)
{
  return self->settings.seconds - vn_improve_get_seconds (self) - vn_improve_times_estimate_last (&self->times, recipe);
}

static gboolean
improve_has_time (const VnImproveJob *self,
                  VnImproveKind       kind,
                  const VnRecipe     *recipe)
{
  return vn_improve_times_estimate_try (&self->times, kind, recipe) <= improve_get_left (self, recipe);
}

/* ---- one run, one try ---- */

/*< private >
 * vn_improve_run:
 *
 * Returns: (transfer full) (nullable): what quantizing gives
 */
VnRun *
vn_improve_run (const VnQuantizeSettings  *settings,
                const VnRecipe            *recipe,
                VnStats                   *earlier,
                GCancellable              *cancellable,
                GError                   **error)
{
  VnQuantizeSettings run;
  g_autoptr(VnJob) job = NULL;

  g_return_val_if_fail (settings != NULL && recipe != NULL, NULL);

  run = *settings;
  run.recipe = recipe;
  run.earlier = earlier;
  run.whole_counts = TRUE;
  job = vn_quantize_job_new (&run);
  return vn_job_run (job, cancellable, error) ? vn_run_ref (vn_quantize_job_get_result (job)) : NULL;
}

/*< private >
 * vn_improve_make:
 *
 * Makes what a try needs beside the recipe.
 */
gboolean
vn_improve_make (VnImproveBench  *bench,
                 VnImproveKind    kind,
                 const VnRecipe  *recipe,
                 GCancellable    *cancellable,
                 GError         **error)
{
  g_return_val_if_fail (bench != NULL && recipe != NULL, FALSE);

  if ((kind == VN_IMPROVE_ROUNDING || kind == VN_IMPROVE_NETWORK) &&
      vn_recipe_get_most (recipe, VN_LAYER_ROUNDING) != VN_WEIGHT_ROUNDING_NEAREST &&
      !vn_improve_bench_round (bench, recipe, cancellable, error))
    return FALSE;
  return kind == VN_IMPROVE_SETTING || kind == VN_IMPROVE_ORIGINS ||
         vn_recipe_get_most (recipe, VN_LAYER_BIAS_CORRECTION) == VN_BIAS_CORRECTION_OFF ||
         vn_improve_bench_correct (bench, recipe, cancellable, error);
}

/* A step that cannot be done on this network is no failure of the job. */
static gboolean
improve_take_error (VnImproveJob         *self,
                    const VnImproveStep  *step,
                    GError               *reason,
                    GCancellable         *cancellable,
                    GError              **error)
{
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    {
      g_error_free (reason);
      return FALSE;
    }
  if (vn_error_is_memory (reason))
    {
      g_propagate_error (error, reason);
      return FALSE;
    }
  vn_improve_add_try (self, step, VN_IMPROVE_IMPOSSIBLE, NULL, reason);
  g_error_free (reason);
  return TRUE;
}

/* ---- the kinds of steps ---- */

static gboolean
improve_has_repairs (const VnRecipe *recipe)
{
  return vn_recipe_get_most (recipe, VN_LAYER_ROUNDING) != VN_WEIGHT_ROUNDING_NEAREST ||
         vn_recipe_get_most (recipe, VN_LAYER_BIAS_CORRECTION) != VN_BIAS_CORRECTION_OFF;
}

/* What would be exported is what is known already. */
static gboolean
improve_changes_nothing (const VnImproveTrial *known,
                         VnImproveTrial       *trial)
{
  trial->digest = vn_model_dup_digest (trial->model);
  return g_strcmp0 (trial->digest, known->digest) == 0;
}

/* What is too slow, or nothing new, need not be made or run: what is made changes no price. */
static gboolean
improve_refuse (VnImproveJob         *self,
                const VnImproveStep  *step,
                const VnRecipe       *recipe,
                gboolean             *refused,
                GError              **error)
{
  g_auto(VnImproveTrial) trial = { 0 };
  VnImproveOutcome price;

  if (!vn_improve_bench_forecast (self->bench, recipe, &trial, error))
    return FALSE;
  price = vn_improve_check_price (self, &trial.price);
  *refused = price != VN_IMPROVE_KEPT || (step->kind == VN_IMPROVE_SETTING && improve_changes_nothing (&self->best, &trial));
  if (price != VN_IMPROVE_KEPT)
    vn_improve_add_try (self, step, price, &trial, NULL);
  else if (*refused)
    vn_improve_add_try (self, step, VN_IMPROVE_NO_GAIN, &self->best, NULL);
  return TRUE;
}

/* Of these the network stays as it is. */
static gboolean
improve_try_recipe (VnImproveJob         *self,
                    const VnImproveStep  *step,
                    const VnRecipe       *recipe,
                    GCancellable         *cancellable,
                    GError              **error)
{
  g_auto(VnImproveTrial) trial = { 0 };

  if (!vn_improve_make (self->bench, step->kind, recipe, cancellable, error) ||
      !vn_improve_bench_try (self->bench, recipe, &trial, cancellable, error))
    return FALSE;
  vn_improve_judge (self, step, recipe, &trial);
  return TRUE;
}

/* What samples are asked layer by layer takes longest. */
static VnRecipe *
improve_make_simple (const VnRecipe *recipe)
{
  VnRecipe *simple = vn_recipe_copy (recipe);

  vn_recipe_turn_off (simple, VN_LAYER_ROUNDING);
  vn_recipe_turn_off (simple, VN_LAYER_BIAS_CORRECTION);
  return simple;
}

/* Whether another network wins less than it must beside the best one, both without what is made for one network alone: that takes
 * longest, and helps both. */
static gboolean
improve_is_hopeless (const VnImproveJob  *self,
                     const VnImproveStep *step,
                     VnImproveTrial      *trial)
{
  const VnJudgement *best = &self->simple.judgement;
  const double gain = trial->judgement.sqnr_db - best->sqnr_db;
  const double least = trial->price.ratio < self->best.price.ratio ? 0 : step->least_gain;

  trial->judgement.sqnr_db = self->best.judgement.sqnr_db + gain;
  return gain < least && vn_judgement_compare_answers (&trial->judgement, best) <= 0;
}

/* @known: (out): what the best recipe comes to without repairs */
static gboolean
improve_find_simple (VnImproveJob          *self,
                     const VnImproveTrial **known,
                     GCancellable          *cancellable,
                     GError               **error)
{
  g_autoptr(VnRecipe) simple = NULL;

  *known = improve_has_repairs (self->recipe) ? &self->simple : &self->best;
  if (*known == &self->best || self->simple.judgement.each != NULL)
    return TRUE;
  simple = improve_make_simple (self->recipe);
  return vn_improve_bench_try (self->bench, simple, &self->simple, cancellable, error);
}

/* Another network is looked at without rounding and correcting first: what it costs is known then, and mostly its worth. */
static gboolean
improve_refuse_network (VnImproveJob         *self,
                        const VnImproveStep  *step,
                        VnImproveBench       *bench,
                        const VnRecipe       *simple,
                        gboolean             *refused,
                        GCancellable         *cancellable,
                        GError              **error)
{
  g_auto(VnImproveTrial) trial = { 0 };
  const VnImproveTrial *known = NULL, *told = &trial;
  VnImproveOutcome outcome;

  if (!vn_improve_bench_forecast (bench, simple, &trial, error))
    return FALSE;
  outcome = vn_improve_check_price (self, &trial.price);
  if (outcome == VN_IMPROVE_KEPT && !improve_find_simple (self, &known, cancellable, error))
    return FALSE;
  if (outcome == VN_IMPROVE_KEPT && improve_changes_nothing (known, &trial))
    {
      outcome = VN_IMPROVE_NO_GAIN;
      told = &self->best;
    }
  else if (outcome == VN_IMPROVE_KEPT && known == &self->simple)
    {
      if (!vn_improve_bench_measure (bench, &trial, cancellable, error))
        return FALSE;
      outcome = improve_is_hopeless (self, step, &trial) ? VN_IMPROVE_NO_GAIN : outcome;
    }
  *refused = outcome != VN_IMPROVE_KEPT;
  if (*refused)
    vn_improve_add_try (self, step, outcome, told, NULL);
  return TRUE;
}

/* What is balanced takes as long at least as what is not: where that is too slow already nothing is balanced. Nothing else is
 * known of it then. */
static gboolean
improve_refuse_unbalanced (VnImproveJob         *self,
                           const VnImproveStep  *step,
                           const VnRecipe       *simple,
                           gboolean             *refused,
                           GCancellable         *cancellable,
                           GError              **error)
{
  g_autoptr(VnRecipe) bare = vn_recipe_copy (simple);
  g_autoptr(VnRun) run = NULL;
  g_auto(VnImproveTrial) trial = { 0 };
  VnImproveOutcome outcome;

  *refused = FALSE;
  if (!vn_job_wants_balance (simple) || !vn_job_wants_balance (self->recipe) ||
      vn_job_balances_alike (simple, self->plain->recipe))
    return TRUE;
  vn_recipe_turn_off (bare, VN_LAYER_BALANCE_CHANNELS);
  bare->absorb_bias = FALSE;
  bare->range_search = VN_RANGE_SEARCH_OFF;
  run = vn_improve_run (&self->trial, bare, self->plain->stats, cancellable, error);
  if (run == NULL)
    return FALSE;
  trial.price = vn_improve_bench_look_ahead (self->bench, bare, run->quantized);
  outcome = vn_improve_check_price (self, &trial.price);
  *refused = outcome != VN_IMPROVE_KEPT;
  if (*refused)
    vn_improve_add_try (self, step, outcome, &trial, NULL);
  return TRUE;
}

/* (transfer full) (nullable): what is learned from the samples of tries; the first run of all of them was none */
static VnRun *
improve_run_draft (VnImproveJob    *self,
                   const VnRecipe  *recipe,
                   GCancellable    *cancellable,
                   GError         **error)
{
  VnQuantizeSettings settings = self->trial;

  settings.alike = self->plain != self->whole ? self->plain : NULL;
  return vn_improve_run (&settings, recipe, self->plain->stats, cancellable, error);
}

static gboolean
improve_try_network (VnImproveJob         *self,
                     const VnImproveStep  *step,
                     const VnRecipe       *recipe,
                     GCancellable         *cancellable,
                     GError              **error)
{
  g_autoptr(VnRecipe) simple = improve_make_simple (recipe);
  g_autoptr(VnRun) plain = NULL;
  g_autoptr(VnImproveBench) bench = NULL;
  g_auto(VnImproveTrial) trial = { 0 };
  gboolean refused;

  if (!improve_refuse_unbalanced (self, step, simple, &refused, cancellable, error))
    return FALSE;
  if (refused)
    return TRUE;
  plain = improve_run_draft (self, simple, cancellable, error);
  bench = plain != NULL ? vn_improve_bench_new (self->job, &self->trial, plain, cancellable, error) : NULL;
  if (bench == NULL || !improve_refuse_network (self, step, bench, simple, &refused, cancellable, error))
    return FALSE;
  if (refused)
    return TRUE;
  if (!vn_improve_make (bench, VN_IMPROVE_NETWORK, recipe, cancellable, error) ||
      !vn_improve_bench_try (bench, recipe, &trial, cancellable, error))
    return FALSE;
  if (!vn_improve_judge (self, step, recipe, &trial))
    return TRUE;
  vn_improve_bench_free (self->bench);
  self->bench = g_steal_pointer (&bench);
  vn_run_unref (self->plain);
  self->plain = g_steal_pointer (&plain);
  return TRUE;
}

static VnRecipe *
improve_add_origins (const VnImproveJob   *self,
                     const VnImproveStep  *step,
                     const VnRecipe       *base,
                     const GPtrArray      *names,
                     guint                 n)
{
  VnRecipe *recipe = vn_recipe_copy (base);
  g_autofree char **some = g_new0 (char *, n + 1);

  memcpy (some, names->pdata, n * sizeof *some);
  step->add (recipe, self->bench->input.prepared->graph, some);
  return recipe;
}

/* Channels are balanced for what is quantized, and values that a recipe names are kept in front of it: with tensors left in float
 * that makes another network, which may cost more. Half of them then. */
static gboolean
improve_try_other_origins (VnImproveJob         *self,
                           const VnImproveStep  *step,
                           const VnRecipe       *base,
                           const GPtrArray      *names,
                           guint                 n,
                           GCancellable         *cancellable,
                           GError              **error)
{
  for (; n > 0 && improve_has_time (self, VN_IMPROVE_NETWORK, base); n /= 2)
    {
      g_autoptr(VnRecipe) recipe = improve_add_origins (self, step, base, names, n);
      VnImproveOutcome outcome;

      if (!improve_try_network (self, step, recipe, cancellable, error))
        return FALSE;
      outcome = ((const VnImproveTry *) g_ptr_array_index (self->tries, self->tries->len - 1))->outcome;
      if (outcome == VN_IMPROVE_KEPT || outcome == VN_IMPROVE_NO_GAIN)
        return TRUE;
    }
  return TRUE;
}

/* Whether the time of this step ended with something found, which is judged then; other errors stay. */
static gboolean
improve_is_cut (const VnImproveTrial *found,
                GError              **error)
{
  if (found->judgement.each == NULL || !g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return FALSE;
  g_clear_error (error);
  return TRUE;
}

/* Twice as many each time, as long as that is better. */
static gboolean
improve_try_origins (VnImproveJob         *self,
                     const VnImproveStep  *step,
                     const VnRecipe       *base,
                     GCancellable         *cancellable,
                     GError              **error)
{
  const VnImproveLimit limit = vn_improve_get_limit (self);
  g_autoptr(GPtrArray) names = vn_improve_order_origins (self->bench, step, base, &limit, cancellable, error);
  g_autoptr(VnRecipe) best = vn_recipe_copy (base);
  g_auto(VnImproveTrial) found = { 0 };
  gboolean same = TRUE;
  guint n_found = 0;

  if (names == NULL)
    return FALSE;
  for (guint n = 1; n <= names->len && improve_has_time (self, VN_IMPROVE_SETTING, base); n = n == names->len
       ? n + 1 : MIN (2 * n, names->len))
    {
      g_autoptr(VnRecipe) recipe = improve_add_origins (self, step, base, names, n);
      g_auto(VnImproveTrial) trial = { 0 };

      if (!vn_improve_bench_try (self->bench, recipe, &trial, cancellable, error))
        {
          if (!improve_is_cut (&found, error))
            return FALSE;
          break;
        }
      if (found.judgement.each != NULL && !(trial.judgement.sqnr_db > found.judgement.sqnr_db))
        continue;
      vn_improve_trial_take (&found, &trial);
      vn_recipe_free (best);
      best = g_steal_pointer (&recipe);
      n_found = n;
    }
  if (n_found > 0 && found.judgement.sqnr_db > self->best.judgement.sqnr_db)
    {
      if (!vn_improve_bench_is_same_network (self->bench, best, &same, cancellable, error))
        return FALSE;
      if (!same || vn_job_wants_balance (base))
        return improve_try_other_origins (self, step, base, names, n_found, cancellable, error);
    }
  if (found.judgement.each != NULL)
    vn_improve_judge (self, step, best, &found);
  return TRUE;
}

/* Which part of the time that is left a step gets: what samples are asked layer by layer is done once more in the last run, and
 * steps behind it want some, too. */
static const double improve_shares[] = { [VN_IMPROVE_SETTING] = 1, [VN_IMPROVE_ROUNDING] = 0.25, [VN_IMPROVE_CORRECTION] = 0.25,
                                         [VN_IMPROVE_NETWORK] = 0.4, [VN_IMPROVE_ORIGINS] = 0.5, [VN_IMPROVE_TRAINING] = 1 };

static gboolean
improve_try_kind (VnImproveJob         *self,
                  const VnImproveStep  *step,
                  const VnRecipe       *recipe,
                  GCancellable         *cancellable,
                  GError              **error)
{
  gboolean same = step->kind != VN_IMPROVE_NETWORK, refused;

  if (step->kind == VN_IMPROVE_ORIGINS)
    return improve_try_origins (self, step, recipe, cancellable, error);
  if (!same)
    return improve_try_network (self, step, recipe, cancellable, error);
  if (!improve_refuse (self, step, recipe, &refused, error))
    return FALSE;
  if (refused)
    return TRUE;
  if (!vn_improve_bench_is_same_network (self->bench, recipe, &same, cancellable, error))
    return FALSE;
  return same ? improve_try_recipe (self, step, recipe, cancellable, error)
              : improve_try_network (self, step, recipe, cancellable, error);
}

/* What the user chose otherwise than the target has it is no reason to try nothing. */
static gboolean
improve_keeps_target (const VnImproveJob *self,
                      const VnRecipe     *recipe)
{
  return vn_recipe_suits_target (recipe, NULL) || !vn_recipe_suits_target (self->recipe, NULL);
}

/* Whether @step changes @recipe into another that can be carried out, and that its target takes. */
static gboolean
improve_apply (const VnImproveJob  *self,
               const VnImproveStep *step,
               VnRecipe            *recipe)
{
  return step->kind != VN_IMPROVE_TRAINING && (step->suits == NULL || step->suits (self->bench->input.prepared->graph)) &&
         vn_improve_step_apply (step, recipe, self->bench->input.prepared->graph) && vn_recipe_validate (recipe, NULL) &&
         improve_keeps_target (self, recipe);
}

/*< private >
 * vn_improve_try:
 *
 * Tries a step, if the best recipe so far is not yet as it would make it, and there is time. Where it does not come to its end in
 * its part of the time it is left off.
 *
 * Returns: %FALSE with an error if the job cannot go on
 */
gboolean
vn_improve_try (VnImproveJob         *self,
                const VnImproveStep  *step,
                GCancellable         *cancellable,
                GError              **error)
{
  g_autoptr(VnRecipe) recipe = NULL;
  g_autoptr(VnImproveDeadline) deadline = NULL;
  GError *reason = NULL;
  double began, seconds;
  guint n_kept;
  gboolean good;

  g_return_val_if_fail (self != NULL && step != NULL, FALSE);

  n_kept = self->earlier->len;
  recipe = vn_recipe_copy (self->recipe);
  if (!improve_apply (self, step, recipe))
    return TRUE;
  if (!improve_has_time (self, step->kind, recipe))
    {
      vn_improve_add_try (self, step, VN_IMPROVE_NO_TIME, NULL, NULL);
      return TRUE;
    }
  began = vn_improve_get_seconds (self);
  deadline = vn_improve_deadline_new (cancellable, improve_shares[step->kind] * improve_get_left (self, self->recipe));
  good = improve_try_kind (self, step, recipe, vn_improve_deadline_get_cancellable (deadline), &reason);
  seconds = vn_improve_get_seconds (self) - began;
  self->times.longest[step->kind] = MAX (self->times.longest[step->kind], seconds);
  if (step->kind == VN_IMPROVE_NETWORK && self->earlier->len > n_kept)
    self->times.network_seconds = seconds;
  if (!good && vn_improve_deadline_is_over (deadline) && !g_cancellable_is_cancelled (cancellable) &&
      !vn_error_is_memory (reason))
    {
      vn_improve_add_try (self, step, VN_IMPROVE_CUT, NULL, NULL);
      g_error_free (reason);
      return TRUE;
    }
  return good || improve_take_error (self, step, reason, cancellable, error);
}
