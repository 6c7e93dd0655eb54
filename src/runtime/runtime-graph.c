/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looking at and changing the copy of a network that the optimizer's steps are done on. Nodes that are gone stay in the list,
 * without operator, inputs and outputs, so that a list of nodes stays valid through a step. */
#include "vn-runtime-private.h"

#define GONE ""

gboolean
vn_runtime_is_q (const VnNode *node)
{
  return node != NULL && g_str_equal (node->op_type, "QuantizeLinear") &&
         (g_str_equal (node->domain, "") || g_str_equal (node->domain, "com.microsoft"));
}

gboolean
vn_runtime_is_dq (const VnNode *node)
{
  return node != NULL && g_str_equal (node->op_type, "DequantizeLinear") &&
         (g_str_equal (node->domain, "") || g_str_equal (node->domain, "com.microsoft"));
}

/* From version 4 of the format on, an initializer that is an input as well may be given anew with each run. */
gboolean
vn_runtime_is_constant (const VnRuntimeGraph *self,
                        const VnValue        *value)
{
  return value != NULL && ((vn_value_is_constant (value) && (!value->is_input || self->model->ir_version < 4)) ||
                           g_hash_table_contains (self->folded, value));
}

const VnShape *
vn_runtime_get_shape (const VnValue *value)
{
  const VnTensor *tensor;

  if (value == NULL)
    return NULL;
  tensor = vn_value_get_constant (value);
  if (tensor != NULL)
    return &tensor->shape;
  return value->type.kind == VN_TYPE_TENSOR && value->type.shape.rank >= 0 ? &value->type.shape : NULL;
}

double
vn_runtime_count (const VnValue *value)
{
  const VnShape *shape = vn_runtime_get_shape (value);
  double n = 1;

  if (shape == NULL || !vn_shape_is_static (shape))
    return 0;
  for (int i = 0; i < shape->rank; i++)
    n *= (double) shape->dims[i];
  return n;
}

VnDType
vn_runtime_get_dtype (const VnValue *value)
{
  const VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;

  return tensor != NULL ? tensor->dtype : value != NULL ? value->type.dtype : VN_DTYPE_UNDEFINED;
}

/* As ONNX Runtime sees it: no dims, or a single 1. */
static gboolean
graph_is_scalar (const VnRuntimeGraph *self,
                 const VnValue        *value)
{
  const VnShape *shape = vn_runtime_get_shape (value);

  return shape != NULL && vn_runtime_is_constant (self, value) &&
         (shape->rank == 0 || (shape->rank == 1 && shape->dims[0] == 1));
}

gboolean
vn_runtime_has_one_scale (const VnRuntimeGraph *self,
                          const VnNode         *pair)
{
  const VnValue *zero_point = vn_node_get_input (pair, 2);

  return graph_is_scalar (self, vn_node_get_input (pair, 1)) && (zero_point == NULL || graph_is_scalar (self, zero_point));
}

static const VnTensor *
graph_get_tensor (const VnValue *value)
{
  return value != NULL ? vn_value_get_constant (value) : NULL;
}

gboolean
vn_runtime_same_params (const VnRuntimeGraph *self,
                        const VnNode         *a,
                        const VnNode         *b)
{
  for (guint i = 1; i <= 2; i++)
    {
      const VnTensor *first = graph_get_tensor (vn_node_get_input (a, i));
      const VnTensor *second = graph_get_tensor (vn_node_get_input (b, i));

      if (first == NULL || second == NULL || !graph_is_scalar (self, vn_node_get_input (a, i)) ||
          !graph_is_scalar (self, vn_node_get_input (b, i)) || first->dtype != second->dtype ||
          vn_tensor_get_double (first, 0) != vn_tensor_get_double (second, 0))
        return FALSE;
    }
  return TRUE;
}

VnNode *
vn_runtime_only_reader (const VnValue *value,
                        guint         *index)
{
  const VnUse *use;

  if (value == NULL || value->is_output || value->uses->len != 1)
    return NULL;
  use = &g_array_index (value->uses, VnUse, 0);
  if (use->node->graph != value->graph)
    return NULL;
  if (index != NULL)
    *index = use->index;
  return use->node;
}

VnNode *
vn_runtime_get_producer (const VnNode *node,
                         guint         input)
{
  const VnValue *value = vn_node_get_input (node, input);

  return value != NULL && value->graph == node->graph ? value->producer : NULL;
}

/* Sorted; nodes that are gone are left out. */
GPtrArray *
vn_runtime_list_nodes (const VnRuntimeGraph *self,
                       GError              **error)
{
  g_autoptr(GPtrArray) sorted = vn_graph_sort (self->graph, error);
  guint n = 0;

  if (sorted == NULL)
    return NULL;
  for (guint i = 0; i < sorted->len; i++)
    if (!g_str_equal (((const VnNode *) g_ptr_array_index (sorted, i))->op_type, GONE))
      sorted->pdata[n++] = sorted->pdata[i];
  g_ptr_array_set_size (sorted, (int) n);
  return g_steal_pointer (&sorted);
}

