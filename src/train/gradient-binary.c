/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients of operators on two tensors that broadcast: where an input is repeated, what its places cost is summed up. */
#include "vn-gradient-private.h"

#include "vn-elem.h"

/**
 * RowFunc: one row; @a and @b step by @a_step and @b_step, which are 0 or 1.
 * @da, @db: (nullable): what one element of the result costs, for each input
 */
typedef void (*RowFunc) (const float *a,
                         gsize        a_step,
                         const float *b,
                         gsize        b_step,
                         const float *dy,
                         float       *da,
                         float       *db,
                         gsize        n);

static void
gradient_binary_collect (float        *to,
                         gsize         step,
                         const float  *from,
                         gsize         n)
{
  if (step == 0)
    *to += vn_gradient_sum (from, n);
  else
    vn_gradient_add_scaled (to, from, 1, n);
}

static gboolean
gradient_binary_run (VnGradientContext *ctx,
                     RowFunc            func)
{
  const VnTensor *a = ctx->op.in[0], *b = ctx->op.in[1];
  const VnShape *shapes[] = { &a->shape, &b->shape };
  const float *dy = ctx->out_grads[0]->data;
  float *da = vn_gradient_data (ctx->in_grads[0]), *db = vn_gradient_data (ctx->in_grads[1]);
  float row_a[VN_BROADCAST_CHUNK], row_b[VN_BROADCAST_CHUNK];
  VnBroadcast walk;

  vn_broadcast_init (&walk, &ctx->op.out[0]->shape, shapes, 2);
  while (vn_broadcast_next (&walk))
    for (gsize first = 0; first < walk.n; first += VN_BROADCAST_CHUNK)
      {
        gsize n = MIN (walk.n - first, VN_BROADCAST_CHUNK), at_a = walk.offset[0] + first * walk.step[0],
              at_b = walk.offset[1] + first * walk.step[1];

        func ((const float *) a->data + at_a, walk.step[0], (const float *) b->data + at_b, walk.step[1], dy + walk.out + first,
              da != NULL ? row_a : NULL, db != NULL ? row_b : NULL, n);
        if (da != NULL)
          gradient_binary_collect (da + at_a, walk.step[0], row_a, n);
        if (db != NULL)
          gradient_binary_collect (db + at_b, walk.step[1], row_b, n);
      }
  return TRUE;
}

VN_INLINE float
gradient_binary_pow_base (float x,
                          float z)
{
  return z == 2 ? 2 * x : z == 0 ? 0 : z * powf (x, z - 1);
}

/* A power of 0 does not change with a positive exponent. */
VN_INLINE float
gradient_binary_pow_exponent (float x,
                              float z)
{
  return x == 0 && z >= 0 ? 0 : powf (x, z) * logf (x);
}

/* Expressions of x = a, z = b, d = dy for what each of them costs. */
#define BINARY(name, by_a, by_b)                                                                                      \
VN_MULTIVERSION static void                                                                                           \
gradient_binary_##name (const float *a, gsize a_step, const float *b, gsize b_step, const float *dy, float *da,      \
                        float *db, gsize n)                                                                           \
{                                                                                                                     \
  for (gsize i = 0; da != NULL && i < n; i++)                                                                         \
    {                                                                                                                 \
      float x = a[i * a_step], z = b[i * b_step], d = dy[i];                                                          \
      (void) x, (void) z;                                                                                             \
      da[i] = by_a;                                                                                                   \
    }                                                                                                                 \
  for (gsize i = 0; db != NULL && i < n; i++)                                                                         \
    {                                                                                                                 \
      float x = a[i * a_step], z = b[i * b_step], d = dy[i];                                                          \
      (void) x, (void) z;                                                                                             \
      db[i] = by_b;                                                                                                   \
    }                                                                                                                 \
}                                                                                                                     \
                                                                                                                      \
