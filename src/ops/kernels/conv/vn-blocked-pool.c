/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pooling of blocked data. AveragePool, and MaxPool but for small windows, are those of op-pool.c. */
#include "vn-blocked-private.h"
#include "vn-pool.h"
#include "vn-reduce.h"

typedef struct
{
  const float *x;
  float       *y;
  gsize        lanes, channels, n_blocks, size;
} Global;

/* Each channel is added up as vn_reduce_sum() does it. */
#define DEFINE_AVERAGE(lanes)                                                                 \
  VN_MULTIVERSION                                                                             \
  static void                                                                                 \
  average_##lanes (const float *x, gsize n, double *total)                                    \
  {                                                                                           \
    for (int c = 0; c < lanes; c++)                                                           \
      total[c] = 0;                                                                           \
    for (gsize start = 0; start < n; start += VN_REDUCE_BLOCK)                                \
      {                                                                                       \
        gsize end = MIN (n, start + VN_REDUCE_BLOCK), i = start;                              \
        float sums[VN_REDUCE_LANES][lanes] = { 0 };                                           \
                                                                                              \
        for (; i + VN_REDUCE_LANES <= end; i += VN_REDUCE_LANES)                              \
          for (int j = 0; j < VN_REDUCE_LANES; j++)                                           \
            for (int c = 0; c < lanes; c++)                                                   \
              sums[j][c] += x[(i + (gsize) j) * lanes + (gsize) c];                           \
        for (int j = 0; j < VN_REDUCE_LANES; j++)                                             \
          for (int c = 0; c < lanes; c++)                                                     \
            total[c] += sums[j][c];                                                           \
        for (; i < end; i++)                                                                  \
          for (int c = 0; c < lanes; c++)                                                     \
            total[c] += x[i * lanes + (gsize) c];                                             \
      }                                                                                       \
  }

DEFINE_AVERAGE (8)
DEFINE_AVERAGE (16)

static void
blocked_pool_average_item (gpointer data,
                           gsize    item,
                           guint    worker)
{
  const Global *self = data;
  gsize first = item % self->n_blocks * self->lanes, batch = item / self->n_blocks;
  double total[VN_BLOCKED_MAX_LANES];

  (self->lanes == 8 ? average_8 : average_16) (self->x + item * self->size * self->lanes, self->size, total);
  for (gsize c = 0; c < MIN (self->lanes, self->channels - first); c++)
    self->y[batch * self->channels + first + c] = (float) (total[c] / (double) self->size);
}

static gboolean
blocked_pool_global_infer (VnOpContext *ctx,
                           GError     **error)
{
  return vn_blocked_get_lanes () > 0;
}

static gboolean
blocked_pool_global_run (VnOpContext *ctx,
                         GError     **error)
{
  const VnShape *shape = &ctx->in_types[0].shape;
  Global job = { ctx->in[0]->data, ctx->out[0]->data, vn_blocked_get_lanes (), (gsize) shape->dims[1] };

  job.n_blocks = vn_blocked_count (job.channels, job.lanes);
  job.size = (gsize) vn_shape_count (shape, 2, shape->rank);
  vn_op_for_items (ctx, (gsize) shape->dims[0] * job.n_blocks, (double) (job.size * job.lanes) / 8, blocked_pool_average_item,
                   &job);
  return TRUE;
}

static gboolean
pool_infer (VnOpContext *ctx,
            GError     **error)
{
  VnSlidingWindow win;

  return vn_blocked_get_lanes () > 0 && ctx->n_outputs == 1 &&
         vn_sliding_window_init_pool (&win, ctx, &ctx->in_types[0].shape, error) &&
         vn_checked_mul ((gsize) win.in[2], vn_blocked_get_lanes () * sizeof (float) * vn_op_max_workers (),
                         &ctx->scratch_bytes);
}

#define OPERATOR(id, type_, infer_, run_)                                    \
const VnOp vn_op_blocked_##id = {                                            \
  .domain = "", .type = type_, .since = 1,                                   \
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 2,      \
  .dtypes = VN_DTYPE_BIT (F32),                                              \
  .family = VN_FAMILY_POOL_NORM,                                             \
  .infer = infer_,                                                           \
  .run = run_,                                                               \
};

OPERATOR (average_pool, "AveragePool", pool_infer, vn_pool_run_average)
OPERATOR (global_average_pool, "GlobalAveragePool", blocked_pool_global_infer, blocked_pool_global_run)
OPERATOR (max_pool, "MaxPool", pool_infer, vn_blocked_run_max)
