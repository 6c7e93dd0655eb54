/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules and settings change what becomes of a few tensors: ranges are known, and only what lies behind these tensors is run. */
#include "vn-what-if.h"

#include "vn-forecast-export.h"
#include "vn-job-input.h"

#include "vn-error-carry.h"
#include "vn-error.h"
#include "vn-format-traits.h"
#include "vn-i18n.h"
#include "vn-model-data.h"
#include "vn-pass.h"
#include "vn-recipe-change.h"
#include "vn-recipe-rules.h"
#include "vn-setting.h"

#include <math.h>
#include <string.h>

/* Samples that are taken if nobody says how many, and bytes that the networks may compute for them. */
#define USUAL_SAMPLES 4
#define MAX_BYTES ((gsize) 512 << 20)

/* The first that has 16 and 4 bits. */
#define MEASURED_OPSET 21

/**
 * VnWhatIf:
 * @prepared, @corrected, @rounded: those of @result, with the opset that all recipes are measured with
 * @digest: of what the recipe of @result prepares, with that opset; samples may have changed @prepared since
 * @plan, @n_bytes: of @result with that opset, and the bytes of its weights
 * @float_forecast: (nullable)
 */
struct _VnWhatIf
{
  gatomicrefcount    ref;
  VnRun             *result;
  VnModel           *prepared, *corrected, *rounded;
  char              *digest;
  GHashTable        *shapes;
  VnRuntimeForecast *float_forecast;
  VnQuantPlan       *plan;
  gsize              n_bytes;
  VnRecompare       *recompare;
};

VnWhatIf *
vn_what_if_ref (VnWhatIf *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_what_if_unref (VnWhatIf *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_clear_pointer (&self->recompare, vn_recompare_free);
  g_clear_pointer (&self->plan, vn_quant_plan_unref);
  g_clear_pointer (&self->float_forecast, vn_runtime_forecast_unref);
  g_clear_pointer (&self->shapes, g_hash_table_unref);
  g_clear_pointer (&self->rounded, vn_model_unref);
  g_clear_pointer (&self->corrected, vn_model_unref);
  g_clear_pointer (&self->prepared, vn_model_unref);
  g_free (self->digest);
  vn_run_unref (self->result);
  g_free (self);
}

/* ---- which recipes can be told about ---- */

static gboolean
what_if_refuse (const char  *setting,
                GError     **error)
{
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s requires a full run: the effect of a change cannot be shown "
                                                    "without one"), setting);
  return FALSE;
}

/* Whether the recipe says of each layer what that of the result does, or does nothing to any. */
static gboolean
what_if_is_same_layers (const VnWhatIf *self,
                        const VnRecipe *recipe,
                        VnLayerSetting  which,
                        gboolean        may_be_off)
{
  const VnGraph *graph = self->result->source->graph;
  g_autofree int *own = vn_recipe_list_for_nodes (self->result->recipe, which, graph);
  g_autofree int *other = vn_recipe_list_for_nodes (recipe, which, graph);

  return memcmp (own, other, graph->nodes->len * sizeof (int)) == 0 || (may_be_off && vn_recipe_get_most (recipe, which) == 0);
}

/* How training is done is part of its result. */
static gboolean
what_if_trains_otherwise (const VnRecipe *own,
                          const VnRecipe *recipe)
{
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  if (vn_recipe_get_most (own, VN_LAYER_TRAIN) == VN_TRAIN_OFF)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (g_str_has_prefix (settings[i].id, "train") && !vn_setting_equal (&settings[i], own, recipe))
      return TRUE;
  return FALSE;
}

