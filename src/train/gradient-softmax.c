/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients of Softmax and LogSoftmax, along an axis; up to opset 12 along all axes from one on. */
#include "vn-gradient-private.h"

#include <math.h>

static gboolean
gradient_softmax_run (VnGradientContext  *ctx,
                      gboolean            is_log,
                      GError            **error)
{
  const VnShape *shape = &ctx->op.in[0]->shape;
  gboolean is_along = ctx->op.opset >= 13;
  const float *y = ctx->op.out[0]->data, *dy = ctx->out_grads[0]->data;
  float *dx = ctx->in_grads[0]->data;
  gsize outer, size, inner;
  int axis = 0;

  if (shape->rank > 0 && !vn_shape_resolve_axis (shape, vn_node_get_int (ctx->op.node, "axis", is_along ? -1 : 1), &axis))
    axis = shape->rank;   /* nothing is left: lines of one element */
  outer = (gsize) vn_shape_count (shape, 0, axis);
  size = (gsize) vn_shape_count (shape, axis, is_along ? MIN (axis + 1, shape->rank) : shape->rank);
  inner = is_along ? (gsize) vn_shape_count (shape, MIN (axis + 1, shape->rank), shape->rank) : 1;
  for (gsize o = 0; o < outer; o++)
    for (gsize i = 0; i < inner; i++)
      {
        gsize first = o * size * inner + i;
        double sum = 0;

        for (gsize k = 0; k < size; k++)
          sum += (double) dy[first + k * inner] * (is_log ? 1 : (double) y[first + k * inner]);
        for (gsize k = 0; k < size; k++)
          {
            gsize at = first + k * inner;

            dx[at] += is_log ? dy[at] - expf (y[at]) * (float) sum : y[at] * (dy[at] - (float) sum);
          }
      }
  return TRUE;
}

gboolean
vn_gradient_softmax (VnGradientContext  *ctx,
                     GError            **error)
{
  return gradient_softmax_run (ctx, FALSE, error);
}

gboolean
vn_gradient_log_softmax (VnGradientContext  *ctx,
                         GError            **error)
{
  return gradient_softmax_run (ctx, TRUE, error);
}
