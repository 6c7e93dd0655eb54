/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradient of Attention: its weights are computed again, and kept. */
#include "vn-gradient-private.h"

#include "vn-attend.h"
#include "vn-checked.h"

#include <string.h>

enum { Q, K, V, MASK, PAST_K, PAST_V };
enum { Y, PRESENT_K, PRESENT_V, SCORES };

/**
 * GradientAttention:
 * @weights: batch x heads x queries x keys: what the softmax makes
 * @capped: (nullable): the same of scores behind the cap
 * @line: by key: gradient of the weights of a query, then of its scores
 */
typedef struct
{
  VnGradientContext *ctx;
  VnAttend           attend;
  gsize              n_past;
  float             *weights, *capped, *line;
} GradientAttention;

gboolean
vn_gradient_check_attention (const VnNode  *node,
                             GError       **error)
{
  if (vn_node_get_output (node, SCORES) == NULL)
    return TRUE;
  g_set_error_literal (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("its scores are also an output, which has no gradient"));
  return FALSE;
}

static void
gradient_attention_run_stage (GradientAttention *self,
                              VnScoreStage       stage,
                              float             *scores,
                              float             *y)
{
  VnAttend job = self->attend;

  job.scores = scores;
  job.stage = stage;
  job.y.data = y;
  vn_attend_run (&job, &self->ctx->op);
}

/* Weights, and scores behind the cap, in working space; results of the run before are left alone. */
static gboolean
gradient_attention_init (GradientAttention  *self,
                         VnGradientContext  *ctx,
                         GError            **error)
{
  const VnTensor *q = ctx->op.in[Q], *k = ctx->op.in[K];
  gsize own, n_keys, n_scores, n_y = ctx->op.out[Y]->n_elements, total;
  gboolean caps = vn_node_get_float (ctx->op.node, "softcap", 0.f) > 0;
  float *data;

  self->ctx = ctx;
  self->n_past = vn_op_has_input (&ctx->op, PAST_K) ? (gsize) ctx->op.in[PAST_K]->shape.dims[2] : 0;
  n_keys = (gsize) k->shape.dims[k->shape.rank == 4 ? 2 : 1] + self->n_past;
  n_scores = q->shape.rank == 4 ? (gsize) vn_shape_count (&q->shape, 0, 3)
           : (gsize) (q->shape.dims[0] * q->shape.dims[1] * vn_node_get_int (ctx->op.node, "q_num_heads", 1));
  if (!vn_attention_23_count_scratch (&ctx->op, &own, error))
    return FALSE;
  own = (own + 63) / 64 * 16;
  if (!vn_checked_mul (n_scores, n_keys, &n_scores) || !vn_checked_mul (n_scores, caps ? 2 : 1, &total) ||
      !vn_checked_add (total, own, &total) ||
      !vn_checked_add (total, n_y, &total) || !vn_checked_add (total, n_keys, &total))
    total = G_MAXSIZE;
  data = vn_scratch_reserve (ctx->scratch, total, sizeof (float), error);
  if (data == NULL || !vn_attention_23_init (&self->attend, &ctx->op, data, error))
    return FALSE;
  self->weights = data + own;
  self->capped = caps ? self->weights + n_scores : NULL;
  self->line = self->weights + (caps ? 2 : 1) * n_scores;
  gradient_attention_run_stage (self, VN_SCORES_PROBABILITIES, self->weights, self->line + n_keys);
  if (caps)
    gradient_attention_run_stage (self, VN_SCORES_CAPPED, self->capped, self->line + n_keys);
  return TRUE;
}

/* Gradient of a row of keys or values, in the input or among the earlier ones; NULL: not wanted. */
static float *
gradient_attention_find_row (const GradientAttention *self,
                             guint                    now,
                             guint                    past,
                             gsize                    b,
                             gsize                    head,
                             gsize                    key,
                             gsize                    depth)
{
  const VnGradientContext *ctx = self->ctx;
  gsize n_now = self->attend.total - self->n_past, heads = self->attend.kv_heads;
  float *data = vn_gradient_data (ctx->in_grads[key < self->n_past ? past : now]);

  if (data == NULL)
    return NULL;
  if (key < self->n_past)
    return data + ((b * heads + head) * self->n_past + key) * depth;
  key -= self->n_past;
  return data + (ctx->op.in[now]->shape.rank == 3 ? (b * n_now + key) * heads + head : (b * heads + head) * n_now + key) * depth;
}

