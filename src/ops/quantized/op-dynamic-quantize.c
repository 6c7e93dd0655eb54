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
