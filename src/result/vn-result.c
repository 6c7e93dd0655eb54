/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What a run of the main job gave, and which of its rows speaks for a node of the opened model. */

#include "vn-result.h"

#include <math.h>

/**
 * vn_run_settings_clear:
 *
 * Frees what @self owns.
 */
void
vn_run_settings_clear (VnRunSettings *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->shapes, g_hash_table_unref);
  g_clear_pointer (&self->stats, g_strfreev);
}

/**
 * vn_result_new:
 *
 * Returns: (transfer full): an empty result; whoever makes it fills it before anybody else sees it
 */
VnResult *
vn_result_new (void)
{
  VnResult *self = g_new0 (VnResult, 1);

  g_atomic_ref_count_init (&self->ref);
  return self;
}

/* What may be replaced by what is found out later has references of its own; the rest lives as long as @base. */
static VnResult *
result_new_on (VnResult *base)
{
  VnResult *self = g_memdup2 (base, sizeof (VnResult));

  g_atomic_ref_count_init (&self->ref);
  self->identity = NULL;
  self->deciding = NULL;
  self->base = vn_result_ref (base);
  if (self->contributions != NULL)
    vn_contributions_ref (self->contributions);
  if (self->curve != NULL)
    vn_curve_ref (self->curve);
  if (self->diagnosis != NULL)
    vn_diagnosis_ref (self->diagnosis);
  if (self->errors != NULL)
    vn_error_table_ref (self->errors);
  if (self->verification != NULL)
    vn_verification_ref (self->verification);
  if (self->notes != NULL)
    vn_notes_ref (self->notes);
  if (self->steps != NULL)
    g_ptr_array_ref (self->steps);
  return self;
}

/**
 * vn_result_new_with_contributions:
 * @base: a finished run
 * @contributions: measured on it later
 *
 * Returns: (transfer full): @base with @contributions, also as a metric of its errors; it shares all the rest
 */
VnResult *
vn_result_new_with_contributions (VnResult        *base,
                                  VnContributions *contributions)
{
  VnResult *self;

  g_return_val_if_fail (base != NULL && contributions != NULL, NULL);

  self = result_new_on (base);
  g_clear_pointer (&self->diagnosis, vn_diagnosis_unref);
  g_clear_pointer (&self->contributions, vn_contributions_unref);
  g_clear_pointer (&self->errors, vn_error_table_unref);
  self->contributions = vn_contributions_ref (contributions);
  self->errors = base->errors != NULL ? vn_contributions_mark (contributions, base->errors) : NULL;
  return self;
}

/**
 * vn_result_new_with_curve:
 * @base: a finished run
 * @curve: what mixed precision can make of it
 *
 * Returns: (transfer full): @base with @curve; it shares all the rest
 */
VnResult *
vn_result_new_with_curve (VnResult *base,
                          VnCurve  *curve)
{
  VnResult *self;

  g_return_val_if_fail (base != NULL && curve != NULL, NULL);

  self = result_new_on (base);
  g_clear_pointer (&self->curve, vn_curve_unref);
  self->curve = vn_curve_ref (curve);
  return self;
}

/**
 * vn_result_new_with_verification:
 * @base: a finished run
 * @verification: (nullable): what was measured of it later, in ONNX Runtime; %NULL: what @base has of that
 * @forecast: (transfer full) (nullable): with the kernels that were found there; %NULL: that of @base
 * @notes: instead of those of @base
 *
 * Returns: (transfer full): @base with these; it shares all the rest
 */
VnResult *
vn_result_new_with_verification (VnResult          *base,
                                 VnVerification    *verification,
                                 VnRuntimeForecast *forecast,
                                 VnNotes           *notes)
{
  VnResult *self;

  g_return_val_if_fail (base != NULL && notes != NULL, NULL);

  self = result_new_on (base);
  if (verification != NULL)
    {
      g_clear_pointer (&self->verification, vn_verification_unref);
      self->verification = vn_verification_ref (verification);
    }
  if (forecast != NULL)
    self->forecast = forecast;
  vn_notes_unref (self->notes);
  self->notes = vn_notes_ref (notes);
  return self;
}

