/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stage of the main job that trains: only as long as there is time for it, and kept only where whoever asked for it keeps
 * it. */
#include "quantize-job-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-sample-ranks.h"

/* Each process has a clock of its own, and would end at another step. */
gboolean
_vn_quantize_job_check_clock (const VnRecipe  *recipe,
                              GError         **error)
{
  if (vn_sample_ranks_get_n () == 1 || recipe->train_time == 0 || vn_recipe_get_most (recipe, VN_LAYER_TRAIN) == VN_TRAIN_OFF)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("train_time: several processes cannot train for a limited time: start one process, or set it to 0"));
  return FALSE;
}

/* What the plan is made of: that finds scales from the weights as they were. */
const VnModel *
_vn_quantize_job_get_float (VnQuantizeJob *self)
{
  return self->corrected != NULL ? self->corrected : self->draft->prepared;
}

/* What would be exported with these weights and ranges. */
static VnModel *
quantize_train_write (VnQuantizeJob   *self,
                      const VnRecipe  *recipe,
                      const VnModel   *rounded,
                      VnStats         *stats,
                      GError         **error)
{
  g_autoptr(VnModel) written = vn_job_take_rounded (&self->input, self->corrected, rounded), model = NULL;
  g_autoptr(VnQuantPlan) plan = vn_quantize_resolve (_vn_quantize_job_get_float (self), recipe, stats, NULL, error);
  g_autoptr(GHashTable) given = vn_job_input_list_given (&self->input);

  model = plan != NULL ? vn_quantize_write (written, recipe, plan, NULL, error) : NULL;
  return model != NULL && vn_model_infer_types (model, given, NULL, error) ? g_steal_pointer (&model) : NULL;
}

/* The networks with and without what was trained by @recipe. @after: (out) (nullable): nothing was */
static gboolean
quantize_train_write_both (VnQuantizeJob        *self,
                           const VnRecipe       *recipe,
                           const VnTrainResult  *trained,
                           VnModel             **before,
                           VnModel             **after,
                           GError              **error)
{
  *after = NULL;
  *before = quantize_train_write (self, self->settings.gate->without, self->rounded, self->draft->stats, error);
  if (*before != NULL && trained->model != NULL)
    *after = quantize_train_write (self, recipe, trained->model, trained->stats, error);
  return *before != NULL && (*after != NULL || trained->model == NULL);
}

static gboolean
quantize_train_ask_gate (VnQuantizeJob        *self,
                         const VnTrainResult  *trained,
                         gboolean             *keeps,
                         GCancellable         *cancellable,
                         GError              **error)
{
  const VnTrainingGate *gate = self->settings.gate;
  g_autoptr(VnModel) before = NULL, after = NULL;

  *keeps = TRUE;
  return gate == NULL || (quantize_train_write_both (self, self->settings.recipe, trained, &before, &after, error) &&
                          gate->decide (before, after, keeps, gate->user_data, cancellable, error));
}

/* How many steps of training tell whether more of them are worth their time. */
#define PROBE_STEPS 40

static void
quantize_train_use_recipe (VnQuantizeJob  *self,
                           const VnRecipe *recipe)
{
  vn_recipe_free ((VnRecipe *) self->settings.recipe);
  vn_recipe_free (self->draft->recipe);
  self->settings.recipe = vn_recipe_copy (recipe);
  self->input.recipe = self->draft->recipe = vn_recipe_copy (recipe);
}

/* Whether a short training promises something; @trained: (out): what it has made, and the run is one with so few steps if it does
 * not. */
static gboolean
quantize_train_probe (VnQuantizeJob  *self,
                      VnTrainResult  *trained,
                      VnRepairGain   *gain,
                      gboolean       *promises,
                      GCancellable   *cancellable,
                      GError        **error)
{
  const VnTrainingGate *gate = self->settings.gate;
  VnJobInput input = self->input;
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (input.recipe);
  g_autoptr(VnModel) before = NULL, after = NULL;

  *promises = TRUE;
  if (gate == NULL || gate->promises == NULL || (recipe->train_steps > 0 && recipe->train_steps <= PROBE_STEPS))
    return TRUE;
  recipe->train_steps = PROBE_STEPS;
  input.recipe = recipe;
  input.draft = TRUE;
  if (!vn_job_train (&input, self->job, self->corrected, self->rounded, self->draft->stats, trained, gain, cancellable, error) ||
      !quantize_train_write_both (self, recipe, trained, &before, &after, error) ||
      !gate->promises (before, after, promises, gate->user_data, cancellable, error))
    return FALSE;
  *promises = *promises && gate->until - g_get_monotonic_time () >= gate->least;
  if (!*promises)
    quantize_train_use_recipe (self, recipe);
  return TRUE;
}

/* Nothing is trained where there is no time for it, and no longer than to see it where nothing comes of it. */
static gboolean
quantize_train_run (VnQuantizeJob  *self,
                    VnTrainResult  *trained,
                    VnRepairGain   *gain,
                    GCancellable   *cancellable,
                    GError        **error)
{
  const VnTrainingGate *gate = self->settings.gate;
  gint64 left = gate != NULL ? gate->until - g_get_monotonic_time () : 0;
  gboolean promises = TRUE;

  if (gate != NULL && left < gate->least)
    return TRUE;
  self->input.train_seconds = (double) left / G_USEC_PER_SEC;
  if (!quantize_train_probe (self, trained, gain, &promises, cancellable, error))
    return FALSE;
  left = gate != NULL ? gate->until - g_get_monotonic_time () : 0;
  if (!promises)
    return TRUE;
  vn_train_result_clear (trained);
  self->input.train_seconds = (double) left / G_USEC_PER_SEC;
  return vn_job_train (&self->input, self->job, self->corrected, self->rounded, self->draft->stats, trained, gain, cancellable,
                       error);
}

/* The run is one that has not trained. */
static void
quantize_train_drop (VnQuantizeJob *self)
{
  quantize_train_use_recipe (self, self->settings.gate->without);
}

gboolean
_vn_quantize_job_train (VnQuantizeJob  *self,
                        GCancellable   *cancellable,
                        GError        **error)
{
  VnRepairGain gain;
  gboolean keeps;
  g_auto(VnTrainResult) trained = { 0 };

  if (!quantize_train_run (self, &trained, &gain, cancellable, error) ||
      !quantize_train_ask_gate (self, &trained, &keeps, cancellable, error))
    return FALSE;
  if (!keeps)
    {
      quantize_train_drop (self);
      return TRUE;
    }
  vn_job_note_training (&self->input, &gain);
  self->untrained = (VnUntrained) { self->rounded, self->draft->stats, trained.has_blocks };
  self->rounded = g_steal_pointer (&trained.model);
  self->draft->stats = g_steal_pointer (&trained.stats);
  return TRUE;
}
