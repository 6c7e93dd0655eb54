/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What becomes of the factors of a tensor's channels at each operator that reads it. */
#include "balance-graph.h"

#include "vn-tensor.h"

/* Nodes between a gate and the product that it opens. */
#define GATE_DEPTH 4

/* ---- shapes ---- */

/*< private >
 * vn_balance_count_channels:
 * @axis: which one holds them
 *
 * Returns: how many channels @value has; 0: it is not a tensor that can be balanced
 */
guint
vn_balance_count_channels (const VnValue *value,
                           int            axis)
{
  const VnShape *shape;

  g_return_val_if_fail (value != NULL, 0);

  shape = &value->type.shape;
  return value->type.kind == VN_TYPE_TENSOR && value->type.dtype == VN_DTYPE_F32 && !vn_value_is_constant (value) &&
         shape->rank >= 2 && shape->dims[axis] > 0 && shape->dims[axis] <= G_MAXUINT16 ? (guint) shape->dims[axis] : 0;
}

/*< private >
 * vn_balance_graph_count:
 *
 * Returns: how many channels @value has, by its shape; 0: it is not a tensor that can be balanced
 */
guint
vn_balance_graph_count (const VnBalanceGraph *self,
                        const VnValue        *value)
{
  guint n;

  g_return_val_if_fail (self != NULL && value != NULL, 0);

  n = vn_balance_count_channels (value, self->axis[value->id]);
  return self->whole[value->id] != NULL ? n * (guint) value->type.shape.dims[self->heads[value->id]] : n;
}

/* Axes are counted from the last one where tensors of different rank meet. */
static int
roles_get_axis_from_end (const VnBalanceGraph *self,
                         const VnValue        *value)
{
  return value->type.shape.rank - self->axis[value->id];
}

static gboolean
roles_has_same_channels (const VnBalanceGraph *self,
                         const VnValue        *a,
                         const VnValue        *b)
{
  return a != NULL && b != NULL && vn_balance_graph_count (self, a) > 0 &&
         vn_balance_graph_count (self, a) == vn_balance_graph_count (self, b) &&
         roles_get_axis_from_end (self, a) == roles_get_axis_from_end (self, b);
}

/* Whether @constant has a number for each channel of @value, and lies along them. */
static gboolean
roles_is_per_channel (const VnBalanceGraph *self,
                      const VnTensor       *constant,
                      const VnValue        *value)
{
  int axis = constant->shape.rank - value->type.shape.rank + self->axis[value->id];
  guint n = vn_balance_graph_count (self, value);

  return constant->dtype == VN_DTYPE_F32 && constant->n_elements == n && axis >= 0 && constant->shape.dims[axis] == (gint64) n;
}

/* The channels of the second axis, as Flatten leaves them. */
static gboolean
roles_keeps_matrix (const VnBalanceGraph *self,
                    const VnValue        *input,
                    const VnValue        *output)
{
  const VnShape *a = &input->type.shape, *b = &output->type.shape;

  return self->axis[input->id] == 1 && self->axis[output->id] == 1 && vn_balance_graph_count (self, input) > 0 &&
         vn_balance_graph_count (self, input) == vn_balance_graph_count (self, output) && a->dims[0] == b->dims[0] &&
         a->dims[0] > 0 &&
         vn_shape_count (a, 2, a->rank) > 0 && vn_shape_count (a, 2, a->rank) == vn_shape_count (b, 2, b->rank);
}

static gboolean
roles_keeps_last (const VnBalanceGraph *self,
                  const VnValue        *input,
                  const VnValue        *output)
{
  return roles_get_axis_from_end (self, input) == 1 && roles_has_same_channels (self, input, output);
}

static gboolean
roles_transposes_others (const VnBalanceGraph *self,
                         const VnNode         *node,
                         const VnValue        *value)
{
  gsize n = 0;
  const gint64 *order = vn_node_get_ints (node, "perm", &n);

  return n > 0 && order[n - 1] == (gint64) n - 1 && roles_keeps_last (self, value, vn_node_get_output (node, 0));
}

static gboolean
roles_gathers_others (const VnBalanceGraph *self,
                      const VnNode         *node,
                      const VnValue        *value)
{
  gint64 axis = vn_node_get_int (node, "axis", 0), rank = value->type.shape.rank;

  return (axis < 0 ? axis + rank : axis) != rank - 1 && roles_keeps_last (self, value, vn_node_get_output (node, 0));
}

/* ---- single operators ---- */

