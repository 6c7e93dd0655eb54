/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matrix products of any operands and sizes. Runs on the calling thread, so that the order of sums, and with it the
 * results, do not depend on the number of threads. */
#include "vn-gemm-general.h"

#include "vn-gemm.h"

/**
 * vn_gemm:
 *
 * c (m x n) = a (m x k) * b (k x n), all in row order with the given distances between rows.
 */
void
vn_gemm (gsize        m,
         gsize        n,
         gsize        k,
         const float *a,
         gsize        lda,
         const float *b,
         gsize        ldb,
         float       *c,
         gsize        ldc)
{
  vn_gemm_general (FALSE, FALSE, m, n, k, 1.f, a, lda, b, ldb, 0.f, c, ldc);
}

/**
 * vn_gemm_general:
 *
 * c = alpha * op (a) * op (b) + beta * c, where op transposes on demand. c is not read if @beta is 0.
 */
void
vn_gemm_general (gboolean     trans_a,
                 gboolean     trans_b,
                 gsize        m,
                 gsize        n,
                 gsize        k,
                 float        alpha,
                 const float *a,
                 gsize        lda,
                 const float *b,
                 gsize        ldb,
                 float        beta,
                 float       *c,
                 gsize        ldc)
{
  if (m == 0 || n == 0)
    return;
  if (k == 0)
    {
      for (gsize i = 0; i < m; i++)
        for (gsize j = 0; j < n; j++)
          c[i * ldc + j] = beta == 0.f ? 0.f : beta * c[i * ldc + j];
      return;
    }
  vn_gemm_run (vn_gemm_kernel_get (), trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/**
 * vn_gemm_general_f64:
 *
 * As vn_gemm_general(), in float64.
 */
void
vn_gemm_general_f64 (gboolean      trans_a,
                     gboolean      trans_b,
                     gsize         m,
                     gsize         n,
                     gsize         k,
                     double        alpha,
                     const double *a,
                     gsize         lda,
                     const double *b,
                     gsize         ldb,
                     double        beta,
                     double       *c,
                     gsize         ldc)
{
  if (m == 0 || n == 0)
    return;
  if (k == 0)
    {
      for (gsize i = 0; i < m; i++)
        for (gsize j = 0; j < n; j++)
          c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
      return;
    }
  vn_gemm_run_f64 (trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
