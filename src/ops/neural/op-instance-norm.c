/* SPDX-License-Identifier: GPL-3.0-or-later */
/* InstanceNormalization: each channel of each sample by its own mean and variance; GroupNormalization: groups of
 * channels by theirs. y = (x - mean) / sqrt (variance + epsilon) * scale + bias. */
#include "vn-reduce.h"

#include <math.h>

enum { X, SCALE, BIAS };

static gint64
instance_norm_n_groups (const VnOpContext *ctx,
                        const VnShape     *x)
{
  return g_str_equal (ctx->op->type, "GroupNormalization") ? vn_node_get_int (ctx->node, "num_groups", 0) : x->dims[1];
}

static gboolean
norm_infer (VnOpContext *ctx,
            GError     **error)
{
  const VnShape *x = &ctx->in_types[X].shape;
  gint64 groups, factors;

  if (!vn_op_check_alike (ctx, 0x6, error))
    return FALSE;
  if (x->rank >= 0 && x->rank < 3)
    return vn_op_fail (ctx, error, _("input rank is %d, expected at least 3"), x->rank);
  if (x->rank >= 0 && x->dims[1] >= 0)
    {
      groups = instance_norm_n_groups (ctx, x);
      if (groups < 1 || x->dims[1] % groups != 0)
        return vn_op_fail (ctx, error, _("%lld channels cannot be split into %lld"
                                         " groups"), (long long) x->dims[1], (long long) groups);
      /* GroupNormalization 18 had one scale for each group, 21 has one for each channel. */
      factors = ctx->op->until == 20 ? groups : x->dims[1];
      for (guint i = SCALE; i <= BIAS; i++)
        {
          const VnShape *shape = &ctx->in_types[i].shape;

          if (shape->rank >= 0 && (shape->rank != 1 || (shape->dims[0] >= 0 && shape->dims[0] != factors)))
            return vn_op_fail (ctx, error, _("input %u must have %lld elements"), i, (long long) factors);
        }
    }
  return vn_op_infer_same (ctx, error);
}

typedef struct
{
  const VnOpContext *ctx;
  gsize              groups, channels;   /* channels in one group */
  gsize              size;               /* elements of one channel */
  double             epsilon;
} Norm;

VN_MULTIVERSION
static void
instance_norm_measure (const float *x,
                       gsize        n,
                       double       epsilon,
                       float       *mean,
                       double      *factor)
{
  double centre, squares;

  vn_reduce_moments (x, n, &centre, &squares);
  *mean = (float) centre;
  *factor = 1 / sqrt (squares / (double) n + epsilon);
}

VN_MULTIVERSION
static void
instance_norm_affine (const float *x,
                      float       *y,
                      gsize        n,
                      float        mean,
                      float        a,
                      float        b)
{
  for (gsize i = 0; i < n; i++)
    y[i] = (x[i] - mean) * a + b;
}

static void
norm_group_f64 (const Norm *self,
                gsize       item)
{
  const VnOpContext *ctx = self->ctx;
  gsize group = item % self->groups, n = self->channels * self->size;
  const double *x = (const double *) ctx->in[X]->data + item * n;
  const double *scale = ctx->in[SCALE]->data, *bias = ctx->in[BIAS]->data;
  double *y = (double *) ctx->out[0]->data + item * n, mean = 0, squares = 0, factor;
  gboolean by_group = ctx->in[SCALE]->n_elements == self->groups;

  for (gsize i = 0; i < n; i++)
    mean += x[i] / (double) n;
  for (gsize i = 0; i < n; i++)
    squares += (x[i] - mean) * (x[i] - mean);
  factor = 1 / sqrt (squares / (double) n + self->epsilon);
  for (gsize i = 0; i < n; i++)
    {
      gsize which = by_group ? group : group * self->channels + i / self->size;

      y[i] = (x[i] - mean) * factor * scale[which] + bias[which];
    }
}

static void
norm_group (gpointer data,
            gsize    item,
            guint    worker)
{
  const Norm *self = data;
  const VnOpContext *ctx = self->ctx;
  const float *scale = ctx->in[SCALE]->data, *bias = ctx->in[BIAS]->data;
  gsize group = item % self->groups, at = item * self->channels * self->size;
  gboolean by_group = ctx->in[SCALE]->n_elements == self->groups;
  float mean;
  double factor;

  if (ctx->in[X]->dtype == VN_DTYPE_F64)
    {
      norm_group_f64 (self, item);
      return;
    }
  instance_norm_measure ((const float *) ctx->in[X]->data + at, self->channels * self->size, self->epsilon, &mean, &factor);
  for (gsize c = 0; c < self->channels; c++, at += self->size)
    {
      gsize which = by_group ? group : group * self->channels + c;

      instance_norm_affine ((const float *) ctx->in[X]->data + at, (float *) ctx->out[0]->data + at, self->size, mean,
                            (float) (factor * scale[which]), bias[which]);
    }
}

static gboolean
norm_run (VnOpContext *ctx,
          GError     **error)
{
  const VnShape *x = &ctx->in[X]->shape;
  Norm job = { ctx, (gsize) instance_norm_n_groups (ctx, x) };

  job.channels = (gsize) x->dims[1] / MAX (job.groups, 1);
  job.size = (gsize) vn_shape_count (x, 2, x->rank);
  job.epsilon = vn_node_get_float (ctx->node, "epsilon", 1e-5f);
  vn_op_for_items (ctx, (gsize) x->dims[0] * job.groups, (double) job.channels * job.size * 3, norm_group, &job);
  return TRUE;
}

#define OPERATOR(id, type_, since_, until_, ...)                             \
const VnOp vn_op_##id = {                                                    \
  .domain = "", .type = type_, .since = since_, .until = until_,             \
  .min_inputs = 3, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,      \
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),                         \
  .stand_ins = VN_STAND_IN_HALVES,                                           \
  .same_dtype = 1u << 1 | 1u << 2,                                           \
  .family = VN_FAMILY_POOL_NORM,                                             \
  .quant = __VA_ARGS__,                                                      \
  .infer = norm_infer,                                                       \
  .run = norm_run,                                                           \
};

OPERATOR (group_normalization_18, "GroupNormalization", 18, 20, VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE))
OPERATOR (group_normalization_21, "GroupNormalization", 21, 0, VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE))
OPERATOR (instance_normalization_1, "InstanceNormalization", 1, 0, { VN_QUANT_NORM, SCALE, BIAS, -1, TRUE })
