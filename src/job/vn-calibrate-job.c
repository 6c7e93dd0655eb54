/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs samples through a network, prepared as for quantizing, and keeps what its values were. */
#include "vn-calibration-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-setting.h"

typedef struct
{
  VnCalibrateSettings settings;      /* owns what it points to */
  VnNotes            *notes;
  VnEditLog          *edits;
  VnJobInput          input;
  GArray             *samples;       /* of guint: those of the input that are in this part */
  VnStats            *stats;
} VnCalibrateJob;

static const VnJobKind calibrate_job_kind;

static gboolean
vn_calibrate_job_prepare (VnJob         *job,
                          GCancellable  *cancellable,
                          GError       **error)
{
  VnCalibrateJob *self = vn_job_get_state (job, &calibrate_job_kind);
  const VnCalibrateSettings *settings = &self->settings;

  if (!vn_job_input_validate (&self->input, error) || !vn_job_input_prepare (&self->input, cancellable, error))
    return FALSE;
  self->samples = vn_job_take_part (self->input.calibration, settings->shard, MAX (settings->n_shards, 1));
  if (self->samples->len > 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
               ngettext ("Shard %u of %u is empty: there is only %u calibration sample; use fewer shards",
                         "Shard %u of %u is empty: there are only %u calibration samples; use fewer shards",
                         self->input.calibration->len),
               settings->shard + 1, settings->n_shards, self->input.calibration->len);
  return FALSE;
}

static gboolean
vn_calibrate_job_wants_equalize (VnJob *job)
{
  VnCalibrateJob *self = vn_job_get_state (job, &calibrate_job_kind);

  return vn_job_input_wants_equalize (&self->input);
}

static gboolean
vn_calibrate_job_equalize (VnJob         *job,
                           GCancellable  *cancellable,
                           GError       **error)
{
  VnCalibrateJob *self = vn_job_get_state (job, &calibrate_job_kind);

  return vn_job_input_equalize (&self->input, job, cancellable, error);
}

static gboolean
vn_calibrate_job_wants_balance (VnJob *job)
{
  VnCalibrateJob *self = vn_job_get_state (job, &calibrate_job_kind);

  return vn_job_wants_balance (self->settings.recipe);
}

static gboolean
vn_calibrate_job_balance (VnJob         *job,
                          GCancellable  *cancellable,
                          GError       **error)
{
  VnCalibrateJob *self = vn_job_get_state (job, &calibrate_job_kind);

  return vn_job_balance_channels (&self->input, job, cancellable, error);
}

/* Of processes that share the samples one looks at them. */
static gboolean
vn_calibrate_job_wants_check (VnJob *job)
{
  VnCalibrateJob *self = vn_job_get_state (job, &calibrate_job_kind);

  return self->settings.rank == 0;
}

static gboolean
vn_calibrate_job_check (VnJob         *job,
                        GCancellable  *cancellable,
                        GError       **error)
{
  VnCalibrateJob *self = vn_job_get_state (job, &calibrate_job_kind);

  vn_recipe_note_idle_settings (self->settings.recipe, self->notes);
  return vn_job_input_check (&self->input, TRUE, cancellable, error);
}

static gboolean
vn_calibrate_job_calibrate (VnJob         *job,
                            GCancellable  *cancellable,
                            GError       **error)
{
  VnCalibrateJob *self = vn_job_get_state (job, &calibrate_job_kind);
  const VnCalibrateSettings *settings = &self->settings;
  g_autoptr(GPtrArray) taps = vn_quantize_list_values (self->input.prepared, settings->recipe);
  VnCalibration calibration = { .input = &self->input, .taps = taps, .samples = self->samples,
                                .n_all = settings->n_shards > 1 ? self->input.calibration->len : 0, .keep = settings->keep,
                                .keep_seconds = settings->keep_seconds, .base = settings->base, .rank = settings->rank,
                                .n_ranks = settings->n_ranks };

  vn_job_input_make_origin (&self->input);
  self->stats = vn_job_calibrate (job, &calibration, cancellable, error);
  return self->stats != NULL;
}

