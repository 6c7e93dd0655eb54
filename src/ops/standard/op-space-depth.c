/* SPDX-License-Identifier: GPL-3.0-or-later */
/* DepthToSpace, SpaceToDepth: a transposition in six dims.
 * DCR: depth is (block row, block column, channel); CRD: (channel, block row, block column). */
#include "vn-elem.h"

static gboolean
space_depth_get_block (VnOpContext *ctx,
                       gint64      *block,
                       GError     **error)
{
  int rank = ctx->in_types[0].shape.rank;

  *block = vn_node_get_int (ctx->node, "blocksize", 0);
  if (*block < 1 || *block > G_MAXINT16)
    return vn_op_fail (ctx, error, _("%s: blocksize is %lld"), ctx->op->type, (long long) *block);
  if (rank >= 0 && rank != 4)
    return vn_op_fail (ctx, error, _("%s: the input must have 4 dims, found %d"), ctx->op->type, rank);
  return TRUE;
}

static gboolean
space_depth_divide_dim (VnOpContext  *ctx,
                        VnShape      *shape,
                        int           d,
                        gint64        by,
                        GError      **error)
{
  if (shape->dims[d] < 0)
    {
      shape->dims[d] = vn_dims_floor_div (vn_op_get_dims (ctx, shape->dims[d]), shape->dims[d], by);
      return TRUE;
    }
  if (shape->dims[d] % by != 0)
    return vn_op_fail (ctx, error, _("%s: dim %d of %lld is not a multiple of %lld"),
                       ctx->op->type, d, (long long) shape->dims[d], (long long) by);
  shape->dims[d] /= by;
  return TRUE;
}

static gboolean
space_depth_multiply_dim (VnOpContext  *ctx,
                          VnShape      *shape,
                          int           d,
                          gint64        by,
                          GError      **error)
{
  if (shape->dims[d] < 0)
    shape->dims[d] = vn_dims_mul (vn_op_get_dims (ctx, shape->dims[d]), shape->dims[d], by);
  else if (!vn_checked_mul_s64 (shape->dims[d], by, &shape->dims[d]))
    return vn_op_fail (ctx, error, _("%s: dim %d of %lld is too large"), ctx->op->type, d, (long long) shape->dims[d]);
  return TRUE;
}

static gboolean
depth_to_space_infer (VnOpContext *ctx,
                      GError     **error)
{
  VnShape out = ctx->in_types[0].shape;
  gint64 b;

  if (!space_depth_get_block (ctx, &b, error))
    return FALSE;
  if (out.rank == 4 && (!space_depth_divide_dim (ctx, &out, 1, b * b, error) ||
                        !space_depth_multiply_dim (ctx, &out, 2, b, error) ||
                        !space_depth_multiply_dim (ctx, &out, 3, b, error)))
    return FALSE;
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

static gboolean
space_to_depth_infer (VnOpContext *ctx,
                      GError     **error)
{
  VnShape out = ctx->in_types[0].shape;
  gint64 b;

  if (!space_depth_get_block (ctx, &b, error))
    return FALSE;
  if (out.rank == 4 && (!space_depth_multiply_dim (ctx, &out, 1, b * b, error) ||
                        !space_depth_divide_dim (ctx, &out, 2, b, error) ||
                        !space_depth_divide_dim (ctx, &out, 3, b, error)))
    return FALSE;
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

/* Between a flat picture [N, C, H b, W b] and its deep form [N, C b b, H, W]. */
static void
space_depth_rearrange (VnOpContext   *ctx,
                       gint64         b,
                       const VnShape *deep,
                       gboolean       to_deep,
                       gboolean       channel_first)
{
  gint64 n = deep->dims[0], c = deep->dims[1] / (b * b), h = deep->dims[2], w = deep->dims[3], hw = h * w;
  gint64 channel = channel_first ? b * b * hw : hw, row = channel_first ? b * hw : b * c * hw;
  gint64 column = channel_first ? hw : c * hw;
  /* length, stride in the flat picture, stride in the deep one */
  const gint64 dims[6][3] = {
    { n, c * h * b * w * b, c * b * b * hw }, { c, h * b * w * b, channel }, { h, b * w * b, w },
    { b, w * b, row }, { w, b, 1 }, { b, 1, column },
  };
  VnCopy copy = { 0 };

  for (guint i = 0; i < 6; i++)
    vn_copy_add_dim (&copy, dims[i][0], dims[i][to_deep ? 2 : 1], dims[i][to_deep ? 1 : 2]);
  vn_copy_run (&copy, vn_elem_size (ctx->in[0]->dtype), ctx->out[0]->data, ctx->in[0]->data);
}

static gboolean
depth_to_space_run (VnOpContext *ctx,
                    GError     **error)
{
  static const char * const modes[] = { "DCR", "CRD", NULL };
  guint mode = vn_op_attr_choice (ctx, "mode", "DCR", modes, error);
  gint64 b;

  if (mode == G_MAXUINT || !vn_op_check_movable (ctx, error) || !space_depth_get_block (ctx, &b, error))
    return FALSE;
  space_depth_rearrange (ctx, b, &ctx->in[0]->shape, FALSE, mode == 1);
  return TRUE;
}

static gboolean
space_to_depth_run (VnOpContext *ctx,
                    GError     **error)
{
  gint64 b;

  if (!vn_op_check_movable (ctx, error) || !space_depth_get_block (ctx, &b, error))
    return FALSE;
  space_depth_rearrange (ctx, b, &ctx->out[0]->shape, TRUE, FALSE);
  return TRUE;
}

#define SPACE_DEPTH(variable, name, infer_func, run_func)                       \
  const VnOp variable = {                                                       \
    .domain = "", .type = name, .since = 1,                                     \
    .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,       \
    .dtypes = VN_MOVABLE_BITS,                                                  \
    .stand_ins = VN_STAND_IN_STRINGS | VN_STAND_IN_PACKED,                      \
    .family = VN_FAMILY_SHAPE,                                                  \
    .quant = VN_QUANT_TRAITS (VN_QUANT_PASSTHROUGH, FALSE),                     \
    .infer = infer_func,                                                        \
    .run = run_func,                                                            \
  };

SPACE_DEPTH (vn_op_depth_to_space_1, "DepthToSpace", depth_to_space_infer, depth_to_space_run)
SPACE_DEPTH (vn_op_space_to_depth_1, "SpaceToDepth", space_to_depth_infer, space_to_depth_run)
