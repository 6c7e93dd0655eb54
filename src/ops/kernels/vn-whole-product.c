/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products of matrices of integers. They wrap around in their own width, so numbers with and without sign are
 * multiplied alike. */
#include "vn-whole-product.h"

/* Sums are kept in the type itself, whole rows at a time. */
#define PRODUCT(suffix, type)                                                   \
  static void                                                                   \
  product_##suffix (gsize m, gsize n, gsize k, const type *a, gsize a_row, gsize a_column, const type *b, \
                    gsize b_row, gsize b_column, type *y, gsize y_pitch)        \
  {                                                                             \
    for (gsize i = 0; i < m; i++, y += y_pitch)                                 \
      {                                                                         \
        memset (y, 0, n * sizeof (type));                                       \
        for (gsize l = 0; l < k; l++)                                           \
          for (gsize j = 0; j < n; j++)                                         \
            y[j] = (type) (y[j] + (guint64) a[i * a_row + l * a_column] * b[l * b_row + j * b_column]); \
      }                                                                         \
  }

PRODUCT (8, guint8)
PRODUCT (16, guint16)
PRODUCT (32, guint32)
PRODUCT (64, guint64)

/**
 * vn_whole_gemm:
 * @dtype: an integer of 8 to 64 bits
 * @a: m × k, or k × m if @trans_a; @b: k × n, or n × k if @trans_b; pitches in elements
 * @y: (out): m × n
 *
 * y = a b, modulo the range of the type.
 */
void
vn_whole_gemm (VnDType       dtype,
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
               gsize         y_pitch)
{
  gsize a_row = trans_a ? 1 : a_pitch, a_column = trans_a ? a_pitch : 1;
  gsize b_row = trans_b ? 1 : b_pitch, b_column = trans_b ? b_pitch : 1;

  switch (vn_dtype_get_bits (dtype))
    {
    case 8: product_8 (m, n, k, a, a_row, a_column, b, b_row, b_column, y, y_pitch); break;
    case 16: product_16 (m, n, k, a, a_row, a_column, b, b_row, b_column, y, y_pitch); break;
    case 32: product_32 (m, n, k, a, a_row, a_column, b, b_row, b_column, y, y_pitch); break;
    default: product_64 (m, n, k, a, a_row, a_column, b, b_row, b_column, y, y_pitch); break;
    }
}
