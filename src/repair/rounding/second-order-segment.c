/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The quantized network between two stops. Packing all weights of a network again for each stop would take the square of its
 * depth: where only weights become integers, those that do not run there stay float, which changes no value that does. */
#include "second-order-private.h"

#include "vn-format-traits.h"
#include "vn-moe.h"
#include "vn-quant-plan.h"

/* (transfer full): the nodes that run up to the stop: what its layers read is computed from values that are kept, and from what
 * is not. */
static GHashTable *
second_order_find_running (const VnSecondOrder *self,
                           guint                at)
{
  const VnSecondOrderStop *stop = g_ptr_array_index (self->stops, at);
  GHashTable *running = g_hash_table_new (NULL, NULL);
  g_autoptr(GPtrArray) values = g_ptr_array_new ();

  for (guint i = stop->first; i < stop->last; i++)
    {
      const VnWeightLayer *layer = ((const VnRoundedLayer *) g_ptr_array_index (self->layers, i))->layer;

      g_ptr_array_extend_and_steal (values, vn_layer_walk_list_reads (layer->node));
    }
  while (values->len > 0)
    {
      const VnValue *value = g_ptr_array_steal_index_fast (values, values->len - 1);
      VnNode *node = value->producer;

      if (node != NULL && node->graph == self->model->graph && !vn_layer_walk_keeps (self->walks[0], value->name) &&
          g_hash_table_add (running, node))
        g_ptr_array_extend_and_steal (values, vn_layer_walk_list_reads (node));
    }
  return running;
}

/* Whether a node that reads a weight may run before the stop. Experts run before their stop and behind it. */
static gboolean
second_order_may_run (const VnSecondOrder *self,
                      const VnNode        *node,
                      GHashTable          *running)
{
  return node->graph != self->model->graph || g_hash_table_contains (running, node) || vn_moe_find_inputs (node) != NULL;
}

static gboolean
second_order_is_idle (const VnSecondOrder *self,
                      const VnQuantRow    *row,
                      GHashTable          *running)
{
  const VnValue *weight = vn_graph_find_value (self->model->graph, row->tensor.name);

  if (!row->tensor.quantized || weight == NULL || weight->initializer == NULL || row->tied != NULL)
    return FALSE;
  for (guint i = 0; i < weight->uses->len; i++)
    if (second_order_may_run (self, g_array_index (weight->uses, VnUse, i).node, running))
      return FALSE;
  return TRUE;
}

/* (transfer container): rows of the plan that stay float. A table may be stored as the matrix that it is tied to. */
static GPtrArray *
second_order_list_idle (const VnSecondOrder *self,
                        guint                stop)
{
  VnQuantPlan *plan = self->input->plan;
  g_autoptr(GHashTable) running = second_order_find_running (self, stop);
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

      if (!g_hash_table_contains (tied, row->tensor.name) && second_order_is_idle (self, row, running))
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
