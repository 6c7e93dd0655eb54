/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dropout. In inference the data pass unchanged and the mask is all true. In training an element is kept where a number
 * drawn from [0, 1) is not below the ratio, and is divided by (1 - ratio). The numbers come from the Mersenne Twister
 * with 53 bits each, the seed is the attribute “seed” or 0: the same mask in every run.
 * Until opset 6 an attribute, is_test, said what is wanted; nobody wrote it, and a network that is given away is one to be
 * run: it does not count. */
#include "vn-elem.h"
#include "vn-minifloat.h"

enum { X, RATIO, TRAINING };

static gboolean
dropout_infer (VnOpContext *ctx,
               GError     **error)
{
  VnDType mask = ctx->opset < 10 ? ctx->in_types[X].dtype : VN_DTYPE_BOOL;

  for (guint i = RATIO; i <= TRAINING; i++)
    if (vn_op_has_input (ctx, i) && vn_shape_is_static (&ctx->in_types[i].shape) &&
        vn_shape_count (&ctx->in_types[i].shape, 0, ctx->in_types[i].shape.rank) != 1)
      return vn_op_fail (ctx, error, _("input %u must have 1 element"), i);
  vn_op_set_output (ctx, 0, ctx->in_types[X].dtype, &ctx->in_types[X].shape);
  vn_op_set_output (ctx, 1, mask, &ctx->in_types[X].shape);
  return TRUE;
}

static void
dropout_store (VnTensor *out,
               gsize     i,
               double    value)
{
  if (out->dtype == VN_DTYPE_BOOL)
    ((guint8 *) out->data)[i] = value != 0;
  else if (out->dtype == VN_DTYPE_F64)
    ((double *) out->data)[i] = value;
  else
    vn_elem_from_float (out->dtype, (const float[]) { (float) value },
                        (char *) out->data + i * vn_elem_size (out->dtype), 1);
}

static double
dropout_draw (GRand *rand)
{
  guint32 high = g_rand_int (rand) >> 5, low = g_rand_int (rand) >> 6;

  return (high * 0x1p26 + low) * 0x1p-53;
}

static void
dropout_drop (VnOpContext *ctx,
              double       ratio,
              VnTensor    *mask)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed ((guint32) vn_node_get_int (ctx->node, "seed", 0));
  const VnTensor *in = ctx->in[X];
  double scale = ratio < 1 ? 1 / (1 - ratio) : 0;

  for (gsize i = 0; i < in->n_elements; i++)
    {
      gboolean keep = dropout_draw (rand) >= ratio;

      if (in->dtype == VN_DTYPE_F64)
        dropout_store (ctx->out[0], i, keep ? vn_tensor_get_double (in, i) * scale : 0);
      else
        dropout_store (ctx->out[0], i, keep ? (float) vn_tensor_get_double (in, i) * (float) scale : 0);
      if (mask != NULL)
        dropout_store (mask, i, keep);
    }
}

static void
dropout_pass (VnOpContext *ctx,
              VnTensor    *mask)
{
  const VnTensor *in = ctx->in[X];

  for (gsize i = 0; mask != NULL && i < mask->n_elements; i++)
    dropout_store (mask, i, 1);
  if (in->n_bytes > 0 && ctx->out[0]->data != in->data)
    memcpy (ctx->out[0]->data, in->data, in->n_bytes);
}

static double
dropout_load_ratio (const VnTensor *ratio)
{
  return vn_minifloat_is (ratio->dtype) ? vn_minifloat_load (ratio->dtype, ratio->data, 0) : vn_tensor_get_double (ratio, 0);
}

static gboolean
dropout_run (VnOpContext *ctx,
             GError     **error)
{
  VnTensor *mask = ctx->n_outputs > 1 ? ctx->out[1] : NULL;
  double ratio = vn_op_has_input (ctx, RATIO) ? dropout_load_ratio (ctx->in[RATIO]) : 0.5;
  gboolean training = vn_op_has_input (ctx, TRAINING) && vn_tensor_get_s64 (ctx->in[TRAINING], 0) != 0;
  VnDTypeSet bit = (VnDTypeSet) 1 << ctx->in[X]->dtype;

  if ((bit & (VN_FLOAT_BITS | VN_EIGHT_BITS)) == 0 ||
      ((bit & VN_FLOAT_BITS) == 0 && (training || (mask != NULL && mask->dtype != VN_DTYPE_BOOL))))
    return vn_op_unsupported (ctx, X, error);
  if (training && !(ratio >= 0 && ratio <= 1))
    return vn_op_fail (ctx, error, _("the ratio is %g, expected 0 to 1"), ratio);
  if (training && ratio > 0)
    dropout_drop (ctx, ratio, mask);
  else
    dropout_pass (ctx, mask);
  return TRUE;
}

const VnOp vn_op_dropout_1 = {
  .domain = "", .type = "Dropout", .since = 1,
  .min_inputs = 1, .max_inputs = 3, .min_outputs = 1, .max_outputs = 2,
  .others = { [1] = VN_FLOAT_BITS | VN_EIGHT_BITS, [2] = VN_DTYPE_BIT (BOOL) },
  .dtypes = VN_FLOAT_BITS | VN_EIGHT_BITS,
  .family = VN_FAMILY_SHAPE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_PASSTHROUGH, FALSE),
  .aliases = TRUE,
  .unalias = 1u << TRAINING,
  .infer = dropout_infer,
  .run = dropout_run,
};
