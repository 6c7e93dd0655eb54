/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes factors into a network: the weights in front of a tensor are divided by them, those behind multiplied; what must read
 * the tensor as it was reads a product, which the quantizer makes part of a DequantizeLinear. */
#include "balance-apply.h"

#include "vn-graph-edit.h"
#include "vn-memory.h"

typedef struct
{
  const VnBalanceGraph *graph;      /* of the network before */
  const gboolean       *chosen;
  VnGraph              *after;
  GPtrArray            *nodes;      /* of @after, by index in the network before */
} Apply;

/* ---- factors ---- */

static double
balance_apply_get_factor (const Apply   *self,
                          const VnValue *value,
                          guint          channel)
{
  const VnBalanceChannel *found = vn_balance_graph_get_channel (self->graph, value, channel);

  return found->pinned || found->unit == G_MAXUINT || (self->chosen != NULL && !self->chosen[found->unit]) ? 1 : found->factor;
}

static gboolean
balance_apply_has_factors (const Apply   *self,
                           const VnValue *value)
{
  for (guint c = 0; value != NULL && value->graph == self->graph->graph && c < self->graph->n[value->id]; c++)
    if (balance_apply_get_factor (self, value, c) != 1)
      return TRUE;
  return FALSE;
}

/* The constant that input @index of @node reads becomes its own. */
static void
balance_apply_set_constant (Apply     *self,
                            VnNode    *node,
                            guint      index,
                            VnTensor  *tensor)
{
  VnValue *value = vn_node_get_input (node, index);
  g_autofree char *base = NULL;

  if (value->uses->len == 1 && value->initializer != NULL && value->graph == self->after)
    {
      vn_graph_set_initializer (self->after, value, tensor);
      return;
    }
  base = g_strconcat (value->name, "_balanced", NULL);
  vn_node_set_input (node, index, vn_graph_add_initializer (self->after, base, tensor));
}

/* Multiplies the numbers of a constant by the factors of @value, or divides them. Number i belongs to channel
 * i / @inner mod @n, behind the first of its group. */
static gboolean
balance_apply_scale (Apply          *self,
                     VnNode         *node,
                     guint           index,
                     const VnValue  *value,
                     gsize           inner,
                     gsize           n,
                     gsize           group_size,
                     gboolean        divide,
                     GError        **error)
{
  g_autoptr(VnTensor) data = vn_tensor_get_aligned (vn_value_get_constant (vn_node_get_input (node, index)), error);
  g_autoptr(VnTensor) scaled = data != NULL ? vn_tensor_new (VN_DTYPE_F32, &data->shape, error) : NULL;

  if (scaled == NULL)
    return FALSE;
  for (gsize i = 0; i < scaled->n_elements; i++)
    {
      double factor = balance_apply_get_factor (self, value, (guint) (i / inner % n + (group_size > 0 ? i / group_size * n : 0)));
      double x = (double) ((const float *) data->data)[i];

      ((float *) scaled->data)[i] = (float) (divide ? x / factor : x * factor);
    }
  balance_apply_set_constant (self, node, index, scaled);
  return TRUE;
}

/* ---- in front ---- */

static gboolean
balance_apply_in_front (Apply                  *self,
                        VnNode                 *node,
                        const VnValue          *value,
                        const VnBalanceWriter  *writer,
                        GError                **error)
{
  return balance_apply_scale (self, node, (guint) writer->weight, value, writer->inner, self->graph->n[value->id], 0, TRUE,
                              error) &&
         (writer->bias < 0 || balance_apply_scale (self, node, (guint) writer->bias, value, 1, self->graph->n[value->id], 0, TRUE,
                                                   error));
}

/* The clamp of a channel is where that of the channel with the largest factor was. */
static gboolean
balance_apply_to_clip (Apply          *self,
                       VnNode         *node,
                       const VnValue  *value,
                       GError        **error)
{
  VnValue *high = vn_node_get_input (node, 2);
  g_autoptr(VnTensor) tensor = NULL;
  double largest = 0;
  float end;

  for (guint c = 0; c < self->graph->n[value->id]; c++)
    largest = MAX (largest, balance_apply_get_factor (self, value, c));
  if (high == NULL)
    {
      if (vn_node_get_attr (node, "max") != NULL)
        vn_node_set_float (node, "max", (float) ((double) vn_node_get_float (node, "max", 0) / largest));
      return TRUE;
    }
  end = (float) (vn_tensor_get_double (vn_value_get_constant (high), 0) / largest);
  tensor = vn_tensor_new_copy (VN_DTYPE_F32, &vn_value_get_constant (high)->shape, &end, error);
  if (tensor == NULL)
    return FALSE;
  balance_apply_set_constant (self, node, 2, tensor);
  return TRUE;
}

