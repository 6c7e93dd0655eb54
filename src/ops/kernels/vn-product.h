/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-op-kernel.h"

G_BEGIN_DECLS

/**
 * VnProduct: sizes of a matrix product as numpy.matmul, after 1-D operands got an axis that is dropped again.
 * @a, @b: at least 2-D
 * @trans_a, @trans_b: the last two axes are swapped first
 * @batch: broadcast shape of the leading axes
 */
typedef struct
{
  VnShape  a, b;
  VnShape  batch;
  gint64   m, n, k;
  gboolean drop_m, drop_n;
  gboolean trans_a, trans_b;
} VnProduct;

gboolean vn_product_init            (VnProduct       *self,
                                     VnOpContext     *ctx,
                                     const VnShape   *a,
                                     const VnShape   *b,
                                     GError         **error);
gboolean vn_product_init_transposed (VnProduct       *self,
                                     VnOpContext     *ctx,
                                     const VnShape   *a,
                                     const VnShape   *b,
                                     gboolean         trans_a,
                                     gboolean         trans_b,
                                     GError         **error);
void     vn_product_shape           (const VnProduct *self,
                                     VnShape         *y);
gsize    vn_product_offset          (const VnShape   *operand,
                                     const VnShape   *batch,
                                     gsize            i);

G_END_DECLS
