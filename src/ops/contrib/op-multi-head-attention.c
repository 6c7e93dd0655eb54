/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MultiHeadAttention of ONNX Runtime: attention of queries, keys and values that are projected already. They come apart,
 * with keys and values packed together, or with all three; cross attention may pass keys with the heads apart. */
#include "vn-attend.h"

#include "vn-elem.h"

enum { Q, K, V, BIAS, MASK, SCORE_BIAS, PAST_K, PAST_V, PAST_LENGTH, INDIRECTION };
enum { Y, PRESENT_K, PRESENT_V, SCORES };

#define MAX_HEADS (1 << 20)

typedef enum { APART, HEADS_APART, PACKED_KV, PACKED_QKV } Packing;

typedef struct
{
  Packing packing;
  gint64  batch, length, heads, depth, v_depth;
  gint64  now, past, total;                   /* keys */
} Layout;

static gboolean
multi_head_attention_refuse (GError     **error,
                             const char  *what)
{
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("MultiHeadAttention with %s is not supported"), what);
  return FALSE;
}

static gboolean
multi_head_attention_is_known (VnOpContext *ctx)
{
  for (guint i = Q; i <= PAST_V; i++)
    if (vn_op_has_input (ctx, i) && !vn_shape_is_static (&ctx->in_types[i].shape))
      return FALSE;
  return TRUE;
}

static gboolean
multi_head_attention_has_shape (const VnShape *shape,
                                int            rank,
                                const gint64  *dims)
{
  return shape->rank == rank && memcmp (shape->dims, dims, (gsize) rank * sizeof *dims) == 0;
}

#define HAS_SHAPE(shape, ...) \
  multi_head_attention_has_shape (shape, (int) G_N_ELEMENTS (((gint64[]) { __VA_ARGS__ })), (gint64[]) { __VA_ARGS__ })

static gboolean
multi_head_attention_read_queries (Layout       *self,
                                   VnOpContext  *ctx)
{
  const VnShape *q = &ctx->in_types[Q].shape;

  self->batch = q->dims[0];
  self->length = q->dims[1];
  if (q->rank == 5)
    {
      self->packing = PACKED_QKV;
      self->depth = self->v_depth = q->dims[4];
      self->now = self->length;
      return HAS_SHAPE (q, self->batch, self->length, self->heads, 3, self->depth) && self->depth > 0 &&
             !vn_op_has_input (ctx, K) && !vn_op_has_input (ctx, V);
    }
  self->depth = q->rank == 3 ? q->dims[2] / self->heads : 0;
  return q->rank == 3 && self->depth > 0 && q->dims[2] % self->heads == 0 && vn_op_has_input (ctx, K);
}

static gboolean
multi_head_attention_read_keys (Layout       *self,
                                VnOpContext  *ctx)
{
  const VnShape *k = &ctx->in_types[K].shape, *v = &ctx->in_types[V].shape;
  gboolean has_v = vn_op_has_input (ctx, V);

  if (self->packing == PACKED_QKV)
    return TRUE;
  if (k->rank == 5)
    {
      self->packing = PACKED_KV;
      self->now = k->dims[1];
      self->v_depth = self->depth;
      return !has_v && HAS_SHAPE (k, self->batch, self->now, self->heads, 2, self->depth);
    }
  if (!has_v || v->rank != k->rank || (k->rank != 3 && k->rank != 4))
    return FALSE;
  self->packing = k->rank == 4 ? HEADS_APART : APART;
  self->now = k->rank == 4 ? k->dims[2] : k->dims[1];
  self->v_depth = k->rank == 4 ? v->dims[3] : v->dims[2] / self->heads;
  if (k->rank == 4)
    return HAS_SHAPE (k, self->batch, self->heads, self->now, self->depth) &&
           HAS_SHAPE (v, self->batch, self->heads, self->now, self->v_depth);
  return HAS_SHAPE (k, self->batch, self->now, self->heads * self->depth) &&
         HAS_SHAPE (v, self->batch, self->now, self->heads * self->v_depth);
}

static gboolean
multi_head_attention_read_past (Layout       *self,
                                VnOpContext  *ctx)
{
  const VnShape *k = &ctx->in_types[PAST_K].shape;

  self->past = 0;
  if (vn_op_has_input (ctx, PAST_K))
    self->past = k->rank == 4 ? k->dims[2] : -1;
  return vn_op_has_input (ctx, PAST_K) == vn_op_has_input (ctx, PAST_V) &&
         vn_checked_add_s64 (self->past, self->now, &self->total) &&
         (!vn_op_has_input (ctx, PAST_K) ||
          (HAS_SHAPE (k, self->batch, self->heads, self->past, self->depth) &&
           HAS_SHAPE (&ctx->in_types[PAST_V].shape, self->batch, self->heads, self->past, self->v_depth)));
}

