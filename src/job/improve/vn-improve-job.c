/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of “--auto”: quantizes plainly, then tries what may lower the error, and keeps what does so on the outputs of samples.
 * It never ends with more error than it began with. */
#include "vn-improve-job.h"

#include "improve-origins.h"
#include "improve-times.h"

#include "vn-error.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <math.h>

/* How much longer than the plain export one may take in ONNX Runtime, unless accuracy comes first. */
#define MOST_TIME 1.25

/* The part of what the plain export multiplies on integers that must stay there: whoever quantizes wants that, even where float is as
 * fast. */
#define LEAST_INTEGER 0.5

/* How often all steps are gone through, as long as some are kept. */
#define ROUNDS 2

struct _VnImproveJob
{
  VnJob              parent_instance;
  VnImproveSettings  settings;      /* owns what it points to */
  VnQuantizeSettings trial;         /* borrows: the same with fewer samples to calibrate on; others are left to judge by */
  VnStats           *stats;         /* of all samples */
  VnResult          *plain;         /* what tries start from: of the network that is quantized now */
  VnImproveBench    *bench;
  VnRecipe          *recipe;        /* the best so far, and what it comes to */
  VnImproveTrial     best;
  GPtrArray         *earlier;       /* of VnRecipe: what was the best before, the last one last */
  double             plain_db;
  VnImproveLimit     most;          /* unless accuracy comes first */
  VnResult          *result;
  VnImproveTimes     times;
  gint64             began;
  GPtrArray         *tries;         /* of VnImproveTry */
  gboolean           is_plain;    /* @result has none of what was kept: all of it together is worse */
};

G_DEFINE_FINAL_TYPE (VnImproveJob, vn_improve_job, VN_TYPE_JOB)

/* ---- what is told ---- */

static void
improve_free_try (gpointer data)
{
  g_free (((VnImproveTry *) data)->reason);
  g_free (data);
}

/* @trial: (nullable): not measured */
static void
improve_tell (VnImproveJob         *self,
              const VnImproveStep  *step,
              VnImproveOutcome      outcome,
              const VnImproveTrial *trial,
              const GError         *reason)
{
  VnImproveTry *entry = g_new0 (VnImproveTry, 1);

  *entry = (VnImproveTry) { step->title, outcome, self->best.judgement.sqnr_db, NAN, self->best.price.ratio, NAN,
                            self->best.price.integer_share, NAN, self->best.price.wide_share, NAN, 0, NULL };
  entry->reason = reason != NULL ? g_strdup (reason->message) : NULL;
  if (trial != NULL)
    {
      entry->after_db = trial->judgement.each != NULL ? trial->judgement.sqnr_db : NAN;
      entry->after_ratio = trial->price.ratio;
      entry->after_share = trial->price.integer_share;
      entry->after_wide = trial->price.wide_share;
      entry->bytes = (gint64) trial->bytes - (gint64) self->best.bytes;
    }
  g_ptr_array_add (self->tries, entry);
}

/* ---- time ---- */

static double
improve_get_seconds (const VnImproveJob *self)
{
  return (double) (g_get_monotonic_time () - self->began) / G_USEC_PER_SEC;
}

/* Room must be left for the last run, which does all of the best recipe once more and compares every tensor.
 * @recipe: what is tried */
static gboolean
improve_has_time (const VnImproveJob *self,
                  VnImproveKind       kind,
                  const VnRecipe     *recipe)
{
  double last = self->times.run_seconds + vn_improve_times_estimate_repairs (&self->times, recipe);
  double next = vn_improve_times_estimate_try (&self->times, kind, recipe);

  return improve_get_seconds (self) + next + last <= self->settings.seconds;
}

/* ---- one run, one try ---- */

static VnResult *
improve_run (const VnQuantizeSettings  *settings,
             const VnRecipe            *recipe,
             VnStats                   *earlier,
             GCancellable              *cancellable,
             GError                   **error)
{
  VnQuantizeSettings run = *settings;
  g_autoptr(VnJob) job = NULL;

  run.recipe = recipe;
  run.earlier = earlier;
  job = vn_quantize_job_new (&run);
  return vn_job_run (job, cancellable, error) ? vn_result_ref (vn_quantize_job_get_result (VN_QUANTIZE_JOB (job))) : NULL;
}

