/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GroupQueryAttention of ONNX Runtime: causal attention of a decoder in which several heads of queries share one of
 * keys. It keeps keys and values for the next step: those of sample b are valid up to seqlens_k[b], and the new ones
 * come last. Queries and keys may be turned by their position first. See group-query-staged.c for caches that slide. */
#include "group-query.h"

#include "vn-elem.h"

enum { Y, PRESENT_K, PRESENT_V, SCORES };

#define MAX_HEADS (1 << 20)

static gboolean
group_query_attention_refuse (GError     **error,
                              const char  *what)
{
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("GroupQueryAttention with %s is not supported"), what);
  return FALSE;
}

static gboolean
group_query_attention_check_supported (VnOpContext *ctx,
                                       GError     **error)
{
  VnDType dtype = ctx->in_types[Q].dtype;
  gboolean alike = TRUE;
  gint64 show = vn_node_get_int (ctx->node, "qk_output", 0);

  for (guint i = PAST_K; i <= PAST_V; i++)
    if (vn_op_has_input (ctx, i) && ctx->in_types[i].dtype != VN_DTYPE_UNDEFINED && dtype != VN_DTYPE_UNDEFINED)
      alike = alike && ctx->in_types[i].dtype == dtype;
  if (!alike || !vn_op_attr_is (ctx, "k_quant_type", "NONE", "NONE") || !vn_op_attr_is (ctx, "v_quant_type", "NONE", "NONE") ||
      vn_op_has_input (ctx, K_SCALE) || vn_op_has_input (ctx, V_SCALE))
    return group_query_attention_refuse (error, _("past keys of another element type"));
  if (vn_op_has_input (ctx, Q_NORM) || vn_op_has_input (ctx, K_NORM))
    return group_query_attention_refuse (error, _("query and key normalization"));
  if (show < 0 || show > 2)
    return vn_op_fail (ctx, error, _("qk_output is %lld, expected 0 to 2"), (long long) show);
  return TRUE;
}

static gboolean
group_query_attention_is_known (VnOpContext *ctx)
{
  gint64 total;
  guint n;

  for (guint i = Q; i <= BIAS; i++)
    if (vn_op_has_input (ctx, i) && !vn_shape_is_static (&ctx->in_types[i].shape))
      return FALSE;
  if (vn_op_has_input (ctx, VALID) && !vn_shape_is_static (&ctx->in_types[VALID].shape))
    return FALSE;
  return vn_op_get_ints_input (ctx, TOTAL, &total, 1, &n) && n == 1;
}

static gboolean
group_query_attention_has_shape (const VnShape *shape,
                                 gint64         a,
                                 gint64         b,
                                 gint64         c,
                                 gint64         d)
{
  return shape->rank == 4 && shape->dims[0] == a && shape->dims[1] == b && shape->dims[2] == c && shape->dims[3] == d;
}

static gboolean
group_query_attention_read_data (VnGroupQuery       *self,
                                 VnOpContext  *ctx)
{
  const VnShape *q = &ctx->in_types[Q].shape, *k = &ctx->in_types[K].shape, *v = &ctx->in_types[V].shape;
  gint64 groups;

  self->packed = !vn_op_has_input (ctx, K);
  if (q->rank != 3 || self->packed == vn_op_has_input (ctx, V) || q->dims[2] < 1)
    return FALSE;
  self->batch = q->dims[0];
  self->length = q->dims[1];
  groups = self->heads + (self->packed ? 2 * self->kv_heads : 0);
  self->depth = q->dims[2] / groups;
  if (q->dims[2] % groups != 0 || self->depth > G_MAXINT32)
    return FALSE;
  return self->packed || (k->rank == 3 && v->rank == 3 && k->dims[0] == self->batch && k->dims[1] == self->length &&
                          k->dims[2] == self->kv_heads * self->depth && vn_shape_equal (k, v));
}

