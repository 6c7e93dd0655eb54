/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CenterCropPad: cuts or fills with zeros on both sides of some axes until they have the sizes asked for; what is odd
 * goes to the end. */
#include "vn-elem.h"

static gboolean
center_crop_pad_get_target (VnOpContext *ctx,
                            VnShape     *shape,
                            GError     **error)
{
  gint64 axes[VN_MAX_RANK], sizes[VN_MAX_RANK];
  guint n_axes, n_sizes, mask;
  gboolean known;

  if (!vn_op_attr_or_input (ctx, "axes", G_MAXUINT, axes, VN_MAX_RANK, &n_axes, &known, error) ||
      !vn_op_attr_or_input (ctx, NULL, 1, sizes, VN_MAX_RANK, &n_sizes, &known, error))
    return FALSE;
  if (vn_node_get_attr (ctx->node, "axes") == NULL)
    for (n_axes = 0; n_axes < (guint) shape->rank; n_axes++)
      axes[n_axes] = n_axes;
  if (!vn_op_axis_mask (ctx, shape->rank, axes, n_axes, &mask, error))
    return FALSE;
  if (known && n_sizes != n_axes)
    return vn_op_fail (ctx, error, _("CenterCropPad: %u sizes for %u axes"), n_sizes, n_axes);
  for (guint i = 0; i < n_axes; i++)
    {
      if (known && (sizes[i] < 0 || sizes[i] > G_MAXINT64 / 4))
        return vn_op_fail (ctx, error, _("CenterCropPad: size %u is %lld"), i, (long long) sizes[i]);
      shape->dims[axes[i] < 0 ? axes[i] + shape->rank : axes[i]] = known ? sizes[i] : VN_DIM_UNKNOWN;
    }
  return TRUE;
}

static gboolean
center_crop_pad_infer (VnOpContext *ctx,
                       GError     **error)
{
  VnShape shape = ctx->in_types[0].shape;

  if (!vn_op_check_index_dtype (ctx, 1, error) || (shape.rank >= 0 && !center_crop_pad_get_target (ctx, &shape, error)))
    return FALSE;
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &shape);
  return TRUE;
}

static gboolean
center_crop_pad_run (VnOpContext *ctx,
                     GError     **error)
{
  const VnTensor *in = ctx->in[0];
  VnTensor *out = ctx->out[0];
  gint64 from[VN_MAX_RANK], to[VN_MAX_RANK];
  gsize size = vn_elem_size (in->dtype), from_offset = 0, to_offset = 0;
  VnCopy copy = { 0 };

  if (!vn_op_check_movable (ctx, error))
    return FALSE;
  memset (out->data, 0, out->n_bytes);
  if (in->n_elements == 0 || out->n_elements == 0)
    return TRUE;
  vn_shape_strides (&in->shape, from);
  vn_shape_strides (&out->shape, to);
  for (int d = 0; d < in->shape.rank; d++)
    {
      gint64 have = in->shape.dims[d], want = out->shape.dims[d];

      from_offset += (gsize) (MAX (have - want, 0) / 2 * from[d]);
      to_offset += (gsize) (MAX (want - have, 0) / 2 * to[d]);
      vn_copy_add_dim (&copy, MIN (have, want), to[d], from[d]);
    }
  vn_copy_run (&copy, size, (char *) out->data + to_offset * size, (const char *) in->data + from_offset * size);
  return TRUE;
}

const VnOp vn_op_center_crop_pad_18 = {
  .domain = "", .type = "CenterCropPad", .since = 18,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_INDEX_BITS },
  .dtypes = VN_MOVABLE_BITS,
  .stand_ins = VN_STAND_IN_STRINGS,
  .family = VN_FAMILY_SHAPE,
  .infer = center_crop_pad_infer,
  .run = center_crop_pad_run,
};
