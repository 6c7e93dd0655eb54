/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The innermost loop of matrix products. Unlike the tile of convolutions it reads the left operand where it lies, with
 * any strides, and has a function for every height: products with few rows are as frequent as tall ones. */
#include "vn-gemm-kernel.h"

#include "vn-machine.h"
#include "vn-multiversion.h"

/* Floats of the right operand that are fetched in advance into the first cache. */
#define NEAR 384

/* The loops over rows and vectors are unrolled, so that `sum` lives in registers. */
#define ROWS_AND_VECTORS(rows, vectors)                                                       \
  _Pragma ("GCC unroll 8")                                                                    \
  for (int i = 0; i < rows; i++)                                                              \
    _Pragma ("GCC unroll 4")                                                                  \
    for (int j = 0; j < vectors; j++)

#define STEP(rows, vectors)                                                                   \
  {                                                                                           \
    Vector x[vectors];                                                                        \
                                                                                              \
    _Pragma ("GCC unroll 4")                                                                  \
    for (int j = 0; j < vectors; j++)                                                         \
      {                                                                                       \
        x[j] = ((const Vector *) b)[j];                                                       \
        __builtin_prefetch (b + NEAR + j * 16);                                               \
      }                                                                                       \
    _Pragma ("GCC unroll 8")                                                                  \
    for (int i = 0; i < rows; i++)                                                            \
      {                                                                                       \
        Vector w = a[i * a_row] - (Vector) { 0 };                                             \
                                                                                              \
        _Pragma ("GCC unroll 4")                                                              \
        for (int j = 0; j < vectors; j++)                                                     \
          sum[i][j] += w * x[j];                                                              \
      }                                                                                       \
    a += a_step;                                                                              \
    b += b_step;                                                                              \
  }

/* AArch64 multiplies by each number of a vector: where those of a row lie side by side, four steps read it once. */
#if defined (__aarch64__)

#define STEP_BY_NUMBER(rows, vectors, number)                                                 \
  {                                                                                           \
    Vector x[vectors];                                                                        \
                                                                                              \
    _Pragma ("GCC unroll 4")                                                                  \
    for (int j = 0; j < vectors; j++)                                                         \
      x[j] = ((const Vector *) b)[j];                                                         \
    _Pragma ("GCC unroll 8")                                                                  \
    for (int i = 0; i < rows; i++)                                                            \
      {                                                                                       \
        Vector one = w[i][number] - (Vector) { 0 };                                           \
                                                                                              \
        _Pragma ("GCC unroll 4")                                                              \
        for (int j = 0; j < vectors; j++)                                                     \
          sum[i][j] += one * x[j];                                                            \
      }                                                                                       \
    b += b_step;                                                                              \
  }

#define FOUR_STEPS(rows, vectors)                                                             \
    for (; depth >= 4 && a_step == 1; depth -= 4, ahead += 16, a += 4)                         \
      {                                                                                       \
        Vector w[rows];                                                                       \
                                                                                              \
        __builtin_prefetch (ahead, 0, 2);                                                     \
        _Pragma ("GCC unroll 4")                                                              \
        for (int j = 0; j < vectors; j++)                                                     \
          __builtin_prefetch (b + NEAR + j * 16);                                             \
        _Pragma ("GCC unroll 8")                                                              \
        for (int i = 0; i < rows; i++)                                                        \
          {                                                                                   \
            w[i] = *(const Vector *) (a + i * a_row);                                         \
            __asm__ ("" : "+w" (w[i]));    /* not number by number after all */                \
          }                                                                                   \
        STEP_BY_NUMBER (rows, vectors, 0)                                                     \
        STEP_BY_NUMBER (rows, vectors, 1)                                                     \
        STEP_BY_NUMBER (rows, vectors, 2)                                                     \
        STEP_BY_NUMBER (rows, vectors, 3)                                                     \
      }
#else
#define FOUR_STEPS(rows, vectors)
#endif

#define DEFINE_TILE(name, target, rows, lanes, vectors)                                       \
  target static void                                                                          \
  name##_##rows##_##vectors (const VnGemmTile *tile)                                          \
  {                                                                                           \
    typedef float Vector __attribute__ ((vector_size (lanes * sizeof (float)), aligned (4), may_alias)); \
    gsize a_row = tile->a_row, a_step = tile->a_step, b_step = tile->b_step, depth = tile->depth; \
    const float *a = tile->a, *b = tile->b, *ahead = tile->ahead;                             \
    Vector sum[rows][vectors];                                                                \
                                                                                              \
    if (tile->add)                                                                            \
      ROWS_AND_VECTORS (rows, vectors)                                                        \
        sum[i][j] = ((const Vector *) (tile->c + i * tile->c_step))[j];                       \
    else                                                                                      \
      ROWS_AND_VECTORS (rows, vectors)                                                        \
        sum[i][j] = (Vector) { 0 };                                                           \
    FOUR_STEPS (rows, vectors)                                                                \
    for (; depth >= 4; depth -= 4, ahead += 16)                                               \
      {                                                                                       \
        __builtin_prefetch (ahead, 0, 2);                                                     \
        STEP (rows, vectors)                                                                  \
        STEP (rows, vectors)                                                                  \
        STEP (rows, vectors)                                                                  \
        STEP (rows, vectors)                                                                  \
      }                                                                                       \
    for (; depth > 0; depth--)                                                                \
      STEP (rows, vectors)                                                                    \
    ROWS_AND_VECTORS (rows, vectors)                                                          \
      ((Vector *) (tile->c + i * tile->c_step))[j] = sum[i][j];                               \
  }