/**
 * vn_result_new_expected:
 * @base: a finished run
 * @expectation: its @forecast changes owner; the rest is copied or referenced
 *
 * Returns: (transfer full): @base as it is expected to become: with the networks of @base, but plan, errors, recipe and size of the
 *   expectation; what only a whole run can tell is not in it
 */
VnResult *
vn_result_new_expected (VnResult            *base,
                        const VnExpectation *expectation)
{
  VnResult *self;

  g_return_val_if_fail (base != NULL && expectation != NULL && expectation->recipe != NULL && expectation->plan != NULL, NULL);

  self = result_new_on (base);
  g_clear_pointer (&self->diagnosis, vn_diagnosis_unref);
  g_clear_pointer (&self->verification, vn_verification_unref);
  g_clear_pointer (&self->contributions, vn_contributions_unref);
  g_clear_pointer (&self->errors, vn_error_table_unref);
  g_clear_pointer (&self->steps, g_ptr_array_unref);
  self->accuracy = (VnAccuracy) { 0 };
  self->is_expected = TRUE;
  self->recipe = vn_recipe_copy (expectation->recipe);
  self->plan = vn_quant_plan_ref (expectation->plan);
  self->value_names = expectation->value_names != NULL ? g_hash_table_ref (expectation->value_names) : NULL;
  self->errors = expectation->errors != NULL ? vn_error_table_ref (expectation->errors) : NULL;
  self->contributions = expectation->contributions != NULL ? vn_contributions_ref (expectation->contributions) : NULL;
  self->forecast = expectation->forecast;
  self->quantized_bytes = (gsize) MAX (0, (gint64) base->quantized_bytes + expectation->more_bytes);
  return self;
}

/**
 * vn_result_new_named:
 * @base: what a run found, or is expected to
 * @recipe: equal to that of @base, but for the names of rules
 *
 * Returns: (transfer full): @base, whose recipe calls its rules as @recipe does; it shares all the rest
 */
VnResult *
vn_result_new_named (VnResult       *base,
                     const VnRecipe *recipe)
{
  VnResult *self;

  g_return_val_if_fail (base != NULL && recipe != NULL && vn_recipe_equal (base->recipe, recipe), NULL);

  self = result_new_on (base);
  self->recipe = vn_recipe_copy (recipe);
  return self;
}

