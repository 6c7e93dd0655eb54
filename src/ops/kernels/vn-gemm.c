/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products of matrices that are both known only at run time. A piece of the right operand is packed on the stack: as
 * many columns as a tile has, as deep as the first caches can hold. The left one is read where it lies. */
#include "vn-gemm.h"

#include "vn-op-kernel.h"

#define DEPTH 256
#define FEW_ROWS 16     /* so few rows do not pay for packing */

/**
 * vn_gemm_tiles:
 * @rows: of a and c
 * @columns: of c: at most those of a tile; b has whole vectors of them
 * @first: the topmost tile
 *
 * A strip of c, tile by tile.
 */
void
vn_gemm_tiles (const VnGemmKernel *kernel,
               gsize               rows,
               gsize               columns,
               const VnGemmTile   *first)
{
  float aside[VN_GEMM_MAX_ROWS * VN_GEMM_MAX_COLUMNS];
  gsize vectors = (columns + kernel->lanes - 1) / kernel->lanes, width = vectors * kernel->lanes;
  gsize n_tiles = (rows + kernel->rows - 1) / kernel->rows;
  VnGemmTile tile = *first;
  float *c = first->c;

  for (; n_tiles > 0; n_tiles--)
    {
      gsize height = (rows + n_tiles - 1) / n_tiles;

      if (columns == width)
        {
          tile.c = c;
          kernel->run[height][vectors] (&tile);
        }
      else
        {
          tile.c = aside;
          tile.c_step = width;
          for (gsize i = 0; i < height && tile.add; i++)
            memcpy (aside + i * width, c + i * first->c_step, columns * sizeof (float));
          kernel->run[height][vectors] (&tile);
          for (gsize i = 0; i < height; i++)
            memcpy (c + i * first->c_step, aside + i * width, columns * sizeof (float));
        }
      rows -= height;
      c += height * first->c_step;
      tile.a += height * tile.a_row;
      tile.ahead += tile.depth / 4 * 16;
    }
}

typedef float Four __attribute__ ((vector_size (16), aligned (4), may_alias));

/* 4 x 4 elements; rows of @to are @width apart, rows of @from @pitch. */
VN_INLINE void
transpose_4 (const float *from,
             gsize        pitch,
             float        alpha,
             float       *to,
             gsize        width)
{
  Four r[4], a, b, c, d;

  for (int i = 0; i < 4; i++)
    r[i] = alpha * *(const Four *) (from + i * pitch);
  a = __builtin_shufflevector (r[0], r[1], 0, 4, 1, 5);
  b = __builtin_shufflevector (r[0], r[1], 2, 6, 3, 7);
  c = __builtin_shufflevector (r[2], r[3], 0, 4, 1, 5);
  d = __builtin_shufflevector (r[2], r[3], 2, 6, 3, 7);
  *(Four *) to = __builtin_shufflevector (a, c, 0, 1, 4, 5);
  *(Four *) (to + width) = __builtin_shufflevector (a, c, 2, 3, 6, 7);
  *(Four *) (to + 2 * width) = __builtin_shufflevector (b, d, 0, 1, 4, 5);
  *(Four *) (to + 3 * width) = __builtin_shufflevector (b, d, 2, 3, 6, 7);
}

static void
gemm_pack_transposed (const float *b,
                      gsize        ldb,
                      float        alpha,
                      gsize        depth,
                      gsize        columns,
                      gsize        width,
                      float       *to)
{
  gsize whole = columns & ~(gsize) 3, deep = depth & ~(gsize) 3;

  for (gsize j = 0; j < whole; j += 4)
    for (gsize k = 0; k < deep; k += 4)
      transpose_4 (b + j * ldb + k, ldb, alpha, to + k * width + j, width);
  for (gsize j = 0; j < columns; j++)
    for (gsize k = j < whole ? deep : 0; k < depth; k++)
      to[k * width + j] = alpha * b[j * ldb + k];
}

VN_MULTIVERSION
static void
gemm_pack (const float *b,
           gsize        ldb,
           gboolean     transposed,
           float        alpha,
           gsize        depth,
           gsize        columns,
           gsize        width,
           float       *to)
{
  for (gsize k = 0; k < depth && columns < width; k++)
    memset (to + k * width + columns, 0, (width - columns) * sizeof (float));
  if (transposed)
    gemm_pack_transposed (b, ldb, alpha, depth, columns, width, to);
  else
    for (gsize k = 0; k < depth; k++)
      for (gsize j = 0; j < columns; j++)
        to[k * width + j] = alpha * b[k * ldb + j];
}

/**
 * vn_gemm_pack:
 * @b: depth x columns, or columns x depth if @transposed, rows @ldb apart
 * @width: of the result, which is filled up with zeros
 *
 * Brings a strip of the right operand, times @alpha, into the order in which tiles read it.
 */
void
vn_gemm_pack (const float *b,
              gsize        ldb,
              gboolean     transposed,
              float        alpha,
              gsize        depth,
              gsize        columns,
              gsize        width,
              float       *to)
{
  gemm_pack (b, ldb, transposed, alpha, depth, columns, width, to);
}

static void
gemm_scale (float *c,
            gsize  ldc,
            gsize  m,
            gsize  n,
            float  beta)
{
  for (gsize i = 0; i < m; i++)
    for (gsize j = 0; j < n; j++)
      c[i * ldc + j] *= beta;
}

/**
 * vn_gemm_run:
 *
 * c = alpha * op (a) * op (b) + beta * c as vn_gemm_general(); no size may be 0.
 */
void
vn_gemm_run (const VnGemmKernel *kernel,
             gboolean            trans_a,
             gboolean            trans_b,
             gsize               m,
             gsize               n,
             gsize               k,
             float               alpha,
             const float        *a,
             gsize               lda,
             const float        *b,
             gsize               ldb,
             float               beta,
             float              *c,
             gsize               ldc)
{
  float packed[DEPTH * VN_GEMM_MAX_COLUMNS] __attribute__ ((aligned (64)));
  gsize strip = kernel->lanes * kernel->vectors;
  VnGemmTile tile = { .a_row = trans_a ? 1 : lda, .a_step = trans_a ? lda : 1, .c_step = ldc };

  if (beta != 0.f && beta != 1.f)
    gemm_scale (c, ldc, m, n, beta);
  for (gsize first = 0; first < n; first += strip)
    {
      gsize columns = MIN (strip, n - first), width = (columns + kernel->lanes - 1) / kernel->lanes * kernel->lanes;
      gboolean direct = !trans_b && alpha == 1.f && m < FEW_ROWS && columns == width;

      for (gsize done = 0; done < k; done += tile.depth)
        {
          const float *from = b + (trans_b ? first * ldb + done : done * ldb + first);

          tile.depth = MIN (DEPTH, k - done);
          if (!direct)
            vn_gemm_pack (from, ldb, trans_b, alpha, tile.depth, columns, width, packed);
          tile.a = a + done * tile.a_step;
          tile.b = tile.ahead = direct ? from : packed;
          tile.b_step = direct ? ldb : width;
          tile.c = c + first;
          tile.add = done > 0 || beta != 0.f;
          vn_gemm_tiles (kernel, m, columns, &tile);
        }
    }
}
