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

G_END_DECLS
