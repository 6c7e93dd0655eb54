/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Concat: the inputs one after the other along one axis. */
#include "vn-elem-private.h"

static gboolean
concat_join_shape (VnOpContext   *ctx,
                   guint          input,
                   int            axis,
                   VnShape       *out,
                   GError       **error)
{
  const VnShape *shape = &ctx->in_types[input].shape;

  if (shape->rank != out->rank)
    return vn_op_fail (ctx, error, _("Concat: input %u has %d dims, input 0 has %d"), input, shape->rank, out->rank);
  for (int d = 0; d < out->rank; d++)
    {
      if (d == axis)
        {
          if (shape->dims[d] < 0 || out->dims[d] < 0)
            out->dims[d] = vn_dims_add (out->dims[d] == VN_DIM_UNKNOWN ? NULL : vn_op_get_dims (ctx, shape->dims[d]),
                                        out->dims[d], shape->dims[d]);
          else if (!vn_checked_add_s64 (out->dims[d], shape->dims[d], &out->dims[d]))
            return vn_op_fail (ctx, error, _("Concat: the sum of the dims on axis %d is too large"), d);
        }
      else if (out->dims[d] < 0)
        out->dims[d] = shape->dims[d] >= 0 || out->dims[d] == VN_DIM_UNKNOWN ? shape->dims[d] : out->dims[d];
      else if (shape->dims[d] >= 0 && shape->dims[d] != out->dims[d])
        return vn_op_fail (ctx, error, _("Concat: dim %d of input %u is %lld, that of the inputs before "
                                         "%lld"), d, input, (long long) shape->dims[d], (long long) out->dims[d]);
    }
  return TRUE;
}

static gboolean
concat_infer (VnOpContext *ctx,
              GError     **error)
{
  VnShape out = ctx->in_types[0].shape;
  int axis;

  for (guint i = 0; i < ctx->n_inputs; i++)
    if (ctx->in_types[i].shape.rank < 0)
      {
        vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &VN_SHAPE_UNKNOWN);
        return TRUE;
      }
  if (!vn_op_axis (ctx, &out, vn_node_get_int (ctx->node, "axis", 1), &axis, error))
    return FALSE;
  for (guint i = 1; i < ctx->n_inputs; i++)
    if (!vn_op_check_same_dtype (ctx, 0, i, error) || !concat_join_shape (ctx, i, axis, &out, error))
      return FALSE;
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

static gboolean
concat_run (VnOpContext *ctx,
            GError     **error)
{
  VnTensor *out = ctx->out[0];
  gsize size = vn_elem_size (out->dtype), rows, step, offset = 0;
  int axis;

  if (!vn_op_check_movable (ctx, error) ||
      !vn_op_axis (ctx, &out->shape, vn_node_get_int (ctx->node, "axis", 1), &axis, error))
    return FALSE;
  rows = (gsize) vn_shape_count (&out->shape, 0, axis);
  step = (gsize) vn_shape_count (&out->shape, axis, out->shape.rank) * size;
  for (guint i = 0; i < ctx->n_inputs; i++)
    {
      const VnTensor *in = ctx->in[i];
      gsize bytes = (gsize) vn_shape_count (&in->shape, axis, in->shape.rank) * size;

      if (!vn_op_check_same_dtype (ctx, 0, i, error))
        return FALSE;
      vn_copy_rows (rows, bytes, in->data, bytes, (char *) out->data + offset, step);
      offset += bytes;
    }
  return TRUE;
}

const VnOp vn_op_concat_1 = {
  .domain = "", .type = "Concat", .since = 1,
  .min_inputs = 1, .max_inputs = VN_OP_MAX_INPUTS, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_MOVABLE_BITS,
  .stand_ins = VN_STAND_IN_STRINGS | VN_STAND_IN_PACKED,
  .family = VN_FAMILY_SHAPE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_GENERIC, TRUE),
  .infer = concat_infer,
  .run = concat_run,
};