static gboolean
multi_head_attention_layout_init (Layout       *self,
                                  VnOpContext  *ctx,
                                  GError      **error)
{
  self->heads = vn_node_get_int (ctx->node, "num_heads", 0);
  if (self->heads < 1 || self->heads > MAX_HEADS || !multi_head_attention_read_queries (self, ctx) ||
      !multi_head_attention_read_keys (self, ctx) ||
      !multi_head_attention_read_past (self, ctx) || self->depth > G_MAXINT32 || self->v_depth > G_MAXINT32)
    return vn_op_fail (ctx, error, _("the shapes of queries, keys and values do not match %lld heads"),
                       (long long) self->heads);
  if (vn_op_has_input (ctx, BIAS) &&
      !HAS_SHAPE (&ctx->in_types[BIAS].shape, self->heads * (2 * self->depth + self->v_depth)))
    return vn_op_fail (ctx, error, _("the bias must have %lld elements"),
                       (long long) (self->heads * (2 * self->depth + self->v_depth)));
  return TRUE;
}

static gboolean
multi_head_attention_count_rows (const Layout *self,
                                 gint64        rows,
                                 gint64        depth,
                                 gsize        *bytes)
{
  VnShape shape = VN_SHAPE (self->batch, self->heads, rows, depth);
  gsize n;

  return vn_tensor_size_in_bytes (VN_DTYPE_F32, &shape, &n, bytes) && vn_checked_add (*bytes, 63, bytes) &&
         (*bytes = *bytes & ~(gsize) 63, TRUE);
}

/* Queries, keys and values that cannot be used where they are, a mask made of lengths, then what the attention wants. */
static gboolean
multi_head_attention_count_scratch (VnOpContext  *ctx,
                                    const Layout *self,
                                    gsize         sizes[4],
                                    gsize        *all)
{
  gboolean biased = vn_op_has_input (ctx, BIAS), joined = biased || vn_op_has_input (ctx, PAST_K);

  sizes[0] = sizes[1] = sizes[2] = sizes[3] = 0;
  if (vn_op_has_input (ctx, MASK) &&
      (!vn_checked_mul ((gsize) self->batch, (gsize) self->total, &sizes[3]) ||
       !vn_checked_mul (sizes[3], sizeof (gint32), &sizes[3]) || !vn_checked_add (sizes[3], 63, &sizes[3])))
    return FALSE;
  sizes[3] &= ~(gsize) 63;
  return vn_attend_scratch (VN_DTYPE_F32, (gsize) self->total, all) &&
         (!biased || multi_head_attention_count_rows (self, self->length, self->depth, &sizes[0])) &&
         (!joined || (multi_head_attention_count_rows (self, self->total, self->depth, &sizes[1]) &&
                      multi_head_attention_count_rows (self, self->total, self->v_depth, &sizes[2]))) &&
         vn_checked_add (*all, sizes[0], all) && vn_checked_add (*all, sizes[1], all) &&
         vn_checked_add (*all, sizes[2], all) && vn_checked_add (*all, sizes[3], all);
}

static gboolean
multi_head_infer (VnOpContext *ctx,
                  GError     **error)
{
  const VnShape *q = &ctx->in_types[Q].shape;
  VnDType dtype = ctx->in_types[Q].dtype;
  VnShape y = VN_SHAPE (VN_DIM_UNKNOWN, VN_DIM_UNKNOWN, VN_DIM_UNKNOWN), present = VN_SHAPE (-1, -1, -1, -1);
  VnShape present_v = present, scores = present;
  Layout self = { 0 };
  gsize sizes[4];

  if (vn_op_has_input (ctx, PAST_LENGTH) || vn_op_has_input (ctx, INDIRECTION))
    return multi_head_attention_refuse (error, _("a shared past-present buffer"));
  if (multi_head_attention_is_known (ctx))
    {
      if (!multi_head_attention_layout_init (&self, ctx, error))
        return FALSE;
      y = VN_SHAPE (self.batch, self.length, self.heads * self.v_depth);
      present = VN_SHAPE (self.batch, self.heads, self.total, self.depth);
      present_v = VN_SHAPE (self.batch, self.heads, self.total, self.v_depth);
      scores = VN_SHAPE (self.batch, self.heads, self.length, self.total);
      if (!multi_head_attention_count_scratch (ctx, &self, sizes, &ctx->scratch_bytes))
        return vn_op_fail (ctx, error, _("the scores do not fit in memory"));
    }
  else if (q->rank == 3 || q->rank == 5)
    y = VN_SHAPE (q->dims[0], q->dims[1], VN_DIM_UNKNOWN);
  vn_op_set_output (ctx, Y, dtype, &y);
  vn_op_set_output (ctx, PRESENT_K, dtype, &present);
  vn_op_set_output (ctx, PRESENT_V, dtype, &present_v);
  vn_op_set_output (ctx, SCORES, dtype, &scores);
  return TRUE;
}