/* Where tries start from. */
static VnResult *
improve_start (VnImproveJob    *self,
               GCancellable    *cancellable,
               GError         **error)
{
  g_autoptr(VnResult) plain = NULL;
  guint n;

  self->trial = self->settings.quantize;
  self->trial.skip_compare = TRUE;
  self->trial.origins = FALSE;
  plain = improve_run (&self->trial, self->recipe, NULL, cancellable, error);
  n = plain != NULL ? vn_improve_count_learned (&self->trial, plain, error) : 0;
  if (n == 0)
    return NULL;
  self->times.run_seconds = improve_get_seconds (self);
  self->stats = vn_stats_ref (plain->stats);
  self->trial.n_calibration = n;
  return plain->n_calibration == 0 || n == plain->n_calibration ? g_steal_pointer (&plain) : improve_run (&self->trial, self->recipe, NULL, cancellable, error);
}

/* What a try needs beside the recipe. */
static gboolean
improve_make (VnImproveJob    *self,
              VnImproveBench  *bench,
              VnImproveKind    kind,
              const VnRecipe  *recipe,
              GCancellable    *cancellable,
              GError         **error)
{
  if ((kind == VN_IMPROVE_ROUNDING || kind == VN_IMPROVE_NETWORK) &&
      vn_recipe_get_most (recipe, VN_LAYER_ROUNDING) != VN_WEIGHT_ROUNDING_NEAREST &&
      !vn_improve_bench_round (bench, recipe, cancellable, error))
    return FALSE;
  return kind == VN_IMPROVE_SETTING || kind == VN_IMPROVE_ORIGINS ||
         vn_recipe_get_most (recipe, VN_LAYER_BIAS_CORRECTION) == VN_BIAS_CORRECTION_OFF ||
         vn_improve_bench_correct (bench, recipe, cancellable, error);
}

/* What speaks against a recipe however good it is; VN_IMPROVE_KEPT: nothing. What cannot be told does not. */
static VnImproveOutcome
improve_find_price (const VnImproveJob   *self,
                    const VnImproveTrial *trial)
{
  return self->settings.accuracy_first ? VN_IMPROVE_KEPT : vn_improve_limit_check (&self->most, &trial->price);
}

/* Takes a recipe if it is better. Returns: whether it is. */
static gboolean
improve_judge (VnImproveJob        *self,
               const VnImproveStep *step,
               const VnRecipe      *recipe,
               VnImproveTrial      *trial)
{
  const VnJudgement *before = &self->best.judgement, *after = &trial->judgement;
  double chance = step->least_gain > 0 ? MAX (step->least_gain, vn_judgement_get_error (after, before)) : 0;
  gboolean better = after->sqnr_db > before->sqnr_db + chance;
  VnImproveOutcome outcome = better ? improve_find_price (self, trial) : VN_IMPROVE_NO_GAIN;

  improve_tell (self, step, outcome, trial, NULL);
  if (outcome != VN_IMPROVE_KEPT)
    return FALSE;
  vn_improve_trial_take (&self->best, trial);
  g_ptr_array_add (self->earlier, self->recipe);
  self->recipe = vn_recipe_copy (recipe);
  return TRUE;
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
  improve_tell (self, step, VN_IMPROVE_IMPOSSIBLE, NULL, reason);
  g_error_free (reason);
  return TRUE;
}

/* ---- the kinds of steps ---- */

/* Of these the network stays as it is. What is too slow need not be run. */
static gboolean
improve_try_recipe (VnImproveJob         *self,
                    const VnImproveStep  *step,
                    const VnRecipe       *recipe,
                    GCancellable         *cancellable,
                    GError              **error)
{
  g_auto(VnImproveTrial) trial = { 0 };
  VnImproveOutcome price;

  if (!improve_make (self, self->bench, step->kind, recipe, cancellable, error) ||
      !vn_improve_bench_forecast (self->bench, recipe, &trial, error))
    return FALSE;
  price = improve_find_price (self, &trial);
  if (price != VN_IMPROVE_KEPT)
    {
      improve_tell (self, step, price, &trial, NULL);
      return TRUE;
    }
  if (!vn_improve_bench_measure (self->bench, &trial, cancellable, error))
    return FALSE;
  improve_judge (self, step, recipe, &trial);
  return TRUE;
}

