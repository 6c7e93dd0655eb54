/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shapes of a matrix product by the rules of numpy.matmul, and where in each operand a batch begins. */
#include "vn-product.h"

static VnShape
product_leading (const VnShape *shape)
{
  VnShape out = *shape;

  out.rank -= 2;
  return out;
}

/**
 * vn_product_init_transposed:
 * @a, @b: shapes of the operands, of known rank
 * @trans_a, @trans_b: whether the last two axes are to be swapped; not heeded for 1-D operands
 *
 * Returns: %FALSE if they cannot be multiplied
 */
gboolean
vn_product_init_transposed (VnProduct      *self,
                            VnOpContext    *ctx,
                            const VnShape  *a,
                            const VnShape  *b,
                            gboolean        trans_a,
                            gboolean        trans_b,
                            GError        **error)
{
  VnShape lead_a, lead_b;
  gint64 rows;

  self->drop_m = a->rank == 1;
  self->drop_n = b->rank == 1;
  self->trans_a = trans_a && !self->drop_m;
  self->trans_b = trans_b && !self->drop_n;
  self->a = self->drop_m ? VN_SHAPE (1, a->dims[0]) : *a;
  self->b = self->drop_n ? VN_SHAPE (b->dims[0], 1) : *b;
  if (a->rank < 1 || b->rank < 1)
    return vn_op_fail (ctx, error, _("a scalar cannot be an operand of a matrix product"));
  self->m = self->a.dims[self->a.rank - (self->trans_a ? 1 : 2)];
  self->k = self->a.dims[self->a.rank - (self->trans_a ? 2 : 1)];
  self->n = self->b.dims[self->b.rank - (self->trans_b ? 2 : 1)];
  rows = self->b.dims[self->b.rank - (self->trans_b ? 1 : 2)];
  if (self->k >= 0 && rows >= 0 && self->k != rows)
    return vn_op_fail (ctx, error, _("%lld columns of the first operand, but %lld"
                                     " rows of the second"), (long long) self->k, (long long) rows);
  lead_a = product_leading (&self->a);
  lead_b = product_leading (&self->b);
  if (!vn_shape_broadcast (&lead_a, &lead_b, &self->batch))
    return vn_op_fail (ctx, error, _("the leading axes of the operands cannot be broadcast"));
  return TRUE;
}

/**
 * vn_product_init:
 * @a, @b: shapes of the operands, of known rank
 *
 * Returns: %FALSE if they cannot be multiplied
 */
gboolean
vn_product_init (VnProduct      *self,
                 VnOpContext    *ctx,
                 const VnShape  *a,
                 const VnShape  *b,
                 GError        **error)
{
  return vn_product_init_transposed (self, ctx, a, b, FALSE, FALSE, error);
}

/**
 * vn_product_shape:
 * @y: (out): shape of the result
 */
void
vn_product_shape (const VnProduct *self,
                  VnShape         *y)
{
  *y = self->batch;
  if (!self->drop_m)
    y->dims[y->rank++] = self->m;
  if (!self->drop_n)
    y->dims[y->rank++] = self->n;
}

/**
 * vn_product_offset:
 * @operand: shape of an operand, at least 2-D
 * @batch: leading axes of the result
 * @i: number of a matrix of the result
 *
 * Returns: index of the first element of the matrix that belongs to it
 */
gsize
vn_product_offset (const VnShape *operand,
                   const VnShape *batch,
                   gsize          i)
{
  gsize offset = 0, stride = (gsize) (operand->dims[operand->rank - 2] * operand->dims[operand->rank - 1]);
  int lead = operand->rank - 2;

  for (int axis = batch->rank - 1; axis >= 0; axis--)
    {
      gsize index = i % (gsize) batch->dims[axis];
      int own = axis - (batch->rank - lead);

      i /= (gsize) batch->dims[axis];
      if (own < 0)
        continue;
      if (operand->dims[own] != 1)
        offset += index * stride;
      stride *= (gsize) operand->dims[own];
    }
  return offset;
}