/* ---- where queries, keys and values lie ---- */

/* @which: 0 queries, 1 keys, 2 values */
static VnHeads
multi_head_attention_locate (const Layout *self,
                             VnOpContext  *ctx,
                             guint         which)
{
  gsize rows = (gsize) (which == 0 ? self->length : self->now), heads = (gsize) self->heads;
  gsize depth = (gsize) (which == 2 ? self->v_depth : self->depth);
  gsize packed = self->packing == PACKED_QKV ? 3 : self->packing == PACKED_KV && which > 0 ? 2 : 1;
  gsize place = packed == 3 ? which : packed == 2 ? which - 1 : 0;
  float *data = ctx->in[packed == 3 ? Q : packed == 2 ? K : which]->data;

  if (self->packing == HEADS_APART && which > 0)
    return (VnHeads) { data, heads * rows * depth, rows * depth, depth };
  return (VnHeads) { data + place * depth, rows * heads * packed * depth, packed * depth, heads * packed * depth };
}

typedef struct
{
  VnHeads      now;
  const float *past, *bias;                   /* (nullable) */
  float       *to;
  gsize        heads, n_past, n_now, depth;
} Gather;

static void
multi_head_attention_gather_head (gpointer data,
                                  gsize    item,
                                  guint    worker)
{
  const Gather *self = data;
  gsize b = item / self->heads, h = item % self->heads, depth = self->depth;
  const float *now = (const float *) self->now.data + b * self->now.batch + h * self->now.head;
  float *to = self->to + item * (self->n_past + self->n_now) * depth;

  if (self->n_past * depth > 0)
    memcpy (to, self->past + item * self->n_past * depth, self->n_past * depth * sizeof (float));
  to += self->n_past * depth;
  for (gsize i = 0; i < self->n_now; i++)
    for (gsize j = 0; j < depth; j++)
      to[i * depth + j] = now[i * self->now.row + j] + (self->bias != NULL ? self->bias[h * depth + j] : 0.f);
}

/* Leaves @heads as it is if nothing has to be put in front or added, and nobody wants @out. */
static void
multi_head_attention_gather (const Layout *self,
                             VnOpContext  *ctx,
                             guint         which,
                             VnTensor     *out,
                             float        *spare,
                             VnHeads      *heads)
{
  gboolean earlier = which > 0 && vn_op_has_input (ctx, PAST_K);
  gsize n = (gsize) self->heads, depth = (gsize) (which == 2 ? self->v_depth : self->depth);
  Gather job = { .now = *heads, .to = out != NULL ? out->data : spare, .heads = n, .depth = depth };
  gsize rows;

  if (out == NULL && !earlier && !vn_op_has_input (ctx, BIAS))
    return;
  job.n_now = (gsize) (which == 0 ? self->length : self->now);
  if (earlier)
    {
      job.past = ctx->in[which == 1 ? PAST_K : PAST_V]->data;
      job.n_past = (gsize) self->past;
    }
  if (vn_op_has_input (ctx, BIAS) && (which == 0 || self->packing != HEADS_APART))
    job.bias = (const float *) ctx->in[BIAS]->data + which * n * (gsize) self->depth;
  rows = job.n_past + job.n_now;
  if (rows * depth > 0)
    vn_op_for_items (ctx, (gsize) self->batch * n, (double) (rows * depth), multi_head_attention_gather_head, &job);
  *heads = (VnHeads) { job.to, n * rows * depth, rows * depth, depth };
}

/* ---- masks ---- */

/* Not by VnAttend.lengths: keys of the wrong side of a length only lose much of their score. */
static VnTensor *
multi_head_attention_spread_lengths (const VnTensor  *lengths,
                                     gsize            total,
                                     gint32          *room,
                                     GError         **error)
{
  VnShape shape = VN_SHAPE ((gint64) lengths->n_elements, (gint64) total);

  for (gsize i = 0; i < lengths->n_elements * total; i++)
    room[i] = (gint64) (i % total) < vn_tensor_get_s64 (lengths, i / total);
  return vn_tensor_new_wrap (VN_DTYPE_S32, &shape, room, NULL, NULL, error);
}

