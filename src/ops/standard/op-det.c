/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Det: determinants of square matrices, by elimination with row exchanges. */
#include "vn-number.h"

static gboolean
det_infer (VnOpContext *ctx,
           GError     **error)
{
  VnShape shape = ctx->in_types[0].shape;

  if (shape.rank >= 0)
    {
      gint64 rows = shape.rank >= 2 ? shape.dims[shape.rank - 2] : -1, columns = shape.rank >= 2
                    ? shape.dims[shape.rank - 1] : -1;

      if (shape.rank < 2 || (rows >= 0 && columns >= 0 && rows != columns))
        return vn_op_fail (ctx, error,
                           _("Det: the last two dims must form square matrices, found %d dims ending in %lld × %lld"), shape.rank,
                           (long long) rows, (long long) columns);
      if (rows >= 0 && (!vn_checked_mul ((gsize) rows, (gsize) rows, &ctx->scratch_bytes) ||
                        !vn_checked_mul (ctx->scratch_bytes, sizeof (double), &ctx->scratch_bytes)))
        return vn_op_fail (ctx, error, _("Det: a matrix of %lld rows is too large"), (long long) rows);
      shape.rank -= 2;
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &shape);
  return TRUE;
}

static void
det_swap_rows (double *a,
               double *b,
               gsize   n)
{
  for (gsize i = 0; i < n; i++)
    {
      double swap = a[i];

      a[i] = b[i];
      b[i] = swap;
    }
}

static double
det_determinant (double *m,
                 gsize   n)
{
  double product = 1.;

  for (gsize k = 0; k < n; k++)
    {
      gsize pivot = k;

      for (gsize i = k + 1; i < n; i++)
        if (fabs (m[i * n + k]) > fabs (m[pivot * n + k]))
          pivot = i;
      if (m[pivot * n + k] == 0.)
        return 0.;
      if (pivot != k)
        {
          det_swap_rows (m + pivot * n, m + k * n, n);
          product = -product;
        }
      product *= m[k * n + k];
      for (gsize i = k + 1; i < n; i++)
        {
          double factor = m[i * n + k] / m[k * n + k];

          for (gsize j = k + 1; j < n; j++)
            m[i * n + j] -= factor * m[k * n + j];
        }
    }
  return product;
}

static gboolean
det_run (VnOpContext *ctx,
         GError     **error)
{
  const VnTensor *in = ctx->in[0];
  gsize n = (gsize) in->shape.dims[in->shape.rank - 1];
  double *matrix = ctx->scratch;

  if ((VN_FLOAT_BITS >> in->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  for (gsize i = 0; i < ctx->out[0]->n_elements; i++)
    {
      for (gsize k = 0; k < n * n; k++)
        matrix[k] = vn_tensor_get_double (in, i * n * n + k);
      vn_number_store (in->dtype, ctx->out[0]->data, i, det_determinant (matrix, n));
    }
  return TRUE;
}

const VnOp vn_op_det_11 = {
  .domain = "", .type = "Det", .since = 11,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_FULL_FLOAT_BITS,
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_ARITHMETIC,
  .infer = det_infer,
  .run = det_run,
};
