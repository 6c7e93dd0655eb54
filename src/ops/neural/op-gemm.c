/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gemm: y = alpha * op (a) * op (b) + beta * c, with c broadcast to the shape of y. */
#include "vn-conv.h"
#include "vn-gemm-general.h"
#include "vn-gemm-packed.h"
#include "vn-whole-product.h"

#include <math.h>

enum { A, B, C };

static gint64
gemm_dim_of (const VnShape *shape,
             gboolean       transposed,
             int            axis)
{
  return shape->rank == 2 ? shape->dims[transposed ? 1 - axis : axis] : VN_DIM_UNKNOWN;
}

/* Up to opset 6 c was broadcast from axis 0 or 1 only if asked; the rules since then allow all of that. */
static gboolean
gemm_check_c (VnOpContext   *ctx,
              const VnShape *c,
              const VnShape *y,
              GError       **error)
{
  if (c->rank > 2)
    return vn_op_fail (ctx, error, _("input C has rank %d, expected at most 2"), c->rank);
  for (int i = 1; i <= c->rank; i++)
    {
      gint64 size = c->dims[c->rank - i], to = y->dims[2 - i];

      if (size >= 0 && size != 1 && to >= 0 && size != to)
        return vn_op_fail (ctx, error, _("input C has dimension %lld where the product has %lld"),
                           (long long) size, (long long) to);
    }
  return TRUE;
}

static gboolean
gemm_infer (VnOpContext *ctx,
            GError     **error)
{
  const VnShape *a = &ctx->in_types[A].shape, *b = &ctx->in_types[B].shape;
  gboolean trans_a = vn_node_get_int (ctx->node, "transA", 0) != 0;
  gboolean trans_b = vn_node_get_int (ctx->node, "transB", 0) != 0;
  VnShape y = VN_SHAPE (gemm_dim_of (a, trans_a, 0), gemm_dim_of (b, trans_b, 1));
  gint64 inner_a = gemm_dim_of (a, trans_a, 1), inner_b = gemm_dim_of (b, trans_b, 0);

  if (!vn_op_check_alike (ctx, 0x6, error))
    return FALSE;
  if ((a->rank >= 0 && a->rank != 2) || (b->rank >= 0 && b->rank != 2))
    return vn_op_fail (ctx, error, _("the matrices have rank %d and %d, expected 2"), a->rank, b->rank);
  if (inner_a >= 0 && inner_b >= 0 && inner_a != inner_b)
    return vn_op_fail (ctx, error, _("%lld columns of A, but %lld rows of B"),
                       (long long) inner_a, (long long) inner_b);
  if (vn_op_has_input (ctx, C) && !gemm_check_c (ctx, &ctx->in_types[C].shape, &y, error))
    return FALSE;
  vn_op_set_output (ctx, 0, ctx->in_types[A].dtype, &y);
  return TRUE;
}

/* Distances in c from one row and one column of y to the next: 0 where it is broadcast. */
static void
gemm_strides_of_c (const VnShape *c,
                   gsize         *row,
                   gsize         *column)
{
  gint64 columns = c->rank > 0 ? c->dims[c->rank - 1] : 1;
  gint64 rows = c->rank > 1 ? c->dims[0] : 1;

  *column = columns > 1 ? 1 : 0;
  *row = rows > 1 ? (gsize) columns : 0;
}

typedef struct
{
  const VnOpContext *ctx;
  gboolean           trans_a, trans_b;
  gsize              m, n, k;
  double             alpha, beta;
} Gemm;

