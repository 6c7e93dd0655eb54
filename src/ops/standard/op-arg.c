/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ArgMax, ArgMin: index of the extreme along one axis; of equal ones the first, or the last by select_last_index. */
#include "vn-elem.h"

static gboolean
arg_infer (VnOpContext *ctx,
           GError     **error)
{
  const VnShape *input = &ctx->in_types[0].shape;
  gboolean keep = vn_node_get_int (ctx->node, "keepdims", 1) != 0;
  VnShape out = VN_SHAPE_UNKNOWN;
  int axis;

  if (input->rank >= 0)
    {
      if (!vn_op_axis (ctx, input, vn_node_get_int (ctx->node, "axis", 0), &axis, error))
        return FALSE;
      if (input->dims[axis] == 0)
        return vn_op_fail (ctx, error, _("%s: axis %d is empty"), ctx->op->type, axis);
      out.rank = 0;
      for (int d = 0; d < input->rank; d++)
        if (d != axis)
          out.dims[out.rank++] = input->dims[d];
        else if (keep)
          out.dims[out.rank++] = 1;
    }
  vn_op_set_output (ctx, 0, VN_DTYPE_S64, &out);
  return TRUE;
}

#define FIND(name, type, arg)                                                                       \
  static gsize                                                                                      \
  find_##name (gconstpointer data, gsize first, gsize n, gsize stride, gboolean max, gboolean last) \
  {                                                                                                 \
    const type *x = (const type *) data + first;                                                    \
    gsize best = 0;                                                                                 \
                                                                                                    \
    for (gsize i = 1; i < n; i++)                                                                   \
      {                                                                                             \
        const type v = x[i * stride], b = x[best * stride];                                         \
        if ((max ? v > b : v < b) || (last && v == b))                                              \
          best = i;                                                                                 \
      }                                                                                             \
    return best;                                                                                    \
  }
VN_INTEGER_TYPES (FIND, )
VN_FLOAT_TYPES (FIND, )

static gsize
arg_find_half (const VnTensor *in, gsize first, gsize n, gsize stride, gboolean max, gboolean last)
{
  gsize best = 0;

  for (gsize i = 1; i < n; i++)
    {
      float v = vn_elem_load_float (in->dtype, in->data, first + i * stride);
      float b = vn_elem_load_float (in->dtype, in->data, first + best * stride);

      if ((max ? v > b : v < b) || (last && v == b))
        best = i;
    }
  return best;
}

#define FIND_CASE(name, type, arg)                                              \
  case VN_DTYPE_##name:                                                         \
    return find_##name (in->data, first, n, stride, max, last);

static gsize
arg_find (const VnTensor *in,
          gsize           first,
          gsize           n,
          gsize           stride,
          gboolean        max,
          gboolean        last)
{
  switch (in->dtype)
    {
      VN_INTEGER_TYPES (FIND_CASE, )
      VN_FLOAT_TYPES (FIND_CASE, )
    default:
      return arg_find_half (in, first, n, stride, max, last);
    }
}

static gboolean
arg_run (VnOpContext *ctx,
         GError     **error)
{
  const VnTensor *in = ctx->in[0];
  gint64 *y = ctx->out[0]->data;
  gboolean max = g_str_equal (ctx->op->type, "ArgMax");
  gboolean last = vn_node_get_int (ctx->node, "select_last_index", 0) != 0;
  gsize outer, n, inner;
  int axis;

  if ((ctx->op->dtypes >> in->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  if (!vn_op_axis (ctx, &in->shape, vn_node_get_int (ctx->node, "axis", 0), &axis, error))
    return FALSE;
  outer = (gsize) vn_shape_count (&in->shape, 0, axis);
  n = (gsize) in->shape.dims[axis];
  inner = (gsize) vn_shape_count (&in->shape, axis + 1, in->shape.rank);
  for (gsize o = 0; o < outer; o++)
    for (gsize i = 0; i < inner; i++)
      *y++ = (gint64) arg_find (in, o * n * inner + i, n, inner, max, last);
  return TRUE;
}

#define ARG(variable, name, ort)                                                \
  const VnOp variable = {                                                       \
    .domain = "", .type = name, .since = 1,                                     \
    .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,       \
    .dtypes = VN_NUMBER_BITS,                                                   \
    .family = VN_FAMILY_ARITHMETIC,                                             \
    .quant = VN_QUANT_TRAITS (VN_QUANT_GENERIC, ort),                           \
    .infer = arg_infer,                                                         \
    .run = arg_run,                                                             \
  };

ARG (vn_op_arg_max_1, "ArgMax", TRUE)
ARG (vn_op_arg_min_1, "ArgMin", FALSE)
