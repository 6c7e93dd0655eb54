/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define VN_GEMM_MAX_ROWS 8
#define VN_GEMM_MAX_COLUMNS 48
#define VN_GEMM_MAX_VECTORS 3

/**
 * VnGemmTile: where the operands of one tile of a product lie; all distances in elements.
 * @depth: products in one sum; they are added in order, so that a sum may be continued by a further call
 * @a: element (row, k) at row * @a_row + k * @a_step
 * @b: row k of whole vectors at k * @b_step
 * @c: row i at i * @c_step
 * @ahead: what the next tiles will read: brought into the second cache on the way
 * @add: c is continued, not overwritten
 */
typedef struct
{
  gsize        depth;
  const float *a;
  gsize        a_row, a_step;
  const float *b;
  gsize        b_step;
  float       *c;
  gsize        c_step;
  const float *ahead;
  gboolean     add;
} VnGemmTile;

typedef void (*VnGemmTileFunc) (const VnGemmTile *tile);

/**
 * VnGemmKernel: the innermost loop of matrix products for one instruction set.
 * @rows, @vectors: of the largest tile
 * @lanes: floats in a vector
 * @run: by number of rows and of vectors, each from 1 on
 */
typedef struct
{
  const char     *name;
  guint           rows, lanes, vectors;
  VnGemmTileFunc  run[VN_GEMM_MAX_ROWS + 1][VN_GEMM_MAX_VECTORS + 1];
} VnGemmKernel;

const VnGemmKernel         *vn_gemm_kernel_get  (void);
const VnGemmKernel * const *vn_gemm_kernel_list (guint *n);

G_END_DECLS