/* A piece of rows, starting with beta * c and adding the product to it. */
#define DEFINE_ROWS(T, suffix, gemm)                                               \
static void                                                                        \
rows_##suffix (const Gemm *self, gsize first, gsize n_rows)                        \
{                                                                                  \
  const VnOpContext *ctx = self->ctx;                                              \
  const T *a = ctx->in[A]->data, *b = ctx->in[B]->data;                            \
  T *y = (T *) ctx->out[0]->data + first * self->n;                                \
  gsize lda = self->trans_a ? self->m : self->k;                                   \
  gboolean has_c = vn_op_has_input (ctx, C);                                       \
  if (has_c)                                                                       \
    {                                                                              \
      const T *c = ctx->in[C]->data;                                               \
      gsize row, column;                                                           \
      gemm_strides_of_c (&ctx->in[C]->shape, &row, &column);                       \
      for (gsize i = 0; i < n_rows; i++)                                           \
        for (gsize j = 0; j < self->n; j++)                                        \
          y[i * self->n + j] = (T) self->beta * c[(first + i) * row + j * column]; \
    }                                                                              \
  gemm (self->trans_a, self->trans_b, n_rows, self->n, self->k, (T) self->alpha,   \
        self->trans_a ? a + first : a + first * lda, lda, b,                       \
        self->trans_b ? self->k : self->n, has_c ? 1 : 0, y, self->n);             \
}

DEFINE_ROWS (float, f32, vn_gemm_general)
DEFINE_ROWS (double, f64, vn_gemm_general_f64)

/* One element of alpha * sum + beta * c, in 64 bits where the factors are 1, which keeps large integers exact. */
static void
gemm_finish_whole (const Gemm *self,
                   gsize       row,
                   gsize       column,
                   char       *y)
{
  const VnTensor *c = vn_op_has_input (self->ctx, C) ? self->ctx->in[C] : NULL;
  VnTensor one = { .dtype = self->ctx->in[A]->dtype, .data = y };
  gint64 sum = vn_tensor_get_s64 (&one, 0), added = 0, whole;
  gsize c_row, c_column;
  double number;

  if (c != NULL)
    {
      gemm_strides_of_c (&c->shape, &c_row, &c_column);
      added = vn_tensor_get_s64 (c, row * c_row + column * c_column);
    }
  number = self->alpha * (double) sum + self->beta * (double) added;
  if (self->alpha == 1 && self->beta == 1)
    whole = (gint64) ((guint64) sum + (guint64) added);
  else
    whole = number > -0x1p63 && number < 0x1p63 ? (gint64) number : 0;
  memcpy (y, &whole, vn_dtype_get_bits (one.dtype) / 8);
}

static void
gemm_rows_whole (const Gemm *self,
                 gsize       first,
                 gsize       n_rows)
{
  const VnOpContext *ctx = self->ctx;
  gsize size = vn_dtype_get_bits (ctx->in[A]->dtype) / 8, lda = self->trans_a ? self->m : self->k;
  char *y = (char *) ctx->out[0]->data + first * self->n * size;

  vn_whole_gemm (ctx->in[A]->dtype, self->trans_a, self->trans_b, n_rows, self->n, self->k,
                 (const char *) ctx->in[A]->data + (self->trans_a ? first : first * lda) * size, lda, ctx->in[B]->data,
                 self->trans_b ? self->k : self->n, y, self->n);
  for (gsize i = 0; i < n_rows * self->n; i++)
    gemm_finish_whole (self, first + i / self->n, i % self->n, y + i * size);
}

#define ROWS 128

static void
gemm_rows (gpointer data,
           gsize    item,
           guint    worker)
{
  const Gemm *self = data;
  const VnOpContext *ctx = self->ctx;
  gsize first = item * ROWS, n = MIN (ROWS, self->m - first);
  VnEpilogue epilogue = { .base = ctx->out[0]->data };

  if (ctx->in[A]->dtype == VN_DTYPE_F64)
    {
      rows_f64 (self, first, n);
      return;
    }
  if (vn_dtype_is_integer (ctx->in[A]->dtype))
    {
      gemm_rows_whole (self, first, n);
      return;
    }
  rows_f32 (self, first, n);
  vn_epilogue_set_fused (&epilogue, ctx);
  vn_epilogue_apply (&epilogue, (float *) ctx->out[0]->data + first * self->n, 0, 1, n * self->n, 0);
}

