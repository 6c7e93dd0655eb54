/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of runs as JSON: how tensors are quantized, and what ONNX Runtime was expected to make of the nodes. */
#include "run-file-private.h"

#include "vn-npu.h"
#include "vn-quant-plan.h"

#include <math.h>
#include <string.h>

/*< private >
 * _vn_run_file_read_each:
 */
void
_vn_run_file_read_each (VnJsonFields     *parent,
                        const char       *id,
                        VnRunFileFunc     read,
                        gpointer          to)
{
  JsonArray *array = vn_json_fields_get_array (parent, id);
  g_autofree char *where = vn_json_fields_dup_where (parent, id);

  for (guint i = 0; array != NULL && parent->error == NULL && i < json_array_get_length (array); i++)
    {
      g_autofree char *place = g_strdup_printf ("%s[%u]", where, i);
      VnJsonFields fields;

      vn_json_fields_init (&fields, json_array_get_element (array, i), place);
      read (to, &fields);
      vn_json_fields_leave (&fields, parent);
    }
}

double
_vn_run_file_get_number (VnJsonFields *fields,
                         const char   *id)
{
  return vn_json_fields_has (fields, id) ? vn_json_fields_get_double (fields, id) : NAN;
}

void
_vn_run_file_add_number (JsonBuilder *json,
                         const char  *id,
                         double       number)
{
  if (!isnan (number))
    vn_json_add_number (json, id, number);
}

gboolean
_vn_run_file_get_flag (VnJsonFields *fields,
                       const char   *id)
{
  return vn_json_fields_has (fields, id) && vn_json_fields_get_bool (fields, id);
}

void
_vn_run_file_add_flag (JsonBuilder *json,
                       const char  *id,
                       gboolean     flag)
{
  if (flag)
    vn_json_add_bool (json, id, TRUE);
}

/* ---- tensors ---- */

static void
run_file_add_tensor (JsonBuilder        *json,
                     const VnTensorPlan *plan)
{
  json_builder_begin_object (json);
  vn_json_add_text (json, "tensor", plan->name);
  if (plan->quantized && plan->scale != NULL)
    {
      vn_json_add_text (json, "dtype", vn_dtype_get_name (plan->dtype));
      vn_json_add_number (json, "scale", vn_tensor_get_double (plan->scale, 0));
      vn_json_add_int (json, "zero-point", vn_tensor_get_s64 (plan->zero_point, 0));
    }
  else if (plan->quantized)
    vn_json_add_text (json, "dtype", vn_dtype_get_name (plan->dtype));
  vn_json_add_number (json, "min", plan->min);
  vn_json_add_number (json, "max", plan->max);
  vn_json_add_text_if (json, "rule", plan->rule);
  json_builder_end_object (json);
}

static const struct { const char *id; gsize offset; } npu_numbers[] = {
  { "input", G_STRUCT_OFFSET (VnNpuNode, inputs[0]) }, { "input2", G_STRUCT_OFFSET (VnNpuNode, inputs[1]) },
  { "weight", G_STRUCT_OFFSET (VnNpuNode, weight) }, { "bias", G_STRUCT_OFFSET (VnNpuNode, bias) },
  { "output", G_STRUCT_OFFSET (VnNpuNode, output) }, { "cut", G_STRUCT_OFFSET (VnNpuNode, cut) },
  { "bias-shift", G_STRUCT_OFFSET (VnNpuNode, bias_shift) }, { "read", G_STRUCT_OFFSET (VnNpuNode, read) },
  { "write", G_STRUCT_OFFSET (VnNpuNode, write) },
};

static void
run_file_add_npu_node (JsonBuilder     *json,
                       const VnNpuNode *node)
{
  json_builder_begin_object (json);
  vn_json_add_text (json, "node", node->node);
  vn_json_add_text (json, "type", node->op_type);
  for (guint i = 0; i < G_N_ELEMENTS (npu_numbers); i++)
    if (G_STRUCT_MEMBER (int, node, npu_numbers[i].offset) != VN_NPU_NONE)
      vn_json_add_int (json, npu_numbers[i].id, G_STRUCT_MEMBER (int, node, npu_numbers[i].offset));
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
  json_builder_end_object (json);
}

