/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The main job: a network prepared, calibrated, quantized and compared. Its stages stand in one table. */
#include "quantize-job-private.h"

#include "quantize-folds.h"
#include "vn-forecast-export.h"
#include "vn-known-stats-private.h"
#include "vn-note-engine.h"

#include "vn-diagnose.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-sample-ranks.h"
#include "vn-weights-check.h"

static const VnJobKind quantize_job_kind;

static gboolean
vn_quantize_job_prepare (VnJob         *job,
                         GCancellable  *cancellable,
                         GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);
  g_autoptr(GArray) compared = NULL;
  VnProgress progress;

  if (!_vn_quantize_job_check_task (self->settings.recipe, error) ||
      !_vn_quantize_job_check_clock (self->settings.recipe, error) ||
      !vn_job_input_prepare (&self->input, cancellable, error))
    return FALSE;
  self->draft->prepared = vn_model_ref (self->input.prepared);
  self->n_parts = self->settings.stats == NULL && !self->settings.skip_compare ? vn_folds_count_parts (&self->input) : 0;
  compared = self->input.dataset != NULL ? vn_job_list_compared (&self->input, self->n_parts) : NULL;
  vn_quantize_find_facts (&self->facts, &self->input, compared);
  if (self->settings.skip_compare)
    return TRUE;
  vn_job_begin_part (job);
  progress = vn_job_get_reporter (job);
  if (!vn_job_input_find_parts (&self->input, &progress, cancellable, error))
    return FALSE;
  vn_job_begin_part (job);
  if (!vn_job_input_find_reference (&self->input, compared, &progress, cancellable, error))
    return FALSE;
  self->facts.has_reference = self->input.reference != NULL;
  return TRUE;
}

static gboolean
vn_quantize_job_wants_equalize (VnJob *job)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return vn_job_input_wants_equalize (&self->input);
}

static gboolean
vn_quantize_job_equalize (VnJob         *job,
                          GCancellable  *cancellable,
                          GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return vn_job_input_equalize (&self->input, job, cancellable, error);
}

static gboolean
vn_quantize_job_wants_balance (VnJob *job)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return vn_job_wants_balance (self->settings.recipe);
}

/* An earlier draft may have balanced the network for the same. */
static gboolean
quantize_job_take_balanced (VnQuantizeJob *self)
{
  const VnRun *alike = self->settings.alike;

  if (alike == NULL || !vn_job_balances_alike (alike->recipe, self->settings.recipe))
    return FALSE;
  vn_model_unref (self->input.prepared);
  self->input.prepared = vn_model_ref (alike->prepared);
  return TRUE;
}

static gboolean
vn_quantize_job_balance (VnJob         *job,
                         GCancellable  *cancellable,
                         GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  if (!quantize_job_take_balanced (self) && !vn_job_balance_channels (&self->input, job, cancellable, error))
    return FALSE;
  vn_model_unref (self->draft->prepared);
  self->draft->prepared = vn_model_ref (self->input.prepared);
  return TRUE;
}

/* ---- statistics ---- */

static gboolean
quantize_job_load_stats (VnQuantizeJob  *self,
                         GCancellable   *cancellable,
                         GError        **error)
{
  if (vn_recipe_uses_samples (self->settings.recipe) || self->settings.stats != NULL)
    vn_job_input_make_origin (&self->input);
  if (self->settings.stats == NULL)
    return TRUE;
  self->stats = vn_job_load_stats (self->settings.stats, &self->input, cancellable, error);
  return self->stats != NULL;
}

static gboolean
vn_quantize_job_check (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);
  VnJobInput *input = &self->input;

  if (!quantize_job_load_stats (self, cancellable, error))
    return FALSE;
  if (input->dataset != NULL)
    {
      vn_job_choose_measured (input, self->stats);
      if (!self->settings.skip_compare && self->n_parts == 0)
        vn_job_note_measured (input, self->stats);
      self->draft->n_calibration = input->calibration->len;
      self->draft->n_held_out = input->measured->len;
    }
  return (self->settings.draft ||
          vn_job_input_check (input, self->stats == NULL && vn_recipe_needs_samples (self->settings.recipe), cancellable,
                              error)) &&
         vn_job_take_known_stats (input, self->stats, self->settings.earlier, self->draft, cancellable, error);
}

