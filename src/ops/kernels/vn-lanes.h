/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-op-kernel.h"

G_BEGIN_DECLS

/* Moving 16 floats at a time. For functions that are compiled with VN_MULTIVERSION. */

#define VN_LANES 16

/* Vectors that may lie anywhere and alias floats. Not wider: compilers take vectors that an instruction set does not have to
 * pieces, number by number. */
typedef float VnLanes4 __attribute__ ((vector_size (16), aligned (4), may_alias));
typedef float VnLanes8 __attribute__ ((vector_size (32), aligned (4), may_alias));

/* VN_LANES floats. */
VN_INLINE void
vn_lanes_move (const float *from,
               float       *to)
{
  VnLanes8 low = *(const VnLanes8 *) from, high = *(const VnLanes8 *) (from + 8);

  *(VnLanes8 *) to = low;
  *(VnLanes8 *) (to + 8) = high;
}

/* Every second of eight floats. */
VN_INLINE void
vn_lanes_copy_half (const float *from,
                    float       *to)
{
  *(VnLanes4 *) to = __builtin_shufflevector (*(const VnLanes4 *) from, *(const VnLanes4 *) (from + 4), 0, 2, 4, 6);
}

/**
 * vn_lanes_copy_every:
 * @stride: every @stride-th float is copied
 * @n: how many
 * @room: floats that may be read from @from on
 */
VN_INLINE void
vn_lanes_copy_every (const float *from,
                     gint64       stride,
                     gint64       n,
                     gint64       room,
                     float       *to)
{
  gint64 j = 0;

  if (stride == 1)
    {
      for (; j + VN_LANES <= n; j += VN_LANES)
        vn_lanes_move (from + j, to + j);
      for (; j + 4 <= n; j += 4)
        *(VnLanes4 *) (to + j) = *(const VnLanes4 *) (from + j);
    }
  else if (stride == 2)
    {
      for (; j + VN_LANES <= n && (j + VN_LANES) * 2 <= room; j += VN_LANES)
        for (int k = 0; k < VN_LANES; k += 4)
          vn_lanes_copy_half (from + 2 * (j + k), to + j + k);
      for (; j + 4 <= n && (j + 4) * 2 <= room; j += 4)
        vn_lanes_copy_half (from + 2 * j, to + j);
    }
  for (; j < n; j++)
    to[j] = from[j * stride];
}

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
