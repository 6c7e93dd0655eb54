/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CumSum, CumProd: running sums and products along the axis that input 1 names; optionally from the end, and without the
 * element itself. */
#include "vn-elem.h"

static gboolean
cumsum_infer (VnOpContext *ctx,
              GError     **error)
{
  gint64 axis;
  guint n;
  int resolved;

  if (!vn_op_check_index_dtype (ctx, 1, error))
    return FALSE;
  if (ctx->in_types[0].shape.rank >= 0 && vn_op_get_ints_input (ctx, 1, &axis, 1, &n) && n == 1 &&
      !vn_op_axis (ctx, &ctx->in_types[0].shape, axis, &resolved, error))
    return FALSE;
  return vn_op_infer_same (ctx, error);
}

typedef struct
{
  gsize    outer, n, inner;
  gboolean reverse, exclusive, product;
} Cumsum;

#define SUM_ROWS(name, type, sum_type)                                              \
  case VN_DTYPE_##name:                                                             \
    for (gsize row = 0; row < self->outer * self->inner; row++)                     \
      {                                                                             \
        gsize base = row / self->inner * self->n * self->inner + row % self->inner; \
        sum_type sum = self->product;                                               \
                                                                                    \
        for (gsize i = 0; i < self->n; i++)                                         \
          {                                                                         \
            gsize at = base + (self->reverse ? self->n - 1 - i : i) * self->inner;  \
            sum_type before = sum;                                                  \
                                                                                    \
            if (self->product)                                                      \
              sum *= (sum_type) ((const type *) x)[at];                             \
            else                                                                    \
              sum += (sum_type) ((const type *) x)[at];                             \
            ((type *) y)[at] = (type) (self->exclusive ? before : sum);             \
          }                                                                         \
      }                                                                             \
    return TRUE;

static gboolean
cumsum_sum_rows (const Cumsum *self,
                 VnDType       dtype,
                 gconstpointer x,
                 gpointer      y)
{
  switch (dtype)
    {
      SUM_ROWS (F32, float, float)
      SUM_ROWS (F64, double, double)
      SUM_ROWS (S32, gint32, guint64)
      SUM_ROWS (S64, gint64, guint64)
      SUM_ROWS (U32, guint32, guint64)
      SUM_ROWS (U64, guint64, guint64)
    default:
      return FALSE;
    }
}

static gboolean
cumsum_run (VnOpContext *ctx,
            GError     **error)
{
  const VnTensor *in = ctx->in[0];
  Cumsum self = { .reverse = vn_node_get_int (ctx->node, "reverse", 0) != 0,
                  .exclusive = vn_node_get_int (ctx->node, "exclusive", 0) != 0,
                  .product = g_str_equal (ctx->op->type, "CumProd") };
  int axis;

  if (ctx->in[1]->n_elements != 1)
    return vn_op_fail (ctx, error, _("%s: the axis must have 1 element, found %zu"), ctx->op->type,
                       ctx->in[1]->n_elements);
  if (!vn_op_axis (ctx, &in->shape, vn_tensor_get_s64 (ctx->in[1], 0), &axis, error))
    return FALSE;
  self.outer = (gsize) vn_shape_count (&in->shape, 0, axis);
  self.n = (gsize) in->shape.dims[axis];
  self.inner = (gsize) vn_shape_count (&in->shape, axis + 1, in->shape.rank);
  return cumsum_sum_rows (&self, in->dtype, in->data, ctx->out[0]->data) || vn_op_unsupported (ctx, 0, error);
}

#define CUMULATIVE(variable, type_, since_, ort)                                                                       \
  const VnOp variable = {                                                                                              \
    .domain = "", .type = type_, .since = since_,                                                                      \
    .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,                                              \
    .others = { [1] = VN_INDEX_BITS },                                                                                 \
    .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64) | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64) | VN_DTYPE_BIT (U32) | \
              VN_DTYPE_BIT (U64),                                                                                      \
    .stand_ins = VN_STAND_IN_HALVES,                                                                                   \
    .family = VN_FAMILY_ARITHMETIC,                                                                                    \
    .quant = VN_QUANT_TRAITS (VN_QUANT_GENERIC, ort),                                                                  \
    .infer = cumsum_infer,                                                                                             \
    .run = cumsum_run,                                                                                                 \
  };

CUMULATIVE (vn_op_cum_prod_26, "CumProd", 26, FALSE)
CUMULATIVE (vn_op_cum_sum_11, "CumSum", 11, TRUE)
