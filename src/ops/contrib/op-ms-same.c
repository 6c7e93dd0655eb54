/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators of ONNX Runtime's own domain that compute what an operator of ONNX does: mostly they were there first. */
#include "vn-elem.h"

static const struct
{
  const VnOp *own, *standard;
  gint64      opset;
} table[] = {
  { &vn_op_ms_expand_dims, &vn_op_unsqueeze_1, 13 },
  { &vn_op_ms_gather_nd, &vn_op_gather_nd_11, 12 },
  { &vn_op_ms_grid_sample, &vn_op_grid_sample_16, 16 },
  { &vn_op_ms_pad, &vn_op_pad_1, 13 },
  { &vn_op_ms_range, &vn_op_range_11, 11 },
  { &vn_op_ms_transpose_matmul, &vn_op_ms_fused_matmul, 1 },
  { &vn_op_ms_trilu, &vn_op_trilu_14, 14 },
};

static VnOpContext
ms_same_as_standard (const VnOpContext *ctx)
{
  VnOpContext inner = *ctx;

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (table[i].own == ctx->op)
      {
        inner.op = table[i].standard;
        inner.opset = table[i].opset;
      }
  return inner;
}

static gboolean
same_infer (VnOpContext *ctx,
            GError     **error)
{
  VnOpContext inner = ms_same_as_standard (ctx);
  gboolean ok = inner.op->infer (&inner, error);

  ctx->scratch_bytes = inner.scratch_bytes;
  return ok;
}

static gboolean
same_run (VnOpContext *ctx,
          GError     **error)
{
  VnOpContext inner = ms_same_as_standard (ctx);

  return inner.op->run (&inner, error);
}

#define SAME(variable, name, least, most, types, alike, replaced, group)         \
  const VnOp variable = {                                                        \
    .domain = "com.microsoft", .type = name, .since = 1,                         \
    .min_inputs = least, .max_inputs = most, .min_outputs = 1, .max_outputs = 1, \
    .dtypes = types,                                                             \
    .same_dtype = alike,                                                         \
    .stand_ins = replaced,                                                       \
    .family = group,                                                             \
    .infer = same_infer,                                                         \
    .run = same_run,                                                             \
  };

SAME (vn_op_ms_expand_dims, "ExpandDims", 2, 2, VN_MOVABLE_BITS, 0, VN_STAND_IN_STRINGS, VN_FAMILY_SHAPE)
SAME (vn_op_ms_gather_nd, "GatherND", 2, 2, VN_MOVABLE_BITS, 0, VN_STAND_IN_STRINGS, VN_FAMILY_SHAPE)
SAME (vn_op_ms_grid_sample, "GridSample", 2, 2, VN_MOVABLE_BITS, 0, VN_STAND_IN_STRINGS, VN_FAMILY_POOL_NORM)
SAME (vn_op_ms_pad, "Pad", 2, 3, VN_MOVABLE_BITS, 1u << 2, VN_STAND_IN_STRINGS, VN_FAMILY_SHAPE)
SAME (vn_op_ms_range, "Range", 3, 3, VN_FLOAT_BITS | VN_DTYPE_BIT (S16) | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64),
      1u << 1 | 1u << 2, 0, VN_FAMILY_SHAPE)
SAME (vn_op_ms_transpose_matmul, "TransposeMatMul", 2, 2, VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64), 1u << 1,
      VN_STAND_IN_HALVES, VN_FAMILY_COMPUTE)
SAME (vn_op_ms_trilu, "Trilu", 1, 2, VN_MOVABLE_BITS, 0, 0, VN_FAMILY_SHAPE)
