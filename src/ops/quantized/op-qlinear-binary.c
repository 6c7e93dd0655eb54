/* SPDX-License-Identifier: GPL-3.0-or-later */
/* QLinearAdd: c = round ((a_scale * (a - a_zero) + b_scale * (b - b_zero)) / c_scale) + c_zero, and QLinearMul:
 * c = round (a_scale * (a - a_zero) * b_scale * (b - b_zero) / c_scale) + c_zero, in float32 as ONNX Runtime; NumPy
 * broadcasting. Inputs: a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero. */
#include "vn-int.h"

static gboolean
binary_infer (VnOpContext *ctx,
              GError     **error)
{
  VnShape out;

  if (!vn_shape_broadcast (&ctx->in_types[0].shape, &ctx->in_types[3].shape, &out))
    {
      g_autofree char *a = vn_shape_to_string (&ctx->in_types[0].shape, "×");
      g_autofree char *b = vn_shape_to_string (&ctx->in_types[3].shape, "×");

      return vn_op_fail (ctx, error, _("shapes %s and %s cannot be broadcast to each other"), a, b);
    }
  vn_op_set_output (ctx, 0, vn_int_dtype (ctx, 7, 0), &out);
  return TRUE;
}

/* @scale times each of the 256 numbers of an operand, less @zero, and @more. */
static void
qlinear_binary_values_of (const VnIntScalar *self,
                          float              scale,
                          int                zero,
                          float              more,
                          float              values[256])
{
  for (guint i = 0; i < 256; i++)
    {
      guint8 byte = (guint8) i;

      values[i] = scale * (float) (vn_int_load (self->dtype, &byte, 0) - zero) + more;
    }
}

/* In the order in which ONNX Runtime's kernel computes, which decides where a sum that lies between two steps falls:
 * a * (a_scale / c_scale) + (b * (b_scale / c_scale) + what the zero points come to). After this a sum needs rounding alone. */
static void
qlinear_binary_terms_of_sum (const VnIntScalar *a,
                             const VnIntScalar *b,
                             VnIntScalar       *to,
                             float              values_a[256],
                             float              values_b[256])
{
  const float ratio_a = a->scale / to->scale, ratio_b = b->scale / to->scale;
  const float zeros = ratio_a * (float) a->zero + ratio_b * (float) b->zero;

  qlinear_binary_values_of (a, ratio_a, 0, 0, values_a);
  qlinear_binary_values_of (b, ratio_b, 0, (float) to->zero - zeros, values_b);
  to->scale = 1;
  to->zero = 0;
}

static void
qlinear_binary_run_row (const VnBroadcast *row,
                        const guint8      *a,
                        const float       *values_a,
                        const guint8      *b,
                        const float       *values_b,
                        gboolean           multiply,
                        float             *y)
{
  a += row->offset[0];
  b += row->offset[1];
  if (multiply)
    for (gsize i = 0; i < row->n; i++)
      y[i] = values_a[a[i * row->step[0]]] * values_b[b[i * row->step[1]]];
  else
    for (gsize i = 0; i < row->n; i++)
      y[i] = values_a[a[i * row->step[0]]] + values_b[b[i * row->step[1]]];
}

static gboolean
binary_run (VnOpContext *ctx,
            GError     **error)
{
  const VnShape *shapes[2] = { &ctx->in[0]->shape, &ctx->in[3]->shape };
  gboolean multiply = g_str_equal (ctx->op->type, "QLinearMul");
  float values_a[256], values_b[256], buffer[VN_BROADCAST_CHUNK];
  guint8 *c = ctx->out[0]->data;
  VnIntScalar a, b, to;
  VnBroadcast row;

  if ((VN_INT_BITS >> ctx->in[3]->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 3, error);
  if (!vn_int_scalar (ctx, 1, 2, ctx->in[0]->dtype, &a, error) ||
      !vn_int_scalar (ctx, 4, 5, ctx->in[3]->dtype, &b, error) ||
      !vn_int_scalar (ctx, 6, 7, ctx->out[0]->dtype, &to, error))
    return FALSE;
  if (multiply)
    {
      qlinear_binary_values_of (&a, a.scale, a.zero, 0, values_a);
      qlinear_binary_values_of (&b, b.scale, b.zero, 0, values_b);
    }
  else
    qlinear_binary_terms_of_sum (&a, &b, &to, values_a, values_b);
  vn_broadcast_init (&row, &ctx->out[0]->shape, shapes, 2);
  while (vn_broadcast_next (&row))
    {
      g_assert (row.n <= VN_BROADCAST_CHUNK);
      qlinear_binary_run_row (&row, ctx->in[0]->data, values_a, ctx->in[3]->data, values_b, multiply, buffer);
      vn_int_quantize (buffer, row.n, to.scale, to.zero, to.dtype, c + row.out);
    }
  return TRUE;
}

#define OPERATOR(id, name)                                                      \
  const VnOp vn_op_ms_##id = {                                                  \
    .domain = "com.microsoft", .type = name, .since = 1,                        \
    .min_inputs = 7, .max_inputs = 8, .min_outputs = 1, .max_outputs = 1,       \
    .optional = 1u << 2 | 1u << 5,                                              \
    .dtypes = VN_INT_BITS,                                                      \
    .family = VN_FAMILY_ARITHMETIC,                                             \
    .infer = binary_infer,                                                      \
    .run = binary_run,                                                          \
  };

OPERATOR (qlinear_add, "QLinearAdd")
OPERATOR (qlinear_mul, "QLinearMul")
