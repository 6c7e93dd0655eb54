/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of “--auto”: quantizes plainly, then tries what may lower the error, and keeps what does so on the outputs of samples.
 * It never ends with more error than it began with. */
#include "improve-steps.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <math.h>

/* In dB: less is chance, with as few samples as there are. */
#define LEAST_GAIN 0.2

/* How often all steps are gone through, as long as some are kept. */
#define ROUNDS 2

/* Tensors that may be left in float because the error starts there: one in so many. */
#define MOST_FLOAT 4

struct _VnImproveJob
{
  VnJob              parent_instance;
  VnImproveSettings  settings;      /* owns what it points to */
  VnResult          *plain;         /* what tries start from: of the network that is quantized now */
  VnImproveBench    *bench;
  VnRecipe          *recipe;        /* the best so far, and what it comes to */
  VnJudgement     best;
  double             plain_db;
  VnResult          *result;
  double             run_seconds;   /* that quantizing took */
  double             longest[VN_IMPROVE_ORIGINS + 1];   /* by kind: seconds of the longest try so far */
  gint64             began;
  GArray            *steps;         /* of VnImproved */
};

G_DEFINE_FINAL_TYPE (VnImproveJob, vn_improve_job, VN_TYPE_JOB)

/* ---- what is told ---- */

static void
improve_clear_step (gpointer data)
{
  g_free (((VnImproved *) data)->reason);
}

static void
improve_tell (VnImproveJob        *self,
              const VnImproveStep *step,
              VnImproveOutcome     outcome,
              double               after_db,
              const GError        *reason)
{
  VnImproved improved = { step->id, _(step->title), outcome, self->best.sqnr_db, after_db,
                          reason != NULL ? g_strdup (reason->message) : NULL };

  g_array_append_val (self->steps, improved);
}

/**
 * vn_improved_dup_text:
 *
 * Returns: (transfer full): what the step was, and what it came to
 */
char *
vn_improved_dup_text (const VnImproved *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  switch (self->outcome)
    {
    case VN_IMPROVED:
      return g_strdup_printf (_("%s: %.1f → %.1f dB, kept"), self->title, self->before_db, self->after_db);
    case VN_IMPROVE_NO_GAIN:
      return g_strdup_printf (_("%s: %.1f → %.1f dB, not kept"), self->title, self->before_db, self->after_db);
    case VN_IMPROVE_TOO_SLOW:
      return g_strdup_printf (_("%s: too slow in ONNX Runtime, not kept"), self->title);
    case VN_IMPROVE_IMPOSSIBLE:
      return g_strdup_printf (_("%s: cannot be done here: %s"), self->title, self->reason != NULL ? self->reason : "");
    case VN_IMPROVE_NO_TIME:
      return g_strdup_printf (_("%s: not tried, the time is up"), self->title);
    }
  g_return_val_if_reached (NULL);
}

/* ---- time ---- */

static double
improve_get_seconds (const VnImproveJob *self)
{
  return (double) (g_get_monotonic_time () - self->began) / G_USEC_PER_SEC;
}

/* Room must be left for the last run, which does all of the best recipe once more and compares every tensor. */
static gboolean
improve_has_time (const VnImproveJob *self,
                  VnImproveKind       kind)
{
  double last = self->run_seconds + (self->recipe->rounding != VN_WEIGHT_ROUNDING_NEAREST ? self->longest[VN_IMPROVE_ROUNDING] : 0);
  double next = MAX (self->longest[kind], self->longest[VN_IMPROVE_SETTING]);

  return improve_get_seconds (self) + next + last <= self->settings.seconds;
}

/* ---- one run, one try ---- */

static VnResult *
improve_run (VnImproveJob    *self,
             const VnRecipe  *recipe,
             gboolean         last,
             GCancellable    *cancellable,
             GError         **error)
{
  VnQuantizeSettings settings = self->settings.quantize;
  g_autoptr(VnJob) job = NULL;

  settings.recipe = recipe;
  settings.earlier = self->plain != NULL ? self->plain->stats : settings.earlier;
  settings.skip_compare = !last;
  settings.origins = last && settings.origins;
  job = vn_quantize_job_new (&settings);
  return vn_job_run (job, cancellable, error) ? vn_result_ref (vn_quantize_job_get_result (VN_QUANTIZE_JOB (job))) : NULL;
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
  if ((kind == VN_IMPROVE_ROUNDING || kind == VN_IMPROVE_NETWORK) && recipe->rounding != VN_WEIGHT_ROUNDING_NEAREST &&
      !vn_improve_bench_round (bench, recipe, cancellable, error))
    return FALSE;
  return (kind != VN_IMPROVE_CORRECTION && kind != VN_IMPROVE_NETWORK) || recipe->bias_correction == VN_BIAS_CORRECTION_OFF ||
         vn_improve_bench_correct (bench, recipe, cancellable, error);
}