static gboolean
roles_takes_weight (const VnBalanceGraph *self,
                    const VnNode         *node,
                    const VnValue        *value)
{
  const VnValue *weight = vn_node_get_input (node, 1);
  const VnTensor *data = weight != NULL ? weight->initializer : NULL;
  gint64 n = vn_balance_graph_count (self, value), group = vn_node_get_int (node, "group", 1);

  if (data == NULL || data->dtype != VN_DTYPE_F32 || weight->is_output)
    return FALSE;
  if (vn_node_is (node, "Conv"))
    return data->shape.rank >= 3 && data->shape.dims[1] * group == n;
  if (vn_node_is (node, "ConvTranspose"))
    return data->shape.rank >= 3 && group == 1 && data->shape.dims[0] == n;
  if (vn_node_is (node, "Gemm"))
    return data->shape.rank == 2 && vn_node_get_int (node, "transA", 0) == 0 &&
           data->shape.dims[vn_node_get_int (node, "transB", 0) != 0] == n;
  return data->shape.rank == 2 && roles_get_axis_from_end (self, value) == 1 && data->shape.dims[0] == n;
}

static gboolean
roles_starts_at_zero (const VnNode *node)
{
  const VnValue *low = vn_node_get_input (node, 1);
  const VnTensor *constant = low != NULL ? vn_value_get_constant (low) : NULL;

  if (low == NULL)
    return vn_node_get_attr (node, "min") != NULL && vn_node_get_float (node, "min", 0) == 0;
  return constant != NULL && constant->n_elements == 1 && vn_tensor_get_double (constant, 0) == 0 &&
         (vn_node_get_input (node, 2) == NULL || vn_value_get_constant (vn_node_get_input (node, 2)) != NULL);
}

static gboolean
roles_pads_zeros (const VnNode *node)
{
  g_autofree char *mode = vn_node_dup_string (node, "mode", "constant");
  const VnValue *value = vn_node_get_input (node, 2);
  const VnTensor *constant = value != NULL ? vn_value_get_constant (value) : NULL;

  return !g_str_equal (mode, "constant") || (value == NULL && vn_node_get_float (node, "value", 0) == 0) ||
         (constant != NULL && constant->n_elements == 1 && vn_tensor_get_double (constant, 0) == 0);
}

/* x sigmoid (x), as one node or two: what opens a gated product in language models. */
static gboolean
roles_is_swish (const VnNode *node)
{
  static const char * const types[] = { "Gelu", "FastGelu", "QuickGelu", "Swish", NULL };
  const VnValue *a = vn_node_get_input (node, 0), *b = vn_node_get_input (node, 1);

  if (g_strv_contains (types, node->op_type))
    return TRUE;
  if (!vn_node_is (node, "Mul") || a == NULL || b == NULL)
    return FALSE;
  return (b->producer != NULL && vn_node_is (b->producer, "Sigmoid") && vn_node_get_input (b->producer, 0) == a) ||
         (a->producer != NULL && vn_node_is (a->producer, "Sigmoid") && vn_node_get_input (a->producer, 0) == b);
}

/* Sigmoid and its like, or what follows from that: numbers that a tensor is multiplied by. */
static gboolean
roles_is_gate (const VnValue *value,
               guint          depth)
{
  const VnNode *node = value->producer;

  if (node == NULL || depth > GATE_DEPTH)
    return FALSE;
  if (vn_node_is (node, "Sigmoid") || vn_node_is (node, "HardSigmoid") || vn_node_is (node, "Softmax") ||
      roles_is_swish (node))
    return TRUE;
  if (vn_node_is (node, "Clip"))
    {
      const VnNode *before = vn_node_get_input (node, 0)->producer;

      return before != NULL && vn_node_is (before, "Add");
    }
  return (vn_node_is (node, "Mul") || vn_node_is (node, "Div")) && vn_node_get_input (node, 1) != NULL &&
         vn_value_is_constant (vn_node_get_input (node, 1)) && roles_is_gate (vn_node_get_input (node, 0), depth + 1);
}

/* scale / deviation, which a normalization multiplies by what it read, and by its mean. */
static gboolean
roles_is_scale (const VnValue *value)
{
  int scale = value->producer != NULL ? vn_balance_find_scale (value->producer) : -1;
  const VnValue *other = scale >= 0 ? vn_node_get_input (value->producer, 1 - (guint) scale) : NULL;

  return other != NULL && other->type.shape.rank > 0 && other->type.shape.dims[other->type.shape.rank - 1] == 1;
}

