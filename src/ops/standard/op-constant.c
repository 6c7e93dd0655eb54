/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Constant, ConstantOfShape, EyeLike: tensors made from attributes. */
#include "vn-elem.h"

/* The value of a Constant node from whichever attribute has it. */
static VnTensor *
constant_value (const VnNode  *node,
                GError       **error)
{
  VnTensor *tensor = vn_node_get_tensor (node, "value");
  gsize n = 0;
  VnShape list = { 1 };
  const gint64 *ints = vn_node_get_ints (node, "value_ints", &n);
  const float *floats;

  if (tensor != NULL)
    return vn_tensor_ref (tensor);
  list.dims[0] = (gint64) n;
  if (ints != NULL)
    return vn_tensor_new_copy (VN_DTYPE_S64, &list, ints, error);
  floats = vn_node_get_floats (node, "value_floats", &n);
  list.dims[0] = (gint64) n;
  if (floats != NULL)
    return vn_tensor_new_copy (VN_DTYPE_F32, &list, floats, error);
  if (vn_node_get_attr (node, "value_int") != NULL)
    return vn_tensor_new_s64 (&VN_SHAPE_SCALAR, (gint64[]) { vn_node_get_int (node, "value_int", 0) });
  if (vn_node_get_attr (node, "value_float") != NULL)
    return vn_tensor_new_f32 (&VN_SHAPE_SCALAR, (float[]) { vn_node_get_float (node, "value_float", 0) });
  /* An empty list of integers has no storage to point to. */
  if (vn_node_get_attr (node, "value_ints") != NULL)
    return vn_tensor_new_s64 (&list, NULL);
  if (vn_node_get_attr (node, "value_floats") != NULL)
    return vn_tensor_new_f32 (&list, NULL);
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
               _("Constant: one of the attributes value, value_int, value_ints, value_float, value_floats is "
                 "required; strings and sparse tensors are not supported"));
  return NULL;
}

static gboolean
constant_infer (VnOpContext *ctx,
                GError     **error)
{
  g_autoptr(VnTensor) value = constant_value (ctx->node, error);

  if (value == NULL)
    return FALSE;
  vn_op_set_output (ctx, 0, value->dtype, &value->shape);
  if (ctx->out != NULL && ctx->out[0] == NULL)
    ctx->out[0] = vn_tensor_get_aligned (value, error);
  return ctx->out == NULL || ctx->out[0] != NULL;
}

static gboolean
constant_run (VnOpContext *ctx,
              GError     **error)
{
  g_autoptr(VnTensor) value = constant_value (ctx->node, error);

  if (value == NULL)
    return FALSE;
  if (value->dtype == VN_DTYPE_STRING)
    vn_elem_copy_strings (value, ctx->out[0]);
  else if (value->n_bytes > 0)
    memcpy (ctx->out[0]->data, value->data, value->n_bytes);
  return TRUE;
}

const VnOp vn_op_constant_1 = {
  .domain = "", .type = "Constant", .since = 1,
  .min_inputs = 0, .max_inputs = 0, .min_outputs = 1, .max_outputs = 1,
  .dtypes = G_MAXUINT32,
  .family = VN_FAMILY_SHAPE,
  .infer = constant_infer,
  .run = constant_run,
};

static gboolean
constant_of_shape_infer (VnOpContext *ctx,
                         GError     **error)
{
  VnTensor *value = vn_node_get_tensor (ctx->node, "value");
  const VnShape *input = &ctx->in_types[0].shape;
  VnShape out = VN_SHAPE_UNKNOWN;
  gint64 dims[VN_MAX_RANK];
  guint n;

  if (value != NULL && value->n_elements != 1)
    return vn_op_fail (ctx, error, _("ConstantOfShape: the attribute “value” must have 1 element, found %zu"),
                       value->n_elements);
  if (input->rank == 1 && input->dims[0] > VN_MAX_RANK)
    return vn_op_fail (ctx, error, _("ConstantOfShape: %lld dims, at most %d can be handled"),
                       (long long) input->dims[0], VN_MAX_RANK);
  if (vn_op_get_ints_input (ctx, 0, dims, VN_MAX_RANK, &n) || vn_op_get_numbers_input (ctx, 0, dims, VN_MAX_RANK, &n))
    {
      out.rank = (int) n;
      for (guint i = 0; i < n; i++)
        {
          if (vn_dims_is_symbolic (dims[i]))
            dims[i] = vn_dims_as_size (vn_op_get_dims (ctx, dims[i]), dims[i]);
          else if (dims[i] < 0)
            return vn_op_fail (ctx, error, _("ConstantOfShape: dim %u is %lld"), i, (long long) dims[i]);
          out.dims[i] = dims[i];
        }
    }
  else if (input->rank == 1 && input->dims[0] >= 0)
    {
      out.rank = (int) input->dims[0];
      for (int i = 0; i < out.rank; i++)
        out.dims[i] = VN_DIM_UNKNOWN;
    }
  vn_op_set_output (ctx, 0, value != NULL ? value->dtype : VN_DTYPE_F32, &out);
  return TRUE;
}

