/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conv: y[n,m,o] = b[m] + sum over c, k of w[m,c,k] x[n,c, o * stride + k * dilation - padding], and FusedConv of
 * ONNX Runtime, which adds another tensor and applies an activation. */
#include "vn-conv-double.h"
#include "vn-conv-packed.h"

enum { X, W, B, Z };

static gboolean
conv_check_bias (VnOpContext   *ctx,
                 const VnShape *w,
                 GError       **error)
{
  const VnShape *b = vn_op_has_input (ctx, B) ? &ctx->in_types[B].shape : NULL;

  if (b == NULL || b->rank < 0)
    return TRUE;
  if (b->rank != 1 || (b->dims[0] >= 0 && w->dims[0] >= 0 && b->dims[0] != w->dims[0]))
    return vn_op_fail (ctx, error, _("the bias must have one element for each of %lld channels"),
                       (long long) w->dims[0]);
  return TRUE;
}

static gboolean
conv_ask_scratch (VnOpContext  *ctx,
                  const VnConv *conv,
                  GError      **error)
{
  gsize packed = 0;

  if (vn_conv_is_depthwise (conv) ? vn_conv_depthwise_scratch (conv, &ctx->scratch_bytes)
                                  : vn_conv_gemm_scratch (conv, &ctx->scratch_bytes) &&
                                    (!vn_conv_packed_fits (conv) ||
                                     vn_conv_packed_scratch (conv, vn_tile_get (), &packed)))
    {
      ctx->scratch_bytes = MAX (ctx->scratch_bytes, packed);
      return TRUE;
    }
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("the convolution is too large for this machine"));
  return FALSE;
}

/* The weight tells the rank where the data do not. */
static gboolean
conv_infer_partial (VnOpContext   *ctx,
                    const VnShape *x,
                    const VnShape *w,
                    GError       **error)
{
  VnShape y = VN_SHAPE_UNKNOWN;

  if (w->rank >= 0 && !vn_conv_check_channels (ctx, x, w, vn_node_get_int (ctx->node, "group", 1), error))
    return FALSE;
  y.rank = MAX (x->rank, w->rank);
  for (int i = 0; i < y.rank; i++)
    y.dims[i] = VN_DIM_UNKNOWN;
  if (x->rank > 0)
    y.dims[0] = x->dims[0];
  if (w->rank > 1)
    y.dims[1] = w->dims[0];
  vn_op_set_output (ctx, 0, ctx->in_types[X].dtype, &y);
  return TRUE;
}

static gboolean
conv_infer (VnOpContext *ctx,
            GError     **error)
{
  const VnShape *x = &ctx->in_types[X].shape, *w = &ctx->in_types[W].shape;
  VnShape y;
  VnConv conv;

  if (!vn_op_check_alike (ctx, 0xe, error))
    return FALSE;
  if ((w->rank >= 0 && w->rank < 3) || (x->rank >= 0 && x->rank < 3))
    return vn_op_fail (ctx, error, _("input rank %d and weight rank %d: expected 3 to 5"), x->rank, w->rank);
  if (x->rank < 0 || w->rank < 0)
    return conv_infer_partial (ctx, x, w, error);
  if (!conv_check_bias (ctx, w, error) || !vn_conv_init_sizes (&conv, ctx, x, w, error))
    return FALSE;

  y.dims[0] = x->dims[0];
  y.dims[1] = w->dims[0];
  vn_sliding_window_get_output (&conv.window, &y);
  vn_op_set_output (ctx, 0, ctx->in_types[X].dtype, &y);
  if (!vn_shape_is_static (x) || !vn_shape_is_static (w))
    return TRUE;
  return conv_ask_scratch (ctx, &conv, error);
}

/* Only what depends on the weight: the size of the data may not be known yet. */
static gboolean
conv_prepare (VnOpContext  *ctx,
              gpointer     *prepared,
              GError      **error)
{
  const VnTensor *w = ctx->in[W], *b = vn_op_has_input (ctx, B) ? ctx->in[B] : NULL;
  gint64 groups = vn_node_get_int (ctx->node, "group", 1);

  if (w == NULL || w->n_elements == 0 || w->shape.rank > 4 || w->dtype != VN_DTYPE_F32 ||
      (vn_op_has_input (ctx, B) && b == NULL) ||
      (w->shape.dims[1] == 1 && groups > 1))
    return TRUE;
  *prepared = vn_conv_packed_new (vn_tile_get (), (gsize) groups, w, b, error);
  return *prepared != NULL;
}

