/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attributes that became inputs. */
#include "vn-rewrite-private.h"

/**
 * vn_opset_refuse:
 *
 * Returns: %FALSE, always
 */
gboolean
vn_opset_refuse (VnOpsetStep  *step,
                 const char   *why,
                 GError      **error)
{
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("cannot be converted to opset %lld: %s"),
               (long long) step->version, why);
  return FALSE;
}

/**
 * vn_opset_set_input:
 *
 * Like vn_node_set_input(), but leaves out the inputs before if there are none yet.
 */
void
vn_opset_set_input (VnNode  *node,
                    guint    i,
                    VnValue *value)
{
  while (node->inputs->len < i)
    vn_node_set_input (node, node->inputs->len, NULL);
  vn_node_set_input (node, i, value);
}

/**
 * vn_opset_ints_input:
 *
 * Makes input @i a new int64 initializer.
 */
void
vn_opset_ints_input (VnNode       *node,
                     guint         i,
                     const char   *role,
                     const gint64 *values,
                     gsize         n)
{
  VnShape shape = VN_SHAPE ((gint64) n);
  g_autoptr(VnTensor) tensor = vn_tensor_new_s64 (&shape, values);

  vn_opset_set_input (node, i, vn_rewrite_add_constant (node, role, tensor));
}

/**
 * vn_opset_float_input:
 *
 * Makes input @i a new scalar of the type of input 0 (float32 if that is not known).
 */
gboolean
vn_opset_float_input (VnNode      *node,
                      guint        i,
                      const char  *role,
                      float        value,
                      GError     **error)
{
  const VnValue *data = vn_node_get_input (node, 0);
  VnDType dtype = data != NULL && data->type.kind == VN_TYPE_TENSOR ? data->type.dtype : VN_DTYPE_UNDEFINED;
  g_autoptr(VnTensor) scalar = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &value);
  g_autoptr(VnTensor) typed = NULL;

  typed = vn_tensor_convert (scalar, dtype != VN_DTYPE_UNDEFINED ? dtype : VN_DTYPE_F32, error);
  if (typed == NULL)
    return FALSE;
  vn_opset_set_input (node, i, vn_rewrite_add_constant (node, role, typed));
  return TRUE;
}

/* Moves a list of integers; does nothing if the attribute is not there. */
static gboolean
opset_inputs_move_ints (VnNode     *node,
                        const char *attr,
                        guint       i)
{
  gsize n;
  const gint64 *values = vn_node_get_ints (node, attr, &n);

  if (vn_node_get_attr (node, attr) == NULL)
    return FALSE;
  if (n > 0)
    vn_opset_ints_input (node, i, attr, values, n);
  vn_node_remove_attr (node, attr);
  return TRUE;
}

VN_OPSET_RULE (vn_opset_axes_input)
{
  return opset_inputs_move_ints (node, "axes", 1);
}

VN_OPSET_RULE (vn_opset_split_input)
{
  return opset_inputs_move_ints (node, "split", 1);
}

VN_OPSET_RULE (vn_opset_slice_inputs)
{
  if (vn_node_get_attr (node, "starts") == NULL || vn_node_get_attr (node, "ends") == NULL)
    return FALSE;
  opset_inputs_move_ints (node, "starts", 1);
  opset_inputs_move_ints (node, "ends", 2);
  opset_inputs_move_ints (node, "axes", 3);
  return TRUE;
}

VN_OPSET_RULE (vn_opset_topk_input)
{
  gint64 k = vn_node_get_int (node, "k", -1);

  if (k < 0)
    return FALSE;
  vn_opset_ints_input (node, 1, "k", &k, 1);
  vn_node_remove_attr (node, "k");
  return TRUE;
}

VN_OPSET_RULE (vn_opset_clip_inputs)
{
  static const char * const names[] = { "min", "max" };
  gboolean changed = FALSE;

  for (guint i = 0; i < 2; i++)
    if (vn_node_get_attr (node, names[i]) != NULL)
      {
        if (!vn_opset_float_input (node, i + 1, names[i], vn_node_get_float (node, names[i], 0), error))
          return FALSE;
        vn_node_remove_attr (node, names[i]);
        changed = TRUE;
      }
  return changed;
}

VN_OPSET_RULE (vn_opset_pad_inputs)
{
  float value = vn_node_get_float (node, "value", 0);
  g_autofree char *mode = vn_node_dup_string (node, "mode", "constant");

  if (vn_node_get_attr (node, "pads") == NULL)
    return FALSE;
  opset_inputs_move_ints (node, "pads", 1);
  if (g_str_equal (mode, "constant") && !vn_opset_float_input (node, 2, "value", value, error))
    return FALSE;
  vn_node_remove_attr (node, "value");
  return TRUE;
}

VN_OPSET_RULE (vn_opset_reshape_input)
{
  return opset_inputs_move_ints (node, "shape", 1);
}

/* The scales were attributes of their own in the very first form. */
VN_OPSET_RULE (vn_opset_upsample_scales)
{
  float height = vn_node_get_float (node, "height_scale", 0), width = vn_node_get_float (node, "width_scale", 0);
  g_autofree char *mode = vn_node_dup_string (node, "mode", "nearest");
  VnAttr *scales;

  if (height <= 0 || width <= 0)
    return FALSE;
  scales = vn_attr_new ("scales", VN_ATTR_FLOATS);
  g_array_append_vals (scales->floats, ((float[]) { 1, 1, height, width }), 4);
  vn_node_set_attr (node, scales);
  vn_node_remove_attr (node, "height_scale");
  vn_node_remove_attr (node, "width_scale");
  if (g_str_equal (mode, "bilinear"))
    vn_node_set_string (node, "mode", "linear");
  return TRUE;
}

VN_OPSET_RULE (vn_opset_upsample_input)
{
  gsize n;
  const float *values = vn_node_get_floats (node, "scales", &n);
  g_autoptr(VnTensor) scales = NULL;

  if (values == NULL)
    return FALSE;
  scales = vn_tensor_new_f32 (&VN_SHAPE ((gint64) n), values);
  vn_opset_set_input (node, 1, vn_rewrite_add_constant (node, "scales", scales));
  vn_node_remove_attr (node, "scales");
  return TRUE;
}

VN_OPSET_RULE (vn_opset_dft_axis)
{
  gint64 axis = vn_node_get_int (node, "axis", 1);
  g_autoptr(VnTensor) scalar = vn_tensor_new_s64 (&VN_SHAPE_SCALAR, &axis);

  vn_opset_set_input (node, 2, vn_rewrite_add_constant (node, "axis", scalar));
  vn_node_remove_attr (node, "axis");
  return TRUE;
}
