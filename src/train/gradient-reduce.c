/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients of reductions and of pooling over all of a picture: each element gets its share of what the result costs. */
#include "vn-gradient-private.h"

#include "vn-elem.h"

/* The share of an element x in the result y that costs d. */
typedef enum
{
  SHARE_ALL,
  SHARE_EQUAL,        /* of the largest, or smallest: several share it */
  SHARE_SIGN,         /* of a sum of amounts */
  SHARE_BY_NORM,      /* of a root of a sum of squares */
  SHARE_SQUARE,
  SHARE_LOG_SUM_EXP,
} Share;

/* The shape of the result with the axes that were reduced, of length 1. */
static gboolean
gradient_reduce_keep_axes (VnGradientContext  *ctx,
                           VnShape            *kept,
                           GError            **error)
{
  const VnShape *x = &ctx->op.in[0]->shape;
  gint64 axes[VN_MAX_RANK];
  gboolean known = TRUE, noop = vn_node_get_int (ctx->op.node, "noop_with_empty_axes", 0) != 0;
  guint n = 0, mask = 0;

  *kept = *x;
  if (!vn_op_attr_or_input (&ctx->op, "axes", 1, axes, VN_MAX_RANK, &n, &known, error) ||
      !vn_op_axis_mask (&ctx->op, x->rank, axes, n, &mask, error))
    return FALSE;
  for (int d = 0; d < x->rank; d++)
    if (n == 0 ? !noop : (mask >> d & 1) != 0)
      kept->dims[d] = 1;
  return TRUE;
}

/* By element of the result: how many are equal to it. */
static float *
gradient_reduce_count_equal (VnGradientContext  *ctx,
                             const VnShape      *kept,
                             GError            **error)
{
  const VnShape *shapes[] = { kept };
  const float *x = ctx->op.in[0]->data, *y = ctx->op.out[0]->data;
  gsize n = ctx->op.out[0]->n_elements;
  float *counts = vn_scratch_reserve (ctx->scratch, n, sizeof *counts, error);
  VnBroadcast walk;

  if (counts == NULL)
    return NULL;
  memset (counts, 0, sizeof *counts * n);
  vn_broadcast_init (&walk, &ctx->op.in[0]->shape, shapes, 1);
  while (vn_broadcast_next (&walk))
    for (gsize i = 0; i < walk.n; i++)
      counts[walk.offset[0] + i * walk.step[0]] += x[walk.out + i] == y[walk.offset[0] + i * walk.step[0]] ? 1.f : 0.f;
  return counts;
}

VN_INLINE float
gradient_reduce_share (Share share,
                       float x,
                       float y,
                       float d)
{
  switch (share)
    {
    case SHARE_ALL: return d;
    case SHARE_EQUAL: return x == y ? d : 0;
    case SHARE_SIGN: return x > 0 ? d : x < 0 ? -d : 0;
    case SHARE_BY_NORM: return y > 0 ? d * x / y : 0;
    case SHARE_SQUARE: return 2 * d * x;
    case SHARE_LOG_SUM_EXP: return d * expf (x - y);
    default: g_assert_not_reached ();
    }
}

static gboolean
gradient_reduce_spread (VnGradientContext *ctx,
                        const VnShape     *kept,
                        Share              share,
                        float              factor,
                        GError           **error)
{
  const VnShape *shapes[] = { kept };
  const float *x = ctx->op.in[0]->data, *y = ctx->op.out[0]->data, *dy = ctx->out_grads[0]->data;
  const float *counts = share == SHARE_EQUAL ? gradient_reduce_count_equal (ctx, kept, error) : NULL;
  float *dx = ctx->in_grads[0]->data;
  VnBroadcast walk;

  if (share == SHARE_EQUAL && counts == NULL)
    return FALSE;
  vn_broadcast_init (&walk, &ctx->op.in[0]->shape, shapes, 1);
  while (vn_broadcast_next (&walk))
    for (gsize i = 0; i < walk.n; i++)
      {
        gsize at = walk.offset[0] + i * walk.step[0];

        dx[walk.out + i] += gradient_reduce_share (share, x[walk.out + i], y[at],
                                                   factor * dy[at] / (counts != NULL ? counts[at] : 1));
      }
  return TRUE;
}

static gboolean
gradient_reduce_run (VnGradientContext  *ctx,
                     Share               share,
                     gboolean            is_mean,
                     GError            **error)
{
  gsize n_in = ctx->op.in[0]->n_elements, n_out = ctx->op.out[0]->n_elements;
  VnShape kept;

  return gradient_reduce_keep_axes (ctx, &kept, error) &&
         (n_in == 0 || gradient_reduce_spread (ctx, &kept, share, is_mean ? (float) n_out / (float) n_in : 1, error));
}

#define REDUCE(name, share, is_mean)                          \
gboolean                                                      \
vn_gradient_##name (VnGradientContext *ctx, GError **error)   \
{                                                             \
  return gradient_reduce_run (ctx, share, is_mean, error);    \
}

REDUCE (reduce_extreme, SHARE_EQUAL, FALSE)
REDUCE (reduce_l1, SHARE_SIGN, FALSE)
REDUCE (reduce_l2, SHARE_BY_NORM, FALSE)
REDUCE (reduce_log_sum_exp, SHARE_LOG_SUM_EXP, FALSE)
REDUCE (reduce_mean, SHARE_ALL, TRUE)
REDUCE (reduce_sum, SHARE_ALL, FALSE)
REDUCE (reduce_sum_square, SHARE_SQUARE, FALSE)

gboolean
vn_gradient_global_average_pool (VnGradientContext  *ctx,
                                 GError            **error)
{
  gsize n_in = ctx->op.in[0]->n_elements, n_out = ctx->op.out[0]->n_elements;

  return n_in == 0 || gradient_reduce_spread (ctx, &ctx->op.out[0]->shape, SHARE_ALL, (float) n_out / (float) n_in, error);
}

gboolean
vn_gradient_global_max_pool (VnGradientContext  *ctx,
                             GError            **error)
{
  return ctx->op.in[0]->n_elements == 0 || gradient_reduce_spread (ctx, &ctx->op.out[0]->shape, SHARE_EQUAL, 1, error);
}
