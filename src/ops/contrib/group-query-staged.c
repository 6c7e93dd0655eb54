/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GroupQueryAttention whose caches are as short as its window, or whose samples have queries that are none: a sample at a time,
 * its keys laid out in front of the attention, and what is kept of them copied behind it. */
#include "group-query.h"

#include "vn-elem.h"

/**
 * vn_group_query_read_stages:
 * @self: with all but the rows of the keys that are kept
 *
 * Returns: %FALSE with an error if attributes and sizes do not go together
 */
gboolean
vn_group_query_read_stages (VnGroupQuery  *self,
                            VnOpContext   *ctx,
                            GError       **error)
{
  gint64 window = vn_node_get_int (ctx->node, "local_window_size", -1);
  gboolean slides = vn_node_get_int (ctx->node, "sliding_window_cache", 0) != 0, padded = vn_op_has_input (ctx, VALID);

  self->staged = slides || padded;
  if (!self->staged)
    return TRUE;
  if (!vn_op_has_input (ctx, PAST_K))
    return vn_op_fail (ctx, error, _("without past keys, there is neither a sliding window over them nor padding of queries"));
  if (slides && (window < 1 || self->past < window))
    return vn_op_fail (ctx, error, _("the cache has %lld rows, too few for a window of %lld keys"), (long long) self->past,
                       (long long) window);
  if (vn_node_get_int (ctx->node, "causal", 1) == 0)
    return vn_op_fail (ctx, error, _("attention that is not causal has neither a sliding window nor padding of queries"));
  if (padded && (ctx->in_types[VALID].shape.rank != 1 || ctx->in_types[VALID].shape.dims[0] != self->batch))
    return vn_op_fail (ctx, error, _("the counts of queries must be %lld int32 values"), (long long) self->batch);
  self->prompt = self->prompt && !padded;
  self->window = slides ? window : 0;
  self->kept = slides ? self->past : self->kept;
  return TRUE;
}

/**
 * vn_group_query_check_stages:
 *
 * Returns: %FALSE with an error if a sample has more queries than keys, or keys that no cache holds
 */
gboolean
vn_group_query_check_stages (const VnGroupQuery  *self,
                             VnOpContext         *ctx,
                             GError             **error)
{
  if (vn_op_has_input (ctx, VALID) &&
      (ctx->in[VALID]->dtype != VN_DTYPE_S32 || ctx->in[VALID]->n_elements != (gsize) self->batch))
    return vn_op_fail (ctx, error, _("the counts of queries must be %lld int32 values"), (long long) self->batch);
  for (gsize b = 0; b < (gsize) self->batch; b++)
    {
      gint64 keys = vn_tensor_get_s64 (ctx->in[LENGTHS], b) + 1, queries = vn_group_query_count_new (self, ctx, b);
      gint64 past = keys - queries;

      if (keys < 1 || keys > self->total || queries < 0 || queries > self->length || past < 0 || (self->prompt && past > 0) ||
          (self->window == 0 && (past > self->past || past + self->length > self->kept)))
        return vn_op_fail (ctx, error, _("sample %zu has %lld keys for %lld queries, which do not fit caches of %lld rows"), b,
                           (long long) keys, (long long) queries, (long long) self->past);
    }
  return TRUE;
}

typedef struct
{
  const VnGroupQuery *layout;
  VnOpContext        *ctx;
  const VnRotary     *rotary;       /* (nullable) */
  const float        *past;
  float              *work, *kept;  /* of all heads of the sample; (nullable) */
  VnHeads             from;
  gsize               b, n_past, n_new, n_kept;
} Stage;

