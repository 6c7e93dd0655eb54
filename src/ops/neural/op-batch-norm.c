/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BatchNormalization: y = (x - mean) / sqrt (variance + epsilon) * scale + bias, each by channel; with spatial = 0 of
 * old versions, each by element of a sample. In training the mean and the variance are those of the data, and the
 * running ones follow them: running = running * momentum + measured * (1 - momentum). */
#include "vn-conv.h"
#include "vn-elem.h"

#include <math.h>

enum { X, SCALE, BIAS, MEAN, VARIANCE };

/* Until opset 13 training was asked for by the outputs that only it has. */
static gboolean
batch_norm_is_training (const VnOpContext *ctx)
{
  if (ctx->opset >= 14)
    return vn_node_get_int (ctx->node, "training_mode", 0) != 0;
  for (guint i = 1; i < ctx->n_outputs; i++)
    if (vn_node_get_output (ctx->node, i) != NULL)
      return vn_node_get_int (ctx->node, "is_test", 0) == 0;
  return FALSE;
}

static gboolean
batch_norm_is_spatial (const VnOpContext *ctx)
{
  return ctx->opset >= 9 || vn_node_get_int (ctx->node, "spatial", 1) != 0;
}

/* How many means there are; -1: not known yet. */
static gint64
batch_norm_count_channels (const VnOpContext *ctx,
                           const VnShape     *x)
{
  if (batch_norm_is_spatial (ctx) || x->rank < 2)
    return x->rank >= 2 ? x->dims[1] : x->rank == 1 ? 1 : VN_DIM_UNKNOWN;
  return vn_shape_is_static (x) ? vn_shape_count (x, 1, x->rank) : VN_DIM_UNKNOWN;
}

static gboolean
batch_norm_check_factor (VnOpContext *ctx,
                         guint        input,
                         gint64       channels,
                         GError     **error)
{
  const VnTensorType *type = &ctx->in_types[input];
  gsize n;

  if (type->dtype != VN_DTYPE_UNDEFINED && (VN_FLOAT_BITS >> type->dtype & 1) == 0)
    return vn_op_unsupported (ctx, input, error);
  if (vn_shape_is_static (&type->shape) && channels >= 0 &&
      (!vn_shape_n_elements (&type->shape, &n) || n != (gsize) channels ||
       (batch_norm_is_spatial (ctx) && type->shape.rank != 1)))
    return vn_op_fail (ctx, error, _("input %u must have one element for each of %lld channels"),
                       input, (long long) channels);
  return TRUE;
}

static gboolean
batch_norm_infer (VnOpContext *ctx,
                  GError     **error)
{
  const VnShape *x = &ctx->in_types[X].shape;

  /* Since 14 the running statistics, since 15 also the factors may be of other floats. */
  if (!vn_op_check_alike (ctx, ctx->opset < 14 ? 0x1e : ctx->opset < 15 ? 0x06 : 0, error))
    return FALSE;
  for (guint i = SCALE; i <= VARIANCE; i++)
    if (!batch_norm_check_factor (ctx, i, batch_norm_count_channels (ctx, x), error))
      return FALSE;
  vn_op_set_output (ctx, 0, ctx->in_types[X].dtype, x);
  for (guint i = 1; i < ctx->n_outputs; i++)
    vn_op_set_output (ctx, i, ctx->in_types[MEAN].dtype, &ctx->in_types[MEAN].shape);
  return TRUE;
}

typedef struct
{
  const VnOpContext *ctx;
  gsize              batch, channels, size;
  double             epsilon;
} BatchNorm;

VN_MULTIVERSION
static void
batch_norm_affine_f32 (const float *x,
                       float       *y,
                       gsize        n,
                       float        a,
                       float        b,
                       float        lo,
                       float        hi)
{
  for (gsize i = 0; i < n; i++)
    {
      float v = x[i] * a + b;

      v = v < lo ? lo : v;
      y[i] = v > hi ? hi : v;
    }
}

static void
batch_norm_affine_f64 (const double *x,
                       double       *y,
                       gsize         n,
                       double        a,
                       double        b)
{
  for (gsize i = 0; i < n; i++)
    y[i] = x[i] * a + b;
}

static void
batch_norm_normalize_plane (const BatchNorm *self,
                            gsize            plane,
                            double           a,
                            double           b)
{
  const VnOpContext *ctx = self->ctx;
  const VnActivation *clamp = &ctx->activation;
  gsize at = plane * self->size;

  if (ctx->in[X]->dtype == VN_DTYPE_F64)
    batch_norm_affine_f64 ((const double *) ctx->in[X]->data + at, (double *) ctx->out[0]->data + at, self->size, a, b);
  else
    batch_norm_affine_f32 ((const float *) ctx->in[X]->data + at, (float *) ctx->out[0]->data + at, self->size, (float) a,
                           (float) b, clamp->active ? clamp->min : -INFINITY, clamp->active ? clamp->max : INFINITY);
}

