/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients of operators on two tensors that broadcast: where an input is repeated, what its places cost is summed up. */
#include "vn-gradient-private.h"

#include "vn-elem-private.h"

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

/* Expressions of x = a, z = b, d = dy for what each of them costs. */
#define BINARY(name, by_a, by_b)                                                                                      \
static void                                                                                                           \
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
BINARY (mul, d * z, d * x)