void
_vn_run_file_add_plan (JsonBuilder *json,
                       VnQuantPlan *plan)
{
  json_builder_begin_object (json);
  vn_json_begin_array (json, "tensors");
  for (guint i = 0; i < vn_quant_plan_get_n (plan); i++)
    if (vn_quant_plan_get (plan, i)->role == VN_TENSOR_ACTIVATION)
      run_file_add_tensor (json, vn_quant_plan_get (plan, i));
  json_builder_end_array (json);
  vn_json_begin_array (json, "npu");
  for (guint i = 0; i < vn_quant_plan_get_n_npu_nodes (plan); i++)
    run_file_add_npu_node (json, vn_quant_plan_get_npu_node (plan, i));
  json_builder_end_array (json);
  json_builder_end_object (json);
}

static int
run_file_get_int (VnJsonFields *fields,
                  const char   *id)
{
  const double number = vn_json_fields_get_double (fields, id);

  return number >= -1e9 && number <= 1e9 ? (int) number : 0;
}

static void
run_file_read_tensor (gpointer      to,
                      VnJsonFields *fields)
{
  g_autofree char *name = vn_json_fields_dup_text (fields, "tensor"), *dtype = vn_json_fields_dup_text_if (fields, "dtype");
  const gboolean has_scale = vn_json_fields_has (fields, "scale");
  const float scale = has_scale ? (float) vn_json_fields_get_double (fields, "scale") : 0;
  const gint64 zero_point = has_scale ? run_file_get_int (fields, "zero-point") : 0;
  VnTensorPlan *plan;

  if (fields->error != NULL)
    return;
  plan = &vn_quant_plan_add (to, name, VN_TENSOR_ACTIVATION)->tensor;
  plan->min = vn_json_fields_get_double (fields, "min");
  plan->max = vn_json_fields_get_double (fields, "max");
  plan->rule = vn_json_fields_dup_text_if (fields, "rule");
  plan->dtype = dtype != NULL ? vn_dtype_from_name (dtype) : VN_DTYPE_UNDEFINED;
  if (plan->dtype == VN_DTYPE_UNDEFINED)
    return;
  plan->quantized = TRUE;
  if (!has_scale)
    return;
  plan->scale = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE_SCALAR, NULL);
  ((float *) plan->scale->data)[0] = scale;
  plan->zero_point = vn_tensor_new (VN_DTYPE_S64, &VN_SHAPE_SCALAR, NULL);
  ((gint64 *) plan->zero_point->data)[0] = zero_point;
}

static void
run_file_read_move (gpointer      to,
                    VnJsonFields *fields)
{
  g_autofree char *rule = vn_json_fields_dup_text (fields, "rule"), *reason = vn_json_fields_dup_text (fields, "reason");
  g_autofree char *tensor = vn_json_fields_dup_text (fields, "tensor");
  const int from = run_file_get_int (fields, "from"), end = run_file_get_int (fields, "to");

  if (fields->error == NULL)
    vn_npu_node_add_move (to, tensor, from, end, g_intern_string (rule), g_intern_string (reason));    /* which are few */
}

static void
run_file_read_npu_node (gpointer      to,
                        VnJsonFields *fields)
{
  g_autofree char *label = vn_json_fields_dup_text (fields, "node"), *op_type = vn_json_fields_dup_text (fields, "type");
  VnNpuNode *node;

  if (fields->error != NULL)
    return;
  node = vn_npu_node_new_named (label, op_type);
  g_ptr_array_add (((VnQuantPlan *) to)->npu_nodes, node);
  for (guint i = 0; i < G_N_ELEMENTS (npu_numbers); i++)
    if (vn_json_fields_has (fields, npu_numbers[i].id))
      G_STRUCT_MEMBER (int, node, npu_numbers[i].offset) = run_file_get_int (fields, npu_numbers[i].id);
  _vn_run_file_read_each (fields, "moves", run_file_read_move, node);
}

VnQuantPlan *
_vn_run_file_read_plan (VnJsonFields *fields)
{
  VnQuantPlan *plan = vn_quant_plan_new (0);

  _vn_run_file_read_each (fields, "tensors", run_file_read_tensor, plan);
  _vn_run_file_read_each (fields, "npu", run_file_read_npu_node, plan);
  return plan;
}

/* ---- ONNX Runtime ---- */