/* What samples made of the network of the result stays as it is: another way to make it takes a whole run. */
static gboolean
what_if_check_repairs (const VnWhatIf  *self,
                       const VnRecipe  *recipe,
                       GError         **error)
{
  const VnRecipe *own = self->result->recipe;
  const VnImportance *importance = vn_stats_get_importance (self->result->stats);

  if (!what_if_is_same_layers (self, recipe, VN_LAYER_ROUNDING, TRUE) ||
      (vn_recipe_get_most (recipe, VN_LAYER_ROUNDING) > 0 && !vn_recipe_equal_in (recipe, own, "rounding-samples")))
    return what_if_refuse ("rounding", error);
  if (!what_if_is_same_layers (self, recipe, VN_LAYER_BIAS_CORRECTION, TRUE) ||
      (vn_recipe_get_most (recipe, VN_LAYER_BIAS_CORRECTION) > 0 && !vn_recipe_equal_in (recipe, own, "correction-samples")))
    return what_if_refuse ("bias-correction", error);
  if (!what_if_is_same_layers (self, recipe, VN_LAYER_TRAIN, FALSE) || what_if_trains_otherwise (own, recipe))
    return what_if_refuse ("train", error);
  if (vn_recipe_has_importance (recipe) && (importance == NULL || !vn_importance_has_channels (importance)))
    return what_if_refuse ("importance", error);
  if (vn_recipe_has_wide_share (recipe) && (importance == NULL || !vn_importance_has_noise (importance)))
    return what_if_refuse ("wide-share", error);
  if (!vn_recipe_equal_in (recipe, own, "range-search"))
    return what_if_refuse ("range-search", error);
  if (!what_if_is_same_layers (self, recipe, VN_LAYER_BALANCE_CHANNELS, FALSE) ||
      !vn_recipe_equal_in (recipe, own, "balance-channels balance-exponent balance-cost absorb-bias"))
    return what_if_refuse ("balance-channels", error);
  if (recipe->subgraphs && !own->subgraphs)
    return what_if_refuse ("subgraphs", error);
  if (!vn_recipe_equal_in (recipe, own, "equalize equalize-activations"))
    return what_if_refuse ("equalize", error);
  return TRUE;
}

/* What is measured: tensors are float32, whatever the format; an opset that has all types of integers, so that a recipe with
 * others has the rest of its network in common. */
static VnRecipe *
what_if_make_measurable (const VnRecipe *recipe)
{
  VnRecipe *measured = vn_recipe_copy (recipe);

  if (vn_recipe_get_format (recipe)->half_arithmetic)
    measured->float_io = TRUE;
  measured->opset = MAX (measured->opset, MEASURED_OPSET);
  return measured;
}

/* Of what a recipe prepares, before any sample is run. */
static char *
what_if_dup_digest (VnRun           *result,
                    const VnRecipe  *measured,
                    GCancellable    *cancellable,
                    GError         **error)
{
  g_autoptr(VnEditLog) edits = vn_edit_log_new ();
  g_autoptr(VnNotes) unheard = vn_notes_new ();
  g_autoptr(VnModel) prepared = vn_job_prepare (result->source, measured, result->settings.shapes, edits, unheard, cancellable,
                                                error);

  return prepared != NULL ? vn_model_dup_digest (prepared) : NULL;
}

/* Whether the recipe prepares the network as that of the result does: its ranges are known, and what it computes. */
static gboolean
what_if_check_network (VnWhatIf        *self,
                       const VnRecipe  *measured,
                       GCancellable    *cancellable,
                       GError         **error)
{
  g_autofree char *digest = what_if_dup_digest (self->result, measured, cancellable, error);

  if (digest == NULL)
    return FALSE;
  if (g_str_equal (digest, self->digest))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("The settings change the float model, which must be calibrated again: a full run is needed to see "
                 "their effect"));
  return FALSE;
}

/* ---- what a recipe makes of the float network ---- */

static gboolean
what_if_is_same_tensor (const VnTensor *a,
                        const VnTensor *b)
{
  if (a == NULL || b == NULL)
    return a == b;
  return a->dtype == b->dtype && vn_shape_equal (&a->shape, &b->shape) && memcmp (a->data, b->data, a->n_bytes) == 0;
}

static gboolean
what_if_is_same_row (const VnTensorPlan *a,
                     const VnTensorPlan *b)
{
  return a != NULL && b != NULL && a->quantized == b->quantized && a->dtype == b->dtype && a->axis == b->axis &&
         what_if_is_same_tensor (a->scale, b->scale) && what_if_is_same_tensor (a->zero_point, b->zero_point);
}

/* Weights of layers that stay as they were keep the integers that samples chose; of layers left in float all is float. */
static gboolean
what_if_take_rounded (VnWhatIf     *self,
                      VnModel      *written,
                      VnQuantPlan  *plan,
                      GError      **error)
{
  guint n_others = 0;

  for (guint i = 0; i < self->rounded->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->rounded->graph->values, i);
      const VnValue *before = g_hash_table_lookup (self->prepared->graph->by_name, value->name);
      VnValue *own = g_hash_table_lookup (written->graph->by_name, value->name);
      const VnTensorPlan *row = vn_quant_plan_find (plan, value->name);

      if (value->initializer == NULL || before == NULL || own == NULL || before->initializer == value->initializer)
        continue;
      if (self->plan == NULL || what_if_is_same_row (row, vn_quant_plan_find (self->plan, value->name)))
        vn_graph_set_initializer (written->graph, own, value->initializer);
      else if (row != NULL && row->quantized)
        n_others++;
    }
  if (n_others == 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               ngettext ("The weights of %u layer must be rounded again on samples: a full run is needed to see the effect",
                         "The weights of %u layers must be rounded again on samples: a full run is needed to see the effect",
                         n_others), n_others);
  return FALSE;
}

