/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Experimental operators of the first versions that runtimes know up to opset 9 only, in today's words. */
#include "vn-rewrite-private.h"

static VnValue *
scalar (VnNode     *node,
        const char *role,
        float       value)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &value);

  return vn_rewrite_add_constant (node, role, tensor);
}

/* node: y = x * factor + offset; the node itself becomes the Add, so that it keeps its name and output. */
static void
become_mul_add (VnNode  *node,
                VnValue *factor,
                VnValue *offset)
{
  VnValue *inputs[2] = { vn_node_get_input (node, 0), factor };
  VnValue *product = vn_rewrite_add_result (node, "scaled");

  vn_value_set_type (product, inputs[0]->type.dtype, inputs[0]->type.kind == VN_TYPE_TENSOR ? &inputs[0]->type.shape
                                                                                           : NULL);
  vn_graph_insert_node (node->graph, node, NULL, "", "Mul", inputs, 2, &product, 1);
  vn_node_set_input (node, 0, product);
  vn_opset_set_input (node, 1, offset);
  vn_rewrite_set_op_type (node, "Add");
}

/* y = alpha * x + beta */
VN_OPSET_RULE (vn_opset_affine)
{
  float alpha = vn_node_get_float (node, "alpha", 1), beta = vn_node_get_float (node, "beta", 0);

  if (vn_node_get_input (node, 0) == NULL)
    return vn_opset_refuse (step, _("it has no input"), error);
  vn_node_remove_attr (node, "alpha");
  vn_node_remove_attr (node, "beta");
  become_mul_add (node, scalar (node, "alpha", alpha), scalar (node, "beta", beta));
  return TRUE;
}

/* y = scale * x + bias[channel] */
VN_OPSET_RULE (vn_opset_image_scaler)
{
  gsize n;
  const float *values = vn_node_get_floats (node, "bias", &n);
  float scale = vn_node_get_float (node, "scale", 1);
  g_autoptr(VnTensor) bias = NULL;

  if (values == NULL || vn_node_get_input (node, 0) == NULL)
    return vn_opset_refuse (step, _("it has no bias or no input"), error);
  bias = vn_tensor_new_f32 (&VN_SHAPE (1, (gint64) n, 1, 1), values);
  vn_node_remove_attr (node, "bias");
  vn_node_remove_attr (node, "scale");
  become_mul_add (node, scalar (node, "scale", scale), vn_rewrite_add_constant (node, "bias", bias));
  return TRUE;
}

/* border: left, top, right, bottom; or left and top with the size of what remains in `scale`: height, width. */
VN_OPSET_RULE (vn_opset_crop)
{
  gsize n_border, n_scale;
  const gint64 *border = vn_node_get_ints (node, "border", &n_border);
  const gint64 *scale = vn_node_get_ints (node, "scale", &n_scale);
  gint64 starts[2], ends[2];

  if (border == NULL || n_border != 4 || (scale != NULL && n_scale != 2))
    return vn_opset_refuse (step, _("its border is not given as four numbers"), error);
  starts[0] = border[1];
  starts[1] = border[0];
  for (guint i = 0; i < 2; i++)
    if (scale != NULL)
      ends[i] = starts[i] + scale[i];
    else
      ends[i] = border[i == 0 ? 3 : 2] > 0 ? -border[i == 0 ? 3 : 2] : G_MAXINT32;
  vn_node_remove_attr (node, "border");
  vn_node_remove_attr (node, "scale");
  vn_rewrite_set_op_type (node, "Slice");
  vn_opset_ints_input (node, 1, "starts", starts, 2);
  vn_opset_ints_input (node, 2, "ends", ends, 2);
  vn_opset_ints_input (node, 3, "axes", (gint64[]) { 2, 3 }, 2);
  return TRUE;
}