static const VnStage stages[] = {
  { "prepare",   N_("Preparing"),            4,  NULL,                            vn_calibrate_job_prepare },
  { "equalize",  N_("Equalizing weights"),    20, vn_calibrate_job_wants_equalize, vn_calibrate_job_equalize },
  { "balance",   N_("Smoothing channels"),   30, vn_calibrate_job_wants_balance,  vn_calibrate_job_balance },
  { "check",     N_("Checking the samples"), 3,  vn_calibrate_job_wants_check,    vn_calibrate_job_check },
  { "calibrate", N_("Calibrating"),          93, NULL,                            vn_calibrate_job_calibrate },
  { NULL },
};

static void
calibrate_job_clear (gpointer data)
{
  VnCalibrateJob *self = data;

  vn_model_unref (self->settings.model);
  vn_data_spec_free ((VnDataSpec *) self->settings.data);
  vn_recipe_free ((VnRecipe *) self->settings.recipe);
  g_clear_pointer (&self->settings.input_shapes, g_hash_table_unref);
  g_free ((char *) self->settings.keep);
  g_clear_pointer (&self->settings.base, vn_stats_unref);
  g_clear_pointer (&self->stats, vn_stats_unref);
  g_clear_pointer (&self->samples, g_array_unref);
  vn_job_input_clear (&self->input);
  vn_edit_log_unref (self->edits);
  vn_notes_unref (self->notes);
}

static gboolean
vn_calibrate_job_run (VnJob         *job,
                      GCancellable  *cancellable,
                      GError       **error)
{
  VnCalibrateJob *self = vn_job_get_state (job, &calibrate_job_kind);

  if (vn_job_run_stages (job, cancellable, error))
    return TRUE;
  if (!g_cancellable_is_cancelled (cancellable))
    vn_job_explain_failure (&self->input, error);
  return FALSE;
}

static const VnJobKind calibrate_job_kind = {
  .id = VN_JOB_CALIBRATE,
  .state_size = sizeof (VnCalibrateJob),
  .stages = stages,
  .run = vn_calibrate_job_run,
  .clear = calibrate_job_clear,
};

/**
 * vn_calibrate_job_new:
 * @settings: copied; model, shapes and base are referenced
 *
 * Returns: (transfer full): a job that makes statistics
 */
VnJob *
vn_calibrate_job_new (const VnCalibrateSettings *settings)
{
  VnJob *job;
  VnCalibrateJob *self;

  g_return_val_if_fail (settings != NULL, NULL);

  job = vn_job_new (&calibrate_job_kind);
  self = vn_job_get_state (job, &calibrate_job_kind);
  self->notes = vn_notes_new ();
  self->edits = vn_edit_log_new ();
  self->settings = *settings;
  self->settings.model = vn_model_ref (settings->model);
  vn_job_add_source (job, settings->model);
  self->settings.data = vn_data_spec_copy (settings->data);
  self->settings.recipe = vn_recipe_copy (settings->recipe);
  self->settings.keep = g_strdup (settings->keep);
  if (settings->input_shapes != NULL)
    g_hash_table_ref (settings->input_shapes);
  if (settings->base != NULL)
    vn_stats_ref (settings->base);
  self->input = (VnJobInput) { .model = self->settings.model, .data = self->settings.data, .recipe = self->settings.recipe,
                               .given_shapes = self->settings.input_shapes, .n_calibration = settings->n_calibration,
                               .n_threads = settings->n_threads, .whole_counts = TRUE, .edits = self->edits,
                               .notes = self->notes };
  return job;
}

/**
 * vn_calibrate_job_get_stats:
 *
 * Returns: (transfer none) (nullable): the statistics, once the job has succeeded
 */
VnStats *
vn_calibrate_job_get_stats (VnJob *job)
{
  VnCalibrateJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_CALIBRATE), NULL);

  self = vn_job_get_state (job, &calibrate_job_kind);
  return self->stats;
}

VnModel *
vn_calibrate_job_get_prepared (VnJob *job)
{
  VnCalibrateJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_CALIBRATE), NULL);

  self = vn_job_get_state (job, &calibrate_job_kind);
  return self->input.prepared;
}

VnNotes *
vn_calibrate_job_get_notes (VnJob *job)
{
  VnCalibrateJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_CALIBRATE), NULL);

  self = vn_job_get_state (job, &calibrate_job_kind);
  return self->notes;
}
