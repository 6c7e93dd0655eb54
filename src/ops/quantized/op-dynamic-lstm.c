/* SPDX-License-Identifier: GPL-3.0-or-later */
/* DynamicQuantizeLSTM of ONNX Runtime: an LSTM with 8-bit weights; data and state are quantized by their own range
 * before each product. Weights are directions x input x gates here, with one scale per direction or gate number. The
 * products are computed with what quantization leaves, in float32. */
#include "vn-int.h"
#include "vn-rnn.h"

enum { X, W, R, N_LSTM = 8, W_SCALE = 8, W_ZERO, R_SCALE, R_ZERO };

/* The call of LSTM with weights of float32, which lie in scratch. */
typedef struct
{
  VnOpContext  ctx;
  VnTensor    *in[N_LSTM];
  VnTensorType in_types[N_LSTM];
} Inner;

static void
dynamic_lstm_inner_init (Inner       *self,
                         VnOpContext *ctx)
{
  *self = (Inner) { .ctx = *ctx };
  self->ctx.op = &vn_op_lstm_rounded;
  self->ctx.opset = 14;
  self->ctx.n_inputs = MIN (ctx->n_inputs, N_LSTM);
  for (guint i = 0; i < self->ctx.n_inputs; i++)
    {
      VnShape *shape = &self->in_types[i].shape;

      self->in_types[i] = ctx->in_types[i];
      self->in[i] = i > R && ctx->in != NULL ? ctx->in[i] : NULL;
      if (i != W && i != R)
        continue;
      self->in_types[i].dtype = VN_DTYPE_F32;
      if (shape->rank == 3)
        *shape = VN_SHAPE (shape->dims[0], shape->dims[2], shape->dims[1]);
    }
  self->ctx.in = self->in;
  self->ctx.in_types = self->in_types;
}

static gboolean
lstm_infer (VnOpContext *ctx,
            GError     **error)
{
  Inner inner;

  dynamic_lstm_inner_init (&inner, ctx);
  if (!inner.ctx.op->infer (&inner.ctx, error))
    return FALSE;
  ctx->scratch_bytes = inner.ctx.scratch_bytes;
  for (guint i = X; i <= R; i++)
    {
      gsize n, bytes;

      if (!vn_shape_is_static (&inner.in_types[i].shape))
        return TRUE;
      if (!vn_tensor_size_in_bytes (VN_DTYPE_F32, &inner.in_types[i].shape, &n, &bytes) ||
          !vn_checked_add (bytes, 63, &bytes) ||
          !vn_checked_add (ctx->scratch_bytes, bytes & ~(gsize) 63, &ctx->scratch_bytes))
        return vn_op_fail (ctx, error, _("the weights do not fit in memory"));
    }
  return TRUE;
}

/* Weights of a direction: the gates become rows. */
static gboolean
dynamic_lstm_load_weight (VnOpContext *ctx,
                          guint        input,
                          guint        scale_input,
                          VnTensor    *to,
                          GError     **error)
{
  const VnTensor *q = ctx->in[input];
  gsize directions = (gsize) to->shape.dims[0], rows = (gsize) to->shape.dims[1], columns = (gsize) to->shape.dims[2];
  gsize n = ctx->in[scale_input]->n_elements == directions ? directions : directions * rows;
  VnIntParams params;

  if ((VN_INT_BITS >> q->dtype & 1) == 0)
    return vn_op_unsupported (ctx, input, error);
  if (!vn_int_params (ctx, (int) scale_input, (int) scale_input + 1, n, &params, error))
    return FALSE;
  for (gsize row = 0; row < directions * rows; row++)
    {
      gsize d = row / MAX (rows, 1), at = n == directions ? d : row;
      float scale = params.scales[at * params.scale_step];
      gint32 zero = vn_int_zero (params.zeros, at * params.zero_step);

      for (gsize i = 0; i < columns; i++)
        ((float *) to->data)[row * columns + i] =
          (float) (vn_int_load (q->dtype, q->data, (d * columns + i) * rows + row % rows) - zero) * scale;
    }
  return TRUE;
}

static VnTensor *
dynamic_lstm_place (const VnTensorType  *type,
                    char               **at,
                    GError             **error)
{
  VnTensor *tensor = vn_tensor_new_wrap (VN_DTYPE_F32, &type->shape, *at, NULL, NULL, error);

  if (tensor != NULL)
    *at += (tensor->n_bytes + 63) & ~(gsize) 63;
  return tensor;
}

static gboolean
dynamic_lstm_run_inner (VnOpContext *ctx,
                        Inner       *inner,
                        GError     **error)
{
  char *at = ctx->scratch;

  for (guint i = X; i <= R; i++)
    if ((inner->in[i] = dynamic_lstm_place (&inner->in_types[i], &at, error)) == NULL)
      return FALSE;
  if (ctx->in[X]->dtype != VN_DTYPE_F32)
    return vn_op_unsupported (ctx, X, error);
  if (!dynamic_lstm_load_weight (ctx, W, W_SCALE, inner->in[W], error) ||
      !dynamic_lstm_load_weight (ctx, R, R_SCALE, inner->in[R], error))
    return FALSE;
  vn_int_round_dynamic (ctx->in[X]->data, ctx->in[X]->n_elements, inner->in[X]->data);
  inner->ctx.scratch = at;
  inner->ctx.scratch_bytes = ctx->scratch_bytes - (gsize) (at - (char *) ctx->scratch);
  return inner->ctx.op->run (&inner->ctx, error);
}

static gboolean
lstm_run (VnOpContext *ctx,
          GError     **error)
{
  Inner inner;
  gboolean ok;

  dynamic_lstm_inner_init (&inner, ctx);
  ok = dynamic_lstm_run_inner (ctx, &inner, error);
  for (guint i = X; i <= R; i++)
    g_clear_pointer (&inner.in[i], vn_tensor_unref);
  return ok;
}

const VnOp vn_op_ms_dynamic_quantize_lstm = {
  .domain = "com.microsoft", .type = "DynamicQuantizeLSTM", .since = 1,
  .min_inputs = 12, .max_inputs = 12, .min_outputs = 1, .max_outputs = 3,
  .optional = 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7,
  .dtypes = VN_DTYPE_BIT (F32),
  .family = VN_FAMILY_COMPUTE,
  .infer = lstm_infer,
  .run = lstm_run,
};
