/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Which settings changed nothing: what the table of settings knows, and for the rest the same network is quantized once more
 * with the setting as the preset has it. */

#include "vn-idle-settings-private.h"

#include "vn-digest.h"
#include "vn-i18n.h"
#include "vn-recipe-change.h"
#include "vn-setting.h"

/* Bytes of weights. */
#define MOST_BALANCED_BYTES (1 << 18)

typedef struct
{
  VnJob            *job;
  const VnJobInput *input;
  const VnRun      *result;
  const VnModel    *corrected;               /* the prepared network with corrected biases */
  const VnModel    *rounded;                 /* nullable: the prepared network with rounded weights */
  const VnUntrained *untrained;              /* nullable: what there was before it was trained */
  GCancellable     *cancellable;
  char             *prepared, *quantized;    /* digests; NULL: not made yet */
} IdleCheck;

static void
idle_check_clear (IdleCheck *self)
{
  g_free (self->prepared);
  g_free (self->quantized);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (IdleCheck, idle_check_clear)

/* Of the numbers and of what else stands in a file: names of nodes, which values are declared, and sizes of inputs. */
static char *
idle_check_dup_digest (const VnModel *model)
{
  VnDigest digest = { 0 };
  g_autofree char *numbers = vn_model_dup_digest (model);

  vn_digest_add_string (&digest, numbers);
  for (guint i = 0; i < model->graph->nodes->len; i++)
    vn_digest_add_string (&digest, ((const VnNode *) g_ptr_array_index (model->graph->nodes, i))->name);
  for (guint i = 0; i < model->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->values, i);

      vn_digest_add_string (&digest, value->has_info ? value->name : NULL);
    }
  for (guint i = 0; i < model->graph->inputs->len; i++)
    {
      g_autofree char *type = vn_type_to_string (&((const VnValue *) g_ptr_array_index (model->graph->inputs, i))->type);

      vn_digest_add_string (&digest, type);
    }
  return vn_digest_dup_text (&digest);
}

static gboolean
idle_check_is_model (char         **digest,
                     const VnModel *model,
                     const VnModel *other)
{
  g_autofree char *of_other = idle_check_dup_digest (other);

  if (*digest == NULL)
    *digest = idle_check_dup_digest (model);
  return g_str_equal (*digest, of_other);
}

/* Balancing tries much, and takes as long again: of larger networks nobody waits for that. */
static gboolean
idle_check_balance (IdleCheck  *self,
                    VnJobInput *input)
{
  g_autoptr(VnNotes) notes = vn_notes_new ();

  if (!vn_job_wants_balance (input->recipe) || vn_graph_weight_bytes (input->prepared->graph) > MOST_BALANCED_BYTES)
    return TRUE;
  input->notes = notes;
  return vn_job_balance_channels (input, self->job, self->cancellable, NULL);
}

/* (transfer full) (nullable): the float network of @recipe */
static VnModel *
idle_check_prepare (IdleCheck      *self,
                    const VnRecipe *recipe)
{
  VnJobInput input = *self->input;
  gboolean good;

  input.recipe = recipe;
  input.prepared = vn_job_prepare (self->input->model, recipe, vn_job_input_get_shapes (self->input, recipe), NULL, NULL,
                                   self->cancellable, NULL);
  input.edits = NULL;
  input.notes = NULL;
  good = input.prepared != NULL &&
         (!vn_job_input_wants_equalize (&input) || vn_job_input_equalize (&input, self->job, self->cancellable, NULL)) &&
         idle_check_balance (self, &input);
  if (!good)
    g_clear_pointer (&input.prepared, vn_model_unref);
  return input.prepared;
}

