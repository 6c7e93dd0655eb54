/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of the main job that measure what was quantized: the error, what is kept of the answers, and where the error
 * starts. */
#include "quantize-job-private.h"

#include "quantize-folds.h"

#include "vn-error.h"
#include "vn-evaluate.h"
#include "vn-i18n.h"
#include "vn-noise-gain.h"
#include "vn-task-reader.h"

#include <math.h>

/* Recipes do not know which tasks there are. */
gboolean
_vn_quantize_job_check_task (const VnRecipe  *recipe,
                             GError         **error)
{
  g_autofree char *ids = NULL;
  VnTask task;

  if (recipe->task == NULL || vn_task_find (recipe->task, &task))
    return TRUE;
  ids = vn_task_dup_ids ();
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("task: unknown task “%s”; choose one of %s"), recipe->task, ids);
  return FALSE;
}

/* Statistics that come from elsewhere, or of a run that had no use for parts, have none. */
static gboolean
quantize_measure_make_folds (VnQuantizeJob  *self,
                             VnFolds        *folds,
                             GCancellable   *cancellable,
                             GError        **error)
{
  VnRun *result = self->draft;

  if (self->n_parts > 0 && !self->ran_parts && vn_stats_get_parts (result->stats) == NULL)
    {
      g_autoptr(GPtrArray) taps = vn_quantize_list_values (result->prepared, self->settings.recipe);
      const VnCalibration calibration = { .input = &self->input, .taps = taps, .samples = self->input.calibration,
                                          .n_parts = self->n_parts };
      VnStats *stats = vn_job_calibrate (self->job, &calibration, cancellable, error);

      if (stats == NULL)
        return FALSE;
      vn_stats_unref (result->stats);
      result->stats = stats;
    }
  return self->n_parts == 0 || vn_folds_make (folds, &self->input, result->stats, cancellable, error);
}

gboolean
_vn_quantize_job_compare (VnQuantizeJob  *self,
                          GCancellable   *cancellable,
                          GError        **error)
{
  const VnJobInput *input = &self->input;
  VnRun *result = self->draft;
  g_autoptr(GHashTable) names = NULL;
  g_autoptr(GPtrArray) answers = vn_sample_answers_new ();
  g_autoptr(VnModel) quantized = NULL, written = vn_job_take_rounded (input, self->corrected, self->rounded);
  g_auto(VnFolds) folds = { NULL };
  VnCompareOptions options = { .plan = result->plan, .samples = (const guint *) (gpointer) input->measured->data,
                               .n_samples = input->measured->len, .n_threads = input->n_threads, .parts = input->parts,
                               .task = self->settings.recipe->task, .answers = answers, .bodies = TRUE };
  VnProgress progress = vn_job_get_reporter (self->job);

  quantized = vn_job_write_measurable (input, written, result->plan, result->quantized, result->value_names, &names, error);
  if (quantized == NULL)
    return FALSE;
  options.value_names = names;
  if (!quantize_measure_make_folds (self, &folds, cancellable, error))
    return FALSE;
  if (folds.folds != NULL && folds.folds->len > 0)
    {
      options.folds = (const VnCompareFold *) (gpointer) folds.folds->data;
      options.n_folds = folds.folds->len;
      options.n_samples = input->apart ? input->measured->len : 0;
    }
  result->left_out = options.n_folds > 0;
  result->n_held_out = vn_compare_count_samples (&options);
  result->errors = vn_compare (result->prepared, quantized, input->shapes, input->dataset, &options, &progress, result->notes,
                               cancellable, error);
  if (result->errors != NULL)
    {
      vn_job_begin_part (self->job);
      result->errors = vn_job_input_measure_outputs (input, result->errors, quantized, &options, &progress, cancellable, error);
    }
  if (result->errors == NULL || !vn_evaluate_accuracy (vn_job_input_get_reference (input), quantized, input->shapes,
                                                       input->dataset, &options,
                                                       &result->accuracy, cancellable, error))
    return FALSE;
  if (answers->len > 0)
    result->answers = g_steal_pointer (&answers);
  vn_task_note_unread (result->accuracy.kept.task, result->recipe->task, "task", result->notes);
  vn_labels_note_chance (&result->accuracy, result->notes);
  return TRUE;
}

/* The exact cost of a tensor takes a run downstream of it for each sample: more of them tell little more. */
#define ORIGIN_SAMPLES 32

VnContributions *
_vn_quantize_job_measure_origins (VnQuantizeJob                *self,
                                  const VnRun                  *result,
                                  VnNotes                      *notes,
                                  const VnContributionOptions  *options,
                                  const VnProgress             *progress,
                                  GCancellable                 *cancellable,
                                  GError                      **error)
{
  const VnJobInput *input = &self->input;
  VnSamples run = { .shapes = input->shapes, .dataset = input->dataset,
                       .indices = (const guint *) (gpointer) input->measured->data,
                       .n = MIN (input->measured->len, ORIGIN_SAMPLES),
                       .n_threads = input->n_threads, .progress = progress, .notes = notes };
  g_autoptr(VnModel) written = vn_job_take_rounded (input, self->corrected, self->rounded);
  VnContributionOptions by_parts = { 0 };
  VnContributions *found;
  double gain_db = NAN;

  if (options != NULL)
    by_parts = *options;
  by_parts.parts = input->parts;
  found = vn_contribution_measure (result->prepared, written, result->plan, &run, &by_parts, cancellable, error);
  if (found != NULL && vn_noise_gain_measure (result->prepared, &run, &gain_db, cancellable, NULL))
    vn_contributions_set_noise_gain (found, gain_db);
  return found;
}

/* The rows of errors say where they start. */
static void
quantize_measure_mark_errors (VnRun *result)
{
  VnErrorTable *marked;

  if (result->contributions == NULL || result->errors == NULL)
    return;
  marked = vn_contributions_mark (result->contributions, result->errors);
  vn_error_table_unref (result->errors);
  result->errors = marked;
}

gboolean
_vn_quantize_job_find_origins (VnQuantizeJob  *self,
                               GCancellable   *cancellable,
                               GError        **error)
{
  VnProgress progress = vn_job_get_reporter (self->job);

  self->draft->contributions = _vn_quantize_job_measure_origins (self, self->draft, self->input.notes, NULL, &progress,
                                                                 cancellable, error);
  quantize_measure_mark_errors (self->draft);
  return self->draft->contributions != NULL;
}