static gboolean
what_if_is_in_float (const VnNode *node,
                     VnQuantPlan  *plan)
{
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (node, i);
      const VnTensorPlan *row = input != NULL && input->initializer != NULL ? vn_quant_plan_find (plan, input->name) : NULL;

      if (row != NULL && row->quantized)
        return FALSE;
    }
  return TRUE;
}

/* A layer that is left in float has nothing to be corrected. */
static gboolean
what_if_drop_corrections (VnWhatIf     *self,
                          VnModel      *written,
                          VnQuantPlan  *plan,
                          GError      **error)
{
  for (guint i = 0; i < written->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (written->graph->nodes, i);
      gboolean in_float = what_if_is_in_float (node, plan);

      for (guint k = 0; in_float && k < node->inputs->len; k++)
        {
          VnValue *input = vn_node_get_input (node, k);
          const VnValue *before = input != NULL ? g_hash_table_lookup (self->prepared->graph->by_name, input->name) : NULL;
          g_autoptr(VnTensor) tensor = NULL;

          if (input == NULL || input->initializer == NULL || (before != NULL && before->initializer == input->initializer))
            continue;
          tensor = before != NULL && before->initializer != NULL ? vn_tensor_ref (before->initializer)
                                                                 : vn_tensor_new (input->initializer->dtype,
                                                                                  &input->initializer->shape, error);
          if (tensor == NULL)
            return FALSE;
          vn_graph_set_initializer (written->graph, input, tensor);
        }
    }
  return TRUE;
}

static VnModel *
what_if_make_written (VnWhatIf        *self,
                      const VnModel   *from,
                      const VnRecipe  *measured,
                      VnQuantPlan     *plan,
                      GError         **error)
{
  g_autoptr(VnModel) written = NULL;

  if (from == self->prepared && (self->rounded == NULL ||
                                 vn_recipe_get_most (measured, VN_LAYER_ROUNDING) == VN_WEIGHT_ROUNDING_NEAREST))
    return vn_model_ref (self->prepared);
  written = vn_model_copy (from);
  if (from != self->prepared && !what_if_drop_corrections (self, written, plan, error))
    return NULL;
  if (self->rounded != NULL && vn_recipe_get_most (measured, VN_LAYER_ROUNDING) != VN_WEIGHT_ROUNDING_NEAREST &&
      !what_if_take_rounded (self, written, plan, error))
    return NULL;
  return g_steal_pointer (&written);
}

static VnModel *
what_if_quantize (VnWhatIf         *self,
                  const VnRecipe   *measured,
                  VnQuantPlan     **plan,
                  GHashTable      **names,
                  GError          **error)
{
  g_autoptr(VnNotes) unheard = vn_notes_new ();
  g_autoptr(VnModel) written = NULL, model = NULL;
  const VnModel *from = self->corrected != NULL &&
                        vn_recipe_get_most (measured, VN_LAYER_BIAS_CORRECTION) != VN_BIAS_CORRECTION_OFF
                        ? self->corrected : self->prepared;

  *plan = vn_quantize_resolve (from, measured, self->result->stats, unheard, error);
  written = *plan != NULL ? what_if_make_written (self, from, measured, *plan, error) : NULL;
  model = written != NULL ? vn_quantize_write (written, measured, *plan, names, error) : NULL;
  return model != NULL && vn_model_infer_types (model, self->result->settings.shapes, NULL, error)
         ? g_steal_pointer (&model) : NULL;
}

/* ---- the result ---- */

/* @model with the opset of measuring, nothing else changed; its weights stay the same ones. */
static gboolean
what_if_raise (VnWhatIf       *self,
               VnModel        *model,
               gint64          opset,
               VnModel       **raised,
               GCancellable   *cancellable,
               GError        **error)
{
  const VnPrepareOptions options = { .target_opset = opset, .input_shapes = self->result->settings.shapes,
                                     .skip_optimization = TRUE };
  g_autoptr(VnEditLog) edits = vn_edit_log_new ();
  g_autoptr(VnNotes) unheard = vn_notes_new ();

  if (model == NULL)
    return TRUE;
  *raised = vn_prepare_model_with (model, &options, edits, unheard, cancellable, error);
  return *raised != NULL;
}

