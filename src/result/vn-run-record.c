/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stays of a run when its networks are gone. */
#include "vn-run-record.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-spread.h"

void
vn_run_node_free (VnRunNode *self)
{
  g_free (self->label);
  g_free (self->op_type);
  g_free (self->source);
  g_free (self->prepared);
  g_free (self->rounded);
  g_free (self);
}

/**
 * vn_run_record_new_empty:
 *
 * Returns: (transfer full): a record; whoever makes it fills it before anybody else sees it
 */
VnRunRecord *
vn_run_record_new_empty (void)
{
  VnRunRecord *self = g_new0 (VnRunRecord, 1);

  g_atomic_ref_count_init (&self->ref);
  self->nodes = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_run_node_free);
  self->value_names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return self;
}

VnRunRecord *
vn_run_record_ref (VnRunRecord *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_run_record_unref (VnRunRecord *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_free (self->program);
  g_free (self->model);
  g_free (self->source_digest);
  g_free (self->prepared_digest);
  g_free (self->samples_digest);
  g_free (self->recipe_digest);
  vn_data_spec_free (self->data);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  vn_run_settings_clear (&self->run);
  g_clear_pointer (&self->errors, vn_error_table_unref);
  g_clear_pointer (&self->contributions, vn_contributions_unref);
  g_clear_pointer (&self->verification, vn_verification_unref);
  g_clear_pointer (&self->plan, vn_quant_plan_unref);
  g_clear_pointer (&self->diagnosis, vn_diagnosis_unref);
  g_clear_pointer (&self->forecast, vn_runtime_forecast_free);
  g_clear_pointer (&self->steps, g_ptr_array_unref);
  g_clear_pointer (&self->curve, vn_curve_unref);
  g_clear_pointer (&self->spreads, g_ptr_array_unref);
  g_clear_pointer (&self->notes, vn_notes_unref);
  g_ptr_array_unref (self->nodes);
  g_hash_table_unref (self->value_names);
  g_free (self);
}

/* ---- of a result ---- */

static void
run_record_add_node (VnRunRecord      *self,
                     const VnNode     *node,
                     const VnIdentity *identity)
{
  VnRunNode *row = g_new0 (VnRunNode, 1);

  row->label = vn_node_dup_label (node);
  row->op_type = g_strdup (node->op_type);
  row->source = g_strdup (identity->source);
  row->prepared = g_strdup (identity->prepared);
  row->rounded = g_strdup (identity->rounded);
  g_ptr_array_add (self->nodes, row);
}

/* Only what rows and nodes speak of. */
static void
run_record_add_name (VnRunRecord *self,
                     VnResult    *result,
                     const char  *value)
{
  const char *name = value != NULL && result->value_names != NULL ? g_hash_table_lookup (result->value_names, value) : NULL;

  if (name != NULL)
    g_hash_table_replace (self->value_names, g_strdup (value), g_strdup (name));
}

static void
run_record_take_identity (VnRunRecord *self,
                          VnResult    *result)
{
  VnIdentityMap *map = vn_result_get_identity (result);
  const GPtrArray *nodes = result->source->graph->nodes;

  for (guint i = 0; i < nodes->len; i++)
    {
      const VnIdentity *identity = vn_identity_map_get (map, g_ptr_array_index (nodes, i));

      run_record_add_node (self, g_ptr_array_index (nodes, i), identity);
      run_record_add_name (self, result, identity->rounded);
    }
  for (guint i = 0; result->errors != NULL && i < vn_error_table_get_n (result->errors); i++)
    run_record_add_name (self, result, vn_error_table_get (result->errors, i)->value);
}

static void
run_record_take_settings (VnRunSettings       *self,
                          const VnRunSettings *run)
{
  *self = *run;
  self->shapes = run->shapes != NULL ? g_hash_table_ref (run->shapes) : NULL;
  self->stats = g_strdupv (run->stats);
}

/**
 * vn_run_record_new:
 * @result: of a run; its errors, contributions, notes and what was measured in ONNX Runtime are shared
 *
 * Returns: (transfer full): what can be kept of it
 */
VnRunRecord *
vn_run_record_new (VnResult *result)
{
  VnRunRecord *self;

  g_return_val_if_fail (result != NULL && result->recipe != NULL && result->notes != NULL, NULL);

  self = vn_run_record_new_empty ();
  self->program = g_strdup (VN_VERSION);
  self->time = result->time;
  self->model = g_strdup (result->source->path);
  self->n_nodes = result->source->graph->nodes->len;
  self->opset = vn_model_get_opset (result->source, "");
  self->source_digest = g_strdup (result->source_digest);
  self->prepared_digest = g_strdup (result->prepared_digest);
  self->samples_digest = g_strdup (result->samples_digest);
  self->recipe_digest = vn_recipe_dup_digest (result->recipe);
  self->data = result->data != NULL ? vn_data_spec_copy (result->data) : NULL;
  self->recipe = vn_recipe_copy (result->recipe);
  run_record_take_settings (&self->run, &result->run);
  self->errors = result->errors != NULL ? vn_error_table_ref (result->errors) : NULL;
  self->contributions = result->contributions != NULL ? vn_contributions_ref (result->contributions) : NULL;
  self->verification = result->verification != NULL ? vn_verification_ref (result->verification) : NULL;
  self->plan = result->plan != NULL ? vn_quant_plan_ref (result->plan) : NULL;
  self->diagnosis = result->diagnosis != NULL ? vn_diagnosis_ref (result->diagnosis) : NULL;
  self->forecast = result->forecast != NULL ? vn_runtime_forecast_copy (result->forecast) : NULL;
  self->steps = result->steps != NULL ? g_ptr_array_ref (result->steps) : NULL;
  self->curve = result->curve != NULL ? vn_curve_ref (result->curve) : NULL;
  self->spreads = vn_result_list_spreads (result);
  self->accuracy = result->accuracy;
  self->notes = vn_notes_ref (result->notes);
  self->float_bytes = result->float_bytes;
  self->quantized_bytes = result->quantized_bytes;
  self->n_calibration = result->n_calibration;
  self->n_held_out = result->n_held_out;
  self->left_out = result->left_out;
  self->n_quantized = (result->plan != NULL ? vn_quant_plan_count_quantized (result->plan) : 0);
  self->seconds = result->timings != NULL ? vn_result_get_seconds (result, NULL) : 0;
  run_record_take_identity (self, result);
  return self;
}

/* ---- back to a result ---- */

/* Names belong to the record, which the result keeps. */
static VnIdentityMap *
run_record_make_identity (const VnRunRecord *self,
                          const VnModel     *model)
{
  g_autofree VnIdentity *identities = g_new0 (VnIdentity, self->nodes->len + 1);

  for (guint i = 0; i < self->nodes->len; i++)
    {
      const VnRunNode *node = g_ptr_array_index (self->nodes, i);

      identities[i] = (VnIdentity) { .source = node->source, .prepared = node->prepared, .rounded = node->rounded };
    }
  return vn_identity_map_new_from_names (model, identities, self->value_names);
}

/**
 * vn_run_record_restore:
 * @model: the network that was quantized, as opened
 *
 * Returns: (transfer full) (nullable): the result of the run, without what it computed with: networks made from @model, edits and
 *   statistics; %NULL with %VN_ERROR_MALFORMED if @model is another network
 */
VnResult *
vn_run_record_restore (VnRunRecord  *self,
                       VnModel      *model,
                       GError      **error)
{
  g_autofree char *digest = NULL;
  VnResult *result;

  g_return_val_if_fail (self != NULL && model != NULL, NULL);

  digest = vn_model_dup_digest (model);
  if (model->graph->nodes->len != self->nodes->len || (self->source_digest != NULL && g_strcmp0 (digest, self->source_digest) != 0))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                   _("%s has changed since it was quantized; quantize it again"),
                   model->path != NULL ? model->path : _("the model"));
      return NULL;
    }
  result = vn_result_new ();
  result->kept = vn_run_record_ref (self);
  result->kept_free = (GDestroyNotify) vn_run_record_unref;
  result->source = vn_model_ref (model);
  result->data = self->data != NULL ? vn_data_spec_copy (self->data) : NULL;
  result->recipe = vn_recipe_copy (self->recipe);
  run_record_take_settings (&result->run, &self->run);
  result->plan = self->plan != NULL ? vn_quant_plan_ref (self->plan) : NULL;
  result->errors = self->errors != NULL ? vn_error_table_ref (self->errors) : NULL;
  result->contributions = self->contributions != NULL ? vn_contributions_ref (self->contributions) : NULL;
  result->diagnosis = self->diagnosis != NULL ? vn_diagnosis_ref (self->diagnosis) : NULL;
  result->verification = self->verification != NULL ? vn_verification_ref (self->verification) : NULL;
  result->forecast = self->forecast != NULL ? vn_runtime_forecast_copy (self->forecast) : NULL;
  result->steps = self->steps != NULL ? g_ptr_array_ref (self->steps) : NULL;
  result->curve = self->curve != NULL ? vn_curve_ref (self->curve) : NULL;
  result->spreads = self->spreads != NULL ? g_ptr_array_ref (self->spreads) : g_ptr_array_new ();
  result->notes = vn_notes_ref (self->notes);
  result->accuracy = self->accuracy;
  result->float_bytes = self->float_bytes;
  result->quantized_bytes = self->quantized_bytes;
  result->n_calibration = self->n_calibration;
  result->n_held_out = self->n_held_out;
  result->left_out = self->left_out;
  result->time = self->time;
  if (self->seconds > 0)
    {
      VnTiming whole = { "run", N_("Quantizing"), self->seconds };   /* its stages were not kept */

      result->timings = g_array_new (FALSE, FALSE, sizeof whole);
      g_array_append_val (result->timings, whole);
    }
  result->source_digest = g_strdup (self->source_digest);
  result->prepared_digest = g_strdup (self->prepared_digest);
  result->samples_digest = g_strdup (self->samples_digest);
  result->value_names = g_hash_table_ref (self->value_names);
  result->identity = run_record_make_identity (self, model);
  return result;
}
