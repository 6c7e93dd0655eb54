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

/**
 * VnBlockedBands: the lines of all planes, cut into items for threads. Each item has @lines lines of one plane. With several
 * threads the upper part of all planes comes first, as in convolutions: who computes a part of the picture has computed the
 * same part before, and finds it in its cache.
 */
typedef struct
{
  gsize n_planes, n_lines, lines, n_bands, n_items;
  gboolean by_band;
} VnBlockedBands;

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

void             vn_blocked_bands_init   (VnBlockedBands     *self,
                                          const VnOpContext  *ctx,
                                          gsize               n_planes,
                                          gsize               n_lines,
                                          gsize               lines);
gboolean         vn_blocked_run_max      (VnOpContext        *ctx,
                                          GError            **error);

/* Which plane, and which lines of it. */
static inline void
vn_blocked_bands_find (const VnBlockedBands *self,
                       gsize                 item,
                       gsize                *plane,
                       gint64               *first,
                       gint64               *end)
{
  gsize band = self->by_band ? item / self->n_planes : item % self->n_bands;

  *plane = self->by_band ? item % self->n_planes : item / self->n_bands;
  *first = (gint64) (band * self->lines);
  *end = (gint64) MIN (self->n_lines, (band + 1) * self->lines);
}

static inline gsize
vn_blocked_count (gsize channels,
                  gsize lanes)
{
  return (channels + lanes - 1) / lanes;
}

G_END_DECLS