static gboolean
group_query_attention_read_keys (VnGroupQuery       *self,
                                 VnOpContext  *ctx)
{
  const VnShape *past = &ctx->in_types[PAST_K].shape;
  guint n;

  self->past = 0;
  if (vn_op_has_input (ctx, PAST_K))
    self->past = past->rank == 4 ? past->dims[2] : -1;
  if (vn_op_has_input (ctx, PAST_K) != vn_op_has_input (ctx, PAST_V) ||
      (vn_op_has_input (ctx, PAST_K) &&
       (!group_query_attention_has_shape (past, self->batch, self->kv_heads, self->past, self->depth) ||
        !vn_shape_equal (past, &ctx->in_types[PAST_V].shape))) ||
      !vn_op_get_ints_input (ctx, TOTAL, &self->total, 1, &n) || n != 1 || self->total < self->length)
    return FALSE;
  self->prompt = self->total == self->length;
  self->kept = MAX (self->past, self->total);
  return TRUE;
}

static gboolean
group_query_attention_read_angles (VnGroupQuery       *self,
                                   VnOpContext  *ctx)
{
  const VnShape *c = &ctx->in_types[COS].shape;

  self->turned = vn_node_get_int (ctx->node, "do_rotary", 0) != 0;
  if (!self->turned)
    return TRUE;
  if (!vn_op_has_input (ctx, COS) || !vn_op_has_input (ctx, SIN) || c->rank != 2 || c->dims[1] > self->depth / 2 ||
      !vn_shape_equal (c, &ctx->in_types[SIN].shape))
    return FALSE;
  self->half = c->dims[1];
  return TRUE;
}

static gboolean
group_query_attention_layout_init (VnGroupQuery       *self,
                                   VnOpContext  *ctx,
                                   GError      **error)
{
  self->heads = vn_node_get_int (ctx->node, "num_heads", 0);
  self->kv_heads = vn_node_get_int (ctx->node, "kv_num_heads", 0);
  if (self->heads < 1 || self->heads > MAX_HEADS || self->kv_heads < 1 || self->heads % self->kv_heads != 0)
    return vn_op_fail (ctx, error, _("%lld query heads cannot share %lld key heads evenly"), (long long) self->heads,
                       (long long) self->kv_heads);
  if (!group_query_attention_read_data (self, ctx) || !group_query_attention_read_keys (self, ctx) ||
      !group_query_attention_read_angles (self, ctx))
    return vn_op_fail (ctx, error, _("the shapes of queries, keys, values and rotary cache do not match %lld heads"),
                       (long long) self->heads);
  return vn_group_query_read_stages (self, ctx, error);
}

static gboolean
group_query_attention_count_rows (const VnGroupQuery *self,
                                  gint64        heads,
                                  gint64        rows,
                                  gsize        *bytes)
{
  VnShape shape = VN_SHAPE (self->batch, heads, rows, self->depth);
  gsize n;

  return vn_tensor_size_in_bytes (VN_DTYPE_F32, &shape, &n, bytes) && vn_checked_add (*bytes, 63, bytes) &&
         (*bytes = *bytes & ~(gsize) 63, TRUE);
}

/* Turned queries, all keys and values if nobody takes them, and what the attention itself wants. */
static gboolean
group_query_attention_count_scratch (const VnGroupQuery *self,
                                     gsize              *queries,
                                     gsize              *keys,
                                     gsize              *all)
{
  gint64 rows = self->staged ? self->past + self->length : self->kept;

  *queries = 0;
  return vn_attend_scratch (VN_DTYPE_F32, (gsize) rows, all) &&
         (!self->turned || group_query_attention_count_rows (self, self->heads, self->length, queries)) &&
         group_query_attention_count_rows (self, self->kv_heads, rows, keys) && vn_checked_add (*all, *queries, all) &&
         vn_checked_add (*all, *keys, all) && vn_checked_add (*all, *keys, all);
}

