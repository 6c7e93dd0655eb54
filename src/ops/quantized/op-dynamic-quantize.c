/* SPDX-License-Identifier: GPL-3.0-or-later */
/* DynamicQuantizeLinear: uint8 with scale and zero point from the values themselves; the range always holds 0:
 * scale = (max - min) / 255, zero_point = round (saturate (-min / scale)). All zeros: scale 1. */
#include "vn-int.h"

static gboolean
dynamic_infer (VnOpContext *ctx,
               GError     **error)
{
  vn_op_set_output (ctx, 0, VN_DTYPE_U8, &ctx->in_types[0].shape);
  vn_op_set_output (ctx, 1, VN_DTYPE_F32, &VN_SHAPE_SCALAR);
  vn_op_set_output (ctx, 2, VN_DTYPE_U8, &VN_SHAPE_SCALAR);
  return TRUE;
}

VN_MULTIVERSION
static void
dynamic_quantize_find_range (const float *x,
                             gsize        n,
                             float       *min,
                             float       *max)
{
  float lo = 0.f, hi = 0.f;

  for (gsize i = 0; i < n; i++)
    {
      lo = x[i] < lo ? x[i] : lo;
      hi = x[i] > hi ? x[i] : hi;
    }
  *min = lo;
  *max = hi;
}

/**
 * vn_int_quantize_dynamic:
 * @y: (out) (nullable): @n numbers
 * @scale: (out): step of the result
 * @zero: (out): its zero point
 *
 * Quantizes to uint8 with the range of the values themselves and 0.
 */
void
vn_int_quantize_dynamic (const float *x,
                         gsize        n,
                         guint8      *y,
                         float       *scale,
                         guint8      *zero)
{
  float min, max, middle;

  dynamic_quantize_find_range (x, n, &min, &max);
  *scale = max == min ? 1.f : (max - min) / 255.f;
  middle = 0.f - min / *scale;
  /* NaN where the range is infinite. */
  *zero = middle > 0.f ? (guint8) rintf (MIN (middle, 255.f)) : 0;
  if (y != NULL)
    vn_int_quantize (x, n, *scale, *zero, VN_DTYPE_U8, y);
}

/**
 * vn_int_round_dynamic:
 * @y: (out): @n numbers
 *
 * What is left of @x after vn_int_quantize_dynamic() and back.
 */
void
vn_int_round_dynamic (const float *x,
                      gsize        n,
                      float       *y)
{
  guint8 zero, piece[256];
  float scale;

  vn_int_quantize_dynamic (x, n, NULL, &scale, &zero);
  for (gsize first = 0; first < n; first += sizeof piece)
    {
      gsize length = MIN (sizeof piece, n - first);

      vn_int_quantize (x + first, length, scale, zero, VN_DTYPE_U8, piece);
      for (gsize i = 0; i < length; i++)
        y[first + i] = (float) (piece[i] - zero) * scale;
    }
}

static gboolean
dynamic_run (VnOpContext *ctx,
             GError     **error)
{
  const VnTensor *in = ctx->in[0];
  float scale;
  guint8 zero;

  if (in->dtype != VN_DTYPE_F32)
    return vn_op_unsupported (ctx, 0, error);
  vn_int_quantize_dynamic (in->data, in->n_elements, ctx->out[0] != NULL ? ctx->out[0]->data : NULL, &scale, &zero);
  if (ctx->n_outputs > 1 && ctx->out[1] != NULL)
    *(float *) ctx->out[1]->data = scale;
  if (ctx->n_outputs > 2 && ctx->out[2] != NULL)
    *(guint8 *) ctx->out[2]->data = zero;
  return TRUE;
}

const VnOp vn_op_dynamic_quantize_linear_11 = {
  .domain = "", .type = "DynamicQuantizeLinear", .since = 11,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 3,
  .dtypes = VN_DTYPE_BIT (F32),
  .family = VN_FAMILY_CONVERSION,
  .infer = dynamic_infer,
  .run = dynamic_run,
};