static gboolean
improve_try_network (VnImproveJob         *self,
                     const VnImproveStep  *step,
                     const VnRecipe       *recipe,
                     GCancellable         *cancellable,
                     GError              **error)
{
  g_autoptr(VnRecipe) simple = vn_recipe_copy (recipe);
  g_autoptr(VnResult) plain = NULL;
  g_autoptr(VnImproveBench) bench = NULL;
  g_auto(VnImproveTrial) trial = { 0 };

  vn_recipe_turn_off (simple, VN_LAYER_ROUNDING);
  vn_recipe_turn_off (simple, VN_LAYER_BIAS_CORRECTION);
  plain = improve_run (&self->trial, simple, self->plain->stats, cancellable, error);
  bench = plain != NULL ? vn_improve_bench_new (VN_JOB (self), &self->trial, plain, cancellable, error) : NULL;
  if (bench == NULL || !improve_make (self, bench, VN_IMPROVE_NETWORK, recipe, cancellable, error) ||
      !vn_improve_bench_try (bench, recipe, &trial, cancellable, error))
    return FALSE;
  if (!improve_judge (self, step, recipe, &trial))
    return TRUE;
  vn_improve_bench_free (self->bench);
  self->bench = g_steal_pointer (&bench);
  vn_result_unref (self->plain);
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

/* Channels are balanced for what is quantized: with tensors left in float that makes another network, which may cost more. Half of them then. */
static gboolean
improve_try_balanced_origins (VnImproveJob         *self,
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

/* Twice as many each time, as long as that is better. */
static gboolean
improve_try_origins (VnImproveJob         *self,
                     const VnImproveStep  *step,
                     const VnRecipe       *base,
                     GCancellable         *cancellable,
                     GError              **error)
{
  const VnImproveLimit *limit = self->settings.accuracy_first ? NULL : &self->most;
  g_autoptr(GPtrArray) names = vn_improve_order_origins (self->bench, step, base, limit, cancellable, error);
  g_autoptr(VnRecipe) best = vn_recipe_copy (base);
  g_auto(VnImproveTrial) found = { 0 };
  guint n_found = 0;

  if (names == NULL)
    return FALSE;
  for (guint n = 1; n <= names->len && improve_has_time (self, VN_IMPROVE_SETTING, base); n = n == names->len ? n + 1 : MIN (2 * n, names->len))
    {
      g_autoptr(VnRecipe) recipe = improve_add_origins (self, step, base, names, n);
      g_auto(VnImproveTrial) trial = { 0 };

      if (!vn_improve_bench_try (self->bench, recipe, &trial, cancellable, error))
        return FALSE;
      if (found.judgement.each != NULL && !(trial.judgement.sqnr_db > found.judgement.sqnr_db))
        continue;
      vn_improve_trial_take (&found, &trial);
      vn_recipe_free (best);
      best = g_steal_pointer (&recipe);
      n_found = n;
    }
  if (n_found > 0 && vn_job_wants_balance (base) && found.judgement.sqnr_db > self->best.judgement.sqnr_db)
    return improve_try_balanced_origins (self, step, base, names, n_found, cancellable, error);
  if (found.judgement.each != NULL)
    improve_judge (self, step, best, &found);
  return TRUE;
}

static gboolean
improve_try (VnImproveJob         *self,
             const VnImproveStep  *step,
             GCancellable         *cancellable,
             GError              **error)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (self->recipe);
  GError *reason = NULL;
  double began = improve_get_seconds (self);
  gboolean good;

  if (step->kind == VN_IMPROVE_TRAINING || (step->suits != NULL && !step->suits (self->bench->input.prepared->graph)) || !step->apply (recipe) || !vn_recipe_validate (recipe, NULL))
    return TRUE;
  if (!improve_has_time (self, step->kind, recipe))
    {
      improve_tell (self, step, VN_IMPROVE_NO_TIME, NULL, NULL);
      return TRUE;
    }
  good = step->kind == VN_IMPROVE_NETWORK ? improve_try_network (self, step, recipe, cancellable, &reason)
       : step->kind == VN_IMPROVE_ORIGINS ? improve_try_origins (self, step, recipe, cancellable, &reason)
                                          : improve_try_recipe (self, step, recipe, cancellable, &reason);
  self->times.longest[step->kind] = MAX (self->times.longest[step->kind], improve_get_seconds (self) - began);
  return good || improve_take_error (self, step, reason, cancellable, error);
}

/* ---- the job ---- */

static gboolean
vn_improve_job_quantize (VnJob         *job,
                         GCancellable  *cancellable,
                         GError       **error)
{
  VnImproveJob *self = VN_IMPROVE_JOB (job);

  self->began = g_get_monotonic_time ();
  if (self->settings.quantize.data == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("--auto measures what helps on the outputs: give samples with --data, and do not skip the comparison"));
      return FALSE;
    }
  self->recipe = vn_recipe_copy (self->settings.quantize.recipe);
  self->plain = improve_start (self, cancellable, error);
  if (self->plain == NULL)
    return FALSE;
  self->bench = vn_improve_bench_new (job, &self->trial, self->plain, cancellable, error);
  if (self->bench == NULL || !improve_make (self, self->bench, VN_IMPROVE_NETWORK, self->recipe, cancellable, error) ||
      !vn_improve_bench_try (self->bench, self->recipe, &self->best, cancellable, error))
    return FALSE;
  self->plain_db = self->best.judgement.sqnr_db;
  self->most = (VnImproveLimit) { self->best.price.ratio * MOST_TIME, self->best.price.integer_share * LEAST_INTEGER,
                                  (1 + self->best.price.wide_share) * MOST_TIME - 1 };
  return TRUE;
}

