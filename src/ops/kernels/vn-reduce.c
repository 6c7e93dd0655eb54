/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accumulation kernels and geometry of the Reduce operators.
 *
 * Floats are accumulated in float64: exact enough that the order does not show in float32. Sixteen lanes keep the
 * order fixed and let the loops vectorise. Integers wrap around in 64 bits. */
#include "vn-reduce-private.h"

/* In the expressions a is the accumulator and v the element, both of the accumulator's type. */
#define KERNEL(name, type, acc_type, expression)                                \
  VN_MULTIVERSION                                                               \
  static void                                                                   \
  name##_row (gconstpointer px, gpointer lanes, gsize n)                        \
  {                                                                             \
    const type *x = px;                                                         \
    acc_type sums[VN_REDUCE_LANES];                                             \
    gsize i = 0;                                                                \
                                                                                \
    memcpy (sums, lanes, sizeof sums);                                          \
    for (; i + VN_REDUCE_LANES <= n; i += VN_REDUCE_LANES)                      \
      for (gsize k = 0; k < VN_REDUCE_LANES; k++)                               \
        {                                                                       \
          const acc_type a = sums[k], v = (acc_type) x[i + k];                  \
          sums[k] = (expression);                                               \
        }                                                                       \
    for (gsize k = 0; i < n; i++, k++)                                          \
      {                                                                         \
        const acc_type a = sums[k], v = (acc_type) x[i];                        \
        sums[k] = (expression);                                                 \
      }                                                                         \
    memcpy (lanes, sums, sizeof sums);                                          \
  }                                                                             \
  VN_MULTIVERSION                                                               \
  static void                                                                   \
  name##_rows (gconstpointer px, gpointer presults, gsize n)                    \
  {                                                                             \
    const type *x = px;                                                         \
    acc_type *results = presults;                                               \
                                                                                \
    for (gsize i = 0; i < n; i++)                                               \
      {                                                                         \
        const acc_type a = results[i], v = (acc_type) x[i];                     \
        results[i] = (expression);                                              \
      }                                                                         \
  }