/* @mask: (out): to be kept as long as @job */
static gboolean
multi_head_attention_set_mask (VnAttend     *job,
                               VnOpContext  *ctx,
                               gint32       *room,
                               VnTensor    **mask,
                               GError      **error)
{
  VnTensor *given = ctx->in[MASK];
  float hidden = vn_node_get_float (ctx->node, "mask_filter_value", -10000.f);
  gint64 batch = (gint64) job->batch, length = (gint64) job->length, total = (gint64) job->total;

  if (given->dtype != VN_DTYPE_S32)
    return vn_op_unsupported (ctx, MASK, error);
  *mask = HAS_SHAPE (&given->shape, batch) ? multi_head_attention_spread_lengths (given, job->total, room, error)
          : vn_tensor_ref (given);
  if (*mask == NULL)
    return FALSE;
  if (HAS_SHAPE (&(*mask)->shape, batch, total))
    job->terms[0] = (VnScoreTerm) { .tensor = *mask, .batch = job->total, .columns = job->total, .hidden = hidden };
  else if (HAS_SHAPE (&given->shape, batch, length, total))
    job->terms[0] = (VnScoreTerm) { .tensor = given, .batch = job->length * job->total, .row = job->total,
                                      .columns = job->total, .hidden = hidden };
  else
    return multi_head_attention_refuse (error, _("a mask of this shape"));
  return TRUE;
}

static gboolean
multi_head_attention_set_bias (VnAttend     *job,
                               VnOpContext  *ctx,
                               GError      **error)
{
  const VnTensor *bias = ctx->in[SCORE_BIAS];

  if (bias->shape.rank != 4 || bias->shape.dims[3] != (gint64) job->total)
    return vn_op_fail (ctx, error, _("the attention bias must have 4 dims, the last of size %zu"), job->total);
  if (!vn_attend_add_term (job, 1, ctx, bias, 0, error))
    return FALSE;
  job->terms[1].additive = TRUE;
  return TRUE;
}

static void
multi_head_attention_set_sizes (VnAttend          *job,
                                const VnOpContext *ctx,
                                const Layout      *self)
{
  job->batch = (gsize) self->batch;
  job->heads = job->kv_heads = (gsize) self->heads;
  job->length = (gsize) self->length;
  job->total = (gsize) self->total;
  job->depth = (gsize) self->depth;
  job->v_depth = (gsize) self->v_depth;
  job->offset = self->past;
  job->right = vn_node_get_int (ctx->node, "unidirectional", 0) != 0 ? 0 : -1;
  job->scale = (double) vn_node_get_float (ctx->node, "scale", 0.f);
  job->scale = job->scale == 0. ? 1. / sqrt ((double) self->depth) : job->scale;
}

static gboolean
multi_head_run (VnOpContext *ctx,
                GError     **error)
{
  VnAttend job = { .dtype = VN_DTYPE_F32, .precision = VN_DTYPE_F32, .left = -1, .stage = VN_SCORES_BIASED };
  Layout self = { 0 };
  gsize sizes[4], all;
  char *at = ctx->scratch;
  g_autoptr(VnTensor) mask = NULL;

  if (!multi_head_attention_layout_init (&self, ctx, error))
    return FALSE;
  multi_head_attention_count_scratch (ctx, &self, sizes, &all);
  multi_head_attention_set_sizes (&job, ctx, &self);
  if (vn_op_has_input (ctx, SCORE_BIAS) && !multi_head_attention_set_bias (&job, ctx, error))
    return FALSE;
  for (guint i = 0; i < 3; i++)
    {
      VnTensor *out = i > 0 && i < ctx->n_outputs ? ctx->out[i] : NULL;
      VnHeads *heads = i == 0 ? &job.q : i == 1 ? &job.k : &job.v;

      *heads = multi_head_attention_locate (&self, ctx, i);
      multi_head_attention_gather (&self, ctx, i, out, (float *) at, heads);
      at += sizes[i];
    }
  if (vn_op_has_input (ctx, MASK) && !multi_head_attention_set_mask (&job, ctx, (gint32 *) at, &mask, error))
    return FALSE;
  job.y = (VnHeads) { ctx->out[Y]->data, job.length * job.heads * job.v_depth, job.v_depth, job.heads * job.v_depth };
  job.scores = ctx->n_outputs > SCORES && ctx->out[SCORES] != NULL ? ctx->out[SCORES]->data : NULL;
  job.scratch = at + sizes[3];
  vn_attend_run (&job, ctx);
  return TRUE;
}

const VnOp vn_op_ms_multi_head_attention = {
  .domain = "com.microsoft", .type = "MultiHeadAttention", .since = 1,
  .min_inputs = 1, .max_inputs = 10, .min_outputs = 1, .max_outputs = 4,
  .dtypes = VN_DTYPE_BIT (F32),
  .same_dtype = 1u << K | 1u << V | 1u << BIAS | 1u << SCORE_BIAS | 1u << PAST_K | 1u << PAST_V,
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_COMPUTE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = multi_head_infer,
  .run = multi_head_run,
};
