/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Sums over a run of floats. They are kept in 16 lanes that are added up at the end: exact order on every machine
 * and for every number of threads, less error than one running sum, and vector code. */

#include "vn-lanes.h"

G_BEGIN_DECLS

#define VN_REDUCE_LANES 16

/* Runs over blocks are added in double: planes may be large. */
#define VN_REDUCE_BLOCK 4096

#define VN_REDUCE_LOOP(x, n, term)                                           \
  double total = 0;                                                          \
  for (gsize start = 0; start < (n); start += VN_REDUCE_BLOCK)               \
    {                                                                        \
      gsize end = MIN ((n), start + VN_REDUCE_BLOCK), i = start;             \
      float lanes[VN_REDUCE_LANES] = { 0.f };                                \
      for (; i + VN_REDUCE_LANES <= end; i += VN_REDUCE_LANES)               \
        for (int j = 0; j < VN_REDUCE_LANES; j++)                            \
          {                                                                  \
            float v = (x)[i + j];                                            \
            lanes[j] += (term);                                              \
          }                                                                  \
      for (int j = 0; j < VN_REDUCE_LANES; j++)                              \
        total += lanes[j];                                                   \
      for (; i < end; i++)                                                   \
        {                                                                    \
          float v = (x)[i];                                                  \
          total += (term);                                                   \
        }                                                                    \
    }                                                                        \
  return total;

VN_INLINE double
vn_reduce_sum (const float *x,
               gsize        n)
{
  VN_REDUCE_LOOP (x, n, v)
}

/* Of squared distances from @mean. Where compilers make vectors of such a loop, they round products before they add them, and
 * fuse both in the rest: how many that are is up to the instruction set. So all are rounded. */
VN_INLINE double
vn_reduce_square (const float *x,
                  gsize        n,
                  float        mean)
{
  double total = 0;

  for (gsize start = 0; start < n; start += VN_REDUCE_BLOCK)
    {
      gsize end = MIN (n, start + VN_REDUCE_BLOCK), i = start;
      VnLanes4 lanes[VN_REDUCE_LANES / 4] = { { 0.f } };

      for (; i + VN_REDUCE_LANES <= end; i += VN_REDUCE_LANES)
        for (int j = 0; j < VN_REDUCE_LANES / 4; j++)
          {
            VnLanes4 square = *(const VnLanes4 *) (x + i + 4 * j) - mean;

            square *= square;
            VN_ROUND (square);
            lanes[j] += square;
          }
      for (int j = 0; j < VN_REDUCE_LANES; j++)
        total += lanes[j / 4][j % 4];
      for (; i < end; i++)
        {
          float apart = x[i] - mean;

          total += apart * apart;
        }
    }
  return total;
}

/* Mean and sum of squared distances from it, in one pass over memory: blocks that stay in the cache are measured
 * twice and merged by the formula of Chan, Golub and LeVeque (1979). */
VN_INLINE void
vn_reduce_moments (const float *x,
                   gsize        n,
                   double      *mean,
                   double      *squares)
{
  *mean = *squares = 0;
  for (gsize start = 0; start < n; start += VN_REDUCE_BLOCK)
    {
      gsize size = MIN (VN_REDUCE_BLOCK, n - start);
      double block = vn_reduce_sum (x + start, size) / (double) size, apart = block - *mean;

      *squares += vn_reduce_square (x + start, size, (float) block) +
                  apart * apart * (double) start * (double) size / (double) (start + size);
      *mean += apart * (double) size / (double) (start + size);
    }
}

G_END_DECLS
