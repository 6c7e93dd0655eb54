/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where: y = condition ? x : z, all three broadcast. */
#include "vn-elem.h"

static gboolean
where_infer (VnOpContext *ctx,
             GError     **error)
{
  VnShape out;
  VnDType dtype = ctx->in_types[1].dtype != VN_DTYPE_UNDEFINED ? ctx->in_types[1].dtype : ctx->in_types[2].dtype;

  if (!vn_op_check_same_dtype (ctx, 1, 2, error))
    return FALSE;
  if (!vn_shape_broadcast (&ctx->in_types[0].shape, &ctx->in_types[1].shape, &out) ||
      !vn_shape_broadcast (&out, &ctx->in_types[2].shape, &out))
    {
      g_autofree char *c = vn_shape_to_string (&ctx->in_types[0].shape, "×");
      g_autofree char *x = vn_shape_to_string (&ctx->in_types[1].shape, "×");
      g_autofree char *y = vn_shape_to_string (&ctx->in_types[2].shape, "×");

      return vn_op_fail (ctx, error, _("Where: shapes %s, %s and %s cannot be broadcast to each other"), c, x, y);
    }
  vn_op_set_output (ctx, 0, dtype, &out);
  return TRUE;
}

#define SELECT_ROW(size, type)                                                       \
  case size:                                                                         \
    {                                                                                \
      const type *a = (const type *) x->data + row->offset[1];                       \
      const type *b = (const type *) z->data + row->offset[2];                       \
      type *y = (type *) out->data + row->out;                                       \
                                                                                     \
      for (gsize i = 0; i < row->n; i++)                                             \
        y[i] = c[i * row->step[0]] != 0 ? a[i * row->step[1]] : b[i * row->step[2]]; \
      break;                                                                         \
    }

static void
where_select_row (const VnBroadcast *row,
                  const guint8      *c,
                  const VnTensor    *x,
                  const VnTensor    *z,
                  VnTensor          *out)
{
  typedef struct { guint64 low, high; } Pair;

  switch (vn_elem_size (out->dtype))
    {
      SELECT_ROW (1, guint8)
      SELECT_ROW (2, guint16)
      SELECT_ROW (4, guint32)
      SELECT_ROW (8, guint64)
      SELECT_ROW (16, Pair)
    default:
      g_assert_not_reached ();
    }
}

static gboolean
where_run (VnOpContext *ctx,
           GError     **error)
{
  const VnShape *shapes[3] = { &ctx->in[0]->shape, &ctx->in[1]->shape, &ctx->in[2]->shape };
  VnBroadcast row;

  if (ctx->in[0]->dtype != VN_DTYPE_BOOL)
    return vn_op_unsupported (ctx, 0, error);
  if (vn_elem_size (ctx->in[1]->dtype) == 0)
    return vn_op_unsupported (ctx, 1, error);
  if (!vn_op_check_same_dtype (ctx, 1, 2, error))
    return FALSE;
  vn_broadcast_init (&row, &ctx->out[0]->shape, shapes, 3);
  while (vn_broadcast_next (&row))
    where_select_row (&row, (const guint8 *) ctx->in[0]->data + row.offset[0], ctx->in[1], ctx->in[2], ctx->out[0]);
  return TRUE;
}

const VnOp vn_op_where_9 = {
  .domain = "", .type = "Where", .since = 9,
  .min_inputs = 3, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_MOVABLE_BITS | VN_DTYPE_BIT (STRING), [2] = VN_MOVABLE_BITS | VN_DTYPE_BIT (STRING) },
  .dtypes = VN_DTYPE_BIT (BOOL),
  .stand_ins = VN_STAND_IN_STRINGS | VN_STAND_IN_PACKED,
  .family = VN_FAMILY_SHAPE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_GENERIC, TRUE),
  .infer = where_infer,
  .run = where_run,
};
