/* SPDX-License-Identifier: GPL-3.0-or-later */
/* IEEE 754 binary16 and bfloat16 (the upper half of binary32). */
#include "vn-half.h"

#include <string.h>

static inline float
half_float_from_bits (guint32 bits)
{
  float value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

static inline guint32
half_bits_from_float (float value)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof bits);
  return bits;
}

/**
 * vn_half_to_float:
 *
 * Returns: the value of a binary16, exactly; NaN payloads are kept
 */
float
vn_half_to_float (guint16 half)
{
  guint32 sign = (guint32) (half & 0x8000) << 16;
  guint32 exponent = half >> 10 & 31;
  guint32 mantissa = half & 0x3ff;

  if (exponent == 31)
    return half_float_from_bits (sign | 0x7f800000 | mantissa << 13);
  if (exponent == 0)
    {
      float value = (float) mantissa * 0x1p-24f;

      return sign != 0 ? -value : value;
    }
  return half_float_from_bits (sign | (exponent + 112) << 23 | mantissa << 13);
}

/**
 * vn_half_from_float:
 *
 * Returns: the nearest binary16, ties to even; beyond 65504 (from 65520 up) infinity; NaN stays a quiet NaN
 */
guint16
vn_half_from_float (float value)
{
  guint32 bits = half_bits_from_float (value);
  guint16 sign = bits >> 16 & 0x8000;
  guint32 magnitude = bits & 0x7fffffff;

  if (magnitude > 0x7f800000)
    return sign | 0x7e00 | (magnitude >> 13 & 0x1ff);
  if (magnitude >= 0x477ff000)
    return sign | 0x7c00;
  if (magnitude < 0x38800000)
    {
      /* Adding 0.5 puts the last bit of a subnormal half at the last bit of the sum, which rounds to even. */
      float shifted = half_float_from_bits (magnitude) + 0.5f;

      return sign | (half_bits_from_float (shifted) - half_bits_from_float (0.5f));
    }
  magnitude += 0xfff + (magnitude >> 13 & 1);
  return sign | (magnitude - 0x38000000) >> 13;
}

float
vn_bfloat_to_float (guint16 bfloat)
{
  return half_float_from_bits ((guint32) bfloat << 16);
}

guint16
vn_bfloat_from_float (float value)
{
  guint32 bits = half_bits_from_float (value);

  if ((bits & 0x7fffffff) > 0x7f800000)
    return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

void
vn_half_to_float_array (const guint16 *in,
                        float         *out,
                        gsize          n)
{
  for (gsize i = 0; i < n; i++)
    out[i] = vn_half_to_float (in[i]);
}

void
vn_half_from_float_array (const float *in,
                          guint16     *out,
                          gsize        n)
{
  for (gsize i = 0; i < n; i++)
    out[i] = vn_half_from_float (in[i]);
}
