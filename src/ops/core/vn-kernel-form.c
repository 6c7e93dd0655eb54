/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ONNX Runtime's kernels on integers ask of a node: vn-kernel-forms.def, vn-kernel-types.def, and along which axis of a
 * weight they expect the scales of channels. */
#include "vn-kernel-form.h"

#include "vn-i18n.h"

/* ---- forms ---- */

static gboolean
kernel_form_is_not_dilated (const VnNode *node)
{
  return vn_node_get_attr (node, "dilations") == NULL;
}

/* Whether windows end where the picture and its pads do, so that rounding up adds none. */
static gboolean
kernel_form_fits (const VnNode *node)
{
  g_autofree char *rule = vn_node_dup_string (node, "auto_pad", "NOTSET");
  const VnValue *input = vn_node_get_input (node, 0);
  gsize n, n_strides, n_pads;
  const gint64 *kernel = vn_node_get_ints (node, "kernel_shape", &n), *strides = vn_node_get_ints (node, "strides", &n_strides);
  const gint64 *pads = vn_node_get_ints (node, "pads", &n_pads);

  if (!g_str_equal (rule, "NOTSET") || kernel == NULL || input == NULL || input->type.shape.rank != (int) n + 2 ||
      (strides != NULL && n_strides != n) || (pads != NULL && n_pads != 2 * n))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      gint64 size = input->type.shape.dims[2 + i], room = size - kernel[i] + (pads != NULL ? pads[i] + pads[n + i] : 0);

      if (size < 0 || (strides != NULL && (strides[i] <= 0 || room % strides[i] != 0)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
kernel_form_is_counted_as_floor (const VnNode *node)
{
  return vn_node_get_int (node, "ceil_mode", 0) == 0 || vn_node_get_int (node, "count_include_pad", 0) == 0 ||
         kernel_form_fits (node);
}

static gboolean
kernel_form_has_no_axes_input (const VnNode *node)
{
  return vn_node_get_input (node, 3) == NULL;
}

static gboolean
kernel_form_has_no_axes (const VnNode *node)
{
  return vn_node_get_attr (node, "axes") == NULL;
}

/* Whether the sizes that are asked for, or the factors, are no smaller than the picture is. */
static gboolean
kernel_form_is_not_cubic_down (const VnNode *node)
{
  g_autofree char *mode = vn_node_dup_string (node, "mode", "nearest");
  const VnValue *sizes = vn_node_get_input (node, 3), *scales = vn_node_get_input (node, 2);
  const VnTensor *numbers = sizes != NULL ? vn_value_get_constant (sizes) : scales != NULL
                            ? vn_value_get_constant (scales) : NULL;
  const VnValue *input = vn_node_get_input (node, 0);

  if (!g_str_equal (mode, "cubic") || vn_node_get_int (node, "antialias", 0) != 0)
    return TRUE;
  for (gsize i = 0; numbers != NULL && i < numbers->n_elements; i++)
    {
      gint64 size = sizes == NULL || input == NULL || input->type.shape.rank != (int) numbers->n_elements
                    ? -1 : input->type.shape.dims[i];

      if (vn_tensor_get_double (numbers, i) < (sizes == NULL ? 1 : size >= 0 ? (double) size : G_MAXINT32))
        return FALSE;
    }
  return numbers != NULL;
}

typedef struct
{
  VnKernelForm form;
  gboolean   (*holds) (const VnNode *node);
} Form;

static const Form forms[] = {
#define VN_KERNEL_FORM(op_type, id, holds, remedy, moved, text) { { op_type, id, moved, text }, kernel_form_##holds },
#include "vn-kernel-forms.def"
#undef VN_KERNEL_FORM
};

/**
 * vn_kernel_find_form:
 *
 * Returns: (transfer none) (nullable): what ONNX Runtime would not compute rightly of @node between 8 bit pairs
 */
const VnKernelForm *
vn_kernel_find_form (const VnNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    if (vn_node_is (node, forms[i].form.op_type) && !forms[i].holds (node))
      return &forms[i].form;
  return NULL;
}

/**
 * vn_kernel_has_form:
 * @id: of a form of the operator of @node
 *
 * Returns: whether @node has that form
 */
gboolean
vn_kernel_has_form (const VnNode *node,
                    const char   *id)
{
  g_return_val_if_fail (node != NULL && id != NULL, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    if (vn_node_is (node, forms[i].form.op_type) && g_str_equal (forms[i].form.id, id))
      return !forms[i].holds (node);
  return FALSE;
}

/* ---- types ---- */

static const struct
{
  const char *op_type;
  VnDType     left, right, result;
} types[] = {
#define VN_KERNEL_TYPES(op_type, left, right, result) { op_type, VN_DTYPE_##left, VN_DTYPE_##right, VN_DTYPE_##result },
#include "vn-kernel-types.def"
#undef VN_KERNEL_TYPES
};

/**
 * vn_kernel_takes_types:
 * @op_type: the operator in float
 * @left: type of what it reads first
 * @right: type of the other operand
 * @result: type of what it writes
 *
 * Returns: whether ONNX Runtime has a kernel on integers of these types
 */
gboolean
vn_kernel_takes_types (const char *op_type,
                       VnDType     left,
                       VnDType     right,
                       VnDType     result)
{
  gboolean named = FALSE;

  g_return_val_if_fail (op_type != NULL, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      gboolean is_it = types[i].op_type != NULL && g_str_equal (types[i].op_type, op_type);

      named = named || is_it;
      if ((is_it || (types[i].op_type == NULL && !named)) && types[i].left == left && types[i].right == right &&
          types[i].result == result)
        return TRUE;
    }
  return FALSE;
}

/* ---- channels ---- */

/**
 * vn_kernel_get_weight_axis:
 * @node: a product, whose second operand is the weight
 * @rank: of that
 * @axis: (out): along which the channels of the result lie
 *
 * Returns: whether a kernel takes a scale for each of them
 */
gboolean
vn_kernel_get_weight_axis (const VnNode *node,
                           int           rank,
                           int          *axis)
{
  g_return_val_if_fail (node != NULL && axis != NULL, FALSE);

  if (vn_node_is (node, "Conv"))
    *axis = 0;
  else if (vn_node_is (node, "ConvTranspose"))
    *axis = 1;
  else if (vn_node_is (node, "Gemm"))
    *axis = vn_node_get_int (node, "transB", 0) != 0 ? 0 : 1;
  else if (vn_node_is (node, "MatMul") && rank == 2)
    *axis = 1;
  else
    return FALSE;
  return TRUE;
}

/**
 * vn_kernel_get_channel_axis:
 * @input: number of an input of @node
 * @axis: (out): of the channels of its result
 *
 * Returns: whether that operand is a constant, and a kernel takes a scale for each of its channels
 */
gboolean
vn_kernel_get_channel_axis (const VnNode *node,
                            guint         input,
                            int          *axis)
{
  const VnValue *value;

  g_return_val_if_fail (node != NULL && axis != NULL, FALSE);

  value = vn_node_get_input (node, input);
  return input == 1 && value != NULL && value->initializer != NULL &&
         vn_kernel_get_weight_axis (node, value->initializer->shape.rank, axis);
}
