/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The innermost loop of convolutions: a tile of the product of two packed matrices, as large as the registers of the
 * processor allow. Measured with 512-bit vectors: 98 % of what the multipliers can do. */
#include "vn-tile.h"

/* Floats of the packed weights fetched in advance. In a whole network they come from main memory, each once per run:
 * without this, convolutions on small maps wait half of their time. */
#define TILE_AHEAD 2048

#if defined (__x86_64__)

#define TILE_TARGET __attribute__ ((target ("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define TILE_ROWS 8
#define TILE_LANES 16
#define TILE_SINGLE tile_v4_single
#define TILE_SINGLE_LANES 8
#define TILE_NAME tile_v4_1
#define TILE_VECTORS 1
#include "vn-tile-template.h"
#define TILE_NAME tile_v4_2
#define TILE_VECTORS 2
#include "vn-tile-template.h"
#define TILE_NAME tile_v4_3
#define TILE_VECTORS 3
#include "vn-tile-template.h"
#undef TILE_TARGET
#undef TILE_ROWS
#undef TILE_LANES

#define TILE_TARGET __attribute__ ((target ("avx2,fma")))
#define TILE_ROWS 6
#define TILE_LANES 8
#define TILE_SINGLE tile_v3_single
#define TILE_SINGLE_LANES 8
#define TILE_NAME tile_v3_1
#define TILE_VECTORS 1
#include "vn-tile-template.h"
#define TILE_NAME tile_v3_2
#define TILE_VECTORS 2
#include "vn-tile-template.h"
#undef TILE_TARGET
#undef TILE_ROWS
#undef TILE_LANES

static const VnTile tile_v4 = { "x86-64-v4", 8, 16, 3, { NULL, tile_v4_1, tile_v4_2, tile_v4_3 },
                                { NULL, tile_v4_1_at, tile_v4_2_at, tile_v4_3_at }, tile_v4_single };
static const VnTile tile_v3 = { "x86-64-v3", 6, 8, 2, { NULL, tile_v3_1, tile_v3_2 },
                                { NULL, tile_v3_1_at, tile_v3_2_at }, tile_v3_single };

#endif

#define TILE_TARGET
#define TILE_ROWS 4
#define TILE_LANES 4
#define TILE_SINGLE tile_any_single
#define TILE_SINGLE_LANES 4
#define TILE_NAME tile_any_1
#define TILE_VECTORS 1
#include "vn-tile-template.h"
#define TILE_NAME tile_any_2
#define TILE_VECTORS 2
#include "vn-tile-template.h"

static const VnTile tile_any = { "generic", 4, 4, 2, { NULL, tile_any_1, tile_any_2 },
                                 { NULL, tile_any_1_at, tile_any_2_at }, tile_any_single };

/**
 * vn_tile_list:
 * @n: (out): how many
 *
 * Returns: (transfer none): the tiles this processor can run, the fastest first
 */
const VnTile * const *
vn_tile_list (guint *n)
{
#if defined (__x86_64__)
  static const VnTile * const tiles[] = { &tile_v4, &tile_v3, &tile_any };
  guint first = 2;

  if (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma"))
    first = 1;
  if (first == 1 && __builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw") &&
      __builtin_cpu_supports ("avx512dq") && __builtin_cpu_supports ("avx512vl"))
    first = 0;
  *n = G_N_ELEMENTS (tiles) - first;
  return tiles + first;
#else
  static const VnTile * const tiles[] = { &tile_any };

  *n = 1;
  return tiles;
#endif
}

static const VnTile *
choose_tile (void)
{
  const char *wanted = g_getenv ("VN_INSTRUCTION_SET");
  guint n;
  const VnTile * const *tiles = vn_tile_list (&n);

  for (guint i = 0; i < n; i++)
    if (g_strcmp0 (wanted, tiles[i]->name) == 0)
      return tiles[i];
  return tiles[0];
}

/**
 * vn_tile_get:
 *
 * Returns: (transfer none): the fastest tile of this processor, or the one the environment variable
 *   VN_INSTRUCTION_SET names, as tests do, if this processor can run it
 */
const VnTile *
vn_tile_get (void)
{
  static gsize tile;

  if (g_once_init_enter (&tile))
    g_once_init_leave (&tile, (gsize) choose_tile ());
  return (const VnTile *) tile;
}