VnResult *
vn_result_ref (VnResult *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/* Its base has the rest. */
static void
result_free_derived (VnResult *self)
{
  const VnResult *base = self->base;

  if (self->forecast != base->forecast)
    g_clear_pointer (&self->forecast, vn_runtime_forecast_free);
  if (self->recipe != base->recipe)
    g_clear_pointer (&self->recipe, vn_recipe_free);
  if (self->plan != base->plan)
    {
      g_clear_pointer (&self->identity, vn_identity_map_free);
      g_clear_pointer (&self->plan, vn_quant_plan_unref);
      g_clear_pointer (&self->value_names, g_hash_table_unref);
    }
  g_free (self->deciding);
  vn_result_unref (self->base);
  g_free (self);
}

void
vn_result_unref (VnResult *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_clear_pointer (&self->contributions, vn_contributions_unref);
  g_clear_pointer (&self->diagnosis, vn_diagnosis_unref);
  g_clear_pointer (&self->errors, vn_error_table_unref);
  g_clear_pointer (&self->curve, vn_curve_unref);
  g_clear_pointer (&self->verification, vn_verification_unref);
  g_clear_pointer (&self->notes, vn_notes_unref);
  g_clear_pointer (&self->steps, g_ptr_array_unref);
  if (self->base != NULL)
    {
      result_free_derived (self);
      return;
    }
  g_clear_pointer (&self->identity, vn_identity_map_free);
  g_clear_pointer (&self->corrected, vn_model_unref);
  g_clear_pointer (&self->rounded, vn_model_unref);
  g_clear_pointer (&self->source, vn_model_unref);
  g_clear_pointer (&self->prepared, vn_model_unref);
  g_clear_pointer (&self->quantized, vn_model_unref);
  g_clear_pointer (&self->edits, vn_edit_log_free);
  g_clear_pointer (&self->data, vn_data_spec_free);
  g_free (self->deciding);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  g_clear_pointer (&self->stats, vn_stats_unref);
  g_clear_pointer (&self->spreads, g_ptr_array_unref);
  g_clear_pointer (&self->forecast, vn_runtime_forecast_free);
  g_clear_pointer (&self->plan, vn_quant_plan_unref);
  g_clear_pointer (&self->value_names, g_hash_table_unref);
  vn_run_settings_clear (&self->run);
  g_clear_pointer (&self->timings, g_array_unref);
  g_free (self->source_digest);
  g_free (self->prepared_digest);
  g_free (self->samples_digest);
  if (self->kept != NULL)
    self->kept_free (self->kept);
  g_free (self);
}

/**
 * vn_result_get_seconds:
 * @stage: (nullable): id of a stage of the run; %NULL: all of them
 *
 * Returns: how long that took; 0 if it was no part of the run
 */
double
vn_result_get_seconds (VnResult   *self,
                       const char *stage)
{
  double seconds = 0;

  g_return_val_if_fail (self != NULL, 0);

  for (guint i = 0; self->timings != NULL && i < self->timings->len; i++)
    {
      const VnTiming *timing = &g_array_index (self->timings, VnTiming, i);

      if (stage == NULL || g_str_equal (timing->id, stage))
        seconds += timing->seconds;
    }
  return seconds;
}

/**
 * vn_result_compare_time:
 * @other: of the same network
 *
 * Returns: how many times as long as the export of @self that of @other is forecast to take in ONNX Runtime; NAN where that is not known
 */
double
vn_result_compare_time (VnResult *self,
                        VnResult *other)
{
  g_return_val_if_fail (self != NULL && other != NULL, NAN);

  if (self->forecast == NULL || other->forecast == NULL || !(self->forecast->seconds > 0))
    return NAN;
  return other->forecast->seconds / self->forecast->seconds;
}

/**
 * vn_result_get_identity:
 *
 * Returns: (transfer none): which values stand for the nodes of the source; made when somebody asks first, from any thread
 */
VnIdentityMap *
vn_result_get_identity (VnResult *self)
{
  g_return_val_if_fail (self != NULL && self->source != NULL && (self->prepared != NULL || self->identity != NULL), NULL);

  if (self->base != NULL && self->plan == self->base->plan)
    return vn_result_get_identity (self->base);
  if (g_once_init_enter (&self->identity))
    g_once_init_leave (&self->identity, vn_identity_map_new (self->source, self->prepared, self->edits, self->plan,
                                                             self->value_names));
  return self->identity;
}

/* The value of the prepared model that speaks for @node. */
static const char *
vn_result_find_value_name (VnResult     *self,
                           const VnNode *node)
{
  const VnIdentity *identity = vn_identity_map_get (vn_result_get_identity (self), node);

  return identity != NULL ? identity->rounded : NULL;
}

/**
 * vn_result_get_node_error:
 * @source_node: of the model as opened
 *
 * Returns: (transfer none) (nullable): the row for the node's output, or for that of the node it was folded into
 */
const VnErrorRow *
vn_result_get_node_error (VnResult     *self,
                          const VnNode *source_node)
{
  const char *name;

  g_return_val_if_fail (self != NULL, NULL);

  name = self->errors != NULL ? vn_result_find_value_name (self, source_node) : NULL;
  return name != NULL ? vn_error_table_find (self->errors, name) : NULL;
}

const VnHistogram *
vn_result_get_node_histogram (VnResult     *self,
                              const VnNode *source_node)
{
  const char *name;

  g_return_val_if_fail (self != NULL, NULL);

  name = self->stats != NULL ? vn_result_find_value_name (self, source_node) : NULL;
  return name != NULL ? vn_stats_get (self->stats, name) : NULL;
}

const VnTensorPlan *
vn_result_get_node_plan (VnResult     *self,
                         const VnNode *source_node)
{
  const char *name;

  g_return_val_if_fail (self != NULL, NULL);

  name = self->plan != NULL ? vn_result_find_value_name (self, source_node) : NULL;
  return name != NULL ? vn_quant_plan_find (self->plan, name) : NULL;
}

/* Weights alone are quantized: nothing is left in float on purpose. */
static gboolean
result_has_integer_activations (VnResult *self)
{
  for (guint i = 0; self->plan != NULL && i < vn_quant_plan_get_n (self->plan); i++)
    {
      const VnTensorPlan *row = vn_quant_plan_get (self->plan, i);

      if (row->quantized && row->role == VN_TENSOR_ACTIVATION)
        return TRUE;
    }
  return FALSE;
}

/* Whether a rule leaves the node in float; its output may be rounded nevertheless, for what reads it. */
static gboolean
result_excludes (VnResult     *self,
                 const VnNode *node)
{
  if (self->source == NULL || self->recipe == NULL || node->graph != self->source->graph)
    return FALSE;
  if (g_once_init_enter (&self->deciding))
    g_once_init_leave (&self->deciding, vn_recipe_find_rules_of_nodes (self->recipe, self->source->graph));
  return self->deciding[node->index] >= 0
         && ((const VnOverride *) g_ptr_array_index (self->recipe->overrides, self->deciding[node->index]))->exclude;
}

/**
 * vn_result_get_node_dtype:
 * @source_node: of the model as opened
 *
 * Returns: the type that the node gives in the quantized network: of a node that takes part the one that is planned, of one that is left
 *   in float its own; %VN_DTYPE_UNDEFINED of what was no float tensor, and where no activation at all is quantized
 */
VnDType
vn_result_get_node_dtype (VnResult     *self,
                          const VnNode *source_node)
{
  const VnTensorPlan *plan;
  const VnValue *output;

  g_return_val_if_fail (self != NULL && source_node != NULL, VN_DTYPE_UNDEFINED);

  plan = vn_result_get_node_plan (self, source_node);
  output = source_node->outputs->len > 0 ? vn_node_get_output (source_node, 0) : NULL;
  if (plan != NULL && plan->quantized && !result_excludes (self, source_node))
    return plan->dtype;
  if (output == NULL || output->type.kind != VN_TYPE_TENSOR || !vn_dtype_is_float (output->type.dtype)
      || vn_node_is (source_node, "Constant"))
    return VN_DTYPE_UNDEFINED;
  return result_has_integer_activations (self) ? output->type.dtype : VN_DTYPE_UNDEFINED;
}

/**
 * vn_result_get_rated_error:
 * @source_node: of the model as opened
 *
 * The rule by which graph, legend, table, review and searches count nodes: a node counts by its error if that was measured and the node
 * takes part; a constant does not, nor does what is left in float, whatever error passes through it.
 *
 * Returns: (transfer none) (nullable): vn_result_get_node_error() of a node that counts
 */
const VnErrorRow *
vn_result_get_rated_error (VnResult     *self,
                           const VnNode *source_node)
{
  g_return_val_if_fail (self != NULL && source_node != NULL, NULL);

  if (vn_node_is (source_node, "Constant") || vn_dtype_is_float (vn_result_get_node_dtype (self, source_node)))
    return NULL;
  return vn_result_get_node_error (self, source_node);
}
