/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Operators that work on blocks of channels, for the table of them. */

#include "vn-blocked-tile.h"
#include "vn-blocked.h"
#include "vn-conv.h"

G_BEGIN_DECLS

/* Their `infer` sees the shapes as the graph has them, sets scratch_bytes, and fails where the operator is not for
 * this node; in `run` only ctx->in and ctx->out are blocked. */
extern const VnOp vn_op_blocked_conv;
extern const VnOp vn_op_blocked_depthwise;
extern const VnOp vn_op_blocked_max_pool;
extern const VnOp vn_op_blocked_average_pool;
extern const VnOp vn_op_blocked_global_average_pool;

/**
 * VnBlockedWeight: a weight in the order in which convolutions of blocked data read it.
 * @weights: by pairs of blocks of output channels: depth x 2 x lanes; an odd last block depth x lanes
 * @bias: n_blocks x lanes
 */
typedef struct
{
  gsize    lanes, channels, n_blocks, depth;
  float   *weights, *bias;
  gpointer memory;
} VnBlockedWeight;

VnBlockedWeight *vn_blocked_weight_new   (const VnTensor     *w,
                                          const VnTensor     *b,
                                          gsize               lanes,
                                          gsize               together,
                                          GError            **error);
void             vn_blocked_weight_free  (VnBlockedWeight    *self);
void             vn_blocked_finish       (const VnEpilogue   *epilogue,
                                          gsize               lanes,
                                          gsize               first_channel,
                                          gsize               n_channels,
                                          float              *y,
                                          gsize               n_pixels);
const float     *vn_blocked_take_sum     (VnEpilogue         *epilogue);
void             vn_blocked_take_clamp   (VnEpilogue         *epilogue,
                                          float              *low,
                                          float              *high);

gboolean         vn_blocked_run_max      (VnOpContext        *ctx,
                                          GError            **error);

static inline gsize
vn_blocked_count (gsize channels,
                  gsize lanes)
{
  return (channels + lanes - 1) / lanes;
}

G_END_DECLS
