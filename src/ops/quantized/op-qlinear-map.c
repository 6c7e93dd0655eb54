/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators of ONNX Runtime whose 8-bit result depends on one 8-bit number: a table of 256 results each.
 * QLinearLeakyRelu, QLinearSigmoid, QLinearConcat and QLinearWhere. */
#include "vn-int.h"

/* ---- functions of one input: x, x_scale, x_zero, y_scale, y_zero ---- */

static gboolean
map_infer (VnOpContext *ctx,
           GError     **error)
{
  vn_op_set_output (ctx, 0, vn_int_dtype (ctx, 4, 0), &ctx->in_types[0].shape);
  return TRUE;
}

static gboolean
map_run (VnOpContext  *ctx,
         VnIntFunc     func,
         float         parameter,
         GError      **error)
{
  const guint8 *x = ctx->in[0]->data;
  guint8 table[256], *y = ctx->out[0]->data;
  VnIntScalar from, to;

  if (!vn_int_scalar (ctx, 1, 2, ctx->in[0]->dtype, &from, error) ||
      !vn_int_scalar (ctx, 3, 4, ctx->out[0]->dtype, &to, error))
    return FALSE;
  vn_int_table (&from, &to, func, parameter, table);
  for (gsize i = 0; i < ctx->in[0]->n_elements; i++)
    y[i] = table[x[i]];
  return TRUE;
}

static float
qlinear_map_leaky_relu (float x,
                        float alpha)
{
  return x >= 0.f ? x : alpha * x;
}

static gboolean
qlinear_map_leaky_relu_run (VnOpContext *ctx,
                            GError     **error)
{
  return map_run (ctx, qlinear_map_leaky_relu, vn_node_get_float (ctx->node, "alpha", 0.01f), error);
}

static float
qlinear_map_sigmoid (float x,
                     float unused)
{
  return 1.f / (1.f + expf (-x));
}

static gboolean
qlinear_map_sigmoid_run (VnOpContext *ctx,
                         GError     **error)
{
  return map_run (ctx, qlinear_map_sigmoid, 0.f, error);
}

/* ---- QLinearConcat: y_scale, y_zero, then x, scale, zero of each input ---- */

static gboolean
qlinear_map_concat_axis (VnOpContext  *ctx,
                         int          *axis,
                         GError      **error)
{
  if (ctx->n_inputs < 5 || (ctx->n_inputs - 2) % 3 != 0)
    return vn_op_fail (ctx, error,
                       ngettext ("%u input: expected scale and zero point, then three for each tensor",
                                 "%u inputs: expected scale and zero point, then three for each tensor", ctx->n_inputs),
                       ctx->n_inputs);
  return vn_op_axis (ctx, &ctx->in_types[2].shape, vn_node_get_int (ctx->node, "axis", 1), axis, error);
}

static gboolean
qlinear_map_join_shape (VnOpContext    *ctx,
                        const VnShape  *x,
                        int             axis,
                        VnShape        *out,
                        GError        **error)
{
  if (x->rank != out->rank)
    return vn_op_fail (ctx, error, _("tensors of rank %d and %d cannot be concatenated"), out->rank, x->rank);
  for (int d = 0; d < out->rank; d++)
    if (d == axis)
      out->dims[d] = x->dims[d] >= 0 && out->dims[d] >= 0 ? out->dims[d] + x->dims[d]
                   : vn_dims_add (out->dims[d] == VN_DIM_UNKNOWN ? NULL : vn_op_get_dims (ctx, x->dims[d]),
                                  out->dims[d], x->dims[d]);
    else if (out->dims[d] == VN_DIM_UNKNOWN || (out->dims[d] < 0 && x->dims[d] >= 0))
      out->dims[d] = x->dims[d];
    else if (x->dims[d] >= 0 && x->dims[d] != out->dims[d])
      return vn_op_fail (ctx, error, _("sizes %lld and %lld differ on axis %d, which is not the concatenation axis"),
                         (long long) out->dims[d], (long long) x->dims[d],
                                       d);
  return TRUE;
}

static gboolean
qlinear_map_concat_infer (VnOpContext *ctx,
                          GError     **error)
{
  VnShape out = VN_SHAPE_UNKNOWN;
  gboolean known = TRUE;
  int axis;

  for (guint i = 2; i < ctx->n_inputs; i += 3)
    known = known && ctx->in_types[i].shape.rank >= 0;
  if (known)
    {
      if (!qlinear_map_concat_axis (ctx, &axis, error))
        return FALSE;
      out = ctx->in_types[2].shape;
      for (guint i = 5; i < ctx->n_inputs; i += 3)
        if (!qlinear_map_join_shape (ctx, &ctx->in_types[i].shape, axis, &out, error))
          return FALSE;
    }
  vn_op_set_output (ctx, 0, vn_int_dtype (ctx, 1, 2), &out);
  return TRUE;
}

