/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantizing numbers to uint8 with the range of themselves, as DynamicQuantizeLinear does it. */
#include "vn-int.h"

#include <math.h>

VN_MULTIVERSION
static void
int_dynamic_find_range (const float *x,
                        gsize        n,
                        float       *min,
                        float       *max)
{
  float lo = 0.f, hi = 0.f;

  for (gsize i = 0; i < n; i++)
    {
      lo = x[i] < lo ? x[i] : lo;
      hi = x[i] > hi ? x[i] : hi;
    }
  *min = lo;
  *max = hi;
}

/**
 * vn_int_quantize_dynamic:
 * @y: (out) (nullable): @n numbers
 * @scale: (out): step of the result
 * @zero: (out): its zero point
 *
 * Quantizes to uint8 with the range of the values themselves and 0.
 */
void
vn_int_quantize_dynamic (const float *x,
                         gsize        n,
                         guint8      *y,
                         float       *scale,
                         guint8      *zero)
{
  float min, max, middle;

  int_dynamic_find_range (x, n, &min, &max);
  *scale = max == min ? 1.f : (max - min) / 255.f;
  middle = 0.f - min / *scale;
  /* NaN where the range is infinite. */
  *zero = middle > 0.f ? (guint8) rintf (MIN (middle, 255.f)) : 0;
  if (y != NULL)
    vn_int_quantize (x, n, *scale, *zero, VN_DTYPE_U8, y);
}

/**
 * vn_int_round_dynamic:
 * @y: (out): @n numbers
 *
 * What is left of @x after vn_int_quantize_dynamic() and back.
 */
void
vn_int_round_dynamic (const float *x,
                      gsize        n,
                      float       *y)
{
  guint8 zero, piece[256];
  float scale;

  vn_int_quantize_dynamic (x, n, NULL, &scale, &zero);
  for (gsize first = 0; first < n; first += sizeof piece)
    {
      gsize length = MIN (sizeof piece, n - first);

      vn_int_quantize (x + first, length, scale, zero, VN_DTYPE_U8, piece);
      for (gsize i = 0; i < length; i++)
        y[first + i] = (float) (piece[i] - zero) * scale;
    }
}