static void
conv_release (gpointer prepared)
{
  vn_conv_packed_free (prepared);
}

static gboolean
conv_run_with (VnOpContext  *ctx,
               VnEpilogue   *epilogue,
               GError      **error)
{
  VnConv conv;
  float *y = ctx->out[0]->data;

  if (!vn_conv_init_sizes (&conv, ctx, &ctx->in[X]->shape, &ctx->in[W]->shape, error))
    return FALSE;
  if (ctx->in[X]->dtype == VN_DTYPE_F64)
    {
      vn_conv_double_run (&conv, ctx, ctx->in[X]->data, ctx->in[W]->data,
                          vn_op_has_input (ctx, B) ? ctx->in[B]->data : NULL, ctx->out[0]->data);
      return TRUE;
    }
  epilogue->bias = vn_op_has_input (ctx, B) ? ctx->in[B]->data : NULL;
  epilogue->base = y;
  if (vn_conv_is_depthwise (&conv))
    vn_conv_depthwise_run (&conv, ctx, epilogue, ctx->in[X]->data, ctx->in[W]->data, y);
  else if (ctx->prepared != NULL && vn_conv_packed_fits (&conv))
    vn_conv_packed_run (ctx->prepared, &conv, ctx, epilogue, ctx->in[X]->data, y);
  else
    vn_conv_gemm_run (&conv, ctx, epilogue, ctx->in[X]->data, ctx->in[W]->data, y);
  return TRUE;
}

static gboolean
conv_run (VnOpContext *ctx,
          GError     **error)
{
  VnEpilogue epilogue = { 0 };

  vn_epilogue_set_fused (&epilogue, ctx);
  return conv_run_with (ctx, &epilogue, error);
}

static gboolean
conv_fused_conv_infer (VnOpContext *ctx,
                       GError     **error)
{
  VnEpilogue epilogue;

  if (!vn_epilogue_from_node (&epilogue, ctx, error) || !conv_infer (ctx, error))
    return FALSE;
  if (vn_op_has_input (ctx, Z) && vn_shape_is_static (&ctx->in_types[Z].shape) &&
      vn_shape_is_static (&ctx->out_types[0].shape) &&
      !vn_shape_equal (&ctx->in_types[Z].shape, &ctx->out_types[0].shape))
    return vn_op_fail (ctx, error, _("the tensor to add must have the shape of the output"));
  return TRUE;
}

static gboolean
conv_fused_conv_run (VnOpContext *ctx,
                     GError     **error)
{
  VnEpilogue epilogue = { 0 };

  if (!vn_epilogue_from_node (&epilogue, ctx, error))
    return FALSE;
  epilogue.sum = vn_op_has_input (ctx, Z) ? ctx->in[Z]->data : NULL;
  return conv_run_with (ctx, &epilogue, error);
}

const VnOp vn_op_conv_1 = {
  .domain = "", .type = "Conv", .since = 1,
  .min_inputs = 2, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << 1 | 1u << 2,
  .family = VN_FAMILY_COMPUTE,
  .quant = { VN_QUANT_COMPUTE, W, B, 0, TRUE },
  .fuses_clamp = TRUE,
  .fuses_more = TRUE,
  .fuses_channels = TRUE,
  .fuses_pads = TRUE,
  .infer = conv_infer,
  .run = conv_run,
  .prepare = conv_prepare,
  .release = conv_release,
};

const VnOp vn_op_ms_fused_conv = {
  .domain = "com.microsoft", .type = "FusedConv", .since = 1,
  .min_inputs = 2, .max_inputs = 4, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32),
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << 1 | 1u << 2 | 1u << 3,
  .family = VN_FAMILY_COMPUTE,
  .quant = { VN_QUANT_COMPUTE, W, B, 0, FALSE },
  .infer = conv_fused_conv_infer,
  .run = conv_fused_conv_run,
  .prepare = conv_prepare,
  .release = conv_release,
};
