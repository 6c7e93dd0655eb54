/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MatMul as numpy.matmul: products of the last two axes, the others broadcast; a 1-D operand gets an axis that is
 * dropped again. */
#include "vn-blas.h"
#include "vn-gemm-packed.h"

#include <math.h>

/* Sizes of a product after 1-D operands were extended. */
typedef struct
{
  VnShape a, b;        /* at least 2-D */
  VnShape batch;       /* broadcast shape of the leading axes */
  gint64  m, n, k;
  gboolean drop_m, drop_n;
} Product;

static VnShape
leading (const VnShape *shape)
{
  VnShape out = *shape;

  out.rank -= 2;
  return out;
}

static gboolean
product_init (Product       *self,
              VnOpContext   *ctx,
              const VnShape *a,
              const VnShape *b,
              GError       **error)
{
  VnShape lead_a, lead_b;

  self->drop_m = a->rank == 1;
  self->drop_n = b->rank == 1;
  self->a = self->drop_m ? VN_SHAPE (1, a->dims[0]) : *a;
  self->b = self->drop_n ? VN_SHAPE (b->dims[0], 1) : *b;
  if (a->rank < 1 || b->rank < 1)
    return vn_op_fail (ctx, error, _("a scalar cannot be an operand of a matrix product"));
  self->m = self->a.dims[self->a.rank - 2];
  self->k = self->a.dims[self->a.rank - 1];
  self->n = self->b.dims[self->b.rank - 1];
  if (self->k >= 0 && self->b.dims[self->b.rank - 2] >= 0 && self->k != self->b.dims[self->b.rank - 2])
    return vn_op_fail (ctx, error, _("%" G_GINT64_FORMAT " columns of the first operand, but %" G_GINT64_FORMAT
                                     " rows of the second"), self->k, self->b.dims[self->b.rank - 2]);
  lead_a = leading (&self->a);
  lead_b = leading (&self->b);
  if (!vn_shape_broadcast (&lead_a, &lead_b, &self->batch))
    return vn_op_fail (ctx, error, _("the leading axes of the operands do not broadcast"));
  return TRUE;
}

static gboolean
matmul_infer (VnOpContext *ctx,
              GError     **error)
{
  const VnShape *a = &ctx->in_types[0].shape, *b = &ctx->in_types[1].shape;
  VnShape y = VN_SHAPE_UNKNOWN;
  Product product;

  if (a->rank >= 0 && b->rank >= 0)
    {
      if (!product_init (&product, ctx, a, b, error))
        return FALSE;
      y = product.batch;
      if (!product.drop_m)
        y.dims[y.rank++] = product.m;
      if (!product.drop_n)
        y.dims[y.rank++] = product.n;
      if (b->rank == 2 && vn_shape_is_static (a) && vn_shape_is_static (b) &&
          !vn_gemm_packed_scratch ((gsize) vn_shape_count (&product.a, 0, product.a.rank - 1), (gsize) product.k,
                                   &ctx->scratch_bytes))
        return vn_op_fail (ctx, error, _("the product is too large for this machine"));
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &y);
  return TRUE;
}

/* Where the matrix of an operand starts for batch number @i of the result. */
static gsize
batch_offset (const VnShape *operand,
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

#define ROWS 128

typedef struct
{
  const VnOpContext *ctx;
  Product            product;
  gsize              m, n, k, n_blocks;
} MatMul;

static void
matmul_block (gpointer data,
              gsize    item,
              guint    worker)
{
  const MatMul *self = data;
  const VnOpContext *ctx = self->ctx;
  gsize batch = item / self->n_blocks, first = item % self->n_blocks * ROWS;
  gsize rows = MIN (ROWS, self->m - first);
  gsize a = batch_offset (&self->product.a, &self->product.batch, batch) + first * self->k;
  gsize b = batch_offset (&self->product.b, &self->product.batch, batch);
  gsize y = (batch * self->m + first) * self->n;

  if (ctx->in[0]->dtype == VN_DTYPE_F64)
    vn_blas_gemm_f64 (FALSE, FALSE, rows, self->n, self->k, 1, (const double *) ctx->in[0]->data + a, self->k,
                      (const double *) ctx->in[1]->data + b, self->n, 0, (double *) ctx->out[0]->data + y, self->n);
  else
    vn_blas_gemm (rows, self->n, self->k, (const float *) ctx->in[0]->data + a, self->k,
                  (const float *) ctx->in[1]->data + b, self->n, (float *) ctx->out[0]->data + y, self->n);
}

static gboolean
matmul_prepare (VnOpContext *ctx,
                gpointer    *prepared,
                GError     **error)
{
  const VnTensor *b = ctx->in[1];

  *prepared = NULL;
  if (b == NULL || b->dtype != VN_DTYPE_F32 || b->shape.rank != 2)
    return TRUE;
  *prepared = vn_gemm_packed_new (vn_tile_get (), b->data, (gsize) b->shape.dims[0], (gsize) b->shape.dims[1], FALSE,
                                  1.f, error);
  return *prepared != NULL;
}

static void
matmul_release (gpointer prepared)
{
  vn_gemm_packed_free (prepared);
}

static gboolean
matmul_run (VnOpContext *ctx,
            GError     **error)
{
  MatMul job = { ctx };
  gsize n_batches;

  if (!product_init (&job.product, ctx, &ctx->in[0]->shape, &ctx->in[1]->shape, error) ||
      !vn_shape_n_elements (&job.product.batch, &n_batches))
    return FALSE;
  job.m = (gsize) job.product.m;
  job.n = (gsize) job.product.n;
  job.k = (gsize) job.product.k;
  /* One matrix for all rows: their batches are one tall matrix. */
  if (job.product.b.rank == 2)
    {
      job.m *= n_batches;
      n_batches = 1;
      job.product.a = VN_SHAPE ((gint64) job.m, (gint64) job.k);
      job.product.batch = VN_SHAPE_SCALAR;
    }
  if (ctx->prepared != NULL)
    {
      VnGemmCall call = {
        .a = ctx->in[0]->data, .rows = job.m, .a_step = job.k, .depth_step = 1, .low = (float) -INFINITY,
        .high = (float) INFINITY, .y = ctx->out[0]->data
      };

      vn_gemm_packed_run (ctx->prepared, ctx, &call);
      return TRUE;
    }
  job.n_blocks = (job.m + ROWS - 1) / ROWS;
  vn_op_for_items (ctx, n_batches * job.n_blocks, (double) MIN (job.m, ROWS) * job.n * job.k / 16, matmul_block, &job);
  return TRUE;
}

const VnOp vn_op_matmul_1 = {
  .domain = "", .type = "MatMul", .since = 1,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .family = VN_FAMILY_COMPUTE,
  .quant = { VN_QUANT_MATMUL, 1, -1, 1, TRUE },
  .infer = matmul_infer,
  .run = matmul_run,
  .prepare = matmul_prepare,
  .release = matmul_release,
};