/* ---- behind ---- */

static gboolean
balance_apply_to_weight (Apply          *self,
                         VnNode         *node,
                         const VnValue  *value,
                         GError        **error)
{
  const VnShape *shape = &vn_node_get_input (node, 1)->initializer->shape;
  gsize group = (gsize) MAX (vn_node_get_int (node, "group", 1), 1), taps = (gsize) vn_shape_count (shape, 2, shape->rank), n;

  if (vn_node_is (node, "Conv"))
    {
      n = (gsize) shape->dims[1];
      return balance_apply_scale (self, node, 1, value, taps, n, (gsize) shape->dims[0] / group * n * taps, FALSE, error);
    }
  if (vn_node_is (node, "Gemm") && vn_node_get_int (node, "transB", 0) != 0)
    return balance_apply_scale (self, node, 1, value, 1, (gsize) shape->dims[1], 0, FALSE, error);
  return balance_apply_scale (self, node, 1, value, (gsize) vn_shape_count (shape, 1, shape->rank), (gsize) shape->dims[0], 0,
                              FALSE, error);
}

/* Behind the node that writes @value one that multiplies its channels by the factors of @before, or divides them. */
static VnValue *
balance_apply_restore (Apply          *self,
                       const VnValue  *before,
                       VnValue        *value,
                       VnValue        *output,
                       VnChannelMark   mark,
                       GError        **error)
{
  guint n = self->graph->n[before->id];
  VnShape shape = { .rank = before->type.shape.rank };
  g_autofree char *name = g_strconcat (before->name, "_factors", NULL), *label = g_strconcat (before->name, "_Mul", NULL);
  g_autoptr(VnTensor) factors = NULL;
  VnValue *inputs[2] = { value };
  VnNode *behind = value->producer, *node;

  for (int i = 0; i < shape.rank; i++)
    shape.dims[i] = i == self->graph->axis[before->id] ? n : 1;
  factors = vn_tensor_new (VN_DTYPE_F32, &shape, error);
  if (factors == NULL)
    return NULL;
  for (guint c = 0; c < n; c++)
    {
      double factor = balance_apply_get_factor (self, before, c);

      ((float *) factors->data)[c] = (float) (mark == VN_CHANNELS_DIVIDE ? 1 / factor : factor);
    }
  inputs[1] = vn_graph_add_initializer (self->after, name, factors);
  node = vn_graph_insert_node (self->after, behind->index + 1 < self->after->nodes->len
                               ? g_ptr_array_index (self->after->nodes, behind->index + 1) : NULL,
                               label, "", "Mul", inputs, 2, &output, 1);
  node->channels = mark;
  return output;
}

/* An output of the network keeps its name; what writes it writes another tensor now. */
static VnValue *
balance_apply_detach_output (Apply    *self,
                             VnValue  *value)
{
  g_autofree char *name = g_strconcat (value->name, "_balanced", NULL);
  VnValue *inner = vn_graph_add_value (self->after, name, VN_DTYPE_F32, &value->type.shape);
  VnNode *producer = value->producer;
  guint index = value->output_index;

  vn_value_replace_uses (value, inner, NULL);
  vn_node_set_output (producer, index, inner);
  return inner;
}

