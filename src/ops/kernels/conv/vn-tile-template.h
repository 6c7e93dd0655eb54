/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Included several times by vn-tile.c with TILE_NAME, TILE_ROWS, TILE_LANES, TILE_VECTORS, TILE_TARGET and TILE_CLAMP. The loops
 * over rows and vectors are unrolled, so that `sum` lives in registers. There are two of each size: with packed pixels,
 * and, _at, with pixels where they lie. With TILE_SINGLE and TILE_SINGLE_LANES also
 * the function for one column. With TILE_BY_NUMBER weights are read as vectors, of which the processor multiplies by each number:
 * TILE_LANES divides TILE_ROWS. */

#define TILE_PASTE_(a, b) a##b
#define TILE_PASTE(a, b) TILE_PASTE_ (a, b)
#define TILE_LANES_TYPE TILE_PASTE (TILE_NAME, _lanes)
#define TILE_BODY TILE_PASTE (TILE_NAME, _body)

/* A vector that may lie anywhere and alias floats. */
typedef float TILE_LANES_TYPE __attribute__ ((vector_size (TILE_LANES * sizeof (float)), aligned (4), may_alias));

/* Vector j of step k: at b[j] + offsets[k], without offsets at b[0] + (k * TILE_VECTORS + j) * TILE_LANES. */
TILE_TARGET
static inline __attribute__ ((always_inline)) void
TILE_BODY (gsize               depth,
           const float        *a,
           const float *const *b,
           const gsize        *offsets,
           const float        *bias,
           float               low,
           float               high,
           float              *c,
           gsize               pitch)
{
  TILE_LANES_TYPE sum[TILE_ROWS][TILE_VECTORS];
  const float *at[TILE_VECTORS];

#pragma GCC unroll 4
  for (int j = 0; j < TILE_VECTORS; j++)
    at[j] = offsets != NULL ? b[j] : b[0] + j * TILE_LANES;

#pragma GCC unroll 8
  for (int i = 0; i < TILE_ROWS; i++)
#pragma GCC unroll 4
    for (int j = 0; j < TILE_VECTORS; j++)
      sum[i][j] = bias[i] - (TILE_LANES_TYPE) { 0 };
  for (; depth > 0; depth--, a += TILE_ROWS)
    {
      gsize offset = offsets != NULL ? *offsets++ : 0;
      TILE_LANES_TYPE x[TILE_VECTORS];

      __builtin_prefetch (a + TILE_AHEAD);
#pragma GCC unroll 4
      for (int j = 0; j < TILE_VECTORS; j++)
        x[j] = *(const TILE_LANES_TYPE *) (at[j] + offset);
#pragma GCC unroll 4
      for (int j = 0; j < TILE_VECTORS && offsets == NULL; j++)
        at[j] += TILE_VECTORS * TILE_LANES;
#ifdef TILE_BY_NUMBER
      TILE_LANES_TYPE rows[TILE_ROWS / TILE_LANES];

#pragma GCC unroll 2
      for (int i = 0; i < TILE_ROWS / TILE_LANES; i++)
        {
          rows[i] = *(const TILE_LANES_TYPE *) (a + i * TILE_LANES);
          VN_KEEP_IN_REGISTER (rows[i]);
        }
#endif
#pragma GCC unroll 8
      for (int i = 0; i < TILE_ROWS; i++)
        {
#ifdef TILE_BY_NUMBER
          TILE_LANES_TYPE w = rows[i / TILE_LANES][i % TILE_LANES] - (TILE_LANES_TYPE) { 0 };
#else
          TILE_LANES_TYPE w = a[i] - (TILE_LANES_TYPE) { 0 };
#endif

#pragma GCC unroll 4
          for (int j = 0; j < TILE_VECTORS; j++)
            sum[i][j] += w * x[j];
        }
    }
#pragma GCC unroll 8
  for (int i = 0; i < TILE_ROWS; i++, c += pitch)
#pragma GCC unroll 4
    for (int j = 0; j < TILE_VECTORS; j++)
      *(TILE_LANES_TYPE *) (c + j * TILE_LANES) = TILE_CLAMP (TILE_LANES_TYPE, sum[i][j], low, high);
}

TILE_TARGET
static void
TILE_NAME (gsize        depth,
           const float *a,
           const float *b,
           const float *bias,
           float        low,
           float        high,
           float       *c,
           gsize        pitch)
{
  TILE_BODY (depth, a, &b, NULL, bias, low, high, c, pitch);
}

TILE_TARGET
static void
TILE_PASTE (TILE_NAME, _at) (gsize               depth,
                             const float        *a,
                             const float *const *b,
                             const gsize        *offsets,
                             const float        *bias,
                             float               low,
                             float               high,
                             float              *c,
                             gsize               pitch)
{
  TILE_BODY (depth, a, b, offsets, bias, low, high, c, pitch);
}

#ifdef TILE_SINGLE

#define TILE_ROWS_TYPE TILE_PASTE (TILE_SINGLE, _rows)

typedef float TILE_ROWS_TYPE __attribute__ ((vector_size (TILE_SINGLE_LANES * sizeof (float)), aligned (4), may_alias));

/* Four sums at a time: one alone would wait for itself at every step. */
TILE_TARGET
static void
TILE_SINGLE (gsize        depth,
             const float *a,
             const float *b,
             gsize        b_pitch,
             const float *bias,
             float        low,
             float        high,
             float       *c,
             gsize        pitch)
{
  enum { VECTORS = (TILE_ROWS + TILE_SINGLE_LANES - 1) / TILE_SINGLE_LANES };
  TILE_ROWS_TYPE sum[4][VECTORS] = { { { 0 } } };

  for (; depth >= 4; depth -= 4, a += 4 * TILE_ROWS, b += 4 * b_pitch)
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++)
#pragma GCC unroll 2
      for (int v = 0; v < VECTORS; v++)
        sum[j][v] += ((const TILE_ROWS_TYPE *) (a + j * TILE_ROWS))[v] * b[j * b_pitch];
  for (; depth > 0; depth--, a += TILE_ROWS, b += b_pitch)
#pragma GCC unroll 2
    for (int v = 0; v < VECTORS; v++)
      sum[0][v] += ((const TILE_ROWS_TYPE *) a)[v] * b[0];
#pragma GCC unroll 2
  for (int v = 0; v < VECTORS; v++)
    sum[0][v] = (sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v]);
  for (int i = 0; i < TILE_ROWS; i++)
    {
      float y = sum[0][i / TILE_SINGLE_LANES][i % TILE_SINGLE_LANES] + bias[i];

      y = y < low ? low : y;
      c[i * pitch] = y > high ? high : y;
    }
}

#undef TILE_ROWS_TYPE
#undef TILE_SINGLE
#undef TILE_SINGLE_LANES

#endif

#undef TILE_LANES_TYPE
#undef TILE_BODY
#undef TILE_PASTE
#undef TILE_PASTE_
#undef TILE_NAME
#undef TILE_VECTORS
