/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Relu: y = max (x, 0). NaN stays NaN. */
#include "vn-op-private.h"

VN_MULTIVERSION
static void
relu_f32 (const float *x,
          float       *y,
          gsize        n)
{
  for (gsize i = 0; i < n; i++)
    y[i] = x[i] < 0.f ? 0.f : x[i];
}

static gboolean
relu_run (VnOpContext *ctx,
          GError     **error)
{
  relu_f32 (ctx->in[0]->data, ctx->out[0]->data, ctx->in[0]->n_elements);
  return TRUE;
}

const VnOp vn_op_relu_1 = {
  .domain = "", .type = "Relu", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32),
  .family = VN_FAMILY_ACTIVATION,
  .quant = VN_QUANT_TRAITS (VN_QUANT_CLAMP, TRUE),
  .infer = vn_op_infer_same,
  .run = relu_run,
};
