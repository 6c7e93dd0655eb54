/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Schema, version 1:
 * { "version": 1,
 *   "model":    { "file", "nodes", "opset" },
 *   "sizes":    { "float_bytes", "quantized_bytes" },
 *   "samples":  { "calibration", "measured" },
 *   "settings": { "preset", "activation", "weight", "per_channel", "symmetric_activations", "method", "percentile",
 *                 "exclude": [ pattern ],                                                     absent in a comparison
 *                 "differences": [ { "id", "title", "value", "preset" } ],  from the preset; rules last, as JSON
 *                 "command" },                                              that repeats the run; null: none can
 *   "accuracy": { "samples", "float_top1", "quantized_top1", "agree" },                       only with labels
 *   "summary":  { "suspicions": [ { "code", "subject", "text", "remedy" } ],                   about the samples
 *                 "verdict", "level", "text", "not_finite": [ tensor ], "worst_output", "sqnr_db", "cosine", "marked" },
 *   "tensors":  [ { "tensor", "node", "type", "output", "marked", "sqnr_db", "noise_to_signal", "cosine", "mse",
 *                   "max_error", "not_finite", "not_finite_before", "float_min", "float_max", "quantized_min", "quantized_max",
 *                   "quantized", "dtype", "scale", "zero_point", "range_min", "range_max", "rule" } ],  worst first
 *   "npu":      [ { "node", "type", "positions": { "input", "input2", "weight", "bias", "output" },
 *                   "shifts": { "cut", "bias", "read", "write" },
 *                   "moves": [ { "tensor", "from", "to", "rule", "reason" } ] } ],            with the setting "npu"
 *   "notes":    [ { "level", "code", "subject", "text" } ] }
 * Numbers that JSON cannot write (infinite, NaN) are the strings "inf", "-inf", "nan". */
#include "vn-report-private.h"

#include "vn-format.h"
#include "vn-data-suspicion.h"
#include "vn-json.h"
#include "vn-npu.h"
#include "vn-setting.h"
#include "vn-verdict.h"

#include <json-glib/json-glib.h>

static void
report_json_add_head (JsonBuilder         *json,
                      const VnReportInput *input)
{
  g_autofree char *base = input->source->path != NULL ? g_path_get_basename (input->source->path) : NULL;

  vn_json_begin_object (json, "model");
  vn_json_add_text (json, "file", base);
  vn_json_add_int (json, "nodes", input->source->graph->nodes->len);
  vn_json_add_int (json, "opset", vn_model_get_opset (input->source, ""));
  json_builder_end_object (json);
  vn_json_begin_object (json, "sizes");
  vn_json_add_int (json, "float_bytes", (gint64) input->float_bytes);
  vn_json_add_int (json, "quantized_bytes", (gint64) input->quantized_bytes);
  json_builder_end_object (json);
  vn_json_begin_object (json, "samples");
  vn_json_add_int (json, "calibration", input->n_calibration);
  vn_json_add_int (json, "measured", input->n_held_out);
  json_builder_end_object (json);
}