static VnBalanceRole
roles_get_role_in_product (const VnBalanceGraph *self,
                           const VnNode         *node,
                           guint                 input,
                           const VnValue        *value)
{
  const VnValue *other = vn_node_get_input (node, 1 - input), *output = vn_node_get_output (node, 0);
  const VnTensor *constant = other != NULL ? vn_value_get_constant (other) : NULL;

  if (other == NULL || other == value || !roles_has_same_channels (self, value, output) || vn_balance_find_scale (node) >= 0)
    return VN_BALANCE_RESTORES;
  if (constant != NULL)
    return (input == 0 || vn_node_is (node, "Mul")) &&
           (constant->n_elements == 1 || roles_is_per_channel (self, constant, value))
           ? VN_BALANCE_PASSES : VN_BALANCE_RESTORES;
  if (vn_node_is (node, "Mul") && !roles_is_gate (value, 0) && (roles_is_gate (other, 0) || roles_is_scale (value)))
    return VN_BALANCE_PASSES;
  return VN_BALANCE_RESTORES;
}

static VnBalanceRole
roles_get_role_in_sum (const VnBalanceGraph *self,
                       const VnNode         *node,
                       guint                 input,
                       const VnValue        *value)
{
  const VnValue *output = vn_node_get_output (node, 0);

  if (!roles_has_same_channels (self, value, output))
    return VN_BALANCE_RESTORES;
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *other = vn_node_get_input (node, i);
      const VnTensor *constant = other != NULL ? vn_value_get_constant (other) : NULL;

      if (i == input)
        continue;
      if (constant != NULL)
        return other->initializer != NULL && node->inputs->len == 2 && roles_is_per_channel (self, constant, value)
               ? VN_BALANCE_CONSTANT : VN_BALANCE_RESTORES;
      if (!roles_has_same_channels (self, value, other))
        return VN_BALANCE_RESTORES;
    }
  return VN_BALANCE_PASSES;
}

static VnBalanceRole
roles_get_role_in_parts (const VnBalanceGraph *self,
                         const VnNode         *node,
                         const VnValue        *value)
{
  const VnValue *whole = vn_node_is (node, "Concat") ? vn_node_get_output (node, 0) : value;
  gint64 axis = vn_node_get_int (node, "axis", 0), sum = 0;
  const GPtrArray *parts = vn_node_is (node, "Concat") ? node->inputs : node->outputs;

  axis = axis < 0 ? axis + value->type.shape.rank : axis;
  for (guint i = 0; i < parts->len; i++)
    sum += g_ptr_array_index (parts, i) != NULL ? vn_balance_graph_count (self, g_ptr_array_index (parts, i)) : 0;
  if (axis != self->axis[value->id] || whole == NULL || sum != vn_balance_graph_count (self, whole))
    return VN_BALANCE_RESTORES;
  return vn_node_is (node, "Concat") ? VN_BALANCE_JOINS : VN_BALANCE_SPLITS;
}

/*< private >
 * vn_balance_find_unshuffled:
 * @node: a Reshape
 * @groups: (out): channel g × (n / groups) + i of what it reads is channel i × groups + g behind
 *
 * Returns: (nullable): the Reshape that ends a shuffle of channels which begins with @node
 */
const VnNode *
vn_balance_find_unshuffled (const VnNode *node,
                            gsize        *groups)
{
  const VnValue *input, *middle, *swapped, *output;
  const VnNode *transpose, *last;
  const gint64 *order;
  gsize n = 0;

  g_return_val_if_fail (node != NULL && groups != NULL, NULL);

  input = vn_node_get_input (node, 0);
  middle = vn_node_get_output (node, 0);
  if (!vn_node_is (node, "Reshape") || input == NULL || middle == NULL || middle->is_output || middle->uses->len != 1 ||
      middle->type.shape.rank != input->type.shape.rank + 1)
    return NULL;
  transpose = g_array_index (middle->uses, VnUse, 0).node;
  order = vn_node_is (transpose, "Transpose") ? vn_node_get_ints (transpose, "perm", &n) : NULL;
  if (n < 3 || (int) n != middle->type.shape.rank || order[0] != 0 || order[1] != 2 || order[2] != 1)
    return NULL;
  for (gsize i = 3; i < n; i++)
    if (order[i] != (gint64) i)
      return NULL;
  swapped = vn_node_get_output (transpose, 0);
  last = !swapped->is_output && swapped->uses->len == 1 ? g_array_index (swapped->uses, VnUse, 0).node : NULL;
  output = last != NULL && vn_node_is (last, "Reshape") ? vn_node_get_output (last, 0) : NULL;
  if (output == NULL || vn_balance_count_channels (input, 1) == 0 ||
      vn_balance_count_channels (input, 1) != vn_balance_count_channels (output, 1) || middle->type.shape.dims[1] <= 0 ||
      middle->type.shape.dims[1] * middle->type.shape.dims[2] != input->type.shape.dims[1])
    return NULL;
  *groups = (gsize) middle->type.shape.dims[1];
  return last;
}

