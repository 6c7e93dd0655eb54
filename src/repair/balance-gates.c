/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of one tensor that are several nodes, behind convolutions and products: x sigmoid (x), x hardsigmoid (x), and the
 * same in smaller steps; and what products read in transformers that nothing in front takes factors of: normalizations without a
 * scale, Gelu. */
#include "balance-graph.h"

#define MOST_NODES 8

static gboolean
balance_gates_is_elementwise (const VnNode *node)
{
  static const char * const types[] = { "Sigmoid", "HardSigmoid", "HardSwish", "Tanh", "Softplus", "Exp", "Erf", "Elu", "Add",
                                        "Sub", "Mul",
                                        "Div", "Clip", "Min", "Max", NULL };

  return *node->domain == '\0' && g_strv_contains (types, node->op_type) && node->outputs->len == 1;
}

/* ONNX Runtime has no operator on integers for these, which would fail on scales per channel. */
static gboolean
balance_gates_is_whole (const VnNode *node)
{
  static const char * const types[] = { "HardSwish", "Elu", "Softplus", "Exp", "Erf", NULL };

  return g_strv_contains (types, node->op_type);
}

static gboolean
balance_gates_is_number (const VnValue *value)
{
  const VnTensor *constant = vn_value_get_constant (value);

  return constant != NULL && constant->n_elements == 1;
}

static gboolean
balance_gates_holds (const VnBalanceGate *gate,
                     const VnValue       *value)
{
  return value == gate->input || (value->producer != NULL && g_ptr_array_find (gate->nodes, value->producer, NULL));
}

/* Whether @node computes from nothing but the tensor, and what was made of it. */
static gboolean
balance_gates_may_add (const VnBalanceGate *gate,
                       const VnNode        *node)
{
  if (node->graph != gate->input->graph || !balance_gates_is_elementwise (node) || g_ptr_array_find (gate->nodes, node, NULL))
    return FALSE;
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (node, i);

      if (input != NULL && !balance_gates_is_number (input) && !balance_gates_holds (gate, input))
        return FALSE;
    }
  return TRUE;
}

static gboolean
balance_gates_is_product (const VnNode *node)
{
  return vn_node_is (node, "Mul") && !vn_value_is_constant (vn_node_get_input (node, 0)) &&
         !vn_value_is_constant (vn_node_get_input (node, 1));
}

/* The one result that others read; NULL: there are several, or the function is not whole yet. */
static const VnValue *
balance_gates_find_output (const VnBalanceGate *gate)
{
  const VnValue *found = NULL;
  gboolean whole = FALSE;

  for (guint i = 0; i < gate->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (gate->nodes, i);
      const VnValue *output = vn_node_get_output (node, 0);
      gboolean leaves = output->is_output;

      whole = whole || balance_gates_is_whole (node) || balance_gates_is_product (node);
      for (guint k = 0; k < output->uses->len; k++)
        leaves = leaves || !g_ptr_array_find (gate->nodes, g_array_index (output->uses, VnUse, k).node, NULL);
      if (leaves && found != NULL)
        return NULL;
      found = leaves ? output : found;
    }
  return whole ? found : NULL;
}

static VnNode *
balance_gates_find_next (const VnBalanceGate *gate)
{
  for (guint i = 0; i <= gate->nodes->len; i++)
    {
      const VnValue *value = i == 0 ? gate->input : vn_node_get_output (g_ptr_array_index (gate->nodes, i - 1), 0);

      for (guint k = 0; k < value->uses->len; k++)
        {
          VnNode *node = g_array_index (value->uses, VnUse, k).node;

          if (balance_gates_may_add (gate, node))
            return node;
        }
    }
  return NULL;
}

/* Division by a number behind the product belongs to it: x clip (x + 3, 0, 6) / 6. */
static void
balance_gates_take_scale (VnBalanceGate *gate)
{
  VnNode *node = gate->output->uses->len == 1 && !gate->output->is_output
                 ? g_array_index (gate->output->uses, VnUse, 0).node : NULL;

  if (node == NULL || gate->nodes->len >= MOST_NODES || !(vn_node_is (node, "Div") || vn_node_is (node, "Mul")) ||
      vn_node_get_input (node, 0) != gate->output || !balance_gates_may_add (gate, node))
    return;
  g_ptr_array_add (gate->nodes, node);
  gate->output = vn_node_get_output (node, 0);
}

static void
balance_gates_free (VnBalanceGate *gate)
{
  g_ptr_array_unref (gate->nodes);
  g_free (gate);
}

