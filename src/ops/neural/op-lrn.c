/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LRN: y = x / (bias + alpha / size * sum of x^2 over `size` channels around)^beta */
#include "vn-op-kernel.h"

#include <math.h>

#define BLOCK 1024

typedef struct
{
  const VnOpContext *ctx;
  gint64             channels, below, above;   /* channels of the window below and above its own */
  gsize              plane, n_blocks;
  double             factor, beta, bias;
} Lrn;

static gboolean
lrn_infer (VnOpContext *ctx,
           GError     **error)
{
  gint64 size = vn_node_get_int (ctx->node, "size", 0);

  if (size < 1 || size > G_MAXINT32)
    return vn_op_fail (ctx, error, _("size is %lld, expected at least 1"), (long long) size);
  if (ctx->in_types[0].shape.rank >= 0 && ctx->in_types[0].shape.rank < 2)
    return vn_op_fail (ctx, error, _("input rank is %d, expected batch and channels"), ctx->in_types[0].shape.rank);
  ctx->scratch_bytes = BLOCK * sizeof (float) * vn_op_max_workers ();
  return vn_op_infer_same (ctx, error);
}

VN_MULTIVERSION
static void
lrn_add_squares (const float *x,
                 float       *sum,
                 gsize        n)
{
  for (gsize i = 0; i < n; i++)
    sum[i] += x[i] * x[i];
}

VN_MULTIVERSION
static void
lrn_divide (const Lrn   *self,
            const float *x,
            const float *sum,
            float       *y,
            gsize        n)
{
  float factor = (float) self->factor, bias = (float) self->bias, beta = (float) self->beta;

  if (beta == 0.75f)
    for (gsize i = 0; i < n; i++)
      {
        float root = sqrtf (bias + factor * sum[i]);

        y[i] = x[i] / (root * sqrtf (root));
      }
  else
    for (gsize i = 0; i < n; i++)
      y[i] = x[i] / powf (bias + factor * sum[i], beta);
}

static void
lrn_block_f64 (gpointer data,
               gsize    item,
               guint    worker)
{
  const Lrn *self = data;
  gsize plane = self->plane, channels = (gsize) self->channels;
  gsize at = item / self->n_blocks * channels * plane + item % self->n_blocks * BLOCK;
  const double *x = (const double *) self->ctx->in[0]->data + at;
  double *y = (double *) self->ctx->out[0]->data + at;

  for (gsize i = 0; i < MIN (BLOCK, plane - item % self->n_blocks * BLOCK); i++)
    for (gint64 c = 0; c < self->channels; c++)
      {
        double sum = 0;

        for (gint64 k = MAX (0, c - self->below); k <= MIN (self->channels - 1, c + self->above); k++)
          sum += x[(gsize) k * plane + i] * x[(gsize) k * plane + i];
        y[(gsize) c * plane + i] = x[(gsize) c * plane + i] / pow (self->bias + self->factor * sum, self->beta);
      }
}

/* A block of pixels of all channels. */
static void
lrn_block (gpointer data,
           gsize    item,
           guint    worker)
{
  const Lrn *self = data;
  gsize first = item % self->n_blocks * BLOCK, n = MIN (BLOCK, self->plane - first);
  gsize at = item / self->n_blocks * (gsize) self->channels * self->plane + first;
  const float *x = (const float *) self->ctx->in[0]->data + at;
  float *y = (float *) self->ctx->out[0]->data + at;
  float *sum = (float *) self->ctx->scratch + worker * BLOCK;

  for (gint64 c = 0; c < self->channels; c++)
    {
      memset (sum, 0, n * sizeof (float));
      for (gint64 k = MAX (0, c - self->below); k <= MIN (self->channels - 1, c + self->above); k++)
        lrn_add_squares (x + (gsize) k * self->plane, sum, n);
      lrn_divide (self, x + (gsize) c * self->plane, sum, y + (gsize) c * self->plane, n);
    }
}

static gboolean
lrn_run (VnOpContext *ctx,
         GError     **error)
{
  const VnShape *x = &ctx->in[0]->shape;
  gint64 size = vn_node_get_int (ctx->node, "size", 1);
  Lrn job = { ctx, x->dims[1], (size - 1) / 2, size - 1 - (size - 1) / 2, (gsize) vn_shape_count (x, 2, x->rank) };

  job.n_blocks = (job.plane + BLOCK - 1) / BLOCK;
  job.factor = ctx->in[0]->dtype == VN_DTYPE_F64 ? vn_node_get_float (ctx->node, "alpha", 1e-4f) / (double) size
                                               : vn_node_get_float (ctx->node, "alpha", 1e-4f) / (float) size;
  job.beta = vn_node_get_float (ctx->node, "beta", 0.75f);
  job.bias = vn_node_get_float (ctx->node, "bias", 1.f);
  vn_op_for_items (ctx, (gsize) x->dims[0] * job.n_blocks, (double) job.channels * MIN (job.plane, BLOCK) * size,
                   ctx->in[0]->dtype == VN_DTYPE_F64 ? lrn_block_f64 : lrn_block, &job);
  return TRUE;
}

const VnOp vn_op_lrn_1 = {
  .domain = "", .type = "LRN", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_POOL_NORM,
  .quant = VN_QUANT_TRAITS (VN_QUANT_GENERIC, FALSE),
  .infer = lrn_infer,
  .run = lrn_run,
};
