/* SPDX-License-Identifier: GPL-3.0-or-later */
/* DequantizeLinear: y = (x - zero_point) * scale. */
#include "vn-minifloat.h"
#include "vn-quant-layout-private.h"


typedef void (*DequantizeFunc) (gconstpointer x,
                                const float  *scale,
                                const gint32 *zero,
                                gsize         step,
                                float        *y,
                                gsize         n);

/* The difference of 32-bit integers wraps around, as in ONNX Runtime. */
#define ONE(x, zero, scale) ((float) (gint32) ((guint32) (x) - (guint32) (zero)) * (scale))

#define KERNEL(name, type)                                                                                    \
  VN_MULTIVERSION                                                                                             \
  static void                                                                                                 \
  dequantize_##name (gconstpointer px, const float *scale, const gint32 *zero, gsize step, float *y, gsize n) \
  {                                                                                                           \
    const type *x = px;                                                                                       \
                                                                                                              \
    if (step == 0)                                                                                            \
      {                                                                                                       \
        const float s = *scale;                                                                               \
        const gint32 z = *zero;                                                                               \
        for (gsize i = 0; i < n; i++)                                                                         \
          y[i] = ONE (x[i], z, s);                                                                            \
      }                                                                                                       \
    else                                                                                                      \
      for (gsize i = 0; i < n; i++)                                                                           \
        y[i] = ONE (x[i], zero[i], scale[i]);                                                                 \
  }

KERNEL (U8, guint8)
KERNEL (S8, gint8)
KERNEL (U16, guint16)
KERNEL (S16, gint16)
KERNEL (S32, gint32)

static void
dequantize_U32 (gconstpointer px, const float *scale, const gint32 *zero, gsize step, float *y, gsize n)
{
  const guint32 *x = px;

  for (gsize i = 0; i < n; i++)
    y[i] = (float) ((double) x[i] - (double) (guint32) zero[i * step]) * scale[i * step];
}

/* The whole range of 32 bit: the extended operators have zero points there, and differences need 33 bit. */
static void
dequantize_wide_S32 (gconstpointer px, const float *scale, const gint32 *zero, gsize step, float *y, gsize n)
{
  const gint32 *x = px;

  for (gsize i = 0; i < n; i++)
    y[i] = (float) ((double) x[i] - (double) zero[i * step]) * scale[i * step];
}

static DequantizeFunc
dequantize_find_kernel (VnDType  dtype,
                        gboolean extended)
{
  switch (dtype)
    {
    case VN_DTYPE_U8:
    case VN_DTYPE_U4:
    case VN_DTYPE_U2: return dequantize_U8;
    case VN_DTYPE_S8:
    case VN_DTYPE_S4:
    case VN_DTYPE_S2: return dequantize_S8;
    case VN_DTYPE_U16: return dequantize_U16;
    case VN_DTYPE_S16: return dequantize_S16;
    case VN_DTYPE_S32: return extended ? dequantize_wide_S32 : dequantize_S32;
    case VN_DTYPE_U32: return dequantize_U32;
    default: return NULL;
    }
}

typedef struct
{
  VnQuantLayout   layout;
  VnQuantParams   params;
  const VnTensor *in, *zero;
  VnTensor       *out;
  DequantizeFunc  func;
} Dequantize;

static void
dequantize_floats (const Dequantize *self,
                   gsize             first,
                   gsize             n,
                   gsize             scale,
                   gsize             step,
                   float            *y)
{
  const VnTensor *in = self->in;
  gboolean mini = vn_minifloat_is (in->dtype);

  for (gsize i = 0; i < n; i++)
    {
      gsize k = scale + i * step;
      float zero = self->zero == NULL || mini ? 0.f : vn_elem_load_float (in->dtype, self->zero->data, k);
      float x = mini ? vn_minifloat_load (in->dtype, in->data, first + i)
                     : vn_elem_load_float (in->dtype, in->data, first + i);

      y[i] = (x - zero) * self->params.scales[k];
    }
}

