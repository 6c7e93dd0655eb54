/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of “--cures”: quantizes, finds where error starts and why, and measures on held-out samples what each cure that is
 * offered wins and costs. Nothing is kept: which one to take is for the user to say. */
#include "vn-cure-job.h"

#include "vn-cure.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-run-figures.h"
#include "vn-thresholds.h"

#include <math.h>

typedef struct
{
  VnCureSettings  settings;      /* owns what it points to */
  VnRun          *result;
  double          plain_db;
  double          longest;       /* seconds of the longest run so far */
  gint64          began;
} VnCureJob;

static const VnJobKind cure_job_kind;

static double
cure_job_get_seconds (const VnCureJob *self)
{
  return (double) (g_get_monotonic_time () - self->began) / G_USEC_PER_SEC;
}

/* ---- one run ---- */

static VnRun *
cure_job_quantize (VnCureJob           *self,
                   VnQuantizeSettings  *settings,
                   GCancellable        *cancellable,
                   GError             **error)
{
  double began = cure_job_get_seconds (self);
  g_autoptr(VnJob) job = vn_quantize_job_new (settings);

  if (!vn_job_run (job, cancellable, error))
    return NULL;
  if (!settings->origins)
    self->longest = MAX (self->longest, cure_job_get_seconds (self) - began);
  return vn_run_ref (vn_quantize_job_get_result (job));
}

/* Answers come first where more or fewer are kept than chance explains. What small numbers in an output lose does not show in
 * the noise of all: there it counts that the reason is gone. */
static gboolean
cure_job_has_helped (VnRun             *result,
                     const VnCureTrial *trial)
{
  VnReason now = VN_N_REASONS;
  g_autofree char *text = NULL;
  const int answers = vn_kept_compare (&trial->after.kept, &trial->before.kept);

  if (answers != 0)
    return answers > 0;
  if (trial->after_db > trial->before_db + VN_LEAST_GAIN_DB)
    return TRUE;
  if (trial->reason != VN_REASON_MIXED_OUTPUT || !(trial->after_db > trial->before_db - VN_LEAST_GAIN_DB))
    return FALSE;
  text = vn_diagnose_tensor (result, trial->tensor, &now);
  return now != VN_REASON_MIXED_OUTPUT;
}

/* A cure that the network cannot be quantized with is no failure of the job. */
static gboolean
cure_job_measure (VnCureJob     *self,
                  VnRecipe      *recipe,
                  VnCureTrial   *trial,
                  GCancellable  *cancellable,
                  GError       **error)
{
  VnQuantizeSettings settings = self->settings.quantize;
  g_autoptr(VnRun) result = NULL;
  g_autoptr(GError) reason = NULL;

  settings.recipe = recipe;
  settings.origins = FALSE;
  settings.save_stats = NULL;
  settings.base = NULL;
  settings.earlier = settings.stats == NULL ? self->result->stats : NULL;
  if (vn_cure_get_kind (trial->cure) == VN_CURES_SAMPLES)
    {
      settings.n_calibration = 0;
      settings.stats = NULL;
      settings.earlier = NULL;
    }
  result = cure_job_quantize (self, &settings, cancellable, &reason);
  if (result == NULL && (g_cancellable_set_error_if_cancelled (cancellable, error) || vn_error_is_memory (reason)))
    {
      if (error != NULL && *error == NULL)
        g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
  trial->recipe = vn_recipe_copy (recipe);
  if (result == NULL || result->errors == NULL)
    {
      trial->state = VN_TRIAL_IMPOSSIBLE;
      trial->problem = g_strdup (reason != NULL ? reason->message : "");
      return TRUE;
    }
  trial->before_db = vn_error_table_get_comparable_sqnr (self->result->errors, result->errors);
  trial->after_db = vn_error_table_get_comparable_sqnr (result->errors, self->result->errors);
  vn_run_get_headline (result, &trial->after);
  trial->after_bytes = result->quantized_bytes;
  trial->time_ratio = vn_run_compare_time (self->result, result);
  trial->state = cure_job_has_helped (result, trial) ? VN_TRIAL_HELPED : VN_TRIAL_NO_HELP;
  return TRUE;
}

/* ---- all ---- */

/* The same recipe for another reason or tensor says nothing new. */
static gboolean
cure_job_was_tried (VnCureJob         *self,
                    const VnRecipe    *recipe,
                    const VnCureTrial *trial)
{
  for (guint i = 0; i < vn_diagnosis_get_n_trials (self->result->diagnosis); i++)
    {
      const VnCureTrial *other = vn_diagnosis_get_trial (self->result->diagnosis, i);

      if (other->cure == trial->cure && (vn_cure_get_kind (trial->cure) != VN_CURES_RECIPE ||
                                         g_str_equal (other->tensor, trial->tensor)))
        return TRUE;
      if (vn_cure_get_kind (trial->cure) == VN_CURES_RECIPE && other->recipe != NULL && vn_recipe_equal (other->recipe, recipe))
        return TRUE;
    }
  return FALSE;
}

/* Whether there are other samples than those calibrated on. */
static gboolean
cure_job_has_samples (const VnCureJob *self)
{
  return self->settings.quantize.data != NULL &&
         (self->settings.quantize.stats != NULL || self->settings.quantize.n_calibration > 0);
}

static gboolean
cure_job_try (VnCureJob        *self,
              const VnFinding  *finding,
              VnCure            cure,
              GCancellable     *cancellable,
              GError          **error)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (self->result->recipe);
  VnCureTrial trial = { .reason = finding->reason, .cure = cure, .state = VN_TRIAL_TOLD, .before_db = self->plain_db,
                        .after_db = NAN, .time_ratio = NAN,
                        .before_bytes = self->result->quantized_bytes, .tensor = finding->tensor };
  const VnCureKind kind = vn_cure_get_kind (cure);

  vn_run_get_headline (self->result, &trial.before);
  vn_headline_clear (&trial.after);
  if ((kind == VN_CURES_RECIPE && !vn_cure_apply (cure, recipe, self->result, finding)) ||
      (kind == VN_CURES_SAMPLES && !cure_job_has_samples (self)) || cure_job_was_tried (self, recipe, &trial))
    return TRUE;
  if (kind != VN_CURES_NOTHING && cure_job_get_seconds (self) + self->longest > self->settings.seconds)
    trial.state = VN_TRIAL_NO_TIME;
  else if (kind != VN_CURES_NOTHING && !cure_job_measure (self, recipe, &trial, cancellable, error))
    return FALSE;
  trial.tensor = g_strdup (finding->tensor);
  vn_diagnosis_add_trial (self->result->diagnosis, &trial);
  return TRUE;
}