static gboolean
vn_improve_job_try_all (VnJob         *job,
                        GCancellable  *cancellable,
                        GError       **error)
{
  VnImproveJob *self = VN_IMPROVE_JOB (job);
  VnProgress progress = vn_job_get_reporter (job);
  guint n;
  const VnImproveStep *steps = vn_improve_step_list (&n);

  /* what did not help alone may help beside what was kept after it */
  for (guint i = 0, kept = 0; i < ROUNDS * n && (i < n || i - kept < n); i++)
    {
      double best = self->best.judgement.sqnr_db;

      vn_progress_report (&progress, _("repairs"), i, ROUNDS * n);
      if ((i < n || steps[i % n].kind != VN_IMPROVE_NETWORK) && !improve_try (self, &steps[i % n], cancellable, error))
        return FALSE;
      kept = self->best.judgement.sqnr_db > best ? i : kept;
    }
  return TRUE;
}

static void
improve_note (VnImproveJob *self)
{
  VnNotes *notes = self->result->notes;
  g_autofree char *best = vn_format_decimals (self->best.judgement.sqnr_db, 1), *plain = vn_format_decimals (self->plain_db, 1);

  self->result->steps = vn_run_steps_new ();
  vn_notes_add (notes, VN_NOTE_INFO, VN_NOTE_CODE_AUTO, NULL, _("The outputs keep %s dB of signal to noise on average, plainly %s"),
                best, plain);
  for (guint i = 0; i < self->tries->len; i++)
    {
      const VnImproveTry *try = g_ptr_array_index (self->tries, i);
      g_autofree char *text = vn_improve_try_dup_text (try), *outcome = vn_improve_try_dup_outcome (try);
      const VnRunStep step = { (char *) _(try->title), outcome, !self->is_plain && try->outcome == VN_IMPROVE_KEPT, try->before_db, try->after_db };

      vn_run_steps_add (self->result->steps, &step);
      vn_notes_add (notes, VN_NOTE_INFO, VN_NOTE_CODE_AUTO, NULL, "%s", text);
    }
}

/* ---- the last run ---- */

/* Seconds that training is worth beginning for. */
#define LEAST_TRAINING 2

