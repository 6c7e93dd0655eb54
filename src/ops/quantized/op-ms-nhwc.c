/* SPDX-License-Identifier: GPL-3.0-or-later */
/* QLinearConv and NhwcMaxPool of ONNX Runtime: operators of ONNX on data whose channels come last. The data are put in
 * ONNX's order, computed with, and put back. */
#include "vn-elem.h"

#define MAX_INPUTS 9

static gboolean
ms_nhwc_is_nhwc (const VnOpContext *ctx)
{
  return ctx->op == &vn_op_ms_nhwc_max_pool || vn_node_get_int (ctx->node, "channels_last", 0) != 0;
}

/* @shape with its channels behind the batch, or behind all others. */
static VnShape
ms_nhwc_reorder (const VnShape *shape,
                 gboolean       first)
{
  VnShape out = *shape;
  int last = shape->rank - 1;

  if (shape->rank < 3)
    return out;
  out.dims[first ? 1 : last] = shape->dims[first ? last : 1];
  for (int i = 1; i < last; i++)
    out.dims[first ? i + 1 : i] = shape->dims[first ? i : i + 1];
  return out;
}

static void
ms_nhwc_copy_reordered (const VnShape *nchw,
                        VnDType        dtype,
                        gboolean       to_nchw,
                        gpointer       to,
                        gconstpointer  from)
{
  gint64 pixels = vn_shape_count (nchw, 2, nchw->rank), channels = nchw->dims[1], image = pixels * channels;
  VnCopy copy = { 0 };

  vn_copy_add_dim (&copy, nchw->dims[0], image, image);
  vn_copy_add_dim (&copy, to_nchw ? channels : pixels, to_nchw ? pixels : channels, 1);
  vn_copy_add_dim (&copy, to_nchw ? pixels : channels, 1, to_nchw ? channels : pixels);
  vn_copy_run (&copy, vn_elem_size (dtype), to, from);
}

/* The call of the operator of ONNX. */
typedef struct
{
  VnOpContext  ctx;
  VnTensor    *in[MAX_INPUTS], *out[2];
  VnTensorType in_types[MAX_INPUTS], out_types[2];
} Inner;

static void
ms_nhwc_inner_init (Inner       *self,
                    VnOpContext *ctx)
{
  *self = (Inner) { .ctx = *ctx };
  self->ctx.op = ctx->op == &vn_op_ms_nhwc_max_pool ? &vn_op_max_pool_1 : &vn_op_qlinear_conv_10;
  self->ctx.opset = ctx->op == &vn_op_ms_nhwc_max_pool ? 12 : 10;
  for (guint i = 0; i < MIN (ctx->n_inputs, MAX_INPUTS); i++)
    {
      self->in_types[i] = ctx->in_types[i];
      self->in[i] = ctx->in != NULL ? ctx->in[i] : NULL;
    }
  self->ctx.in = self->in;
  self->ctx.in_types = self->in_types;
  self->ctx.out = self->out;
  self->ctx.out_types = self->out_types;
  self->ctx.prepared = NULL;
  if (!ms_nhwc_is_nhwc (ctx))
    return;
  self->in[0] = NULL;
  self->in_types[0].shape = ms_nhwc_reorder (&ctx->in_types[0].shape, TRUE);
}

static gboolean
ms_nhwc_count_bytes (const VnTensorType *type,
                     gsize              *bytes)
{
  gsize n;

  return vn_tensor_size_in_bytes (type->dtype, &type->shape, &n, bytes) && vn_checked_add (*bytes, 63, bytes) &&
         (*bytes = *bytes & ~(gsize) 63, TRUE);
}

static gboolean
nhwc_infer (VnOpContext *ctx,
            GError     **error)
{
  VnTensorType type;
  gsize x, y;
  Inner inner;

  ms_nhwc_inner_init (&inner, ctx);
  if (!inner.ctx.op->infer (&inner.ctx, error))
    return FALSE;
  type = inner.out_types[0];
  ctx->scratch_bytes = inner.ctx.scratch_bytes;
  if (ms_nhwc_is_nhwc (ctx))
    {
      if (vn_shape_is_static (&type.shape) && vn_shape_is_static (&inner.in_types[0].shape) &&
          (!ms_nhwc_count_bytes (&type, &y) || !ms_nhwc_count_bytes (&inner.in_types[0], &x) ||
           !vn_checked_add (ctx->scratch_bytes, x, &ctx->scratch_bytes) ||
           !vn_checked_add (ctx->scratch_bytes, y, &ctx->scratch_bytes)))
        return vn_op_fail (ctx, error, _("a second copy of the data does not fit in memory"));
      type.shape = ms_nhwc_reorder (&type.shape, FALSE);
    }
  vn_op_set_output (ctx, 0, type.dtype, &type.shape);
  return TRUE;
}

static gboolean
ms_nhwc_run_reordered (VnOpContext *ctx,
                       Inner       *inner,
                       GError     **error)
{
  VnTensorType y = { ctx->out[0]->dtype, ms_nhwc_reorder (&ctx->out[0]->shape, TRUE) };
  char *at = ctx->scratch;
  g_autoptr(VnTensor) in = NULL;
  g_autoptr(VnTensor) out = NULL;
  gsize x_bytes, y_bytes;

  if (!ms_nhwc_count_bytes (&inner->in_types[0], &x_bytes) || !ms_nhwc_count_bytes (&y, &y_bytes))
    return vn_op_fail (ctx, error, _("a second copy of the data does not fit in memory"));
  in = vn_tensor_new_wrap (inner->in_types[0].dtype, &inner->in_types[0].shape, at, NULL, NULL, error);
  out = vn_tensor_new_wrap (y.dtype, &y.shape, at + x_bytes, NULL, NULL, error);
  if (in == NULL || out == NULL)
    return FALSE;
  if (in->n_elements > 0)
    ms_nhwc_copy_reordered (&in->shape, in->dtype, TRUE, in->data, ctx->in[0]->data);
  inner->in[0] = in;
  inner->out[0] = out;
  inner->out_types[0] = y;
  inner->ctx.scratch = at + x_bytes + y_bytes;
  if (!inner->ctx.op->run (&inner->ctx, error))
    return FALSE;
  if (out->n_elements > 0)
    ms_nhwc_copy_reordered (&out->shape, out->dtype, FALSE, ctx->out[0]->data, out->data);
  return TRUE;
}

static gboolean
nhwc_run (VnOpContext *ctx,
          GError     **error)
{
  Inner inner;

  ms_nhwc_inner_init (&inner, ctx);
  inner.out[0] = ctx->out[0];
  inner.out_types[0] = ctx->out_types[0];
  return ms_nhwc_is_nhwc (ctx) ? ms_nhwc_run_reordered (ctx, &inner, error) : inner.ctx.op->run (&inner.ctx, error);
}

const VnOp vn_op_ms_nhwc_max_pool = {
  .domain = "com.microsoft", .type = "NhwcMaxPool", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (S8),
  .family = VN_FAMILY_POOL_NORM,
  .infer = nhwc_infer,
  .run = nhwc_run,
};

const VnOp vn_op_ms_qlinear_conv = {
  .domain = "com.microsoft", .type = "QLinearConv", .since = 1,
  .min_inputs = 8, .max_inputs = 9, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (S8),
  .family = VN_FAMILY_COMPUTE,
  .infer = nhwc_infer,
  .run = nhwc_run,
};