/* Takes a recipe if it is better. Returns: whether it is. */
static gboolean
improve_judge (VnImproveJob         *self,
               const VnImproveStep  *step,
               const VnRecipe       *recipe,
               VnJudgement          *trial)
{
  gboolean better = trial->sqnr_db > self->best.sqnr_db + MAX (LEAST_GAIN, vn_judgement_get_error (trial, &self->best));

  improve_tell (self, step, better ? VN_IMPROVED : VN_IMPROVE_NO_GAIN, trial->sqnr_db, NULL);
  if (!better)
    return FALSE;
  vn_judgement_take (&self->best, trial);
  vn_recipe_free (self->recipe);
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
  improve_tell (self, step, VN_IMPROVE_IMPOSSIBLE, NAN, reason);
  g_error_free (reason);
  return TRUE;
}

/* ---- the kinds of steps ---- */

/* Of these the network stays as it is. */
static gboolean
improve_try_recipe (VnImproveJob         *self,
                    const VnImproveStep  *step,
                    const VnRecipe       *recipe,
                    GCancellable         *cancellable,
                    GError              **error)
{
  g_auto(VnJudgement) trial = { 0 };

  if (!improve_make (self, self->bench, step->kind, recipe, cancellable, error) ||
      !vn_improve_bench_try (self->bench, recipe, &trial, cancellable, error))
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
  g_auto(VnJudgement) trial = { 0 };

  simple->rounding = VN_WEIGHT_ROUNDING_NEAREST;
  simple->bias_correction = VN_BIAS_CORRECTION_OFF;
  plain = improve_run (self, simple, FALSE, cancellable, error);
  bench = plain != NULL ? vn_improve_bench_new (VN_JOB (self), &self->settings.quantize, plain, cancellable, error) : NULL;
  if (bench == NULL || !improve_make (self, bench, step->kind, recipe, cancellable, error) ||
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

/* Names of activations, those first where most of the error starts. */
static GPtrArray *
improve_list_origins (VnContributions *contributions)
{
  g_autoptr(GArray) order = vn_contributions_sort (contributions);
  GPtrArray *names = g_ptr_array_new ();

  for (guint i = 0; i < order->len; i++)
    {
      const VnContribution *item = vn_contributions_get (contributions, g_array_index (order, guint, i));

      if (item->role == VN_TENSOR_ACTIVATION)
        g_ptr_array_add (names, item->name);
    }
  return names;
}

/* Twice as many each time, as long as that is better. */
static gboolean
improve_try_origins (VnImproveJob         *self,
                     const VnImproveStep  *step,
                     const VnRecipe       *base,
                     GCancellable         *cancellable,
                     GError              **error)
{
  g_autoptr(VnContributions) contributions = vn_improve_bench_find_origins (self->bench, base, cancellable, error);
  g_autoptr(GPtrArray) names = contributions != NULL ? improve_list_origins (contributions) : NULL;
  g_autoptr(VnRecipe) best = vn_recipe_copy (base);
  g_auto(VnJudgement) found = { 0 };

  if (names == NULL)
    return FALSE;
  for (guint n = 1; n <= names->len / MOST_FLOAT && improve_has_time (self, VN_IMPROVE_SETTING); n *= 2)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_copy (base);
      g_autofree char **some = g_new0 (char *, n + 1);
      g_auto(VnJudgement) trial = { 0 };

      memcpy (some, names->pdata, n * sizeof *some);
      step->add (recipe, some);
      if (!vn_improve_bench_try (self->bench, recipe, &trial, cancellable, error))
        return FALSE;
      if (found.each != NULL && !(trial.sqnr_db > found.sqnr_db))
        continue;
      vn_judgement_take (&found, &trial);
      vn_recipe_free (best);
      best = g_steal_pointer (&recipe);
    }
  if (found.each != NULL)
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

  if (!step->apply (recipe) || !vn_recipe_validate (recipe, NULL))
    return TRUE;
  if (!improve_has_time (self, step->kind))
    {
      improve_tell (self, step, VN_IMPROVE_NO_TIME, NAN, NULL);
      return TRUE;
    }
  good = step->kind == VN_IMPROVE_NETWORK ? improve_try_network (self, step, recipe, cancellable, &reason)
       : step->kind == VN_IMPROVE_ORIGINS ? improve_try_origins (self, step, recipe, cancellable, &reason)
                                          : improve_try_recipe (self, step, recipe, cancellable, &reason);
  self->longest[step->kind] = MAX (self->longest[step->kind], improve_get_seconds (self) - began);
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
  self->plain = improve_run (self, self->recipe, FALSE, cancellable, error);
  if (self->plain == NULL)
    return FALSE;
  self->run_seconds = improve_get_seconds (self);
  self->bench = vn_improve_bench_new (job, &self->settings.quantize, self->plain, cancellable, error);
  if (self->bench == NULL || !improve_make (self, self->bench, VN_IMPROVE_NETWORK, self->recipe, cancellable, error) ||
      !vn_improve_bench_try (self->bench, self->recipe, &self->best, cancellable, error))
    return FALSE;
  self->plain_db = self->best.sqnr_db;
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
      double best = self->best.sqnr_db;

      vn_progress_report (&progress, _("repairs"), i, ROUNDS * n);
      if ((i < n || steps[i % n].kind == VN_IMPROVE_SETTING) && !improve_try (self, &steps[i % n], cancellable, error))
        return FALSE;
      kept = self->best.sqnr_db > best ? i : kept;
    }
  return TRUE;
}

