/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of “--auto”: quantizes plainly, then tries what may lower the error, and keeps what does so on the outputs of samples.
 * It never ends with more error than it began with. */
#include "improve-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

/* How often all steps are gone through, as long as some are kept. */
#define ROUNDS 2

static const VnJobKind improve_job_kind;

static void
improve_free_try (gpointer data)
{
  g_free (((VnImproveTry *) data)->reason);
  g_free (data);
}

/* ---- the stages ---- */

/* What the window has run already need not be run again. */
static gboolean
improve_can_start_from (const VnImproveJob *self,
                        const VnRun        *given)
{
  const VnQuantizeSettings *quantize = &self->settings.quantize;

  return given != NULL && given->source == quantize->model && given->prepared != NULL && given->quantized != NULL &&
         given->stats != NULL &&
         given->errors != NULL && given->state >= VN_RUN_MEASURED && given->settings.n_calibration == quantize->n_calibration &&
         given->settings.stats == NULL &&
         vn_recipe_equal (given->recipe, quantize->recipe);
}

/* Runs plainly, once with all samples, and, if some are to be left to judge by, once without them. */
static gboolean
improve_start (VnImproveJob  *self,
               GCancellable  *cancellable,
               GError       **error)
{
  VnQuantizeSettings *all = &self->settings.quantize;
  VnQuantizeSettings whole = *all;

  whole.origins = FALSE;
  self->whole = improve_can_start_from (self, self->settings.plain) ? vn_run_ref (self->settings.plain)
                                                                    : vn_improve_run (&whole, self->recipe, NULL, cancellable,
                                                                                      error);
  all->samples = self->whole != NULL ? vn_improve_open_samples (&whole, self->whole, error) : NULL;
  if (all->samples == NULL)
    return FALSE;
  self->trial = *all;
  self->trial.origins = FALSE;
  self->trial.skip_compare = self->trial.draft = TRUE;
  self->trial.n_calibration = vn_improve_count_learned (&self->trial, self->whole);
  self->times.run_seconds = vn_run_get_seconds (self->whole, NULL) - vn_run_get_seconds (self->whole, "origins");
  self->times.compare_seconds = vn_run_get_seconds (self->whole, "compare");
  self->plain = self->whole->n_calibration == 0 || self->trial.n_calibration == self->whole->n_calibration
                ? vn_run_ref (self->whole) : vn_improve_run (&self->trial, self->recipe, NULL, cancellable, error);
  return self->plain != NULL;
}

static gboolean
vn_improve_job_quantize (VnJob         *job,
                         GCancellable  *cancellable,
                         GError       **error)
{
  VnImproveJob *self = vn_job_get_state (job, &improve_job_kind);

  self->began = g_get_monotonic_time ();
  if (self->settings.quantize.data == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("--auto needs samples and a comparison: add --data and remove --skip-compare"));
      return FALSE;
    }
  self->recipe = vn_recipe_copy (self->settings.quantize.recipe);
  if (!improve_start (self, cancellable, error))
    return FALSE;
  self->bench = vn_improve_bench_new (job, &self->trial, self->plain, cancellable, error);
  if (self->bench == NULL || !vn_improve_make (self->bench, VN_IMPROVE_NETWORK, self->recipe, cancellable, error) ||
      !vn_improve_bench_try (self->bench, self->recipe, &self->best, cancellable, error))
    return FALSE;
  self->times.whole = (1 + (double) vn_judge_get_n_copies (self->bench->judge)) / 2;   /* half of the time is not for judging */
  self->most = vn_improve_limit_make (&self->best.price, self->settings.accuracy_first);
  return TRUE;
}

static gboolean
vn_improve_job_try_all (VnJob         *job,
                        GCancellable  *cancellable,
                        GError       **error)
{
  VnImproveJob *self = vn_job_get_state (job, &improve_job_kind);
  VnProgress progress = vn_job_get_reporter (job);
  guint n;
  const VnImproveStep *steps = vn_improve_step_list (&n);

  /* what did not help alone may help beside what was kept after it */
  for (guint i = 0, kept = 0; i < ROUNDS * n && (i < n || i - kept < n); i++)
    {
      guint n_kept = self->earlier->len;

      vn_progress_report (&progress, _("fixes"), i, ROUNDS * n);
      if ((i < n || steps[i % n].kind != VN_IMPROVE_NETWORK) && !vn_improve_try (self, &steps[i % n], cancellable, error))
        return FALSE;
      kept = self->earlier->len > n_kept ? i : kept;
    }
  return TRUE;
}

