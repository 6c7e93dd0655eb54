/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Concat: the inputs one after the other along one axis. */
#include "vn-elem.h"

static gboolean
concat_join_shape (VnOpContext   *ctx,
                   guint          input,
                   int            axis,
                   VnShape       *out,
                   GError       **error)
{
  const VnShape *shape = &ctx->in_types[input].shape;

  if (shape->rank != out->rank)
    return vn_op_fail (ctx, error, _("Concat: input %u has %d dims, input 0 has %d"), input, shape->rank, out->rank);
  for (int d = 0; d < out->rank; d++)
    {
      if (d == axis)
        {
          if (shape->dims[d] < 0 || out->dims[d] < 0)
            out->dims[d] = vn_dims_add (out->dims[d] == VN_DIM_UNKNOWN ? NULL : vn_op_get_dims (ctx, shape->dims[d]),
                                        out->dims[d], shape->dims[d]);
          else if (!vn_checked_add_s64 (out->dims[d], shape->dims[d], &out->dims[d]))
            return vn_op_fail (ctx, error, _("Concat: the sum of the dims on axis %d is too large"), d);
        }
      else if (out->dims[d] < 0)
        out->dims[d] = shape->dims[d] >= 0 || out->dims[d] == VN_DIM_UNKNOWN ? shape->dims[d] : out->dims[d];
      else if (shape->dims[d] >= 0 && shape->dims[d] != out->dims[d])
        return vn_op_fail (ctx, error, _("Concat: dim %d of input %u is %lld, that of the inputs before "
                                         "%lld"), d, input, (long long) shape->dims[d], (long long) out->dims[d]);
    }
  return TRUE;
}

static gboolean
concat_infer (VnOpContext *ctx,
              GError     **error)
{
  VnShape out = ctx->in_types[0].shape;
  int axis;

  for (guint i = 0; i < ctx->n_inputs; i++)
    if (ctx->in_types[i].shape.rank < 0)
      {
        vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &VN_SHAPE_UNKNOWN);
        return TRUE;
      }
  if (!vn_op_axis (ctx, &out, vn_node_get_int (ctx->node, "axis", 1), &axis, error))
    return FALSE;
  for (guint i = 1; i < ctx->n_inputs; i++)
    if (!vn_op_check_same_dtype (ctx, 0, i, error) || !concat_join_shape (ctx, i, axis, &out, error))
      return FALSE;
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

/* Planes of so many bytes are cut: each thread copies the same part of all of them. */
#define MIN_CUT_BYTES 4096

/**
 * Planes: what one index on the axis stands for, contiguous in each tensor.
 * @bytes: of a plane; @piece: of a part of it
 * @rows: before the axis; @step: bytes of one in the output
 */
typedef struct
{
  const VnOpContext *ctx;
  int                axis;
  gsize              bytes, piece, rows, step;
} Planes;

static void
concat_copy_pieces (gpointer data,
                    gsize    item,
                    guint    worker)
{
  const Planes *self = data;
  const VnTensor *in = self->ctx->in[item % self->ctx->n_inputs];
  gsize first = item / self->ctx->n_inputs * self->piece, n_planes = (gsize) in->shape.dims[self->axis];
  char *to = (char *) self->ctx->out[0]->data + first;
  const char *from = (const char *) in->data + first;

  for (gsize i = 0; i < item % self->ctx->n_inputs; i++)
    to += (gsize) self->ctx->in[i]->shape.dims[self->axis] * self->bytes;
  for (gsize row = 0; row < self->rows; row++)
    vn_copy_rows (n_planes, MIN (self->piece, self->bytes - first), from + row * n_planes * self->bytes, self->bytes,
                  to + row * self->step, self->bytes);
}

/* On several threads, if that pays. */
static gboolean
concat_run_cut (VnOpContext *ctx,
                int          axis)
{
  const VnTensor *out = ctx->out[0];
  Planes planes = { ctx, axis, (gsize) vn_shape_count (&out->shape, axis + 1, out->shape.rank) * vn_elem_size (out->dtype) };
  gsize n_pieces = 2 * MIN (ctx->n_threads, vn_op_max_workers ());

  if (ctx->n_threads < 2 || planes.bytes < MIN_CUT_BYTES)
    return FALSE;
  planes.rows = (gsize) vn_shape_count (&out->shape, 0, axis);
  planes.step = (gsize) out->shape.dims[axis] * planes.bytes;
  planes.piece = ((planes.bytes + n_pieces - 1) / n_pieces + 63) & ~(gsize) 63;
  n_pieces = (planes.bytes + planes.piece - 1) / planes.piece;
  vn_op_for_items (ctx, n_pieces * ctx->n_inputs, (double) (planes.rows * planes.step) / 8 / (double) (n_pieces * ctx->n_inputs),
                   concat_copy_pieces, &planes);
  return TRUE;
}

static gboolean
concat_run (VnOpContext *ctx,
            GError     **error)
{
  VnTensor *out = ctx->out[0];
  gsize size = vn_elem_size (out->dtype), rows, step, offset = 0;
  int axis;

  if (!vn_op_check_movable (ctx, error) ||
      !vn_op_axis (ctx, &out->shape, vn_node_get_int (ctx->node, "axis", 1), &axis, error))
    return FALSE;
  for (guint i = 1; i < ctx->n_inputs; i++)
    if (!vn_op_check_same_dtype (ctx, 0, i, error))
      return FALSE;
  if (concat_run_cut (ctx, axis))
    return TRUE;
  rows = (gsize) vn_shape_count (&out->shape, 0, axis);
  step = (gsize) vn_shape_count (&out->shape, axis, out->shape.rank) * size;
  for (guint i = 0; i < ctx->n_inputs; i++)
    {
      const VnTensor *in = ctx->in[i];
      gsize bytes = (gsize) vn_shape_count (&in->shape, axis, in->shape.rank) * size;

      vn_copy_rows (rows, bytes, in->data, bytes, (char *) out->data + offset, step);
      offset += bytes;
    }
  return TRUE;
}

const VnOp vn_op_concat_1 = {
  .domain = "", .type = "Concat", .since = 1,
  .min_inputs = 1, .max_inputs = VN_OP_MAX_INPUTS, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_MOVABLE_BITS,
  .stand_ins = VN_STAND_IN_STRINGS | VN_STAND_IN_PACKED,
  .family = VN_FAMILY_SHAPE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_GENERIC, TRUE),
  .infer = concat_infer,
  .run = concat_run,
};
