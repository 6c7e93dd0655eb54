/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Matrix products by tiles: packing, and the loops around the kernels. */

#include "vn-gemm-kernel.h"

G_BEGIN_DECLS

void vn_gemm_tiles (const VnGemmKernel *kernel,
                    gsize               rows,
                    gsize               columns,
                    const VnGemmTile   *first);
void vn_gemm_pack  (const float        *b,
                    gsize               ldb,
                    gboolean            transposed,
                    float               alpha,
                    gsize               depth,
                    gsize               columns,
                    gsize               width,
                    float              *to);
void vn_gemm_run   (const VnGemmKernel *kernel,
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
                    gsize               ldc);
void vn_gemm_run_f64 (gboolean          trans_a,
                      gboolean          trans_b,
                      gsize             m,
                      gsize             n,
                      gsize             k,
                      double            alpha,
                      const double     *a,
                      gsize             lda,
                      const double     *b,
                      gsize             ldb,
                      double            beta,
                      double           *c,
                      gsize             ldc);

G_END_DECLS
