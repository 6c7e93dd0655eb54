/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LinearAttention: instead of a softmax over all keys, a state (depth x v_depth) that each token changes:
 *   S <- exp (decay) S;  v' = beta (v - S' k), or v;  S <- S + k v';  y = scale q' S
 * Decay and correction (delta) depend on the rule. Heads lie side by side in the last axis; several heads of queries
 * may share one of keys. */
#include "vn-elem.h"

enum { QUERY, KEY, VALUE, STATE, DECAY, BETA };

static const char * const rules[] = { "linear", "gated", "delta", "gated_delta", NULL };

typedef struct
{
  const VnOpContext *ctx;
  gint64             batch, length, heads, kv_heads, depth, v_depth;
  gint64             n_decay, n_beta;     /* numbers of each token */
  float              scale;
} Linear;

static gboolean
linear_attention_split (VnOpContext *ctx,
                        guint        input,
                        gint64       heads,
                        gint64      *depth,
                        GError     **error)
{
  const VnShape *x = &ctx->in_types[input].shape;

  if (x->rank != 3 || x->dims[2] % heads != 0 || x->dims[0] != ctx->in_types[QUERY].shape.dims[0] ||
      x->dims[1] != ctx->in_types[QUERY].shape.dims[1])
    return vn_op_fail (ctx, error, _("input %u does not match the queries, or cannot be split into %lld heads"),
                       input, (long long) heads);
  *depth = x->dims[2] / heads;
  return TRUE;
}

/* Decay and update rate: there, or not, as the rule wants; of one of two widths. */
static gboolean
linear_attention_check_gate (Linear       *self,
                             VnOpContext  *ctx,
                             guint         input,
                             gboolean      wanted,
                             gint64        wide,
                             gint64       *n,
                             GError      **error)
{
  const VnShape *query = &ctx->in_types[QUERY].shape, *x;

  *n = 0;
  if (vn_op_has_input (ctx, input) != wanted)
    return vn_op_fail (ctx, error, wanted ? _("input %u is missing, but the update rule needs it")
                                          : _("input %u is set, but the update rule does not use it"), input);
  if (!wanted)
    return TRUE;
  x = &ctx->in_types[input].shape;
  if (x->rank != 3 || x->dims[0] != query->dims[0] || x->dims[1] != query->dims[1] ||
      (x->dims[2] != self->kv_heads && x->dims[2] != wide))
    return vn_op_fail (ctx, error, _("input %u must have %lld or %lld elements per token"), input, (long long) self->kv_heads,
                       (long long) wide);
  *n = x->dims[2];
  return TRUE;
}

static gboolean
linear_attention_check_state (const Linear  *self,
                              VnOpContext   *ctx,
                              GError       **error)
{
  VnShape wanted = VN_SHAPE (self->batch, self->kv_heads, self->depth, self->v_depth);
  g_autofree char *text = NULL;

  if (!vn_op_has_input (ctx, STATE) || vn_shape_equal (&ctx->in_types[STATE].shape, &wanted))
    return TRUE;
  text = vn_shape_to_string (&wanted, "×");
  return vn_op_fail (ctx, error, _("the past state must have the shape %s"), text);
}