static gboolean
group_query_infer (VnOpContext *ctx,
                   GError     **error)
{
  VnDType dtype = ctx->in_types[Q].dtype;
  const VnShape *q = &ctx->in_types[Q].shape;
  VnShape y = VN_SHAPE (-1, -1, -1), present = VN_SHAPE (-1, -1, -1, -1), scores = present;
  gsize queries, keys;
  VnGroupQuery self = { 0 };

  if (!group_query_attention_check_supported (ctx, error))
    return FALSE;
  if (group_query_attention_is_known (ctx))
    {
      if (!group_query_attention_layout_init (&self, ctx, error))
        return FALSE;
      y = VN_SHAPE (self.batch, self.length, self.heads * self.depth);
      present = VN_SHAPE (self.batch, self.kv_heads, self.kept, self.depth);
      scores = VN_SHAPE (self.batch, self.heads, self.length, self.total);
      if (!group_query_attention_count_scratch (&self, &queries, &keys, &ctx->scratch_bytes))
        return vn_op_fail (ctx, error, _("the scores do not fit in memory"));
    }
  else if (q->rank == 3)
    y = VN_SHAPE (q->dims[0], q->dims[1], vn_op_has_input (ctx, K) ? q->dims[2] : VN_DIM_UNKNOWN);
  vn_op_set_output (ctx, Y, dtype, &y);
  vn_op_set_output (ctx, PRESENT_K, dtype, &present);
  vn_op_set_output (ctx, PRESENT_V, dtype, &present);
  vn_op_set_output (ctx, SCORES, dtype, &scores);
  return TRUE;
}

/* ---- running ---- */

typedef struct
{
  const VnGroupQuery   *layout;
  VnOpContext    *ctx;
  VnRotary        rotary;
  const float    *past;            /* (nullable) */
  VnHeads         from;
  float          *to;
  gsize           heads, rows;     /* of @to */
  gboolean        turned, keeps;
} Gather;

static void
group_query_attention_gather_head (gpointer data,
                                   gsize    item,
                                   guint    worker)
{
  const Gather *self = data;
  gsize b = item / self->heads, h = item % self->heads, n = (gsize) self->layout->length, before = 0, bytes;
  gsize depth = (gsize) self->layout->depth;
  const float *from = (const float *) self->from.data + b * self->from.batch + h * self->from.head;
  float *to = self->to + item * self->rows * depth;

  bytes = depth * sizeof (float);
  if (self->keeps)
    before = (gsize) vn_group_query_count_past (self->layout, self->ctx, b);
  if (before > 0)
    memcpy (to, self->past + item * (gsize) self->layout->past * depth, before * bytes);
  for (gsize i = 0; i < n; i++)
    if (self->turned)
      vn_rotary_row (&self->rotary, from + i * self->from.row, to + (before + i) * depth,
                     (gsize) vn_group_query_position (self->layout, self->ctx, b, i));
    else
      memcpy (to + (before + i) * depth, from + i * self->from.row, bytes);
  if (before + n < self->rows)
    memset (to + (before + n) * depth, 0, (self->rows - before - n) * bytes);
}

static gboolean
group_query_attention_check_lengths (const VnGroupQuery  *self,
                                     VnOpContext   *ctx,
                                     GError       **error)
{
  const VnTensor *lengths = ctx->in[LENGTHS];
  gint64 most = self->prompt ? self->length : MIN (self->total, self->past + self->length);
  gint64 least = self->prompt ? 1 : self->length;

  if (lengths->dtype != VN_DTYPE_S32 || lengths->n_elements != (gsize) self->batch)
    return vn_op_fail (ctx, error, _("the sequence lengths must be %lld int32 values"), (long long) self->batch);
  if (self->staged)
    return vn_group_query_check_stages (self, ctx, error);
  for (gsize b = 0; b < lengths->n_elements; b++)
    if (vn_tensor_get_s64 (lengths, b) + 1 < least || vn_tensor_get_s64 (lengths, b) + 1 > most)
      return vn_op_fail (ctx, error, _("sample %zu has %lld keys, expected %lld to %lld"), b,
                         (long long) (vn_tensor_get_s64 (lengths, b) + 1), (long long) least, (long long) most);
  return TRUE;
}