static gboolean
constant_of_shape_run (VnOpContext *ctx,
                       GError     **error)
{
  VnTensor *value = vn_node_get_tensor (ctx->node, "value"), *out = ctx->out[0];
  gsize size = vn_elem_size (out->dtype);
  VnCopy copy = { 0 };
  guint8 element[16] = { 0 };

  if (size == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("ConstantOfShape does not support elements of type %s"),
                   vn_dtype_get_name (out->dtype));
      return FALSE;
    }
  if (value != NULL)
    memcpy (element, value->data, size);
  vn_copy_add_dim (&copy, (gint64) out->n_elements, 1, 0);
  /* memcpy into a buffer: the value may be an unaligned view into the model's file. */
  vn_copy_run (&copy, size, out->data, element);
  return TRUE;
}

const VnOp vn_op_constant_of_shape_9 = {
  .domain = "", .type = "ConstantOfShape", .since = 9,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (S64) | VN_DTYPE_BIT (S32),
  .family = VN_FAMILY_SHAPE,
  .infer = constant_of_shape_infer,
  .run = constant_of_shape_run,
};

static gboolean
constant_eye_like_infer (VnOpContext *ctx,
                         GError     **error)
{
  gint64 dtype = vn_node_get_int (ctx->node, "dtype", ctx->in_types[0].dtype);

  if (ctx->in_types[0].shape.rank >= 0 && ctx->in_types[0].shape.rank != 2)
    return vn_op_fail (ctx, error, _("EyeLike: the input must have 2 dims, found %d"), ctx->in_types[0].shape.rank);
  if (!vn_dtype_is_valid (dtype))
    return vn_op_fail (ctx, error, _("EyeLike: attribute “dtype” is %lld, which is not an element type"), (long long) dtype);
  vn_op_set_output (ctx, 0, (VnDType) dtype, &ctx->in_types[0].shape);
  return TRUE;
}

static gboolean
constant_eye_like_run (VnOpContext *ctx,
                       GError     **error)
{
  VnTensor *out = ctx->out[0];
  gint64 rows = out->shape.dims[0], cols = out->shape.dims[1], k = vn_node_get_int (ctx->node, "k", 0);
  gsize size = vn_elem_size (out->dtype);
  float one = 1.f;
  double wide = 1.;
  gint64 integer = 1;
  guint16 half = out->dtype == VN_DTYPE_F16 ? vn_half_from_float (1.f) : vn_bfloat_from_float (1.f);
  gconstpointer value = out->dtype == VN_DTYPE_F32 ? (gconstpointer) &one :
                        out->dtype == VN_DTYPE_F64 ? (gconstpointer) &wide :
                        (VN_HALF_BITS >> out->dtype & 1) != 0 ? (gconstpointer) &half : (gconstpointer) &integer;

  if (((VN_NUMBER_BITS | VN_DTYPE_BIT (BOOL)) >> out->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  memset (out->data, 0, out->n_bytes);
  if (k >= cols || k <= -rows)
    return TRUE;
  for (gint64 r = 0; r < rows; r++)
    if (r + k >= 0 && r + k < cols)
      memcpy ((char *) out->data + (gsize) (r * cols + r + k) * size, value, size);
  return TRUE;
}

const VnOp vn_op_eye_like_9 = {
  .domain = "", .type = "EyeLike", .since = 9,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_NUMBER_BITS | VN_DTYPE_BIT (BOOL),
  .family = VN_FAMILY_SHAPE,
  .infer = constant_eye_like_infer,
  .run = constant_eye_like_run,
};
