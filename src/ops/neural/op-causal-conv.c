/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CausalConvWithState: a 1-D convolution of each channel by itself that sees only what came before; the last k - 1
 * elements are put out for the next step. */
#include "vn-vecmath.h"

#include "vn-elem.h"

enum { X, W, B, STATE };

static const char * const activations[] = { "none", "silu", "swish", NULL };

static gboolean
causal_conv_check_shapes (VnOpContext *ctx,
                          GError     **error)
{
  const VnShape *x = &ctx->in_types[X].shape, *w = &ctx->in_types[W].shape, *state;

  if (x->rank != 3 || w->rank != 3 || w->dims[0] != x->dims[1] || w->dims[1] != 1 || w->dims[2] < 1)
    return vn_op_fail (ctx, error, _("input and kernels do not match: expected samples × channels × length and "
                                     "channels × 1 × size"));
  if (vn_op_has_input (ctx, B) && (ctx->in_types[B].shape.rank != 1 || ctx->in_types[B].shape.dims[0] != x->dims[1]))
    return vn_op_fail (ctx, error, _("the bias must have %lld elements"), (long long) x->dims[1]);
  if (!vn_op_has_input (ctx, STATE))
    return TRUE;
  state = &ctx->in_types[STATE].shape;
  if (state->rank != 3 || state->dims[0] != x->dims[0] || state->dims[1] != x->dims[1] ||
      state->dims[2] != w->dims[2] - 1)
    return vn_op_fail (ctx, error, _("the past state must have %lld elements for every channel"),
                       (long long) (w->dims[2] - 1));
  return TRUE;
}

static gboolean
causal_conv_infer (VnOpContext *ctx,
                   GError     **error)
{
  const VnShape *x = &ctx->in_types[X].shape, *w = &ctx->in_types[W].shape;
  VnShape state = VN_SHAPE (-1, -1, -1);

  if (!vn_op_check_alike (ctx, 1u << W | 1u << B | 1u << STATE, error) ||
      vn_op_attr_choice (ctx, "activation", "none", activations, error) > 2)
    return FALSE;
  for (guint i = 0; i < ctx->n_inputs; i++)
    if (vn_op_has_input (ctx, i) && !vn_shape_is_static (&ctx->in_types[i].shape))
      {
        vn_op_set_output (ctx, 0, ctx->in_types[X].dtype, x);
        vn_op_set_output (ctx, 1, ctx->in_types[X].dtype, &state);
        return TRUE;
      }
  if (!causal_conv_check_shapes (ctx, error))
    return FALSE;
  state = VN_SHAPE (x->dims[0], x->dims[1], w->dims[2] - 1);
  vn_op_set_output (ctx, 0, ctx->in_types[X].dtype, x);
  vn_op_set_output (ctx, 1, ctx->in_types[X].dtype, &state);
  return TRUE;
}

typedef struct
{
  const VnOpContext *ctx;
  gsize              channels, length, size;
  gboolean           silu;
} Conv;

/* y[t] += w x[t - back], where what lies before x is the state, or zero. */
VN_MULTIVERSION
static void
causal_conv_add_shifted (const float *x,
                         const float *state,
                         float       *y,
                         gsize        length,
                         gsize        n_state,
                         gsize        back,
                         float        w)
{
  for (gsize t = 0; t < MIN (back, length) && state != NULL; t++)
    y[t] += w * state[n_state + t - back];
  for (gsize t = back; t < length; t++)
    y[t] += w * x[t - back];
}

VN_MULTIVERSION
static void
causal_conv_apply_silu (float *y,
                        gsize  n)
{
  for (gsize t = 0; t < n; t++)
    y[t] *= vn_sigmoidf (y[t]);
}

static void
causal_conv_run_channel (gpointer data,
                         gsize    item,
                         guint    worker)
{
  const Conv *self = data;
  const VnOpContext *ctx = self->ctx;
  gsize length = self->length, n_state = self->size - 1, c = item % self->channels;
  const float *x = (const float *) ctx->in[X]->data + item * length;
  const float *w = (const float *) ctx->in[W]->data + c * self->size;
  const float *state = vn_op_has_input (ctx, STATE) ? (const float *) ctx->in[STATE]->data + item * n_state : NULL;
  float *y = (float *) ctx->out[0]->data + item * length, *next;

  for (gsize t = 0; t < length; t++)
    y[t] = vn_op_has_input (ctx, B) ? ((const float *) ctx->in[B]->data)[c] : 0.f;
  for (gsize j = 0; j < self->size; j++)
    causal_conv_add_shifted (x, state, y, length, n_state, n_state - j, w[j]);
  if (self->silu)
    causal_conv_apply_silu (y, length);
  if (ctx->n_outputs < 2 || ctx->out[1] == NULL)
    return;
  next = (float *) ctx->out[1]->data + item * n_state;
  for (gsize i = 0; i < n_state; i++)
    next[i] = i + length >= n_state ? x[i + length - n_state] : state != NULL ? state[i + length] : 0.f;
}

static gboolean
causal_conv_run (VnOpContext *ctx,
                 GError     **error)
{
  Conv job = { .ctx = ctx };

  if (!causal_conv_check_shapes (ctx, error))
    return FALSE;
  job.channels = (gsize) ctx->in[X]->shape.dims[1];
  job.length = (gsize) ctx->in[X]->shape.dims[2];
  job.size = (gsize) ctx->in[W]->shape.dims[2];
  job.silu = !vn_op_attr_is (ctx, "activation", "none", "none");
  vn_op_for_items (ctx, (gsize) ctx->in[X]->shape.dims[0] * job.channels,
                   (double) job.length * (double) job.size, causal_conv_run_channel, &job);
  return TRUE;
}

const VnOp vn_op_causal_conv_with_state_27 = {
  .domain = "", .type = "CausalConvWithState", .since = 27,
  .min_inputs = 2, .max_inputs = 4, .min_outputs = 1, .max_outputs = 2,
  .dtypes = VN_DTYPE_BIT (F32),
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << W | 1u << B | 1u << STATE,
  .family = VN_FAMILY_COMPUTE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = causal_conv_infer,
  .run = causal_conv_run,
};