static gboolean
linear_init (Linear       *self,
             VnOpContext  *ctx,
             GError      **error)
{
  guint rule = vn_op_attr_choice (ctx, "update_rule", "gated_delta", rules, error);
  gint64 key_depth = 0, wide;

  *self = (Linear) { .ctx = ctx };
  self->heads = vn_node_get_int (ctx->node, "q_num_heads", 0);
  self->kv_heads = vn_node_get_int (ctx->node, "kv_num_heads", 0);
  if (rule > 3)
    return FALSE;
  if (self->heads < 1 || self->kv_heads < 1 || self->heads % self->kv_heads != 0)
    return vn_op_fail (ctx, error, _("%lld query heads cannot share %lld key heads evenly"), (long long) self->heads,
                       (long long) self->kv_heads);
  if (!linear_attention_split (ctx, QUERY, self->heads, &self->depth, error) ||
      !linear_attention_split (ctx, KEY, self->kv_heads, &key_depth, error) ||
      !linear_attention_split (ctx, VALUE, self->kv_heads, &self->v_depth, error))
    return FALSE;
  self->batch = ctx->in_types[QUERY].shape.dims[0];
  self->length = ctx->in_types[QUERY].shape.dims[1];
  if (key_depth != self->depth)
    return vn_op_fail (ctx, error, _("the head size is %lld for queries, but %lld for keys"),
                       (long long) self->depth, (long long) key_depth);
  wide = ctx->in_types[KEY].shape.dims[2];
  self->scale = vn_node_get_float (ctx->node, "scale", 0.f);
  if (self->scale == 0.f)
    self->scale = 1.f / sqrtf ((float) self->depth);
  return linear_attention_check_gate (self, ctx, DECAY, rule == 1 || rule == 3, wide, &self->n_decay, error) &&
         linear_attention_check_gate (self, ctx, BETA, rule >= 2, 1, &self->n_beta, error) &&
         linear_attention_check_state (self, ctx, error);
}

/* Scratch of one worker: a state, and the corrected values. */
static gboolean
linear_attention_count_scratch (const Linear *self,
                                gsize        *n)
{
  return vn_checked_mul ((gsize) self->depth, (gsize) self->v_depth, n) &&
         vn_checked_add (*n, (gsize) self->v_depth, n);
}

static gboolean
linear_attention_infer (VnOpContext *ctx,
                        GError     **error)
{
  const guint same = 1u << KEY | 1u << VALUE | 1u << STATE | 1u << DECAY | 1u << BETA;
  VnDType dtype = ctx->in_types[QUERY].dtype;
  VnShape y = VN_SHAPE (-1, -1, -1), state = VN_SHAPE (-1, -1, -1, -1);
  Linear self;
  gsize n;

  if (!vn_op_check_alike (ctx, same, error))
    return FALSE;
  vn_op_set_output (ctx, 0, dtype, &y);
  vn_op_set_output (ctx, 1, dtype, &state);
  for (guint i = 0; i < ctx->n_inputs; i++)
    if (vn_op_has_input (ctx, i) && !vn_shape_is_static (&ctx->in_types[i].shape))
      return TRUE;
  if (!linear_init (&self, ctx, error))
    return FALSE;
  y = VN_SHAPE (self.batch, self.length, 0);
  if (!vn_checked_mul_s64 (self.heads, self.v_depth, &y.dims[2]) || !linear_attention_count_scratch (&self, &n) ||
      !vn_checked_mul (n, vn_op_max_workers () * sizeof (float), &ctx->scratch_bytes))
    return vn_op_fail (ctx, error, _("the state does not fit in memory"));
  state = VN_SHAPE (self.batch, self.kv_heads, self.depth, self.v_depth);
  vn_op_set_output (ctx, 0, dtype, &y);
  vn_op_set_output (ctx, 1, dtype, &state);
  return TRUE;
}

/* ---- one token ---- */

/* to = factor * sum over d of x[d] state[d] */
VN_MULTIVERSION
static void
linear_attention_read_state (const float *state,
                             const float *x,
                             float       *to,
                             gsize        depth,
                             gsize        n,
                             float        factor)
{
  for (gsize m = 0; m < n; m++)
    to[m] = 0.f;
  for (gsize d = 0; d < depth; d++)
    for (gsize m = 0; m < n; m++)
      to[m] += x[d] * state[d * n + m];
  for (gsize m = 0; m < n; m++)
    to[m] *= factor;
}

VN_MULTIVERSION
static void
linear_attention_write_state (float       *state,
                              const float *k,
                              const float *v,
                              gsize        depth,
                              gsize        n)
{
  for (gsize d = 0; d < depth; d++)
    for (gsize m = 0; m < n; m++)
      state[d * n + m] += k[d] * v[m];
}

