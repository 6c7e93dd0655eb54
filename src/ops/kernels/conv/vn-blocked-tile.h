/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define VN_BLOCKED_MAX_PIXELS 14
#define VN_BLOCKED_MAX_LANES 16
#define VN_BLOCKED_MAX_ACROSS 6
#define VN_BLOCKED_MAX_TOGETHER 3

/**
 * VnBlockedArea: what tiles of a convolution read and write; they have a vector of lanes for each pixel and block.
 * @depth: products in one sum, added in this order to the bias
 * @weights: depth x vectors x lanes
 * @bias: vectors x lanes
 * @factors, @shifts: (nullable): vectors x lanes that sums are multiplied by, and that are added then
 * @x: where the first pixel is read
 * @offsets: for each product, how far behind that
 * @y: first pixel of the first block; that of the second is @block floats behind
 * @sum: (nullable): then added to the results before they are clamped; laid out as @y
 * @low, @high: the clamp; -INFINITY, INFINITY: none. NaN stays NaN.
 * @ends: (nullable): by block, of the results before they are clamped: vn-blocked-ends.h
 * @n: tiles, one after the other
 * @ahead, @ahead_end: weights that are needed afterwards, and have not been fetched into a cache yet; moved on by the loop
 * @places: where each pixel of a tile is read, in place of @x: for `run_across`
 */
typedef struct
{
  gsize        depth;
  const float *weights, *bias, *factors, *shifts, *x;
  const gsize *offsets;
  float       *y;
  const float *sum;
  gsize        block;
  float        low, high;
  float       *ends;
  gsize        n;
  const float *ahead, *ahead_end;
  const float *places[VN_BLOCKED_MAX_ACROSS];
} VnBlockedArea;

typedef void (*VnBlockedFunc) (VnBlockedArea *area);

/**
 * VnBlockedTile: the innermost loop of convolutions that write blocks of channels, for one instruction set.
 * @lanes: channels in a block: floats in a vector
 * @together: blocks that are computed at a time at most: pairs, or three in place of a pair and one that is left
 * @gathers: pixels are better read from blocks than from planes, also where these must be brought into blocks first
 * @max_pixels: of a tile, by number of blocks - 1
 * @run: by number of blocks - 1; with pixels one float apart (0) or one block (1); by number of pixels
 * @run_single: by number of blocks - 1: one pixel, its products added as the `run_single` of VnTile adds them
 * @run_across: by number of blocks - 1, and of pixels: one tile of pixels that lie anywhere, as where a line ends and the next
 *   begins; %NULL: there are none
 */
typedef struct
{
  guint         lanes, together;
  gboolean      gathers;
  guint         max_pixels[VN_BLOCKED_MAX_TOGETHER];
  VnBlockedFunc run[VN_BLOCKED_MAX_TOGETHER][2][VN_BLOCKED_MAX_PIXELS + 1];
  VnBlockedFunc run_single[VN_BLOCKED_MAX_TOGETHER];
  VnBlockedFunc run_across[VN_BLOCKED_MAX_TOGETHER][VN_BLOCKED_MAX_ACROSS + 1];
} VnBlockedTile;

const VnBlockedTile *vn_blocked_tile_get (void);

G_END_DECLS
