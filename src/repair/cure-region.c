/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes around a tensor that a cure speaks of: what computes it and what reads it, and across nodes that only hand on. */
#include "cure-region.h"

/* Nodes that hand on, one behind the other. */
#define MAX_DEPTH 4u

/* Whether a node computes each of its numbers from few of one tensor, without weights: then its result is as bad as what it
 * reads. */
static gboolean
cure_region_hands_on (const VnNode *node)
{
  guint n = 0;

  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (node, i);

      n += input != NULL && !vn_value_is_constant (input);
    }
  return n == 1 && !vn_node_is (node, "Conv") && !vn_node_is (node, "ConvTranspose") && !vn_node_is (node, "Gemm") &&
         !vn_node_is (node, "MatMul") && !vn_node_has_graphs (node);
}

static gboolean
cure_region_take (GPtrArray    *nodes,
                  const VnNode *node)
{
  if (g_ptr_array_find (nodes, node, NULL))
    return FALSE;
  g_ptr_array_add (nodes, (gpointer) node);
  return TRUE;
}

static void
cure_region_go_back (GPtrArray     *nodes,
                     const VnValue *value,
                     guint          depth)
{
  const VnNode *node = value->producer;

  if (node == NULL || !cure_region_take (nodes, node) || depth == 0 || !cure_region_hands_on (node))
    return;
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (node, i);

      if (input != NULL && !vn_value_is_constant (input) && input->graph == value->graph)
        cure_region_go_back (nodes, input, depth - 1);
    }
}

static void
cure_region_go_on (GPtrArray     *nodes,
                   const VnValue *value,
                   guint          depth)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, i).node;

      if (node->graph != value->graph || !cure_region_take (nodes, node) || depth == 0 || !cure_region_hands_on (node))
        continue;
      for (guint k = 0; k < node->outputs->len; k++)
        if (vn_node_get_output (node, k) != NULL)
          cure_region_go_on (nodes, vn_node_get_output (node, k), depth - 1);
    }
}

/*< private >
 * _vn_cure_list_nodes:
 * @value: an activation, or a constant
 *
 * Returns: (transfer container) (element-type VnNode): what writes it and what reads it
 */
GPtrArray *
_vn_cure_list_nodes (const VnValue *value)
{
  GPtrArray *nodes = g_ptr_array_new ();

  g_return_val_if_fail (value != NULL, nodes);

  cure_region_go_back (nodes, value, MAX_DEPTH);
  cure_region_go_on (nodes, value, vn_value_is_constant (value) ? 0 : MAX_DEPTH);
  return nodes;
}

/*< private >
 * _vn_cure_list_tensors:
 *
 * Returns: (transfer container) (element-type VnValue): the activations that @nodes read and write, each once
 */
GPtrArray *
_vn_cure_list_tensors (GPtrArray *nodes)
{
  GPtrArray *values = g_ptr_array_new ();

  g_return_val_if_fail (nodes != NULL, values);

  for (guint i = 0; i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);

      for (guint k = 0; k < node->inputs->len + node->outputs->len; k++)
        {
          VnValue *value = k < node->inputs->len ? vn_node_get_input (node, k) : vn_node_get_output (node, k - node->inputs->len);

          if (value != NULL && !vn_value_is_constant (value) && value->graph == node->graph &&
              !g_ptr_array_find (values, value, NULL))
            g_ptr_array_add (values, value);
        }
    }
  return values;
}