static void
run_file_add_kernel (JsonBuilder         *json,
                     const VnRuntimeNode *node)
{
  json_builder_begin_object (json);
  vn_json_add_text (json, "node", node->label);
  vn_json_add_text (json, "output", node->output);
  vn_json_add_text (json, "type", node->op_type);
  vn_json_add_text_if (json, "kernel", node->kernel);
  vn_json_add_text_if (json, "into", node->into);
  vn_json_add_text (json, "kind", vn_runtime_kind_get_id (node->kind));
  if (node->reason != VN_RUNTIME_REASON_NONE)
    vn_json_add_text (json, "reason", vn_runtime_reason_get_id (node->reason));
  _vn_run_file_add_flag (json, "converts", node->converts);
  vn_json_add_number (json, "macs", node->macs);
  vn_json_add_number (json, "seconds", node->seconds);
  json_builder_end_object (json);
}

void
_vn_run_file_add_forecast (JsonBuilder       *json,
                           VnRuntimeForecast *forecast)
{
  json_builder_begin_object (json);
  vn_json_add_number (json, "macs", forecast->macs);
  vn_json_add_number (json, "integer-macs", forecast->integer_macs);
  vn_json_add_number (json, "seconds", forecast->seconds);
  vn_json_add_number (json, "conversion-seconds", forecast->conversion_seconds);
  vn_json_add_number (json, "float-seconds", forecast->float_seconds);
  vn_json_add_bool (json, "observed", forecast->observed);
  vn_json_begin_array (json, "nodes");
  for (guint i = 0; i < forecast->nodes->len; i++)
    run_file_add_kernel (json, g_ptr_array_index (forecast->nodes, i));
  json_builder_end_array (json);
  json_builder_end_object (json);
}

static void
run_file_read_kernel (gpointer      to,
                      VnJsonFields *fields)
{
  g_autofree char *kind = vn_json_fields_dup_text (fields, "kind"), *reason = vn_json_fields_dup_text_if (fields, "reason");
  VnRuntimeNode *node = g_new0 (VnRuntimeNode, 1);
  gboolean has_all;

  node->label = vn_json_fields_dup_text (fields, "node");
  node->output = vn_json_fields_dup_text (fields, "output");
  node->op_type = vn_json_fields_dup_text (fields, "type");
  node->kernel = vn_json_fields_dup_text_if (fields, "kernel");
  node->into = vn_json_fields_dup_text_if (fields, "into");
  for (VnRuntimeKind i = 0; kind != NULL && i < VN_N_RUNTIME_KINDS; i++)
    if (g_str_equal (kind, vn_runtime_kind_get_id (i)))
      node->kind = i;
  for (VnRuntimeReason i = 0; reason != NULL && i < VN_N_RUNTIME_REASONS; i++)
    if (g_str_equal (reason, vn_runtime_reason_get_id (i)))
      node->reason = i;
  node->converts = _vn_run_file_get_flag (fields, "converts");
  node->macs = vn_json_fields_get_double (fields, "macs");
  node->seconds = vn_json_fields_get_double (fields, "seconds");
  has_all = node->label != NULL && node->output != NULL && node->op_type != NULL;
  if (!has_all)     /* an error: all of it is given up, but rows must be whole until then */
    {
      node->label = node->label != NULL ? node->label : g_strdup ("");
      node->output = node->output != NULL ? node->output : g_strdup ("");
      node->op_type = node->op_type != NULL ? node->op_type : g_strdup ("");
    }
  vn_runtime_forecast_add (to, node);
}

VnRuntimeForecast *
_vn_run_file_read_forecast (VnJsonFields *fields)
{
  VnRuntimeForecast *forecast = vn_runtime_forecast_new_empty ();

  forecast->macs = vn_json_fields_get_double (fields, "macs");
  forecast->integer_macs = vn_json_fields_get_double (fields, "integer-macs");
  forecast->seconds = vn_json_fields_get_double (fields, "seconds");
  forecast->conversion_seconds = vn_json_fields_get_double (fields, "conversion-seconds");
  forecast->float_seconds = vn_json_fields_get_double (fields, "float-seconds");
  forecast->observed = vn_json_fields_get_bool (fields, "observed");
  _vn_run_file_read_each (fields, "nodes", run_file_read_kernel, forecast);
  return forecast;
}
