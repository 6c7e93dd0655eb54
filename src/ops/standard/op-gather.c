/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gather: whole slices along one axis. GatherElements: one element each, index from a tensor of the output's shape. */
#include "vn-index-private.h"

static gboolean
gather_infer (VnOpContext *ctx,
              GError     **error)
{
  const VnShape *data = &ctx->in_types[0].shape, *indices = &ctx->in_types[1].shape;
  VnShape out = VN_SHAPE_UNKNOWN;
  int axis;

  if (!vn_op_check_index_dtype (ctx, 1, error))
    return FALSE;
  if (data->rank >= 0 && !vn_op_axis (ctx, data, vn_node_get_int (ctx->node, "axis", 0), &axis, error))
    return FALSE;
  if (data->rank >= 0 && indices->rank >= 0)
    {
      if (data->rank - 1 + indices->rank > VN_MAX_RANK)
        return vn_op_fail (ctx, error, _("Gather: the output would have %d dims, at most %d can be handled"),
                           data->rank - 1 + indices->rank, VN_MAX_RANK);
      out.rank = 0;
      for (int d = 0; d < axis; d++)
        out.dims[out.rank++] = data->dims[d];
      for (int d = 0; d < indices->rank; d++)
        out.dims[out.rank++] = indices->dims[d];
      for (int d = axis + 1; d < data->rank; d++)
        out.dims[out.rank++] = data->dims[d];
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

static gboolean
gather_run (VnOpContext *ctx,
            GError     **error)
{
  const VnTensor *data = ctx->in[0], *indices = ctx->in[1];
  char *to = ctx->out[0]->data;
  gsize size = vn_elem_size (data->dtype), outer, dim, bytes;
  int axis;

  if (!vn_op_check_movable (ctx, error) || !vn_op_check_index_dtype (ctx, 1, error) ||
      !vn_op_axis (ctx, &data->shape, vn_node_get_int (ctx->node, "axis", 0), &axis, error))
    return FALSE;
  outer = (gsize) vn_shape_count (&data->shape, 0, axis);
  dim = (gsize) data->shape.dims[axis];
  bytes = (gsize) vn_shape_count (&data->shape, axis + 1, data->shape.rank) * size;
  for (gsize i = 0; i < indices->n_elements; i++)
    {
      gsize index;

      if (!vn_index_load (ctx, indices, i, (gint64) dim, &index, error))
        return FALSE;
      vn_copy_rows (outer, bytes, (const char *) data->data + index * bytes, dim * bytes,
                    to + i * bytes, indices->n_elements * bytes);
    }
  return TRUE;
}

const VnOp vn_op_gather_1 = {
  .domain = "", .type = "Gather", .since = 1,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_INDEX_BITS },
  .dtypes = VN_MOVABLE_BITS,
  .stand_ins = VN_STAND_IN_STRINGS,
  .family = VN_FAMILY_SHAPE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_PASSTHROUGH, TRUE),
  .infer = gather_infer,
  .run = gather_run,
};

static gboolean
gather_check_elements (VnOpContext *ctx,
                       int         *axis,
                       GError     **error)
{
  const VnShape *data = &ctx->in_types[0].shape, *indices = &ctx->in_types[1].shape;

  if (!vn_op_check_index_dtype (ctx, 1, error))
    return FALSE;
  if (data->rank < 0 || indices->rank < 0)
    return TRUE;
  if (data->rank != indices->rank)
    return vn_op_fail (ctx, error, _("%s: data has %d dims, indices have %d"), ctx->op->type, data->rank, indices->rank);
  if (!vn_op_axis (ctx, data, vn_node_get_int (ctx->node, "axis", 0), axis, error))
    return FALSE;
  for (int d = 0; d < data->rank; d++)
    if (d != *axis && data->dims[d] >= 0 && indices->dims[d] > data->dims[d])
      return vn_op_fail (ctx, error, _("%s: dim %d of the indices is %lld, of the data only "
                                       "%lld"), ctx->op->type, d, (long long) indices->dims[d],
                                       (long long) data->dims[d]);
  return TRUE;
}

static gboolean
gather_elements_infer (VnOpContext *ctx,
                       GError     **error)
{
  int axis;

  if (!gather_check_elements (ctx, &axis, error))
    return FALSE;
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &ctx->in_types[1].shape);
  return TRUE;
}

/* Steps a multi-index through @shape; keeps @offset, the place in data without the part of @axis. */
static void
gather_step_index (const VnShape *shape,
                   const gint64  *strides,
                   int            axis,
                   gint64        *index,
                   gint64        *offset)
{
  for (int d = shape->rank - 1; d >= 0; d--)
    {
      gint64 stride = d == axis ? 0 : strides[d];

      *offset += stride;
      if (++index[d] < shape->dims[d])
        return;
      *offset -= stride * shape->dims[d];
      index[d] = 0;
    }
}

