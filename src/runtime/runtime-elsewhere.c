/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes a runtime other than ONNX Runtime computes on integers, as far as a few rules and the pairs in the file say. */
#include "vn-runtime-private.h"

#include "vn-op.h"

#include <string.h>

/* What multiplies two tensors: kernels for these are what a quantized network is made for. */
static gboolean
elsewhere_is_product (const VnNode *node)
{
  return vn_node_is (node, "Conv") || vn_node_is (node, "ConvTranspose") || vn_node_is (node, "Gemm") ||
         vn_node_is (node, "MatMul");
}

/* Type of the integers that input @i was made from; %VN_DTYPE_UNDEFINED: it was made from none. */
static VnDType
elsewhere_get_type (const VnNode *node,
                    guint         i)
{
  VnNode *producer = vn_runtime_get_producer (node, i);

  return vn_runtime_is_dq (producer) ? vn_runtime_get_dtype (vn_node_get_input (producer, 0)) : VN_DTYPE_UNDEFINED;
}

static gboolean
elsewhere_is_wide (VnDType dtype)
{
  return dtype == VN_DTYPE_S16 || dtype == VN_DTYPE_U16;
}

static VnRuntimeReason
elsewhere_check_type (VnDType    dtype,
                      VnDTypeSet types)
{
  if (dtype == VN_DTYPE_UNDEFINED)
    return VN_RUNTIME_REASON_FLOAT_INPUT;
  if (types == 0 || (types >> dtype & 1) != 0)
    return VN_RUNTIME_REASON_NONE;
  return elsewhere_is_wide (dtype) ? VN_RUNTIME_REASON_SIXTEEN : VN_RUNTIME_REASON_TYPES;
}

/* Whether all that reads what @node gives reads the integers that are made of it. */
static gboolean
elsewhere_gives_integers (const VnNode *node)
{
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *output = vn_node_get_output (node, i);

      if (output == NULL)
        continue;
      if (output->is_output || output->uses->len == 0)
        return FALSE;
      for (guint u = 0; u < output->uses->len; u++)
        if (!vn_runtime_is_q (output->uses->data[u].node))
          return FALSE;
    }
  return TRUE;
}

static VnRuntimeReason
elsewhere_check_product (const VnNode         *node,
                         const VnRuntimeRules *rules)
{
  VnNode *factor = vn_runtime_get_producer (node, 1);
  VnRuntimeReason reason = elsewhere_check_type (elsewhere_get_type (node, 0), rules->activations);
  gboolean is_weight = vn_runtime_is_dq (factor) && vn_value_is_constant (vn_node_get_input (factor, 0));

  if (reason == VN_RUNTIME_REASON_NONE)
    reason = elsewhere_check_type (elsewhere_get_type (node, 1), is_weight ? rules->weights : rules->activations);
  if (reason != VN_RUNTIME_REASON_NONE || rules->inputs_alone || elsewhere_gives_integers (node))
    return reason;
  return VN_RUNTIME_REASON_FLOAT_OUTPUT;
}

/* @n: (out): how many inputs are made from integers */
static VnRuntimeReason
elsewhere_check_inputs (const VnRuntimeGraph *self,
                        const VnNode         *node,
                        const VnRuntimeRules *rules,
                        guint                *n)
{
  VnRuntimeReason reason = VN_RUNTIME_REASON_NONE;

  *n = 0;
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);
      VnDType dtype = elsewhere_get_type (node, i);

      if (value == NULL || (dtype == VN_DTYPE_UNDEFINED && vn_runtime_is_constant (self, value)))
        continue;
      *n += dtype != VN_DTYPE_UNDEFINED;
      if (reason == VN_RUNTIME_REASON_NONE)
        reason = elsewhere_check_type (dtype, rules->activations);
    }
  return reason;
}

/* Of what is no product: between pairs it is on integers, else in float; there is something to explain where only a part is
 * there. */
static VnRuntimeKind
elsewhere_judge_other (const VnRuntimeGraph *self,
                       const VnNode         *node,
                       const VnRuntimeRules *rules,
                       VnRuntimeReason      *reason)
{
  guint n;
  VnRuntimeReason inputs = elsewhere_check_inputs (self, node, rules, &n);

  if (rules->inputs_alone || n == 0)
    return VN_RUNTIME_FLOAT;
  *reason = inputs != VN_RUNTIME_REASON_NONE ? inputs
          : elsewhere_gives_integers (node) ? VN_RUNTIME_REASON_NONE : VN_RUNTIME_REASON_FLOAT_OUTPUT;
  return *reason == VN_RUNTIME_REASON_NONE ? VN_RUNTIME_INTEGER : VN_RUNTIME_FLOAT;
}

static void
elsewhere_judge (const VnRuntimeGraph *self,
                 const VnNode         *node,
                 const VnRuntimeRules *rules,
                 VnRuntimeNode        *row)
{
  const gboolean is_product = elsewhere_is_product (node);

  if (row->converts || vn_node_is (node, "Constant"))
    return;
  if (rules->floats != NULL && g_strv_contains (rules->floats, node->op_type))
    row->reason = VN_RUNTIME_REASON_NO_KERNEL;
  else if (is_product)
    row->reason = elsewhere_check_product (node, rules);
  else
    row->kind = elsewhere_judge_other (self, node, rules, &row->reason);
  if (!is_product)
    return;
  row->kind = row->reason == VN_RUNTIME_REASON_NONE ? VN_RUNTIME_INTEGER : VN_RUNTIME_FLOAT;
  if (row->kind == VN_RUNTIME_INTEGER && (elsewhere_is_wide (elsewhere_get_type (node, 0)) ||
                                          elsewhere_is_wide (elsewhere_get_type (node, 1))))
    row->reason = VN_RUNTIME_REASON_SIXTEEN;
}

/**
 * vn_runtime_forecast_new_elsewhere:
 * @model: a network with pairs; left alone
 * @input_shapes: as vn_model_infer_types()
 * @rules: what is known of the runtime
 *
 * Returns: (transfer full): what that runtime will compute on integers, without times; a product on 16 bit integers has the
 *   reason %VN_RUNTIME_REASON_SIXTEEN all the same. %NULL with @error set as by vn_runtime_forecast_new()
 */
VnRuntimeForecast *
vn_runtime_forecast_new_elsewhere (const VnModel         *model,
                                   GHashTable            *input_shapes,
                                   const VnRuntimeRules  *rules,
                                   GError               **error)
{
  g_auto(VnRuntimeGraph) graph = { NULL };
  g_autoptr(VnRuntimeForecast) self = NULL;

  g_return_val_if_fail (model != NULL && rules != NULL, NULL);

  self = vn_runtime_forecast_new_empty ();
  if (!vn_runtime_graph_init (&graph, self, model, input_shapes, error))
    return NULL;
  for (guint i = 0; i < self->nodes->len; i++)
    {
      VnRuntimeNode *row = g_ptr_array_index (self->nodes, i);

      elsewhere_judge (&graph, g_ptr_array_index (graph.graph->nodes, i), rules, row);
      self->macs += row->macs;
      self->integer_macs += row->kind == VN_RUNTIME_INTEGER ? row->macs : 0;
    }
  return g_steal_pointer (&self);
}
