/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-op-private.h"

G_BEGIN_DECLS

/* Vectors of 16 floats: one register or several, as the instruction set has them. For functions that are compiled
 * with VN_MULTIVERSION. */

#define VN_LANES 16

/* A vector that may lie anywhere and alias floats. */
typedef float  VnLanes      __attribute__ ((vector_size (VN_LANES * sizeof (float)), aligned (4), may_alias));
typedef gint32 VnLaneIndex  __attribute__ ((vector_size (VN_LANES * sizeof (gint32))));

/**
 * vn_lanes_copy_every:
 * @stride: every @stride-th float is copied
 * @n: how many
 * @room: floats that may be read from @from on
 * @to: room for @n rounded up to whole vectors; what is stored past the end is 0
 */
VN_INLINE void
vn_lanes_copy_every (const float *from,
                     gint64       stride,
                     gint64       n,
                     gint64       room,
                     float       *to)
{
  const VnLaneIndex lane = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
  gint64 j = 0;

  for (; j < n && room - j * stride >= VN_LANES * stride && stride <= 2; j += VN_LANES)
    {
      VnLanes x = *(const VnLanes *) (from + j * stride);

      if (stride == 2)
        x = __builtin_shufflevector (x, *(const VnLanes *) (from + j * 2 + VN_LANES),
                                     0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
      *(VnLanes *) (to + j) = (VnLanes) ((VnLaneIndex) x & (lane < (gint32) (n - j)));
    }
  for (; j < n; j++)
    to[j] = from[j * stride];
}

/* Four floats that may lie anywhere. */
typedef float VnLanes4 __attribute__ ((vector_size (16), aligned (4), may_alias));

/**
 * vn_lanes_turn:
 *
 * Columns of four vectors of four floats that lie @step apart become vectors that lie @to_step apart.
 */
VN_INLINE void
vn_lanes_turn (const float *from,
               gsize        step,
               float       *to,
               gsize        to_step)
{
  VnLanes4 a = *(const VnLanes4 *) from, b = *(const VnLanes4 *) (from + step);
  VnLanes4 c = *(const VnLanes4 *) (from + 2 * step), d = *(const VnLanes4 *) (from + 3 * step);
  VnLanes4 ac = __builtin_shufflevector (a, c, 0, 4, 1, 5), ac2 = __builtin_shufflevector (a, c, 2, 6, 3, 7);
  VnLanes4 bd = __builtin_shufflevector (b, d, 0, 4, 1, 5), bd2 = __builtin_shufflevector (b, d, 2, 6, 3, 7);

  *(VnLanes4 *) to = __builtin_shufflevector (ac, bd, 0, 4, 1, 5);
  *(VnLanes4 *) (to + to_step) = __builtin_shufflevector (ac, bd, 2, 6, 3, 7);
  *(VnLanes4 *) (to + 2 * to_step) = __builtin_shufflevector (ac2, bd2, 0, 4, 1, 5);
  *(VnLanes4 *) (to + 3 * to_step) = __builtin_shufflevector (ac2, bd2, 2, 6, 3, 7);
}

G_END_DECLS
