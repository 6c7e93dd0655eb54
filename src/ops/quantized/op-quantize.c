/* SPDX-License-Identifier: GPL-3.0-or-later */
/* QuantizeLinear: y = saturate (round (x / scale) + zero_point), ties to even.
 *
 * The division is a division: multiplying by the reciprocal would round differently near ties. NaN becomes the lowest
 * number, as ONNX Runtime does it. The narrow types are computed in float32, where every value up to 2^24 is exact; the
 * 32-bit types in float64. */
#include "vn-minifloat.h"
#include "vn-narrow-product.h"
#include "vn-quant-layout-private.h"


/* One run; step 0: one scale for all, 1: one each. */
typedef void (*QuantizeFunc) (const float  *x,
                              const float  *scale,
                              const gint32 *zero,
                              gsize         step,
                              gint32        min,
                              gint32        max,
                              gpointer      y,
                              gsize         n);

/* Clamped before the zero point is added, so that the sum cannot overflow. NaN fails the first comparison. */
#define NARROW_ONE(type, x, scale, zero, min, max)                              \
  ({                                                                            \
    float v_ = rintf ((x) / (scale));                                           \
    const float lo_ = (float) ((min) - (zero)), hi_ = (float) ((max) - (zero)); \
    v_ = v_ > lo_ ? v_ : lo_;                                                   \
    v_ = v_ < hi_ ? v_ : hi_;                                                   \
    (type) ((gint32) v_ + (zero));                                              \
  })

#define NARROW_KERNEL(name, type)                                                                              \
  VN_MULTIVERSION                                                                                              \
  static void                                                                                                  \
  quantize_##name (const float *x, const float *scale, const gint32 *zero, gsize step, gint32 min, gint32 max, \
                   gpointer py, gsize n)                                                                       \
  {                                                                                                            \
    type *y = py;                                                                                              \
                                                                                                               \
    if (step == 0)                                                                                             \
      {                                                                                                        \
        const float s = *scale;                                                                                \
        const gint32 z = *zero;                                                                                \
        for (gsize i = 0; i < n; i++)                                                                          \
          y[i] = NARROW_ONE (type, x[i], s, z, min, max);                                                      \
      }                                                                                                        \
    else                                                                                                       \
      for (gsize i = 0; i < n; i++)                                                                            \
        y[i] = NARROW_ONE (type, x[i], scale[i], zero[i], min, max);                                           \
  }

NARROW_KERNEL (U8, guint8)
NARROW_KERNEL (S8, gint8)
NARROW_KERNEL (U16, guint16)
NARROW_KERNEL (S16, gint16)

#define WIDE_KERNEL(name, type, lowest, highest)                                                               \
  static void                                                                                                  \
  quantize_##name (const float *x, const float *scale, const gint32 *zero, gsize step, gint32 min, gint32 max, \
                   gpointer py, gsize n)                                                                       \
  {                                                                                                            \
    type *y = py;                                                                                              \
                                                                                                               \
    for (gsize i = 0; i < n; i++)                                                                              \
      {                                                                                                        \
        double v = (double) rintf (x[i] / scale[i * step]) + (double) (type) zero[i * step];                   \
        v = v > lowest ? v : lowest;                                                                           \
        v = v < highest ? v : highest;                                                                         \
        y[i] = (type) v;                                                                                       \
      }                                                                                                        \
  }

WIDE_KERNEL (S32, gint32, -0x1p31, 0x1.fffffffcp30)
WIDE_KERNEL (U32, guint32, 0., 0x1.fffffffep31)

static QuantizeFunc
quantize_find_kernel (VnDType dtype)
{
  switch (dtype)
    {
    case VN_DTYPE_U8:
    case VN_DTYPE_U4:
    case VN_DTYPE_U2: return quantize_U8;
    case VN_DTYPE_S8:
    case VN_DTYPE_S4:
    case VN_DTYPE_S2: return quantize_S8;
    case VN_DTYPE_U16: return quantize_U16;
    case VN_DTYPE_S16: return quantize_S16;
    case VN_DTYPE_S32: return quantize_S32;
    case VN_DTYPE_U32: return quantize_U32;
    default: return NULL;
    }
}

typedef struct
{
  VnQuantLayout   layout;
  VnQuantParams   params;
  const VnTensor *in, *zero;
  VnTensor       *out;
  QuantizeFunc    func;
  gint32          min, max;
  gboolean        saturate, half_up;
} Quantize;

static const float *
quantize_load_piece (const VnTensor *in,
                     gsize           first,
                     gsize           n,
                     float          *buffer)
{
  if (in->dtype == VN_DTYPE_F32)
    return (const float *) in->data + first;
  if (in->dtype == VN_DTYPE_S32)
    for (gsize i = 0; i < n; i++)
      buffer[i] = (float) ((const gint32 *) in->data)[first + i];
  else
    vn_elem_to_float (in->dtype, (const guint16 *) in->data + first, buffer, n);
  return buffer;
}