gboolean                                                                                                              \
vn_gradient_##name (VnGradientContext *ctx, GError **error)                                                           \
{                                                                                                                     \
  return gradient_binary_run (ctx, gradient_binary_##name);                                                           \
}

BINARY (add, d, d)
BINARY (div, d / z, -d * x / (z * z))
BINARY (mul, d * z, d * x)
BINARY (pow, d * gradient_binary_pow_base (x, z), d * gradient_binary_pow_exponent (x, z))
BINARY (sub, d, -d)
BINARY (prelu, x < 0 ? d * z : d, x < 0 ? d * x : 0.f)

/* ---- any number of inputs ---- */

/* Of one input: what comes back of the whole, times @factor. */
static void
gradient_binary_spread (VnGradientContext *ctx,
                        guint              input,
                        float              factor)
{
  const VnShape *shape = &ctx->op.in[input]->shape;
  const float *dy = ctx->out_grads[0]->data;
  float *dx = ctx->in_grads[input]->data;
  VnBroadcast walk;

  vn_broadcast_init (&walk, &ctx->op.out[0]->shape, &shape, 1);
  while (vn_broadcast_next (&walk))
    if (walk.step[0] == 0)
      dx[walk.offset[0]] += factor * vn_gradient_sum (dy + walk.out, walk.n);
    else
      vn_gradient_add_scaled (dx + walk.offset[0], dy + walk.out, factor, walk.n);
}

/* @counts: by element of the result: how many inputs are equal to it: @dx %NULL: this one is counted, else it gets its share */
static void
gradient_binary_share (VnGradientContext *ctx,
                       guint              input,
                       float             *counts,
                       float             *dx)
{
  const VnShape *shape = &ctx->op.in[input]->shape;
  const float *x = ctx->op.in[input]->data, *y = ctx->op.out[0]->data, *dy = ctx->out_grads[0]->data;
  VnBroadcast walk;

  vn_broadcast_init (&walk, &ctx->op.out[0]->shape, &shape, 1);
  while (vn_broadcast_next (&walk))
    for (gsize i = 0; i < walk.n; i++)
      {
        gsize at = walk.offset[0] + i * walk.step[0], out = walk.out + i;

        if (x[at] == y[out] && dx != NULL)
          dx[at] += dy[out] / counts[out];
        else if (x[at] == y[out])
          counts[out]++;
      }
}

static gboolean
gradient_binary_spread_all (VnGradientContext *ctx,
                            float              factor)
{
  for (guint i = 0; i < ctx->op.n_inputs; i++)
    if (ctx->in_grads[i] != NULL)
      gradient_binary_spread (ctx, i, factor);
  return TRUE;
}

gboolean
vn_gradient_sum_all (VnGradientContext  *ctx,
                     GError            **error)
{
  return gradient_binary_spread_all (ctx, 1);
}

gboolean
vn_gradient_mean_all (VnGradientContext  *ctx,
                      GError            **error)
{
  return gradient_binary_spread_all (ctx, 1 / (float) ctx->op.n_inputs);
}

/* Of Max and Min: those that are equal share it. */
gboolean
vn_gradient_extreme (VnGradientContext  *ctx,
                     GError            **error)
{
  gsize n = ctx->op.out[0]->n_elements;
  float *counts = vn_scratch_reserve (ctx->scratch, n, sizeof *counts, error);

  if (counts == NULL)
    return FALSE;
  memset (counts, 0, sizeof *counts * n);
  for (guint i = 0; i < ctx->op.n_inputs; i++)
    gradient_binary_share (ctx, i, counts, NULL);
  for (guint i = 0; i < ctx->op.n_inputs; i++)
    if (ctx->in_grads[i] != NULL)
      gradient_binary_share (ctx, i, counts, ctx->in_grads[i]->data);
  return TRUE;
}

/* Up to opset 6 the second tensor was laid along an axis that the node names. */
gboolean
vn_gradient_check_broadcast (const VnNode  *node,
                             GError       **error)
{
  if (vn_node_get_attr (node, "axis") == NULL)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("broadcasting along an axis, as up to opset 6; convert the "
                                                        "model to a later opset"));
  return FALSE;
}

gboolean
vn_gradient_check_prelu (const VnNode  *node,
                         GError       **error)
{
  if (vn_model_get_opset (node->graph->model, node->domain) >= 7)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("per-channel slopes, as up to opset 6; convert the model to a "
                                                        "later opset"));
  return FALSE;
}