static gboolean
group_query_attention_check_positions (const VnGroupQuery  *self,
                                       VnOpContext   *ctx,
                                       GError       **error)
{
  gsize n = (gsize) self->length;

  if (!self->turned)
    return TRUE;
  if (vn_op_has_input (ctx, POSITIONS) &&
      (ctx->in[POSITIONS]->dtype != VN_DTYPE_S64 || ctx->in[POSITIONS]->n_elements < 1 ||
       (!self->prompt && ctx->in[POSITIONS]->n_elements != (gsize) self->batch * n)))
    return vn_op_fail (ctx, error, _("the positions must be %zu int64 values"), (gsize) self->batch * n);
  for (gsize i = 0; n > 0 && i < (gsize) self->batch * n; i++)
    {
      gint64 at = vn_group_query_position (self, ctx, i / n, i % n);

      if (at < 0 || at >= ctx->in_types[COS].shape.dims[0])
        return vn_op_fail (ctx, error, _("position %lld is outside a table of %lld rows"), (long long) at,
                           (long long) ctx->in_types[COS].shape.dims[0]);
    }
  return TRUE;
}

static void
group_query_attention_set_rotary (VnRotary           *rotary,
                                  const VnGroupQuery *self,
                                  VnOpContext        *ctx)
{
  rotary->depth = (gsize) self->depth;
  rotary->half = (gsize) self->half;
  rotary->interleaved = vn_node_get_int (ctx->node, "rotary_interleaved", 0) != 0;
  rotary->cos = ctx->in[COS]->data;
  rotary->sin = ctx->in[SIN]->data;
}

/* Queries, keys or values in heads of @rows rows each. */
static VnHeads
group_query_attention_gather (const VnGroupQuery *self,
                              VnOpContext  *ctx,
                              guint         which,
                              float        *to,
                              gsize         rows)
{
  gsize heads = (gsize) (which == 0 ? self->heads : self->kv_heads), depth = (gsize) self->depth;
  Gather job = { .layout = self, .ctx = ctx, .from = vn_group_query_locate (self, ctx, which), .to = to, .heads = heads,
                 .rows = rows, .turned = self->turned && which < 2, .keeps = which > 0 };

  if (which > 0 && vn_op_has_input (ctx, PAST_K))
    job.past = ctx->in[which == 1 ? PAST_K : PAST_V]->data;
  if (job.turned)
    group_query_attention_set_rotary (&job.rotary, self, ctx);
  if (rows > 0)
    vn_op_for_items (ctx, (gsize) self->batch * heads, (double) (rows * depth), group_query_attention_gather_head, &job);
  return (VnHeads) { to, heads * rows * depth, rows * depth, depth };
}

