/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Matrix products of whole numbers. */

#include "vn-op-kernel.h"

G_BEGIN_DECLS

/* The types of MatMul, Gemm and Einsum that are no floats. */
#define VN_WHOLE_BITS (VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (S8) | VN_DTYPE_BIT (U16) | VN_DTYPE_BIT (S16) | \
                       VN_DTYPE_BIT (U32) | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (U64) | VN_DTYPE_BIT (S64))

void vn_whole_gemm (VnDType       dtype,
                    gboolean      trans_a,
                    gboolean      trans_b,
                    gsize         m,
                    gsize         n,
                    gsize         k,
                    gconstpointer a,
                    gsize         a_pitch,
                    gconstpointer b,
                    gsize         b_pitch,
                    gpointer      y,
                    gsize         y_pitch);

G_END_DECLS
