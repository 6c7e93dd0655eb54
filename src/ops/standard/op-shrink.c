/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shrink: x + bias below -lambd, x - bias above lambd, 0 between. */
#include "vn-elem.h"

static double
shrink (double x,
        double lambda,
        double bias)
{
  return x < -lambda ? x + bias : x > lambda ? x - bias : isnan (x) ? x : 0.;
}

static gboolean
shrink_run (VnOpContext *ctx,
            GError     **error)
{
  const VnTensor *in = ctx->in[0];
  VnTensor *out = ctx->out[0];
  double lambda = vn_node_get_float (ctx->node, "lambd", 0.5f), bias = vn_node_get_float (ctx->node, "bias", 0.f);
  gsize size = vn_elem_size (in->dtype);

  if ((ctx->op->dtypes >> in->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  for (gsize i = 0; i < in->n_elements; i++)
    {
      double y = shrink (vn_tensor_get_double (in, i), lambda, bias);
      gint64 integer = y > -0x1p63 && y < 0x1p63 ? (gint64) y : 0;

      if (in->dtype == VN_DTYPE_F64)
        ((double *) out->data)[i] = y;
      else if (vn_dtype_is_float (in->dtype))
        vn_elem_from_float (in->dtype, (const float[]) { (float) y }, (char *) out->data + i * size, 1);
      else
        memcpy ((char *) out->data + i * size, &integer, size);
    }
  return TRUE;
}

const VnOp vn_op_shrink_9 = {
  .domain = "", .type = "Shrink", .since = 9,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_NUMBER_BITS,
  .family = VN_FAMILY_ACTIVATION,
  .infer = vn_op_infer_same,
  .run = shrink_run,
};
