/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The innermost loop of convolutions that write blocks of channels: each vector of weights meets one float of each
 * pixel of the tile. There is a function for every number of pixels, so that the lines of small maps need no
 * remainder. */
#include "vn-blocked-ends.h"
#include "vn-blocked-target.h"

#include "vn-machine.h"

/* Floats of the weights fetched in advance where vectors have 16 lanes, as vn-tile.c does. */
#define AHEAD 1024

#define PIXELS_AND_VECTORS(pixels, vectors)                                                   \
  _Pragma ("GCC unroll 14")                                                                   \
  for (int p = 0; p < pixels; p++)                                                            \
    _Pragma ("GCC unroll 3")                                                                  \
    for (int v = 0; v < vectors; v++)

/* How pixels lie: so many floats apart, or at addresses of their own. */
#define READ_1(p, offset)   x[(p) + (offset)]
#define READ_8(p, offset)   x[(p) * 8 + (offset)]
#define READ_16(p, offset)  x[(p) * 16 + (offset)]
#define READ_at(p, offset)  pixel[p][offset]
#define APART_1 1
#define APART_8 8
#define APART_16 16
#define APART_at 0

/* Product @k behind @offsets and @w. @keep: what is read is kept in a register. */
#define STEP(lanes, vectors, step, pixels, k, keep)                                           \
  {                                                                                           \
    const gsize offset = offsets[k];                                                          \
    Vector row[vectors];                                                                      \
                                                                                              \
    _Pragma ("GCC unroll 3")                                                                  \
    for (int v = 0; v < vectors; v++)                                                         \
      {                                                                                       \
        row[v] = ((const Vector *) w)[k * vectors + v];                                       \
        keep (row[v]);                                                                        \
        if (lanes == 16)            /* a line of the cache */                                  \
          __builtin_prefetch (w + AHEAD + (k * vectors + v) * lanes);                         \
      }                                                                                       \
    _Pragma ("GCC unroll 14")                                                                 \
    for (int p = 0; p < pixels; p++)                                                          \
      {                                                                                       \
        Vector one = READ_##step (p, offset) - (Vector) { 0 };                                \
                                                                                              \
        _Pragma ("GCC unroll 3")                                                              \
        for (int v = 0; v < vectors; v++)                                                     \
          VN_ADD_PRODUCT_##lanes (sum[p][v], row[v], one);                                    \
      }                                                                                       \
  }
#define KEEP_NOT(vector)

/* What the next tile reads, in lines of the cache; planes are read in order, which processors foresee. */
#define FETCH_NEXT_1(pixels)
#define FETCH_NEXT_8(pixels)                                                                  \
  _Pragma ("GCC unroll 6")                                                                    \
  for (int i = 0; i < (pixels + 1) / 2; i++)                                                  \
    __builtin_prefetch (x + offsets[0] + pixels * 8 + i * 16);
#define FETCH_NEXT_at(pixels)                                                                 \
  _Pragma ("GCC unroll 6")                                                                    \
  for (int i = 0; i < (pixels + 1) / 2; i++)                                                  \
    __builtin_prefetch (pixel[pixels - 1] + offsets[0] + 8 + i * 16);

/* Processors with vectors of 8 have fewer instructions to spare beside a product: four of them share what a loop costs. The
 * compiler must not begin one before the last is done, or registers would not suffice. */
#define FOUR_STEPS_16(vectors, step, pixels)
#define FOUR_STEPS_8(vectors, step, pixels)                                                   \
  for (; offsets + 4 <= end; offsets += 4, w += 4 * vectors * 8, ahead += line)               \
    {                                                                                         \
      __builtin_prefetch (ahead, 0, 2);                                                       \
      FETCH_NEXT_##step (pixels)                                                              \
      STEP (8, vectors, step, pixels, 0, VN_KEEP_IN_REGISTER)                                 \
      __asm__ volatile ("" ::: "memory");                                                     \
      STEP (8, vectors, step, pixels, 1, VN_KEEP_IN_REGISTER)                                 \
      __asm__ volatile ("" ::: "memory");                                                     \
      STEP (8, vectors, step, pixels, 2, VN_KEEP_IN_REGISTER)                                 \
      __asm__ volatile ("" ::: "memory");                                                     \
      STEP (8, vectors, step, pixels, 3, VN_KEEP_IN_REGISTER)                                 \
      __asm__ volatile ("" ::: "memory");                                                     \
    }