/* Whether @recipe makes the same network of @from with the same statistics. */
static gboolean
idle_check_quantizes_same (IdleCheck      *self,
                           const VnRecipe *recipe,
                           const VnModel  *from)
{
  gboolean trains = self->untrained != NULL && vn_recipe_get_most (recipe, VN_LAYER_TRAIN) != VN_TRAIN_OFF;
  gboolean rounds = trains || vn_recipe_get_most (recipe, VN_LAYER_ROUNDING) != VN_WEIGHT_ROUNDING_NEAREST;
  const VnModel *rounded = self->untrained != NULL && !trains ? self->untrained->rounded : self->rounded;
  VnStats *stats = self->untrained != NULL && !trains ? self->untrained->stats : self->result->stats;
  g_autoptr(VnQuantPlan) plan = vn_quantize_resolve (from, recipe, stats, NULL, NULL);
  g_autoptr(VnModel) written = vn_job_take_rounded (self->input, from, rounds ? rounded : NULL);
  g_autoptr(GHashTable) names = NULL;
  g_autoptr(VnModel) model = plan != NULL ? vn_quantize_write (written, recipe, plan, &names, NULL) : NULL;

  if (model == NULL || !vn_quantize_narrow (model, self->result->source, recipe, names, NULL))
    return FALSE;
  vn_quantize_keep_types (model, self->result->source, names);
  return idle_check_is_model (&self->quantized, self->result->quantized, model);
}

/* Of another float network only what needs no statistics can be told. */
static gboolean
idle_check_makes_same (IdleCheck       *self,
                       const VnSetting *setting,
                       const VnRecipe  *recipe)
{
  gboolean corrects = vn_recipe_get_most (recipe, VN_LAYER_BIAS_CORRECTION) != VN_BIAS_CORRECTION_OFF;
  const VnModel *from = corrects ? self->corrected : self->result->prepared;
  g_autoptr(VnModel) prepared = NULL;

  if (setting->stage == VN_SETTING_STAGE_PREPARE)
    {
      prepared = idle_check_prepare (self, recipe);
      if (prepared == NULL)
        return FALSE;
      if (!idle_check_is_model (&self->prepared, self->result->prepared, prepared))
        return !vn_recipe_needs_samples (recipe) && idle_check_quantizes_same (self, recipe, prepared);
    }
  return idle_check_quantizes_same (self, recipe, from);
}

/* Whether what is looked at in samples, to correct biases and to equalize weights, changes nothing. */
static gboolean
idle_check_corrects_nothing (IdleCheck *self)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (self->result->recipe);
  g_autoptr(VnModel) prepared = NULL;

  if (!idle_check_is_model (&self->prepared, self->result->prepared, self->corrected))
    return FALSE;
  if (!vn_job_input_wants_equalize (self->input))
    return TRUE;
  vn_recipe_apply_settings (recipe, "equalize-activations=false");
  prepared = idle_check_prepare (self, recipe);
  return prepared != NULL && idle_check_is_model (&self->prepared, self->result->prepared, prepared);
}

/* The same samples are taken if there are no more of them. */
static gboolean
idle_check_takes_same (IdleCheck      *self,
                       const VnRecipe *recipe)
{
  const gint64 n = self->input->calibration != NULL ? self->input->calibration->len : 0;

  if (vn_recipe_get_most (recipe, VN_LAYER_ROUNDING) != VN_WEIGHT_ROUNDING_NEAREST &&
      MIN (n, vn_job_count_rounding_samples (self->input, recipe)) !=
      MIN (n, vn_job_count_rounding_samples (self->input, self->result->recipe)))
    return FALSE;
  return MIN (n, recipe->correction_samples) == MIN (n, self->result->recipe->correction_samples) ||
         idle_check_corrects_nothing (self);
}

/* Whether it is known what training would have found: nothing if it is off, or there is nothing to train. How it is done says
 * nothing of what else it would have found. */
