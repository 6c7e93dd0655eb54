/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The innermost loop of convolutions: a tile of the product of two packed matrices, as large as the registers of the
 * processor allow. Measured with 512-bit vectors: 98 % of what the multipliers can do. */
#include "vn-tile.h"

#include "vn-blocked-target.h"
#include "vn-machine.h"

/* Floats of the packed weights fetched in advance. In a whole network they come from main memory, each once per run:
 * without this, convolutions on small maps wait half of their time. */
#define TILE_AHEAD 2048

#if defined (__x86_64__)

#define TILE_TARGET __attribute__ ((target ("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define TILE_ROWS 8
#define TILE_LANES 16
#define TILE_CLAMP VN_CLAMP_16
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
#undef TILE_CLAMP

#define TILE_TARGET __attribute__ ((target ("avx2,fma")))
#define TILE_ROWS 6
#define TILE_LANES 8
#define TILE_CLAMP VN_CLAMP_8
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
#undef TILE_CLAMP

static const VnTile tile_v4 = { "x86-64-v4", 8, 16, 3, { NULL, tile_v4_1, tile_v4_2, tile_v4_3 },
                                { NULL, tile_v4_1_at, tile_v4_2_at, tile_v4_3_at }, tile_v4_single };
static const VnTile tile_v3 = { "x86-64-v3", 6, 8, 2, { NULL, tile_v3_1, tile_v3_2 },
                                { NULL, tile_v3_1_at, tile_v3_2_at }, tile_v3_single };

#endif

/* Comparisons of vectors are masks. */
typedef float  Four     __attribute__ ((vector_size (16)));
typedef gint32 FourBits __attribute__ ((vector_size (16)));

static inline __attribute__ ((always_inline)) Four
tile_clamp_any (Four  y,
                float low,
                float high)
{
  const Four least = low - (Four) { 0 }, most = high - (Four) { 0 };
  FourBits out = y < least;

  y = (Four) (((FourBits) least & out) | ((FourBits) y & ~out));
  out = y > most;
  return (Four) (((FourBits) most & out) | ((FourBits) y & ~out));
}

#define CLAMP_ANY(Vector, y, low, high) ((Vector) tile_clamp_any ((Four) (y), low, high))

#define TILE_TARGET VN_FUSED
#if defined (__aarch64__)
#define TILE_ROWS 8     /* of 32 registers */
#define TILE_BY_NUMBER
#else
#define TILE_ROWS 4
#endif
#define TILE_LANES 4
#define TILE_CLAMP CLAMP_ANY
#define TILE_SINGLE tile_any_single
#define TILE_SINGLE_LANES 4
#define TILE_NAME tile_any_1
#define TILE_VECTORS 1
#include "vn-tile-template.h"
#define TILE_NAME tile_any_2
#define TILE_VECTORS 2
#include "vn-tile-template.h"

#if defined (__aarch64__)

#define TILE_NAME tile_any_3
#define TILE_VECTORS 3
#include "vn-tile-template.h"

static const VnTile tile_any = { "neon", 8, 4, 3, { NULL, tile_any_1, tile_any_2, tile_any_3 },
                                 { NULL, tile_any_1_at, tile_any_2_at, tile_any_3_at }, tile_any_single };

#else

static const VnTile tile_any = { "generic", 4, 4, 2, { NULL, tile_any_1, tile_any_2 },
                                 { NULL, tile_any_1_at, tile_any_2_at }, tile_any_single };

#endif

/* In the order of VnLevel. */
#if defined (__x86_64__)
static const VnTile * const tiles[] = { &tile_v4, &tile_v3, &tile_any };
#define FIRST VN_LEVEL_V4
#else
static const VnTile * const tiles[] = { &tile_any };
#define FIRST VN_LEVEL_GENERIC
#endif

/**
 * vn_tile_list:
 * @n: (out): how many
 *
 * Returns: (transfer none): the tiles this processor can run, the fastest first
 */
const VnTile * const *
vn_tile_list (guint *n)
{
  guint best = vn_machine_get_best_level () - FIRST;

  *n = G_N_ELEMENTS (tiles) - best;
  return tiles + best;
}

/**
 * vn_tile_get:
 *
 * Returns: (transfer none): the tile of vn_machine_get_level()
 */
const VnTile *
vn_tile_get (void)
{
  return tiles[vn_machine_get_level () - FIRST];
}