static void
linear_attention_fade_state (const Linear *self,
                             float        *state,
                             gsize         token,
                             gsize         h)
{
  const float *decay = (const float *) self->ctx->in[DECAY]->data + token * (gsize) self->n_decay;
  gsize n = (gsize) self->v_depth, depth = (gsize) self->depth;
  gboolean one = self->n_decay == self->kv_heads;

  for (gsize d = 0; d < depth; d++)
    {
      float factor = expf (decay[one ? h : h * depth + d]);

      for (gsize m = 0; m < n; m++)
        state[d * n + m] *= factor;
    }
}

static void
linear_attention_take_token (const Linear *self,
                             float        *state,
                             float        *spare,
                             gsize         token,
                             gsize         h)
{
  const VnOpContext *ctx = self->ctx;
  gsize depth = (gsize) self->depth, n = (gsize) self->v_depth, kv = (gsize) self->kv_heads;
  gsize group = (gsize) (self->heads / self->kv_heads);
  const float *k = (const float *) ctx->in[KEY]->data + (token * kv + h) * depth;
  const float *v = (const float *) ctx->in[VALUE]->data + (token * kv + h) * n;

  if (self->n_decay > 0)
    linear_attention_fade_state (self, state, token, h);
  if (self->n_beta > 0)
    {
      float beta = ((const float *) ctx->in[BETA]->data)[token * (gsize) self->n_beta + (self->n_beta == 1 ? 0 : h)];

      linear_attention_read_state (state, k, spare, depth, n, 1.f);
      for (gsize m = 0; m < n; m++)
        spare[m] = beta * (v[m] - spare[m]);
      v = spare;
    }
  linear_attention_write_state (state, k, v, depth, n);
  for (gsize i = h * group; i < (h + 1) * group; i++)
    linear_attention_read_state (state, (const float *) ctx->in[QUERY]->data + (token * (gsize) self->heads + i) * depth,
                                 (float *) ctx->out[0]->data + (token * (gsize) self->heads + i) * n, depth, n, self->scale);
}

static void
linear_attention_run_head (gpointer data,
                           gsize    item,
                           guint    worker)
{
  const Linear *self = data;
  const VnOpContext *ctx = self->ctx;
  gsize size = (gsize) (self->depth * self->v_depth), b = item / (gsize) self->kv_heads;
  float *spare = (float *) ctx->scratch + worker * (size + (gsize) self->v_depth), *state = spare + self->v_depth;

  if (ctx->n_outputs > 1 && ctx->out[1] != NULL)
    state = (float *) ctx->out[1]->data + item * size;
  if (size > 0 && vn_op_has_input (ctx, STATE))
    memcpy (state, (const float *) ctx->in[STATE]->data + item * size, size * sizeof (float));
  else
    memset (state, 0, size * sizeof (float));
  for (gsize t = 0; t < (gsize) self->length; t++)
    linear_attention_take_token (self, state, spare, b * (gsize) self->length + t, item % (gsize) self->kv_heads);
}

static gboolean
linear_attention_run (VnOpContext *ctx,
                      GError     **error)
{
  Linear self;

  if (!linear_init (&self, ctx, error))
    return FALSE;
  vn_op_for_items (ctx, (gsize) (self.batch * self.kv_heads),
                   (double) self.length * (double) self.depth * (double) self.v_depth, linear_attention_run_head, &self);
  return TRUE;
}

const VnOp vn_op_linear_attention_27 = {
  .domain = "", .type = "LinearAttention", .since = 27,
  .min_inputs = 3, .max_inputs = 6, .min_outputs = 1, .max_outputs = 2,
  .dtypes = VN_DTYPE_BIT (F32),
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << KEY | 1u << VALUE | 1u << STATE | 1u << DECAY | 1u << BETA,
  .family = VN_FAMILY_COMPUTE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = linear_attention_infer,
  .run = linear_attention_run,
};