static gboolean
what_if_take_networks (VnWhatIf        *self,
                       const VnRecipe  *measured,
                       GCancellable    *cancellable,
                       GError         **error)
{
  VnRun *result = self->result;
  gint64 opset = MAX (vn_quantize_get_opset (result->source, measured), vn_model_get_opset (result->prepared, ""));

  self->digest = what_if_dup_digest (result, measured, cancellable, error);
  return self->digest != NULL && what_if_raise (self, result->prepared, opset, &self->prepared, cancellable, error) &&
         what_if_raise (self, result->corrected, opset, &self->corrected, cancellable, error) &&
         what_if_raise (self, result->rounded, opset, &self->rounded, cancellable, error);
}

static gboolean
what_if_fill (VnWhatIf      *self,
              guint          n_samples,
              guint          n_threads,
              GCancellable  *cancellable,
              GError       **error)
{
  VnRun *result = self->result;
  g_autoptr(VnNotes) unheard = vn_notes_new ();
  g_autoptr(GHashTable) names = NULL;
  g_autoptr(VnRecipe) recipe = what_if_make_measurable (result->recipe);
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(GArray) calibration = NULL, measured = NULL;
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(VnParts) parts = NULL;
  g_autoptr(VnModel) base = NULL;
  VnCompareOptions options = { .n_threads = n_threads };

  if (!what_if_take_networks (self, recipe, cancellable, error))
    return FALSE;
  dataset = vn_model_open_data (self->prepared, result->data, result->settings.shapes, &self->shapes, unheard, error);
  base = dataset != NULL ? what_if_quantize (self, recipe, &plan, &names, error) : NULL;
  if (base == NULL)
    return FALSE;
  self->plan = g_steal_pointer (&plan);
  self->n_bytes = vn_graph_weight_bytes (base->graph);
  if (vn_job_has_forecast (result->recipe))
    self->float_forecast = vn_job_forecast_float (result->source, self->prepared, self->shapes);
  vn_job_split_samples (result->data, dataset, result->settings.n_calibration, &calibration, &measured);
  parts = result->errors != NULL ? vn_error_table_list_parts (result->errors) : NULL;
  options.parts = parts;
  options.value_names = names;
  options.plan = self->plan;
  options.samples = (const guint *) (gpointer) measured->data;
  options.n_samples = MIN (measured->len, n_samples > 0 ? n_samples : USUAL_SAMPLES);
  self->recompare = vn_recompare_new (self->prepared, base, self->shapes, dataset, &options, MAX_BYTES, cancellable, error);
  return self->recompare != NULL;
}

/**
 * vn_what_if_new:
 * @result: of a run with samples
 * @n_samples: to measure on, of those held out; 0: as usual. Fewer are taken of networks with large tensors
 * @n_threads: 0: all processors
 *
 * Runs the networks of @result on a few samples.
 *
 * Returns: (transfer full) (nullable): %VN_ERROR_MISSING_DATA if it had no samples
 */
VnWhatIf *
vn_what_if_new (VnRun         *result,
                guint          n_samples,
                guint          n_threads,
                GCancellable  *cancellable,
                GError       **error)
{
  g_autoptr(VnWhatIf) self = NULL;

  g_return_val_if_fail (result != NULL && result->prepared != NULL && result->recipe != NULL, NULL);

  if (result->data == NULL || result->stats == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("The run had no samples: the effect of a change cannot "
                                                             "be measured"));
      return NULL;
    }
  self = g_new0 (VnWhatIf, 1);
  g_atomic_ref_count_init (&self->ref);
  self->result = vn_run_ref (result);
  return what_if_fill (self, n_samples, n_threads, cancellable, error) ? g_steal_pointer (&self) : NULL;
}

/**
 * vn_what_if_get_bytes:
 *
 * Returns: how much memory takes what the networks compute for the samples, which is kept; 0: it does not fit into the budget
 */
gsize
vn_what_if_get_bytes (VnWhatIf *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return vn_recompare_get_bytes (self->recompare);
}

guint
vn_what_if_get_n_samples (VnWhatIf *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return vn_recompare_get_n (self->recompare);
}

/**
 * vn_what_if_get_base:
 *
 * Returns: (transfer none): errors of the result on the same samples: what vn_what_if_measure() is to be compared with
 */
VnErrorTable *
vn_what_if_get_base (VnWhatIf *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return vn_recompare_get_base (self->recompare);
}

/* ---- another recipe ---- */

