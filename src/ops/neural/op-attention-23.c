/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attention of ONNX: softmax (cap (scale q k') + mask) v for each head. Heads lie apart (4-D) or side by side in the
 * last axis (3-D); several heads of queries may share one of keys. Earlier keys come before the new ones. */
#include "vn-attend.h"

#include "vn-elem.h"

enum { Q, K, V, MASK, PAST_K, PAST_V, LENGTHS };
enum { Y, PRESENT_K, PRESENT_V, SCORES };

/* Sizes, -1 where not known yet: sample, head, row, number of one head. */
typedef struct
{
  gint64 q[4], k[4], v[4];
  gint64 past, total;
} Sizes;

static gboolean
attention_23_read_heads (VnOpContext *ctx,
                         guint        input,
                         const char  *attr,
                         gint64       out[4],
                         GError     **error)
{
  const VnShape *shape = &ctx->in_types[input].shape;
  gint64 heads = vn_node_get_int (ctx->node, attr, 0);

  for (int i = 0; i < 4; i++)
    out[i] = shape->rank == 4 ? shape->dims[i] : VN_DIM_UNKNOWN;
  if (shape->rank != 3)
    return shape->rank < 0 || shape->rank == 4 ||
           vn_op_fail (ctx, error, _("input %u has %d dims, expected 3 or 4"), input, shape->rank);
  if (heads < 1 || (shape->dims[2] >= 0 && shape->dims[2] % heads != 0))
    return vn_op_fail (ctx, error, _("%s is %lld, which does not divide the size %lld of input %u"), attr, (long long) heads,
                       (long long) shape->dims[2],
                                     input);
  out[0] = shape->dims[0];
  out[1] = heads;
  out[2] = shape->dims[1];
  out[3] = shape->dims[2] >= 0 ? shape->dims[2] / heads : VN_DIM_UNKNOWN;
  return TRUE;
}

static gboolean
attention_23_agree (VnOpContext *ctx,
                    const char  *what,
                    gint64      *a,
                    gint64       b,
                    GError     **error)
{
  if (*a >= 0 && b >= 0 && *a != b)
    return vn_op_fail (ctx, error, _("the inputs differ in the number of %s: %lld and %lld"), what, (long long) *a,
                       (long long) b);
  *a = *a >= 0 ? *a : b;
  return TRUE;
}

static gboolean
attention_23_read_past (VnOpContext *ctx,
                        guint        input,
                        Sizes       *sizes,
                        gint64      *heads,
                        GError     **error)
{
  const VnShape *shape = &ctx->in_types[input].shape;

  if (shape->rank < 0)
    return TRUE;
  if (shape->rank != 4)
    return vn_op_fail (ctx, error, _("input %u has %d dims, expected 4"), input, shape->rank);
  return attention_23_agree (ctx, _("samples"), &sizes->q[0], shape->dims[0], error) &&
         attention_23_agree (ctx, _("heads"), &heads[1], shape->dims[1], error) &&
         attention_23_agree (ctx, _("past keys"), &sizes->past, shape->dims[2], error) &&
         attention_23_agree (ctx, _("elements per head"), &heads[3], shape->dims[3], error);
}

static gboolean
attention_23_check_groups (VnOpContext  *ctx,
                           const Sizes  *sizes,
                           GError      **error)
{
  gint64 q = sizes->q[1], k = sizes->k[1];

  if (q < 0 || k < 0 || (k > 0 && q % k == 0))
    return TRUE;
  return vn_op_fail (ctx, error, _("%lld query heads cannot share %lld key heads evenly"), (long long) q, (long long) k);
}

static gboolean
attention_23_sizes_init (Sizes        *self,
                         VnOpContext  *ctx,
                         GError      **error)
{
  gboolean past = vn_op_has_input (ctx, PAST_K);

  if (past != vn_op_has_input (ctx, PAST_V))
    return vn_op_fail (ctx, error, _("past keys and past values must be set together"));
  if (past && vn_op_has_input (ctx, LENGTHS))
    return vn_op_fail (ctx, error, _("past keys and valid key counts cannot be combined"));
  self->past = past ? VN_DIM_UNKNOWN : 0;
  if (!attention_23_read_heads (ctx, Q, "q_num_heads", self->q, error) ||
      !attention_23_read_heads (ctx, K, "kv_num_heads", self->k, error) ||
      !attention_23_read_heads (ctx, V, "kv_num_heads", self->v, error) ||
      !attention_23_agree (ctx, _("samples"), &self->q[0], self->k[0], error) ||
      !attention_23_agree (ctx, _("samples"), &self->q[0], self->v[0], error) ||
      !attention_23_agree (ctx, _("heads"), &self->k[1], self->v[1], error) ||
      !attention_23_agree (ctx, _("keys"), &self->k[2], self->v[2], error) ||
      (past && (!attention_23_read_past (ctx, PAST_K, self, self->k, error) ||
                !attention_23_read_past (ctx, PAST_V, self, self->v, error))) ||
      !attention_23_agree (ctx, _("heads"), &self->k[1], self->v[1], error) ||
      !attention_23_agree (ctx, _("elements per head"), &self->q[3], self->k[3], error) ||
      !attention_23_check_groups (ctx, self, error))
    return FALSE;
  self->total = VN_DIM_UNKNOWN;
  if (self->past < 0 || self->k[2] < 0)
    self->total = vn_dims_add (self->past == VN_DIM_UNKNOWN ? NULL : vn_op_get_dims (ctx, self->k[2]), self->past,
                               self->k[2]);
  else if (!vn_checked_add_s64 (self->past, self->k[2], &self->total))
    return vn_op_fail (ctx, error, _("the scores do not fit in memory"));
  return TRUE;
}

static gboolean
attention_23_is_known (const Sizes *self)
{
  for (int i = 0; i < 4; i++)
    if (self->q[i] < 0 || self->v[i] < 0)
      return FALSE;
  return self->k[1] >= 0 && self->total >= 0;
}

/* Bytes of all keys, or values, with the earlier ones. */
static gboolean
attention_23_joined_bytes (const Sizes *self,
                           VnDType      dtype,
                           gint64       depth,
                           gsize       *bytes)
{
  VnShape shape = VN_SHAPE (self->q[0], self->k[1], self->total, depth);
  gsize n;

  return vn_tensor_size_in_bytes (dtype, &shape, &n, bytes) && vn_checked_add (*bytes, 63, bytes) &&
         (*bytes = *bytes & ~(gsize) 63, TRUE);
}

static gboolean
attention_23_count_scratch (const Sizes *self,
                            VnDType      dtype,
                            gsize       *keys,
                            gsize       *values,
                            gsize       *all)
{
  *keys = *values = 0;
  return vn_attend_scratch (dtype, (gsize) self->total, all) &&
         (self->past == 0 || (attention_23_joined_bytes (self, dtype, self->q[3], keys) &&
                              attention_23_joined_bytes (self, dtype, self->v[3], values))) &&
         vn_checked_add (*all, *keys, all) && vn_checked_add (*all, *values, all);
}

static gboolean
attention_23_check_attributes (VnOpContext *ctx,
                               GError     **error)
{
  gint64 mode = vn_node_get_int (ctx->node, "qk_matmul_output_mode", 0);
  gint64 precision = vn_node_get_int (ctx->node, "softmax_precision", VN_DTYPE_F32);

  if (mode < VN_SCORES_RAW || mode > VN_SCORES_PROBABILITIES)
    return vn_op_fail (ctx, error, _("qk_matmul_output_mode is %lld, expected 0 to 3"), (long long) mode);
  if (!vn_dtype_is_valid (precision) || (VN_FLOAT_BITS >> precision & 1) == 0)
    return vn_op_fail (ctx, error, _("softmax_precision %lld is not a floating-point type"), (long long) precision);
  if (vn_node_get_int (ctx->node, "left_window_size", -1) < -1 ||
      vn_node_get_int (ctx->node, "right_window_size", -1) < -1)
    return vn_op_fail (ctx, error, _("the window size is below -1"));
  return TRUE;
}

static gboolean
attention_infer (VnOpContext *ctx,
                 GError     **error)
{
  VnDType dtype = ctx->in_types[Q].dtype;
  int rank = ctx->in_types[Q].shape.rank;
  gsize keys, values;
  VnShape y;
  Sizes s;

  if (!vn_op_check_alike (ctx, 1u << K | 1u << V | 1u << PAST_K | 1u << PAST_V, error) ||
      !attention_23_check_attributes (ctx, error) || !attention_23_sizes_init (&s, ctx, error))
    return FALSE;
  y = rank < 0 ? VN_SHAPE_UNKNOWN : rank == 4 ? VN_SHAPE (s.q[0], s.q[1], s.q[2], s.v[3])
    : VN_SHAPE (s.q[0], s.q[2], VN_DIM_UNKNOWN);
  if (rank == 3 && s.v[3] >= 0 && !vn_checked_mul_s64 (s.q[1], s.v[3], &y.dims[2]))
    return vn_op_fail (ctx, error, _("the scores do not fit in memory"));
  vn_op_set_output (ctx, Y, dtype, &y);
  vn_op_set_output (ctx, PRESENT_K, dtype, &VN_SHAPE (s.q[0], s.k[1], s.total, s.q[3]));
  vn_op_set_output (ctx, PRESENT_V, dtype, &VN_SHAPE (s.q[0], s.k[1], s.total, s.v[3]));
  vn_op_set_output (ctx, SCORES, dtype, &VN_SHAPE (s.q[0], s.q[1], s.q[2], s.total));
  if (attention_23_is_known (&s) && !attention_23_count_scratch (&s, dtype, &keys, &values, &ctx->scratch_bytes))
    return vn_op_fail (ctx, error, _("the scores do not fit in memory"));
  return TRUE;
}

/* FlexAttention has heads apart only. */
static gboolean
attention_23_flex_infer (VnOpContext *ctx,
                         GError     **error)
{
  if (vn_node_get_attr (ctx->node, "score_mod") != NULL || vn_node_get_attr (ctx->node, "prob_mod") != NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                   _("FlexAttention with a subgraph that modifies the scores is not supported"));
      return FALSE;
    }
  for (guint i = Q; i <= V; i++)
    if (ctx->in_types[i].shape.rank >= 0 && ctx->in_types[i].shape.rank != 4)
      return vn_op_fail (ctx, error, _("input %u has %d dims, expected 4"), i, ctx->in_types[i].shape.rank);
  return attention_infer (ctx, error);
}

/* ---- running ---- */

static VnHeads
attention_23_locate (VnTensor     *tensor,
                     const gint64  size[4],
                     gint64        heads)
{
  gsize rows = (gsize) size[2], depth = (gsize) size[3];

  if (tensor->shape.rank == 3)
    return (VnHeads) { tensor->data, rows * (gsize) heads * depth, depth, (gsize) heads * depth };
  return (VnHeads) { tensor->data, (gsize) heads * rows * depth, rows * depth, depth };
}

/* Keys or values after the earlier ones. */
typedef struct
{
  const VnTensor *past;
  VnHeads         now;
  char           *to;
  gsize           heads, n_past, n_now, depth, size;
} Join;

static void
attention_23_join_head (gpointer data,
                        gsize    item,
                        guint    worker)
{
  const Join *self = data;
  gsize row = self->depth * self->size;
  const char *now = (const char *) self->now.data + (item / self->heads * self->now.batch +
                                                     item % self->heads * self->now.head) * self->size;
  char *to = self->to + item * (self->n_past + self->n_now) * row;

  if (row > 0 && self->n_past > 0)
    memcpy (to, (const char *) self->past->data + item * self->n_past * row, self->n_past * row);
  vn_copy_rows (self->n_now, row, now, self->now.row * self->size, to + self->n_past * row, row);
}

/* Puts all keys (or values) into the output or, if nobody wants that and there are earlier ones, into @spare. */
static void
attention_23_join (VnOpContext  *ctx,
                   const Sizes  *s,
                   guint         past,
                   guint         present,
                   gint64        depth,
                   gpointer      spare,
                   VnHeads      *heads)
{
  VnTensor *out = ctx->n_outputs > present ? ctx->out[present] : NULL;
  Join job = { s->past > 0 ? ctx->in[past] : NULL, *heads, out != NULL ? out->data : spare, (gsize) s->k[1],
               (gsize) s->past, (gsize) s->k[2], (gsize) depth, vn_dtype_get_bits (ctx->in[Q]->dtype) / 8 };

  if (out == NULL && s->past == 0)
    return;
  vn_op_for_items (ctx, (gsize) (s->q[0] * s->k[1]), (double) (s->total * depth), attention_23_join_head, &job);
  *heads = (VnHeads) { job.to, (gsize) (s->k[1] * s->total * depth), (gsize) (s->total * depth), (gsize) depth };
}

static gboolean
attention_23_check_lengths (VnOpContext  *ctx,
                            const Sizes  *s,
                            GError      **error)
{
  const VnTensor *lengths = ctx->in[LENGTHS];

  if (lengths->dtype != VN_DTYPE_S64 || lengths->n_elements != (gsize) s->q[0])
    return vn_op_fail (ctx, error, _("the valid key counts must be %lld int64 values"), (long long) s->q[0]);
  for (gsize i = 0; i < lengths->n_elements; i++)
    if (vn_tensor_get_s64 (lengths, i) < 0 || vn_tensor_get_s64 (lengths, i) > s->total)
      return vn_op_fail (ctx, error, _("sample %zu has %lld valid keys of %lld"), i,
                         (long long) vn_tensor_get_s64 (lengths, i), (long long) s->total);
  return TRUE;
}

static void
attention_23_set_options (VnAttend    *job,
                          VnOpContext *ctx,
                          const Sizes *s)
{
  double scale = (double) vn_node_get_float (ctx->node, "scale", NAN);

  job->scale = isnan (scale) ? 1. / sqrt ((double) s->q[3]) : scale;
  job->softcap = (double) vn_node_get_float (ctx->node, "softcap", 0.f);
  job->left = vn_node_get_int (ctx->node, "left_window_size", -1);
  job->right = vn_node_get_int (ctx->node, "is_causal", 0) != 0 ? 0
             : vn_node_get_int (ctx->node, "right_window_size", -1);
  job->offset = s->past;
  job->precision = (VnDType) vn_node_get_int (ctx->node, "softmax_precision", job->dtype);
  job->stage = (VnScoreStage) vn_node_get_int (ctx->node, "qk_matmul_output_mode", VN_SCORES_RAW);
  job->scores = ctx->n_outputs > SCORES && ctx->out[SCORES] != NULL ? ctx->out[SCORES]->data : NULL;
}

static gboolean
attention_23_set_masks (VnAttend    *job,
                        VnOpContext *ctx,
                        const Sizes *s,
                        GError     **error)
{
  if (vn_op_has_input (ctx, MASK) && !vn_attend_add_term (job, 0, ctx, ctx->in[MASK], -INFINITY, error))
    return FALSE;
  job->terms[0].additive = TRUE;
  if (!vn_op_has_input (ctx, LENGTHS))
    return TRUE;
  job->lengths = ctx->in[LENGTHS];
  job->follow = TRUE;
  return attention_23_check_lengths (ctx, s, error);
}

/**
 * vn_attention_23_count_scratch:
 * @ctx: of a node of Attention that can be run
 * @bytes: (out): what vn_attention_23_init() needs
 *
 * Returns: %FALSE with an error if sizes do not agree, or no memory can hold the scores
 */
gboolean
vn_attention_23_count_scratch (VnOpContext  *ctx,
                               gsize        *bytes,
                               GError      **error)
{
  gsize keys, values;
  Sizes s;

  return attention_23_sizes_init (&s, ctx, error) && attention_23_is_known (&s) &&
         (attention_23_count_scratch (&s, ctx->in[Q]->dtype, &keys, &values, bytes) ||
          vn_op_fail (ctx, error, _("the scores do not fit in memory")));
}

/**
 * vn_attention_23_init:
 * @self: (out): what the node computes, into its output
 * @ctx: of a node of Attention; outputs of all keys and values are filled in
 * @scratch: of vn_attention_23_count_scratch() bytes
 *
 * Returns: %FALSE with an error if the mask or the numbers of valid keys do not fit
 */
gboolean
vn_attention_23_init (VnAttend     *self,
                      VnOpContext  *ctx,
                      gpointer      scratch,
                      GError      **error)
{
  gsize keys = 0, values = 0, all;
  Sizes s;

  *self = (VnAttend) { .dtype = ctx->in[Q]->dtype };
  if (!attention_23_sizes_init (&s, ctx, error) || !attention_23_is_known (&s) ||
      !attention_23_count_scratch (&s, self->dtype, &keys, &values, &all))
    return error == NULL || *error != NULL ? FALSE : vn_op_fail (ctx, error, _("the scores do not fit in memory"));
  self->batch = (gsize) s.q[0];
  self->heads = (gsize) s.q[1];
  self->kv_heads = (gsize) s.k[1];
  self->length = (gsize) s.q[2];
  self->total = (gsize) s.total;
  self->depth = (gsize) s.q[3];
  self->v_depth = (gsize) s.v[3];
  self->q = attention_23_locate (ctx->in[Q], s.q, s.q[1]);
  self->k = attention_23_locate (ctx->in[K], (gint64[]) { 0, 0, s.k[2], s.q[3] }, s.k[1]);
  self->v = attention_23_locate (ctx->in[V], s.v, s.k[1]);
  self->y = attention_23_locate (ctx->out[Y], (gint64[]) { 0, 0, s.q[2], s.v[3] }, s.q[1]);
  attention_23_set_options (self, ctx, &s);
  if (!attention_23_set_masks (self, ctx, &s, error))
    return FALSE;
  attention_23_join (ctx, &s, PAST_K, PRESENT_K, s.q[3], scratch, &self->k);
  attention_23_join (ctx, &s, PAST_V, PRESENT_V, s.v[3], (char *) scratch + keys, &self->v);
  self->scratch = (char *) scratch + keys + values;
  return TRUE;
}

static gboolean
attention_run (VnOpContext *ctx,
               GError     **error)
{
  VnAttend job;

  if (!vn_attention_23_init (&job, ctx, ctx->scratch, error))
    return FALSE;
  vn_attend_run (&job, ctx);
  return TRUE;
}

const VnOp vn_op_flex_attention_1 = {
  .domain = "ai.onnx.preview", .type = "FlexAttention", .since = 1,
  .min_inputs = 3, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .same_dtype = 1u << K | 1u << V,
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_COMPUTE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = attention_23_flex_infer,
  .run = attention_run,
};

const VnOp vn_op_attention_23 = {
  .domain = "", .type = "Attention", .since = 23,
  .min_inputs = 3, .max_inputs = 7, .min_outputs = 1, .max_outputs = 4,
  .others = { [3] = VN_NUMBER_BITS | VN_DTYPE_BIT (BOOL), [6] = VN_LENGTH_BITS },
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << K | 1u << V | 1u << PAST_K | 1u << PAST_V,
  .family = VN_FAMILY_COMPUTE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = attention_infer,
  .run = attention_run,
};
