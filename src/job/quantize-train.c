/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stage of the main job that trains: only as long as there is time for it, and kept only where whoever asked for it keeps
 * it. */
#include "quantize-job-private.h"

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
  if (gate == NULL)
    return TRUE;
  before = quantize_train_write (self, gate->without, self->rounded, self->draft->stats, error);
  if (before == NULL)
    return FALSE;
  if (trained->model != NULL)
    {
      after = quantize_train_write (self, self->settings.recipe, trained->model, trained->stats, error);
      if (after == NULL)
        return FALSE;
    }
  return gate->decide (before, after, keeps, gate->user_data, cancellable, error);
}

/* Nothing is trained where there is no time for it. */
static gboolean
quantize_train_run (VnQuantizeJob  *self,
                    VnTrainResult  *trained,
                    VnRepairGain   *gain,
                    GCancellable   *cancellable,
                    GError        **error)
{
  const VnTrainingGate *gate = self->settings.gate;
  gint64 left = gate != NULL ? gate->until - g_get_monotonic_time () : 0;

  if (gate != NULL && left < gate->least)
    return TRUE;
  self->input.train_seconds = (double) left / G_USEC_PER_SEC;
  return vn_job_train (&self->input, self->job, self->corrected, self->rounded, self->draft->stats, trained, gain, cancellable,
                       error);
}

/* The run is one that has not trained. */
static void
quantize_train_drop (VnQuantizeJob *self)
{
  vn_recipe_free ((VnRecipe *) self->settings.recipe);
  vn_recipe_free (self->draft->recipe);
  self->settings.recipe = vn_recipe_copy (self->settings.gate->without);
  self->input.recipe = self->draft->recipe = vn_recipe_copy (self->settings.gate->without);
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