static void
quantize_store_packed (VnTensor     *out,
                       gsize         first,
                       const guint8 *values,
                       gsize         n)
{
  guint bits = vn_dtype_get_bits (out->dtype), per_byte = 8 / bits, mask = (1u << bits) - 1;
  guint8 *data = out->data;

  for (gsize i = 0; i < n; i++)
    {
      guint shift = (guint) ((first + i) % per_byte) * bits;
      guint8 *byte = data + (first + i) / per_byte;

      *byte = (guint8) ((*byte & ~(mask << shift)) | ((values[i] & mask) << shift));
    }
}

/* Types that are floats: the extended operators scale and shift, and round to the type. */
static void
quantize_store_float (const Quantize *self,
                      gsize           first,
                      const float    *x,
                      gsize           scale,
                      gsize           step,
                      gsize           n)
{
  float y[VN_QUANT_PIECE];
  VnDType dtype = self->out->dtype;

  for (gsize i = 0; i < n; i++)
    {
      float zero = self->zero != NULL ? vn_elem_load_float (dtype, self->zero->data, scale + i * step) : 0.f;

      y[i] = x[i] / self->params.scales[scale + i * step] + zero;
    }
  vn_elem_from_float (dtype, y, (char *) self->out->data + first * vn_elem_size (dtype), n);
}

/* Floats of 8 bits have no zero point but 0, which is not even added: as ONNX Runtime does it. */
static void
quantize_store_minifloat (const Quantize *self,
                          gsize           first,
                          const float    *x,
                          gsize           scale,
                          gsize           step,
                          gsize           n)
{
  guint8 codes[VN_QUANT_PIECE];

  for (gsize i = 0; i < n; i++)
    {
      float v = x[i] / self->params.scales[scale + i * step];

      if (self->out->dtype == VN_DTYPE_F4E2M1)
        v += self->zero != NULL ? vn_minifloat_load (self->out->dtype, self->zero->data, scale + i * step) : 0.f;
      codes[i] = vn_minifloat_from (self->out->dtype, v, self->saturate, VN_ROUND_NEAREST);
    }
  if (self->out->dtype == VN_DTYPE_F4E2M1)
    quantize_store_packed (self->out, first, codes, n);
  else
    memcpy ((guint8 *) self->out->data + first, codes, n);
}

/* Ties that went down to the even number go up. */
static void
quantize_raise_ties (const Quantize *self,
                     const float    *x,
                     gsize           scale,
                     gsize           step,
                     gsize           n,
                     gpointer        codes,
                     gsize           size)
{
  for (gsize i = 0; i < n; i++)
    {
      const float v = x[i] / self->params.scales[scale + i * step], rounded = rintf (v);
      const float code = rounded + (float) self->params.zero_points[scale + i * step];

      if (rounded - v != -0.5f || code < (float) self->min || code >= (float) self->max)
        continue;
      if (size == sizeof (guint16))
        ((guint16 *) codes)[i]++;
      else
        ((guint8 *) codes)[i]++;
    }
}

static void
quantize_piece (gconstpointer data,
                gsize         first,
                gsize         n,
                gsize         scale,
                gsize         step)
{
  const Quantize *self = data;
  float buffer[VN_QUANT_PIECE];
  guint8 packed[VN_QUANT_PIECE];
  const float *x = quantize_load_piece (self->in, first, n, buffer);
  gsize size = vn_elem_size (self->out->dtype);

  if (self->func == NULL)
    {
      if (vn_minifloat_is (self->out->dtype))
        quantize_store_minifloat (self, first, x, scale, step, n);
      else
        quantize_store_float (self, first, x, scale, step, n);
      return;
    }
  self->func (x, self->params.scales + scale, self->params.zero_points + scale, step, self->min, self->max,
              size == 0 ? (gpointer) packed : (gpointer) ((char *) self->out->data + first * size), n);
  if (self->half_up && size <= sizeof (guint16))
    quantize_raise_ties (self, x, scale, step, n,
                         size == 0 ? (gpointer) packed : (gpointer) ((char *) self->out->data + first * size), size);
  if (size == 0)
    quantize_store_packed (self->out, first, packed, n);
}

static VnDType
quantize_output_dtype (VnOpContext *ctx)
{
  gint64 named = vn_node_get_int (ctx->node, "output_dtype", 0);

  if (vn_op_has_input (ctx, 2))
    return ctx->in_types[2].dtype;
  return named == 0 ? VN_DTYPE_U8 : vn_dtype_is_valid (named) ? (VnDType) named : VN_DTYPE_UNDEFINED;
}