/* A QuantizeLinear or DequantizeLinear that reads @from with the parameters of @like; its output has no readers yet. */
VnNode *
vn_runtime_add_half_pair (VnRuntimeGraph *self,
                          const VnNode   *like,
                          const char     *op_type,
                          VnValue        *from,
                          VnDType         dtype)
{
  VnValue *to = vn_graph_add_value (self->graph, from->name, dtype, vn_runtime_get_shape (from));
  VnValue *inputs[] = { from, vn_node_get_input (like, 1), vn_node_get_input (like, 2) };

  return vn_graph_add_node (self->graph, NULL, like->domain, op_type, inputs, inputs[2] != NULL ? 3 : 2, &to, 1);
}

void
vn_runtime_set_kernel (VnNode     *node,
                       const char *domain,
                       const char *op_type)
{
  g_free (node->domain);
  g_free (node->op_type);
  node->domain = g_strdup (domain);
  node->op_type = g_strdup (op_type);
}

static void
graph_detach (VnNode *node)
{
  for (guint i = 0; i < node->inputs->len; i++)
    vn_node_set_input (node, i, NULL);
  for (guint i = 0; i < node->outputs->len; i++)
    vn_node_set_output (node, i, NULL);
  vn_runtime_set_kernel (node, "", GONE);
}

static void
graph_mark_gone (VnRuntimeGraph *self,
                 const VnNode   *node,
                 VnRuntimeKind   kind,
                 const VnNode   *into)
{
  VnRuntimeNode *row = g_hash_table_lookup (self->rows, node);
  const VnRuntimeNode *taker = into != NULL ? g_hash_table_lookup (self->rows, into) : NULL;

  if (row == NULL)
    return;
  row->kind = kind;
  row->reason = VN_RUNTIME_REASON_NONE;
  row->into = taker != NULL ? g_strdup (taker->label) : NULL;
}

/* Output @output of @into becomes what @node made of it. */
void
vn_runtime_absorb (VnRuntimeGraph *self,
                   VnNode         *node,
                   VnNode         *into,
                   guint           output)
{
  VnValue *made = vn_node_get_output (node, 0);

  graph_mark_gone (self, node, VN_RUNTIME_ABSORBED, into);
  graph_detach (node);
  vn_node_set_output (into, output, made);
}

/* FALSE: @node stands between an input, or a value with other readers, and an output of the network, and has to stay. */
gboolean
vn_runtime_bypass (VnRuntimeGraph *self,
                   VnNode         *node)
{
  VnValue *from = vn_node_get_input (node, 0), *to = vn_node_get_output (node, 0);
  VnNode *producer = from->producer;

  if (!to->is_output)
    {
      vn_value_replace_uses (to, from, NULL);
      graph_mark_gone (self, node, VN_RUNTIME_ABSORBED, producer);
      graph_detach (node);
      return TRUE;
    }
  if (producer == NULL || vn_runtime_only_reader (from, NULL) != node)
    return FALSE;
  graph_mark_gone (self, node, VN_RUNTIME_ABSORBED, producer);
  graph_detach (node);
  vn_node_set_output (producer, from->output_index, to);
  return TRUE;
}

/* @by computes the same. */
void
vn_runtime_share (VnRuntimeGraph *self,
                  VnNode         *node,
                  VnNode         *by)
{
  vn_value_replace_uses (vn_node_get_output (node, 0), vn_node_get_output (by, 0), NULL);
  graph_mark_gone (self, node, VN_RUNTIME_ABSORBED, by);
  graph_detach (node);
}

/* @by reads what @node read, and makes what it made beside its own. */
void
vn_runtime_take_over (VnRuntimeGraph *self,
                      VnNode         *node,
                      VnNode         *by)
{
  VnValue *made = vn_node_get_output (node, 0), *a = vn_node_get_input (node, 0);

  graph_mark_gone (self, node, VN_RUNTIME_ABSORBED, by);
  graph_detach (node);
  vn_node_set_input (by, 0, a);
  if (made->uses->len > 0 || made->is_output)
    vn_node_set_output (by, by->outputs->len, made);
}

/* Its outputs are constants from now on; what a Constant made can still be looked at. */
void
vn_runtime_fold (VnRuntimeGraph *self,
                 VnNode         *node)
{
  VnValue *made = vn_node_get_output (node, 0);
  VnTensor *constant = made != NULL && vn_value_get_constant (made) != NULL ? vn_tensor_ref (vn_value_get_constant (made)) : NULL;

  for (guint i = 0; i < node->outputs->len; i++)
    if (vn_node_get_output (node, i) != NULL)
      g_hash_table_add (self->folded, vn_node_get_output (node, i));
  graph_mark_gone (self, node, VN_RUNTIME_FOLDED, NULL);
  graph_detach (node);
  if (constant != NULL)
    vn_graph_set_initializer (self->graph, made, constant);
  g_clear_pointer (&constant, vn_tensor_unref);
}

void
vn_runtime_explain (VnRuntimeGraph  *self,
                    const VnNode    *node,
                    VnRuntimeReason  reason)
{
  VnRuntimeNode *row = g_hash_table_lookup (self->rows, node);

  if (row != NULL)
    row->reason = reason;
}