static void
improve_note (VnImproveJob *self)
{
  VnNotes *notes = self->result->notes;

  vn_notes_add (notes, VN_NOTE_INFO, VN_NOTE_CODE_AUTO, NULL, _("The outputs keep %.1f dB of signal to noise on average, plainly %.1f"),
                self->best.sqnr_db, self->plain_db);
  for (guint i = 0; i < self->steps->len; i++)
    {
      g_autofree char *text = vn_improved_dup_text (&g_array_index (self->steps, VnImproved, i));

      vn_notes_add (notes, VN_NOTE_INFO, VN_NOTE_CODE_AUTO, NULL, "%s", text);
    }
}

/* Rounding and correction once more, for what all other steps came to: the result is what the recipe makes. */
static gboolean
vn_improve_job_finish (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnImproveJob *self = VN_IMPROVE_JOB (job);
  g_auto(VnJudgement) after = { 0 };

  self->result = improve_run (self, self->recipe, TRUE, cancellable, error);
  if (self->result == NULL || !vn_judge_measure (self->bench->judge, self->result->quantized, &after, cancellable, error))
    return FALSE;
  if (after.sqnr_db < self->plain_db)
    {
      vn_result_unref (self->result);
      after.sqnr_db = self->plain_db;
      self->result = improve_run (self, self->settings.quantize.recipe, TRUE, cancellable, error);
      if (self->result == NULL)
        return FALSE;
    }
  self->best.sqnr_db = after.sqnr_db;
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
  g_clear_pointer (&self->result, vn_result_unref);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  vn_judgement_clear (&self->best);
  vn_model_unref (quantize->model);
  vn_data_spec_free ((VnDataSpec *) quantize->data);
  vn_recipe_free ((VnRecipe *) quantize->recipe);
  g_clear_pointer (&quantize->input_shapes, g_hash_table_unref);
  g_array_unref (self->steps);
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
  self->steps = g_array_new (FALSE, TRUE, sizeof (VnImproved));
  g_array_set_clear_func (self->steps, improve_clear_step);
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
 * vn_improve_job_get_steps:
 *
 * Returns: (transfer none) (element-type VnImproved): what was tried, in this order
 */
GArray *
vn_improve_job_get_steps (VnImproveJob *self)
{
  g_return_val_if_fail (VN_IS_IMPROVE_JOB (self), NULL);

  return self->steps;
}
