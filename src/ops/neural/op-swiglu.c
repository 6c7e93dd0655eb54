/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SwiGLU: a sigmoid (alpha a) * b; no broadcasting. */
#include "vn-vecmath.h"

#include <math.h>

static gboolean
swiglu_infer (VnOpContext *ctx,
              GError     **error)
{
  const VnShape *a = &ctx->in_types[0].shape, *b = &ctx->in_types[1].shape;

  if (!vn_op_check_alike (ctx, 0x2, error))
    return FALSE;
  if (vn_shape_is_static (a) && vn_shape_is_static (b) && !vn_shape_equal (a, b))
    {
      g_autofree char *first = vn_shape_to_string (a, "×");
      g_autofree char *second = vn_shape_to_string (b, "×");

      return vn_op_fail (ctx, error, _("the gate is %s, but the values are %s"), first, second);
    }
  return vn_op_infer_same (ctx, error);
}

VN_MULTIVERSION
static void
swiglu_f32 (const float *a,
            const float *b,
            float       *y,
            gsize        n,
            float        alpha)
{
  for (gsize i = 0; i < n; i++)
    y[i] = a[i] * vn_sigmoidf (alpha * a[i]) * b[i];
}

static void
swiglu_range (gpointer data,
              gsize    first,
              gsize    n)
{
  const VnOpContext *ctx = data;
  float alpha = vn_node_get_float (ctx->node, "alpha", 1.f);

  if (ctx->in[0]->dtype == VN_DTYPE_F32)
    swiglu_f32 ((const float *) ctx->in[0]->data + first, (const float *) ctx->in[1]->data + first,
                (float *) ctx->out[0]->data + first, n, alpha);
  else
    for (gsize i = first; i < first + n; i++)
      ((double *) ctx->out[0]->data)[i] = ((double *) ctx->in[0]->data)[i] * ((double *) ctx->in[1]->data)[i] /
                                          (1. + exp (-(double) alpha * ((double *) ctx->in[0]->data)[i]));
}

static gboolean
swiglu_run (VnOpContext *ctx,
            GError     **error)
{
  if (!vn_op_check_again (ctx, error))
    return FALSE;
  vn_op_for_ranges (ctx, ctx->out[0]->n_elements, 12, swiglu_range, ctx);
  return TRUE;
}

const VnOp vn_op_swiglu_28 = {
  .domain = "", .type = "SwiGLU", .since = 28,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << 1,
  .family = VN_FAMILY_ACTIVATION,
  .quant = VN_QUANT_TRAITS (VN_QUANT_GENERIC, FALSE),
  .infer = swiglu_infer,
  .run = swiglu_run,
};
