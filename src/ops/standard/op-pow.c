/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pow: y = x ^ e. The result has the type of the base; the exponent may have another one (opset 12). An integer base
 * with an integer exponent is multiplied out and wraps around; a negative exponent goes through float64. */
#include "vn-elem-binary-private.h"

VN_BINARY_KERNEL (, pow_F32, float, float, powf (a, b))
VN_BINARY_KERNEL (, pow_F64, double, double, pow (a, b))
VN_BINARY_KERNEL (VN_MULTIVERSION, square_F32, float, float, ((void) b, a * a))
VN_BINARY_KERNEL (VN_MULTIVERSION, cube_F32, float, float, a * ((void) b, a * a))

static gint64
pow_integer_power (gint64 base,
                   gint64 exponent)
{
  guint64 result = 1, factor = (guint64) base;

  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  for (; exponent > 0; exponent >>= 1)
    {
      if ((exponent & 1) != 0)
        result *= factor;
      factor *= factor;
    }
  return (gint64) result;
}

static void
pow_store (VnTensor *out,
           gsize     i,
           double    value)
{
  gint64 integer = value >= 0x1p63 ? G_MAXINT64 : value > -0x1p63 ? (gint64) value : G_MININT64;

  switch (out->dtype)
    {
    case VN_DTYPE_F32: ((float *) out->data)[i] = (float) value; break;
    case VN_DTYPE_F64: ((double *) out->data)[i] = value; break;
    case VN_DTYPE_F16: ((guint16 *) out->data)[i] = vn_half_from_float ((float) value); break;
    case VN_DTYPE_BF16: ((guint16 *) out->data)[i] = vn_bfloat_from_float ((float) value); break;
    default: memcpy ((char *) out->data + i * vn_elem_size (out->dtype), &integer, vn_elem_size (out->dtype)); break;
    }
}

/* Any pair of types; slow, for shape arithmetic and odd models. */
static void
pow_power_of_mixed (const VnTensor *base,
                    const VnTensor *exponent,
                    VnTensor       *out)
{
  const VnShape *shapes[2] = { &base->shape, &exponent->shape };
  gboolean integers = vn_dtype_is_integer (base->dtype) && vn_dtype_is_integer (exponent->dtype);
  VnBroadcast row;

  vn_broadcast_init (&row, &out->shape, shapes, 2);
  while (vn_broadcast_next (&row))
    for (gsize i = 0; i < row.n; i++)
      {
        gsize a = row.offset[0] + i * row.step[0], b = row.offset[1] + i * row.step[1];
        gint64 value;

        if (!integers)
          {
            pow_store (out, row.out + i, pow (vn_tensor_get_double (base, a), vn_tensor_get_double (exponent, b)));
            continue;
          }
        value = pow_integer_power (vn_tensor_get_s64 (base, a), vn_tensor_get_s64 (exponent, b));
        memcpy ((char *) out->data + (row.out + i) * vn_elem_size (out->dtype), &value, vn_elem_size (out->dtype));
      }
}

/* Squares and cubes are common (variances, GELU) and far cheaper as products. */
static VnBinaryFunc
pow_choose (const VnTensor *base,
            const VnTensor *exponent)
{
  double e = exponent->n_elements == 1 ? vn_tensor_get_double (exponent, 0) : NAN;

  if (base->dtype == VN_DTYPE_F64)
    return pow_F64;
  return e == 2. ? square_F32 : e == 3. ? cube_F32 : pow_F32;
}

static gboolean
pow_infer (VnOpContext *ctx,
           GError     **error)
{
  return vn_binary_infer_unchecked (ctx, ctx->in_types[0].dtype, error);
}

static gboolean
pow_run (VnOpContext *ctx,
         GError     **error)
{
  VnShape a = vn_binary_shape (ctx, 0), b = vn_binary_shape (ctx, 1);
  const VnShape *shapes[2] = { &a, &b };
  VnDType dtype = ctx->in[0]->dtype;

  if ((VN_NUMBER_BITS >> dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  if (dtype >= 32 || (VN_NUMBER_BITS >> ctx->in[1]->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 1, error);
  if (dtype == ctx->in[1]->dtype && (VN_FLOAT_BITS >> dtype & 1) != 0)
    vn_binary_apply (pow_choose (ctx->in[0], ctx->in[1]), dtype, vn_elem_size (dtype), shapes, ctx->in[0]->data,
                     ctx->in[1]->data, &ctx->out[0]->shape, ctx->out[0]->data, NULL);
  else
    pow_power_of_mixed (ctx->in[0], ctx->in[1], ctx->out[0]);
  return TRUE;
}

const VnOp vn_op_pow_1 = {
  .domain = "", .type = "Pow", .since = 1,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_NUMBER_BITS },
  .dtypes = VN_NUMBER_BITS,
  .family = VN_FAMILY_ARITHMETIC,
  .quant = VN_QUANT_TRAITS (VN_QUANT_GENERIC, FALSE),
  .infer = pow_infer,
  .run = pow_run,
};
