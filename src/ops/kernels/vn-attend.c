/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all operators of attention compute, a block of queries of one head at a time. Keys that no query of the block
 * may see are left out of both products. */
#include "vn-attend.h"

#include "vn-elem.h"
#include "vn-gemm-general.h"
#include "vn-softmax.h"

#define ROWS 64   /* queries of a block: fixed, so that results do not depend on threads */

/**
 * vn_attend_visible:
 * @low: (out): the first key query @q of sample @b may see for its place
 * @high: (out): one past the last; not above @low if there is none
 */
void
vn_attend_visible (const VnAttend *self,
                   gsize           b,
                   gsize           q,
                   gsize          *low,
                   gsize          *high)
{
  gint64 total = (gint64) self->total, valid = total, at = self->offset + (gint64) q, first = 0, last;

  if (self->lengths != NULL)
    valid = CLAMP (vn_tensor_get_s64 (self->lengths, b), -1, total) + self->more;
  if (self->follow)
    at = valid - (gint64) self->length + (gint64) q;
  last = MIN (valid, total);
  if (self->left >= 0)
    first = MAX (at - MIN (self->left, at), 0);
  if (self->right >= 0)
    last = MIN (last, at + MIN (self->right, total) + 1);
  for (guint i = 0; i < VN_ATTEND_TERMS; i++)
    if (self->terms[i].tensor != NULL)
      last = MIN (last, (gint64) self->terms[i].columns);
  *low = (gsize) MIN (first, total);
  *high = (gsize) MAX (last, 0);
}

/* The keys any of some queries may see; all of them if somebody wants to look at the scores. */
static void
attend_find_window (const VnAttend *self,
                    gsize           b,
                    gsize           first,
                    gsize           rows,
                    gsize          *low,
                    gsize          *high)
{
  for (gsize i = 0; i < rows; i++)
    {
      gsize from, to;

      vn_attend_visible (self, b, first + i, &from, &to);
      if (from >= to)
        continue;
      *low = MIN (*low, from);
      *high = MAX (*high, to);
    }
  if (self->scores != NULL)
    {
      *low = 0;
      *high = self->total;
    }
}

/**
 * vn_attend_round:
 *
 * Returns: @value as an element of type @precision holds it; F64 for types that are no floats
 */
double
vn_attend_round (VnDType precision,
                 double  value)
{
  switch ((guint) precision)
    {
    case VN_DTYPE_F32:
      return (float) value;
    case VN_DTYPE_F16:
      return vn_half_to_float (vn_half_from_float ((float) value));
    case VN_DTYPE_BF16:
      return vn_bfloat_to_float (vn_bfloat_from_float ((float) value));
    default:
      return value;
    }
}

static inline gboolean
vn_attend_truth (const VnTensor *tensor,
                 gsize           i)
{
  return tensor->dtype == VN_DTYPE_BOOL ? ((const guint8 *) tensor->data)[i] != 0 : vn_tensor_get_s64 (tensor, i) != 0;
}

static void
attend_softmax_f32 (float *line,
                    gsize  n)
{
  vn_softmax_line (line, line, n);
}

static void
attend_softmax_f64 (double *line,
                    gsize   n)
{
  double max = -INFINITY, sum = 0;

  for (gsize j = 0; j < n; j++)
    max = line[j] > max ? line[j] : max;
  for (gsize j = 0; j < n; j++)
    sum += line[j] = exp (line[j] - max);
  for (gsize j = 0; j < n; j++)
    line[j] /= sum;
}

#define T float
#define NAME(x) x##_f32
#define GEMM vn_gemm_general
#include "vn-attend-template.h"
#undef T
#undef NAME
#undef GEMM

#define T double
#define NAME(x) x##_f64
#define GEMM vn_gemm_general_f64
#include "vn-attend-template.h"
#undef T
#undef NAME
#undef GEMM