static gboolean
vn_quantize_job_wants_calibrate (VnJob *job)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return vn_recipe_uses_samples (self->settings.recipe) && self->settings.stats == NULL && self->draft->stats == NULL;
}

static gboolean
vn_quantize_job_calibrate (VnJob         *job,
                           GCancellable  *cancellable,
                           GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);
  const char *path = self->settings.save_stats;
  VnRun *result = self->draft;
  g_autoptr(GPtrArray) taps = vn_quantize_list_values (result->prepared, self->settings.recipe);
  VnCalibration calibration = { .input = &self->input, .taps = taps, .samples = self->input.calibration, .keep = path,
                                .keep_seconds = self->settings.keep_seconds, .base = self->settings.base,
                                .n_parts = path == NULL && self->settings.base == NULL ? self->n_parts : 0 };

  if (!self->settings.draft && !vn_job_note_engine (result->prepared, taps, self->input.dataset, self->input.shapes,
                                                    result->notes, cancellable, error))
    return FALSE;
  result->stats = vn_job_calibrate (job, &calibration, cancellable, error);
  if (result->stats == NULL)
    return FALSE;
  result->n_calibration = vn_stats_get_n_samples (result->stats);
  self->ran_parts = calibration.n_parts > 1;
  return path == NULL || vn_sample_ranks_get_rank () > 0 ||
         (vn_job_check_sources (job, error) && vn_stats_save (result->stats, path, error) &&
          vn_calibrate_clear_parts (path, error));
}

/* ---- quantizing ---- */

static gboolean
vn_quantize_job_wants_correction (VnJob *job)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return vn_recipe_get_most (self->settings.recipe, VN_LAYER_BIAS_CORRECTION) != VN_BIAS_CORRECTION_OFF;
}

static gboolean
vn_quantize_job_correct (VnJob         *job,
                         GCancellable  *cancellable,
                         GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  self->corrected = vn_job_correct_biases (&self->input, job, self->rounded, self->draft->stats, cancellable, error);
  return self->corrected != NULL;
}

/* @stats: (transfer full) (nullable): instead of those so far */
static gboolean
quantize_job_take_stats (VnQuantizeJob *self,
                         VnStats       *stats)
{
  if (stats == NULL)
    return FALSE;
  vn_stats_unref (self->draft->stats);
  self->draft->stats = stats;
  return TRUE;
}

static gboolean
vn_quantize_job_wants_importance (VnJob *job)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return vn_recipe_has_importance (self->settings.recipe);
}

static gboolean
vn_quantize_job_measure_importance (VnJob         *job,
                                    GCancellable  *cancellable,
                                    GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);
  VnStats *found = vn_job_measure_importance (&self->input, self->draft->stats, cancellable, error);

  return quantize_job_take_stats (self, found);
}

static gboolean
vn_quantize_job_wants_noise (VnJob *job)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return vn_job_wants_noise (&self->input);
}

static gboolean
vn_quantize_job_measure_noise (VnJob         *job,
                               GCancellable  *cancellable,
                               GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);
  VnStats *found = vn_job_measure_noise (&self->input, job, self->draft->stats, cancellable, error);

  return quantize_job_take_stats (self, found);
}

static gboolean
vn_quantize_job_wants_search (VnJob *job)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return self->settings.recipe->range_search != VN_RANGE_SEARCH_OFF;
}

static gboolean
vn_quantize_job_search (VnJob         *job,
                        GCancellable  *cancellable,
                        GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);
  VnStats *found = vn_job_search_ranges (&self->input, job, self->draft->stats, cancellable, error);

  return quantize_job_take_stats (self, found);
}

static gboolean
vn_quantize_job_wants_rounding (VnJob *job)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return vn_recipe_get_most (self->settings.recipe, VN_LAYER_ROUNDING) != VN_WEIGHT_ROUNDING_NEAREST;
}

static gboolean
vn_quantize_job_round (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  self->rounded = vn_job_round_weights (&self->input, job, self->draft->stats, cancellable, error);
  return self->rounded != NULL;
}

static gboolean
vn_quantize_job_wants_training (VnJob *job)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return vn_recipe_get_most (self->settings.recipe, VN_LAYER_TRAIN) != VN_TRAIN_OFF;
}

static gboolean
vn_quantize_job_train (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return _vn_quantize_job_train (self, cancellable, error);
}

