/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BatchNormalization as in inference: y = (x - mean) / sqrt (variance + epsilon) * scale + bias, each by channel. */
#include "vn-conv.h"

#include <math.h>

enum { X, SCALE, BIAS, MEAN, VARIANCE };

static gboolean
batch_norm_infer (VnOpContext *ctx,
                  GError     **error)
{
  const VnShape *x = &ctx->in_types[X].shape;

  if (!vn_op_check_alike (ctx, 0x1e, error))
    return FALSE;
  if (vn_node_get_int (ctx->node, "training_mode", 0) != 0 || vn_node_get_int (ctx->node, "spatial", 1) == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                   _("BatchNormalization in training mode, or with spatial = 0, cannot be run: export the model for "
                     "inference"));
      return FALSE;
    }
  for (guint i = SCALE; i <= VARIANCE; i++)
    {
      const VnShape *shape = &ctx->in_types[i].shape;
      gint64 channels = x->rank >= 2 ? x->dims[1] : x->rank == 1 ? 1 : VN_DIM_UNKNOWN;

      if (shape->rank >= 0 && (shape->rank != 1 ||
                               (channels >= 0 && shape->dims[0] >= 0 && shape->dims[0] != channels)))
        return vn_op_fail (ctx, error, _("input %u must have one number for each of %" G_GINT64_FORMAT " channels"),
                           i, channels);
    }
  vn_op_set_output (ctx, 0, ctx->in_types[X].dtype, x);
  /* The statistics that old versions could also put out are those of training: they stay unknown. */
  for (guint i = 1; i < ctx->n_outputs; i++)
    vn_op_set_output (ctx, i, ctx->in_types[MEAN].dtype, &ctx->in_types[MEAN].shape);
  return TRUE;
}

typedef struct
{
  const VnOpContext *ctx;
  gsize              channels, size;
  double             epsilon;
} BatchNorm;

VN_MULTIVERSION
static void
affine_f32 (const float *x,
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
affine_f64 (const double *x,
            double       *y,
            gsize         n,
            double        a,
            double        b)
{
  for (gsize i = 0; i < n; i++)
    y[i] = x[i] * a + b;
}

static void
batch_norm_plane (gpointer data,
                  gsize    item,
                  guint    worker)
{
  const BatchNorm *self = data;
  const VnOpContext *ctx = self->ctx;
  gsize channel = item % self->channels, at = item * self->size;
  double a = vn_tensor_get_double (ctx->in[SCALE], channel) /
             sqrt (vn_tensor_get_double (ctx->in[VARIANCE], channel) + self->epsilon);
  double b = vn_tensor_get_double (ctx->in[BIAS], channel) - vn_tensor_get_double (ctx->in[MEAN], channel) * a;
  const VnActivation *clamp = &ctx->activation;

  if (ctx->in[X]->dtype == VN_DTYPE_F64)
    affine_f64 ((const double *) ctx->in[X]->data + at, (double *) ctx->out[0]->data + at, self->size, a, b);
  else
    affine_f32 ((const float *) ctx->in[X]->data + at, (float *) ctx->out[0]->data + at, self->size, (float) a,
                (float) b, clamp->active ? clamp->min : -INFINITY, clamp->active ? clamp->max : INFINITY);
}

static gboolean
batch_norm_run (VnOpContext *ctx,
                GError     **error)
{
  const VnShape *x = &ctx->in[X]->shape;
  BatchNorm job = {
    ctx, x->rank >= 2 ? (gsize) x->dims[1] : 1, x->rank >= 2 ? (gsize) vn_shape_count (x, 2, x->rank) : 1,
    vn_node_get_float (ctx->node, "epsilon", 1e-5f)
  };

  for (guint i = 1; i < ctx->n_outputs; i++)
    if (ctx->out[i] != NULL)
      {
        g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                     _("the statistics of BatchNormalization (output %u) exist in training only"), i);
        return FALSE;
      }
  vn_op_for_items (ctx, job.channels * (x->rank >= 1 ? (gsize) x->dims[0] : 1), (double) job.size, batch_norm_plane,
                   &job);
  return TRUE;
}

const VnOp vn_op_batch_normalization_1 = {
  .domain = "", .type = "BatchNormalization", .since = 1,
  .min_inputs = 5, .max_inputs = 5, .min_outputs = 1, .max_outputs = 5,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4,
  .family = VN_FAMILY_POOL_NORM,
  .quant = { VN_QUANT_NORM, SCALE, BIAS, -1, TRUE },
  .fuses_clamp = TRUE,
  .infer = batch_norm_infer,
  .run = batch_norm_run,
};
