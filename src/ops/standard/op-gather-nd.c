/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GatherND, ScatterND: the last dim of the indices names a place in the first dims of the data. */
#include "vn-index-private.h"

static gboolean
gather_nd_infer (VnOpContext *ctx,
                 GError     **error)
{
  const VnShape *data = &ctx->in_types[0].shape, *indices = &ctx->in_types[1].shape;
  gint64 batch = vn_node_get_int (ctx->node, "batch_dims", 0), depth;
  VnShape out = VN_SHAPE_UNKNOWN;

  if (!vn_op_check_index_dtype (ctx, 1, error))
    return FALSE;
  if (indices->rank == 0)
    return vn_op_fail (ctx, error, _("GatherND: the indices must have at least 1 dim"));
  if (data->rank >= 0 && indices->rank > 0 && (depth = indices->dims[indices->rank - 1]) >= 0)
    {
      if (batch < 0 || batch >= MIN (data->rank, indices->rank) || depth < 1 || depth > data->rank - batch)
        return vn_op_fail (ctx, error, _("GatherND: indices of depth %lld after %lld batch dims do not match data of %d dims"),
                           (long long) depth,
                                         (long long) batch, data->rank);
      if (indices->rank - 1 + data->rank - batch - depth > VN_MAX_RANK)
        return vn_op_fail (ctx, error, _("GatherND: the output would have more than %d dims"), VN_MAX_RANK);
      for (int d = 0; d < batch; d++)
        if (data->dims[d] >= 0 && indices->dims[d] >= 0 && data->dims[d] != indices->dims[d])
          return vn_op_fail (ctx, error, _("GatherND: batch dim %d is %lld in the data, %lld"
                                           " in the indices"), d, (long long) data->dims[d],
                                           (long long) indices->dims[d]);
      out.rank = 0;
      for (int d = 0; d < indices->rank - 1; d++)
        out.dims[out.rank++] = indices->dims[d];
      for (int d = (int) (batch + depth); d < data->rank; d++)
        out.dims[out.rank++] = data->dims[d];
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

/* Place, in elements, that a tuple of @depth indices names among dims first .. first + depth - 1. */
static gboolean
gather_nd_tuple_offset (VnOpContext     *ctx,
                        const VnShape   *data,
                        const gint64    *strides,
                        int              first,
                        const VnTensor  *indices,
                        gsize            tuple,
                        int              depth,
                        gsize           *offset,
                        GError         **error)
{
  *offset = 0;
  for (int k = 0; k < depth; k++)
    {
      gsize index;

      if (!vn_index_load (ctx, indices, tuple * (gsize) depth + (gsize) k, data->dims[first + k], &index, error))
        return FALSE;
      *offset += index * (gsize) strides[first + k];
    }
  return TRUE;
}

static gboolean
gather_nd_run (VnOpContext *ctx,
               GError     **error)
{
  const VnTensor *data = ctx->in[0], *indices = ctx->in[1];
  int batch = (int) vn_node_get_int (ctx->node, "batch_dims", 0);
  gsize size = vn_elem_size (data->dtype), tuples, bytes, batches, step;
  gint64 strides[VN_MAX_RANK];
  int depth;

  if (!vn_op_check_movable (ctx, error) || !vn_op_check_again (ctx, error))
    return FALSE;
  depth = (int) indices->shape.dims[indices->shape.rank - 1];
  tuples = indices->n_elements / (gsize) depth;
  vn_shape_strides (&data->shape, strides);
  bytes = (gsize) vn_shape_count (&data->shape, batch + depth, data->shape.rank) * size;
  batches = (gsize) vn_shape_count (&data->shape, 0, batch);
  step = (gsize) vn_shape_count (&data->shape, batch, data->shape.rank);
  for (gsize i = 0; i < tuples; i++)
    {
      gsize offset, base = i / (tuples / MAX (batches, 1)) * step;

      if (!gather_nd_tuple_offset (ctx, &data->shape, strides, batch, indices, i, depth, &offset, error))
        return FALSE;
      if (bytes > 0)
        memcpy ((char *) ctx->out[0]->data + i * bytes, (const char *) data->data + (base + offset) * size, bytes);
    }
  return TRUE;
}

const VnOp vn_op_gather_nd_11 = {
  .domain = "", .type = "GatherND", .since = 11,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_INDEX_BITS },
  .dtypes = VN_MOVABLE_BITS,
  .stand_ins = VN_STAND_IN_STRINGS,
  .family = VN_FAMILY_SHAPE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_PASSTHROUGH, FALSE),
  .infer = gather_nd_infer,
  .run = gather_nd_run,
};