/* Makes training part of the last run, in the time that is left for it. Returns: (nullable): the step; %NULL: nothing is trained */
static const VnImproveStep *
improve_add_training (VnImproveJob *self,
                      VnRecipe     *recipe)
{
  double left = self->settings.seconds - improve_get_seconds (self) - self->times.run_seconds - vn_improve_times_estimate_repairs (&self->times, recipe);
  guint n;
  const VnImproveStep *steps = vn_improve_step_list (&n);
  g_autoptr(VnRecipe) trained = vn_recipe_copy (recipe);

  while (n > 0 && steps[n - 1].kind != VN_IMPROVE_TRAINING)
    n--;
  if (n == 0 || !steps[n - 1].apply (trained) || !vn_recipe_validate (trained, NULL))
    return NULL;
  if (left < LEAST_TRAINING)
    {
      improve_tell (self, &steps[n - 1], VN_IMPROVE_NO_TIME, NULL, NULL);
      return NULL;
    }
  steps[n - 1].apply (recipe);
  /* the time left is no part of the recipe: equal settings make equal recipes, however busy the computer is */
  recipe->train_time = self->settings.seconds;
  self->settings.quantize.train_seconds = left;
  return &steps[n - 1];
}

/* What @recipe makes of all samples. */
static gboolean
improve_run_last (VnImproveJob    *self,
                  const VnRecipe  *recipe,
                  VnImproveTrial  *trial,
                  GCancellable    *cancellable,
                  GError         **error)
{
  vn_improve_trial_clear (trial);
  g_clear_pointer (&self->result, vn_result_unref);
  self->result = improve_run (&self->settings.quantize, recipe, self->stats, cancellable, error);
  if (self->result == NULL)
    return FALSE;
  trial->price = vn_improve_bench_look_ahead (self->bench, recipe, self->result->quantized);
  trial->bytes = vn_graph_weight_bytes (self->result->quantized->graph);
  return vn_judge_measure (self->bench->judge, self->result->quantized, &trial->judgement, cancellable, error);
}

/* How often what was kept last is given up again, as long as all of it costs too much. */
#define MOST_STEPS_BACK 2

/* From all samples a network may be balanced otherwise than in tries, and cost more than they said. */
static gboolean
improve_step_back (VnImproveJob    *self,
                   VnImproveTrial  *last,
                   GCancellable    *cancellable,
                   GError         **error)
{
  for (guint i = 0; i < MOST_STEPS_BACK && self->earlier->len > 0 && improve_find_price (self, last) != VN_IMPROVE_KEPT; i++)
    {
      guint k = self->tries->len;
      VnImproveTry *entry = NULL;

      while (k > 0 && (entry == NULL || entry->outcome != VN_IMPROVE_KEPT))
        entry = g_ptr_array_index (self->tries, --k);
      if (entry != NULL)
        {
          entry->outcome = improve_find_price (self, last);
          entry->after_ratio = last->price.ratio;
          entry->after_share = last->price.integer_share;
        }
      vn_recipe_free (self->recipe);
      self->recipe = g_ptr_array_steal_index (self->earlier, self->earlier->len - 1);
      if (!improve_run_last (self, self->recipe, last, cancellable, error))
        return FALSE;
    }
  return TRUE;
}

/* Rounding and correction once more, for what all other steps came to: the result is what the recipe makes. */
static gboolean
vn_improve_job_finish (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnImproveJob *self = VN_IMPROVE_JOB (job);
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (self->recipe);
  const VnImproveStep *step = improve_add_training (self, recipe);
  g_auto(VnImproveTrial) last = { 0 };
  gboolean better;

  if (!improve_run_last (self, recipe, &last, cancellable, error))
    return FALSE;
  if (step != NULL && vn_improve_trained_nothing (self->result))
    self->best.judgement.sqnr_db = last.judgement.sqnr_db;
  better = last.judgement.sqnr_db > self->best.judgement.sqnr_db && (step == NULL || improve_find_price (self, &last) == VN_IMPROVE_KEPT);
  if (step != NULL)
    improve_tell (self, step, better ? VN_IMPROVE_KEPT : VN_IMPROVE_NO_GAIN, &last, NULL);
  if ((step != NULL && !better && !improve_run_last (self, self->recipe, &last, cancellable, error)) ||
      !improve_step_back (self, &last, cancellable, error))
    return FALSE;
  self->is_plain = last.judgement.sqnr_db < self->plain_db || improve_find_price (self, &last) != VN_IMPROVE_KEPT;
  if (self->is_plain && !improve_run_last (self, self->settings.quantize.recipe, &last, cancellable, error))
    return FALSE;
  self->best.judgement.sqnr_db = MAX (last.judgement.sqnr_db, self->plain_db);
  improve_note (self);
  return TRUE;
}

