/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients of operators that compute each element from one: what the result costs, times the slope there. */
#include "vn-gradient-private.h"

#include <math.h>

#define ROOT_HALF      0.70710678f   /* sqrt (1 / 2) */
#define ROOT_TWO_BY_PI 0.79788456f   /* sqrt (2 / pi) */
#define ERF_SLOPE      1.12837917f   /* 2 / sqrt (pi) */
#define CUBE           0.044715f     /* of the approximation of Gelu */

#define ATTR(name, fallback) vn_node_get_float (ctx->op.node, name, fallback)

/* The slope as an expression of x, the element, y, the result, and two attributes a and b. */
#define UNARY(name, first, second, slope)                                                                       \
VN_MULTIVERSION static void                                                                                     \
gradient_unary_add_##name (const float *in, const float *out, const float *dy, float *dx, gsize n, float a, float b) \
{                                                                                                               \
  for (gsize i = 0; i < n; i++)                                                                                 \
    {                                                                                                           \
      float x = in[i], y = out[i];                                                                              \
      (void) x, (void) y;                                                                                       \
      dx[i] += dy[i] * (slope);                                                                                 \
    }                                                                                                           \
}                                                                                                               \
                                                                                                                \
gboolean                                                                                                        \
vn_gradient_##name (VnGradientContext *ctx, GError **error)                                                     \
{                                                                                                               \
  gradient_unary_add_##name (ctx->op.in[0]->data, ctx->op.out[0]->data, ctx->out_grads[0]->data,                \
                             ctx->in_grads[0]->data, ctx->op.in[0]->n_elements, first, second);                 \
  return TRUE;                                                                                                  \
}

