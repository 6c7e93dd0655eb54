/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MatMul as numpy.matmul: products of the last two axes, the others broadcast; a 1-D operand gets an axis that is
 * dropped again. FusedMatMul of ONNX Runtime may transpose those two axes first and has a factor. */
#include "vn-gemm-general.h"
#include "vn-gemm-packed.h"
#include "vn-product.h"
#include "vn-whole-product.h"

static gboolean
matmul_product_init (VnProduct     *self,
                     VnOpContext   *ctx,
                     const VnShape *a,
                     const VnShape *b,
                     GError       **error)
{
  return vn_product_init_transposed (self, ctx, a, b, vn_node_get_int (ctx->node, "transA", 0) != 0,
                                     vn_node_get_int (ctx->node, "transB", 0) != 0, error);
}

static gboolean
matmul_infer (VnOpContext *ctx,
              GError     **error)
{
  const VnShape *a = &ctx->in_types[0].shape, *b = &ctx->in_types[1].shape;
  VnShape y = VN_SHAPE_UNKNOWN;
  VnProduct product;

  if (!vn_op_check_alike (ctx, 0x2, error))
    return FALSE;
  if (a->rank >= 0 && b->rank >= 0)
    {
      if (!matmul_product_init (&product, ctx, a, b, error))
        return FALSE;
      vn_product_shape (&product, &y);
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &y);
  return TRUE;
}

#define ROWS 128

typedef struct
{
  const VnOpContext *ctx;
  VnProduct          product;
  float              alpha;
  gsize              m, n, k, n_blocks;
} MatMul;

/* What the engine fused behind whole rows of one result. */
static void
matmul_finish_rows (const VnOpContext *ctx,
                    float             *y,
                    gsize              n_rows,
                    gsize              n)
{
  VnEpilogue epilogue = { .base = ctx->out[0]->data };

  vn_epilogue_set_fused (&epilogue, ctx);
  for (gsize i = 0; i < n_rows && ctx->line != NULL; i++)
    for (gsize j = 0; j < n; j++)
      y[i * n + j] += ctx->line[j];
  vn_epilogue_apply (&epilogue, y, 0, n_rows, n, n);
}

static void
matmul_block (gpointer data,
              gsize    item,
              guint    worker)
{
  const MatMul *self = data;
  const VnOpContext *ctx = self->ctx;
  gsize batch = item / self->n_blocks, first = item % self->n_blocks * ROWS;
  gsize rows = MIN (ROWS, self->m - first);
  const VnProduct *p = &self->product;
  gsize a = vn_product_offset (&p->a, &p->batch, batch) + first * (p->trans_a ? 1 : self->k);
  gsize b = vn_product_offset (&p->b, &p->batch, batch), y = (batch * self->m + first) * self->n;
  gsize lda = p->trans_a ? self->m : self->k, ldb = p->trans_b ? self->k : self->n;

  if (vn_dtype_is_integer (ctx->in[0]->dtype))
    {
      gsize size = vn_dtype_get_bits (ctx->in[0]->dtype) / 8;

      vn_whole_gemm (ctx->in[0]->dtype, p->trans_a, p->trans_b, rows, self->n, self->k,
                     (const char *) ctx->in[0]->data + a * size, lda, (const char *) ctx->in[1]->data + b * size, ldb,
                     (char *) ctx->out[0]->data + y * size, self->n);
    }
  else if (ctx->in[0]->dtype == VN_DTYPE_F64)
    vn_gemm_general_f64 (p->trans_a, p->trans_b, rows, self->n, self->k, self->alpha,
                         (const double *) ctx->in[0]->data + a, lda, (const double *) ctx->in[1]->data + b, ldb, 0,
                         (double *) ctx->out[0]->data + y, self->n);
  else
    {
      vn_gemm_general (p->trans_a, p->trans_b, rows, self->n, self->k, self->alpha,
                       (const float *) ctx->in[0]->data + a, lda, (const float *) ctx->in[1]->data + b, ldb, 0.f,
                       (float *) ctx->out[0]->data + y, self->n);
      matmul_finish_rows (ctx, (float *) ctx->out[0]->data + y, rows, self->n);
    }
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
  *prepared = vn_gemm_packed_new (vn_gemm_kernel_get (), b->data, (gsize) b->shape.dims[trans_b ? 1 : 0],
                                  (gsize) b->shape.dims[trans_b ? 0 : 1], trans_b,
                                  vn_node_get_float (ctx->node, "alpha", 1.f), error);
  return *prepared != NULL;
}

static void
matmul_release (gpointer prepared)
{
  vn_gemm_packed_free (prepared);
}

static void
matmul_run_packed (const MatMul *self)
{
  const VnOpContext *ctx = self->ctx;
  VnEpilogue epilogue = { .base = ctx->out[0]->data };
  VnGemmCall call = {
    .a = ctx->in[0]->data, .rows = self->m, .a_step = self->k, .depth_step = 1, .added = ctx->line, .added_column = 1,
    .beta = 1.f, .epilogue = &epilogue, .y = ctx->out[0]->data
  };

  vn_epilogue_set_fused (&epilogue, ctx);
  vn_gemm_packed_run (ctx->prepared, ctx, &call);
}

static gboolean
matmul_run (VnOpContext *ctx,
            GError     **error)
{
  MatMul job = { .ctx = ctx, .alpha = vn_node_get_float (ctx->node, "alpha", 1.f) };
  gsize n_batches;

  if (!matmul_product_init (&job.product, ctx, &ctx->in[0]->shape, &ctx->in[1]->shape, error) ||
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
      matmul_run_packed (&job);
      return TRUE;
    }
  job.n_blocks = (job.m + ROWS - 1) / ROWS;
  vn_op_for_items (ctx, n_batches * job.n_blocks, (double) MIN (job.m, ROWS) * job.n * job.k / 16, matmul_block, &job);
  return TRUE;
}

static gboolean
matmul_fused_matmul_infer (VnOpContext *ctx,
                           GError     **error)
{
  if (vn_node_get_int (ctx->node, "transBatchA", 0) == 0 && vn_node_get_int (ctx->node, "transBatchB", 0) == 0)
    return matmul_infer (ctx, error);
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("FusedMatMul with transposed batches is not supported"));
  return FALSE;
}

const VnOp vn_op_ms_fused_matmul = {
  .domain = "com.microsoft", .type = "FusedMatMul", .since = 1,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_COMPUTE,
  .quant = { VN_QUANT_MATMUL, 1, -1, 1, FALSE },
  .infer = matmul_fused_matmul_infer,
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
  .fuses_clamp = TRUE,
  .fuses_more = TRUE,
  .fuses_line = TRUE,
  .infer = matmul_infer,
  .run = matmul_run,
  .prepare = matmul_prepare,
  .release = matmul_release,
};
