/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GlobalAveragePool, GlobalMaxPool, GlobalLpPool: each channel of each sample becomes one number. */
#include "vn-pool.h"
#include "vn-reduce.h"

#include <math.h>

static gboolean
global_infer (VnOpContext *ctx,
              GError     **error)
{
  VnShape y = ctx->in_types[0].shape;

  if (y.rank >= 0 && y.rank < 3)
    return vn_op_fail (ctx, error, _("input rank is %d, expected at least 3"), y.rank);
  for (int i = 2; i < y.rank; i++)
    y.dims[i] = 1;
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &y);
  return TRUE;
}

typedef struct Global Global;
struct Global
{
  const VnOpContext *ctx;
  gsize              size;
  double             p;
  float            (*plane) (const Global *self, const float *x);
};

VN_MULTIVERSION
static float
pool_global_average_plane (const Global *self,
                           const float  *x)
{
  return (float) (vn_reduce_sum (x, self->size) / (double) self->size);
}

VN_MULTIVERSION
static float
pool_global_max_plane (const Global *self,
                       const float  *x)
{
  float max = -INFINITY;

  for (gsize i = 0; i < self->size; i++)
    max = max >= x[i] || max != max ? max : x[i];
  return max;
}

static float
pool_global_lp_plane (const Global *self,
                      const float  *x)
{
  double sum = 0;

  for (gsize i = 0; i < self->size; i++)
    sum += pow (fabs (x[i]), self->p);
  return (float) pow (sum, 1.0 / self->p);
}

static void
global_item_f64 (gpointer data,
                 gsize    item,
                 guint    worker)
{
  const Global *self = data;
  const double *x = (const double *) self->ctx->in[0]->data + item * self->size;
  gboolean is_max = self->plane == pool_global_max_plane, is_lp = self->plane == pool_global_lp_plane;
  double result = is_max ? -INFINITY : 0;

  for (gsize i = 0; i < self->size; i++)
    if (is_max)
      result = result >= x[i] || result != result ? result : x[i];
    else
      result += is_lp ? pow (fabs (x[i]), self->p) : x[i];
  if (!is_max)
    result = is_lp ? pow (result, 1.0 / self->p) : result / (double) self->size;
  ((double *) self->ctx->out[0]->data)[item] = result;
}

static void
global_item (gpointer data,
             gsize    item,
             guint    worker)
{
  const Global *self = data;

  ((float *) self->ctx->out[0]->data)[item] =
    self->plane (self, (const float *) self->ctx->in[0]->data + item * self->size);
}

static gboolean
pool_global_run_plane (VnOpContext *ctx,
                       float      (*plane) (const Global *self, const float *x))
{
  const VnShape *shape = &ctx->in[0]->shape;
  Global job = { ctx, (gsize) vn_shape_count (shape, 2, shape->rank), (double) vn_pool_exponent (ctx), plane };

  vn_op_for_items (ctx, (gsize) vn_shape_count (shape, 0, 2), (double) job.size,
                   ctx->in[0]->dtype == VN_DTYPE_F64 ? global_item_f64 : global_item, &job);
  return TRUE;
}

static gboolean
pool_global_average_run (VnOpContext *ctx,
                         GError     **error)
{
  return pool_global_run_plane (ctx, pool_global_average_plane);
}

static gboolean
pool_global_max_run (VnOpContext *ctx,
                     GError     **error)
{
  return pool_global_run_plane (ctx, pool_global_max_plane);
}

static gboolean
pool_global_lp_run (VnOpContext *ctx,
                    GError     **error)
{
  return pool_global_run_plane (ctx, pool_global_lp_plane);
}

#define OPERATOR(id, type_, since_, role, ort, run_)                         \
const VnOp vn_op_##id = {                                                    \
  .domain = "", .type = type_, .since = since_,                              \
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,      \
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),                         \
  .stand_ins = VN_STAND_IN_HALVES,                                           \
  .family = VN_FAMILY_POOL_NORM,                                             \
  .quant = VN_QUANT_TRAITS (role, ort),                                      \
  .infer = global_infer,                                                     \
  .run = run_,                                                               \
};

OPERATOR (global_average_pool_1, "GlobalAveragePool", 1, VN_QUANT_GENERIC, TRUE, pool_global_average_run)
OPERATOR (global_lp_pool_1, "GlobalLpPool", 1, VN_QUANT_GENERIC, FALSE, pool_global_lp_run)
OPERATOR (global_max_pool_1, "GlobalMaxPool", 1, VN_QUANT_PASSTHROUGH, FALSE, pool_global_max_run)
