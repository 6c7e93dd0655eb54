/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients of operators that compute each element from one: what the result costs, times the slope there. */
#include "vn-gradient-private.h"

#include <math.h>

/* The slope as an expression of x, the element, and y, the result. */
#define UNARY(name, slope)                                                            \
gboolean                                                                              \
vn_gradient_##name (VnGradientContext *ctx, GError **error)                           \
{                                                                                     \
  const float *in = ctx->op.in[0]->data, *out = ctx->op.out[0]->data;                 \
  const float *dy = ctx->out_grads[0]->data;                                          \
  float *dx = ctx->in_grads[0]->data;                                                 \
  for (gsize i = 0; i < ctx->op.in[0]->n_elements; i++)                               \
    {                                                                                 \
      float x = in[i], y = out[i];                                                    \
      (void) x, (void) y;                                                             \
      dx[i] += dy[i] * (slope);                                                       \
    }                                                                                 \
  return TRUE;                                                                        \
}

UNARY (relu, y > 0 ? 1.f : 0.f)

/* Bounds are inputs or attributes; at a bound the gradient comes through, as where min and max of an integer grid lie on it. */
gboolean
vn_gradient_clip (VnGradientContext  *ctx,
                  GError            **error)
{
  const float *x = ctx->op.in[0]->data, *y = ctx->op.out[0]->data, *dy = ctx->out_grads[0]->data;
  float *dx = ctx->in_grads[0]->data;

  for (gsize i = 0; i < ctx->op.in[0]->n_elements; i++)
    dx[i] += x[i] == y[i] ? dy[i] : 0.f;
  return TRUE;
}