static VnErrorTable *
what_if_run (VnWhatIf         *self,
             const VnRecipe   *recipe,
             VnModel         **changed,
             VnQuantPlan     **plan,
             GHashTable      **names,
             VnRecompareCost  *cost,
             GCancellable     *cancellable,
             GError          **error)
{
  g_autoptr(VnRecipe) measured = what_if_make_measurable (recipe);
  VnCompareOptions options = { 0 };

  if (!vn_recipe_validate (recipe, error) || !what_if_check_repairs (self, recipe, error) ||
      !what_if_check_network (self, measured, cancellable, error))
    return NULL;
  *changed = what_if_quantize (self, measured, plan, names, error);
  if (*changed == NULL)
    return NULL;
  options.value_names = *names;
  options.plan = *plan;
  return vn_recompare_measure (self->recompare, *changed, &options, cost, cancellable, error);
}

/**
 * vn_what_if_measure:
 * @recipe: another one for the same network
 * @cost: (nullable) (out): how many tensors were computed again
 *
 * Measures the error of all tensors as it would be with @recipe. Only what lies behind the tensors that become something else is
 * run; ranges are those that the run found, and so are weights and biases that it changed by samples.
 *
 * Returns: (transfer full) (nullable): the numbers of a run with @recipe on these samples, but for what a run would round and
 *   correct otherwise; %VN_ERROR_SETTING if it takes a whole run
 */
VnErrorTable *
vn_what_if_measure (VnWhatIf         *self,
                    const VnRecipe   *recipe,
                    VnRecompareCost  *cost,
                    GCancellable     *cancellable,
                    GError          **error)
{
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GHashTable) names = NULL;
  g_autoptr(VnModel) changed = NULL;

  g_return_val_if_fail (self != NULL && recipe != NULL, NULL);

  return what_if_run (self, recipe, &changed, &plan, &names, cost, cancellable, error);
}

/* ---- what is expected of the whole run ---- */

/* The few samples tell by how much each error changes; what does not change is known from all of them. */
static VnErrorTable *
what_if_carry_errors (VnWhatIf     *self,
                      VnErrorTable *after,
                      VnQuantPlan  *plan)
{
  VnErrorTable *measured = self->result->errors, *before = vn_recompare_get_base (self->recompare);
  VnErrorTable *expected;

  if (measured == NULL)
    return vn_error_table_ref (after);
  expected = vn_error_table_new (vn_error_table_get_n_samples (measured));
  for (guint i = 0; i < vn_error_table_get_n (after); i++)
    {
      const VnErrorRow *row = vn_error_table_get (after, i), *was = vn_error_table_find (before, row->value);

      vn_error_table_add (expected, vn_error_row_new_carried (vn_error_table_find (measured, row->value), was, row));
    }
  for (guint i = 0; i < vn_error_table_get_n_weights (measured); i++)
    {
      const VnErrorRow *weight = vn_error_table_get_weight (measured, i);

      if (what_if_is_same_row (vn_quant_plan_find (self->plan, weight->value), vn_quant_plan_find (plan, weight->value)))
        vn_error_table_add_weight (expected, vn_error_row_copy (weight));
    }
  return expected;
}

/**
 * vn_what_if_expect:
 * @contributions: (nullable): of the result
 * @recipe: another one for the same network
 *
 * As vn_what_if_measure(), and carries what changes on the few samples over to the figures of the result.
 *
 * Returns: (transfer full) (nullable): the result as a whole run is expected to make it; see vn_run_new_estimated()
 */
VnRun *
vn_what_if_expect (VnWhatIf         *self,
                   VnContributions  *contributions,
                   const VnRecipe   *recipe,
                   GCancellable     *cancellable,
                   GError          **error)
{
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GHashTable) names = NULL;
  g_autoptr(VnModel) changed = NULL;
  g_autoptr(VnErrorTable) after = NULL, errors = NULL;
  g_autoptr(VnContributions) shares = NULL;
  g_autoptr(VnRuntimeForecast) forecast = NULL;
  VnExpectation expectation;

  g_return_val_if_fail (self != NULL && recipe != NULL, NULL);

  after = what_if_run (self, recipe, &changed, &plan, &names, NULL, cancellable, error);
  if (after == NULL)
    return NULL;
  errors = what_if_carry_errors (self, after, plan);
  if (contributions != NULL)
    {
      VnErrorTable *marked;

      shares = vn_contributions_expect (contributions, self->plan, plan);
      marked = vn_contributions_mark (shares, errors);
      vn_error_table_unref (errors);
      errors = marked;
    }
  forecast = vn_job_forecast (recipe, changed, self->shapes, self->float_forecast);
  expectation = (VnExpectation) { .recipe = recipe, .plan = plan, .value_names = names, .errors = errors, .contributions = shares,
                                  .forecast = forecast,
                                  .more_bytes = (gint64) vn_graph_weight_bytes (changed->graph) - (gint64) self->n_bytes };
  return vn_run_new_estimated (self->result, &expectation);
}