/* What the softmax read, from the gradient of its weights: in @line. */
static void
gradient_attention_back_softmax (GradientAttention *self,
                                 const float       *weights,
                                 gsize              b,
                                 gsize              h,
                                 gsize              q)
{
  const VnScoreTerm *mask = &self->attend.terms[0];
  float *dmask = self->ctx->op.n_inputs > MASK ? vn_gradient_data (self->ctx->in_grads[MASK]) : NULL;
  float mean = vn_gradient_dot (weights, self->line, self->attend.total);

  for (gsize j = 0; j < self->attend.total; j++)
    self->line[j] = weights[j] * (self->line[j] - mean);
  if (dmask != NULL)
    vn_gradient_add_scaled (dmask + b * mask->batch + h * mask->head + q * mask->row, self->line, 1,
                            MIN (mask->columns, self->attend.total));
}

static void
gradient_attention_back_query (GradientAttention *self,
                               gsize              b,
                               gsize              h,
                               gsize              q)
{
  const VnAttend *attend = &self->attend;
  gsize kv = h / (attend->heads / attend->kv_heads), at = ((b * attend->heads + h) * attend->length + q) * attend->total;
  gsize at_y = b * attend->y.batch + h * attend->y.head + q * attend->y.row,
  at_q = b * attend->q.batch + h * attend->q.head + q * attend->q.row;
  const float *dy = (const float *) self->ctx->out_grads[Y]->data + at_y, *query = (const float *) attend->q.data + at_q;
  const float *k = (const float *) attend->k.data + b * attend->k.batch + kv * attend->k.head;
  const float *v = (const float *) attend->v.data + b * attend->v.batch + kv * attend->v.head, *weights = self->weights + at;
  float *dq = vn_gradient_data (self->ctx->in_grads[Q]);

  for (gsize j = 0; j < attend->total; j++)
    {
      float *dv = gradient_attention_find_row (self, V, PAST_V, b, kv, j, attend->v_depth);

      self->line[j] = vn_gradient_dot (v + j * attend->v.row, dy, attend->v_depth);
      if (dv != NULL)
        vn_gradient_add_scaled (dv, dy, weights[j], attend->v_depth);
    }
  gradient_attention_back_softmax (self, weights, b, h, q);
  for (gsize j = 0; j < attend->total; j++)
    {
      float *dk = gradient_attention_find_row (self, K, PAST_K, b, kv, j, attend->depth);
      float share = self->capped != NULL ? self->capped[at + j] / (float) attend->softcap : 0;
      float slope = self->line[j] * (1 - share * share) * (float) attend->scale;

      if (dq != NULL)
        vn_gradient_add_scaled (dq + at_q, k + j * attend->k.row, slope, attend->depth);
      if (dk != NULL)
        vn_gradient_add_scaled (dk, query, slope, attend->depth);
    }
}

/* All keys, or values, are an output, too. */
static void
gradient_attention_back_present (GradientAttention *self,
                                 guint              output,
                                 guint              now,
                                 guint              past,
                                 gsize              depth)
{
  const VnAttend *attend = &self->attend;
  const float *dy = output < self->ctx->op.n_outputs ? vn_gradient_data (self->ctx->out_grads[output]) : NULL;

  for (gsize i = 0; dy != NULL && i < attend->batch * attend->kv_heads; i++)
    for (gsize j = 0; j < attend->total; j++)
      {
        float *row = gradient_attention_find_row (self, now, past, i / attend->kv_heads, i % attend->kv_heads, j, depth);

        if (row != NULL)
          vn_gradient_add_scaled (row, dy + (i * attend->total + j) * depth, 1, depth);
      }
}

gboolean
vn_gradient_attention (VnGradientContext  *ctx,
                       GError            **error)
{
  GradientAttention self = { 0 };

  if (!gradient_attention_init (&self, ctx, error))
    return FALSE;
  for (gsize i = 0; ctx->out_grads[Y] != NULL && i < self.attend.batch * self.attend.heads; i++)
    for (gsize q = 0; q < self.attend.length; q++)
      gradient_attention_back_query (&self, i / self.attend.heads, i % self.attend.heads, q);
  gradient_attention_back_present (&self, PRESENT_K, K, PAST_K, self.attend.depth);
  gradient_attention_back_present (&self, PRESENT_V, V, PAST_V, self.attend.v_depth);
  return TRUE;
}