static void
report_json_add_differences (JsonBuilder         *json,
                             const VnReportInput *input)
{
  g_autoptr(GPtrArray) differences = vn_recipe_list_differences (input->recipe);
  g_autofree char *command = vn_report_dup_command (input);

  vn_json_begin_array (json, "differences");
  for (guint i = 0; i < differences->len; i++)
    {
      const VnSettingDifference *row = g_ptr_array_index (differences, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "id", row->id);
      vn_json_add_text (json, "title", row->title);
      vn_json_add_text (json, "value", row->value);
      vn_json_add_text (json, "preset", row->preset_value);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  vn_json_add_text (json, "command", command);
}

static void
report_json_add_settings (JsonBuilder         *json,
                          const VnReportInput *input)
{
  const VnRecipe *recipe = input->recipe;

  vn_json_begin_object (json, "settings");
  vn_json_add_text (json, "preset", recipe->preset);
  vn_json_add_text (json, "activation", vn_dtype_get_name (recipe->activation));
  vn_json_add_text (json, "weight", vn_dtype_get_name (recipe->weight));
  vn_json_add_bool (json, "per_channel", vn_recipe_has_channels (recipe));
  vn_json_add_bool (json, "symmetric_activations", recipe->symmetric_activations);
  vn_json_add_text (json, "method", recipe->method);
  vn_json_add_number (json, "percentile", recipe->percentile);
  vn_json_begin_array (json, "exclude");
  for (guint i = 0; i < recipe->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (recipe->overrides, i);

      if (rule->enabled && rule->exclude && rule->pattern != NULL)
        json_builder_add_string_value (json, rule->pattern);
    }
  json_builder_end_array (json);
  report_json_add_differences (json, input);
  json_builder_end_object (json);
}

static void
report_json_add_accuracy (JsonBuilder      *json,
                          const VnAccuracy *accuracy)
{
  vn_json_begin_object (json, "accuracy");
  vn_json_add_int (json, "samples", accuracy->n);
  vn_json_add_int (json, "float_top1", accuracy->float_top1);
  vn_json_add_int (json, "quantized_top1", accuracy->quant_top1);
  vn_json_add_int (json, "agree", accuracy->agree);
  json_builder_end_object (json);
}

static void
report_json_add_suspicions (JsonBuilder     *json,
                            const VnVerdict *verdict)
{
  vn_json_begin_array (json, "suspicions");
  for (guint i = 0; i < verdict->suspicions->len; i++)
    {
      const VnNote *note = g_ptr_array_index (verdict->suspicions, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "code", note->code);
      vn_json_add_text (json, "subject", note->subject);
      vn_json_add_text (json, "text", note->text);
      vn_json_add_text (json, "remedy", vn_data_suspicion_get_remedy (note));
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
report_json_add_summary (JsonBuilder         *json,
                         const VnReportInput *input)
{
  g_autoptr(VnVerdict) verdict = vn_verdict_new (input->errors, input->accuracy, input->notes);

  vn_json_begin_object (json, "summary");
  report_json_add_suspicions (json, verdict);
  vn_json_add_text (json, "verdict", verdict->title);
  vn_json_add_text (json, "level", verdict->id);
  vn_json_add_text (json, "text", verdict->text);
  vn_json_begin_array (json, "not_finite");
  for (guint i = 0; i < verdict->not_finite->len; i++)
    json_builder_add_string_value (json, g_ptr_array_index (verdict->not_finite, i));
  json_builder_end_array (json);
  vn_json_add_text (json, "worst_output", verdict->worst != NULL ? verdict->worst->value : NULL);
  if (verdict->worst != NULL)
    {
      vn_json_add_number (json, "sqnr_db", verdict->worst->sqnr_db);
      vn_json_add_number (json, "cosine", verdict->worst->cosine);
    }
  vn_json_add_int (json, "marked", _vn_report_count_marked (input->errors));
  json_builder_end_object (json);
}

static void
report_json_add_plan (JsonBuilder        *json,
                      const VnTensorPlan *plan)
{
  vn_json_add_bool (json, "quantized", plan != NULL && plan->quantized);
  if (plan == NULL)
    return;
  if (plan->quantized && plan->scale != NULL)
    {
      vn_json_add_text (json, "dtype", vn_dtype_get_name (plan->dtype));
      vn_json_add_number (json, "scale", vn_tensor_get_double (plan->scale, 0));
      vn_json_add_int (json, "zero_point", vn_tensor_get_s64 (plan->zero_point, 0));
      vn_json_add_number (json, "range_min", plan->min);
      vn_json_add_number (json, "range_max", plan->max);
    }
  vn_json_add_text (json, "rule", plan->rule);
}

static void
report_json_add_tensor (JsonBuilder         *json,
                        const VnReportInput *input,
                        const VnErrorRow    *row)
{
  json_builder_begin_object (json);
  vn_json_add_text (json, "tensor", row->value);
  vn_json_add_text (json, "node", row->node);
  vn_json_add_text (json, "type", row->op_type);
  vn_json_add_bool (json, "output", row->is_output);
  if (row->is_last)
    vn_json_add_bool (json, "last_computed", TRUE);
  vn_json_add_bool (json, "marked", vn_error_row_is_marked (row));
  vn_json_add_number (json, "sqnr_db", row->sqnr_db);
  vn_json_add_number (json, "noise_to_signal", row->noise_to_signal);
  vn_json_add_number (json, "cosine", row->cosine);
  vn_json_add_number (json, "mse", row->mse);
  vn_json_add_number (json, "max_error", row->max_error);
  if (row->has_local)
    vn_json_add_number (json, "local_sqnr_db", row->local_db);
  vn_json_add_int (json, "not_finite", (gint64) row->n_bad);
  if (row->n_bad_float > 0)
    vn_json_add_int (json, "not_finite_before", (gint64) row->n_bad_float);
  vn_json_add_number (json, "float_min", row->float_min);
  vn_json_add_number (json, "float_max", row->float_max);
  vn_json_add_number (json, "quantized_min", row->quant_min);
  vn_json_add_number (json, "quantized_max", row->quant_max);
  if (input->plan != NULL)
    report_json_add_plan (json, vn_quant_plan_find (input->plan, row->value));
  json_builder_end_object (json);
}

static void
report_json_add_tensors (JsonBuilder         *json,
                         const VnReportInput *input)
{
  g_autoptr(GArray) order = vn_error_table_sort_worst (input->errors);

  vn_json_begin_array (json, "tensors");
  for (guint i = 0; i < order->len; i++)
    report_json_add_tensor (json, input, vn_error_table_get (input->errors, g_array_index (order, guint, i)));
  json_builder_end_array (json);
}

static void
report_json_add_weights (JsonBuilder  *json,
                         VnErrorTable *errors)
{
  if (vn_error_table_get_n_weights (errors) == 0)
    return;
  vn_json_begin_array (json, "weights");
  for (guint i = 0; i < vn_error_table_get_n_weights (errors); i++)
    {
      const VnErrorRow *row = vn_error_table_get_weight (errors, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "tensor", row->value);
      vn_json_add_text (json, "node", row->node);
      vn_json_add_text (json, "type", row->op_type);
      vn_json_add_number (json, "sqnr_db", row->sqnr_db);
      vn_json_add_number (json, "noise_to_signal", row->noise_to_signal);
      vn_json_add_number (json, "cosine", row->cosine);
      vn_json_add_number (json, "max_error", row->max_error);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
report_json_add_known (JsonBuilder *json,
                       const char  *name,
                       int          number)
{
  if (number != VN_NPU_NONE)
    vn_json_add_int (json, name, number);
}

static void
report_json_add_moves (JsonBuilder     *json,
                       const VnNpuNode *node)
{
  vn_json_begin_array (json, "moves");
  for (guint i = 0; i < node->moves->len; i++)
    {
      const VnNpuMove *move = g_ptr_array_index (node->moves, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "tensor", move->tensor);
      vn_json_add_int (json, "from", move->from);
      vn_json_add_int (json, "to", move->to);
      vn_json_add_text (json, "rule", move->rule);
      vn_json_add_text (json, "reason", move->reason);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
report_json_add_npu_node (JsonBuilder     *json,
                          const VnNpuNode *node)
{
  json_builder_begin_object (json);
  vn_json_add_text (json, "node", node->node);
  vn_json_add_text (json, "type", node->op_type);
  vn_json_begin_object (json, "positions");
  report_json_add_known (json, "input", node->inputs[0]);
  report_json_add_known (json, "input2", node->inputs[1]);
  report_json_add_known (json, "weight", node->weight);
  report_json_add_known (json, "bias", node->bias);
  report_json_add_known (json, "output", node->output);
  json_builder_end_object (json);
  vn_json_begin_object (json, "shifts");
  report_json_add_known (json, "cut", node->cut);
  report_json_add_known (json, "bias", node->bias_shift);
  report_json_add_known (json, "read", node->read);
  report_json_add_known (json, "write", node->write);
  json_builder_end_object (json);
  report_json_add_moves (json, node);
  json_builder_end_object (json);
}

static void
report_json_add_npu (JsonBuilder *json,
                     VnQuantPlan *plan)
{
  vn_json_begin_array (json, "npu");
  for (guint i = 0; i < vn_quant_plan_get_n_npu_nodes (plan); i++)
    report_json_add_npu_node (json, vn_quant_plan_get_npu_node (plan, i));
  json_builder_end_array (json);
}

static void
report_json_add_notes (JsonBuilder *json,
                       VnNotes     *notes)
{
  static const char * const levels[] = { "info", "warning", "problem" };

  vn_json_begin_array (json, "notes");
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    {
      const VnNote *note = vn_notes_get (notes, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "level", levels[note->level]);
      vn_json_add_text (json, "code", note->code);
      vn_json_add_text (json, "subject", note->subject);
      vn_json_add_text (json, "text", note->text);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

/**
 * vn_report_json:
 *
 * Returns: (transfer full): the report as JSON, two spaces of indentation, ending with a newline
 */
char *
vn_report_json (const VnReportInput *input)
{
  g_autoptr(JsonBuilder) json = json_builder_new ();
  g_autoptr(JsonNode) root = NULL;

  json_builder_begin_object (json);
  vn_json_add_int (json, "version", 1);
  report_json_add_head (json, input);
  if (input->recipe != NULL)
    report_json_add_settings (json, input);
  if (input->accuracy != NULL && input->accuracy->valid)
    report_json_add_accuracy (json, input->accuracy);
  report_json_add_summary (json, input);
  if (input->errors != NULL)
    {
      report_json_add_tensors (json, input);
      report_json_add_weights (json, input->errors);
    }
  if (input->plan != NULL && vn_quant_plan_get_n_npu_nodes (input->plan) > 0)
    report_json_add_npu (json, input->plan);
  if (input->notes != NULL)
    report_json_add_notes (json, input->notes);
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  return vn_json_to_text (root);
}