static gboolean
quantize_infer (VnOpContext *ctx,
                GError     **error)
{
  gint64 named = vn_node_get_int (ctx->node, "output_dtype", 0);
  gint64 precision = vn_node_get_int (ctx->node, "precision", 0);
  VnDType dtype = quantize_output_dtype (ctx);

  if (named != 0 && (!vn_dtype_is_valid (named) || (dtype != VN_DTYPE_UNDEFINED && (VnDType) named != dtype)))
    return vn_op_fail (ctx, error, _("%s: output_dtype is %lld, the zero point has type %s"),
                       ctx->op->type, (long long) named, vn_dtype_get_name (dtype));
  if (precision != 0 && precision != VN_DTYPE_F32)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s: precision %lld is not supported, only float32 (1)"),
                   ctx->op->type, (long long) precision);
      return FALSE;
    }
  if (!vn_quant_check (ctx, error))
    return FALSE;
  ctx->scratch_bytes = vn_quant_scratch_bytes (ctx);
  vn_op_set_output (ctx, 0, dtype, &ctx->in_types[0].shape);
  return TRUE;
}

static gboolean
quantize_prepare_run (Quantize     *self,
                      VnOpContext  *ctx,
                      GError      **error)
{
  gint64 min = 0, max = 0;
  gboolean to_float;

  self->in = ctx->in[0];
  self->zero = ctx->n_inputs > 2 ? ctx->in[2] : NULL;
  self->out = ctx->out[0];
  self->func = quantize_find_kernel (self->out->dtype);
  self->saturate = vn_node_get_int (ctx->node, "saturate", 1) != 0;
  to_float = vn_minifloat_is (self->out->dtype) ||
             (ctx->op->domain[0] != '\0' && ((VN_HALF_BITS | VN_DTYPE_BIT (F32)) >> self->out->dtype & 1) != 0);
  if (self->func == NULL && !to_float)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s to %s is not supported"),
                   ctx->op->type, vn_dtype_get_name (self->out->dtype));
      return FALSE;
    }
  if ((ctx->op->dtypes >> self->in->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  if (!vn_quant_layout_init (&self->layout, ctx, error))
    return FALSE;
  vn_dtype_integer_range (self->out->dtype, &min, &max);
  self->min = (gint32) min;
  self->max = (gint32) MIN (max, G_MAXINT32);
  vn_quant_params_init (&self->params, ctx);
  return TRUE;
}

static gboolean
quantize_run_rounding (VnOpContext *ctx,
                       gboolean     half_up,
                       GError     **error)
{
  Quantize self = { .half_up = half_up };
  gboolean packed;

  if (!quantize_prepare_run (&self, ctx, error))
    return FALSE;
  /* Two threads must not write halves of one byte: packed types go in order. */
  packed = vn_elem_size (self.out->dtype) == 0;
  if (packed)
    memset (self.out->data, 0, self.out->n_bytes);
  vn_quant_layout_each_piece (&self.layout, ctx, packed, quantize_piece, &self);
  return TRUE;
}

static gboolean
quantize_run (VnOpContext *ctx,
              GError     **error)
{
  return quantize_run_rounding (ctx, FALSE, error);
}

static gboolean
quantize_run_half_up (VnOpContext *ctx,
                      GError     **error)
{
  return quantize_run_rounding (ctx, TRUE, error);
}

#define TARGET_BITS (VN_CODE_BITS | VN_DTYPE_BIT (U32) | VN_DTYPE_BIT (S32) | VN_EIGHT_BITS | VN_PACKED_BITS | VN_HALF_BITS | \
                     VN_DTYPE_BIT (F32))

#define QUANTIZE(variable, space, name, first, runs)                            \
  const VnOp variable = {                                                       \
    .domain = space, .type = name, .since = first,                              \
    .min_inputs = 2, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,       \
    .others = { [1] = VN_SCALE_BITS, [2] = TARGET_BITS },                       \
    .dtypes = VN_DTYPE_BIT (F32) | VN_HALF_BITS | VN_DTYPE_BIT (S32),           \
    .family = VN_FAMILY_CONVERSION,                                             \
    .infer = quantize_infer,                                                    \
    .run = runs,                                                                \
  };

static QUANTIZE (quantize_half_up, "", "QuantizeLinear", 10, quantize_run_half_up)
QUANTIZE (vn_op_quantize_linear_10, "", "QuantizeLinear", 10, quantize_run)
QUANTIZE (vn_op_ms_quantize_linear, "com.microsoft", "QuantizeLinear", 1, quantize_run)
QUANTIZE (vn_op_quark_quantize_linear, "com.amd.quark", "ExtendedQuantizeLinear", 1, quantize_run)
QUANTIZE (vn_op_quark_vai_quantize_linear, "com.vai.quantize", "VitisQuantizeLinear", 1, quantize_run)

/**
 * vn_op_get_half_up:
 *
 * Returns: @op, or where it is a QuantizeLinear of the standard or of ONNX Runtime, the same rounding ties up instead of to the
 *   even number
 */
const VnOp *
vn_op_get_half_up (const VnOp *op)
{
  return op == &vn_op_quantize_linear_10 || op == &vn_op_ms_quantize_linear ? &quantize_half_up : op;
}