#define DEFINE_TILE(name, target, lanes, vectors, step, pixels)                               \
  target static void                                                                          \
  name##_##vectors##_##step##_##pixels (VnBlockedArea *area)                                  \
  {                                                                                           \
    typedef float Vector __attribute__ ((vector_size (lanes * sizeof (float)), aligned (4), may_alias)); \
    const float *x = area->x, *more = area->sum, *ahead = area->ahead;                        \
    const float *pixel[VN_BLOCKED_MAX_ACROSS];                                                \
    const float low = area->low, high = area->high;                                           \
    const gsize block = area->block, *end = area->offsets + area->depth;                      \
    float *y = area->y;                                                                       \
                                                                                              \
    for (int p = 0; p < pixels && APART_##step == 0; p++)                                     \
      pixel[p] = area->places[p];                                                             \
    for (gsize n = area->n; n > 0; n--, x += pixels * APART_##step, y += pixels * lanes)      \
      {                                                                                       \
        const gsize *offsets = area->offsets, line = ahead < area->ahead_end ? 16 : 0;        \
        const float *w = area->weights;                                                       \
        Vector sum[pixels][vectors];                                                          \
                                                                                              \
        PIXELS_AND_VECTORS (pixels, vectors)                                                  \
          sum[p][v] = ((const Vector *) area->bias)[v];                                       \
        FOUR_STEPS_##lanes (vectors, step, pixels)                                            \
        for (; offsets < end; offsets++, w += vectors * lanes)                                \
          STEP (lanes, vectors, step, pixels, 0, KEEP_NOT)                                    \
        if (area->factors != NULL)                                                            \
          PIXELS_AND_VECTORS (pixels, vectors)                                                \
            sum[p][v] = sum[p][v] * ((const Vector *) area->factors)[v] + ((const Vector *) area->shifts)[v]; \
        if (more != NULL)                                                                     \
          {                                                                                   \
            PIXELS_AND_VECTORS (pixels, vectors)                                              \
              sum[p][v] += ((const Vector *) (more + v * block))[p];                          \
            more += pixels * lanes;                                                           \
          }                                                                                   \
        if (area->ends != NULL)                                                               \
          _Pragma ("GCC unroll 3")                                                            \
          for (int v = 0; v < vectors; v++)                                                   \
            VN_BLOCKED_WIDEN (lanes, Vector, area->ends + v * VN_BLOCKED_ENDS_VECTORS * lanes, pixels, sum[p][v]) \
        PIXELS_AND_VECTORS (pixels, vectors)                                                  \
          ((Vector *) (y + v * block))[p] = VN_CLAMP_##lanes (Vector, sum[p][v], low, high);  \
        (void) line;                                                                          \
      }                                                                                       \
    (void) x;                                                                                 \
    (void) pixel;                                                                             \
    area->ahead = ahead;                                                                      \
  }

#define DEFINE_SINGLE(name, target, lanes, vectors)                                           \
  target static void                                                                          \
  name##_single_##vectors (VnBlockedArea *area)                                         \
  {                                                                                           \
    typedef float Vector __attribute__ ((vector_size (lanes * sizeof (float)), aligned (4), may_alias)); \
    const float *w = area->weights;                                                           \
    gsize k = 0;                                                                              \
    Vector sum[4][vectors] = { 0 };                                                           \
                                                                                              \
    for (; k + 4 <= area->depth; k += 4, w += 4 * vectors * lanes)                            \
      _Pragma ("GCC unroll 4")                                                                \
      for (int j = 0; j < 4; j++)                                                             \
        _Pragma ("GCC unroll 3")                                                              \
        for (int v = 0; v < vectors; v++)                                                     \
          sum[j][v] += ((const Vector *) w)[j * vectors + v] * area->x[area->offsets[k + j]]; \
    for (; k < area->depth; k++, w += vectors * lanes)                                        \
      for (int v = 0; v < vectors; v++)                                                       \
        sum[0][v] += ((const Vector *) w)[v] * area->x[area->offsets[k]];                     \
    for (int v = 0; v < vectors; v++)                                                         \
      {                                                                                       \
        float *y = area->y + v * area->block;                                                 \
                                                                                              \
        sum[0][v] = ((sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v])) +                     \
                    ((const Vector *) area->bias)[v];                                         \
        if (area->factors != NULL)                                                            \
          sum[0][v] = sum[0][v] * ((const Vector *) area->factors)[v] + ((const Vector *) area->shifts)[v]; \
        if (area->sum != NULL)                                                                \
          sum[0][v] += *(const Vector *) (area->sum + v * area->block);                       \
        if (area->ends != NULL)                                                               \
          VN_BLOCKED_WIDEN (lanes, Vector, area->ends + v * VN_BLOCKED_ENDS_VECTORS * lanes, 1, sum[0][v]) \
        *(Vector *) y = VN_CLAMP_##lanes (Vector, sum[0][v], area->low, area->high);             \
      }                                                                                       \
  }

#define DEFINE_4(name, target, lanes, vectors, step)                                          \
  DEFINE_TILE (name, target, lanes, vectors, step, 1)                                         \
  DEFINE_TILE (name, target, lanes, vectors, step, 2)                                         \
  DEFINE_TILE (name, target, lanes, vectors, step, 3)                                         \
  DEFINE_TILE (name, target, lanes, vectors, step, 4)

#define DEFINE_6(name, target, lanes, vectors, step)                                          \
  DEFINE_4 (name, target, lanes, vectors, step)                                               \
  DEFINE_TILE (name, target, lanes, vectors, step, 5)                                         \
  DEFINE_TILE (name, target, lanes, vectors, step, 6)

#define DEFINE_12(name, target, lanes, vectors, step)                                         \
  DEFINE_6 (name, target, lanes, vectors, step)                                               \
  DEFINE_TILE (name, target, lanes, vectors, step, 7)                                         \
  DEFINE_TILE (name, target, lanes, vectors, step, 8)                                         \
  DEFINE_TILE (name, target, lanes, vectors, step, 9)                                         \
  DEFINE_TILE (name, target, lanes, vectors, step, 10)                                        \
  DEFINE_TILE (name, target, lanes, vectors, step, 11)                                        \
  DEFINE_TILE (name, target, lanes, vectors, step, 12)

#define DEFINE_14(name, target, lanes, vectors, step)                                         \
  DEFINE_12 (name, target, lanes, vectors, step)                                              \
  DEFINE_TILE (name, target, lanes, vectors, step, 13)                                        \
  DEFINE_TILE (name, target, lanes, vectors, step, 14)

#define FUNCS_4(prefix) \
  NULL, prefix##_1, prefix##_2, prefix##_3, prefix##_4
#define FUNCS_6(prefix) \
  FUNCS_4 (prefix), prefix##_5, prefix##_6
#define FUNCS_12(prefix) \
  FUNCS_6 (prefix), prefix##_7, prefix##_8, prefix##_9, prefix##_10, prefix##_11, prefix##_12
#define FUNCS_14(prefix) \
  FUNCS_12 (prefix), prefix##_13, prefix##_14

#if defined (__x86_64__)

DEFINE_14 (v4, VN_TARGET_16, 16, 1, 1)
DEFINE_14 (v4, VN_TARGET_16, 16, 1, 16)
DEFINE_14 (v4, VN_TARGET_16, 16, 2, 1)
DEFINE_14 (v4, VN_TARGET_16, 16, 2, 16)
DEFINE_SINGLE (v4, VN_TARGET_16, 16, 1)
DEFINE_SINGLE (v4, VN_TARGET_16, 16, 2)

static const VnBlockedTile tile_v4 = {
  16, 2, FALSE, { 14, 14 },
  { { { FUNCS_14 (v4_1_1) }, { FUNCS_14 (v4_1_16) } }, { { FUNCS_14 (v4_2_1) }, { FUNCS_14 (v4_2_16) } } },
  { v4_single_1, v4_single_2 }, { { NULL } }
};

DEFINE_12 (v3, VN_TARGET_8, 8, 1, 1)
DEFINE_12 (v3, VN_TARGET_8, 8, 1, 8)
DEFINE_6 (v3, VN_TARGET_8, 8, 2, 1)
DEFINE_6 (v3, VN_TARGET_8, 8, 2, 8)
DEFINE_6 (v3, VN_TARGET_8, 8, 2, at)
DEFINE_SINGLE (v3, VN_TARGET_8, 8, 1)
DEFINE_4 (v3, VN_TARGET_8, 8, 3, 1)
DEFINE_4 (v3, VN_TARGET_8, 8, 3, 8)
DEFINE_4 (v3, VN_TARGET_8, 8, 3, at)
DEFINE_SINGLE (v3, VN_TARGET_8, 8, 2)
DEFINE_SINGLE (v3, VN_TARGET_8, 8, 3)

static const VnBlockedTile tile_v3 = {
  8, 3, TRUE, { 12, 6, 4 },
  { { { FUNCS_12 (v3_1_1) }, { FUNCS_12 (v3_1_8) } }, { { FUNCS_6 (v3_2_1) }, { FUNCS_6 (v3_2_8) } },
    { { FUNCS_4 (v3_3_1) }, { FUNCS_4 (v3_3_8) } } },
  { v3_single_1, v3_single_2, v3_single_3 }, { { NULL }, { FUNCS_6 (v3_2_at) }, { FUNCS_4 (v3_3_at) } }
};

#endif

/**
 * vn_blocked_tile_get:
 *
 * Returns: (transfer none) (nullable): the tile of vn_machine_get_level(); %NULL: with few registers, or without a
 *   multiplication that adds, blocks of channels are not worth it
 */
const VnBlockedTile *
vn_blocked_tile_get (void)
{
#if defined (__x86_64__)
  switch (vn_machine_get_level ())
    {
    case VN_LEVEL_V4:
      return &tile_v4;
    case VN_LEVEL_V3:
      return &tile_v3;
    default:
      break;
    }
#endif
  return NULL;
}
