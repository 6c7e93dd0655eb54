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
 * @together: blocks that are computed at a time at most: 1, 2, or 3 in place of a pair and one that is left
 * @weights: by panels, which are blocks of output channels that are computed at a time: depth x blocks x lanes
 * @bias: n_blocks x lanes
 */
typedef struct
{
  gsize    lanes, together, channels, n_blocks, depth;
  float   *weights, *bias;
  gpointer memory;
} VnBlockedWeight;

/**
 * VnBlockedScale: what results are multiplied by, and what is then added.
 * @factors, @shifts: n_blocks x lanes; %NULL: there is nothing of that kind
 */
typedef struct
{
  const float *factors, *shifts;
} VnBlockedScale;

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
                                          float              *y,
                                          gsize               n_pixels);
void             vn_blocked_take_scale   (VnEpilogue         *epilogue,
                                          const VnBlockedWeight *weight,
                                          float              *memory,
                                          VnBlockedScale     *scale);
const float     *vn_blocked_take_sum     (VnEpilogue         *epilogue);
void             vn_blocked_take_clamp   (VnEpilogue         *epilogue,
                                          float              *low,
                                          float              *high);

void             vn_blocked_make_block   (const float        *from,
                                          gsize               size,
                                          gsize               channels,
                                          gsize               lanes,
                                          gsize               n,
                                          float              *to);

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

/* All panels but the last have as many blocks as this. */
static inline gsize
vn_blocked_weight_get_step (const VnBlockedWeight *self)
{
  return MIN (self->together, 2);
}

static inline gsize
vn_blocked_weight_count_panels (const VnBlockedWeight *self)
{
  const gsize step = vn_blocked_weight_get_step (self);

  return self->together > step && self->n_blocks > step ? self->n_blocks / step : vn_blocked_count (self->n_blocks, step);
}

/* Blocks of a panel, the first of which is panel x step. */
static inline gsize
vn_blocked_weight_count_blocks (const VnBlockedWeight *self,
                                gsize                  panel)
{
  const gsize step = vn_blocked_weight_get_step (self);

  return panel + 1 < vn_blocked_weight_count_panels (self) ? step : self->n_blocks - panel * step;
}

G_END_DECLS