/* What is compared with is the float network as it was before its biases were corrected. */
static gboolean
vn_quantize_job_quantize (VnJob         *job,
                          GCancellable  *cancellable,
                          GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);
  VnRun *result = self->draft;
  g_autoptr(VnModel) written = vn_job_take_rounded (&self->input, self->corrected, self->rounded);

  if (!_vn_quantize_job_write (self, written, error))
    return FALSE;
  vn_quantize_note_types (result->quantized, result->source, result->notes);
  result->float_bytes = result->source->file_size;
  vn_job_forecast_export (&self->input, result);
  vn_job_note_target (result);
  result->quantized_bytes = vn_job_count_bytes (result->quantized, error);
  return result->quantized_bytes > 0;
}

static gboolean
vn_quantize_job_wants_settings (VnJob *job)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return !self->settings.draft;
}

static gboolean
vn_quantize_job_check_settings (VnJob         *job,
                                GCancellable  *cancellable,
                                GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  vn_job_note_idle_settings (job, &self->input, self->draft, self->corrected, self->rounded,
                             self->untrained.stats != NULL ? &self->untrained : NULL, cancellable);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

static gboolean
vn_quantize_job_wants_compare (VnJob *job)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return self->settings.data != NULL && !self->settings.skip_compare;
}

static gboolean
vn_quantize_job_compare (VnJob         *job,
                         GCancellable  *cancellable,
                         GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return _vn_quantize_job_compare (self, cancellable, error);
}

/* ---- origins ---- */

static gboolean
vn_quantize_job_wants_origins (VnJob *job)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return self->settings.origins && vn_quantize_job_wants_compare (job);
}

static gboolean
vn_quantize_job_find_origins (VnJob         *job,
                              GCancellable  *cancellable,
                              GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return _vn_quantize_job_find_origins (self, cancellable, error);
}

/**
 * vn_quantize_job_measure_origins:
 * @self: a job that has succeeded, and has measured the error
 * @options: (nullable): who wants to know in the meantime
 * @progress: (nullable): told how far it is
 *
 * Measures afterwards what each tensor alone costs the outputs, for whoever wanted the result first. From any thread, one at a
 * time.
 *
 * Returns: (transfer full) (nullable): %NULL with an error if it was cancelled or memory is short
 */
VnContributions *
vn_quantize_job_measure_origins (VnJob                        *job,
                                 const VnContributionOptions  *options,
                                 const VnProgress             *progress,
                                 GCancellable                 *cancellable,
                                 GError                      **error)
{
  VnQuantizeJob *self;
  g_autoptr(VnNotes) notes = NULL;   /* samples that cannot be read are in those of the result, which others read now */

  g_return_val_if_fail (vn_job_is (job, VN_JOB_QUANTIZE), NULL);

  self = vn_job_get_state (job, &quantize_job_kind);
  g_return_val_if_fail (self->result != NULL && self->result->errors != NULL, NULL);

  notes = vn_notes_new ();
  return _vn_quantize_job_measure_origins (self, self->result, notes, options, progress, cancellable, error);
}