static gboolean
gather_elements_run (VnOpContext *ctx,
                     GError     **error)
{
  const VnTensor *data = ctx->in[0], *indices = ctx->in[1];
  gsize size = vn_elem_size (data->dtype);
  gint64 strides[VN_MAX_RANK], position[VN_MAX_RANK] = { 0 }, offset = 0;
  char *to = ctx->out[0]->data;
  int axis = 0;

  if (!vn_op_check_movable (ctx, error) || !gather_check_elements (ctx, &axis, error))
    return FALSE;
  vn_shape_strides (&data->shape, strides);
  for (gsize i = 0; i < indices->n_elements; i++)
    {
      gsize index, from;

      if (!vn_index_load (ctx, indices, i, data->shape.dims[axis], &index, error))
        return FALSE;
      from = (gsize) offset + index * (gsize) strides[axis];
      memcpy (to + i * size, (const char *) data->data + from * size, size);
      gather_step_index (&indices->shape, strides, axis, position, &offset);
    }
  return TRUE;
}

const VnOp vn_op_gather_elements_11 = {
  .domain = "", .type = "GatherElements", .since = 11,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_INDEX_BITS },
  .dtypes = VN_MOVABLE_BITS,
  .stand_ins = VN_STAND_IN_STRINGS,
  .family = VN_FAMILY_SHAPE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_PASSTHROUGH, TRUE),
  .infer = gather_elements_infer,
  .run = gather_elements_run,
};

/* ---- ScatterElements: the way back ---- */

static gboolean
gather_scatter_elements_infer (VnOpContext *ctx,
                               GError     **error)
{
  const VnShape *indices = &ctx->in_types[1].shape, *updates = &ctx->in_types[2].shape;
  int axis;

  if (!gather_check_elements (ctx, &axis, error) || !vn_op_check_same_dtype (ctx, 0, 2, error))
    return FALSE;
  if (vn_shape_is_static (indices) && vn_shape_is_static (updates) && !vn_shape_equal (indices, updates))
    {
      g_autofree char *a = vn_shape_to_string (indices, "×");
      g_autofree char *b = vn_shape_to_string (updates, "×");

      return vn_op_fail (ctx, error, _("%s: indices of %s, but updates of %s"), ctx->op->type, a, b);
    }
  return vn_op_infer_same (ctx, error);
}

static gboolean
gather_scatter_elements_run (VnOpContext *ctx,
                             GError     **error)
{
  const VnTensor *data = ctx->in[0], *indices = ctx->in[1];
  VnTensor *out = ctx->out[0];
  gsize size = vn_elem_size (data->dtype);
  gint64 strides[VN_MAX_RANK], position[VN_MAX_RANK] = { 0 }, offset = 0;
  VnReduction reduction;
  int axis = 0;

  if (!vn_op_check_movable (ctx, error) || !vn_op_check_again (ctx, error) ||
      !gather_check_elements (ctx, &axis, error) || !vn_reduction_get (ctx, &reduction, error))
    return FALSE;
  if (data->n_bytes > 0)
    memcpy (out->data, data->data, data->n_bytes);
  vn_shape_strides (&data->shape, strides);
  for (gsize i = 0; i < indices->n_elements; i++)
    {
      gsize index, to;

      if (!vn_index_load (ctx, indices, i, data->shape.dims[axis], &index, error))
        return FALSE;
      to = (gsize) offset + index * (gsize) strides[axis];
      vn_reduction_apply (reduction, data->dtype, (char *) out->data + to * size,
                          (const char *) ctx->in[2]->data + i * size, 1);
      gather_step_index (&indices->shape, strides, axis, position, &offset);
    }
  return TRUE;
}

#define SCATTER(variable, name, first, last)                                    \
  const VnOp variable = {                                                       \
    .domain = "", .type = name, .since = first, .until = last,                  \
    .min_inputs = 3, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,       \
    .same_dtype = 1u << 2, .others = { [1] = VN_INDEX_BITS },                   \
    .dtypes = VN_MOVABLE_BITS,                                                  \
    .stand_ins = VN_STAND_IN_STRINGS,                                           \
    .family = VN_FAMILY_SHAPE,                                                  \
    .infer = gather_scatter_elements_infer,                                     \
    .run = gather_scatter_elements_run,                                         \
  };

SCATTER (vn_op_scatter_9, "Scatter", 9, 10)
SCATTER (vn_op_scatter_elements_11, "ScatterElements", 11, 0)