#define FLOAT_KERNELS(suffix, type)                                             \
  KERNEL (sum_##suffix, type, double, a + v)                                    \
  KERNEL (abs_##suffix, type, double, a + fabs (v))                             \
  KERNEL (square_##suffix, type, double, a + v * v)                             \
  KERNEL (max_##suffix, type, double, a > v || a != a ? a : v)                  \
  KERNEL (min_##suffix, type, double, a < v || a != a ? a : v)                  \
  KERNEL (prod_##suffix, type, double, a * v)

FLOAT_KERNELS (f32, float)
FLOAT_KERNELS (f64, double)
KERNEL (sum_s64, gint64, gint64, (gint64) ((guint64) a + (guint64) v))
KERNEL (abs_s64, gint64, gint64, (gint64) ((guint64) a + (v < 0 ? 0 - (guint64) v : (guint64) v)))
KERNEL (square_s64, gint64, gint64, (gint64) ((guint64) a + (guint64) v * (guint64) v))
KERNEL (max_s64, gint64, gint64, a > v ? a : v)
KERNEL (min_s64, gint64, gint64, a < v ? a : v)
KERNEL (sum_u64, guint64, guint64, a + v)
KERNEL (abs_u64, guint64, guint64, a + v)
KERNEL (square_u64, guint64, guint64, a + v * v)
KERNEL (max_u64, guint64, guint64, a > v ? a : v)
KERNEL (min_u64, guint64, guint64, a < v ? a : v)
KERNEL (prod_u64, guint64, guint64, a * v)
KERNEL (prod_s64, gint64, gint64, (gint64) ((guint64) a * (guint64) v))

#define TABLE(suffix)                                                           \
  const VnReduceKernel *                                                        \
  vn_reduce_kernel_##suffix (VnReduceKind kind)                                 \
  {                                                                             \
    static const VnReduceKernel kernels[VN_N_REDUCE_KINDS] = {                  \
      [VN_REDUCE_SUM] = { sum_##suffix##_row, sum_##suffix##_rows },            \
      [VN_REDUCE_SUM_ABS] = { abs_##suffix##_row, abs_##suffix##_rows },        \
      [VN_REDUCE_SUM_SQUARE] = { square_##suffix##_row, square_##suffix##_rows }, \
      [VN_REDUCE_MAX] = { max_##suffix##_row, max_##suffix##_rows },            \
      [VN_REDUCE_MIN] = { min_##suffix##_row, min_##suffix##_rows },            \
      [VN_REDUCE_PROD] = { prod_##suffix##_row, prod_##suffix##_rows },         \
    };                                                                          \
                                                                                \
    return &kernels[kind];                                                      \
  }

TABLE (f32)
TABLE (f64)
TABLE (s64)
TABLE (u64)

/**
 * vn_reduce_resolve:
 * @axes_input: whether this opset has the axes as input 1 (else as attribute)
 * @mask: (out): bit per reduced axis
 * @known: (out): %FALSE if the axes or the rank are not known yet
 *
 * Returns: %FALSE with an error for axes outside of the input
 */
gboolean
vn_reduce_resolve (VnOpContext  *ctx,
                   gboolean      axes_input,
                   guint        *mask,
                   gboolean     *known,
                   GError      **error)
{
  int rank = ctx->in_types[0].shape.rank;
  gint64 axes[VN_MAX_RANK];
  guint n;

  *mask = 0;
  if (!vn_op_attr_or_input (ctx, axes_input ? NULL : "axes", 1, axes, VN_MAX_RANK, &n, known, error))
    return FALSE;
  *known = *known && rank >= 0;
  if (!*known)
    return TRUE;
  if (n == 0 && vn_node_get_int (ctx->node, "noop_with_empty_axes", 0) == 0)
    *mask = (1u << rank) - 1;
  return n == 0 || vn_op_axis_mask (ctx, rank, axes, n, mask, error);
}

/**
 * vn_reduce_shape:
 * @keep: whether a reduced dim stays as 1
 */
void
vn_reduce_shape (const VnShape *input,
                 guint          mask,
                 gboolean       keep,
                 VnShape       *out)
{
  out->rank = 0;
  for (int d = 0; d < input->rank; d++)
    if ((mask >> d & 1) == 0)
      out->dims[out->rank++] = input->dims[d];
    else if (keep)
      out->dims[out->rank++] = 1;
}

/**
 * vn_reduce_plan_init:
 * @shape: static, of the input
 * @mask: bit per reduced axis
 */
void
vn_reduce_plan_init (VnReducePlan  *self,
                     const VnShape *shape,
                     guint          mask)
{
  gint64 dims[VN_MAX_RANK] = { 1 }, stride = 1;
  gboolean reduced[VN_MAX_RANK] = { FALSE };
  int n = 0;

  *self = (VnReducePlan) { .row = 1, .count = 1 };
  for (int d = 0; d < shape->rank; d++)
    {
      gboolean r = (mask >> d & 1) != 0;

      if (r)
        self->count *= (gsize) shape->dims[d];
      if (shape->dims[d] == 1)
        continue;
      if (n > 0 && reduced[n - 1] == r)
        dims[n - 1] *= shape->dims[d];
      else
        {
          reduced[n] = r;
          dims[n++] = shape->dims[d];
        }
    }
  if (n == 0)
    n = 1;
  self->row = (gsize) dims[n - 1];
  self->row_reduced = reduced[n - 1];
  stride = dims[n - 1];
  /* From the inside out, so that the first entry is the one that steps least. */
  for (int d = n - 2; d >= 0; stride *= dims[d], d--)
    if (reduced[d])
      {
        self->reduced[self->n_reduced] = dims[d];
        self->reduced_stride[self->n_reduced++] = stride;
      }
    else
      {
        self->kept[self->n_kept] = dims[d];
        self->kept_stride[self->n_kept++] = stride;
      }
}
