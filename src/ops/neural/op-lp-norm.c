/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LpNormalization: x / (sum of |x|^p along an axis)^(1/p), 0 where that is 0; p is 1 or 2. */
#include "vn-elem.h"

#include <math.h>

static gboolean
lp_norm_infer (VnOpContext *ctx,
               GError     **error)
{
  gint64 p = vn_node_get_int (ctx->node, "p", 2);
  int axis;

  if (p != 1 && p != 2)
    return vn_op_fail (ctx, error, _("p is %lld, expected 1 or 2"), (long long) p);
  if (ctx->in_types[0].shape.rank >= 0 && !vn_op_axis (ctx, &ctx->in_types[0].shape, vn_node_get_int (ctx->node, "axis", -1),
                                                       &axis, error))
    return FALSE;
  return vn_op_infer_same (ctx, error);
}

#define NORM_LINE(T, suffix)                                                  \
static void                                                                   \
norm_line_##suffix (const T *x, T *y, gsize n, gsize step, gint64 p)          \
{                                                                             \
  double sum = 0;                                                             \
  for (gsize i = 0; i < n; i++)                                               \
    sum += p == 1 ? fabs (x[i * step]) : (double) x[i * step] * x[i * step];  \
  if (p == 2)                                                                 \
    sum = sqrt (sum);                                                         \
  for (gsize i = 0; i < n; i++)                                               \
    y[i * step] = sum != 0 ? (T) (x[i * step] / sum) : 0;                     \
}

NORM_LINE (float, f32)
NORM_LINE (double, f64)

static gboolean
lp_norm_run (VnOpContext *ctx,
             GError     **error)
{
  const VnShape *shape = &ctx->in[0]->shape;
  gint64 p = vn_node_get_int (ctx->node, "p", 2);
  gsize outer, size, inner;
  int axis;

  if (!vn_op_axis (ctx, shape, vn_node_get_int (ctx->node, "axis", -1), &axis, error))
    return FALSE;
  outer = (gsize) vn_shape_count (shape, 0, axis);
  size = (gsize) shape->dims[axis];
  inner = (gsize) vn_shape_count (shape, axis + 1, shape->rank);
  for (gsize i = 0; i < outer * inner; i++)
    {
      gsize at = i / inner * size * inner + i % inner;

      if (ctx->in[0]->dtype == VN_DTYPE_F64)
        norm_line_f64 ((const double *) ctx->in[0]->data + at, (double *) ctx->out[0]->data + at, size, inner, p);
      else
        norm_line_f32 ((const float *) ctx->in[0]->data + at, (float *) ctx->out[0]->data + at, size, inner, p);
    }
  return TRUE;
}

const VnOp vn_op_lp_normalization_1 = {
  .domain = "", .type = "LpNormalization", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_POOL_NORM,
  .quant = VN_QUANT_TRAITS (VN_QUANT_GENERIC, FALSE),
  .infer = lp_norm_infer,
  .run = lp_norm_run,
};
