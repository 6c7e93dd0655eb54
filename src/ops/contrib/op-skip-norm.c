/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators of ONNX Runtime that add before they normalize: SkipLayerNormalization (x + skip + bias) and
 * EmbedLayerNormalization (embeddings of words, positions and segments). */
#include "vn-norm-line.h"

enum { X, SKIP, GAMMA, BETA, BIAS };

static gboolean
skip_infer (VnOpContext *ctx,
            GError     **error)
{
  const VnShape *x = &ctx->in_types[X].shape, *skip = &ctx->in_types[SKIP].shape;
  VnShape statistics = *x;
  gsize n_x, n_skip;

  if (!vn_op_check_alike (ctx, 0x1e, error))
    return FALSE;
  if (x->rank >= 0 && x->rank != 2 && x->rank != 3)
    return vn_op_fail (ctx, error, _("input rank is %d, expected 2 or 3"), x->rank);
  if (vn_shape_is_static (x) && vn_shape_is_static (skip) && vn_shape_n_elements (x, &n_x) &&
      vn_shape_n_elements (skip, &n_skip) && (n_skip == 0 || n_x % n_skip != 0 || skip->rank < 2 ||
                                              skip->dims[skip->rank - 1] != x->dims[x->rank - 1]))
    return vn_op_fail (ctx, error, _("the skip input does not match the input"));
  if (x->rank > 0)
    statistics.dims[x->rank - 1] = 1;
  vn_op_set_output (ctx, 0, ctx->in_types[X].dtype, x);
  vn_op_set_output (ctx, 1, VN_DTYPE_F32, &statistics);
  vn_op_set_output (ctx, 2, VN_DTYPE_F32, &statistics);
  vn_op_set_output (ctx, 3, ctx->in_types[X].dtype, x);
  return TRUE;
}

static const float *
skip_norm_optional (const VnOpContext *ctx,
                    guint              input)
{
  return vn_op_has_input (ctx, input) ? ctx->in[input]->data : NULL;
}

static float *
skip_norm_output (const VnOpContext *ctx,
                  guint              i,
                  gsize              offset)
{
  return i < ctx->n_outputs && ctx->out[i] != NULL ? (float *) ctx->out[i]->data + offset : NULL;
}

typedef struct
{
  const VnOpContext *ctx;
  gsize              size;
  double             epsilon;
  gboolean           centred;
} Skip;

VN_MULTIVERSION
static void
skip_norm_add_lines (const float *a,
                     const float *b,
                     const float *bias,
                     float       *y,
                     gsize        n)
{
  if (bias != NULL)
    for (gsize i = 0; i < n; i++)
      y[i] = a[i] + b[i] + bias[i];
  else
    for (gsize i = 0; i < n; i++)
      y[i] = a[i] + b[i];
}

static void
skip_line (gpointer data,
           gsize    item,
           guint    worker)
{
  const Skip *self = data;
  const VnOpContext *ctx = self->ctx;
  gboolean simplified = !self->centred;
  const float *skip = (const float *) ctx->in[SKIP]->data + item * self->size % ctx->in[SKIP]->n_elements;
  const float *bias = skip_norm_optional (ctx, simplified ? BETA : BIAS);
  float *y = skip_norm_output (ctx, 0, item * self->size), *sum = skip_norm_output (ctx, 3, item * self->size);
  float mean, factor;

  skip_norm_add_lines ((const float *) ctx->in[X]->data + item * self->size, skip, bias, y, self->size);
  if (sum != NULL)
    memcpy (sum, y, self->size * sizeof (float));
  vn_norm_measure (y, self->size, self->centred, self->epsilon, &mean, &factor);
  vn_norm_scale (y, y, self->size, mean, factor, ctx->in[GAMMA]->data, 1, simplified ? NULL : skip_norm_optional (ctx, BETA), 1);
  if (skip_norm_output (ctx, 1, item) != NULL)
    *skip_norm_output (ctx, 1, item) = mean;
  if (skip_norm_output (ctx, 2, item) != NULL)
    *skip_norm_output (ctx, 2, item) = factor;
}

static gboolean
skip_norm_check_size (VnOpContext *ctx,
                      guint        input,
                      gsize        n,
                      GError     **error)
{
  if (!vn_op_has_input (ctx, input) || ctx->in[input]->n_elements == n)
    return TRUE;
  return vn_op_fail (ctx, error, _("input %u has %zu elements, expected %zu"), input,
                     ctx->in[input]->n_elements, n);
}