static VnBalanceGate *
balance_gates_grow (const VnValue *input)
{
  VnBalanceGate *gate = g_new0 (VnBalanceGate, 1);

  gate->input = input;
  gate->nodes = g_ptr_array_new ();
  for (guint i = 0; i < MOST_NODES && gate->output == NULL; i++)
    {
      VnNode *node = balance_gates_find_next (gate);

      if (node == NULL)
        break;
      g_ptr_array_add (gate->nodes, node);
      gate->output = balance_gates_find_output (gate);
    }
  if (gate->output != NULL)
    {
      balance_gates_take_scale (gate);
      return gate;
    }
  balance_gates_free (gate);
  return NULL;
}

static gboolean
balance_gates_has_writer (const VnBalanceGraph *self,
                          const VnValue        *value)
{
  VnBalanceWriter writer;

  return vn_balance_find_writer (value, self->axis[value->id], &writer);
}

/* Whether channels of the last axis are read by nothing but weights, and could not be divided so far. */
static gboolean
balance_gates_feeds_weights (const VnBalanceGraph *self,
                             const VnValue        *value)
{
  const VnNode *node = value->producer;

  if (self->n[value->id] == 0 || self->axis[value->id] != value->type.shape.rank - 1 || self->whole[value->id] != NULL ||
      value->is_output ||
      value->uses->len == 0 || node == NULL || node->outputs->len != 1 || g_hash_table_contains (self->between, node) ||
      balance_gates_has_writer (self, value) || vn_balance_graph_find_gate (self, value) != NULL)
    return FALSE;
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);

      if (vn_balance_graph_get_role (self, use->node, use->index) != VN_BALANCE_WEIGHT)
        return FALSE;
    }
  return TRUE;
}

/* What kernels on integers compute would have to be computed in float. */
static gboolean
balance_gates_stays_float (const VnNode *node)
{
  static const char * const types[] = { "Gelu", "FastGelu", "QuickGelu", "BiasGelu", "Div", "Erf", "Tanh", "HardSwish",
                                        "LayerNormalization",
                                        "SimplifiedLayerNormalization", "RMSNormalization", NULL };

  return g_strv_contains (types, node->op_type);
}

static void
balance_gates_find_sources (VnBalanceGraph *self)
{
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);
      VnBalanceGate *gate;

      if (!balance_gates_feeds_weights (self, value) || !balance_gates_stays_float (value->producer))
        continue;
      gate = g_new0 (VnBalanceGate, 1);
      gate->input = vn_node_get_input (value->producer, 0);
      gate->output = value;
      gate->nodes = g_ptr_array_new ();
      g_ptr_array_add (gate->nodes, value->producer);
      g_ptr_array_add (self->gates, gate);
      g_hash_table_add (self->between, value->producer);
    }
}

/*< private >
 * vn_balance_graph_find_gates:
 *
 * Finds the functions that stand behind convolutions, and others whose results can be divided behind them. What several nodes of
 * a function hold has no channels of its own any more.
 */
void
vn_balance_graph_find_gates (VnBalanceGraph *self)
{
  g_return_if_fail (self != NULL);

  self->gates = g_ptr_array_new_with_free_func ((GDestroyNotify) balance_gates_free);
  self->between = g_hash_table_new (NULL, NULL);
  for (guint i = 0; self->restores && i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);
      VnBalanceGate *gate = self->n[value->id] > 0 && vn_balance_is_written_by_layer (value, self->axis[value->id])
                            ? balance_gates_grow (value) : NULL;

      if (gate != NULL && self->n[gate->output->id] == self->n[value->id])
        {
          g_ptr_array_add (self->gates, gate);
          for (guint k = 0; k < gate->nodes->len; k++)
            {
              const VnValue *inner = vn_node_get_output (g_ptr_array_index (gate->nodes, k), 0);

              g_hash_table_add (self->between, g_ptr_array_index (gate->nodes, k));
              self->n[inner->id] = inner == gate->output ? self->n[inner->id] : 0;
            }
        }
      else if (gate != NULL)
        balance_gates_free (gate);
    }
  if (self->restores)
    balance_gates_find_sources (self);
}

/*< private >
 * vn_balance_graph_find_gate:
 *
 * Returns: (transfer none) (nullable): the function that writes @output
 */
const VnBalanceGate *
vn_balance_graph_find_gate (const VnBalanceGraph *self,
                            const VnValue        *output)
{
  g_return_val_if_fail (self != NULL, NULL);

  for (guint i = 0; i < self->gates->len; i++)
    if (((const VnBalanceGate *) g_ptr_array_index (self->gates, i))->output == output)
      return g_ptr_array_index (self->gates, i);
  return NULL;
}