static gboolean
vn_improve_job_finish (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnImproveJob *self = vn_job_get_state (job, &improve_job_kind);

  return vn_improve_finish (self, cancellable, error);
}

static const VnStage stages[] = {
  { "quantize", N_("Quantizing the baseline"),  10, NULL, vn_improve_job_quantize },
  { "improve",  N_("Trying fixes"),      70, NULL, vn_improve_job_try_all },
  { "finish",   N_("Quantizing with the selected fixes"), 20, NULL, vn_improve_job_finish },
  { NULL },
};

static void
improve_job_clear (gpointer data)
{
  VnImproveJob *self = data;
  VnQuantizeSettings *quantize = &self->settings.quantize;

  g_clear_pointer (&self->bench, vn_improve_bench_free);
  g_clear_pointer (&self->plain, vn_run_unref);
  g_clear_pointer (&self->whole, vn_run_unref);
  g_clear_pointer (&self->settings.plain, vn_run_unref);
  g_clear_pointer (&self->result, vn_run_unref);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  g_ptr_array_unref (self->earlier);
  vn_improve_trial_clear (&self->best);
  vn_improve_trial_clear (&self->simple);
  vn_model_unref (quantize->model);
  vn_data_spec_free ((VnDataSpec *) quantize->data);
  vn_recipe_free ((VnRecipe *) quantize->recipe);
  g_clear_pointer (&quantize->input_shapes, g_hash_table_unref);
  g_clear_pointer (&quantize->samples, vn_dataset_unref);
  g_ptr_array_unref (self->tries);
}

static const VnJobKind improve_job_kind = {
  .id = VN_JOB_IMPROVE,
  .state_size = sizeof (VnImproveJob),
  .stages = stages,
  .clear = improve_job_clear,
};

/**
 * vn_improve_job_new:
 * @settings: copied; files of statistics are not taken
 */
VnJob *
vn_improve_job_new (const VnImproveSettings *settings)
{
  VnJob *job;
  VnImproveJob *self;
  const VnQuantizeSettings *quantize;

  g_return_val_if_fail (settings != NULL && settings->quantize.model != NULL && settings->quantize.recipe != NULL, NULL);

  job = vn_job_new (&improve_job_kind);
  self = vn_job_get_state (job, &improve_job_kind);
  self->job = job;
  self->tries = g_ptr_array_new_with_free_func (improve_free_try);
  self->earlier = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_recipe_free);
  quantize = &settings->quantize;
  self->settings = (VnImproveSettings) { .seconds = settings->seconds, .accuracy_first = settings->accuracy_first,
                                         .plain = settings->plain != NULL ? vn_run_ref (settings->plain) : NULL };
  self->settings.quantize = (VnQuantizeSettings) {
    .model = vn_model_ref (quantize->model), .data = quantize->data != NULL ? vn_data_spec_copy (quantize->data) : NULL,
    .recipe = vn_recipe_copy (quantize->recipe),
    .input_shapes = quantize->input_shapes != NULL ? g_hash_table_ref (quantize->input_shapes) : NULL,
    .n_calibration = quantize->n_calibration, .n_threads = quantize->n_threads, .origins = quantize->origins,
  };
  vn_job_add_source (job, quantize->model);
  return job;
}

/**
 * _vn_improve_job_get_state:
 *
 * Returns: (transfer none): the state of a job of “--auto”
 */
VnImproveJob *
_vn_improve_job_get_state (VnJob *job)
{
  return vn_job_get_state (job, &improve_job_kind);
}

/**
 * vn_improve_job_get_result:
 *
 * Returns: (transfer none) (nullable): the best result, after success; its recipe makes it again, its notes tell what was tried
 */
VnRun *
vn_improve_job_get_result (VnJob *job)
{
  VnImproveJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_IMPROVE), NULL);

  self = vn_job_get_state (job, &improve_job_kind);
  return self->result;
}

/**
 * vn_improve_job_get_tries:
 *
 * Returns: (transfer none) (element-type VnImproveTry): what each step came to, in the order of trying; after success
 */
GPtrArray *
vn_improve_job_get_tries (VnJob *job)
{
  VnImproveJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_IMPROVE), NULL);

  self = vn_job_get_state (job, &improve_job_kind);
  return self->tries;
}
