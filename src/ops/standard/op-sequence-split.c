/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SplitToSequence and ConcatFromSequence: a tensor cut along an axis, and put together again. */
#include "vn-op-body.h"

#include "vn-elem.h"

static gboolean
split_infer (VnOpContext *ctx,
             GError     **error)
{
  int axis;

  if (ctx->in_types[0].shape.rank >= 0 &&
      !vn_op_axis (ctx, &ctx->in_types[0].shape, vn_node_get_int (ctx->node, "axis", 0), &axis, error))
    return FALSE;
  ctx->out_types[0] = (VnTensorType) { ctx->in_types[0].dtype, VN_SHAPE_UNKNOWN, VN_KIND_SEQUENCE };
  return TRUE;
}

/* Pieces without elements cost memory too: there may not be many more of them than elements. */
static gboolean
sequence_split_check_count (VnOpContext *ctx,
                            gint64       n,
                            GError     **error)
{
  if (n <= (gint64) MIN (ctx->in[0]->n_elements, G_MAXINT32) + 65536)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT,
               _("SplitToSequence: %lld chunks of a tensor with %zu elements are too many"), (long long) n,
               ctx->in[0]->n_elements);
  return FALSE;
}

static gboolean
sequence_split_add_piece (GPtrArray       *pieces,
                          const VnTensor  *tensor,
                          int              axis,
                          gint64           first,
                          gint64           n,
                          gboolean         keep_axis,
                          GError         **error)
{
  VnTensor *piece = vn_slab_take (tensor, axis, first, n, keep_axis, error);

  if (piece != NULL)
    g_ptr_array_add (pieces, piece);
  return piece != NULL;
}

/* Pieces of one size, the last may be smaller. */
static gboolean
split_evenly (VnOpContext *ctx,
              GPtrArray   *pieces,
              int          axis,
              gint64       size,
              gboolean     keep_axis,
              GError     **error)
{
  gint64 dim = ctx->in[0]->shape.dims[axis];

  if (size < 1)
    return vn_op_fail (ctx, error, _("SplitToSequence: invalid chunk size %lld"), (long long) size);
  if (!sequence_split_check_count (ctx, dim / size, error))
    return FALSE;
  for (gint64 at = 0; at < dim; at += MIN (size, dim - at))
    if (!sequence_split_add_piece (pieces, ctx->in[0], axis, at, MIN (size, dim - at), keep_axis, error))
      return FALSE;
  return TRUE;
}

static gboolean
split_by_list (VnOpContext    *ctx,
               GPtrArray      *pieces,
               int             axis,
               const VnTensor *sizes,
               GError        **error)
{
  gint64 dim = ctx->in[0]->shape.dims[axis], at = 0;

  if (!sequence_split_check_count (ctx, (gint64) sizes->n_elements, error))
    return FALSE;
  for (gsize i = 0; i < sizes->n_elements; i++)
    {
      gint64 size = vn_tensor_get_s64 (sizes, i);

      if (size < 0 || size > dim - at)
        return vn_op_fail (ctx, error, _("SplitToSequence: chunk %zu has %lld elements, but only %lld are left"), i,
                           (long long) size, (long long) (dim - at));
      if (!sequence_split_add_piece (pieces, ctx->in[0], axis, at, size, TRUE, error))
        return FALSE;
      at += size;
    }
  return at == dim || vn_op_fail (ctx, error, _("SplitToSequence: the sizes add up to %lld, but the axis has %lld"),
                                  (long long) at, (long long) dim);
}

static gboolean
split_run (VnOpContext *ctx,
           GError     **error)
{
  g_autoptr(GPtrArray) pieces = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);
  const VnTensor *sizes = vn_op_has_input (ctx, 1) ? ctx->in[1] : NULL;
  gboolean ok;
  int axis;

  if (!vn_op_axis (ctx, &ctx->in[0]->shape, vn_node_get_int (ctx->node, "axis", 0), &axis, error))
    return FALSE;
  if (sizes != NULL && sizes->dtype != VN_DTYPE_S64 && sizes->dtype != VN_DTYPE_S32)
    return vn_op_fail (ctx, error, _("SplitToSequence: the sizes are %s, expected integers"),
                       vn_dtype_get_name (sizes->dtype));
  if (sizes == NULL)
    ok = split_evenly (ctx, pieces, axis, 1, vn_node_get_int (ctx->node, "keepdims", 1) != 0, error);
  else if (sizes->shape.rank == 0)
    ok = split_evenly (ctx, pieces, axis, vn_tensor_get_s64 (sizes, 0), TRUE, error);
  else
    ok = split_by_list (ctx, pieces, axis, sizes, error);
  if (ok)
    ctx->out[0] = vn_tensor_new_sequence (ctx->in[0]->dtype, pieces, error);
  return ctx->out[0] != NULL;
}

const VnOp vn_op_split_to_sequence_11 = {
  .domain = "", .type = "SplitToSequence", .since = 11,
  .min_inputs = 1, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_INDEX_BITS },
  .family = VN_FAMILY_SHAPE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .makes_outputs = TRUE,
  .infer = split_infer,
  .run = split_run,
};

static gboolean
sequence_split_concat_infer (VnOpContext *ctx,
                             GError     **error)
{
  const VnTensorType *in = &ctx->in_types[0];

  if (in->kind == VN_KIND_OPTIONAL || (in->kind == VN_KIND_TENSOR && in->dtype != VN_DTYPE_UNDEFINED))
    return vn_op_fail (ctx, error, _("%s: input 0 must be a sequence"), ctx->op->type);
  vn_op_set_output (ctx, 0, in->dtype, &VN_SHAPE_UNKNOWN);
  return TRUE;
}

static gboolean
sequence_split_concat_run (VnOpContext *ctx,
                           GError     **error)
{
  gboolean new_axis = vn_node_get_int (ctx->node, "new_axis", 0) != 0;
  const VnTensor *in = ctx->in[0];
  VnShape shape;
  int axis;

  if (in->kind != VN_KIND_SEQUENCE || in->items->len == 0)
    return vn_op_fail (ctx, error, _("ConcatFromSequence: input 0 must be a sequence with at least one tensor"));
  shape = ((const VnTensor *) g_ptr_array_index (in->items, 0))->shape;
  if (new_axis && shape.rank < VN_MAX_RANK)
    shape.rank++;
  if (!vn_op_axis (ctx, &shape, vn_node_get_int (ctx->node, "axis", 0), &axis, error))
    return FALSE;
  ctx->out[0] = vn_slab_join (in->items, axis, new_axis, error);
  return ctx->out[0] != NULL;
}

const VnOp vn_op_concat_from_sequence_11 = {
  .domain = "", .type = "ConcatFromSequence", .since = 11,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .family = VN_FAMILY_SHAPE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .containers = TRUE,
  .makes_outputs = TRUE,
  .infer = sequence_split_concat_infer,
  .run = sequence_split_concat_run,
};
