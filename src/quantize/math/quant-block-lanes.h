/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Blocks side by side in the lanes of vectors, for what is searched for each of them. */

#include "vn-quant-math.h"

G_BEGIN_DECLS

#define LANES 8

/* Rounded before it is added to something: one operation for both would give other bits. */
#ifdef __clang__
#if __has_builtin (__arithmetic_fence)
#define ROUNDED(x) __arithmetic_fence (x)
#else
#define ROUNDED(x) (x)
#endif
#else
#define ROUNDED(x) __builtin_assoc_barrier (x)
#endif

/* What is added to a float below 2^22 and taken away again rounds it, halves to even. */
#define ROUNDING 12582912.f

typedef float  Lanes __attribute__ ((vector_size (LANES * sizeof (float))));
typedef gint32 Mask  __attribute__ ((vector_size (LANES * sizeof (gint32))));

/* Macros: no function may return a vector that an instruction set does not have. */
#define PICK(which, yes, no) ((Lanes) (((which) & (Mask) (yes)) | (~(which) & (Mask) (no))))
#define ALL(x) ((Lanes) { x, x, x, x, x, x, x, x })

void vn_block_lanes_load         (const VnBlockCut *cut,
                                  const float      *x,
                                  gsize             first,
                                  gsize             n_blocks,
                                  gsize             n,
                                  float            *lanes);
void vn_block_lanes_load_weights (const VnBlockCut *cut,
                                  const float      *weights,
                                  gsize             first,
                                  gsize             n_blocks,
                                  gsize             n,
                                  float            *lanes);

G_END_DECLS
