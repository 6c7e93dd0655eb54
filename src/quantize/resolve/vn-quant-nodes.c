/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What single nodes and values allow, whatever the recipe says. */
#include "vn-quant-nodes.h"

/* What the peer takes for granted of one operator.
 * @since: first opset in which the operator computes on 8 bit data
 * @conversion: the tensor on its other side is quantized already
 * @unit_range: its fixed range replaces the observed one (the peer does so for this operator only) */
typedef struct
{
  const char *type;
  gint64      since;
  gboolean    conversion;
  gboolean    unit_range;
} Fact;

static const Fact facts[] = {
  { "MaxPool",          12, FALSE, FALSE },
  { "Resize",           11, FALSE, FALSE },
  { "Softmax",          1,  FALSE, TRUE },
  { "QuantizeLinear",   1,  TRUE,  FALSE },
  { "DequantizeLinear", 1,  TRUE,  FALSE },
};

static const Fact *
quant_nodes_find_fact (const VnNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (facts); i++)
    if (g_str_equal (facts[i].type, node->op_type))
      return &facts[i];
  return NULL;
}

/*< private >
 * vn_quant_is_conversion:
 *
 * Returns: whether @node converts between float and integers itself
 */
gboolean
vn_quant_is_conversion (const VnNode *node)
{
  const Fact *fact;

  g_return_val_if_fail (node != NULL, FALSE);

  fact = quant_nodes_find_fact (node);
  return fact != NULL && fact->conversion;
}

/*< private >
 * vn_quant_get_since:
 *
 * Returns: the first opset in which @node can work on quantized data
 */
gint64
vn_quant_get_since (const VnNode *node)
{
  const Fact *fact;

  g_return_val_if_fail (node != NULL, 0);

  fact = quant_nodes_find_fact (node);
  return fact != NULL ? fact->since : 1;
}

/*< private >
 * vn_quant_has_unit_range:
 *
 * Returns: whether the output's range is the operator's, not what the samples showed
 */
gboolean
vn_quant_has_unit_range (const VnNode *node)
{
  const Fact *fact;

  g_return_val_if_fail (node != NULL, FALSE);

  fact = quant_nodes_find_fact (node);
  return fact != NULL && fact->unit_range;
}

/*< private >
 * vn_quant_count_uses:
 *
 * Returns: inputs of nodes of the same graph that read @value; subgraphs read it in float whatever happens
 */
guint
vn_quant_count_uses (const VnValue *value)
{
  guint n = 0;

  g_return_val_if_fail (value != NULL, 0);

  for (guint i = 0; i < value->uses->len; i++)
    {
      if (g_array_index (value->uses, VnUse, i).node->graph == value->graph)
        n++;
    }
  return n;
}

/*< private >
 * vn_quant_has_uses:
 *
 * Returns: whether vn_quant_count_uses() of @value is more than 0
 */
gboolean
vn_quant_has_uses (const VnValue *value)
{
  g_return_val_if_fail (value != NULL, FALSE);

  for (guint i = 0; i < value->uses->len; i++)
    if (g_array_index (value->uses, VnUse, i).node->graph == value->graph)
      return TRUE;
  return FALSE;
}

/*< private >
 * vn_quant_is_sorted:
 *
 * Whether nodes stand behind what they read, so that the order of the file can be kept: decisions that depend on order
 * are then taken as onnxruntime.quantization takes them.
 */
gboolean
vn_quant_is_sorted (const VnGraph *graph)
{
  g_return_val_if_fail (graph != NULL, FALSE);

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint k = 0; k < node->inputs->len; k++)
        {
          const VnValue *value = vn_node_get_input (node, k);

          if (value != NULL && value->producer != NULL && value->graph == graph && value->producer->index >= i)
            return FALSE;
        }
    }
  return TRUE;
}