static gboolean
group_query_attention_set_options (VnAttend      *job,
                                   VnOpContext   *ctx,
                                   const VnGroupQuery  *self,
                                   GError       **error)
{
  gint64 window = vn_node_get_int (ctx->node, "local_window_size", -1);
  const VnTensor *bias = vn_op_has_input (ctx, BIAS) ? ctx->in[BIAS] : NULL;

  job->batch = (gsize) self->batch;
  job->heads = (gsize) self->heads;
  job->kv_heads = (gsize) self->kv_heads;
  job->length = (gsize) self->length;
  job->total = (gsize) (self->staged ? MAX (self->kept, self->total) : self->kept);
  job->depth = job->v_depth = (gsize) self->depth;
  job->y = (VnHeads) { ctx->out[Y]->data, job->length * job->heads * job->depth, job->depth, job->heads * job->depth };
  job->scale = (double) vn_node_get_float (ctx->node, "scale", 0.f);
  job->scale = job->scale == 0. ? 1. / sqrt ((double) self->depth) : job->scale;
  job->softcap = (double) vn_node_get_float (ctx->node, "softcap", 0.f);
  job->left = window > 0 ? window - 1 : -1;
  job->right = vn_node_get_int (ctx->node, "causal", 1) != 0 ? 0 : -1;
  job->lengths = ctx->in[LENGTHS];
  job->more = 1;
  job->follow = !self->prompt;
  job->smooth = vn_node_get_int (ctx->node, "smooth_softmax", -1) == 1 && !vn_op_has_input (ctx, SINK);
  if (vn_op_has_input (ctx, SINK))
    {
      if (ctx->in[SINK]->n_elements != job->heads)
        return vn_op_fail (ctx, error, _("%zu sinks for %zu heads"),
                           ctx->in[SINK]->n_elements, job->heads);
      job->sink = ctx->in[SINK]->data;
    }
  if (bias == NULL)
    return TRUE;
  if (bias->shape.rank != 4 || bias->shape.dims[3] != self->total)
    return vn_op_fail (ctx, error, _("the attention bias must have 4 dims, the last of size %lld"),
                       (long long) self->total);
  if (!vn_attend_add_term (job, 0, ctx, bias, 0, error))
    return FALSE;
  job->terms[0].additive = TRUE;
  return TRUE;
}

static gboolean
group_query_run (VnOpContext *ctx,
                 GError     **error)
{
  VnAttend job = { .dtype = VN_DTYPE_F32, .precision = VN_DTYPE_F32 };
  VnTensor *present[2] = { NULL };
  gsize queries, keys, all;
  char *at = ctx->scratch;
  VnGroupQuery self = { 0 };

  if (!group_query_attention_layout_init (&self, ctx, error) || !group_query_attention_check_lengths (&self, ctx, error) ||
      !group_query_attention_check_positions (&self, ctx, error))
    return FALSE;
  if (ctx->n_outputs > SCORES && ctx->out[SCORES] != NULL)
    return group_query_attention_refuse (error, _("an output of the scores"));
  group_query_attention_count_scratch (&self, &queries, &keys, &all);
  if (!group_query_attention_set_options (&job, ctx, &self, error))
    return FALSE;
  for (guint i = 0; i < 2; i++)
    present[i] = ctx->n_outputs > PRESENT_K + i ? ctx->out[PRESENT_K + i] : NULL;
  job.q = self.turned ? group_query_attention_gather (&self, ctx, 0, (float *) at, job.length)
          : vn_group_query_locate (&self, ctx, 0);
  at += queries;
  if (self.staged)
    {
      VnRotary rotary = { 0 };

      job.scratch = at + 2 * keys;
      if (self.turned)
        group_query_attention_set_rotary (&rotary, &self, ctx);
      vn_group_query_run_staged (&self, ctx, &job, self.turned ? &rotary : NULL, (float *) at);
      return TRUE;
    }
  job.k = group_query_attention_gather (&self, ctx, 1, present[0] != NULL ? present[0]->data : at, job.total);
  at += keys;
  job.v = group_query_attention_gather (&self, ctx, 2, present[1] != NULL ? present[1]->data : at, job.total);
  job.scratch = at + keys;
  vn_attend_run (&job, ctx);
  return TRUE;
}

const VnOp vn_op_ms_group_query_attention = {
  .domain = "com.microsoft", .type = "GroupQueryAttention", .since = 1,
  .min_inputs = 7, .max_inputs = 17, .min_outputs = 1, .max_outputs = 4,
  .optional = 1u << K | 1u << V | 1u << PAST_K | 1u << PAST_V,
  .dtypes = VN_DTYPE_BIT (F32),
  .same_dtype = 1u << K | 1u << V | 1u << COS | 1u << SIN | 1u << BIAS | 1u << SINK,
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_COMPUTE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = group_query_infer,
  .run = group_query_run,
};