static gboolean
qlinear_map_concat_run (VnOpContext *ctx,
                        GError     **error)
{
  VnTensor *out = ctx->out[0];
  gsize rows, pitch, offset = 0;
  VnIntScalar to, from;
  int axis;

  if (!qlinear_map_concat_axis (ctx, &axis, error) || !vn_int_scalar (ctx, 0, 1, out->dtype, &to, error))
    return FALSE;
  rows = (gsize) vn_shape_count (&out->shape, 0, axis);
  pitch = (gsize) vn_shape_count (&out->shape, axis, out->shape.rank);
  for (guint i = 2; i < ctx->n_inputs; i += 3)
    {
      const VnTensor *in = ctx->in[i];
      gsize n = (gsize) vn_shape_count (&in->shape, axis, in->shape.rank);
      guint8 table[256];

      if ((VN_INT_BITS >> in->dtype & 1) == 0)
        return vn_op_unsupported (ctx, i, error);
      if (!vn_int_scalar (ctx, i + 1, i + 2, in->dtype, &from, error))
        return FALSE;
      vn_int_table (&from, &to, NULL, 0.f, table);
      for (gsize row = 0; row < rows; row++)
        for (gsize k = 0; k < n; k++)
          ((guint8 *) out->data)[row * pitch + offset + k] = table[((const guint8 *) in->data)[row * n + k]];
      offset += n;
    }
  return TRUE;
}

/* ---- QLinearWhere: condition, x, x_scale, x_zero, y, y_scale, y_zero, z_scale, z_zero ---- */

static gboolean
qlinear_map_where_infer (VnOpContext *ctx,
                         GError     **error)
{
  VnShape out;

  if (!vn_shape_broadcast (&ctx->in_types[0].shape, &ctx->in_types[1].shape, &out) ||
      !vn_shape_broadcast (&out, &ctx->in_types[4].shape, &out))
    return vn_op_fail (ctx, error, _("condition and tensors cannot be broadcast to each other"));
  vn_op_set_output (ctx, 0, vn_int_dtype (ctx, 8, 1), &out);
  return TRUE;
}

static gboolean
qlinear_map_where_run (VnOpContext *ctx,
                       GError     **error)
{
  const VnShape *shapes[3] = { &ctx->in[0]->shape, &ctx->in[1]->shape, &ctx->in[4]->shape };
  const guint8 *c = ctx->in[0]->data, *x = ctx->in[1]->data, *y = ctx->in[4]->data;
  guint8 table_x[256], table_y[256], *z = ctx->out[0]->data;
  VnIntScalar from_x, from_y, to;
  VnBroadcast row;

  if ((VN_INT_BITS >> ctx->in[1]->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 1, error);
  if ((VN_INT_BITS >> ctx->in[4]->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 4, error);
  if (!vn_int_scalar (ctx, 2, 3, ctx->in[1]->dtype, &from_x, error) ||
      !vn_int_scalar (ctx, 5, 6, ctx->in[4]->dtype, &from_y, error) ||
      !vn_int_scalar (ctx, 7, 8, ctx->out[0]->dtype, &to, error))
    return FALSE;
  vn_int_table (&from_x, &to, NULL, 0.f, table_x);
  vn_int_table (&from_y, &to, NULL, 0.f, table_y);
  vn_broadcast_init (&row, &ctx->out[0]->shape, shapes, 3);
  while (vn_broadcast_next (&row))
    for (gsize i = 0; i < row.n; i++)
      z[row.out + i] = c[row.offset[0] + i * row.step[0]] != 0 ? table_x[x[row.offset[1] + i * row.step[1]]]
                                                               : table_y[y[row.offset[2] + i * row.step[2]]];
  return TRUE;
}

#define OPERATOR(id, name, least, most, types, kind, infer_, run_)               \
  const VnOp vn_op_ms_##id = {                                                   \
    .domain = "com.microsoft", .type = name, .since = 1,                         \
    .min_inputs = least, .max_inputs = most, .min_outputs = 1, .max_outputs = 1, \
    .optional = least == 4 ? 1u << 2 : 0,   /* the zero point of X */            \
    .dtypes = types,                                                             \
    .family = kind,                                                              \
    .infer = infer_,                                                             \
    .run = run_,                                                                 \
  };

OPERATOR (qlinear_concat, "QLinearConcat", 5, VN_OP_MAX_INPUTS, VN_DTYPE_BIT (F32), VN_FAMILY_SHAPE, qlinear_map_concat_infer,
          qlinear_map_concat_run)
OPERATOR (qlinear_leaky_relu, "QLinearLeakyRelu", 4, 5, VN_INT_BITS, VN_FAMILY_ACTIVATION, map_infer, qlinear_map_leaky_relu_run)
OPERATOR (qlinear_sigmoid, "QLinearSigmoid", 4, 5, VN_INT_BITS, VN_FAMILY_ACTIVATION, map_infer, qlinear_map_sigmoid_run)
OPERATOR (qlinear_where, "QLinearWhere", 9, 9, VN_DTYPE_BIT (BOOL), VN_FAMILY_SHAPE, qlinear_map_where_infer,
          qlinear_map_where_run)
