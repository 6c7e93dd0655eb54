/* SPDX-License-Identifier: GPL-3.0-or-later */
/* QEmbedLayerNormalization of ONNX Runtime: embeddings of words, positions and segments from 8-bit tables, summed and
 * normalized; scale and shift of the normalization are 8-bit, too. Each table is (q - zero) * scale. */
#include "vn-int.h"
#include "vn-norm-line.h"

enum { IDS, SEGMENTS, WORDS, POSITIONS, SEGMENT_TABLE, GAMMA, BETA, MASK, SCALES, ZEROS = SCALES + 5 };

static gboolean
qembed_infer (VnOpContext *ctx,
              GError     **error)
{
  const VnShape *ids = &ctx->in_types[IDS].shape, *words = &ctx->in_types[WORDS].shape;
  gint64 batch = ids->rank == 2 ? ids->dims[0] : VN_DIM_UNKNOWN, size = words->rank == 2 ? words->dims[1] : VN_DIM_UNKNOWN;

  if ((ids->rank >= 0 && ids->rank != 2) || (words->rank >= 0 && words->rank != 2))
    return vn_op_fail (ctx, error, _("the ids have rank %d and the words rank %d, expected 2"), ids->rank, words->rank);
  vn_op_set_output (ctx, 0, VN_DTYPE_F32, &VN_SHAPE (batch, ids->rank == 2 ? ids->dims[1] : VN_DIM_UNKNOWN, size));
  vn_op_set_output (ctx, 1, VN_DTYPE_S32, &VN_SHAPE (batch));
  /* Scale and shift as float32. */
  if (size >= 0 && !vn_checked_mul ((gsize) size, 2 * sizeof (float), &ctx->scratch_bytes))
    return vn_op_fail (ctx, error, _("the rows do not fit in memory"));
  return TRUE;
}

/* A table of the operator, or one of the two rows of the normalization. */
typedef struct
{
  const VnTensor *tensor;
  VnIntScalar     grid;
} Table;

static gboolean
qembed_table_init (Table        *self,
                   VnOpContext  *ctx,
                   guint         input,
                   gsize         size,
                   GError      **error)
{
  guint i = input - WORDS;

  self->tensor = ctx->in[input];
  if ((VN_INT_BITS >> self->tensor->dtype & 1) == 0)
    return vn_op_unsupported (ctx, input, error);
  if (input >= GAMMA ? self->tensor->n_elements != size
                     : self->tensor->shape.rank != 2 || self->tensor->shape.dims[1] != (gint64) size)
    return vn_op_fail (ctx, error, _("input %u must have rows of %zu elements"), input, size);
  if (!vn_op_has_input (ctx, SCALES + i))
    return vn_op_fail (ctx, error, _("input %u, the scale of input %u, is missing"), SCALES + i, input);
  return vn_int_scalar (ctx, SCALES + i, ZEROS + i, self->tensor->dtype, &self->grid, error);
}

static void
qembed_add_row (const Table *self,
                gsize        row,
                float       *y,
                gsize        size)
{
  for (gsize i = 0; i < size; i++)
    y[i] += (float) (vn_int_load (self->tensor->dtype, self->tensor->data, row * size + i) - self->grid.zero) *
            self->grid.scale;
}

static gboolean
qembed_add_checked (VnOpContext *ctx,
                    const Table *self,
                    gint64       row,
                    float       *y,
                    gsize        size,
                    GError     **error)
{
  if (row < 0 || row >= self->tensor->shape.dims[0])
    return vn_op_fail (ctx, error, _("index %lld is outside a table of %lld rows"), (long long) row,
                       (long long) self->tensor->shape.dims[0]);
  qembed_add_row (self, (gsize) row, y, size);
  return TRUE;
}

static gboolean
qembed_check_lengths (VnOpContext *ctx,
                      GError     **error)
{
  static const guint inputs[] = { IDS, SEGMENTS, MASK };

  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
    if (vn_op_has_input (ctx, inputs[i]) &&
        (ctx->in[inputs[i]]->dtype != VN_DTYPE_S32 || ctx->in[inputs[i]]->n_elements != ctx->in[IDS]->n_elements))
      return vn_op_fail (ctx, error, _("input %u must have %zu int32 elements"), inputs[i],
                         ctx->in[IDS]->n_elements);
  return vn_op_has_input (ctx, SEGMENTS) == vn_op_has_input (ctx, SEGMENT_TABLE) ||
         vn_op_fail (ctx, error, _("segments need a table of segments"));
}

static void
qembed_count_mask (VnOpContext *ctx)
{
  gint32 *to = ctx->n_outputs > 1 && ctx->out[1] != NULL ? ctx->out[1]->data : NULL;
  gsize length = (gsize) ctx->in[IDS]->shape.dims[1];

  for (gsize b = 0; to != NULL && b < ctx->out[1]->n_elements; b++)
    {
      to[b] = 0;
      for (gsize i = 0; vn_op_has_input (ctx, MASK) && i < length; i++)
        to[b] += ((const gint32 *) ctx->in[MASK]->data)[b * length + i] != 0;
    }
}

static gboolean
qembed_run (VnOpContext *ctx,
            GError     **error)
{
  const VnTensor *ids = ctx->in[IDS];
  gsize size = (gsize) ctx->in[WORDS]->shape.dims[1], length = (gsize) ids->shape.dims[1];
  double epsilon = vn_node_get_float (ctx->node, "epsilon", 1e-12f);
  gboolean segmented = vn_op_has_input (ctx, SEGMENTS);
  float *gamma = ctx->scratch, *beta = gamma + size;
  Table tables[5];

  if (!qembed_check_lengths (ctx, error))
    return FALSE;
  for (guint i = WORDS; i <= BETA; i++)
    if ((i != SEGMENT_TABLE || segmented) && !qembed_table_init (&tables[i - WORDS], ctx, i, size, error))
      return FALSE;
  memset (gamma, 0, 2 * size * sizeof (float));
  qembed_add_row (&tables[GAMMA - WORDS], 0, gamma, size);
  qembed_add_row (&tables[BETA - WORDS], 0, beta, size);
  for (gsize i = 0; i < ids->n_elements; i++)
    {
      float *y = (float *) ctx->out[0]->data + i * size, mean, factor;

      memset (y, 0, size * sizeof (float));
      if (!qembed_add_checked (ctx, &tables[0], vn_tensor_get_s64 (ids, i), y, size, error) ||
          !qembed_add_checked (ctx, &tables[1], (gint64) (i % length), y, size, error) ||
          (segmented && !qembed_add_checked (ctx, &tables[2], vn_tensor_get_s64 (ctx->in[SEGMENTS], i), y, size, error)))
        return FALSE;
      vn_norm_measure (y, size, TRUE, epsilon, &mean, &factor);
      vn_norm_scale (y, y, size, mean, factor, gamma, 1, beta, 1);
    }
  qembed_count_mask (ctx);
  return TRUE;
}

const VnOp vn_op_ms_qembed_layer_normalization = {
  .domain = "com.microsoft", .type = "QEmbedLayerNormalization", .since = 1,
  .min_inputs = 13, .max_inputs = 18, .min_outputs = 1, .max_outputs = 2,
  .optional = 1u << SEGMENTS | 1u << SEGMENT_TABLE | 1u << MASK | 1u << (SCALES + 2),
  .dtypes = VN_DTYPE_BIT (S32),
  .family = VN_FAMILY_POOL_NORM,
  .infer = qembed_infer,
  .run = qembed_run,
};