static gboolean
gemm_prepare (VnOpContext *ctx,
              gpointer    *prepared,
              GError     **error)
{
  const VnTensor *b = ctx->in[B];
  gboolean trans_b = vn_node_get_int (ctx->node, "transB", 0) != 0;

  *prepared = NULL;
  if (b == NULL || b->dtype != VN_DTYPE_F32 || b->shape.rank != 2)
    return TRUE;
  *prepared = vn_gemm_packed_new (vn_gemm_kernel_get (), b->data, (gsize) b->shape.dims[trans_b ? 1 : 0],
                                  (gsize) b->shape.dims[trans_b ? 0 : 1], trans_b,
                                  vn_node_get_float (ctx->node, "alpha", 1.f), error);
  return *prepared != NULL;
}

static void
gemm_release (gpointer prepared)
{
  vn_gemm_packed_free (prepared);
}

static void
gemm_run_packed (const Gemm *gemm)
{
  const VnOpContext *ctx = gemm->ctx;
  gboolean has_c = vn_op_has_input (ctx, C);
  VnEpilogue epilogue = { .base = ctx->out[0]->data };
  VnGemmCall call = {
    .a = ctx->in[A]->data, .rows = gemm->m,
    .a_step = gemm->trans_a ? 1 : gemm->k, .depth_step = gemm->trans_a ? gemm->m : 1,
    .added = has_c ? ctx->in[C]->data : NULL, .beta = (float) gemm->beta,
    .epilogue = &epilogue, .y = ctx->out[0]->data
  };

  vn_epilogue_set_fused (&epilogue, ctx);
  if (has_c)
    gemm_strides_of_c (&ctx->in[C]->shape, &call.added_row, &call.added_column);
  vn_gemm_packed_run (ctx->prepared, ctx, &call);
}

static gboolean
gemm_run (VnOpContext *ctx,
          GError     **error)
{
  gboolean trans_a = vn_node_get_int (ctx->node, "transA", 0) != 0;
  Gemm gemm = {
    ctx, trans_a, vn_node_get_int (ctx->node, "transB", 0) != 0,
    (gsize) ctx->out[0]->shape.dims[0], (gsize) ctx->out[0]->shape.dims[1],
    (gsize) ctx->in[A]->shape.dims[trans_a ? 0 : 1],
    vn_node_get_float (ctx->node, "alpha", 1.f), vn_node_get_float (ctx->node, "beta", 1.f)
  };

  if (ctx->prepared != NULL)
    gemm_run_packed (&gemm);
  else
    vn_op_for_items (ctx, (gemm.m + ROWS - 1) / ROWS, (double) MIN (gemm.m, ROWS) * gemm.n * gemm.k / 16,
                     gemm_rows, &gemm);
  return TRUE;
}

static gboolean
gemm_fused_gemm_infer (VnOpContext *ctx,
                       GError     **error)
{
  VnEpilogue epilogue;

  return vn_epilogue_from_node (&epilogue, ctx, error) && gemm_infer (ctx, error);
}

static gboolean
gemm_fused_gemm_run (VnOpContext *ctx,
                     GError     **error)
{
  VnEpilogue epilogue = { 0 };

  if (!gemm_run (ctx, error) || !vn_epilogue_from_node (&epilogue, ctx, error))
    return FALSE;
  vn_epilogue_apply (&epilogue, ctx->out[0]->data, 0, 1, ctx->out[0]->n_elements, 0);
  return TRUE;
}

const VnOp vn_op_ms_fused_gemm = {
  .domain = "com.microsoft", .type = "FusedGemm", .since = 1,
  .min_inputs = 2, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32),
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_COMPUTE,
  .quant = { VN_QUANT_COMPUTE, B, C, 1, FALSE },
  .infer = gemm_fused_gemm_infer,
  .run = gemm_fused_gemm_run,
  .prepare = gemm_prepare,
  .release = gemm_release,
};

/* Other types have no epilogue: the engine fuses only into float32. */
const VnOp vn_op_gemm_1 = {
  .domain = "", .type = "Gemm", .since = 1,
  .min_inputs = 2, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64) | VN_WHOLE_BITS,
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << 1 | 1u << 2,
  .family = VN_FAMILY_COMPUTE,
  .quant = { VN_QUANT_COMPUTE, B, C, 1, TRUE },
  .fuses_clamp = TRUE,
  .fuses_more = TRUE,
  .infer = gemm_infer,
  .run = gemm_run,
  .prepare = gemm_prepare,
  .release = gemm_release,
};