static gboolean
vn_quantize_job_find_reasons (VnJob         *job,
                              GCancellable  *cancellable,
                              GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  self->draft->diagnosis = vn_diagnose (self->draft);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

/* ---- the job ---- */

static double
quantize_job_get_cost (VnJob         *job,
                       const VnStage *stage,
                       guint          part,
                       double        *behind)
{
  const VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return vn_quantize_cost (&self->facts, stage->id, stage->weight, part, behind);
}

static const VnStage stages[] = {
  { "prepare",        N_("Preparing"),            4,  NULL,                             vn_quantize_job_prepare },
  { "equalize",       N_("Equalizing weights"),    12, vn_quantize_job_wants_equalize,   vn_quantize_job_equalize },
  { "balance",        N_("Smoothing channels"),   30, vn_quantize_job_wants_balance,    vn_quantize_job_balance },
  { "check",          N_("Checking the samples"), 3,  NULL,                             vn_quantize_job_check },
  { "calibrate",      N_("Calibrating"),          55, vn_quantize_job_wants_calibrate,  vn_quantize_job_calibrate },
  { "importance",     N_("Measuring importance"), 15, vn_quantize_job_wants_importance, vn_quantize_job_measure_importance },
  { "weights",        N_("Measuring weights"),    30, vn_quantize_job_wants_noise,      vn_quantize_job_measure_noise },
  { "search-ranges",  N_("Searching for ranges"), 20, vn_quantize_job_wants_search,     vn_quantize_job_search },
  { "round-weights",  N_("Rounding weights"),     30, vn_quantize_job_wants_rounding,   vn_quantize_job_round },
  { "correct-biases", N_("Correcting biases"),    20, vn_quantize_job_wants_correction, vn_quantize_job_correct },
  { "train",          N_("Training"),             90, vn_quantize_job_wants_training,   vn_quantize_job_train },
  { "quantize",       N_("Quantizing"),           3,  NULL,                             vn_quantize_job_quantize },
  { "settings",       N_("Checking the settings"), 2, vn_quantize_job_wants_settings,   vn_quantize_job_check_settings },
  { "compare",        N_("Measuring error"),      25, vn_quantize_job_wants_compare,    vn_quantize_job_compare },
  { "origins",        N_("Finding error sources"), 60, vn_quantize_job_wants_origins, vn_quantize_job_find_origins },
  { "reasons",        N_("Finding causes"),      1,  vn_quantize_job_wants_origins,    vn_quantize_job_find_reasons },
  { NULL },
};

static void
quantize_job_begin_result (VnQuantizeJob *self)
{
  VnRun *result = vn_run_new ();

  result->notes = vn_notes_new ();
  result->edits = vn_edit_log_new ();
  result->source = vn_model_ref (self->settings.model);
  result->data = self->settings.data != NULL ? vn_data_spec_copy (self->settings.data) : NULL;
  result->recipe = vn_recipe_copy (self->settings.recipe);
  result->settings = (VnRunSettings) { .n_calibration = self->settings.n_calibration, .skip_compare = self->settings.skip_compare,
                                  .shapes = self->settings.input_shapes != NULL
                                            ? g_hash_table_ref (self->settings.input_shapes) : NULL,
                                  .stats = g_strdupv ((char **) self->settings.stats) };
  self->draft = result;
  self->kept_rounding = self->settings.save_stats != NULL ? vn_rounding_dup_kept_path (self->settings.save_stats) : NULL;
  self->input = (VnJobInput) { .model = result->source, .data = result->data, .recipe = result->recipe,
                               .given_shapes = self->settings.input_shapes, .known = self->settings.samples,
                               .n_calibration = self->settings.n_calibration,
                               .n_threads = self->settings.n_threads, .draft = self->settings.draft,
                               .kept_rounding = self->kept_rounding,
                               .whole_counts = self->settings.whole_counts, .edits = result->edits, .notes = result->notes };
}

/* Whoever makes the same files again says when: https://reproducible-builds.org/specs/source-date-epoch/ */
static gint64
quantize_job_get_time (void)
{
  const char *given = g_getenv ("SOURCE_DATE_EPOCH");
  gint64 time;

  if (given != NULL && g_ascii_string_to_signed (given, 10, 1, G_MAXUINT32, &time, NULL))
    return time;
  return g_get_real_time () / G_USEC_PER_SEC;
}

/* What the result was made of, and when. */
static void
quantize_job_sign (VnQuantizeJob *self)
{
  VnRun *result = self->draft;

  if (self->input.origin == NULL)
    vn_job_input_make_origin (&self->input);
  result->source_digest = g_strdup (self->input.origin->source);
  result->prepared_digest = g_strdup (self->input.origin->prepared);
  result->samples_digest = g_strdup (self->input.origin->samples);
  result->time = quantize_job_get_time ();
}

static gboolean
vn_quantize_job_run (VnJob         *job,
                     GCancellable  *cancellable,
                     GError       **error)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  quantize_job_begin_result (self);
  if (!vn_job_input_validate (&self->input, error))
    return FALSE;
  vn_weights_check (self->settings.model, self->draft->notes);
  if (!vn_job_run_stages (job, cancellable, error))
    {
      if (!g_cancellable_is_cancelled (cancellable))
        vn_job_explain_failure (&self->input, error);
      return FALSE;
    }
  vn_notes_sort (self->draft->notes);
  vn_job_begin_part (job);
  quantize_job_sign (self);
  self->draft->corrected = self->corrected != NULL ? vn_model_ref (self->corrected) : NULL;
  self->draft->rounded = self->rounded != NULL ? vn_model_ref (self->rounded) : NULL;
  self->draft->timings = vn_job_dup_timings (job);
  self->draft->state = VN_RUN_MEASURED;
  self->result = g_steal_pointer (&self->draft);
  return TRUE;
}