static const VnStage stages[] = {
  { "quantize", N_("Quantizing plainly"),  10, NULL, vn_improve_job_quantize },
  { "improve",  N_("Trying repairs"),      70, NULL, vn_improve_job_try_all },
  { "finish",   N_("Quantizing with what helped"), 20, NULL, vn_improve_job_finish },
  { NULL },
};

static void
vn_improve_job_finalize (GObject *object)
{
  VnImproveJob *self = VN_IMPROVE_JOB (object);
  VnQuantizeSettings *quantize = &self->settings.quantize;

  g_clear_pointer (&self->bench, vn_improve_bench_free);
  g_clear_pointer (&self->plain, vn_result_unref);
  g_clear_pointer (&self->stats, vn_stats_unref);
  g_clear_pointer (&self->result, vn_result_unref);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  g_ptr_array_unref (self->earlier);
  vn_improve_trial_clear (&self->best);
  vn_model_unref (quantize->model);
  vn_data_spec_free ((VnDataSpec *) quantize->data);
  vn_recipe_free ((VnRecipe *) quantize->recipe);
  g_clear_pointer (&quantize->input_shapes, g_hash_table_unref);
  g_ptr_array_unref (self->tries);
  G_OBJECT_CLASS (vn_improve_job_parent_class)->finalize (object);
}

static void
vn_improve_job_class_init (VnImproveJobClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_improve_job_finalize;
  VN_JOB_CLASS (klass)->stages = stages;
}

static void
vn_improve_job_init (VnImproveJob *self)
{
  self->tries = g_ptr_array_new_with_free_func (improve_free_try);
  self->earlier = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_recipe_free);
}

/**
 * vn_improve_job_new:
 * @settings: copied; files of statistics are not taken
 */
VnJob *
vn_improve_job_new (const VnImproveSettings *settings)
{
  VnImproveJob *self;
  const VnQuantizeSettings *quantize;

  g_return_val_if_fail (settings != NULL && settings->quantize.model != NULL && settings->quantize.recipe != NULL, NULL);

  self = g_object_new (VN_TYPE_IMPROVE_JOB, NULL);
  quantize = &settings->quantize;
  self->settings = (VnImproveSettings) { .seconds = settings->seconds, .accuracy_first = settings->accuracy_first };
  self->settings.quantize = (VnQuantizeSettings) {
    .model = vn_model_ref (quantize->model), .data = quantize->data != NULL ? vn_data_spec_copy (quantize->data) : NULL,
    .recipe = vn_recipe_copy (quantize->recipe),
    .input_shapes = quantize->input_shapes != NULL ? g_hash_table_ref (quantize->input_shapes) : NULL,
    .n_calibration = quantize->n_calibration, .n_threads = quantize->n_threads, .origins = quantize->origins,
  };
  vn_job_add_source (VN_JOB (self), quantize->model);
  vn_job_set_title (VN_JOB (self), _("Improving"));
  return VN_JOB (self);
}

/**
 * vn_improve_job_get_result:
 *
 * Returns: (transfer none) (nullable): the best result, after success; its recipe makes it again, its notes tell what was tried
 */
VnResult *
vn_improve_job_get_result (VnImproveJob *self)
{
  g_return_val_if_fail (VN_IS_IMPROVE_JOB (self), NULL);

  return self->result;
}

/**
 * vn_improve_job_get_tries:
 *
 * Returns: (transfer none) (element-type VnImproveTry): what each step came to, in the order of trying; after success
 */
GPtrArray *
vn_improve_job_get_tries (VnImproveJob *self)
{
  g_return_val_if_fail (VN_IS_IMPROVE_JOB (self), NULL);

  return self->tries;
}
