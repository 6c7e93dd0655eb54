/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The ends of what convolutions write, found while it is in registers. Ends are three vectors: the least and the greatest result
 * of each channel, and what is NaN as soon as one of them is not finite. */

#include "vn-blocked-private.h"
#include "vn-op-kernel.h"

#include <math.h>

G_BEGIN_DECLS

#define VN_BLOCKED_ENDS_VECTORS 3

#if defined (__x86_64__)

#include <immintrin.h>

/* Of two operands of which one is NaN the processor takes the second. */
#define VN_LEAST_16(Vector, a, b) ((Vector) _mm512_min_ps ((__m512) (a), (__m512) (b)))
#define VN_LEAST_8(Vector, a, b) ((Vector) _mm256_min_ps ((__m256) (a), (__m256) (b)))
#define VN_GREATEST_16(Vector, a, b) ((Vector) _mm512_max_ps ((__m512) (a), (__m512) (b)))
#define VN_GREATEST_8(Vector, a, b) ((Vector) _mm256_max_ps ((__m256) (a), (__m256) (b)))

#endif

/* Widens @ends by @n vectors @result, an expression of p. */
#define VN_BLOCKED_WIDEN(lanes, Vector, ends, n, result)              \
  {                                                                   \
    Vector *vectors_ = (Vector *) (ends);                             \
    Vector least_ = vectors_[0], greatest_ = vectors_[1], odd_ = vectors_[2]; \
                                                                      \
    _Pragma ("GCC unroll 14")                                         \
    for (int p = 0; p < n; p++)                                       \
      {                                                               \
        least_ = VN_LEAST_##lanes (Vector, result, least_);           \
        greatest_ = VN_GREATEST_##lanes (Vector, result, greatest_);  \
        odd_ += (result) * 0.f;                                       \
      }                                                               \
    vectors_[0] = least_;                                             \
    vectors_[1] = greatest_;                                          \
    vectors_[2] = odd_;                                               \
  }

/* Of @n blocks of @lanes channels, one after the other. */
static inline void
vn_blocked_ends_init (float *ends,
                      gsize  n,
                      gsize  lanes)
{
  for (gsize i = 0; i < n; i++, ends += VN_BLOCKED_ENDS_VECTORS * lanes)
    for (gsize k = 0; k < lanes; k++)
      {
        ends[k] = INFINITY;
        ends[lanes + k] = -INFINITY;
        ends[2 * lanes + k] = 0;
      }
}

/* Tells of @n blocks, the first of which begins with channel @first; what is beyond @n_channels stands for none. */
static inline void
vn_blocked_ends_tell (VnOpEnds    *to,
                      const float *ends,
                      gsize        n,
                      gsize        lanes,
                      gsize        first,
                      gsize        n_channels)
{
  for (gsize i = 0; i < n && first < n_channels; i++, first += lanes, ends += VN_BLOCKED_ENDS_VECTORS * lanes)
    {
      const gsize n_here = MIN (lanes, n_channels - first);
      gboolean odd = FALSE;

      for (gsize k = 0; k < n_here; k++)
        odd |= ends[2 * lanes + k] != 0;   /* NaN is not 0 either */
      vn_op_ends_widen (to, first, n_here, ends, ends + lanes, odd);
    }
}

G_END_DECLS
