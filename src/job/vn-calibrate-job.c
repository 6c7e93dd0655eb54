/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs samples through a network, prepared as for quantizing, and keeps what its values were. */
#include "vn-calibration-private.h"

#include "vn-data-check.h"
#include "vn-error.h"
#include "vn-i18n.h"

struct _VnCalibrateJob
{
  VnJob               parent_instance;
  VnCalibrateSettings settings;      /* owns what it points to */
  VnNotes            *notes;
  VnStats            *stats;
  VnModel            *prepared;
};

G_DEFINE_FINAL_TYPE (VnCalibrateJob, vn_calibrate_job, VN_TYPE_JOB)

static GArray *
take_shard (GArray *samples,
            guint   shard,
            guint   n_shards)
{
  GArray *taken = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = shard; i < samples->len; i += MAX (n_shards, 1))
    g_array_append_val (taken, g_array_index (samples, guint, i));
  return taken;
}

static GArray *
choose_samples (VnCalibrateJob  *self,
                VnDataset       *dataset,
                GArray         **all,
                GError         **error)
{
  const VnCalibrateSettings *settings = &self->settings;
  g_autoptr(GArray) calibration = NULL;
  g_autoptr(GArray) held_out = NULL;
  GArray *taken;

  vn_job_split_samples (vn_dataset_get_n (dataset), settings->n_held_out, settings->n_calibration, &calibration, &held_out);
  taken = take_shard (calibration, settings->shard, settings->n_shards);
  *all = g_array_ref (calibration);
  if (taken->len > 0)
    return taken;
  g_array_unref (taken);
  g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
               _("Part %u of %u has no samples: there are %u to calibrate on; make no more parts than that"),
               settings->shard + 1, settings->n_shards, calibration->len);
  return NULL;
}

static gboolean
vn_calibrate_job_run (VnJob         *job,
                      GCancellable  *cancellable,
                      GError       **error)
{
  VnCalibrateJob *self = VN_CALIBRATE_JOB (job);
  const VnCalibrateSettings *settings = &self->settings;
  g_autoptr(VnEditLog) edits = vn_edit_log_new ();
  VnModel *prepared;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(GArray) samples = NULL, all = NULL;
  g_autoptr(GPtrArray) taps = NULL;
  g_autoptr(VnStatsOrigin) origin = NULL;
  VnCalibration calibration;
  VnChannelRun run = { .n_threads = settings->n_threads, .notes = self->notes };

  if (!vn_recipe_validate (settings->recipe, error) || !vn_job_check_is_float (settings->model, error))
    return FALSE;
  vn_job_begin_phase (job, _("Preparing"), 0, 0.05);
  prepared = vn_job_prepare (settings->model, settings->recipe, settings->input_shapes, edits, self->notes, cancellable,
                             error);
  if (prepared == NULL)
    return FALSE;
  self->prepared = prepared;
  dataset = vn_model_open_data (prepared, settings->data, settings->input_shapes, &shapes, self->notes, error);
  if (dataset == NULL || (samples = choose_samples (self, dataset, &all, error)) == NULL)
    return FALSE;
  run.shapes = shapes;
  run.dataset = dataset;
  if (!vn_job_equalize (job, settings->recipe, prepared, &run, all, edits, cancellable, error))
    return FALSE;
  /* Of processes that share the samples one looks at them. */
  if (settings->rank == 0 && !g_str_equal (settings->data->path, "random") &&
      !vn_data_check (settings->model, prepared, shapes, dataset, TRUE, self->notes, cancellable, error))
    return FALSE;
  origin = vn_job_make_origin (settings->model, prepared, settings->data);
  taps = vn_quantize_list_values (prepared, settings->recipe);
  vn_job_begin_phase (job, _("Calibrating"), 0.05, 1);
  calibration = (VnCalibration) { .prepared = prepared, .shapes = shapes, .taps = taps, .dataset = dataset,
                                  .samples = samples, .origin = origin, .n_threads = settings->n_threads,
                                  .keep = settings->keep, .keep_seconds = settings->keep_seconds,
                                  .base = settings->base,
                                  .rank = settings->rank, .n_ranks = settings->n_ranks };
  self->stats = vn_job_calibrate (job, &calibration, self->notes, cancellable, error);
  return self->stats != NULL;
}

static void
vn_calibrate_job_finalize (GObject *object)
{
  VnCalibrateJob *self = VN_CALIBRATE_JOB (object);

  vn_model_unref (self->settings.model);
  vn_data_spec_free ((VnDataSpec *) self->settings.data);
  vn_recipe_free ((VnRecipe *) self->settings.recipe);
  g_clear_pointer (&self->settings.input_shapes, g_hash_table_unref);
  g_free ((char *) self->settings.keep);
  g_clear_pointer (&self->settings.base, vn_stats_unref);
  g_clear_pointer (&self->stats, vn_stats_unref);
  g_clear_pointer (&self->prepared, vn_model_unref);
  vn_notes_unref (self->notes);
  G_OBJECT_CLASS (vn_calibrate_job_parent_class)->finalize (object);
}

static void
vn_calibrate_job_class_init (VnCalibrateJobClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_calibrate_job_finalize;
  VN_JOB_CLASS (klass)->run = vn_calibrate_job_run;
}

static void
vn_calibrate_job_init (VnCalibrateJob *self)
{
  self->notes = vn_notes_new ();
}

/**
 * vn_calibrate_job_new:
 * @settings: copied; model, shapes and base are referenced
 *
 * Returns: (transfer full): a job that makes statistics
 */
VnJob *
vn_calibrate_job_new (const VnCalibrateSettings *settings)
{
  VnCalibrateJob *self = g_object_new (VN_TYPE_CALIBRATE_JOB, NULL);

  self->settings = *settings;
  self->settings.model = vn_model_ref (settings->model);
  self->settings.data = vn_data_spec_copy (settings->data);
  self->settings.recipe = vn_recipe_copy (settings->recipe);
  self->settings.keep = g_strdup (settings->keep);
  if (settings->input_shapes != NULL)
    g_hash_table_ref (settings->input_shapes);
  if (settings->base != NULL)
    vn_stats_ref (settings->base);
  vn_job_set_title (VN_JOB (self), _("Calibrating"));
  return VN_JOB (self);
}

/**
 * vn_calibrate_job_get_stats:
 *
 * Returns: (transfer none) (nullable): the statistics, once the job has succeeded
 */
VnStats *
vn_calibrate_job_get_stats (VnCalibrateJob *self)
{
  return self->stats;
}

VnModel *
vn_calibrate_job_get_prepared (VnCalibrateJob *self)
{
  return self->prepared;
}

VnNotes *
vn_calibrate_job_get_notes (VnCalibrateJob *self)
{
  return self->notes;
}
