/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Biases corrected from front to end, some layers at a time: each against what the float layer makes of the same quantized input,
 * so that no shift counts twice; by a part of it, as few samples know the mean but roughly; and kept if the outputs are better
 * by more than chance. */
#include "vn-bias-guard.h"

#define BATCHES 6

/* Share of the measured shift that is taken back. */
#define DAMPING 0.75

typedef struct
{
  const VnBiasGuardInput *input;
  VnModel                *model;    /* corrected so far */
  VnJudgement             best;     /* of that */
  VnRepairGain           *gain;
  GCancellable           *cancellable;
} Guard;

/* ---- measuring ---- */

static VnModel *
bias_guard_write (Guard        *self,
                  VnModel      *model,
                  gboolean      with_factors,
                  GHashTable  **names,
                  VnQuantPlan **plan,
                  GError      **error)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (self->input->recipe);
  g_autoptr(VnModel) weights = self->input->take_weights (model, self->input->data);
  VnModel *quantized;

  if (!with_factors)
    vn_recipe_turn_off (recipe, VN_LAYER_ACTIVATION_CHANNELS);   /* they would be taken for errors */
  *plan = vn_quantize_resolve (model, recipe, self->input->stats, NULL, error);
  quantized = *plan != NULL ? vn_quantize_write (weights, recipe, *plan, names, error) : NULL;
  if (quantized != NULL && !vn_model_infer_for_samples (quantized, self->input->run->shapes, error))
    g_clear_pointer (&quantized, vn_model_unref);
  return quantized;
}

static gboolean
bias_guard_judge (Guard        *self,
                  VnModel      *model,
                  VnJudgement  *judgement,
                  GError      **error)
{
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(VnModel) quantized = bias_guard_write (self, model, TRUE, NULL, &plan, error);

  return quantized != NULL && vn_judge_measure (self->input->judge, quantized, judgement, self->cancellable, error);
}

/* (element-type VnBiasError): of all layers, from front to end, damped */
static GPtrArray *
bias_guard_measure (Guard   *self,
                    GError **error)
{
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GHashTable) names = NULL;
  g_autoptr(VnModel) quantized = bias_guard_write (self, self->model, FALSE, &names, &plan, error);
  VnBiasQuantized measured = { quantized, names, plan };
  GPtrArray *errors = quantized != NULL ? vn_bias_measure (self->model, &measured, self->input->recipe, self->input->run,
                                                           self->cancellable, error) : NULL;

  for (guint i = 0; errors != NULL && i < errors->len; i++)
    {
      GArray *means = ((VnBiasError *) g_ptr_array_index (errors, i))->means;

      for (guint c = 0; c < means->len; c++)
        g_array_index (means, double, c) *= DAMPING;
    }
  return errors;
}

/* ---- keeping what helps ---- */

/* Corrects some layers, or those among them that do not make the outputs worse. */
static gboolean
bias_guard_keep_best (Guard      *self,
                      GPtrArray  *errors,
                      guint       first,
                      guint       last,
                      GError    **error)
{
  g_autoptr(GPtrArray) some = g_ptr_array_new ();
  g_autoptr(VnModel) model = NULL;
  g_auto(VnJudgement) after = { 0 };

  for (guint i = first; i < last; i++)
    g_ptr_array_add (some, g_ptr_array_index (errors, i));
  model = vn_bias_correct (self->model, some, VN_BIAS_CORRECTION_GUARDED, NULL, error);
  if (model == NULL || (self->input->judge != NULL && !bias_guard_judge (self, model, &after, error)))
    return FALSE;
  if (self->input->judge == NULL || after.sqnr_db - self->best.sqnr_db > vn_judgement_get_error (&after, &self->best))
    {
      if (self->input->judge != NULL)
        vn_judgement_take (&self->best, &after);
      self->gain->n_kept += last - first;
      vn_model_unref (model);   /* once more, now that it is to be logged */
      model = vn_bias_correct (self->model, some, VN_BIAS_CORRECTION_GUARDED, self->input->edits, error);
      if (model == NULL)
        return FALSE;
      vn_model_unref (self->model);
      self->model = g_steal_pointer (&model);
      return TRUE;
    }
  if (last - first == 1)
    return TRUE;
  return bias_guard_keep_best (self, errors, first, (first + last) / 2, error) &&
         bias_guard_keep_best (self, errors, (first + last) / 2, last, error);
}

/**
 * vn_bias_guard_correct:
 * @gain: (out): what it has brought; counts layers
 *
 * Returns: (transfer full) (nullable): a copy of the float network with corrected biases, or itself
 */
VnModel *
vn_bias_guard_correct (const VnBiasGuardInput  *input,
                       VnRepairGain            *gain,
                       GCancellable            *cancellable,
                       GError                 **error)
{
  Guard self = { .input = input, .gain = gain, .cancellable = cancellable };

  g_return_val_if_fail (input != NULL && input->prepared != NULL && input->run != NULL && gain != NULL, NULL);

  *gain = (VnRepairGain) { 0 };
  self.model = vn_model_ref (input->prepared);
  if (input->judge != NULL && !bias_guard_judge (&self, self.model, &self.best, error))
    g_clear_pointer (&self.model, vn_model_unref);
  gain->before_db = self.best.sqnr_db;
  for (guint i = 0; i < BATCHES && self.model != NULL; i++)
    {
      g_autoptr(GPtrArray) errors = bias_guard_measure (&self, error);
      guint n = errors != NULL ? errors->len : 0, first = n * i / BATCHES, last = n * (i + 1) / BATCHES;

      gain->n_tried = n;
      if (errors == NULL || (first < last && !bias_guard_keep_best (&self, errors, first, last, error)))
        g_clear_pointer (&self.model, vn_model_unref);
    }
  gain->after_db = self.best.sqnr_db;
  vn_judgement_clear (&self.best);
  return self.model;
}