static gboolean
skip_run (VnOpContext *ctx,
          GError     **error)
{
  const VnShape *x = &ctx->in[X]->shape;
  Skip job = { ctx, (gsize) x->dims[x->rank - 1], vn_node_get_float (ctx->node, "epsilon", 1e-12f),
               g_str_equal (ctx->op->type, "SkipLayerNormalization") };

  if (ctx->in[SKIP]->n_elements == 0 && ctx->in[X]->n_elements > 0)
    return vn_op_fail (ctx, error, _("the skip input does not match the input"));
  for (guint i = GAMMA; i <= BIAS; i++)
    if (!skip_norm_check_size (ctx, i, job.size, error))
      return FALSE;
  vn_op_for_items (ctx, (gsize) vn_shape_count (x, 0, x->rank - 1), (double) job.size * 4, skip_line, &job);
  return TRUE;
}

const VnOp vn_op_ms_skip_layer_normalization = {
  .domain = "com.microsoft", .type = "SkipLayerNormalization", .since = 1,
  .min_inputs = 3, .max_inputs = 5, .min_outputs = 1, .max_outputs = 4,
  .dtypes = VN_DTYPE_BIT (F32),
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_POOL_NORM,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = skip_infer,
  .run = skip_run,
};

const VnOp vn_op_ms_skip_simplified_layer_normalization = {
  .domain = "com.microsoft", .type = "SkipSimplifiedLayerNormalization", .since = 1,
  .min_inputs = 3, .max_inputs = 4, .min_outputs = 1, .max_outputs = 4,
  .dtypes = VN_DTYPE_BIT (F32),
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_POOL_NORM,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = skip_infer,
  .run = skip_run,
};

/* ---- embeddings ---- */

enum { IDS, SEGMENTS, WORDS, POSITIONS, SEGMENT_TABLE, EMBED_GAMMA, EMBED_BETA, MASK, POSITION_IDS };

static gboolean
skip_norm_embed_infer (VnOpContext *ctx,
                       GError     **error)
{
  const VnShape *ids = &ctx->in_types[IDS].shape, *words = &ctx->in_types[WORDS].shape;
  VnShape y = VN_SHAPE (VN_DIM_UNKNOWN, VN_DIM_UNKNOWN, words->rank == 2 ? words->dims[1] : VN_DIM_UNKNOWN);
  VnShape mask = VN_SHAPE (VN_DIM_UNKNOWN);

  for (guint i = WORDS; i < MIN (ctx->n_inputs, WORDS + 5); i++)
    if (ctx->in_types[i].dtype != VN_DTYPE_UNDEFINED && ctx->in_types[i].dtype != VN_DTYPE_F32)
      return vn_op_fail (ctx, error, _("input %u has elements of type %s, expected float32"), i,
                         vn_dtype_get_name (ctx->in_types[i].dtype));
  if ((ids->rank >= 0 && ids->rank != 2) || (words->rank >= 0 && words->rank != 2))
    return vn_op_fail (ctx, error, _("the ids have rank %d and the words rank %d, expected 2"), ids->rank, words->rank);
  if (ids->rank == 2)
    {
      y.dims[0] = mask.dims[0] = ids->dims[0];
      y.dims[1] = ids->dims[1];
    }
  vn_op_set_output (ctx, 0, ctx->in_types[WORDS].dtype, &y);
  vn_op_set_output (ctx, 1, VN_DTYPE_S32, &mask);
  vn_op_set_output (ctx, 2, ctx->in_types[WORDS].dtype, &y);
  return TRUE;
}

static gboolean
skip_norm_add_row (VnOpContext    *ctx,
                   const VnTensor *table,
                   gint64          row,
                   float          *y,
                   GError        **error)
{
  gsize size = (gsize) table->shape.dims[1];

  if (row < 0 || row >= table->shape.dims[0])
    return vn_op_fail (ctx, error, _("index %lld is outside a table of %lld rows"), (long long) row,
                       (long long) table->shape.dims[0]);
  skip_norm_add_lines (y, (const float *) table->data + (gsize) row * size, NULL, y, size);
  return TRUE;
}

