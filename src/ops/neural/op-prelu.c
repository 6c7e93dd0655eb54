/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PRelu: y = x < 0 ? slope x : x, the slope broadcast to the shape of x. */
#include "vn-op-kernel.h"

enum { X, SLOPE };

/* Before opset 7 the slope was one number or one per channel. */
static VnShape
prelu_slope_shape (const VnOpContext *ctx,
                   const VnShape     *x,
                   const VnShape     *slope)
{
  VnShape shape = *slope;

  if (ctx->opset >= 7 || slope->rank != 1 || x->rank < 3 || slope->dims[0] == 1)
    return shape;
  shape.rank = x->rank - 1;
  for (int i = 1; i < shape.rank; i++)
    shape.dims[i] = 1;
  return shape;
}

static gboolean
prelu_infer (VnOpContext *ctx,
             GError     **error)
{
  const VnShape *x = &ctx->in_types[X].shape;
  VnShape slope = prelu_slope_shape (ctx, x, &ctx->in_types[SLOPE].shape);

  if (!vn_op_check_alike (ctx, 0x2, error))
    return FALSE;
  if (x->rank >= 0 && slope.rank > x->rank)
    return vn_op_fail (ctx, error, _("the slope has rank %d, but the input has rank %d"), slope.rank, x->rank);
  for (int i = 1; x->rank >= 0 && i <= slope.rank; i++)
    {
      gint64 size = slope.dims[slope.rank - i], to = x->dims[x->rank - i];

      if (size >= 0 && size != 1 && to >= 0 && size != to)
        return vn_op_fail (ctx, error, _("the slope has dimension %lld where the input has %lld"),
                           (long long) size, (long long) to);
    }
  return vn_op_infer_same (ctx, error);
}

/* The data as lines that have either one slope or a slope for each element. */
typedef struct
{
  const VnOpContext *ctx;
  VnShape            slope;     /* of the rank of the data */
  int                axis;      /* a line is the axes from this one on */
  gsize              line;
  gboolean           shared;
} PRelu;

static void
prelu_init (PRelu       *self,
            VnOpContext *ctx)
{
  const VnShape *x = &ctx->in[X]->shape;
  VnShape slope = prelu_slope_shape (ctx, x, &ctx->in[SLOPE]->shape);

  self->ctx = ctx;
  self->slope.rank = x->rank;
  for (int i = 0; i < x->rank; i++)
    {
      int own = i - (x->rank - slope.rank);

      self->slope.dims[i] = own < 0 ? 1 : slope.dims[own];
    }
  self->axis = x->rank;
  self->shared = x->rank == 0 || self->slope.dims[x->rank - 1] == 1;
  while (self->axis > 0 && (self->shared ? self->slope.dims[self->axis - 1] == 1
                                         : self->slope.dims[self->axis - 1] == x->dims[self->axis - 1]))
    self->axis--;
  self->line = (gsize) vn_shape_count (x, self->axis, x->rank);
}

/* Where the slopes of a line start. */
static gsize
prelu_slope_offset (const PRelu *self,
                    gsize        line)
{
  const VnShape *x = &self->ctx->in[X]->shape;
  gsize offset = 0, stride = (gsize) vn_shape_count (&self->slope, self->axis, x->rank);

  for (int i = self->axis - 1; i >= 0; i--)
    {
      if (self->slope.dims[i] != 1)
        offset += line % (gsize) x->dims[i] * stride;
      line /= (gsize) x->dims[i];
      stride *= (gsize) self->slope.dims[i];
    }
  return offset;
}

/* W: type of the product; unsigned for integers, which wrap around. */
#define PRELU_LINE(T, W, suffix)                                                         \
VN_MULTIVERSION                                                                          \
static void                                                                              \
line_##suffix (const T *x, const T *slope, T *y, gsize n, gboolean shared)               \
{                                                                                        \
  T a = *slope;                                                                          \
  if (shared)                                                                            \
    for (gsize i = 0; i < n; i++)                                                        \
      y[i] = x[i] < 0 ? (T) ((W) a * (W) x[i]) : x[i];                                   \
  else                                                                                   \
    for (gsize i = 0; i < n; i++)                                                        \
      y[i] = x[i] < 0 ? (T) ((W) slope[i] * (W) x[i]) : x[i];                            \
}                                                                                        \
                                                                                         \
static void                                                                              \
item_##suffix (gpointer data, gsize item, guint worker)                                  \
{                                                                                        \
  const PRelu *self = data;                                                              \
  const VnOpContext *ctx = self->ctx;                                                    \
  line_##suffix ((const T *) ctx->in[X]->data + item * self->line,                       \
                 (const T *) ctx->in[SLOPE]->data + prelu_slope_offset (self, item),     \
                 (T *) ctx->out[0]->data + item * self->line, self->line, self->shared); \
}

PRELU_LINE (float, float, f32)
PRELU_LINE (double, double, f64)
PRELU_LINE (gint32, guint32, s32)
PRELU_LINE (gint64, guint64, s64)

/* No number without a sign is below 0. */
static gboolean
prelu_copy_data (VnOpContext *ctx)
{
  if (ctx->in[X]->n_bytes > 0)
    memcpy (ctx->out[0]->data, ctx->in[X]->data, ctx->in[X]->n_bytes);
  return TRUE;
}

static gboolean
prelu_run (VnOpContext *ctx,
           GError     **error)
{
  PRelu job = { 0 };
  VnDType dtype = ctx->in[X]->dtype;
  VnOpItemFunc func = dtype == VN_DTYPE_F64 ? item_f64
                    : dtype == VN_DTYPE_S32 ? item_s32
                    : dtype == VN_DTYPE_S64 ? item_s64 : item_f32;

  if (dtype == VN_DTYPE_U32 || dtype == VN_DTYPE_U64)
    return prelu_copy_data (ctx);
  prelu_init (&job, ctx);
  if (ctx->in[X]->n_elements > 0)
    vn_op_for_items (ctx, ctx->in[X]->n_elements / job.line, (double) job.line, func, &job);
  return TRUE;
}

const VnOp vn_op_prelu_1 = {
  .domain = "", .type = "PRelu", .since = 1,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64) | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64) |
            VN_DTYPE_BIT (U32) | VN_DTYPE_BIT (U64),
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << 1,
  .family = VN_FAMILY_ACTIVATION,
  .quant = VN_QUANT_TRAITS (VN_QUANT_GENERIC, FALSE),
  .infer = prelu_infer,
  .run = prelu_run,
};
