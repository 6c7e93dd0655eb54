/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The quantized network between two stops. Packing all weights of a network again for each stop would take the square of its
 * depth: where only weights become integers, those that do not run there stay float, which changes no value that does. */
#include "second-order-private.h"

#include "vn-format-traits.h"
#include "vn-moe.h"
#include "vn-quant-plan.h"

/* (transfer container): what a node reads, in graphs inside it, too. */
static GPtrArray *
second_order_list_reads (const VnNode *node)
{
  GPtrArray *reads = vn_node_list_captured (node);

  for (guint i = 0; i < node->inputs->len; i++)
    if (vn_node_get_input (node, i) != NULL)
      g_ptr_array_add (reads, vn_node_get_input (node, i));
  return reads;
}

static void
second_order_reach (VnSecondOrder *self,
                    GPtrArray     *stack,
                    VnNode        *node,
                    guint          stop)
{
  if (node == NULL || node->graph != self->model->graph || self->runs_before[node->index] <= stop)
    return;
  self->runs_before[node->index] = stop;
  g_ptr_array_add (stack, node);
}

/* All that is needed for what the layers of a stop read; experts tell it themselves. */
static void
second_order_place_stop (VnSecondOrder *self,
                         guint          at)
{
  const VnSecondOrderStop *stop = g_ptr_array_index (self->stops, at);
  g_autoptr(GPtrArray) stack = g_ptr_array_new ();

  for (guint i = stop->first; i < stop->last; i++)
    {
      const VnWeightLayer *layer = ((const VnRoundedLayer *) g_ptr_array_index (self->layers, i))->layer;
      const VnValue *read = vn_node_get_input (layer->node, 0);

      if (layer->is_experts)
        second_order_reach (self, stack, (VnNode *) layer->node, at);
      else if (read != NULL)
        second_order_reach (self, stack, read->producer, at);
    }
  while (stack->len > 0)
    {
      g_autoptr(GPtrArray) reads = second_order_list_reads (g_ptr_array_steal_index_fast (stack, stack->len - 1));

      for (guint i = 0; i < reads->len; i++)
        second_order_reach (self, stack, ((VnValue *) g_ptr_array_index (reads, i))->producer, at);
    }
}

/*< private >
 * vn_second_order_place_nodes:
 *
 * Finds out which nodes run before which stop.
 */
void
vn_second_order_place_nodes (VnSecondOrder *self)
{
  guint n;

  g_return_if_fail (self != NULL && self->runs_before == NULL);

  n = self->model->graph->nodes->len;
  self->runs_before = g_new (guint, n + 1);
  for (guint i = 0; i < n; i++)
    self->runs_before[i] = self->stops->len;
  for (guint i = 0; i < self->stops->len; i++)
    second_order_place_stop (self, i);
}

/* Whether a node that reads a weight may run before the stop. What depends on no input is computed wherever it is read, and
 * experts run before their stop and behind it. */
static gboolean
second_order_may_run (const VnSecondOrder *self,
                      const VnNode        *node,
                      guint                stop)
{
  if (node->graph != self->model->graph || self->runs_before[node->index] == stop || vn_moe_find_inputs (node) != NULL)
    return TRUE;
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (node, i);

      if (input != NULL && input->initializer == NULL)
        return FALSE;
    }
  return TRUE;
}

static gboolean
second_order_is_idle (const VnSecondOrder *self,
                      const VnQuantRow    *row,
                      guint                stop)
{
  const VnValue *weight = vn_graph_find_value (self->model->graph, row->tensor.name);

  if (!row->tensor.quantized || weight == NULL || weight->initializer == NULL || row->tied != NULL)
    return FALSE;
  for (guint i = 0; i < weight->uses->len; i++)
    if (second_order_may_run (self, g_array_index (weight->uses, VnUse, i).node, stop))
      return FALSE;
  return TRUE;
}

/* (transfer container): rows of the plan that stay float. A table may be stored as the matrix that it is tied to. */
static GPtrArray *
second_order_list_idle (const VnSecondOrder *self,
                        guint                stop)
{
  VnQuantPlan *plan = self->input->plan;
  g_autoptr(GHashTable) tied = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *idle = g_ptr_array_new ();

  for (guint i = 0; i < plan->rows->len; i++)
    {
      VnQuantRow *row = g_ptr_array_index (plan->rows, i);

      if (row->tied != NULL)
        g_hash_table_add (tied, row->tied);
    }
  for (guint i = 0; i < plan->rows->len; i++)
    {
      VnQuantRow *row = g_ptr_array_index (plan->rows, i);

      if (!g_hash_table_contains (tied, row->tensor.name) && second_order_is_idle (self, row, stop))
        g_ptr_array_add (idle, row);
    }
  return idle;
}

/*< private >
 * vn_second_order_write:
 * @stop: what does not run between the stop before it and this one may stay float; or %VN_SECOND_ORDER_WHOLE
 *
 * Returns: (transfer full) (nullable): the quantized network with the weights rounded so far
 */
VnModel *
vn_second_order_write (VnSecondOrder  *self,
                       guint           stop,
                       GError        **error)
{
  const VnRepairInput *input;
  g_autoptr(GPtrArray) idle = NULL;
  g_autoptr(VnModel) model = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  input = self->input;
  if (stop != VN_SECOND_ORDER_WHOLE && vn_recipe_get_format (input->recipe)->weights_only)
    idle = second_order_list_idle (self, stop);
  for (guint i = 0; idle != NULL && i < idle->len; i++)
    ((VnQuantRow *) g_ptr_array_index (idle, i))->tensor.quantized = FALSE;
  model = vn_quantize_write (self->model, input->recipe, input->plan, NULL, error);
  for (guint i = 0; idle != NULL && i < idle->len; i++)
    ((VnQuantRow *) g_ptr_array_index (idle, i))->tensor.quantized = TRUE;
  return model != NULL && vn_model_infer_for_samples (model, input->samples->shapes, error) ? g_steal_pointer (&model) : NULL;
}
