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
softmax_lines_init (Lines         *self,
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
    return vn_op_fail (ctx, error, _("axis %lld is out of range for rank %d"), (long long) axis, shape->rank);
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

  if (ctx->in_types[0].shape.rank >= 0 && !softmax_lines_init (&lines, ctx, &ctx->in_types[0].shape, error))
    return FALSE;
  return vn_op_infer_same (ctx, error);
}

/* Lines along an axis other than the last: a block of them side by side, element by element. */
#define BLOCK 256

VN_MULTIVERSION
static void
softmax_block (const float *x,
               float       *y,
               gsize        size,
               gsize        step,
               gsize        n,
               gboolean     logarithm)
{
  float max[BLOCK], sum[BLOCK];

  for (gsize j = 0; j < n; j++)
    {
      max[j] = -INFINITY;
      sum[j] = 0.f;
    }
  for (gsize i = 0; i < size; i++)
    for (gsize j = 0; j < n; j++)
      max[j] = x[i * step + j] > max[j] ? x[i * step + j] : max[j];
  for (gsize i = 0; i < size; i++)
    for (gsize j = 0; j < n; j++)
      {
        float e = vn_expf (x[i * step + j] - max[j]);

        sum[j] += e;
        y[i * step + j] = logarithm ? x[i * step + j] - max[j] : e;
      }
  for (gsize j = 0; j < n; j++)
    sum[j] = logarithm ? logf (sum[j]) : 1.f / sum[j];
  for (gsize i = 0; i < size; i++)
    for (gsize j = 0; j < n; j++)
      y[i * step + j] = logarithm ? y[i * step + j] - sum[j] : y[i * step + j] * sum[j];
}

typedef enum { SOFTMAX, LOG_SOFTMAX, HARDMAX } Kind;

static void
softmax_strided_f64 (Kind          kind,
                     const double *x,
                     double       *y,
                     gsize         size,
                     gsize         step)
{
  double sum = 0;
  gsize best = 0;

  for (gsize i = 1; i < size; i++)
    if (x[i * step] > x[best * step])
      best = i;
  for (gsize i = 0; i < size; i++)
    sum += exp (x[i * step] - x[best * step]);
  for (gsize i = 0; i < size; i++)
    {
      double v = x[i * step] - x[best * step];

      y[i * step] = kind == HARDMAX ? i == best : kind == LOG_SOFTMAX ? v - log (sum) : exp (v) / sum;
    }
}

/* 1 at the first maximum */
static void
softmax_hardmax_strided (const float *x,
                         float       *y,
                         gsize        size,
                         gsize        step)
{
  gsize best = 0;

  for (gsize i = 1; i < size; i++)
    if (x[i * step] > x[best * step])
      best = i;
  for (gsize i = 0; i < size; i++)
    y[i * step] = i == best ? 1.f : 0.f;
}

typedef struct
{
  const VnOpContext *ctx;
  Lines              lines;
  Kind               kind;
} Softmax;

static void
softmax_item (gpointer data,
              gsize    item,
              guint    worker)
{
  const Softmax *self = data;
  gsize size = self->lines.size, inner = self->lines.inner, at = item * size * inner;
  const float *x = (const float *) self->ctx->in[0]->data + at;
  float *y = (float *) self->ctx->out[0]->data + at;

  if (self->ctx->in[0]->dtype == VN_DTYPE_F64)
    for (gsize i = 0; i < inner; i++)
      softmax_strided_f64 (self->kind, (const double *) self->ctx->in[0]->data + at + i,
                           (double *) self->ctx->out[0]->data + at + i, size, inner);
  else if (self->kind == HARDMAX)
    for (gsize i = 0; i < inner; i++)
      softmax_hardmax_strided (x + i, y + i, size, inner);
  else if (inner > 1)
    for (gsize i = 0; i < inner; i += BLOCK)
      softmax_block (x + i, y + i, size, inner, MIN (BLOCK, inner - i), self->kind == LOG_SOFTMAX);
  else if (self->kind == LOG_SOFTMAX)
    vn_log_softmax_line (x, y, size);
  else
    vn_softmax_line (x, y, size);
}

