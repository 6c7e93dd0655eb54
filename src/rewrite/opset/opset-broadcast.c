/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opsets below 7: broadcasting had to be asked for and could begin at any axis; attributes of training. */
#include "vn-rewrite-private.h"

/**
 * vn_opset_rank:
 *
 * Returns: the number of dims, -1 if it is not known
 */
int
vn_opset_rank (const VnValue *value)
{
  if (value == NULL)
    return -1;
  if (value->initializer != NULL)
    return value->initializer->shape.rank;
  return value->type.kind == VN_TYPE_TENSOR ? value->type.shape.rank : -1;
}

static gboolean
opset_broadcast_drop_attr (VnNode     *node,
                           const char *name)
{
  gboolean there = vn_node_get_attr (node, name) != NULL;

  if (there)
    vn_node_remove_attr (node, name);
  return there;
}

VN_OPSET_RULE (vn_opset_consumed_inputs)
{
  return opset_broadcast_drop_attr (node, "consumed_inputs");
}

/* Zero meant training, but a network that is given away is one to be run. */
VN_OPSET_RULE (vn_opset_is_test)
{
  return opset_broadcast_drop_attr (node, "is_test");
}

VN_OPSET_RULE (vn_opset_gemm_broadcast)
{
  return opset_broadcast_drop_attr (node, "broadcast");
}

VN_OPSET_RULE (vn_opset_spatial)
{
  if (vn_node_get_int (node, "spatial", 1) != 1)
    return vn_opset_refuse (step, _("it normalizes each position separately (spatial = 0)"), error);
  return opset_broadcast_drop_attr (node, "spatial");
}

/* Adds @n dims of 1 behind the dims of input @i. */
static gboolean
opset_broadcast_append_ones (VnOpsetStep  *step,
                             VnNode       *node,
                             guint         i,
                             int           n,
                             GError      **error)
{
  VnValue *value = vn_node_get_input (node, i);
  int rank = vn_opset_rank (value);
  gint64 axes[VN_MAX_RANK];
  VnTensor *constant = vn_value_get_constant (value);

  if (rank + n > VN_MAX_RANK)
    return vn_opset_refuse (step, _("too many dimensions"), error);
  if (constant != NULL)
    {
      VnShape shape = constant->shape;
      g_autoptr(VnTensor) reshaped = NULL;

      for (int k = 0; k < n; k++)
        shape.dims[shape.rank++] = 1;
      reshaped = vn_tensor_new_reshaped (constant, &shape, error);
      if (reshaped == NULL)
        return FALSE;
      vn_node_set_input (node, i, vn_rewrite_add_constant (node, "operand", reshaped));
      return TRUE;
    }
  for (int k = 0; k < n; k++)
    axes[k] = rank + k;
  {
    VnValue *result = vn_rewrite_add_result (node, "operand");
    VnNode *unsqueeze = vn_graph_insert_node (node->graph, node, NULL, "", "Unsqueeze", &value, 1, &result, 1);

    vn_node_set_ints (unsqueeze, "axes", axes, (gsize) n);
    vn_node_set_input (node, i, result);
  }
  return TRUE;
}

VN_OPSET_RULE (vn_opset_broadcast)
{
  gboolean asked = vn_node_get_int (node, "broadcast", 0) != 0;
  gboolean has_axis = vn_node_get_attr (node, "axis") != NULL;
  gint64 axis = vn_node_get_int (node, "axis", 0);
  int a = vn_opset_rank (vn_node_get_input (node, 0)), b = vn_opset_rank (vn_node_get_input (node, 1));
  gboolean changed = opset_broadcast_drop_attr (node, "broadcast") | opset_broadcast_drop_attr (node, "axis");

  if (!asked || !has_axis)
    return changed;
  if (a < 0 || b < 0)
    return vn_opset_refuse (step, _("the ranks of its operands are not known"), error);
  if (axis < 0)
    axis += a;
  if (axis < 0 || axis + b > a)
    return vn_opset_refuse (step, _("the broadcast axis does not match"), error);
  return axis + b == a || opset_broadcast_append_ones (step, node, 1, a - b - (int) axis, error);
}

/* One slope a channel: [C] belongs to axis 1. */
VN_OPSET_RULE (vn_opset_prelu_slope)
{
  int x = vn_opset_rank (vn_node_get_input (node, 0)), slope = vn_opset_rank (vn_node_get_input (node, 1));
  VnTensor *constant = slope == 1 ? vn_value_get_constant (vn_node_get_input (node, 1)) : NULL;

  if (slope != 1 || (constant != NULL && constant->n_elements == 1))
    return FALSE;
  if (x < 0)
    return vn_opset_refuse (step, _("the rank of its input is not known"), error);
  return x > 2 && opset_broadcast_append_ones (step, node, 1, x - 2, error);
}

VN_OPSET_RULE (vn_opset_concat_axis)
{
  if (vn_node_get_attr (node, "axis") != NULL)
    return FALSE;
  vn_node_set_int (node, "axis", 1);
  return TRUE;
}

VN_OPSET_RULE (vn_opset_pad_rename)
{
  gsize n;
  const gint64 *pads = vn_node_get_ints (node, "paddings", &n);

  if (pads == NULL)
    return FALSE;
  vn_node_set_ints (node, "pads", pads, n);
  vn_node_remove_attr (node, "paddings");
  return TRUE;
}

VN_OPSET_RULE (vn_opset_cast_string)
{
  g_autofree char *to = vn_node_dup_string (node, "to", NULL);
  VnDType dtype = to != NULL ? vn_dtype_from_proto_name (to) : VN_DTYPE_UNDEFINED;

  if (to == NULL)
    return FALSE;
  if (dtype == VN_DTYPE_UNDEFINED)
    return vn_opset_refuse (step, _("its type is not known"), error);
  vn_node_set_int (node, "to", dtype);
  return TRUE;
}

VN_OPSET_RULE (vn_opset_selu_defaults)
{
  if (vn_node_get_attr (node, "alpha") != NULL && vn_node_get_attr (node, "gamma") != NULL)
    return FALSE;
  vn_node_set_float (node, "alpha", vn_node_get_float (node, "alpha", 1.6732f));
  vn_node_set_float (node, "gamma", vn_node_get_float (node, "gamma", 1.0507f));
  return TRUE;
}
