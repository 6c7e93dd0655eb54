/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MeanVarianceNormalization: (x - mean) / (standard deviation + 1e-9) over the given axes. */
#include "vn-op-kernel.h"

#include <math.h>

typedef struct
{
  gboolean reduced[VN_MAX_RANK];
  gsize    n_groups;
} Axes;

static gboolean
mean_variance_norm_axes_init (Axes          *self,
                              VnOpContext   *ctx,
                              const VnShape *shape,
                              GError       **error)
{
  static const gint64 usual[] = { 0, 2, 3 };
  gsize n;
  const gint64 *axes = vn_node_get_ints (ctx->node, "axes", &n);

  *self = (Axes) { .n_groups = 1 };
  if (axes == NULL)
    {
      axes = usual;
      n = G_N_ELEMENTS (usual);
    }
  for (gsize i = 0; i < n; i++)
    {
      int axis;

      if (!vn_shape_resolve_axis (shape, axes[i], &axis))
        return vn_op_fail (ctx, error, _("axis %lld is out of range for rank %d"), (long long) axes[i], shape->rank);
      self->reduced[axis] = TRUE;
    }
  for (int i = 0; i < shape->rank; i++)
    if (!self->reduced[i] && shape->dims[i] >= 0 &&
        !vn_checked_mul (self->n_groups, (gsize) shape->dims[i], &self->n_groups))
      return vn_op_fail (ctx, error, _("too many groups"));
  return TRUE;
}

static gboolean
mean_variance_norm_mvn_infer (VnOpContext *ctx,
                              GError     **error)
{
  const VnShape *shape = &ctx->in_types[0].shape;
  Axes axes;

  if (shape->rank >= 0)
    {
      if (!mean_variance_norm_axes_init (&axes, ctx, shape, error) ||
          !vn_checked_mul (axes.n_groups, 2 * sizeof (double), &ctx->scratch_bytes))
        return FALSE;
    }
  return vn_op_infer_same (ctx, error);
}

/* Which group element @i belongs to. */
static gsize
mean_variance_norm_group_of (const Axes    *self,
                             const VnShape *shape,
                             gsize          i)
{
  gsize group = 0, stride = 1;

  for (int a = shape->rank - 1; a >= 0; a--)
    {
      gsize size = (gsize) shape->dims[a];

      if (!self->reduced[a])
        {
          group += i % size * stride;
          stride *= size;
        }
      i /= size;
    }
  return group;
}

#define NORMALIZE(T, suffix)                                                                              \
static void                                                                                               \
normalize_##suffix (const Axes *axes, const VnTensor *in, VnTensor *out, double *mean, double *deviation) \
{                                                                                                         \
  const VnShape *shape = &in->shape;                                                                      \
  const T *x = in->data;                                                                                  \
  T *y = out->data;                                                                                       \
  gsize n = in->n_elements;                                                                               \
  double size = (double) n / (double) MAX (axes->n_groups, 1);                                            \
  for (gsize i = 0; i < n; i++)                                                                           \
    mean[mean_variance_norm_group_of (axes, shape, i)] += x[i] / size;                                    \
  for (gsize i = 0; i < n; i++)                                                                           \
    {                                                                                                     \
      gsize g = mean_variance_norm_group_of (axes, shape, i);                                             \
      deviation[g] += (x[i] - mean[g]) * (x[i] - mean[g]) / size;                                         \
    }                                                                                                     \
  for (gsize i = 0; i < n; i++)                                                                           \
    {                                                                                                     \
      gsize g = mean_variance_norm_group_of (axes, shape, i);                                             \
      y[i] = (T) ((x[i] - mean[g]) / (sqrt (deviation[g]) + 1e-9));                                       \
    }                                                                                                     \
}

NORMALIZE (float, f32)
NORMALIZE (double, f64)

static gboolean
mean_variance_norm_mvn_run (VnOpContext *ctx,
                            GError     **error)
{
  double *mean = ctx->scratch;
  Axes axes;

  if (!mean_variance_norm_axes_init (&axes, ctx, &ctx->in[0]->shape, error))
    return FALSE;
  memset (mean, 0, 2 * axes.n_groups * sizeof (double));
  if (ctx->in[0]->dtype == VN_DTYPE_F64)
    normalize_f64 (&axes, ctx->in[0], ctx->out[0], mean, mean + axes.n_groups);
  else
    normalize_f32 (&axes, ctx->in[0], ctx->out[0], mean, mean + axes.n_groups);
  return TRUE;
}

const VnOp vn_op_mean_variance_normalization_9 = {
  .domain = "", .type = "MeanVarianceNormalization", .since = 9,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_POOL_NORM,
  .quant = VN_QUANT_TRAITS (VN_QUANT_GENERIC, FALSE),
  .infer = mean_variance_norm_mvn_infer,
  .run = mean_variance_norm_mvn_run,
};