/* Lines too short to fill a vector: many of them, turned so that they lie side by side. Each is computed in the same order
 * as alone. */
#define SHORT_LINES 128

VN_MULTIVERSION
static void
softmax_short_lines (const float *x,
                     float       *y,
                     gsize        size,
                     gsize        n,
                     gboolean     logarithm)
{
  float turned[VN_SOFTMAX_LANES * SHORT_LINES] = { 0 };

  for (gsize i = 0; i < size; i++)
    for (gsize j = 0; j < n; j++)
      turned[i * SHORT_LINES + j] = x[j * size + i];
  softmax_block (turned, turned, size, SHORT_LINES, n, logarithm);
  for (gsize i = 0; i < size; i++)
    for (gsize j = 0; j < n; j++)
      y[j * size + i] = turned[i * SHORT_LINES + j];
}

static void
softmax_short_item (gpointer data,
                    gsize    item,
                    guint    worker)
{
  const Softmax *self = data;
  gsize first = item * SHORT_LINES, at = first * self->lines.size;

  softmax_short_lines ((const float *) self->ctx->in[0]->data + at, (float *) self->ctx->out[0]->data + at, self->lines.size,
                       MIN (SHORT_LINES, self->lines.outer - first), self->kind == LOG_SOFTMAX);
}

static gboolean
softmax_has_short_lines (const Softmax *self)
{
  return self->ctx->in[0]->dtype == VN_DTYPE_F32 && self->kind != HARDMAX && self->lines.inner == 1 &&
         self->lines.size < VN_SOFTMAX_LANES &&
         self->lines.outer > 1;
}

static gboolean
softmax_run_lines (VnOpContext *ctx,
                   Kind         kind,
                   GError     **error)
{
  Softmax job = { ctx, { 0 }, kind };

  if (!softmax_lines_init (&job.lines, ctx, &ctx->in[0]->shape, error))
    return FALSE;
  if (ctx->in[0]->n_elements > 0 && softmax_has_short_lines (&job))
    vn_op_for_items (ctx, (job.lines.outer + SHORT_LINES - 1) / SHORT_LINES,
                     (double) job.lines.size * SHORT_LINES, softmax_short_item, &job);
  else if (ctx->in[0]->n_elements > 0)
    vn_op_for_items (ctx, job.lines.outer, (double) job.lines.size * job.lines.inner * 8, softmax_item, &job);
  return TRUE;
}

static gboolean
softmax_run (VnOpContext *ctx,
             GError     **error)
{
  return softmax_run_lines (ctx, SOFTMAX, error);
}

static gboolean
softmax_log_softmax_run (VnOpContext *ctx,
                         GError     **error)
{
  return softmax_run_lines (ctx, LOG_SOFTMAX, error);
}

static gboolean
softmax_hardmax_run (VnOpContext *ctx,
                     GError     **error)
{
  return softmax_run_lines (ctx, HARDMAX, error);
}

#define OPERATOR(id, type_, run_, ...)                                       \
const VnOp vn_op_##id##_1 = {                                                \
  .domain = "", .type = type_, .since = 1,                                   \
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,      \
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),                         \
  .stand_ins = VN_STAND_IN_HALVES,                                           \
  .family = VN_FAMILY_ACTIVATION,                                            \
  .quant = __VA_ARGS__,                                                      \
  .infer = softmax_infer,                                                    \
  .run = run_,                                                               \
};

OPERATOR (hardmax, "Hardmax", softmax_hardmax_run, VN_QUANT_TRAITS (VN_QUANT_GENERIC, FALSE))
OPERATOR (log_softmax, "LogSoftmax", softmax_log_softmax_run, VN_QUANT_TRAITS (VN_QUANT_GENERIC, FALSE))
OPERATOR (softmax, "Softmax", softmax_run, { VN_QUANT_GENERIC, -1, -1, -1, TRUE, 0.f, 1.f })
