/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MatMul as numpy.matmul: products of the last two axes, the others broadcast; a 1-D operand gets an axis that is
 * dropped again. FusedMatMul of ONNX Runtime may transpose those two axes first and has a factor. */
#include "vn-blas.h"
#include "vn-gemm-packed.h"
#include "vn-whole-product.h"

#include <math.h>

/* Sizes of a product after 1-D operands were extended. */
typedef struct
{
  VnShape a, b;        /* at least 2-D */
  VnShape batch;       /* broadcast shape of the leading axes */
  gint64  m, n, k;
  gboolean drop_m, drop_n;
  gboolean trans_a, trans_b;
  float    alpha;
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
  gint64 rows;

  self->drop_m = a->rank == 1;
  self->drop_n = b->rank == 1;
  self->trans_a = vn_node_get_int (ctx->node, "transA", 0) != 0 && !self->drop_m;
  self->trans_b = vn_node_get_int (ctx->node, "transB", 0) != 0 && !self->drop_n;
  self->alpha = vn_node_get_float (ctx->node, "alpha", 1.f);
  self->a = self->drop_m ? VN_SHAPE (1, a->dims[0]) : *a;
  self->b = self->drop_n ? VN_SHAPE (b->dims[0], 1) : *b;
  if (a->rank < 1 || b->rank < 1)
    return vn_op_fail (ctx, error, _("a scalar cannot be an operand of a matrix product"));
  self->m = self->a.dims[self->a.rank - (self->trans_a ? 1 : 2)];
  self->k = self->a.dims[self->a.rank - (self->trans_a ? 2 : 1)];
  self->n = self->b.dims[self->b.rank - (self->trans_b ? 2 : 1)];
  rows = self->b.dims[self->b.rank - (self->trans_b ? 1 : 2)];
  if (self->k >= 0 && rows >= 0 && self->k != rows)
    return vn_op_fail (ctx, error, _("%" G_GINT64_FORMAT " columns of the first operand, but %" G_GINT64_FORMAT
                                     " rows of the second"), self->k, rows);
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

  if (!vn_op_check_alike (ctx, 0x2, error))
    return FALSE;
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
  const Product *p = &self->product;
  gsize a = batch_offset (&p->a, &p->batch, batch) + first * (p->trans_a ? 1 : self->k);
  gsize b = batch_offset (&p->b, &p->batch, batch), y = (batch * self->m + first) * self->n;
  gsize lda = p->trans_a ? self->m : self->k, ldb = p->trans_b ? self->k : self->n;

  if (vn_dtype_is_integer (ctx->in[0]->dtype))
    {
      gsize size = vn_dtype_get_bits (ctx->in[0]->dtype) / 8;

      vn_whole_gemm (ctx->in[0]->dtype, p->trans_a, p->trans_b, rows, self->n, self->k,
                     (const char *) ctx->in[0]->data + a * size, lda, (const char *) ctx->in[1]->data + b * size, ldb,
                     (char *) ctx->out[0]->data + y * size, self->n);
    }
  else if (ctx->in[0]->dtype == VN_DTYPE_F64)
    vn_blas_gemm_f64 (p->trans_a, p->trans_b, rows, self->n, self->k, p->alpha, (const double *) ctx->in[0]->data + a,
                      lda, (const double *) ctx->in[1]->data + b, ldb, 0, (double *) ctx->out[0]->data + y, self->n);
  else
    vn_blas_gemm_general (p->trans_a, p->trans_b, rows, self->n, self->k, p->alpha,
                          (const float *) ctx->in[0]->data + a, lda, (const float *) ctx->in[1]->data + b, ldb, 0.f,
                          (float *) ctx->out[0]->data + y, self->n);
}

static gboolean
matmul_prepare (VnOpContext *ctx,
                gpointer    *prepared,
                GError     **error)
{
  const VnTensor *b = ctx->in[1];
  gboolean trans_b = vn_node_get_int (ctx->node, "transB", 0) != 0;

  *prepared = NULL;
  if (b == NULL || b->dtype != VN_DTYPE_F32 || b->shape.rank != 2 || vn_node_get_int (ctx->node, "transA", 0) != 0)
    return TRUE;
  *prepared = vn_gemm_packed_new (vn_tile_get (), b->data, (gsize) b->shape.dims[trans_b ? 1 : 0],
                                  (gsize) b->shape.dims[trans_b ? 0 : 1], trans_b,
                                  vn_node_get_float (ctx->node, "alpha", 1.f), error);
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
  if (job.product.b.rank == 2 && !job.product.trans_a)
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

static gboolean
fused_matmul_infer (VnOpContext *ctx,
                    GError     **error)
{
  if (vn_node_get_int (ctx->node, "transBatchA", 0) == 0 && vn_node_get_int (ctx->node, "transBatchB", 0) == 0)
    return matmul_infer (ctx, error);
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("FusedMatMul with transposed batches cannot be run"));
  return FALSE;
}

const VnOp vn_op_ms_fused_matmul = {
  .domain = "com.microsoft", .type = "FusedMatMul", .since = 1,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_COMPUTE,
  .quant = { VN_QUANT_MATMUL, 1, -1, 1, FALSE },
  .infer = fused_matmul_infer,
  .run = matmul_run,
  .prepare = matmul_prepare,
  .release = matmul_release,
};

const VnOp vn_op_matmul_1 = {
  .domain = "", .type = "MatMul", .since = 1,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64) | VN_WHOLE_BITS,
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << 1,
  .family = VN_FAMILY_COMPUTE,
  .quant = { VN_QUANT_MATMUL, 1, -1, 1, TRUE },
  .infer = matmul_infer,
  .run = matmul_run,
  .prepare = matmul_prepare,
  .release = matmul_release,
};
