/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Matrices of numbers of 2, 4 or 8 bits in blocks, and products with them. */

#include "vn-op-kernel.h"

G_BEGIN_DECLS

/* Rows that are unpacked and multiplied at a time. */
#define VN_NBITS_ROWS 32

/* Blocks have at most so many numbers where integers are multiplied: so many products of 9 and 8 bits can be added in 32. */
#define VN_NBITS_LARGEST_BLOCK (1u << 16)

/**
 * VnNbits: @n rows of @k numbers, packed low bits first: (q - zero) * scale.
 * @block: numbers that share a scale; a power of two, or @k
 * @row_bytes: from one row to the next; what fills up the last block may be left out
 * @scales: n x n_blocks
 * @packed_zeros: (nullable): packed like the matrix; without, and without @zeros: half of the range
 * @zero_bytes: of a row of these; 0: one number for each row, packed one after the other
 * @zeros: (nullable): n x n_blocks
 * @groups: (nullable): int32: which block's scale and zero point each number of a row has
 */
typedef struct
{
  gsize           n, k, block, n_blocks, row_bytes, zero_bytes;
  guint           bits;
  const guint8   *packed;
  const float    *scales;
  const guint8   *packed_zeros;
  const float    *zeros;
  const VnTensor *groups;
} VnNbits;

/**
 * VnNbitsCall: y (m x n, @ldy from one row to the next) = a * transposed matrix + bias.
 * @unpacked: for each worker vn_nbits_count_worker_bytes()
 * @steps: (nullable): where each block of a row of @a is rounded to integers first: room for m x n_blocks ...
 * @rounded: ... and for m x n_blocks * block
 */
typedef struct
{
  const VnOpContext *ctx;
  VnNbits            matrix;
  const float       *a, *bias;
  float             *y;
  gsize              m, ldy;
  gpointer           unpacked;
  float             *steps;
  gint16            *rounded;
} VnNbitsCall;

gsize vn_nbits_count_worker_bytes (const VnNbits     *self);
void  vn_nbits_unpack_row         (const VnNbits     *self,
                                   gsize              row,
                                   float             *to);
void  vn_nbits_multiply           (const VnNbitsCall *self);

G_END_DECLS
