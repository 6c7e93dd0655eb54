/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnTileFunc: c (rows x columns) = bias + a * b, clamped, for one tile that stays in registers.
 * @depth: products in one sum, added in this order whatever the number of vectors
 * @a: depth x rows, packed
 * @b: depth x columns, packed
 * @bias: one number per row
 * @low, @high: the clamp; -INFINITY, INFINITY: none. NaN stays NaN.
 * @c: rows at a distance of @pitch
 */
typedef void (*VnTileFunc) (gsize        depth,
                            const float *a,
                            const float *b,
                            const float *bias,
                            float        low,
                            float        high,
                            float       *c,
                            gsize        pitch);

/**
 * VnTileAtFunc: the same sums in the same order, of columns that were not packed.
 * @b: for each vector of columns where it starts
 * @offsets: for each of @depth products, where its row lies behind that
 */
typedef void (*VnTileAtFunc) (gsize               depth,
                              const float        *a,
                              const float *const *b,
                              const gsize        *offsets,
                              const float        *bias,
                              float               low,
                              float               high,
                              float              *c,
                              gsize               pitch);

/* One column of such a tile; rows of b are @b_pitch apart. */
typedef void (*VnTileSingleFunc) (gsize        depth,
                                  const float *a,
                                  const float *b,
                                  gsize        b_pitch,
                                  const float *bias,
                                  float        low,
                                  float        high,
                                  float       *c,
                                  gsize        pitch);

#define VN_TILE_MAX_ROWS 8
#define VN_TILE_MAX_COLUMNS 48
#define VN_TILE_MAX_VECTORS 3
#define VN_TILE_MAX_SINGLE 2   /* so few columns are faster one by one than as a vector */

/* How many columns at the end of @n are computed one by one. The same with tiles of any number of columns, of which
 * VN_TILE_MAX_COLUMNS is a multiple: these sums are added in another order, and must not depend on the instruction set. */
static inline gsize
vn_tile_count_single (gsize n)
{
  gsize rest = n % VN_TILE_MAX_COLUMNS;

  return rest <= VN_TILE_MAX_SINGLE ? rest : 0;
}

/**
 * VnTile: the innermost loop of a matrix product for one instruction set.
 * @lanes: floats in a vector
 * @run, @run_at: by number of vectors in a row of the tile, 1 .. @max_vectors
 * @run_single: adds in another order; may read up to 8 floats past the end of a
 */
typedef struct
{
  const char *name;
  guint       rows, lanes, max_vectors;
  VnTileFunc  run[VN_TILE_MAX_VECTORS + 1];
  VnTileAtFunc run_at[VN_TILE_MAX_VECTORS + 1];
  VnTileSingleFunc run_single;
} VnTile;

const VnTile         *vn_tile_get  (void);
const VnTile * const *vn_tile_list (guint *n);

G_END_DECLS
