/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Softmax, LogSoftmax, Hardmax. Since opset 13 along one axis; before, over all axes from that one on together. The
 * maximum is subtracted first, so that no finite input overflows. */
#include "vn-softmax.h"
#include "vn-vecmath.h"

#include <math.h>

/* The data as outer x size x inner; a line has @size elements, @inner apart. */
typedef struct
{
  gsize outer, size, inner;
} Lines;

static gboolean
lines_init (Lines         *self,
            VnOpContext   *ctx,
            const VnShape *shape,
            GError       **error)
{
  gboolean coerced = ctx->opset < 13;
  gint64 axis = vn_node_get_int (ctx->node, "axis", coerced ? 1 : -1);
  int at;

  if (shape->rank == 0 || (coerced && axis == shape->rank))
    at = shape->rank;
  else if (!vn_shape_resolve_axis (shape, axis, &at))
    return vn_op_fail (ctx, error, _("axis %" G_GINT64_FORMAT " of data of rank %d"), axis, shape->rank);
  if (!vn_shape_is_static (shape))
    return TRUE;
  self->outer = (gsize) vn_shape_count (shape, 0, at);
  self->size = coerced || at == shape->rank ? (gsize) vn_shape_count (shape, at, shape->rank) : (gsize) shape->dims[at];
  self->inner = coerced || at == shape->rank ? 1 : (gsize) vn_shape_count (shape, at + 1, shape->rank);
  return TRUE;
}

static gboolean
softmax_infer (VnOpContext *ctx,
               GError     **error)
{
  Lines lines;

  if (ctx->in_types[0].shape.rank >= 0 && !lines_init (&lines, ctx, &ctx->in_types[0].shape, error))
    return FALSE;
  return vn_op_infer_same (ctx, error);
}

#define LANES 16

/* Sums and maxima are kept in lanes, in an order that does not depend on the instruction set. NaN wins. */
VN_INLINE float
max_of (const float *x,
        gsize        n)
{
  float lanes[LANES], result = -INFINITY;
  gsize i = 0;

  for (int j = 0; j < LANES; j++)
    lanes[j] = -INFINITY;
  for (; i + LANES <= n; i += LANES)
    for (int j = 0; j < LANES; j++)
      lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
  for (int j = 0; j < LANES; j++)
    result = lanes[j] > result ? lanes[j] : result;
  for (; i < n; i++)
    result = x[i] > result ? x[i] : result;
  return result;
}

VN_INLINE float
exp_all (const float *x,
         float       *y,
         float        max,
         gsize        n)
{
  float lanes[LANES] = { 0.f }, sum = 0.f;
  gsize i = 0;

  for (gsize k = 0; k < n; k++)
    y[k] = vn_expf (x[k] - max);
  for (; i + LANES <= n; i += LANES)
    for (int j = 0; j < LANES; j++)
      lanes[j] += y[i + j];
  for (int j = 0; j < LANES; j++)
    sum += lanes[j];
  for (; i < n; i++)
    sum += y[i];
  return sum;
}

/**
 * vn_softmax_line:
 *
 * y = exp (x - max) / sum of these; @x may be @y.
 */
VN_MULTIVERSION
void
vn_softmax_line (const float *x,
                 float       *y,
                 gsize        n)
{
  float factor = 1.f / exp_all (x, y, max_of (x, n), n);

  for (gsize i = 0; i < n; i++)
    y[i] *= factor;
}

VN_MULTIVERSION
static void
log_softmax_line (const float *x,
                  float       *y,
                  gsize        n)
{
  float max = max_of (x, n);
  float sum = logf (exp_all (x, y, max, n));

  for (gsize i = 0; i < n; i++)
    y[i] = (x[i] - max) - sum;
}

/* 1 at the first maximum */
static void
hardmax_line (const float *x,
              float       *y,
              gsize        n)
{
  gsize best = 0;

  for (gsize i = 1; i < n; i++)
    if (x[i] > x[best])
      best = i;
  memset (y, 0, n * sizeof (float));
  if (n > 0)
    y[best] = 1.f;
}

typedef void (*LineFunc) (const float *x, float *y, gsize n);

/* A line along an axis other than the last: gathered, computed, scattered. */
static void
strided_line (LineFunc     func,
              const float *x,
              float       *y,
              gsize        n,
              gsize        stride,
              float       *buffer)
{
  for (gsize i = 0; i < n; i++)
    buffer[i] = x[i * stride];
  func (buffer, buffer + n, n);
  for (gsize i = 0; i < n; i++)
    y[i * stride] = buffer[n + i];
}

typedef struct
{
  const VnOpContext *ctx;
  Lines              lines;
  LineFunc           func;
} Softmax;

static void
softmax_item (gpointer data,
              gsize    item,
              guint    worker)
{
  const Softmax *self = data;
  gsize size = self->lines.size, inner = self->lines.inner;
  const float *x = (const float *) self->ctx->in[0]->data + item * size * inner;
  float *y = (float *) self->ctx->out[0]->data + item * size * inner;
  float *buffer = (float *) self->ctx->scratch + worker * 2 * size;

  if (inner == 1)
    self->func (x, y, size);
  else
    for (gsize i = 0; i < inner; i++)
      strided_line (self->func, x + i, y + i, size, inner, buffer);
}

static gboolean
ask_scratch (VnOpContext *ctx,
             GError     **error)
{
  const VnShape *shape = &ctx->in_types[0].shape;
  Lines lines;

  if (!softmax_infer (ctx, error))
    return FALSE;
  if (!vn_shape_is_static (shape))
    return TRUE;
  if (!lines_init (&lines, ctx, shape, error))
    return FALSE;
  ctx->scratch_bytes = lines.inner == 1 ? 0 : lines.size * 2 * sizeof (float) * vn_op_max_workers ();
  return TRUE;
}

static gboolean
run_lines (VnOpContext *ctx,
           LineFunc     func,
           GError     **error)
{
  Softmax job = { ctx, { 0 }, func };

  if (!lines_init (&job.lines, ctx, &ctx->in[0]->shape, error))
    return FALSE;
  vn_op_for_items (ctx, job.lines.outer, (double) job.lines.size * job.lines.inner * 8, softmax_item, &job);
  return TRUE;
}

static gboolean
softmax_run (VnOpContext *ctx,
             GError     **error)
{
  return run_lines (ctx, vn_softmax_line, error);
}

static gboolean
log_softmax_run (VnOpContext *ctx,
                 GError     **error)
{
  return run_lines (ctx, log_softmax_line, error);
}

static gboolean
hardmax_run (VnOpContext *ctx,
             GError     **error)
{
  return run_lines (ctx, hardmax_line, error);
}

#define OPERATOR(id, type_, run_, ...)                                       \
const VnOp vn_op_##id##_1 = {                                                \
  .domain = "", .type = type_, .since = 1,                                   \
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,      \
  .dtypes = VN_DTYPE_BIT (F32),                                              \
  .family = VN_FAMILY_ACTIVATION,                                            \
  .quant = __VA_ARGS__,                                                      \
  .infer = ask_scratch,                                                      \
  .run = run_,                                                               \
};

OPERATOR (hardmax, "Hardmax", hardmax_run, VN_QUANT_TRAITS (VN_QUANT_GENERIC, FALSE))
OPERATOR (log_softmax, "LogSoftmax", log_softmax_run, VN_QUANT_TRAITS (VN_QUANT_GENERIC, FALSE))
OPERATOR (softmax, "Softmax", softmax_run, { VN_QUANT_GENERIC, -1, -1, -1, TRUE, 0.f, 1.f })
