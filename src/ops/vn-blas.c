/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The only place that calls BLAS: for float64, and on processors our own loops have no vectors for. Elsewhere they
 * are as fast as an OpenBLAS that knows the processor, and several times as fast as one that does not. Threads are
 * ours: BLAS itself runs on the calling thread, or the order of its sums, and with it the results, would depend on
 * their number. */
#include "vn-blas.h"

#include "vn-gemm.h"

#include <cblas.h>

static void
blas_init (void)
{
  static gsize once;

  if (g_once_init_enter (&once))
    {
      openblas_set_num_threads (1);
      g_once_init_leave (&once, 1);
    }
}

/**
 * vn_blas_gemm:
 *
 * c (m x n) = a (m x k) * b (k x n), all in row order with the given distances between rows.
 */
void
vn_blas_gemm (gsize        m,
              gsize        n,
              gsize        k,
              const float *a,
              gsize        lda,
              const float *b,
              gsize        ldb,
              float       *c,
              gsize        ldc)
{
  vn_blas_gemm_general (FALSE, FALSE, m, n, k, 1.f, a, lda, b, ldb, 0.f, c, ldc);
}

/**
 * vn_blas_gemm_general:
 *
 * c = alpha * op (a) * op (b) + beta * c, where op transposes on demand. c is not read if @beta is 0.
 */
void
vn_blas_gemm_general (gboolean     trans_a,
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
  const VnGemmKernel *kernel = vn_gemm_kernel_get ();

  if (m == 0 || n == 0)
    return;
  if (k == 0)
    {
      for (gsize i = 0; i < m; i++)
        for (gsize j = 0; j < n; j++)
          c[i * ldc + j] = beta == 0.f ? 0.f : beta * c[i * ldc + j];
      return;
    }
  if (kernel->lanes > 4)
    {
      vn_gemm_run (kernel, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
      return;
    }
  blas_init ();
  cblas_sgemm (CblasRowMajor, trans_a ? CblasTrans : CblasNoTrans, trans_b ? CblasTrans : CblasNoTrans,
               (blasint) m, (blasint) n, (blasint) k, alpha, a, (blasint) lda, b, (blasint) ldb, beta, c,
               (blasint) ldc);
}

/**
 * vn_blas_gemm_f64:
 *
 * As vn_blas_gemm_general(), in float64.
 */
void
vn_blas_gemm_f64 (gboolean      trans_a,
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
  blas_init ();
  cblas_dgemm (CblasRowMajor, trans_a ? CblasTrans : CblasNoTrans, trans_b ? CblasTrans : CblasNoTrans,
               (blasint) m, (blasint) n, (blasint) k, alpha, a, (blasint) lda, b, (blasint) ldb, beta, c,
               (blasint) ldc);
}

/**
 * vn_blas_get_core:
 *
 * Returns: (transfer none): the processor the library has chosen its loops for
 */
const char *
vn_blas_get_core (void)
{
  return openblas_get_corename ();
}
