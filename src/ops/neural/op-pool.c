/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MaxPool, AveragePool, LpPool over 1 to 3 spatial axes. */
#include "vn-pool.h"
#include "vn-sliding-window.h"

static gboolean
pool_infer (VnOpContext *ctx,
            GError     **error)
{
  const VnShape *x = &ctx->in_types[0].shape;
  VnShape y = VN_SHAPE_UNKNOWN;
  VnSlidingWindow win;

  if (x->rank >= 0)
    {
      if (!vn_sliding_window_init_pool (&win, ctx, x, error))
        return FALSE;
      y = *x;
      vn_sliding_window_get_output (&win, &y);
      if (win.in[2] >= 0)
        ctx->scratch_bytes = (gsize) win.in[2] * sizeof (double) * vn_op_max_workers ();
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &y);
  vn_op_set_output (ctx, 1, VN_DTYPE_S64, &y);
  return TRUE;
}

#define OPERATOR(id, type_, since_, outputs, dtypes_, run_, ...)              \
const VnOp vn_op_##id = {                                                     \
  .domain = "", .type = type_, .since = since_,                               \
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = outputs, \
  .dtypes = dtypes_,                                                          \
  .stand_ins = VN_STAND_IN_HALVES,                                            \
  .family = VN_FAMILY_POOL_NORM,                                              \
  .quant = __VA_ARGS__,                                                       \
  .infer = pool_infer,                                                        \
  .run = run_,                                                                \
};

OPERATOR (average_pool_1, "AveragePool", 1, 1, VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64), vn_pool_run_average,
          VN_QUANT_TRAITS (VN_QUANT_PASSTHROUGH, TRUE))
OPERATOR (lp_pool_1, "LpPool", 1, 1, VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64), vn_pool_run_lp,
          VN_QUANT_TRAITS (VN_QUANT_GENERIC, FALSE))
OPERATOR (max_pool_1, "MaxPool", 1, 2,
          VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64) | VN_DTYPE_BIT (S8) | VN_DTYPE_BIT (U8), vn_pool_run_max,
          VN_QUANT_TRAITS (VN_QUANT_PASSTHROUGH, TRUE))