VN_INLINE float
gradient_unary_sigmoid (float x)
{
  float e = expf (-fabsf (x));

  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

VN_INLINE float
gradient_unary_swish (float x,
                      float a)
{
  float s = gradient_unary_sigmoid (a * x);

  return s + a * x * s * (1 - s);
}

/* x tanh (log (1 + e^x)) */
VN_INLINE float
gradient_unary_mish (float x)
{
  float t = tanhf (MAX (x, 0) + log1pf (expf (-fabsf (x))));

  return t + x * (1 - t * t) * gradient_unary_sigmoid (x);
}

VN_INLINE float
gradient_unary_gelu (float x)
{
  return 0.5f * (1 + erff (x * ROOT_HALF)) + 0.5f * ROOT_TWO_BY_PI * x * expf (-0.5f * x * x);
}

VN_INLINE float
gradient_unary_gelu_tanh (float x)
{
  float t = tanhf (ROOT_TWO_BY_PI * (x + CUBE * x * x * x));

  return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * ROOT_TWO_BY_PI * (1 + 3 * CUBE * x * x);
}

UNARY (abs, 0, 0, x > 0 ? 1.f : x < 0 ? -1.f : 0.f)
UNARY (celu, ATTR ("alpha", 1.f), 0, x < 0 ? expf (x / a) : 1.f)
UNARY (cos, 0, 0, -sinf (x))
UNARY (elu, ATTR ("alpha", 1.f), 0, x < 0 ? a * expf (x) : 1.f)
UNARY (erf, 0, 0, ERF_SLOPE * expf (-x * x))
UNARY (exp, 0, 0, y)
UNARY (hard_sigmoid, ATTR ("alpha", 0.2f), ATTR ("beta", 0.5f), a * x + b > 0 && a * x + b < 1 ? a : 0.f)
UNARY (hard_swish, 0, 0, x <= -3 ? 0.f : x >= 3 ? 1.f : x / 3 + 0.5f)
UNARY (leaky_relu, ATTR ("alpha", 0.01f), 0, x < 0 ? a : 1.f)
UNARY (log, 0, 0, 1 / x)
UNARY (mish, 0, 0, gradient_unary_mish (x))
UNARY (neg, 0, 0, -1.f)
UNARY (quick_gelu, ATTR ("alpha", 1.702f), 0, gradient_unary_swish (x, a))
UNARY (reciprocal, 0, 0, -y * y)
UNARY (relu, 0, 0, y > 0 ? 1.f : 0.f)
UNARY (selu, ATTR ("alpha", 1.67326319f), ATTR ("gamma", 1.05070102f), x <= 0 ? a * b * expf (x) : b)
UNARY (sigmoid, 0, 0, y * (1 - y))
UNARY (sin, 0, 0, cosf (x))
UNARY (softplus, 0, 0, gradient_unary_sigmoid (x))
UNARY (softsign, 0, 0, 1 / ((1 + fabsf (x)) * (1 + fabsf (x))))
UNARY (sqrt, 0, 0, 0.5f / y)
UNARY (swish, ATTR ("alpha", 1.f), 0, gradient_unary_swish (x, a))
UNARY (tanh, 0, 0, 1 - y * y)
UNARY (thresholded_relu, ATTR ("alpha", 1.f), 0, x > a ? 1.f : 0.f)

gboolean
vn_gradient_gelu (VnGradientContext  *ctx,
                  GError            **error)
{
  g_autofree char *mode = vn_node_dup_string (ctx->op.node, "approximate", "none");
  gboolean by_tanh = g_str_equal (mode, "tanh");
  const float *x = ctx->op.in[0]->data, *dy = ctx->out_grads[0]->data;
  float *dx = ctx->in_grads[0]->data;

  for (gsize i = 0; i < ctx->op.in[0]->n_elements; i++)
    dx[i] += dy[i] * (by_tanh ? gradient_unary_gelu_tanh (x[i]) : gradient_unary_gelu (x[i]));
  return TRUE;
}

/* gelu (x + bias), with a bias along the last axis */
static gboolean
gradient_unary_bias_gelu (VnGradientContext *ctx,
                          gboolean           by_tanh)
{
  const float *x = ctx->op.in[0]->data, *dy = ctx->out_grads[0]->data;
  const float *bias = ctx->op.n_inputs > 1 && ctx->op.in[1] != NULL ? ctx->op.in[1]->data : NULL;
  float *dx = vn_gradient_data (ctx->in_grads[0]), *db = bias != NULL ? vn_gradient_data (ctx->in_grads[1]) : NULL;
  gsize n = bias != NULL ? ctx->op.in[1]->n_elements : 1;

  for (gsize i = 0; i < ctx->op.in[0]->n_elements; i++)
    {
      float sum = x[i] + (bias != NULL ? bias[i % n] : 0),
      d = dy[i] * (by_tanh ? gradient_unary_gelu_tanh (sum) : gradient_unary_gelu (sum));

      if (dx != NULL)
        dx[i] += d;
      if (db != NULL)
        db[i % n] += d;
    }
  return TRUE;
}

gboolean
vn_gradient_bias_gelu (VnGradientContext  *ctx,
                       GError            **error)
{
  return gradient_unary_bias_gelu (ctx, FALSE);
}

gboolean
vn_gradient_fast_gelu (VnGradientContext  *ctx,
                       GError            **error)
{
  return gradient_unary_bias_gelu (ctx, TRUE);
}

/* ---- Clip ---- */

VN_MULTIVERSION static void
gradient_unary_add_clipped (const float *x,
                            const float *y,
                            const float *dy,
                            float       *dx,
                            gsize        n)
{
  for (gsize i = 0; i < n; i++)
    dx[i] += x[i] == y[i] ? dy[i] : 0.f;
}

/* With a lower bound above the upper one, only the upper one counts. */
static void
gradient_unary_add_bounds (const float *x,
                           const float *y,
                           const float *dy,
                           gsize        n,
                           float        high,
                           float       *d_low,
                           float       *d_high)
{
  for (gsize i = 0; i < n; i++)
    {
      float *to = y[i] > x[i] && y[i] < high ? d_low : d_high;

      if (x[i] != y[i] && to != NULL)
        *to += dy[i];
    }
}

/* Bounds are inputs or attributes. What lies on a bound lets the gradient through. */
gboolean
vn_gradient_clip (VnGradientContext  *ctx,
                  GError            **error)
{
  const float *x = ctx->op.in[0]->data, *y = ctx->op.out[0]->data, *dy = ctx->out_grads[0]->data;
  float *d_low = ctx->op.n_inputs > 1 ? vn_gradient_data (ctx->in_grads[1]) : NULL;
  float *d_high = ctx->op.n_inputs > 2 ? vn_gradient_data (ctx->in_grads[2]) : NULL;
  float high = ctx->op.n_inputs > 2 && ctx->op.in[2] != NULL ? *(const float *) ctx->op.in[2]->data : INFINITY;

  if (ctx->in_grads[0] != NULL)
    gradient_unary_add_clipped (x, y, dy, ctx->in_grads[0]->data, ctx->op.in[0]->n_elements);
  if (d_low != NULL || d_high != NULL)
    gradient_unary_add_bounds (x, y, dy, ctx->op.in[0]->n_elements, high, d_low, d_high);
  return TRUE;
}
