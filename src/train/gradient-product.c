/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients of matrix products: MatMul as numpy.matmul has it, and Gemm. */
#include "vn-gradient-private.h"

#include "vn-linalg.h"
#include "vn-product.h"

/* A matrix that OpenBLAS can be asked to multiply. */
static gboolean
gradient_product_check (gint64   m,
                        gint64   n,
                        gint64   k,
                        GError **error)
{
  if (MAX (MAX (m, n), k) <= G_MAXINT)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("a product of %lld × %lld × %lld is too large"), (long long) m, (long long) n,
               (long long) k);
  return FALSE;
}

gboolean
vn_gradient_matmul (VnGradientContext  *ctx,
                    GError            **error)
{
  const float *a = ctx->op.in[0]->data, *b = ctx->op.in[1]->data, *dy = ctx->out_grads[0]->data;
  float *da = vn_gradient_data (ctx->in_grads[0]), *db = vn_gradient_data (ctx->in_grads[1]);
  gsize m, n, k, n_batch;
  VnProduct product;

  if (!vn_product_init (&product, &ctx->op, &ctx->op.in[0]->shape, &ctx->op.in[1]->shape, error) ||
      !gradient_product_check (product.m, product.n, product.k, error))
    return FALSE;
  m = (gsize) product.m;
  n = (gsize) product.n;
  k = (gsize) product.k;
  n_batch = (gsize) vn_shape_count (&product.batch, 0, product.batch.rank);
  for (gsize i = 0; i < n_batch && m > 0 && n > 0 && k > 0; i++)
    {
      gsize at_a = vn_product_offset (&product.a, &product.batch, i), at_b = vn_product_offset (&product.b, &product.batch, i);

      if (da != NULL)
        vn_linalg_add_product (da + at_a, k, dy + i * m * n, n, FALSE, b + at_b, n, TRUE, m, k, n, 1);
      if (db != NULL)
        vn_linalg_add_product (db + at_b, n, a + at_a, k, TRUE, dy + i * m * n, n, FALSE, k, n, m, 1);
    }
  return TRUE;
}

/* C is broadcast to the result: what its places cost is summed up. */
static void
gradient_product_add_c (const VnShape *shape,
                        const float   *dy,
                        gsize          m,
                        gsize          n,
                        float          beta,
                        float         *dc)
{
  gsize columns = shape->rank > 0 ? (gsize) shape->dims[shape->rank - 1] : 1, rows = shape->rank > 1 ? (gsize) shape->dims[0] : 1;

  for (gsize i = 0; i < m; i++)
    {
      float *to = dc + (rows > 1 ? i * columns : 0);

      if (columns > 1)
        vn_gradient_add_scaled (to, dy + i * n, beta, n);
      else
        *to += beta * vn_gradient_sum (dy + i * n, n);
    }
}

gboolean
vn_gradient_gemm (VnGradientContext  *ctx,
                  GError            **error)
{
  const VnTensor *a = ctx->op.in[0], *b = ctx->op.in[1];
  gboolean trans_a = vn_node_get_int (ctx->op.node, "transA", 0) != 0, trans_b = vn_node_get_int (ctx->op.node, "transB", 0) != 0;
  float alpha = vn_node_get_float (ctx->op.node, "alpha", 1), beta = vn_node_get_float (ctx->op.node, "beta", 1);
  gsize m = (gsize) ctx->op.out[0]->shape.dims[0], n = (gsize) ctx->op.out[0]->shape.dims[1],
  k = (gsize) a->shape.dims[trans_a ? 0 : 1];
  gsize a_step = trans_a ? m : k, b_step = trans_b ? k : n;
  const float *dy = ctx->out_grads[0]->data;

  if (!gradient_product_check ((gint64) m, (gint64) n, (gint64) k, error))
    return FALSE;
  if (m == 0 || n == 0)
    return TRUE;
  if (ctx->in_grads[0] != NULL && k > 0 && trans_a)
    vn_linalg_add_product (ctx->in_grads[0]->data, a_step, b->data, b_step, trans_b, dy, n, TRUE, k, m, n, alpha);
  else if (ctx->in_grads[0] != NULL && k > 0)
    vn_linalg_add_product (ctx->in_grads[0]->data, a_step, dy, n, FALSE, b->data, b_step, !trans_b, m, k, n, alpha);
  if (ctx->in_grads[1] != NULL && k > 0 && trans_b)
    vn_linalg_add_product (ctx->in_grads[1]->data, b_step, dy, n, TRUE, a->data, a_step, trans_a, n, k, m, alpha);
  else if (ctx->in_grads[1] != NULL && k > 0)
    vn_linalg_add_product (ctx->in_grads[1]->data, b_step, a->data, a_step, !trans_a, dy, n, FALSE, k, n, m, alpha);
  if (ctx->op.n_inputs > 2 && ctx->in_grads[2] != NULL)
    gradient_product_add_c (&ctx->op.in[2]->shape, dy, m, n, beta, ctx->in_grads[2]->data);
  return TRUE;
}
