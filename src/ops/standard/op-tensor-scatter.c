/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TensorScatter: new rows written into a cache, for each sample from its own place on; circular: on from the start. */
#include "vn-elem.h"

enum { PAST, UPDATE, PLACES };

static gboolean
tensor_scatter_check_shapes (VnOpContext *ctx,
                             int         *axis,
                             GError     **error)
{
  const VnShape *past = &ctx->in_types[PAST].shape, *update = &ctx->in_types[UPDATE].shape;

  if (past->rank < 0 || update->rank < 0)
    return TRUE;
  if (past->rank != update->rank)
    return vn_op_fail (ctx, error, _("the cache has %d dims, but the update has %d"), past->rank, update->rank);
  if (!vn_op_axis (ctx, past, vn_node_get_int (ctx->node, "axis", -2), axis, error))
    return FALSE;
  if (*axis == 0)
    return vn_op_fail (ctx, error, _("the axis of the update cannot be the batch axis"));
  for (int d = 0; d < past->rank; d++)
    if (past->dims[d] >= 0 && update->dims[d] >= 0 &&
        (d == *axis ? update->dims[d] > past->dims[d] : update->dims[d] != past->dims[d]))
      return vn_op_fail (ctx, error, _("dim %d of the cache is %lld, but %lld in the update"),
                         d, (long long) past->dims[d], (long long) update->dims[d]);
  return TRUE;
}

static gboolean
tensor_scatter_infer (VnOpContext *ctx,
                      GError     **error)
{
  static const char * const modes[] = { "linear", "circular", NULL };
  int axis;

  if (vn_op_attr_choice (ctx, "mode", "linear", modes, error) > 1)
    return FALSE;
  return tensor_scatter_check_shapes (ctx, &axis, error) && vn_op_infer_same (ctx, error);
}

/* Where the rows of sample @b go. */
static gboolean
tensor_scatter_find_place (VnOpContext  *ctx,
                           gsize         b,
                           gint64        room,
                           gint64        n,
                           gboolean      circular,
                           gint64       *place,
                           GError      **error)
{
  const VnTensor *places = vn_op_has_input (ctx, PLACES) ? ctx->in[PLACES] : NULL;

  *place = 0;
  if (places == NULL || room == 0)
    return TRUE;
  if (places->dtype != VN_DTYPE_S64 || b >= places->n_elements)
    return vn_op_fail (ctx, error, _("found %zu write indices of type %s, expected one int64 per sample"),
                       places->n_elements, vn_dtype_get_name (places->dtype));
  *place = vn_tensor_get_s64 (places, b);
  if (circular)
    {
      *place %= room;
      *place += *place < 0 ? room : 0;
    }
  else if (*place < 0 || *place > room - n)
    return vn_op_fail (ctx, error, _("%lld rows from write index %lld on do not fit into %lld"), (long long) n,
                       (long long) *place, (long long) room);
  return TRUE;
}

static gboolean
tensor_scatter_run (VnOpContext *ctx,
                    GError     **error)
{
  const VnShape *past = &ctx->in[PAST]->shape, *update = &ctx->in[UPDATE]->shape;
  gboolean circular = vn_op_attr_is (ctx, "mode", "circular", "linear");
  gsize size = vn_elem_size (ctx->in[PAST]->dtype), row, blocks;
  char *to = ctx->out[0]->data;
  const char *from = ctx->in[UPDATE]->data;
  int axis = 0;

  if (!vn_op_check_movable (ctx, error) || !tensor_scatter_check_shapes (ctx, &axis, error) ||
      !vn_op_check_same_dtype (ctx, PAST, UPDATE, error))
    return FALSE;
  row = (gsize) vn_shape_count (past, axis + 1, past->rank) * size;
  blocks = (gsize) vn_shape_count (past, 1, axis);
  if (ctx->out[0]->n_bytes > 0)
    memcpy (to, ctx->in[PAST]->data, ctx->out[0]->n_bytes);
  for (gsize item = 0; item < (gsize) past->dims[0] * blocks; item++)
    {
      gsize room = (gsize) past->dims[axis], n = (gsize) update->dims[axis], head;
      gint64 place;

      if (!tensor_scatter_find_place (ctx, item / blocks, (gint64) room, (gint64) n, circular, &place, error))
        return FALSE;
      head = MIN (n, room - (gsize) place);
      vn_copy_rows (head, row, from + item * n * row, row, to + (item * room + (gsize) place) * row, row);
      vn_copy_rows (n - head, row, from + (item * n + head) * row, row, to + item * room * row, row);
    }
  return TRUE;
}

const VnOp vn_op_tensor_scatter_24 = {
  .domain = "", .type = "TensorScatter", .since = 24,
  .min_inputs = 2, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .others = { [2] = VN_LENGTH_BITS },
  .dtypes = VN_MOVABLE_BITS,
  .stand_ins = VN_STAND_IN_STRINGS | VN_STAND_IN_PACKED,
  .same_dtype = 1u << UPDATE,
  .family = VN_FAMILY_SHAPE,
  .infer = tensor_scatter_infer,
  .run = tensor_scatter_run,
};