#define DEFINE_2(name, target, rows, lanes)                                                   \
  DEFINE_TILE (name, target, rows, lanes, 1)                                                  \
  DEFINE_TILE (name, target, rows, lanes, 2)

#define DEFINE_3(name, target, rows, lanes)                                                   \
  DEFINE_2 (name, target, rows, lanes)                                                        \
  DEFINE_TILE (name, target, rows, lanes, 3)

#define ENTRY_2(name, rows) { NULL, name##_##rows##_1, name##_##rows##_2 }
#define ENTRY_3(name, rows) { NULL, name##_##rows##_1, name##_##rows##_2, name##_##rows##_3 }

#if defined (__x86_64__)

#define V4 __attribute__ ((target ("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma" VN_WIDE_VECTORS)))

DEFINE_3 (v4, V4, 1, 16)
DEFINE_3 (v4, V4, 2, 16)
DEFINE_3 (v4, V4, 3, 16)
DEFINE_3 (v4, V4, 4, 16)
DEFINE_3 (v4, V4, 5, 16)
DEFINE_3 (v4, V4, 6, 16)
DEFINE_3 (v4, V4, 7, 16)
DEFINE_3 (v4, V4, 8, 16)

static const VnGemmKernel kernel_v4 = {
  "x86-64-v4", 8, 16, 3,
  { { NULL }, ENTRY_3 (v4, 1), ENTRY_3 (v4, 2), ENTRY_3 (v4, 3), ENTRY_3 (v4, 4), ENTRY_3 (v4, 5), ENTRY_3 (v4, 6),
    ENTRY_3 (v4, 7), ENTRY_3 (v4, 8) }
};

#define V3 __attribute__ ((target ("avx2,fma")))

DEFINE_2 (v3, V3, 1, 8)
DEFINE_2 (v3, V3, 2, 8)
DEFINE_2 (v3, V3, 3, 8)
DEFINE_2 (v3, V3, 4, 8)
DEFINE_2 (v3, V3, 5, 8)
DEFINE_2 (v3, V3, 6, 8)

static const VnGemmKernel kernel_v3 = {
  "x86-64-v3", 6, 8, 2,
  { { NULL }, ENTRY_2 (v3, 1), ENTRY_2 (v3, 2), ENTRY_2 (v3, 3), ENTRY_2 (v3, 4), ENTRY_2 (v3, 5), ENTRY_2 (v3, 6) }
};

#endif

DEFINE_2 (any, VN_FUSED, 1, 4)
DEFINE_2 (any, VN_FUSED, 2, 4)
DEFINE_2 (any, VN_FUSED, 3, 4)
DEFINE_2 (any, VN_FUSED, 4, 4)

#if defined (__aarch64__)

/* 32 registers */
DEFINE_2 (any, VN_FUSED, 5, 4)
DEFINE_2 (any, VN_FUSED, 6, 4)
DEFINE_2 (any, VN_FUSED, 7, 4)
DEFINE_2 (any, VN_FUSED, 8, 4)

static const VnGemmKernel kernel_any = {
  "neon", 8, 4, 2,
  { { NULL }, ENTRY_2 (any, 1), ENTRY_2 (any, 2), ENTRY_2 (any, 3), ENTRY_2 (any, 4), ENTRY_2 (any, 5), ENTRY_2 (any, 6),
    ENTRY_2 (any, 7), ENTRY_2 (any, 8) }
};

#else

static const VnGemmKernel kernel_any = {
  "generic", 4, 4, 2,
  { { NULL }, ENTRY_2 (any, 1), ENTRY_2 (any, 2), ENTRY_2 (any, 3), ENTRY_2 (any, 4) }
};

#endif

/* In the order of VnLevel. */
#if defined (__x86_64__)
static const VnGemmKernel * const kernels[] = { &kernel_v4, &kernel_v3, &kernel_any };
#define FIRST VN_LEVEL_V4
#else
static const VnGemmKernel * const kernels[] = { &kernel_any };
#define FIRST VN_LEVEL_GENERIC
#endif

/**
 * vn_gemm_kernel_list:
 * @n: (out): how many
 *
 * Returns: (transfer none): the kernels this processor can run, the fastest first
 */
const VnGemmKernel * const *
vn_gemm_kernel_list (guint *n)
{
  guint best = vn_machine_get_best_level () - FIRST;

  *n = G_N_ELEMENTS (kernels) - best;
  return kernels + best;
}

/**
 * vn_gemm_kernel_get:
 *
 * Returns: (transfer none): the kernel of vn_machine_get_level()
 */
const VnGemmKernel *
vn_gemm_kernel_get (void)
{
  return kernels[vn_machine_get_level () - FIRST];
}