/**
 * vn_attend_add_term:
 * @i: below %VN_ATTEND_TERMS
 * @tensor: at most 4-D: samples, heads, queries, keys, aligned at the last; all but the last may be 1
 * @hidden: see #VnScoreTerm
 *
 * To be called with the sizes of @self known.
 *
 * Returns: %FALSE with an error if @tensor has another shape or type
 */
gboolean
vn_attend_add_term (VnAttend        *self,
                    guint            i,
                    VnOpContext     *ctx,
                    const VnTensor  *tensor,
                    double           hidden,
                    GError         **error)
{
  const gsize sizes[3] = { self->batch, self->heads, self->length };
  const VnShape *shape = &tensor->shape;
  gsize strides[3] = { 0 }, stride;

  if (shape->rank < 1 || shape->rank > 4 || shape->dims[shape->rank - 1] > (gint64) self->total)
    return vn_op_fail (ctx, error, _("the mask has %d dims, expected 1 to 4, the last of at most %zu keys"), shape->rank,
                       self->total);
  if (!vn_dtype_is_integer (tensor->dtype) && tensor->dtype != VN_DTYPE_BOOL && tensor->dtype != VN_DTYPE_F32 &&
      tensor->dtype != VN_DTYPE_F64)
    return vn_op_fail (ctx, error, _("the mask has elements of type %s"), vn_dtype_get_name (tensor->dtype));
  stride = (gsize) shape->dims[shape->rank - 1];
  for (int axis = 2; axis >= 4 - shape->rank; axis--)
    {
      int own = axis - (4 - shape->rank);

      if (shape->dims[own] != 1 && shape->dims[own] != (gint64) sizes[axis])
        return vn_op_fail (ctx, error, _("dim %d of the mask is %lld, expected 1 or %zu"), own, (long long) shape->dims[own],
                           sizes[axis]);
      strides[axis] = shape->dims[own] == 1 ? 0 : stride;
      stride *= (gsize) shape->dims[own];
    }
  self->terms[i] = (VnScoreTerm) { .tensor = tensor, .batch = strides[0], .head = strides[1], .row = strides[2],
                                   .columns = (gsize) shape->dims[shape->rank - 1], .hidden = hidden };
  return TRUE;
}

/**
 * vn_attend_scratch:
 * @bytes: (out): what VnAttend.scratch needs
 *
 * Returns: %FALSE if no memory can hold it
 */
gboolean
vn_attend_scratch (VnDType  dtype,
                   gsize    total,
                   gsize   *bytes)
{
  return vn_checked_mul (total, ROWS * (vn_dtype_get_bits (dtype) / 8), bytes) &&
         vn_checked_mul (*bytes, vn_op_max_workers (), bytes);
}

typedef struct
{
  const VnAttend *attend;
  gsize           n_blocks;
} Job;

static void
attend_run_block (gpointer data,
                  gsize    item,
                  guint    worker)
{
  const Job *job = data;
  const VnAttend *self = job->attend;
  gsize first = item % job->n_blocks * ROWS, head = item / job->n_blocks;
  gsize rows = MIN (ROWS, self->length - first), b = head / self->heads, h = head % self->heads;

  if (self->dtype == VN_DTYPE_F64)
    attend_block_f64 (self, b, h, first, rows, (double *) self->scratch + worker * ROWS * self->total);
  else
    attend_block_f32 (self, b, h, first, rows, (float *) self->scratch + worker * ROWS * self->total);
}

/**
 * vn_attend_run:
 *
 * Computes @self with as many threads as @ctx allows. Queries that may look at no key get zeros.
 */
void
vn_attend_run (const VnAttend    *self,
               const VnOpContext *ctx)
{
  Job job = { self, (self->length + ROWS - 1) / ROWS };
  double cost = (double) MIN (ROWS, self->length) * (double) self->total * (double) (self->depth + self->v_depth + 40);

  if (self->heads > 0)
    vn_op_for_items (ctx, self->batch * self->heads * job.n_blocks, cost / 16, attend_run_block, &job);
}