static void
group_query_staged_lay_head (gpointer data,
                             gsize    h,
                             guint    worker)
{
  const Stage *self = data;
  const VnGroupQuery *layout = self->layout;
  gsize depth = (gsize) layout->depth, rows = (gsize) (layout->past + layout->length), kept = (gsize) layout->kept;
  const float *from = (const float *) self->from.data + self->b * self->from.batch + h * self->from.head;
  float *work = self->work + h * rows * depth, *to = self->kept != NULL ? self->kept + h * kept * depth : NULL;
  gsize all = self->n_past + self->n_new;

  if (self->n_past > 0)
    memcpy (work, self->past + h * (gsize) layout->past * depth, self->n_past * depth * sizeof (float));
  for (gsize i = 0; i < self->n_new; i++)
    if (self->rotary != NULL)
      vn_rotary_row (self->rotary, from + i * self->from.row, work + (self->n_past + i) * depth,
                     (gsize) vn_group_query_position (layout, self->ctx, self->b, i));
    else
      memcpy (work + (self->n_past + i) * depth, from + i * self->from.row, depth * sizeof (float));
  if (to == NULL)
    return;
  memcpy (to, work + (all - self->n_kept) * depth, self->n_kept * depth * sizeof (float));
  memset (to + self->n_kept * depth, 0, (kept - self->n_kept) * depth * sizeof (float));
}

/* @which: 1 keys, 2 values */
static VnHeads
group_query_staged_lay (Stage *self,
                        guint  which,
                        float *work)
{
  const VnGroupQuery *layout = self->layout;
  gsize heads = (gsize) layout->kv_heads, depth = (gsize) layout->depth, rows = (gsize) (layout->past + layout->length);
  const VnTensor *past = self->ctx->in[PAST_K + which - 1];
  Stage job = *self;

  job.past = (const float *) past->data + self->b * heads * (gsize) layout->past * depth;
  job.kept = self->ctx->n_outputs > which && self->ctx->out[which] != NULL
           ? (float *) self->ctx->out[which]->data + self->b * heads * (gsize) layout->kept * depth : NULL;
  job.rotary = which == 1 ? self->rotary : NULL;
  job.from = vn_group_query_locate (layout, self->ctx, which);
  job.work = work;
  vn_op_for_items (self->ctx, heads, (double) (2 * rows * depth), group_query_staged_lay_head, &job);
  return (VnHeads) { work, heads * rows * depth, rows * depth, depth };
}

/* Of one sample: its rows, as if it were alone. */
static void
group_query_staged_attend (const Stage    *stage,
                           const VnAttend *attend,
                           gint64          gone)
{
  VnAttend job = *attend;
  gsize b = stage->b;

  job.batch = 1;
  job.length = stage->n_new;
  job.total = stage->n_past + stage->n_new;
  job.offset = (gint64) stage->n_past;
  job.lengths = NULL;
  job.follow = FALSE;
  job.q.data = (float *) attend->q.data + b * attend->q.batch;
  job.y.data = (float *) attend->y.data + b * attend->y.batch;
  for (guint i = 0; i < VN_ATTEND_TERMS; i++)
    {
      job.terms[i].start = b * attend->terms[i].batch + (gsize) gone;
      job.terms[i].columns = job.total;
    }
  if (job.length > 0)
    vn_attend_run (&job, stage->ctx);
}

/**
 * vn_group_query_run_staged:
 * @self: with sizes and values that have been checked
 * @attend: for all samples, but for keys and values; bias, if any, for every token there was
 * @rotary: (nullable): what turns keys
 * @work: twice the rows of earlier and new keys of one sample
 *
 * Writes all outputs. Rows of queries that are none, and rows of a cache that hold no key, are 0.
 */
void
vn_group_query_run_staged (const VnGroupQuery *self,
                           VnOpContext        *ctx,
                           const VnAttend     *attend,
                           const VnRotary     *rotary,
                           float              *work)
{
  gsize rows = (gsize) (self->past + self->length), half = (gsize) self->kv_heads * rows * (gsize) self->depth;

  memset (ctx->out[0]->data, 0, ctx->out[0]->n_elements * sizeof (float));
  for (gsize b = 0; b < (gsize) self->batch; b++)
    {
      gint64 past = vn_group_query_count_past (self, ctx, b), queries = vn_group_query_count_new (self, ctx, b);
      gint64 there = vn_group_query_count_kept (self, past);
      Stage stage = { .layout = self, .ctx = ctx, .rotary = rotary, .b = b, .n_past = (gsize) there, .n_new = (gsize) queries,
                      .n_kept = (gsize) vn_group_query_count_kept (self, past + queries) };
      VnAttend job = *attend;

      job.k = group_query_staged_lay (&stage, 1, work);
      job.v = group_query_staged_lay (&stage, 2, work + half);
      group_query_staged_attend (&stage, &job, past - there);
    }
}