static gboolean
vn_cure_job_find (VnJob         *job,
                  GCancellable  *cancellable,
                  GError       **error)
{
  VnCureJob *self = vn_job_get_state (job, &cure_job_kind);
  VnQuantizeSettings settings = self->settings.quantize;

  settings.origins = TRUE;
  self->began = g_get_monotonic_time ();
  self->result = cure_job_quantize (self, &settings, cancellable, error);
  if (self->result == NULL)
    return FALSE;
  self->longest = vn_run_get_seconds (self->result, NULL) - vn_run_get_seconds (self->result, "origins") -
                  vn_run_get_seconds (self->result, "calibrate");   /* statistics serve again */
  self->plain_db = self->result->errors != NULL ? vn_error_table_get_outputs_sqnr (self->result->errors) : NAN;
  if (!isnan (self->plain_db) && self->result->diagnosis != NULL)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
               _("--cures needs samples and a comparison: add --data and remove --skip-compare"));
  return FALSE;
}

static gboolean
vn_cure_job_try_all (VnJob         *job,
                     GCancellable  *cancellable,
                     GError       **error)
{
  VnCureJob *self = vn_job_get_state (job, &cure_job_kind);
  VnDiagnosis *diagnosis = self->result->diagnosis;
  VnProgress progress = vn_job_get_reporter (job);

  self->began = g_get_monotonic_time ();
  for (guint i = 0; i < vn_diagnosis_get_n (diagnosis); i++)
    {
      const VnFinding *finding = vn_diagnosis_get (diagnosis, i);
      g_autoptr(GArray) cures = vn_finding_list_cures (finding);

      vn_progress_report (&progress, _("causes"), i, vn_diagnosis_get_n (diagnosis));
      if (finding->rank > self->settings.n_tensors)
        continue;
      for (guint c = 0; c < cures->len; c++)
        if (!cure_job_try (self, finding, g_array_index (cures, VnCure, c), cancellable, error))
          return FALSE;
    }
  return TRUE;
}

static const VnStage stages[] = {
  { "quantize", N_("Finding error sources"), 40, NULL, vn_cure_job_find },
  { "cures",    N_("Measuring fixes"),               60, NULL, vn_cure_job_try_all },
  { NULL },
};

static void
cure_job_clear (gpointer data)
{
  VnCureJob *self = data;
  VnQuantizeSettings *quantize = &self->settings.quantize;

  vn_model_unref (quantize->model);
  vn_data_spec_free ((VnDataSpec *) quantize->data);
  vn_recipe_free ((VnRecipe *) quantize->recipe);
  g_clear_pointer (&quantize->input_shapes, g_hash_table_unref);
  g_strfreev ((char **) quantize->stats);
  g_free ((char *) quantize->save_stats);
  g_clear_pointer (&quantize->base, vn_stats_unref);
  g_clear_pointer (&self->result, vn_run_unref);
}

static const VnJobKind cure_job_kind = {
  .id = VN_JOB_CURE,
  .state_size = sizeof (VnCureJob),
  .stages = stages,
  .clear = cure_job_clear,
};

/**
 * vn_cure_job_new:
 * @settings: copied; model, shapes and statistics are referenced
 *
 * Returns: (transfer full): the job
 */
VnJob *
vn_cure_job_new (const VnCureSettings *settings)
{
  VnJob *job;
  VnCureJob *self;
  VnQuantizeSettings *quantize;

  g_return_val_if_fail (settings != NULL && settings->quantize.model != NULL && settings->quantize.recipe != NULL, NULL);

  job = vn_job_new (&cure_job_kind);
  self = vn_job_get_state (job, &cure_job_kind);
  self->settings = *settings;
  quantize = &self->settings.quantize;
  quantize->model = vn_model_ref (quantize->model);
  quantize->data = quantize->data != NULL ? vn_data_spec_copy (quantize->data) : NULL;
  quantize->recipe = vn_recipe_copy (quantize->recipe);
  quantize->earlier = NULL;
  quantize->stats = (const char * const *) g_strdupv ((char **) quantize->stats);
  quantize->save_stats = g_strdup (quantize->save_stats);
  if (quantize->input_shapes != NULL)
    g_hash_table_ref (quantize->input_shapes);
  if (quantize->base != NULL)
    vn_stats_ref (quantize->base);
  vn_job_add_source (job, quantize->model);
  return job;
}

/**
 * vn_cure_job_get_result:
 *
 * Returns: (transfer none) (nullable): the run as it was asked for, after success; its diagnosis has the trials
 */
VnRun *
vn_cure_job_get_result (VnJob *job)
{
  VnCureJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_CURE), NULL);

  self = vn_job_get_state (job, &cure_job_kind);
  return self->result;
}
