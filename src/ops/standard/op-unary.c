/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of one number, element by element. Round takes ties to even; Sign of NaN is NaN. */
#include "vn-elem.h"
#include "vn-vecmath.h"

typedef void (*UnaryFunc) (gconstpointer x,
                           gpointer      y,
                           gsize         n);

#define KERNEL(attribute, name, type, expression)                               \
  attribute                                                                     \
  static void                                                                   \
  name (gconstpointer px, gpointer py, gsize n)                                 \
  {                                                                             \
    const type *vx = px;                                                        \
    type *y = py;                                                               \
                                                                                \
    for (gsize i = 0; i < n; i++)                                               \
      {                                                                         \
        const type x = vx[i];                                                   \
        y[i] = (expression);                                                    \
      }                                                                         \
  }

/* prefix, expression for float, expression for double */
#define FLOAT_KERNELS(prefix, narrow, wide)                                     \
  KERNEL (VN_MULTIVERSION, prefix##_F32, float, narrow)                         \
  KERNEL (, prefix##_F64, double, wide)

FLOAT_KERNELS (abs, fabsf (x), fabs (x))
FLOAT_KERNELS (neg, -x, -x)
FLOAT_KERNELS (sqrt, sqrtf (x), sqrt (x))
FLOAT_KERNELS (reciprocal, 1.f / x, 1. / x)
FLOAT_KERNELS (floor, floorf (x), floor (x))
FLOAT_KERNELS (ceil, ceilf (x), ceil (x))
FLOAT_KERNELS (round, rintf (x), rint (x))
FLOAT_KERNELS (sign, x > 0.f ? 1.f : x < 0.f ? -1.f : x, x > 0. ? 1. : x < 0. ? -1. : x)
FLOAT_KERNELS (exp, vn_expf (x), exp (x))
FLOAT_KERNELS (log, logf (x), log (x))
FLOAT_KERNELS (sin, sinf (x), sin (x))
FLOAT_KERNELS (cos, cosf (x), cos (x))
FLOAT_KERNELS (tan, tanf (x), tan (x))
FLOAT_KERNELS (asin, asinf (x), asin (x))
FLOAT_KERNELS (acos, acosf (x), acos (x))
FLOAT_KERNELS (atan, atanf (x), atan (x))
FLOAT_KERNELS (sinh, sinhf (x), sinh (x))
FLOAT_KERNELS (cosh, coshf (x), cosh (x))
FLOAT_KERNELS (asinh, asinhf (x), asinh (x))
FLOAT_KERNELS (acosh, acoshf (x), acosh (x))
FLOAT_KERNELS (atanh, atanhf (x), atanh (x))

#define SIGNED_KERNELS(name, type, arg)                                         \
  KERNEL (, abs_##name, type, x < 0 ? (type) (0 - (guint64) x) : x)             \
  KERNEL (, neg_##name, type, (type) (0 - (guint64) x))                         \
  KERNEL (, sign_##name, type, (type) ((x > 0) - (x < 0)))
#define UNSIGNED_KERNELS(name, type, arg)                                       \
  KERNEL (, abs_##name, type, x)                                                \
  KERNEL (, sign_##name, type, x > 0)
VN_SIGNED_TYPES (SIGNED_KERNELS, )
VN_UNSIGNED_TYPES (UNSIGNED_KERNELS, )

static void
unary_half_rows (UnaryFunc       func,
                 const VnTensor *in,
                 VnTensor       *out)
{
  enum { PIECE = 512 };
  float wide[PIECE];

  for (gsize i = 0; i < in->n_elements; i += PIECE)
    {
      gsize n = MIN (in->n_elements - i, (gsize) PIECE);

      vn_elem_to_float (in->dtype, (const guint16 *) in->data + i, wide, n);
      func (wide, wide, n);
      vn_elem_from_float (in->dtype, wide, (guint16 *) out->data + i, n);
    }
}

static gboolean
unary_run (VnOpContext      *ctx,
           const UnaryFunc  *funcs,
           GError          **error)
{
  const VnTensor *in = ctx->in[0];
  gboolean half = (VN_HALF_BITS >> in->dtype & 1) != 0;
  UnaryFunc func = in->dtype <= VN_DTYPE_BF16 ? funcs[half ? VN_DTYPE_F32 : in->dtype] : NULL;

  if (func == NULL)
    return vn_op_unsupported (ctx, 0, error);
  if (half)
    unary_half_rows (func, in, ctx->out[0]);
  else
    func (in->data, ctx->out[0]->data, in->n_elements);
  return TRUE;
}

#define ENTRY(name, type, prefix) [VN_DTYPE_##name] = prefix##_##name,
#define UNARY(variable, name, first, types, prefix, ...)                        \
  static const UnaryFunc prefix##_funcs[VN_DTYPE_BF16 + 1] = { __VA_ARGS__ };   \
  static gboolean                                                               \
  prefix##_run (VnOpContext *ctx, GError **error)                               \
  {                                                                             \
    return unary_run (ctx, prefix##_funcs, error);                              \
  }                                                                             \
  const VnOp variable = {                                                       \
    .domain = "", .type = name, .since = first,                                 \
    .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,       \
    .dtypes = types,                                                            \
    .family = VN_FAMILY_ARITHMETIC,                                             \
    .infer = vn_op_infer_same,                                                  \
    .run = prefix##_run,                                                        \
  };
#define UNARY_FLOAT(variable, name, first, prefix)                              \
  UNARY (variable, name, first, VN_FLOAT_BITS, prefix, VN_FLOAT_TYPES (ENTRY, prefix))

#define SIGNED_BITS (VN_DTYPE_BIT (S8) | VN_DTYPE_BIT (S16) | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64))

UNARY (vn_op_abs_1, "Abs", 1, VN_NUMBER_BITS, abs, VN_FLOAT_TYPES (ENTRY, abs) VN_INTEGER_TYPES (ENTRY, abs))
UNARY (vn_op_neg_1, "Neg", 1, VN_FLOAT_BITS | SIGNED_BITS, neg,
       VN_FLOAT_TYPES (ENTRY, neg) VN_SIGNED_TYPES (ENTRY, neg))
UNARY (vn_op_sign_9, "Sign", 9, VN_NUMBER_BITS, sign, VN_FLOAT_TYPES (ENTRY, sign) VN_INTEGER_TYPES (ENTRY, sign))
UNARY_FLOAT (vn_op_sqrt_1, "Sqrt", 1, sqrt)
UNARY_FLOAT (vn_op_reciprocal_1, "Reciprocal", 1, reciprocal)
UNARY_FLOAT (vn_op_floor_1, "Floor", 1, floor)
UNARY_FLOAT (vn_op_ceil_1, "Ceil", 1, ceil)
UNARY_FLOAT (vn_op_round_11, "Round", 11, round)
UNARY_FLOAT (vn_op_exp_1, "Exp", 1, exp)
UNARY_FLOAT (vn_op_log_1, "Log", 1, log)
UNARY_FLOAT (vn_op_sin_7, "Sin", 7, sin)
UNARY_FLOAT (vn_op_cos_7, "Cos", 7, cos)
UNARY_FLOAT (vn_op_tan_7, "Tan", 7, tan)
UNARY_FLOAT (vn_op_asin_7, "Asin", 7, asin)
UNARY_FLOAT (vn_op_acos_7, "Acos", 7, acos)
UNARY_FLOAT (vn_op_atan_7, "Atan", 7, atan)
UNARY_FLOAT (vn_op_sinh_9, "Sinh", 9, sinh)
UNARY_FLOAT (vn_op_cosh_9, "Cosh", 9, cosh)
UNARY_FLOAT (vn_op_asinh_9, "Asinh", 9, asinh)
UNARY_FLOAT (vn_op_acosh_9, "Acosh", 9, acosh)
UNARY_FLOAT (vn_op_atanh_9, "Atanh", 9, atanh)
