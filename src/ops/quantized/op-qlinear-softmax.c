/* SPDX-License-Identifier: GPL-3.0-or-later */
/* QLinearSoftmax of ONNX Runtime: exponentials come from a float32 table by the distance to the largest number of the
 * line, scaled so that their sum stays finite; y = round (e * floor (1 / y_scale) / sum) + y_zero. The attribute opset is
 * that of the Softmax it stands for: before 13 the line is all axes from `axis` on. */
#include "vn-int.h"

#include <float.h>

enum { X, X_SCALE, X_ZERO, Y_SCALE, Y_ZERO };

/* Lines of @n numbers with distance @inner between neighbours. */
typedef struct
{
  gsize outer, n, inner;
} Lines;

static gboolean
qlinear_softmax_lines_init (Lines          *self,
                            VnOpContext    *ctx,
                            const VnShape  *x,
                            GError        **error)
{
  gboolean joined = vn_node_get_int (ctx->node, "opset", 13) < 13;
  int axis;

  if (!vn_op_axis (ctx, x, vn_node_get_int (ctx->node, "axis", joined ? 1 : -1), &axis, error))
    return FALSE;
  self->outer = (gsize) vn_shape_count (x, 0, axis);
  self->n = (gsize) (joined ? vn_shape_count (x, axis, x->rank) : x->dims[axis]);
  self->inner = joined ? 1 : (gsize) vn_shape_count (x, axis + 1, x->rank);
  return TRUE;
}

static gboolean
softmax_infer (VnOpContext *ctx,
               GError     **error)
{
  Lines lines;

  if (vn_shape_is_static (&ctx->in_types[X].shape) && !qlinear_softmax_lines_init (&lines, ctx, &ctx->in_types[X].shape, error))
    return FALSE;
  vn_op_set_output (ctx, 0, vn_int_dtype (ctx, Y_ZERO, X), &ctx->in_types[X].shape);
  return TRUE;
}

/* table[d]: exponential of the number d steps below the largest. */
static void
qlinear_softmax_fill_table (float  scale,
                            gsize  n,
                            float  table[256])
{
  double shift = MAX (0., log ((double) (FLT_MAX / (float) n)) - 5.) / (double) scale;

  for (int d = 0; d < 256; d++)
    table[d] = (float) exp ((-d + shift) * (double) scale);
}

static void
qlinear_softmax_soften_line (const VnTensor    *x,
                             const VnIntScalar *to,
                             const Lines       *lines,
                             const float       *table,
                             gsize              first,
                             guint8            *y)
{
  gint32 max = G_MININT32;
  float lowest = to->dtype == VN_DTYPE_S8 ? -128.f : 0.f, sum = 0.f, steps = floorf (1.f / to->scale);

  for (gsize i = 0; i < lines->n; i++)
    max = MAX (max, vn_int_load (x->dtype, x->data, first + i * lines->inner));
  for (gsize i = 0; i < lines->n; i++)
    sum += table[max - vn_int_load (x->dtype, x->data, first + i * lines->inner)];
  for (gsize i = 0; i < lines->n; i++)
    {
      gsize at = first + i * lines->inner;
      float share = rintf (table[max - vn_int_load (x->dtype, x->data, at)] * steps / sum) + (float) to->zero;

      /* NaN, of a scale that is none, fails the comparison. */
      share = share > lowest ? MIN (share, lowest + 255.f) : lowest;
      y[at] = (guint8) (gint32) share;
    }
}

static gboolean
softmax_run (VnOpContext *ctx,
             GError     **error)
{
  const VnTensor *x = ctx->in[X];
  VnIntScalar from, to;
  float table[256];
  Lines lines;

  if (!qlinear_softmax_lines_init (&lines, ctx, &x->shape, error) ||
      !vn_int_scalar (ctx, X_SCALE, X_ZERO, x->dtype, &from, error) ||
      !vn_int_scalar (ctx, Y_SCALE, Y_ZERO, ctx->out[0]->dtype, &to, error))
    return FALSE;
  qlinear_softmax_fill_table (from.scale, MAX (lines.n, 1), table);
  for (gsize o = 0; lines.n > 0 && o < lines.outer; o++)
    for (gsize k = 0; k < lines.inner; k++)
      qlinear_softmax_soften_line (x, &to, &lines, table, o * lines.n * lines.inner + k, ctx->out[0]->data);
  return TRUE;
}

const VnOp vn_op_ms_qlinear_softmax = {
  .domain = "com.microsoft", .type = "QLinearSoftmax", .since = 1,
  .min_inputs = 4, .max_inputs = 5, .min_outputs = 1, .max_outputs = 1, .optional = 1u << 2,
  .dtypes = VN_INT_BITS,
  .family = VN_FAMILY_ACTIVATION,
  .infer = softmax_infer,
  .run = softmax_run,
};
