/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BitCast: the same bits under another element type of the same size. */
#include "vn-elem.h"

static gboolean
bitcast_infer (VnOpContext *ctx,
               GError     **error)
{
  gint64 to = vn_node_get_int (ctx->node, "to", 0);
  VnDType from = ctx->in_types[0].dtype;

  if (!vn_dtype_is_valid (to) || to == VN_DTYPE_UNDEFINED || to == VN_DTYPE_STRING)
    return vn_op_fail (ctx, error, _("BitCast: attribute “to” is %lld, which is not an element type with a bit "
                                     "representation"), (long long) to);
  if (from != VN_DTYPE_UNDEFINED && vn_dtype_get_bits (from) != vn_dtype_get_bits ((VnDType) to))
    return vn_op_fail (ctx, error, _("BitCast: %s has %u bits, %s has %u"), vn_dtype_get_name (from),
                       vn_dtype_get_bits (from), vn_dtype_get_name ((VnDType) to), vn_dtype_get_bits ((VnDType) to));
  vn_op_set_output (ctx, 0, (VnDType) to, &ctx->in_types[0].shape);
  return TRUE;
}

static gboolean
bitcast_run (VnOpContext *ctx,
             GError     **error)
{
  if (ctx->in[0]->dtype == VN_DTYPE_STRING)
    return vn_op_unsupported (ctx, 0, error);
  vn_copy_rows (1, ctx->in[0]->n_bytes, ctx->in[0]->data, 0, ctx->out[0]->data, 0);
  return TRUE;
}

const VnOp vn_op_bit_cast_26 = {
  .domain = "", .type = "BitCast", .since = 26,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_MOVABLE_BITS | VN_PACKED_BITS,
  .family = VN_FAMILY_CONVERSION,
  .infer = bitcast_infer,
  .run = bitcast_run,
};
