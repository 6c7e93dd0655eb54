/* SPDX-License-Identifier: GPL-3.0-or-later */
/* OneHot: a new axis of length depth with the “on” value at the index and “off” elsewhere; an index outside gives “off”
 * everywhere. Trilu: the upper or lower triangle of matrices. */
#include "vn-elem.h"

static gboolean
onehot_get_depth (VnOpContext *ctx,
                  gint64      *depth,
                  GError     **error)
{
  const VnTensor *tensor = ctx->in != NULL ? ctx->in[1] : NULL;

  *depth = VN_DIM_UNKNOWN;
  if (tensor == NULL)
    {
      guint n;

      if (vn_op_get_numbers_input (ctx, 1, depth, 1, &n) && n == 1)
        *depth = vn_dims_as_size (ctx->numbers->dims, *depth);
      else
        *depth = VN_DIM_UNKNOWN;
      return TRUE;
    }
  if (tensor->n_elements != 1)
    return vn_op_fail (ctx, error, _("OneHot: the depth must have 1 element, found %zu"), tensor->n_elements);
  *depth = vn_tensor_get_s64 (tensor, 0);
  if (*depth < 0)
    return vn_op_fail (ctx, error, _("OneHot: the depth is %lld"), (long long) *depth);
  return TRUE;
}

static gboolean
onehot_infer (VnOpContext *ctx,
              GError     **error)
{
  const VnShape *indices = &ctx->in_types[0].shape;
  VnShape out = VN_SHAPE_UNKNOWN;
  gint64 depth;
  int axis;

  if (!onehot_get_depth (ctx, &depth, error))
    return FALSE;
  if (indices->rank >= 0)
    {
      out.rank = indices->rank + 1;
      if (out.rank > VN_MAX_RANK)
        return vn_op_fail (ctx, error, _("OneHot: the output would have more than %d dims"), VN_MAX_RANK);
      if (!vn_op_axis (ctx, &out, vn_node_get_int (ctx->node, "axis", -1), &axis, error))
        return FALSE;
      for (int d = 0; d < out.rank; d++)
        out.dims[d] = d == axis ? depth : indices->dims[d < axis ? d : d - 1];
    }
  vn_op_set_output (ctx, 0, ctx->in_types[2].dtype, &out);
  return TRUE;
}

static gboolean
onehot_run (VnOpContext *ctx,
            GError     **error)
{
  const VnTensor *indices = ctx->in[0], *values = ctx->in[2];
  VnTensor *out = ctx->out[0];
  gsize size = vn_elem_size (out->dtype), inner;
  gint64 depth;
  VnCopy fill = { 0 };
  int axis;

  if (size == 0)
    return vn_op_unsupported (ctx, 2, error);
  if (values->n_elements != 2)
    return vn_op_fail (ctx, error, _("OneHot: input 2 must hold the off and the on value, found %zu"
                                     " elements"), values->n_elements);
  if (!onehot_get_depth (ctx, &depth, error) ||
      !vn_op_axis (ctx, &out->shape, vn_node_get_int (ctx->node, "axis", -1), &axis, error))
    return FALSE;
  vn_copy_add_dim (&fill, (gint64) out->n_elements, 1, 0);
  vn_copy_run (&fill, size, out->data, values->data);
  inner = (gsize) vn_shape_count (&out->shape, axis + 1, out->shape.rank);
  for (gsize i = 0; i < indices->n_elements; i++)
    {
      gint64 index = vn_tensor_get_s64 (indices, i);
      gsize at;

      if (index < -depth || index >= depth)
        continue;
      at = (i / inner * (gsize) depth + (gsize) (index < 0 ? index + depth : index)) * inner + i % inner;
      memcpy ((char *) out->data + at * size, (const char *) values->data + size, size);
    }
  return TRUE;
}

const VnOp vn_op_one_hot_9 = {
  .domain = "", .type = "OneHot", .since = 9,
  .min_inputs = 3, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_NUMBER_BITS, [2] = VN_MOVABLE_BITS | VN_DTYPE_BIT (STRING) },
  .dtypes = VN_NUMBER_BITS,
  .family = VN_FAMILY_SHAPE,
  .infer = onehot_infer,
  .run = onehot_run,
};

static gboolean
onehot_trilu_infer (VnOpContext *ctx,
                    GError     **error)
{
  int rank = ctx->in_types[0].shape.rank;

  if (rank >= 0 && rank < 2)
    return vn_op_fail (ctx, error, _("Trilu: the input must have 2 dims or more, found %d"), rank);
  return vn_op_infer_same (ctx, error);
}

static gboolean
onehot_trilu_run (VnOpContext *ctx,
                  GError     **error)
{
  const VnTensor *in = ctx->in[0], *shift = ctx->n_inputs > 1 ? ctx->in[1] : NULL;
  gboolean upper = vn_node_get_int (ctx->node, "upper", 1) != 0;
  gsize size = vn_elem_size (in->dtype), n_rows;
  gint64 rows = in->shape.dims[in->shape.rank - 2], cols = in->shape.dims[in->shape.rank - 1], k;
  char *y = ctx->out[0]->data;

  if (!vn_op_check_movable (ctx, error))
    return FALSE;
  if (shift != NULL && shift->n_elements != 1)
    return vn_op_fail (ctx, error, _("Trilu: k must have 1 element, found %zu"), shift->n_elements);
  if (in->n_elements == 0)
    return TRUE;
  k = shift != NULL ? CLAMP (vn_tensor_get_s64 (shift, 0), -rows - 1, cols + 1) : 0;
  memset (y, 0, in->n_bytes);
  n_rows = in->n_elements / (gsize) cols;
  for (gsize r = 0; r < n_rows; r++)
    {
      gint64 cut = (gint64) (r % (gsize) rows) + k;
      gint64 first = upper ? CLAMP (cut, 0, cols) : 0, end = upper ? cols : CLAMP (cut + 1, 0, cols);
      gsize offset = (r * (gsize) cols + (gsize) first) * size;

      if (end > first)
        memcpy (y + offset, (const char *) in->data + offset, (gsize) (end - first) * size);
    }
  return TRUE;
}

const VnOp vn_op_trilu_14 = {
  .domain = "", .type = "Trilu", .since = 14,
  .min_inputs = 1, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_LENGTH_BITS },
  .dtypes = VN_MOVABLE_BITS,
  .stand_ins = VN_STAND_IN_STRINGS,
  .family = VN_FAMILY_SHAPE,
  .infer = onehot_trilu_infer,
  .run = onehot_trilu_run,
};
