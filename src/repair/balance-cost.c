/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What balancing costs in ONNX Runtime, in nanoseconds of one core, roughly: products that give a tensor back or divide it again
 * run along the channels, as convolutions on integers keep these innermost. */
#include "balance-apply.h"

#define NS_PER_MAC     0.02
#define NS_PER_NUMBER  0.6
#define NS_PER_PRODUCT 2.5

static double
balance_cost_count (const VnValue *value)
{
  gint64 n = value != NULL && value->type.kind == VN_TYPE_TENSOR
             ? vn_shape_count (&value->type.shape, 0, value->type.shape.rank) : 0;

  return n > 0 ? (double) n : 0;
}

/*< private >
 * vn_balance_estimate_network:
 *
 * Returns: time of one run of the quantized network
 */
double
vn_balance_estimate_network (const VnGraph *graph)
{
  double sum = 0;

  g_return_val_if_fail (graph != NULL, 0);

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      const VnValue *weight = vn_node_get_input (node, 1);
      double n = balance_cost_count (vn_node_get_output (node, 0));

      if ((vn_node_is (node, "MatMul") || vn_node_is (node, "Gemm")) && weight != NULL && weight->initializer != NULL &&
          weight->initializer->shape.rank == 2)
        sum += NS_PER_MAC * n * (double) weight->initializer->shape.dims[vn_node_get_int (node, "transB", 0) != 0];
      if (vn_node_is (node, "Conv") && weight != NULL && weight->initializer != NULL && weight->initializer->shape.dims[0] > 0)
        sum += NS_PER_MAC * n * (double) weight->initializer->n_elements / (double) weight->initializer->shape.dims[0];
      sum += NS_PER_NUMBER * n;
    }
  return sum;
}

/*< private >
 * vn_balance_estimate_value:
 *
 * Returns: time that balancing @value adds: of one product for all that read it as it was, and one behind a function
 */
double
vn_balance_estimate_value (const VnBalanceGraph *graph,
                           const VnValue        *value)
{
  double n;
  gboolean restored = FALSE;

  g_return_val_if_fail (graph != NULL && value != NULL, 0);

  n = vn_balance_graph_find_gate (graph, value) != NULL ? 1 : 0;
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);

      restored = restored || vn_balance_graph_get_role (graph, use->node, use->index) == VN_BALANCE_RESTORES;
    }
  return (n + restored) * balance_cost_count (value) * NS_PER_PRODUCT;
}
