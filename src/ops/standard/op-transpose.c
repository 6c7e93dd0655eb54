/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transpose: out[i0, i1 ...] has the dims of the input in the order of `perm`; by default reversed. */
#include "vn-elem.h"

static gboolean
transpose_get_permutation (VnOpContext *ctx,
                           int          rank,
                           int          perm[VN_MAX_RANK],
                           GError     **error)
{
  gsize n;
  const gint64 *values = vn_node_get_ints (ctx->node, "perm", &n);
  guint seen = 0;

  for (int i = 0; i < rank; i++)
    perm[i] = rank - 1 - i;
  if (values == NULL)
    return TRUE;
  if (n != (gsize) rank)
    return vn_op_fail (ctx, error, _("Transpose: perm has %zu entries, the input %d dims"), n, rank);
  for (int i = 0; i < rank; i++)
    {
      if (values[i] < 0 || values[i] >= rank || (seen >> values[i] & 1) != 0)
        return vn_op_fail (ctx, error, _("Transpose: perm is not a permutation: entry %d is %lld"),
                           i, (long long) values[i]);
      seen |= 1u << values[i];
      perm[i] = (int) values[i];
    }
  return TRUE;
}

static gboolean
transpose_infer (VnOpContext *ctx,
                 GError     **error)
{
  const VnShape *input = &ctx->in_types[0].shape;
  VnShape out = { input->rank };
  int perm[VN_MAX_RANK];

  if (!transpose_get_permutation (ctx, MAX (input->rank, 0), perm, input->rank >= 0 ? error : NULL))
    {
      if (input->rank >= 0)
        return FALSE;
    }
  for (int i = 0; i < input->rank; i++)
    out.dims[i] = input->dims[perm[i]];
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

static gboolean
transpose_run (VnOpContext *ctx,
               GError     **error)
{
  const VnTensor *in = ctx->in[0];
  VnTensor *out = ctx->out[0];
  int perm[VN_MAX_RANK];
  gint64 to[VN_MAX_RANK], from[VN_MAX_RANK];
  VnCopy copy = { 0 };

  if (!vn_op_check_movable (ctx, error) || !transpose_get_permutation (ctx, in->shape.rank, perm, error))
    return FALSE;
  vn_shape_strides (&in->shape, from);
  vn_shape_strides (&out->shape, to);
  for (int i = 0; i < in->shape.rank; i++)
    vn_copy_add_dim (&copy, out->shape.dims[i], to[i], from[perm[i]]);
  vn_copy_run (&copy, vn_elem_size (in->dtype), out->data, in->data);
  return TRUE;
}

const VnOp vn_op_transpose_1 = {
  .domain = "", .type = "Transpose", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_MOVABLE_BITS,
  .stand_ins = VN_STAND_IN_STRINGS | VN_STAND_IN_PACKED,
  .family = VN_FAMILY_SHAPE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_PASSTHROUGH, TRUE),
  .infer = transpose_infer,
  .run = transpose_run,
};