static void
quantize_job_clear (gpointer data)
{
  VnQuantizeJob *self = data;

  vn_model_unref (self->settings.model);
  vn_data_spec_free ((VnDataSpec *) self->settings.data);
  vn_recipe_free ((VnRecipe *) self->settings.recipe);
  g_clear_pointer (&self->settings.input_shapes, g_hash_table_unref);
  g_clear_pointer (&self->settings.earlier, vn_stats_unref);
  g_clear_pointer (&self->settings.alike, vn_run_unref);
  g_clear_pointer (&self->settings.samples, vn_dataset_unref);
  g_clear_pointer (&self->result, vn_run_unref);
  vn_job_input_clear (&self->input);
  g_clear_pointer (&self->stats, vn_stats_unref);
  g_clear_pointer (&self->corrected, vn_model_unref);
  g_clear_pointer (&self->rounded, vn_model_unref);
  g_clear_pointer (&self->untrained.rounded, vn_model_unref);
  g_clear_pointer (&self->untrained.stats, vn_stats_unref);
  g_clear_pointer (&self->draft, vn_run_unref);
  g_strfreev ((char **) self->settings.stats);
  g_free ((char *) self->settings.save_stats);
  g_free (self->kept_rounding);
  g_clear_pointer (&self->settings.base, vn_stats_unref);
}

/* Statistics are kept when calibrating is cancelled. */
static gboolean
quantize_job_can_be_left (VnJob *job)
{
  VnQuantizeJob *self = vn_job_get_state (job, &quantize_job_kind);

  return self->settings.save_stats == NULL;
}

static const VnJobKind quantize_job_kind = {
  .id = VN_JOB_QUANTIZE,
  .state_size = sizeof (VnQuantizeJob),
  .stages = stages,
  .clear = quantize_job_clear,
  .run = vn_quantize_job_run,
  .cost = quantize_job_get_cost,
  .can_be_left = quantize_job_can_be_left,
};

/**
 * vn_quantize_job_new:
 * @settings: copied; model, shapes and statistics are referenced
 *
 * Returns: (transfer full): the main job
 */
VnJob *
vn_quantize_job_new (const VnQuantizeSettings *settings)
{
  VnJob *job;
  VnQuantizeJob *self;

  g_return_val_if_fail (settings != NULL, NULL);

  job = vn_job_new (&quantize_job_kind);
  self = vn_job_get_state (job, &quantize_job_kind);
  self->job = job;
  self->settings = *settings;
  self->settings.model = vn_model_ref (settings->model);
  vn_job_add_source (job, settings->model);
  self->settings.data = settings->data != NULL ? vn_data_spec_copy (settings->data) : NULL;
  self->settings.recipe = vn_recipe_copy (settings->recipe);
  if (settings->input_shapes != NULL)
    g_hash_table_ref (settings->input_shapes);
  if (settings->earlier != NULL)
    vn_stats_ref (settings->earlier);
  if (settings->alike != NULL)
    vn_run_ref (settings->alike);
  if (settings->samples != NULL)
    vn_dataset_ref (settings->samples);
  self->settings.stats = (const char * const *) g_strdupv ((char **) settings->stats);
  self->settings.save_stats = g_strdup (settings->save_stats);
  if (settings->base != NULL)
    vn_stats_ref (settings->base);
  return job;
}

/**
 * vn_quantize_job_get_result:
 *
 * Returns: (transfer none) (nullable): the result, once the job has succeeded
 */
VnRun *
vn_quantize_job_get_result (VnJob *job)
{
  VnQuantizeJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_QUANTIZE), NULL);

  self = vn_job_get_state (job, &quantize_job_kind);
  return self->result;
}

/**
 * vn_quantize_job_get_shapes:
 *
 * Returns: (transfer none) (nullable) (element-type utf8 VnShape): the sizes of the inputs that the job ran with, once it
 *   has succeeded; %NULL: all are fixed by the model
 */
GHashTable *
vn_quantize_job_get_shapes (VnJob *job)
{
  VnQuantizeJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_QUANTIZE), NULL);

  self = vn_job_get_state (job, &quantize_job_kind);
  return self->input.shapes;
}
