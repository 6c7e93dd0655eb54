/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compress: the slices (or elements) whose condition is true. ReverseSequence: the first lengths[b] steps of each
 * sequence backwards. */
#include "vn-elem.h"

/* Slices taken of @dim: a condition that is shorter counts as false beyond its end. */
static gint64
select_count_true (const VnTensor *condition,
                   gint64          dim)
{
  gint64 n = 0;

  for (gsize i = 0; i < condition->n_elements && (gint64) i < dim; i++)
    n += ((const guint8 *) condition->data)[i] != 0;
  return n;
}

static gboolean
select_compress_infer (VnOpContext *ctx,
                       GError     **error)
{
  VnShape shape = ctx->in_types[0].shape, out = { 1, { VN_DIM_UNKNOWN } };
  const VnTensor *condition = ctx->in != NULL ? ctx->in[1] : NULL;
  gint64 dim;
  int axis;

  if (ctx->in_types[1].dtype != VN_DTYPE_UNDEFINED && ctx->in_types[1].dtype != VN_DTYPE_BOOL)
    return vn_op_unsupported (ctx, 1, error);
  if (vn_node_get_attr (ctx->node, "axis") == NULL)
    {
      if (condition != NULL && vn_shape_is_static (&shape))
        out.dims[0] = select_count_true (condition, vn_shape_count (&shape, 0, shape.rank));
    }
  else if (shape.rank < 0)
    out = VN_SHAPE_UNKNOWN;
  else
    {
      if (!vn_op_axis (ctx, &shape, vn_node_get_int (ctx->node, "axis", 0), &axis, error))
        return FALSE;
      out = shape;
      dim = out.dims[axis];
      out.dims[axis] = condition != NULL && dim >= 0 ? select_count_true (condition, dim) : VN_DIM_UNKNOWN;
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

static gboolean
select_compress_run (VnOpContext *ctx,
                     GError     **error)
{
  const VnTensor *in = ctx->in[0], *condition = ctx->in[1];
  gsize size = vn_elem_size (in->dtype), outer = 1, dim = in->n_elements, inner = 1;
  char *to = ctx->out[0]->data;
  int axis;

  if (!vn_op_check_movable (ctx, error))
    return FALSE;
  if (vn_node_get_attr (ctx->node, "axis") != NULL)
    {
      if (!vn_op_axis (ctx, &in->shape, vn_node_get_int (ctx->node, "axis", 0), &axis, error))
        return FALSE;
      outer = (gsize) vn_shape_count (&in->shape, 0, axis);
      dim = (gsize) in->shape.dims[axis];
      inner = (gsize) vn_shape_count (&in->shape, axis + 1, in->shape.rank);
    }
  for (gsize o = 0; o < outer; o++)
    for (gsize i = 0; i < MIN (dim, condition->n_elements); i++)
      if (((const guint8 *) condition->data)[i] != 0)
        {
          vn_copy_rows (1, inner * size, (const char *) in->data + (o * dim + i) * inner * size, 0, to, 0);
          to += inner * size;
        }
  return TRUE;
}

const VnOp vn_op_compress_9 = {
  .domain = "", .type = "Compress", .since = 9,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_DTYPE_BIT (BOOL) },
  .dtypes = VN_MOVABLE_BITS,
  .stand_ins = VN_STAND_IN_STRINGS | VN_STAND_IN_PACKED,
  .family = VN_FAMILY_SHAPE,
  .infer = select_compress_infer,
  .run = select_compress_run,
};

static gboolean
select_reverse_sequence_infer (VnOpContext *ctx,
                               GError     **error)
{
  gint64 batch = vn_node_get_int (ctx->node, "batch_axis", 1), time = vn_node_get_int (ctx->node, "time_axis", 0);
  int rank = ctx->in_types[0].shape.rank;

  if (batch == time || batch < 0 || batch > 1 || time < 0 || time > 1 || (rank >= 0 && rank < 2))
    return vn_op_fail (ctx, error, _("ReverseSequence: time_axis %lld and batch_axis %lld"
                                     " of an input of %d dims; they must be 0 and 1"), (long long) time,
                                     (long long) batch, rank);
  if (!vn_op_check_index_dtype (ctx, 1, error))
    return FALSE;
  return vn_op_infer_same (ctx, error);
}

static gboolean
select_reverse_sequence_run (VnOpContext *ctx,
                             GError     **error)
{
  const VnTensor *in = ctx->in[0], *lengths = ctx->in[1];
  int batch_axis = (int) vn_node_get_int (ctx->node, "batch_axis", 1);
  gsize n_batch = (gsize) in->shape.dims[batch_axis], n_time = (gsize) in->shape.dims[1 - batch_axis];
  gsize bytes = (gsize) vn_shape_count (&in->shape, 2, in->shape.rank) * vn_elem_size (in->dtype);
  gsize batch_step = batch_axis == 0 ? n_time : 1, time_step = batch_axis == 0 ? 1 : n_batch;

  if (!vn_op_check_movable (ctx, error))
    return FALSE;
  if (lengths->n_elements != n_batch)
    return vn_op_fail (ctx, error, _("ReverseSequence: %zu lengths for %zu sequences"),
                       lengths->n_elements, n_batch);
  for (gsize b = 0; b < n_batch; b++)
    {
      gint64 length = vn_tensor_get_s64 (lengths, b);

      if (length < 0 || length > (gint64) n_time)
        return vn_op_fail (ctx, error, _("ReverseSequence: length %zu is %lld"
                                         ", the sequences have %zu steps"), b, (long long) length, n_time);
      for (gsize t = 0; t < n_time; t++)
        {
          gsize from = t < (gsize) length ? (gsize) length - 1 - t : t;

          vn_copy_rows (1, bytes, (const char *) in->data + (b * batch_step + from * time_step) * bytes, 0,
                        (char *) ctx->out[0]->data + (b * batch_step + t * time_step) * bytes, 0);
        }
    }
  return TRUE;
}

const VnOp vn_op_reverse_sequence_10 = {
  .domain = "", .type = "ReverseSequence", .since = 10,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_LENGTH_BITS },
  .dtypes = VN_MOVABLE_BITS,
  .stand_ins = VN_STAND_IN_STRINGS | VN_STAND_IN_PACKED,
  .family = VN_FAMILY_SHAPE,
  .infer = select_reverse_sequence_infer,
  .run = select_reverse_sequence_run,
};
