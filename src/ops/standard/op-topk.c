/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TopK: the k largest (or smallest) along one axis with their indices, sorted; of equal ones the lower index first.
 * NaN counts as larger than every number. */
#include "vn-elem.h"

typedef struct
{
  double value;     /* of floats */
  gint64 integer;   /* of integers */
  gint64 index;
} Entry;

static gboolean
topk_get_k (VnOpContext *ctx,
            gint64      *k,
            gboolean    *known,
            GError     **error)
{
  guint n;

  *known = TRUE;
  if (ctx->opset < 10)
    *k = vn_node_get_int (ctx->node, "k", -1);
  else
    {
      if (!vn_op_check_index_dtype (ctx, 1, error))
        return FALSE;
      *known = vn_op_get_ints_input (ctx, 1, k, 1, &n) && n == 1;
      if (!*known && vn_op_get_numbers_input (ctx, 1, k, 1, &n) && n == 1)
        {
          *k = vn_dims_as_size (vn_op_get_dims (ctx, *k), *k);
          *known = TRUE;
          return TRUE;
        }
    }
  if (*known && *k < 0)
    return vn_op_fail (ctx, error, _("TopK: k is %lld"), (long long) *k);
  return TRUE;
}

static gboolean
topk_infer (VnOpContext *ctx,
            GError     **error)
{
  VnShape out = ctx->in_types[0].shape;
  gboolean known;
  gint64 k, dim;
  int axis;

  if (!topk_get_k (ctx, &k, &known, error))
    return FALSE;
  if (out.rank >= 0)
    {
      if (!vn_op_axis (ctx, &out, vn_node_get_int (ctx->node, "axis", -1), &axis, error))
        return FALSE;
      dim = out.dims[axis];
      if (known && dim >= 0 && k > dim)
        return vn_op_fail (ctx, error, _("TopK: k is %lld, axis %d has %lld elements"),
                           (long long) k, axis, (long long) dim);
      out.dims[axis] = known ? k : VN_DIM_UNKNOWN;
      if (dim >= 0 && !vn_checked_mul ((gsize) dim, sizeof (Entry), &ctx->scratch_bytes))
        return vn_op_fail (ctx, error, _("TopK: axis %d of %lld is too long"), axis, (long long) dim);
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  vn_op_set_output (ctx, 1, VN_DTYPE_S64, &out);
  return TRUE;
}

/* Whether @a comes before @b in the order of large values. */
static gboolean
topk_is_larger (const Entry *a,
                const Entry *b)
{
  if (a->integer != b->integer)
    return a->integer > b->integer;
  return a->value > b->value || (isnan (a->value) && !isnan (b->value));
}

static gboolean
topk_comes_first (const Entry *a,
                  const Entry *b,
                  gboolean     largest)
{
  if (largest ? topk_is_larger (a, b) : topk_is_larger (b, a))
    return TRUE;
  if (largest ? topk_is_larger (b, a) : topk_is_larger (a, b))
    return FALSE;
  return a->index < b->index;
}

/* A heap whose root is the entry that comes last: what the next better one replaces. */
static void
topk_sift_down (Entry   *heap,
                gsize    n,
                gsize    i,
                gboolean largest)
{
  for (;;)
    {
      gsize child = 2 * i + 1;
      Entry swap;

      if (child >= n)
        return;
      if (child + 1 < n && topk_comes_first (&heap[child], &heap[child + 1], largest))
        child++;
      if (!topk_comes_first (&heap[i], &heap[child], largest))
        return;
      swap = heap[i];
      heap[i] = heap[child];
      heap[child] = swap;
      i = child;
    }
}

static void
topk_select_sorted (Entry   *entries,
                    gsize    n,
                    gsize    k,
                    gboolean largest)
{
  for (gsize i = k / 2; i-- > 0;)
    topk_sift_down (entries, k, i, largest);
  for (gsize i = k; i < n; i++)
    if (topk_comes_first (&entries[i], &entries[0], largest))
      {
        entries[0] = entries[i];
        topk_sift_down (entries, k, 0, largest);
      }
  for (gsize end = k; end > 1; end--)
    {
      Entry last = entries[0];

      entries[0] = entries[end - 1];
      entries[end - 1] = last;
      topk_sift_down (entries, end - 1, 0, largest);
    }
}

static Entry
topk_load_entry (const VnTensor *in,
                 gsize           at,
                 gsize           index)
{
  Entry entry = { .index = (gint64) index };

  if (vn_dtype_is_float (in->dtype))
    entry.value = vn_tensor_get_double (in, at);
  else if (in->dtype == VN_DTYPE_U64)   /* shifted, so that the order is that of signed numbers */
    entry.integer = (gint64) (((const guint64 *) in->data)[at] ^ (G_GUINT64_CONSTANT (1) << 63));
  else
    entry.integer = vn_tensor_get_s64 (in, at);
  return entry;
}

static gboolean
topk_run (VnOpContext *ctx,
          GError     **error)
{
  const VnTensor *in = ctx->in[0];
  VnTensor *values = ctx->out[0], *indices = ctx->n_outputs > 1 ? ctx->out[1] : NULL;
  gboolean largest = ctx->opset < 11 || vn_node_get_int (ctx->node, "largest", 1) != 0;
  gsize size = vn_elem_size (in->dtype), outer, n, k, inner;
  Entry *entries = ctx->scratch;
  int axis;

  if ((ctx->op->dtypes >> in->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  if (!vn_op_axis (ctx, &in->shape, vn_node_get_int (ctx->node, "axis", -1), &axis, error))
    return FALSE;
  outer = (gsize) vn_shape_count (&in->shape, 0, axis);
  n = (gsize) in->shape.dims[axis];
  inner = (gsize) vn_shape_count (&in->shape, axis + 1, in->shape.rank);
  k = (gsize) ctx->out_types[0].shape.dims[axis];
  if (k == 0)
    return TRUE;
  for (gsize row = 0; row < outer * inner; row++)
    {
      gsize base = row / inner * n * inner + row % inner, to = row / inner * k * inner + row % inner;

      for (gsize i = 0; i < n; i++)
        entries[i] = topk_load_entry (in, base + i * inner, i);
      topk_select_sorted (entries, n, k, largest);
      for (gsize i = 0; i < k; i++)
        {
          gsize from = base + (gsize) entries[i].index * inner;

          if (values != NULL)
            memcpy ((char *) values->data + (to + i * inner) * size, (const char *) in->data + from * size, size);
          if (indices != NULL)
            ((gint64 *) indices->data)[to + i * inner] = entries[i].index;
        }
    }
  return TRUE;
}

#define TOPK(variable, first, last, inputs)                                         \
  const VnOp variable = {                                                           \
    .domain = "", .type = "TopK", .since = first, .until = last,                    \
    .min_inputs = inputs, .max_inputs = inputs, .min_outputs = 1, .max_outputs = 2, \
    .others = { [1] = VN_LENGTH_BITS },                                             \
    .dtypes = VN_NUMBER_BITS,                                                       \
    .family = VN_FAMILY_SHAPE,                                                      \
    .quant = VN_QUANT_TRAITS (VN_QUANT_PASSTHROUGH, TRUE),                          \
    .infer = topk_infer,                                                            \
    .run = topk_run,                                                                \
  };

TOPK (vn_op_topk_1, 1, 9, 1)
TOPK (vn_op_topk_10, 10, 0, 2)