static gboolean
idle_check_knows_training (const IdleCheck *self,
                           const VnRecipe  *recipe)
{
  const VnRecipe *own = self->result->recipe;
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  if (self->untrained == NULL || !self->untrained->has_blocks || vn_recipe_get_most (recipe, VN_LAYER_TRAIN) == VN_TRAIN_OFF)
    return TRUE;
  for (guint i = 0; i < n; i++)
    if (g_str_has_prefix (settings[i].id, "train") && !vn_setting_equal (&settings[i], own, recipe))
      return FALSE;
  return vn_recipe_equal_in (own, recipe, "rounding bias-correction range-search");
}

/* The weights and biases at hand were found with what @own says: others are not known, but for those as they were. */
static gboolean
idle_check_knows_layers (const VnRecipe *own,
                         const VnRecipe *recipe)
{
  return (vn_recipe_equal_in (own, recipe, "rounding") ||
          vn_recipe_get_most (recipe, VN_LAYER_ROUNDING) == VN_WEIGHT_ROUNDING_NEAREST) &&
         (vn_recipe_equal_in (own, recipe, "bias-correction") ||
          vn_recipe_get_most (recipe, VN_LAYER_BIAS_CORRECTION) == VN_BIAS_CORRECTION_OFF);
}

/* Whether the result is the same with @setting as it is in @preset. What cannot be tried counts as another result. */
static gboolean
idle_check_run (IdleCheck       *self,
                const VnSetting *setting,
                const VnRecipe  *preset)
{
  const VnRecipe *own = self->result->recipe;
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (own);

  vn_setting_copy (setting, recipe, preset);
  if (!vn_recipe_validate (recipe, NULL) || !idle_check_takes_same (self, recipe) ||
      vn_quantize_get_opset (self->input->model, recipe) != vn_quantize_get_opset (self->input->model, own) ||
      !idle_check_knows_layers (own, recipe) || !idle_check_knows_training (self, recipe))
    return FALSE;
  return idle_check_makes_same (self, setting, recipe);
}

/*< private >
 * vn_job_note_idle_settings:
 * @job: told how far it is
 * @result: of a run that is done but for its comparison
 * @corrected: (nullable): the prepared network with corrected biases
 * @rounded: (nullable): the prepared network with weights that were rounded by what samples say, or trained
 * @untrained: (nullable): what there was before it was trained
 *
 * Tells the notes of @result which of the settings that differ from the preset changed nothing, and why.
 */
void
vn_job_note_idle_settings (VnJob             *job,
                           const VnJobInput  *input,
                           VnRun             *result,
                           const VnModel     *corrected,
                           const VnModel     *rounded,
                           const VnUntrained *untrained,
                           GCancellable      *cancellable)
{
  g_autoptr(VnRecipe) preset = vn_recipe_new (result->recipe->preset);
  g_auto(IdleCheck) check = { job, input, result, corrected != NULL ? corrected : result->prepared, rounded, untrained,
                              cancellable, NULL, NULL };
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  vn_recipe_note_implied_settings (result->recipe, result->notes);
  vn_recipe_note_idle_settings (result->recipe, result->notes);
  for (guint i = 0; i < n && !g_cancellable_is_cancelled (cancellable); i++)
    {
      g_autofree char *text = NULL;

      if (vn_setting_equal (&settings[i], result->recipe, preset) || settings[i].stage == VN_SETTING_STAGE_MEASURE ||
          vn_setting_get_idle_reason (&settings[i], result->recipe) != NULL || !idle_check_run (&check, &settings[i], preset))
        continue;
      text = vn_setting_dup_short_text (&settings[i], preset);
      if (*text != '\0')
        vn_notes_add (result->notes, VN_NOTE_WARNING, VN_NOTE_CODE_IDLE_SETTING, settings[i].id,
                      _("has no effect here: the result is the same with the preset's “%s”"), text);
      else
        vn_notes_add (result->notes, VN_NOTE_WARNING, VN_NOTE_CODE_IDLE_SETTING, settings[i].id,
                      _("has no effect here: the result is the same without it"));
    }
}