/* Numbers of ones in each row of the mask: what ONNX Runtime's attention takes. */
static void
skip_norm_count_mask (VnOpContext *ctx)
{
  gint32 *to = ctx->n_outputs > 1 && ctx->out[1] != NULL ? ctx->out[1]->data : NULL;
  gsize length = (gsize) ctx->in[IDS]->shape.dims[1];

  for (gsize b = 0; to != NULL && b < ctx->out[1]->n_elements; b++)
    {
      to[b] = 0;
      for (gsize i = 0; vn_op_has_input (ctx, MASK) && i < length; i++)
        to[b] += vn_tensor_get_s64 (ctx->in[MASK], b * length + i) != 0;
    }
}

static gboolean
skip_norm_embed_check (VnOpContext *ctx,
                       GError     **error)
{
  gsize size = (gsize) ctx->in[WORDS]->shape.dims[1], n = ctx->in[IDS]->n_elements;

  for (guint i = POSITIONS; i <= SEGMENT_TABLE; i++)
    if (vn_op_has_input (ctx, i) && (ctx->in[i]->shape.rank != 2 || ctx->in[i]->shape.dims[1] != (gint64) size))
      return vn_op_fail (ctx, error, _("input %u must have rows of %zu elements"), i, size);
  if (vn_op_has_input (ctx, POSITION_IDS) &&
      ctx->in[POSITION_IDS]->n_elements != (gsize) ctx->in[IDS]->shape.dims[1] &&
      !skip_norm_check_size (ctx, POSITION_IDS, n, error))
    return FALSE;
  return skip_norm_check_size (ctx, EMBED_GAMMA, size, error) && skip_norm_check_size (ctx, EMBED_BETA, size, error) &&
         skip_norm_check_size (ctx, SEGMENTS, n, error) && skip_norm_check_size (ctx, MASK, n, error);
}

static gboolean
skip_norm_embed_run (VnOpContext *ctx,
                     GError     **error)
{
  const VnTensor *ids = ctx->in[IDS];
  gsize size = (gsize) ctx->in[WORDS]->shape.dims[1], length = (gsize) ids->shape.dims[1];
  double epsilon = vn_node_get_float (ctx->node, "epsilon", 1e-12f);

  if (!skip_norm_embed_check (ctx, error))
    return FALSE;
  for (gsize i = 0; i < ids->n_elements; i++)
    {
      gint64 position = (gint64) (i % length);
      float *y = (float *) ctx->out[0]->data + i * size, mean, factor;

      if (vn_op_has_input (ctx, POSITION_IDS))
        position = vn_tensor_get_s64 (ctx->in[POSITION_IDS], i % ctx->in[POSITION_IDS]->n_elements);
      memset (y, 0, size * sizeof (float));
      if (!skip_norm_add_row (ctx, ctx->in[WORDS], vn_tensor_get_s64 (ids, i), y, error) ||
          !skip_norm_add_row (ctx, ctx->in[POSITIONS], position, y, error) ||
          (vn_op_has_input (ctx, SEGMENTS) && vn_op_has_input (ctx, SEGMENT_TABLE) &&
           !skip_norm_add_row (ctx, ctx->in[SEGMENT_TABLE], vn_tensor_get_s64 (ctx->in[SEGMENTS], i), y, error)))
        return FALSE;
      if (skip_norm_output (ctx, 2, i * size) != NULL)
        memcpy (skip_norm_output (ctx, 2, i * size), y, size * sizeof (float));
      vn_norm_measure (y, size, TRUE, epsilon, &mean, &factor);
      vn_norm_scale (y, y, size, mean, factor, ctx->in[EMBED_GAMMA]->data, 1, ctx->in[EMBED_BETA]->data, 1);
    }
  skip_norm_count_mask (ctx);
  return TRUE;
}

const VnOp vn_op_ms_embed_layer_normalization = {
  .domain = "com.microsoft", .type = "EmbedLayerNormalization", .since = 1,
  .min_inputs = 7, .max_inputs = 9, .min_outputs = 1, .max_outputs = 3, .optional = 1u << 1 | 1u << 4,
  .dtypes = VN_DTYPE_BIT (S32),
  .family = VN_FAMILY_POOL_NORM,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = skip_norm_embed_infer,
  .run = skip_norm_embed_run,
};