static gboolean
balance_apply_to_use (Apply          *self,
                      const VnValue  *before,
                      const VnUse    *use,
                      VnValue        *value,
                      VnValue       **restored,
                      GError        **error)
{
  VnNode *node = g_ptr_array_index (self->nodes, use->node->index);
  g_autofree char *name = NULL;

  switch (vn_balance_graph_get_role (self->graph, use->node, use->index))
    {
    case VN_BALANCE_WEIGHT:
      return balance_apply_to_weight (self, node, before, error);
    case VN_BALANCE_CONSTANT:
      return balance_apply_scale (self, node, 1 - use->index, before, 1, self->graph->n[before->id], 0, TRUE, error);
    case VN_BALANCE_PASSES:
      return !vn_node_is (node, "Clip") || balance_apply_to_clip (self, node, before, error);
    case VN_BALANCE_RESTORES:
      if (*restored == NULL)
        {
          name = g_strconcat (before->name, "_restored", NULL);
          *restored = balance_apply_restore (self, before, value,
                                             vn_graph_add_value (self->after, name, VN_DTYPE_F32, &before->type.shape),
                                             VN_CHANNELS_RESTORE, error);
        }
      if (*restored != NULL)
        vn_node_set_input (node, use->index, *restored);
      return *restored != NULL;
    case VN_BALANCE_PINS:
    case VN_BALANCE_JOINS:
    case VN_BALANCE_SPLITS:
    case VN_BALANCE_SHUFFLES:
      break;
    }
  return TRUE;
}

/* What a function writes is divided behind it. */
static gboolean
balance_apply_behind_gate (Apply          *self,
                           const VnValue  *before,
                           VnValue        *value,
                           GError        **error)
{
  g_autofree char *name = g_strconcat (value->name, "_undivided", NULL);
  VnValue *inner = vn_graph_add_value (self->after, name, VN_DTYPE_F32, &before->type.shape);
  VnNode *producer = value->producer;

  vn_node_set_output (producer, 0, inner);
  return balance_apply_restore (self, before, inner, value, VN_CHANNELS_DIVIDE, error) != NULL;
}

/* What stands between tensors that were divided is computed in float. */
static void
balance_apply_mark_gates (Apply *self)
{
  for (guint i = 0; i < self->graph->gates->len; i++)
    {
      const VnBalanceGate *gate = g_ptr_array_index (self->graph->gates, i);
      gboolean behind = balance_apply_has_factors (self, gate->output);

      for (guint k = 0; k < gate->nodes->len && (behind || balance_apply_has_factors (self, gate->input)); k++)
        if (behind || k + 1 < gate->nodes->len)
          ((VnNode *) g_ptr_array_index (self->nodes, ((const VnNode *) g_ptr_array_index (gate->nodes, k))->index))->channels =
            VN_CHANNELS_BETWEEN;
    }
}

static gboolean
balance_apply_to_value (Apply          *self,
                        const VnValue  *before,
                        GError        **error)
{
  VnValue *value = g_hash_table_lookup (self->after->by_name, before->name), *restored = NULL;
  VnBalanceWriter writer;

  if (vn_balance_find_writer (before, self->graph->axis[before->id], &writer) &&
      !balance_apply_in_front (self, g_ptr_array_index (self->nodes, before->producer->index), before, &writer, error))
    return FALSE;
  if (vn_balance_graph_find_gate (self->graph, before) != NULL && !balance_apply_behind_gate (self, before, value, error))
    return FALSE;
  if (value->is_output)
    {
      restored = value;
      value = balance_apply_detach_output (self, value);
      if (balance_apply_restore (self, before, value, restored, VN_CHANNELS_RESTORE, error) == NULL)
        return FALSE;
    }
  for (guint i = 0; i < before->uses->len; i++)
    if (!balance_apply_to_use (self, before, &g_array_index (before->uses, VnUse, i), value, &restored, error))
      return FALSE;
  return TRUE;
}

/*< private >
 * vn_balance_apply:
 * @model: what @graph is of
 *
 * Returns: (transfer full) (nullable): a copy that computes the same, with the channels of the units that are chosen divided by
 *   their factors
 */
VnModel *
vn_balance_apply (const VnModel         *model,
                  const VnBalanceGraph  *graph,
                  const gboolean        *chosen,
                  GError               **error)
{
  g_autoptr(VnModel) after = NULL;
  g_autoptr(GPtrArray) nodes = g_ptr_array_new ();
  Apply self = { graph, chosen, NULL, nodes };

  g_return_val_if_fail (model != NULL && graph != NULL, NULL);

  after = vn_model_copy (model);
  self.after = after->graph;
  for (guint i = 0; i < after->graph->nodes->len; i++)
    g_ptr_array_add (nodes, g_ptr_array_index (after->graph->nodes, i));
  for (guint i = 0; i < model->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (model->graph->values, i);

      if (balance_apply_has_factors (&self, value) && !balance_apply_to_value (&self, value, error))
        return NULL;
    }
  balance_apply_mark_gates (&self);
  return g_steal_pointer (&after);
}
