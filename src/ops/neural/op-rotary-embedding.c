/* SPDX-License-Identifier: GPL-3.0-or-later */
/* RotaryEmbedding: the numbers of each head turned in pairs by the angle of their position. ONNX Runtime has an older
 * form of its own with other inputs. */
#include "vn-rotary.h"

typedef struct
{
  int    positions, cos, sin;       /* inputs */
  gint64 batch, length, heads, depth, half;
} Layout;

static gboolean
rotary_embedding_is_microsoft (const VnOpContext *ctx)
{
  return *ctx->op->domain != '\0';
}

/* Numbers of a head of 3-D data; in ONNX Runtime's form the table of angles may tell. */
static gboolean
rotary_embedding_split_heads (Layout       *self,
                              VnOpContext  *ctx,
                              gint64        hidden,
                              GError      **error)
{
  const VnShape *cos = &ctx->in_types[self->cos].shape;

  self->heads = vn_node_get_int (ctx->node, "num_heads", 0);
  if (self->heads == 0 && rotary_embedding_is_microsoft (ctx) && cos->rank > 0 && cos->dims[cos->rank - 1] > 0 && hidden >= 0)
    self->heads = hidden / 2 / cos->dims[cos->rank - 1];
  if (self->heads < 1 || hidden % self->heads != 0)
    return vn_op_fail (ctx, error, _("num_heads is %lld, which does not divide the size %lld"), (long long) self->heads,
                       (long long) hidden);
  self->depth = hidden / self->heads;
  return TRUE;
}

static gboolean
rotary_embedding_check_table (const Layout  *self,
                              VnOpContext   *ctx,
                              int            input,
                              GError       **error)
{
  const VnShape *table = &ctx->in_types[input].shape;
  gboolean own = self->positions < 0 || !vn_op_has_input (ctx, (guint) self->positions);
  gboolean fits = table->rank == (own ? 3 : 2) && table->dims[table->rank - 1] == self->half;

  if (fits && own)
    fits = table->dims[0] == self->batch && table->dims[1] == self->length;
  if (!fits)
    return vn_op_fail (ctx, error, _("the rotary cache in input %d does not match %lld pairs in %lld rows"), input,
                       (long long) self->half, (long long) self->length);
  return TRUE;
}

static gboolean
rotary_embedding_layout_init (Layout       *self,
                              VnOpContext  *ctx,
                              GError      **error)
{
  const VnShape *x = &ctx->in_types[0].shape;
  gint64 turned = vn_node_get_int (ctx->node, "rotary_embedding_dim", 0);

  *self = rotary_embedding_is_microsoft (ctx) ? (Layout) { .positions = 1, .cos = 2, .sin = 3 }
                             : (Layout) { .positions = 3, .cos = 1, .sin = 2 };
  if (x->rank != 3 && x->rank != 4)
    return vn_op_fail (ctx, error, _("the input has %d dims, expected 3 or 4"), x->rank);
  self->batch = x->dims[0];
  self->length = x->dims[x->rank - 2];
  if (x->rank == 3)
    {
      self->length = x->dims[1];
      if (!rotary_embedding_split_heads (self, ctx, x->dims[2], error))
        return FALSE;
    }
  else
    {
      self->heads = x->dims[1];
      self->depth = x->dims[3];
    }
  turned = turned == 0 ? self->depth : turned;
  if (turned < 0 || turned > self->depth || turned % 2 != 0)
    return vn_op_fail (ctx, error, _("%lld of the %lld elements of a head cannot be rotated in pairs"), (long long) turned,
                       (long long) self->depth);
  self->half = turned / 2;
  return rotary_embedding_check_table (self, ctx, self->cos, error) && rotary_embedding_check_table (self, ctx, self->sin, error);
}

static gboolean
rotary_infer (VnOpContext *ctx,
              GError     **error)
{
  gboolean microsoft = rotary_embedding_is_microsoft (ctx);

  if (microsoft && vn_node_get_int (ctx->node, "is_packed_batching", 0) != 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("RotaryEmbedding with packed batching is not supported"));
      return FALSE;
    }
  return vn_op_check_alike (ctx, microsoft ? 0xc : 0x6, error) && vn_op_infer_same (ctx, error);
}

static VnHeads
rotary_embedding_locate (const Layout *self,
                         VnTensor     *tensor)
{
  gsize rows = (gsize) self->length, heads = (gsize) self->heads, depth = (gsize) self->depth;

  return tensor->shape.rank == 3 ? (VnHeads) { tensor->data, rows * heads * depth, depth, heads * depth }
                                 : (VnHeads) { tensor->data, rows * heads * depth, rows * depth, depth };
}

static gboolean
rotary_run (VnOpContext *ctx,
            GError     **error)
{
  VnRotary job = { .interleaved = vn_node_get_int (ctx->node, "interleaved", 0) != 0 };
  Layout s;

  if (!rotary_embedding_layout_init (&s, ctx, error))
    return FALSE;
  job.batch = (gsize) s.batch;
  job.length = (gsize) s.length;
  job.heads = (gsize) s.heads;
  job.depth = (gsize) s.depth;
  job.half = (gsize) s.half;
  job.x = rotary_embedding_locate (&s, ctx->in[0]);
  job.y = rotary_embedding_locate (&s, ctx->out[0]);
  job.cos = ctx->in[s.cos]->data;
  job.sin = ctx->in[s.sin]->data;
  job.positions = vn_op_has_input (ctx, (guint) s.positions) ? ctx->in[s.positions] : NULL;
  job.n_positions = (gsize) MIN (ctx->in[s.cos]->shape.dims[0], ctx->in[s.sin]->shape.dims[0]);
  if (job.positions != NULL && job.positions->dtype != VN_DTYPE_S64)
    return vn_op_fail (ctx, error, _("the positions must be int64"));
  if (!vn_rotary_check (&job, ctx, error))
    return FALSE;
  vn_rotary_run (&job, ctx);
  return TRUE;
}

const VnOp vn_op_rotary_embedding_23 = {
  .domain = "", .type = "RotaryEmbedding", .since = 23,
  .min_inputs = 3, .max_inputs = 4, .min_outputs = 1, .max_outputs = 1,
  .others = { [3] = VN_LENGTH_BITS },
  .dtypes = VN_DTYPE_BIT (F32),
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << 1 | 1u << 2,
  .family = VN_FAMILY_ARITHMETIC,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = rotary_infer,
  .run = rotary_run,
};

const VnOp vn_op_ms_rotary_embedding = {
  .domain = "com.microsoft", .type = "RotaryEmbedding", .since = 1,
  .min_inputs = 4, .max_inputs = 4, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32),
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << 2 | 1u << 3,
  .family = VN_FAMILY_ARITHMETIC,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = rotary_infer,
  .run = rotary_run,
};
