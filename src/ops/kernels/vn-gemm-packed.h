/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-epilogue.h"
#include "vn-gemm.h"
#include "vn-spill.h"

G_BEGIN_DECLS

/**
 * VnGemmPacked: a constant right operand in the order in which the innermost loop reads it: blocks of as many columns
 * as a tile has, each depth x columns; the last one is filled up with zeros to whole vectors.
 * @spill: (nullable): what @blocks are in, if not in memory
 * @n_counted: bytes of them in memory
 */
typedef struct
{
  const VnGemmKernel *kernel;
  gsize               depth, columns, n_blocks;
  float              *blocks;
  VnSpill            *spill;
  gsize               n_counted;
} VnGemmPacked;

/**
 * VnGemmCall: y (rows x columns) = epilogue (op (a) * b + beta * added).
 * @a_step, @depth_step: distances in a from one row, and one product, to the next
 * @added: (nullable): with @added_row and @added_column as distances (0: broadcast)
 * @epilogue: (nullable): nothing in it by row; its base is @y
 */
typedef struct
{
  const float      *a;
  gsize             rows, a_step, depth_step;
  const float      *added;
  gsize             added_row, added_column;
  float             beta;
  const VnEpilogue *epilogue;
  float            *y;
} VnGemmCall;

VnGemmPacked *vn_gemm_packed_new  (const VnGemmKernel *kernel,
                                   const float        *b,
                                   gsize               depth,
                                   gsize               columns,
                                   gboolean            transposed,
                                   float               alpha,
                                   GError            **error);
void          vn_gemm_packed_free (VnGemmPacked       *self);
void          vn_gemm_packed_run  (const VnGemmPacked *self,
                                   const VnOpContext  *ctx,
                                   const VnGemmCall   *call);

G_END_DECLS
