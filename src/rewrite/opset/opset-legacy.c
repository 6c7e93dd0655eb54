/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forms of the first versions, and experimental operators that runtimes know up to opset 9 only, in today's words. */
#include "vn-rewrite-private.h"

#include <math.h>

static VnValue *
opset_legacy_scalar (VnNode     *node,
                     const char *role,
                     float       value)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &value);

  return vn_rewrite_add_constant (node, role, tensor);
}

/* node: y = x * factor + offset; the node itself becomes the Add, so that it keeps its name and output. */
static void
opset_legacy_become_mul_add (VnNode  *node,
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
  opset_legacy_become_mul_add (node, opset_legacy_scalar (node, "alpha", alpha), opset_legacy_scalar (node, "beta", beta));
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
  bias = vn_tensor_new_copy (VN_DTYPE_F32, &VN_SHAPE (1, (gint64) n, 1, 1), values, error);
  if (bias == NULL)
    return FALSE;
  vn_node_remove_attr (node, "bias");
  vn_node_remove_attr (node, "scale");
  opset_legacy_become_mul_add (node, opset_legacy_scalar (node, "scale", scale), vn_rewrite_add_constant (node, "bias", bias));
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
    return vn_opset_refuse (step, _("its border does not have four values"), error);
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

/* ---- the first forms of operators that are still there ---- */

VN_OPSET_RULE (vn_opset_lp_exponent)
{
  const VnAttr *attr = vn_node_get_attr (node, "p");
  float p = vn_node_get_float (node, "p", 2);

  if (attr == NULL || attr->type != VN_ATTR_FLOAT)
    return FALSE;
  if (!(p >= 1 && p < 1000) || p != (float) (gint64) p)
    return vn_opset_refuse (step, _("its exponent is not an integer"), error);
  vn_node_set_int (node, "p", (gint64) p);
  return TRUE;
}

/* The sequence of states is made wherever it is used. */
VN_OPSET_RULE (vn_opset_output_sequence)
{
  if (vn_node_get_attr (node, "output_sequence") == NULL)
    return FALSE;
  vn_node_remove_attr (node, "output_sequence");
  return TRUE;
}

/* A number of a constant input, whatever its type; FALSE if it is none, or not a whole one. */
static gboolean
opset_legacy_get_whole (const VnNode *node,
                        guint         input,
                        gsize         i,
                        gint64       *number)
{
  const VnValue *value = vn_node_get_input (node, input);
  VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;
  g_autoptr(VnTensor) aligned = tensor != NULL ? vn_tensor_get_aligned (tensor, NULL) : NULL;
  double found;

  if (aligned == NULL || i >= aligned->n_elements || aligned->dtype == VN_DTYPE_STRING)
    return FALSE;
  found = vn_tensor_get_double (aligned, i);
  *number = fabs (found) < G_MAXINT32 ? (gint64) found : G_MAXINT64;
  return (double) *number == found;
}

/* Those from @first on. */
static void
opset_legacy_drop_inputs (VnNode *node,
                          guint   first)
{
  for (guint i = first; i < node->inputs->len; i++)
    vn_node_set_input (node, i, NULL);
  g_ptr_array_set_size (node->inputs, (int) MIN (first, node->inputs->len));
}

VN_OPSET_RULE (vn_opset_first_split)
{
  g_autofree gint64 *sizes = NULL;
  guint n = node->outputs->len;

  if (node->inputs->len < 2 || vn_node_get_input (node, 1) == NULL)
    return FALSE;
  sizes = g_new (gint64, n + 1);
  for (guint i = 0; i < n; i++)
    if (!opset_legacy_get_whole (node, 1, i, &sizes[i]))
      return vn_opset_refuse (step, _("its sizes are not constant"), error);
  vn_node_set_ints (node, "split", sizes, n);
  opset_legacy_drop_inputs (node, 1);
  return TRUE;
}

/* How often, and along which axis. */
VN_OPSET_RULE (vn_opset_first_tile)
{
  int rank = vn_opset_rank (vn_node_get_input (node, 0));
  gint64 repeats[VN_MAX_RANK], times, axis;

  if (rank < 0)
    return vn_opset_refuse (step, _("the rank of its input is not known"), error);
  if (!opset_legacy_get_whole (node, 1, 0, &times) || !opset_legacy_get_whole (node, 2, 0, &axis) || axis < 0 || axis >= rank)
    return vn_opset_refuse (step, _("its axis or its number of tiles is not constant, or does not match the input"), error);
  for (int d = 0; d < rank; d++)
    repeats[d] = d == axis ? times : 1;
  opset_legacy_drop_inputs (node, 1);
  vn_opset_ints_input (node, 1, "repeats", repeats, (gsize) rank);
  return TRUE;
}