static void
dequantize_piece (gconstpointer data,
                  gsize         first,
                  gsize         n,
                  gsize         scale,
                  gsize         step)
{
  const Dequantize *self = data;
  float wide[VN_QUANT_PIECE];
  guint8 unpacked[VN_QUANT_PIECE];
  gsize size = vn_elem_size (self->in->dtype);
  gconstpointer x = (const char *) self->in->data + first * size;
  float *y = self->out->dtype == VN_DTYPE_F32 ? (float *) self->out->data + first : wide;

  if (size == 0 && self->func != NULL)
    {
      for (gsize i = 0; i < n; i++)
        unpacked[i] = (guint8) vn_tensor_get_s64 (self->in, first + i);
      x = unpacked;
    }
  if (self->func != NULL)
    self->func (x, self->params.scales + scale, self->params.zero_points + scale, step, y, n);
  else
    dequantize_floats (self, first, n, scale, step, y);
  if (y == wide)
    vn_elem_from_float (self->out->dtype, wide, (guint16 *) self->out->data + first, n);
}

static gboolean
dequantize_infer (VnOpContext *ctx,
                  GError     **error)
{
  gint64 named = vn_node_get_int (ctx->node, "output_dtype", 0);
  VnDType dtype = ctx->in_types[1].dtype;

  if (vn_op_has_input (ctx, 2) && !vn_op_check_same_dtype (ctx, 0, 2, error))
    return FALSE;
  if (!vn_quant_check (ctx, error))
    return FALSE;
  if (named != 0)
    {
      if (named != VN_DTYPE_F32 && named != VN_DTYPE_F16 && named != VN_DTYPE_BF16)
        return vn_op_fail (ctx, error, _("%s: output_dtype is %lld, expected float32 (1), float16 (10) or bfloat16 (16)"),
                           ctx->op->type, (long long) named);
      dtype = (VnDType) named;
    }
  else if (dtype != VN_DTYPE_UNDEFINED && dtype != VN_DTYPE_F16 && dtype != VN_DTYPE_BF16)
    dtype = VN_DTYPE_F32;   /* also of scales that are powers of two */
  ctx->scratch_bytes = vn_quant_scratch_bytes (ctx);
  vn_op_set_output (ctx, 0, dtype, &ctx->in_types[0].shape);
  return TRUE;
}

static gboolean
dequantize_run (VnOpContext *ctx,
                GError     **error)
{
  Dequantize self = { .in = ctx->in[0], .zero = ctx->n_inputs > 2 ? ctx->in[2] : NULL, .out = ctx->out[0] };

  self.func = dequantize_find_kernel (self.in->dtype, (ctx->op->dtypes & VN_DTYPE_BIT (U32)) != 0);
  if ((ctx->op->dtypes >> self.in->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  if (!vn_quant_layout_init (&self.layout, ctx, error))
    return FALSE;
  vn_quant_params_init (&self.params, ctx);
  vn_quant_layout_each_piece (&self.layout, ctx, FALSE, dequantize_piece, &self);
  return TRUE;
}

#define QUANTIZED_BITS (VN_CODE_BITS | VN_DTYPE_BIT (S32) | VN_EIGHT_BITS | VN_PACKED_BITS)
#define EXTENDED_BITS (QUANTIZED_BITS | VN_DTYPE_BIT (U32) | VN_HALF_BITS | VN_DTYPE_BIT (F32))

#define DEQUANTIZE(variable, space, name, first, types)                         \
  const VnOp variable = {                                                       \
    .domain = space, .type = name, .since = first,                              \
    .min_inputs = 2, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,       \
    .same_dtype = 1u << 2, .others = { [1] = VN_SCALE_BITS },                   \
    .dtypes = types,                                                            \
    .family = VN_FAMILY_CONVERSION,                                             \
    .infer = dequantize_infer,                                                  \
    .run = dequantize_run,                                                      \
  };

DEQUANTIZE (vn_op_dequantize_linear_10, "", "DequantizeLinear", 10, QUANTIZED_BITS)
DEQUANTIZE (vn_op_ms_dequantize_linear, "com.microsoft", "DequantizeLinear", 1, QUANTIZED_BITS)
DEQUANTIZE (vn_op_quark_dequantize_linear, "com.amd.quark", "ExtendedDequantizeLinear", 1, EXTENDED_BITS)
DEQUANTIZE (vn_op_quark_vai_dequantize_linear, "com.vai.quantize", "VitisDequantizeLinear", 1, EXTENDED_BITS)