static VnBalanceRole
roles_get_role_in_reshape (const VnBalanceGraph *self,
                           const VnNode         *node,
                           const VnValue        *value)
{
  gsize groups;

  if (roles_keeps_matrix (self, value, vn_node_get_output (node, 0)) ||
      roles_keeps_last (self, value, vn_node_get_output (node, 0)))
    return VN_BALANCE_PASSES;
  return self->axis[value->id] == 1 && vn_balance_find_unshuffled (node, &groups) != NULL
         ? VN_BALANCE_SHUFFLES : VN_BALANCE_RESTORES;
}

/*< private >
 * vn_balance_find_role:
 *
 * Returns: what becomes of the factors of @value at @node, which reads it as @input, by the operator alone
 */
VnBalanceRole
vn_balance_find_role (const VnBalanceGraph *self,
                      const VnNode         *node,
                      guint                 input,
                      const VnValue        *value)
{
  static const char * const homogeneous[] = { "Relu", "LeakyRelu", "PRelu", "MaxPool", "AveragePool", "GlobalAveragePool",
                                              "GlobalMaxPool",
                                              "Identity", "Dropout", "Resize", "Upsample", NULL };
  gboolean same;

  g_return_val_if_fail (self != NULL && node != NULL && value != NULL, VN_BALANCE_PINS);

  if (vn_balance_is_in_heads (self, node, value))
    return vn_balance_find_role_of_heads (self, node, input, value);
  same = roles_has_same_channels (self, value, vn_node_get_output (node, 0));
  if (vn_node_is (node, "Mul") || vn_node_is (node, "Div"))
    return roles_get_role_in_product (self, node, input, value);
  if (vn_node_is (node, "Add") || vn_node_is (node, "Sub") || vn_node_is (node, "Sum"))
    return roles_get_role_in_sum (self, node, input, value);
  if (vn_node_is (node, "Concat"))
    return roles_get_role_in_parts (self, node, value);
  if (input != 0)
    return VN_BALANCE_PINS;
  if (vn_node_is (node, "Conv") || vn_node_is (node, "ConvTranspose") || vn_node_is (node, "Gemm") || vn_node_is (node, "MatMul"))
    return roles_takes_weight (self, node, value) ? VN_BALANCE_WEIGHT : VN_BALANCE_RESTORES;
  if (vn_node_is (node, "Split"))
    return roles_get_role_in_parts (self, node, value);
  if (vn_node_is (node, "Reshape") || vn_node_is (node, "Flatten") || vn_node_is (node, "Squeeze"))
    return roles_get_role_in_reshape (self, node, value);
  if (vn_node_is (node, "Transpose"))
    return roles_transposes_others (self, node, value) ? VN_BALANCE_PASSES : VN_BALANCE_RESTORES;
  if (vn_node_is (node, "Gather"))
    return roles_gathers_others (self, node, value) ? VN_BALANCE_PASSES : VN_BALANCE_RESTORES;
  if ((vn_node_is (node, "Clip") && roles_starts_at_zero (node)) || (vn_node_is (node, "Pad") && roles_pads_zeros (node)))
    return same ? VN_BALANCE_PASSES : VN_BALANCE_RESTORES;
  if (*node->domain == '\0' && g_strv_contains (homogeneous, node->op_type) && node->outputs->len == 1)
    return same ? VN_BALANCE_PASSES : VN_BALANCE_RESTORES;
  return VN_BALANCE_RESTORES;
}

/*< private >
 * vn_balance_graph_get_role:
 * @input: which input of @node: it has channels
 *
 * Returns: what becomes of its factors there
 */
VnBalanceRole
vn_balance_graph_get_role (const VnBalanceGraph *self,
                           const VnNode         *node,
                           guint                 input)
{
  VnBalanceRole role;

  g_return_val_if_fail (self != NULL && node != NULL, VN_BALANCE_PINS);

  role = g_hash_table_contains (self->between, node) ? VN_BALANCE_RESTORES
       : node->graph == self->graph ? vn_balance_find_role (self, node, input, vn_node_get_input (node, input)) : VN_BALANCE_PINS;
  return role == VN_BALANCE_RESTORES && (!self->restores || vn_node_has_graphs (node)) ? VN_BALANCE_PINS : role;
}
