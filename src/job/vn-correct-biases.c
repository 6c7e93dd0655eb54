/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Correction of biases as part of quantizing: measured in the quantized network, taken back in the float one. */
#include "vn-job-input.h"

#include "vn-bias-guard.h"
#include "vn-error.h"
#include "vn-format.h"
#include "vn-i18n.h"

/* By XSlim's rule all layers of a block are measured at once, and each takes what those before it have shifted for its own
 * error: rounds that follow take that back, a layer at a time. */
#define XSLIM_ROUNDS 3

/* Errors are measured in floats: operators on integers are written as pairs for that. */
static GPtrArray *
correct_biases_measure (const VnJobInput    *self,
                        VnStats             *stats,
                        const VnModel       *corrected,
                        const VnModel       *rounded,
                        const VnSamples     *run,
                        GCancellable        *cancellable,
                        GError             **error)
{
  g_autoptr(VnRecipe) recipe = vn_job_make_pairs_recipe (self->recipe);
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GHashTable) value_names = NULL;
  g_autoptr(VnModel) written = vn_job_take_rounded (self, corrected, rounded), model = NULL;
  VnBiasQuantized quantized;

  vn_recipe_turn_off (recipe, VN_LAYER_ACTIVATION_CHANNELS);   /* factors would be taken for errors */
  plan = vn_quantize_resolve (corrected, recipe, stats, NULL, error);
  model = plan != NULL ? vn_quantize_write (written, recipe, plan, &value_names, error) : NULL;
  quantized = (VnBiasQuantized) { model, value_names, plan };
  return model != NULL ? vn_bias_measure (self->prepared, &quantized, recipe, run, cancellable, error) : NULL;
}

static VnModel *
correct_in_rounds (const VnJobInput    *self,
                   VnStats             *stats,
                   const VnModel       *rounded,
                   const VnSamples     *run,
                   GCancellable        *cancellable,
                   GError             **error)
{
  VnBiasCorrection rule = (VnBiasCorrection) vn_recipe_get_most (self->recipe, VN_LAYER_BIAS_CORRECTION);
  guint n = rule == VN_BIAS_CORRECTION_XSLIM ? XSLIM_ROUNDS : 1;
  g_autoptr(VnModel) corrected = vn_model_ref (self->prepared);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(GPtrArray) errors = correct_biases_measure (self, stats, corrected, rounded, run, cancellable, error);
      VnModel *next = errors != NULL ? vn_bias_correct (corrected, errors, rule, i == 0 ? self->edits : NULL, error) : NULL;

      if (next == NULL)
        return NULL;
      vn_model_unref (corrected);
      corrected = next;
    }
  return g_steal_pointer (&corrected);
}

typedef struct
{
  const VnJobInput *input;
  const VnModel    *rounded;
} Weights;

static VnModel *
correct_take_weights (const VnModel *corrected,
                      gpointer       data)
{
  const Weights *self = data;

  return vn_job_take_rounded (self->input, corrected, self->rounded);
}

/* From front to end, judged on samples that biases were not measured with, as far as there are such. */
static VnModel *
correct_guarded (const VnJobInput    *self,
                 VnStats             *stats,
                 const VnModel       *rounded,
                 const VnSamples     *run,
                 GCancellable        *cancellable,
                 GError             **error)
{
  g_autoptr(VnRecipe) recipe = vn_job_make_pairs_recipe (self->recipe);
  g_autoptr(VnJudge) judge = vn_job_make_judge (self, NULL, VN_JUDGED_SAMPLES, cancellable, error);
  Weights weights = { self, rounded };
  VnBiasGuardInput input = { self->prepared, recipe, stats, run, judge, self->edits, correct_take_weights, &weights };
  g_autofree char *more = NULL;
  VnRepairGain gain;
  VnModel *corrected;

  if (judge == NULL)
    return NULL;
  corrected = vn_bias_guard_correct (&input, &gain, cancellable, error);
  if (corrected == NULL)
    return NULL;
  more = vn_format_signed_db (gain.after_db - gain.before_db);
  vn_notes_add (self->notes, VN_NOTE_INFO, "biases-corrected", "bias-correction",
                _("Biases corrected in %u of %u layers; output SQNR %s"), gain.n_kept, gain.n_tried, more);
  return corrected;
}

/*< private >
 * vn_job_correct_biases:
 * @job: told how far it is
 * @rounded: the prepared network with the weights that will be written; %NULL: itself
 * @stats: what ranges are found from
 *
 * Returns: (transfer full) (nullable): the prepared network with biases that take back what quantizing shifts
 */
VnModel *
vn_job_correct_biases (const VnJobInput  *self,
                       VnJob             *job,
                       const VnModel     *rounded,
                       VnStats           *stats,
                       GCancellable      *cancellable,
                       GError           **error)
{
  VnProgress progress = vn_job_get_reporter (job);
  g_autoptr(GArray) samples = NULL;
  VnSamples run;

  g_return_val_if_fail (self != NULL, NULL);

  run = (VnSamples) { .shapes = self->shapes, .dataset = self->dataset, .n_threads = self->n_threads, .progress = &progress,
                         .notes = self->notes };
  if (self->dataset == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("Bias correction needs samples: add --data, or turn bias-correction off"));
      return NULL;
    }
  samples = vn_job_take_samples (self->calibration, self->recipe->correction_samples);
  run.indices = (const guint *) (gpointer) samples->data;
  run.n = samples->len;
  return vn_recipe_get_most (self->recipe, VN_LAYER_BIAS_CORRECTION) == VN_BIAS_CORRECTION_GUARDED
         ? correct_guarded (self, stats, rounded, &run, cancellable, error)
         : correct_in_rounds (self, stats, rounded, &run, cancellable, error);
}
