/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FixNeuron: quantization and dequantization in one operator: with b = bit_width,
 * y = (clamp (round (x / scale) + zero_point, -2^(b-1), 2^(b-1) - 1) - zero_point) * scale, ties to even. */
#include "vn-elem.h"

typedef struct
{
  const float *x;
  float       *y;
  float        scale, zero, min, max;
} FixNeuron;

VN_MULTIVERSION
static void
fix_range (gpointer data,
           gsize    first,
           gsize    n)
{
  const FixNeuron *self = data;
  const float *x = self->x + first;
  const float scale = self->scale, zero = self->zero, min = self->min - zero, max = self->max - zero;
  float *y = self->y + first;

  for (gsize i = 0; i < n; i++)
    {
      float v = rintf (x[i] / scale);

      v = v > min ? v : min;
      v = v < max ? v : max;
      y[i] = v * scale;
    }
}

static gboolean
fix_run (VnOpContext *ctx,
         GError     **error)
{
  const VnTensor *in = ctx->in[0], *scale = ctx->in[1], *zero = ctx->n_inputs > 2 ? ctx->in[2] : NULL;
  gint64 bits = vn_node_get_int (ctx->node, "bit_width", 8);
  FixNeuron self = { .x = in->data, .y = ctx->out[0]->data };

  if (in->dtype != VN_DTYPE_F32)
    return vn_op_unsupported (ctx, 0, error);
  if (bits < 2 || bits > 24)
    return vn_op_fail (ctx, error, _("FixNeuron: bit_width is %lld, expected 2 to 24"), (long long) bits);
  if (scale->n_elements != 1 || (zero != NULL && zero->n_elements != 1))
    return vn_op_fail (ctx, error, _("FixNeuron: found %zu scales, expected 1"), scale->n_elements);
  self.scale = (float) vn_tensor_get_double (scale, 0);
  self.zero = zero != NULL ? (float) vn_tensor_get_s64 (zero, 0) : 0.f;
  self.max = (float) ((1 << (bits - 1)) - 1);
  self.min = -self.max - 1.f;
  vn_op_for_ranges (ctx, in->n_elements, 2., fix_range, &self);
  return TRUE;
}

#define FIX_NEURON(variable, space)                                             \
  const VnOp variable = {                                                       \
    .domain = space, .type = "FixNeuron", .since = 1,                           \
    .min_inputs = 2, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,       \
    .dtypes = VN_DTYPE_BIT (F32),                                               \
    .family = VN_FAMILY_CONVERSION,                                             \
    .infer = vn_op_infer_same,                                                  \
    .run = fix_run,                                                             \
  };

FIX_NEURON (vn_op_contrib_fix_neuron, "ai.onnx.contrib")
FIX_NEURON (vn_op_quark_fix_neuron_vai, "com.vai.quantize")
