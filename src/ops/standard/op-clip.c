/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clip: y = min (max (x, min), max). Bounds were attributes up to opset 10 and are scalar inputs since. NaN stays. */
#include "vn-op-kernel.h"

#include <float.h>
#include <math.h>

enum { X, LOW, HIGH };

typedef struct
{
  const VnOpContext *ctx;
  double             f_min, f_max;
  gint64             i_min, i_max;
} Clip;

#define CLIP_RANGE(T, suffix, low, high)                                     \
VN_MULTIVERSION                                                              \
static void                                                                  \
clip_##suffix (gpointer data, gsize first, gsize n)                          \
{                                                                            \
  const Clip *self = data;                                                   \
  const T *x = (const T *) self->ctx->in[X]->data + first;                   \
  T *y = (T *) self->ctx->out[0]->data + first;                              \
  T lo = (T) self->low, hi = (T) self->high;                                 \
  for (gsize i = 0; i < n; i++)                                              \
    {                                                                        \
      T v = x[i];                                                            \
      v = v < lo ? lo : v;                                                   \
      y[i] = v > hi ? hi : v;                                                \
    }                                                                        \
}

CLIP_RANGE (float, f32, f_min, f_max)
CLIP_RANGE (double, f64, f_min, f_max)
CLIP_RANGE (gint8, s8, i_min, i_max)
CLIP_RANGE (guint8, u8, i_min, i_max)
CLIP_RANGE (gint16, s16, i_min, i_max)
CLIP_RANGE (guint16, u16, i_min, i_max)
CLIP_RANGE (gint32, s32, i_min, i_max)
CLIP_RANGE (guint32, u32, i_min, i_max)
CLIP_RANGE (gint64, s64, i_min, i_max)
CLIP_RANGE (guint64, u64, i_min, i_max)

static VnOpRangeFunc
clip_range_func (VnDType dtype)
{
  switch (dtype)
    {
    case VN_DTYPE_F64:
      return clip_f64;
    case VN_DTYPE_S8:
      return clip_s8;
    case VN_DTYPE_U8:
      return clip_u8;
    case VN_DTYPE_S16:
      return clip_s16;
    case VN_DTYPE_U16:
      return clip_u16;
    case VN_DTYPE_S32:
      return clip_s32;
    case VN_DTYPE_U32:
      return clip_u32;
    case VN_DTYPE_S64:
      return clip_s64;
    case VN_DTYPE_U64:
      return clip_u64;
    default:
      return clip_f32;
    }
}

static gboolean
clip_infer (VnOpContext *ctx,
            GError     **error)
{
  for (guint i = LOW; i < ctx->n_inputs; i++)
    {
      gsize n;

      if (vn_op_has_input (ctx, i) && vn_shape_is_static (&ctx->in_types[i].shape) &&
          vn_shape_n_elements (&ctx->in_types[i].shape, &n) && n != 1)
        return vn_op_fail (ctx, error, _("a bound has %zu elements, expected one"), n);
    }
  return vn_op_infer_same (ctx, error);
}

static gboolean
clip_run_between (VnOpContext *ctx,
                  Clip        *clip)
{
  vn_op_for_ranges (ctx, ctx->in[X]->n_elements, 1, clip_range_func (ctx->in[X]->dtype), clip);
  return TRUE;
}

static gboolean
clip_attributes_run (VnOpContext *ctx,
                     GError     **error)
{
  Clip clip = {
    ctx, vn_node_get_float (ctx->node, "min", -FLT_MAX), vn_node_get_float (ctx->node, "max", FLT_MAX)
  };

  return clip_run_between (ctx, &clip);
}

static gboolean
clip_inputs_run (VnOpContext *ctx,
                 GError     **error)
{
  Clip clip = { ctx, -INFINITY, INFINITY };
  VnDType dtype = ctx->in[X]->dtype;

  if (!vn_dtype_is_float (dtype) && !vn_dtype_integer_range (dtype, &clip.i_min, &clip.i_max))
    return vn_op_fail (ctx, error, _("%s cannot be clipped"), vn_dtype_get_name (dtype));
  if (dtype == VN_DTYPE_U64)
    clip.i_max = -1;   /* the bits of the largest number */
  if (vn_op_has_input (ctx, LOW))
    {
      clip.f_min = vn_tensor_get_double (ctx->in[LOW], 0);
      clip.i_min = vn_dtype_is_float (dtype) ? 0 : vn_tensor_get_s64 (ctx->in[LOW], 0);
    }
  if (vn_op_has_input (ctx, HIGH))
    {
      clip.f_max = vn_tensor_get_double (ctx->in[HIGH], 0);
      clip.i_max = vn_dtype_is_float (dtype) ? 0 : vn_tensor_get_s64 (ctx->in[HIGH], 0);
    }
  return clip_run_between (ctx, &clip);
}

const VnOp vn_op_clip_1 = {
  .domain = "", .type = "Clip", .since = 1, .until = 10,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_ACTIVATION,
  .quant = VN_QUANT_TRAITS (VN_QUANT_CLAMP, TRUE),
  .infer = clip_infer,
  .run = clip_attributes_run,
};

const VnOp vn_op_clip_11 = {
  .domain = "", .type = "Clip", .since = 11,
  .min_inputs = 1, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64) | VN_DTYPE_BIT (S8) | VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (S16) |
            VN_DTYPE_BIT (U16) | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (U32) | VN_DTYPE_BIT (S64) | VN_DTYPE_BIT (U64),
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << 1 | 1u << 2,
  .family = VN_FAMILY_ACTIVATION,
  .quant = VN_QUANT_TRAITS (VN_QUANT_CLAMP, TRUE),
  .infer = clip_infer,
  .run = clip_inputs_run,
};
