/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Matrix products of any layout, with packing of their own. */

#include "vn-op-kernel.h"

G_BEGIN_DECLS

void vn_gemm             (gsize        m,
                          gsize        n,
                          gsize        k,
                          const float *a,
                          gsize        lda,
                          const float *b,
                          gsize        ldb,
                          float       *c,
                          gsize        ldc);
void vn_gemm_general     (gboolean     trans_a,
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
                          gsize        ldc);
void vn_gemm_general_f64 (gboolean      trans_a,
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
                          gsize         ldc);

G_END_DECLS