static void
batch_norm_plane (gpointer data,
                  gsize    item,
                  guint    worker)
{
  const BatchNorm *self = data;
  const VnOpContext *ctx = self->ctx;
  gsize channel = item % self->channels;
  double a = vn_tensor_get_double (ctx->in[SCALE], channel) /
             sqrt (vn_tensor_get_double (ctx->in[VARIANCE], channel) + self->epsilon);

  batch_norm_normalize_plane (self, item, a,
                              vn_tensor_get_double (ctx->in[BIAS], channel) - vn_tensor_get_double (ctx->in[MEAN], channel) * a);
}

/* ---- training ---- */

/* Mean and population variance of one channel. */
static void
batch_norm_measure_channel (const BatchNorm *self,
                            gsize            channel,
                            double          *mean,
                            double          *variance)
{
  double n = (double) self->batch * (double) self->size;

  *mean = *variance = 0;
  for (int pass = 0; pass < 2; pass++)
    for (gsize b = 0; b < self->batch; b++)
      for (gsize i = 0; i < self->size; i++)
        {
          double v = vn_tensor_get_double (self->ctx->in[X], (b * self->channels + channel) * self->size + i);

          if (pass == 0)
            *mean += v / n;
          else
            *variance += (v - *mean) * (v - *mean) / n;
        }
}

static void
batch_norm_store_statistic (const BatchNorm *self,
                            guint            output,
                            gsize            channel,
                            double           value)
{
  VnTensor *to = output < self->ctx->n_outputs ? self->ctx->out[output] : NULL;

  if (to != NULL && to->dtype == VN_DTYPE_F64)
    ((double *) to->data)[channel] = value;
  else if (to != NULL)
    ((float *) to->data)[channel] = (float) value;
}

static void
batch_norm_train_channel (gpointer data,
                          gsize    channel,
                          guint    worker)
{
  const BatchNorm *self = data;
  const VnOpContext *ctx = self->ctx;
  double momentum = vn_node_get_float (ctx->node, "momentum", 0.9f), mean, variance, a, b;

  batch_norm_measure_channel (self, channel, &mean, &variance);
  a = vn_tensor_get_double (ctx->in[SCALE], channel) / sqrt (variance + self->epsilon);
  b = vn_tensor_get_double (ctx->in[BIAS], channel) - mean * a;
  for (gsize i = 0; i < self->batch; i++)
    batch_norm_normalize_plane (self, i * self->channels + channel, a, b);
  batch_norm_store_statistic (self, 1, channel, vn_tensor_get_double (ctx->in[MEAN], channel) * momentum + mean * (1 - momentum));
  batch_norm_store_statistic (self, 2, channel,
                              vn_tensor_get_double (ctx->in[VARIANCE], channel) * momentum + variance * (1 - momentum));
  batch_norm_store_statistic (self, 3, channel, mean);
  batch_norm_store_statistic (self, 4, channel, variance);
}

static gboolean
batch_norm_run (VnOpContext *ctx,
                GError     **error)
{
  const VnShape *x = &ctx->in[X]->shape;
  BatchNorm job = { ctx, x->rank >= 1 ? (gsize) x->dims[0] : 1, (gsize) batch_norm_count_channels (ctx, x), 1,
                    vn_node_get_float (ctx->node, "epsilon", 1e-5f) };
  gboolean training = batch_norm_is_training (ctx);

  if (x->rank == 0)
    job.channels = 1;
  if (batch_norm_is_spatial (ctx) && x->rank > 2)
    job.size = (gsize) vn_shape_count (x, 2, x->rank);
  for (guint i = 1; i < ctx->n_outputs && !training; i++)
    if (ctx->out[i] != NULL)
      {
        g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                     _("the statistics of BatchNormalization (output %u) exist in training only"), i);
        return FALSE;
      }
  if (training)
    vn_op_for_items (ctx, job.channels, (double) job.size * (double) job.batch * 8, batch_norm_train_channel, &job);
  else
    vn_op_for_items (ctx, job.channels * job.batch, (double) job.size, batch_norm_plane, &job);
  return TRUE;
}

const VnOp vn_op_batch_normalization_1 = {
  .domain = "", .type = "BatchNormalization", .since = 1,
  .min_inputs = 5, .max_inputs = 5, .min_outputs = 1, .max_outputs = 5,
  .others = { [1] = VN_FLOAT_BITS, [2] = VN_FLOAT_BITS, [3] = VN_FLOAT_BITS, [4] = VN_FLOAT_BITS },
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_POOL_NORM,
  .quant = { VN_QUANT_NORM, SCALE, BIAS, -1, TRUE },
  .fuses_clamp = TRUE,
  .infer = batch_norm_infer,
  .run = batch_norm_run,
};
