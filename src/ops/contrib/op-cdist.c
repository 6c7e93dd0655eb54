/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CDist of ONNX Runtime: distance of each row of a to each row of b, Euclidean or its square. Inverse: of each square
 * matrix of a batch, by elimination with the largest pivot of each column. */
#include "vn-elem.h"

typedef struct
{
  const VnTensor *a, *b;
  VnTensor       *y;
  gsize           m, n, depth;
  gboolean        root;
} Distances;

static gboolean
cdist_infer (VnOpContext *ctx,
             GError     **error)
{
  static const char * const metrics[] = { "sqeuclidean", "euclidean", NULL };
  const VnShape *a = &ctx->in_types[0].shape, *b = &ctx->in_types[1].shape;

  if (vn_op_attr_choice (ctx, "metric", "sqeuclidean", metrics, error) == G_MAXUINT)
    return FALSE;
  if ((a->rank >= 0 && a->rank != 2) || (b->rank >= 0 && b->rank != 2) ||
      (a->rank == 2 && b->rank == 2 && a->dims[1] >= 0 && b->dims[1] >= 0 && a->dims[1] != b->dims[1]))
    return vn_op_fail (ctx, error, _("the inputs must be two matrices with rows of the same length"));
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &VN_SHAPE (a->rank == 2 ? a->dims[0] : VN_DIM_UNKNOWN,
                                                               b->rank == 2 ? b->dims[0] : VN_DIM_UNKNOWN));
  return TRUE;
}

static void
cdist_measure_row (gpointer data,
                   gsize    item,
                   guint    worker)
{
  const Distances *self = data;

  for (gsize j = 0; j < self->n; j++)
    {
      double sum = 0;

      for (gsize k = 0; k < self->depth; k++)
        {
          double off = vn_tensor_get_double (self->a, item * self->depth + k) -
                       vn_tensor_get_double (self->b, j * self->depth + k);

          sum += off * off;
        }
      sum = self->root ? sqrt (sum) : sum;
      if (self->y->dtype == VN_DTYPE_F64)
        ((double *) self->y->data)[item * self->n + j] = sum;
      else
        ((float *) self->y->data)[item * self->n + j] = (float) sum;
    }
}

static gboolean
cdist_run (VnOpContext *ctx,
           GError     **error)
{
  const VnShape *a = &ctx->in[0]->shape, *b = &ctx->in[1]->shape;
  Distances self = { ctx->in[0], ctx->in[1], ctx->out[0], (gsize) a->dims[0], (gsize) b->dims[0], (gsize) a->dims[1],
                     vn_op_attr_is (ctx, "metric", "euclidean", "sqeuclidean") };

  if (self.y->n_elements > 0)
    vn_op_for_items (ctx, self.m, 4. * (double) (self.n * self.depth), cdist_measure_row, &self);
  return TRUE;
}

const VnOp vn_op_ms_cdist = {
  .domain = "com.microsoft", .type = "CDist", .since = 1,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .same_dtype = 1u << 1,
  .family = VN_FAMILY_ARITHMETIC,
  .infer = cdist_infer,
  .run = cdist_run,
};

/* ---- Inverse ---- */

static gboolean
cdist_inverse_infer (VnOpContext *ctx,
                     GError     **error)
{
  const VnShape *x = &ctx->in_types[0].shape;
  gint64 n = x->rank >= 2 ? x->dims[x->rank - 1] : VN_DIM_UNKNOWN;

  if (x->rank >= 0 && (x->rank < 2 || (n >= 0 && x->dims[x->rank - 2] >= 0 && x->dims[x->rank - 2] != n)))
    return vn_op_fail (ctx, error, _("the last two dims do not form a square matrix"));
  /* A matrix next to what becomes its inverse. */
  if (n >= 0 && (!vn_checked_mul ((gsize) n, (gsize) n, &ctx->scratch_bytes) ||
                 !vn_checked_mul (ctx->scratch_bytes, 2 * sizeof (double), &ctx->scratch_bytes)))
    return vn_op_fail (ctx, error, _("the matrices do not fit in memory"));
  return vn_op_infer_same (ctx, error);
}

static gsize
cdist_find_pivot (const double *a,
                  gsize         n,
                  gsize         column)
{
  gsize best = column;

  for (gsize i = column + 1; i < n; i++)
    if (fabs (a[i * n + column]) > fabs (a[best * n + column]))
      best = i;
  return best;
}

static void
cdist_swap_rows (double *a,
                 gsize   n,
                 gsize   i,
                 gsize   j)
{
  for (gsize k = 0; k < n && i != j; k++)
    {
      double kept = a[i * n + k];

      a[i * n + k] = a[j * n + k];
      a[j * n + k] = kept;
    }
}

/* Turns @a into the identity, and the identity @b into the inverse; %FALSE if there is none. */
static gboolean
cdist_invert (double *a,
              double *b,
              gsize   n)
{
  for (gsize c = 0; c < n; c++)
    {
      gsize pivot = cdist_find_pivot (a, n, c);
      double value = a[pivot * n + c];

      if (value == 0 || !isfinite (value))
        return FALSE;
      cdist_swap_rows (a, n, pivot, c);
      cdist_swap_rows (b, n, pivot, c);
      for (gsize k = 0; k < n; k++)
        {
          a[c * n + k] /= value;
          b[c * n + k] /= value;
        }
      for (gsize i = 0; i < n; i++)
        {
          double factor = a[i * n + c];

          for (gsize k = 0; k < n && i != c; k++)
            {
              a[i * n + k] -= factor * a[c * n + k];
              b[i * n + k] -= factor * b[c * n + k];
            }
        }
    }
  return TRUE;
}

static gboolean
cdist_inverse_run (VnOpContext *ctx,
                   GError     **error)
{
  const VnTensor *x = ctx->in[0];
  gsize n = (gsize) x->shape.dims[x->shape.rank - 1], size = n * n;
  double *a = ctx->scratch, *b = a + size;

  for (gsize first = 0; size > 0 && first < x->n_elements; first += size)
    {
      for (gsize i = 0; i < size; i++)
        {
          a[i] = vn_tensor_get_double (x, first + i);
          b[i] = i % (n + 1) == 0;
        }
      if (!cdist_invert (a, b, n))
        return vn_op_fail (ctx, error, _("matrix %zu is singular"), first / size);
      for (gsize i = 0; i < size; i++)
        if (x->dtype == VN_DTYPE_F64)
          ((double *) ctx->out[0]->data)[first + i] = b[i];
        else
          ((float *) ctx->out[0]->data)[first + i] = (float) b[i];
    }
  return TRUE;
}

const VnOp vn_op_ms_inverse = {
  .domain = "com.microsoft", .type = "Inverse", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_ARITHMETIC,
  .infer = cdist_inverse_infer,
  .run = cdist_inverse_run,
};