static gboolean
gather_nd_scatter_nd_infer (VnOpContext *ctx,
                            GError     **error)
{
  const VnShape *data = &ctx->in_types[0].shape, *indices = &ctx->in_types[1].shape;
  const VnShape *updates = &ctx->in_types[2].shape;
  VnShape expected = { 0 };

  if (!vn_op_check_index_dtype (ctx, 1, error) || !vn_op_check_same_dtype (ctx, 0, 2, error))
    return FALSE;
  if (vn_shape_is_static (data) && vn_shape_is_static (indices) && vn_shape_is_static (updates))
    {
      gint64 depth = indices->rank > 0 ? indices->dims[indices->rank - 1] : 0;

      if (depth < 1 || depth > data->rank || indices->rank - 1 + data->rank - depth > VN_MAX_RANK)
        return vn_op_fail (ctx, error, _("ScatterND: indices of depth %lld do not match data of %d dims"),
                           (long long) depth, data->rank);
      for (int d = 0; d < indices->rank - 1; d++)
        expected.dims[expected.rank++] = indices->dims[d];
      for (int d = (int) depth; d < data->rank; d++)
        expected.dims[expected.rank++] = data->dims[d];
      if (!vn_shape_equal (&expected, updates))
        {
          g_autofree char *a = vn_shape_to_string (&expected, "×");
          g_autofree char *b = vn_shape_to_string (updates, "×");

          return vn_op_fail (ctx, error, _("ScatterND: the updates must have the shape %s, found %s"), a, b);
        }
    }
  return vn_op_infer_same (ctx, error);
}

static gboolean
gather_nd_scatter_nd_run (VnOpContext *ctx,
                          GError     **error)
{
  const VnTensor *data = ctx->in[0], *indices = ctx->in[1];
  VnTensor *out = ctx->out[0];
  gsize size = vn_elem_size (data->dtype), n;
  gint64 strides[VN_MAX_RANK];
  VnReduction reduction;
  int depth;

  if (!vn_op_check_movable (ctx, error) || !vn_op_check_again (ctx, error) ||
      !vn_reduction_get (ctx, &reduction, error))
    return FALSE;
  depth = (int) indices->shape.dims[indices->shape.rank - 1];
  if (data->n_bytes > 0)
    memcpy (out->data, data->data, data->n_bytes);
  vn_shape_strides (&data->shape, strides);
  n = (gsize) vn_shape_count (&data->shape, depth, data->shape.rank);
  for (gsize i = 0; i < indices->n_elements / (gsize) depth; i++)
    {
      gsize offset;

      if (!gather_nd_tuple_offset (ctx, &data->shape, strides, 0, indices, i, depth, &offset, error))
        return FALSE;
      if (n > 0)
        vn_reduction_apply (reduction, data->dtype, (char *) out->data + offset * size,
                            (const char *) ctx->in[2]->data + i * n * size, n);
    }
  return TRUE;
}

const VnOp vn_op_scatter_nd_11 = {
  .domain = "", .type = "ScatterND", .since = 11,
  .min_inputs = 3, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .same_dtype = 1u << 2, .others = { [1] = VN_INDEX_BITS },
  .dtypes = VN_MOVABLE_BITS,
  .stand_ins = VN_STAND_IN_STRINGS,
  .family = VN_FAMILY_SHAPE,
  .infer = gather_nd_scatter_nd_infer,
  .run = gather_nd_scatter_nd_run,
};
