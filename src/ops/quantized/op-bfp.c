/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BFPQuantizeDequantize (com.amd.quark; BFPFixNeuron in com.vai.quantize): rounding to block floating point and back, with
 * bit_width - 9 bits of mantissa. In the variant to_bfp_prime each small sub-block may lower the exponent by up to
 * 2^sub_block_shift_bits - 1.
 *
 * MXQuantizeDequantize (MXFixNeuron) is the same for microscaling. The arithmetic stands in vn-block.c. */
#include "vn-block.h"
#include "vn-elem.h"

static gboolean
bfp_get_format (VnOpContext    *ctx,
                VnBlockFormat  *self,
                GError        **error)
{
  static const char * const methods[] = { "to_bfp", "to_bfp_prime", NULL };
  guint method = vn_op_attr_choice (ctx, "bfp_method", "to_bfp", methods, error);
  gint64 rounding = vn_node_get_int (ctx->node, "rounding_mode", VN_ROUND_HALF_AWAY);
  gint64 shift_bits = vn_node_get_int (ctx->node, "sub_block_shift_bits", 1);

  if (method == G_MAXUINT)
    return FALSE;
  self->through_bfloat = vn_node_get_int (ctx->node, "convert_to_bfloat_before_bfp", 0) != 0;
  self->mantissa = CLAMP (vn_node_get_int (ctx->node, "bit_width", 16), 0, 99) - 9;
  self->block = vn_node_get_int (ctx->node, "block_size", 8);
  self->sub_block = vn_node_get_int (ctx->node, "sub_block_size", 2);
  if (self->mantissa < 1 || self->mantissa > 23 || self->block < 1 || self->block > VN_BLOCK_LARGEST ||
      self->sub_block < 1 || shift_bits < 0 || shift_bits > 7 || rounding < 0 || rounding > VN_ROUND_HALF_EVEN)
    return vn_op_fail (ctx, error,
                       _("%s: bit_width %lld, block_size %lld, sub_block_size %lld, sub_block_shift_bits %lld and "
                         "rounding_mode %lld are not a valid number format"),
                       ctx->op->type, (long long) (self->mantissa + 9), (long long) self->block,
                       (long long) self->sub_block, (long long) shift_bits, (long long) rounding);
  self->max_shift = method == 1 ? ((gint64) 1 << shift_bits) - 1 : 0;
  self->rounding = (VnRoundHalf) rounding;
  return TRUE;
}

static gboolean
bfp_get_scaled_format (VnOpContext    *ctx,
                       VnBlockFormat  *self,
                       GError        **error)
{
  g_autofree char *name = vn_node_dup_string (ctx->node, "element_dtype", "int8");
  gint64 rounding = vn_node_get_int (ctx->node, "rounding_mode", VN_ROUND_HALF_AWAY);

  self->block = vn_node_get_int (ctx->node, "block_size", 32);
  self->rounding = (VnRoundHalf) rounding;
  self->element = vn_block_element_find (name);
  if (self->element != NULL && self->block >= 1 && self->block <= VN_BLOCK_LARGEST &&
      rounding >= 0 && rounding <= VN_ROUND_HALF_EVEN)
    return TRUE;
  return vn_op_fail (ctx, error, _("%s: element_dtype “%s”, block_size %lld and rounding_mode %lld are not a valid "
                                   "number format"), ctx->op->type, name, (long long) self->block,
                                   (long long) rounding);
}

/* ---- blocks of a tensor ---- */

typedef struct
{
  VnBlockFormat  format;
  const float   *x;
  float         *y;
  gsize          dim, inner;
} Run;

static gboolean
bfp_run_init (Run          *self,
              VnOpContext  *ctx,
              int          *axis,
              GError      **error)
{
  const VnShape *shape = &ctx->in_types[0].shape;
  gboolean scaled = strstr (ctx->op->type, "MX") != NULL;

  if (!(scaled ? bfp_get_scaled_format : bfp_get_format) (ctx, &self->format, error))
    return FALSE;
  *axis = 0;
  /* One axis is the only one, whatever the attribute says. */
  return shape->rank <= 1 || vn_op_axis (ctx, shape, vn_node_get_int (ctx->node, "axis", 1), axis, error);
}

static gboolean
bfp_infer (VnOpContext *ctx,
           GError     **error)
{
  Run run = { 0 };
  int axis;

  return bfp_run_init (&run, ctx, &axis, error) && vn_op_infer_same (ctx, error);
}

static void
bfp_convert_slice (gpointer data,
                   gsize    item,
                   guint    worker)
{
  const Run *self = data;
  gsize at = item * self->dim * self->inner;

  vn_block_round (&self->format, self->x + at, self->y + at, self->dim, self->inner);
}

static gboolean
bfp_run (VnOpContext *ctx,
         GError     **error)
{
  const VnTensor *in = ctx->in[0];
  Run self = { .x = in->data, .y = ctx->out[0]->data, .dim = 1, .inner = 1 };
  gsize outer = 1;
  int axis;

  if (in->dtype != VN_DTYPE_F32)
    return vn_op_unsupported (ctx, 0, error);
  if (!bfp_run_init (&self, ctx, &axis, error))
    return FALSE;
  if (in->n_elements == 1)
    {
      *self.y = *self.x;
      return TRUE;
    }
  if (in->shape.rank > 0)
    {
      outer = (gsize) vn_shape_count (&in->shape, 0, axis);
      self.dim = (gsize) in->shape.dims[axis];
      self.inner = (gsize) vn_shape_count (&in->shape, axis + 1, in->shape.rank);
    }
  if (in->n_elements > 0)
    vn_op_for_items (ctx, outer, 20. * (double) (self.dim * self.inner), bfp_convert_slice, &self);
  return TRUE;
}

#define BFP(variable, space, name)                                              \
  const VnOp variable = {                                                       \
    .domain = space, .type = name, .since = 1,                                  \
    .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,       \
    .dtypes = VN_DTYPE_BIT (F32),                                               \
    .family = VN_FAMILY_CONVERSION,                                             \
    .infer = bfp_infer,                                                         \
    .run = bfp_run,                                                             \
  };

BFP (vn_op_quark_bfp, "com.amd.quark", "BFPQuantizeDequantize")
BFP (vn_op_quark_bfp_vai, "com.vai.quantize", "BFPFixNeuron")
BFP (vn_op_quark_mx, "com.amd.quark", "MXQuantizeDequantize")
BFP (vn_op_quark_mx_vai, "com.vai.quantize", "MXFixNeuron")
