/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Floats of 8 and 4 bits. Layouts after the OCP formats (E4M3FN, E5M2, E2M1, E8M0) and the variants without negative
 * zero and infinity (FNUZ), where the code of -0 is NaN. */
#include "vn-minifloat.h"

#include <math.h>

typedef struct
{
  VnDType  dtype;
  int      mantissa, bias;
  guint8   sign;        /* its bit */
  guint8   largest;     /* code of the largest finite number */
  guint8   infinity;    /* 0: none */
  guint8   nan;         /* float4e2m1 has none: what NaN becomes, -0 */
  gboolean unsigned_zero;
} Format;

static const Format formats[] = {
  { VN_DTYPE_F8E4M3, 3, 7, 0x80, 0x7e, 0, 0x7f, FALSE },
  { VN_DTYPE_F8E4M3UZ, 3, 8, 0x80, 0x7f, 0, 0x80, TRUE },
  { VN_DTYPE_F8E5M2, 2, 15, 0x80, 0x7b, 0x7c, 0x7f, FALSE },
  { VN_DTYPE_F8E5M2UZ, 2, 16, 0x80, 0x7f, 0, 0x80, TRUE },
  { VN_DTYPE_F4E2M1, 1, 1, 0x08, 0x07, 0, 0x08, FALSE },
};

static const Format *
minifloat_find_format (VnDType dtype)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i].dtype == dtype)
      return &formats[i];
  return NULL;
}

/**
 * vn_minifloat_is:
 *
 * Returns: whether @dtype is a float of 8 or 4 bits
 */
gboolean
vn_minifloat_is (VnDType dtype)
{
  return minifloat_find_format (dtype) != NULL || dtype == VN_DTYPE_F8E8M0;
}

/* Value of a code without sign, as if every code were a finite number. */
static float
minifloat_finite_value (const Format *format,
                        guint         code)
{
  int exponent = (int) (code >> format->mantissa), fraction = (int) (code & ((1u << format->mantissa) - 1));

  if (exponent == 0)
    return ldexpf ((float) fraction, 1 - format->bias - format->mantissa);
  return ldexpf ((float) (fraction + (1 << format->mantissa)), exponent - format->bias - format->mantissa);
}

static float
minifloat_decode (const Format *format,
                  guint8        code)
{
  guint8 amount = code & (guint8) (format->sign - 1);
  float value;

  if (format->unsigned_zero ? code == format->nan : amount > format->largest && amount != format->infinity)
    return NAN;
  value = format->infinity != 0 && amount == format->infinity ? INFINITY : minifloat_finite_value (format, amount);
  return (code & format->sign) != 0 ? -value : value;
}

/**
 * vn_minifloat_load:
 * @data: elements; those of 4 bits two to a byte, low first
 *
 * Returns: element @i
 */
float
vn_minifloat_load (VnDType        dtype,
                   gconstpointer  data,
                   gsize          i)
{
  const guint8 *bytes = data;

  if (dtype == VN_DTYPE_F4E2M1)
    return minifloat_decode (minifloat_find_format (dtype), bytes[i / 2] >> (i % 2 * 4) & 0x0f);
  if (dtype == VN_DTYPE_F8E8M0)
    return bytes[i] == 0xff ? NAN : ldexpf (1.f, (int) bytes[i] - 127);
  return minifloat_decode (minifloat_find_format (dtype), bytes[i]);
}

/* Power of two as its biased exponent; values that are no positive numbers are NaN, which is 0xff. */
static guint8
minifloat_encode_scale (float           value,
                        gboolean        saturate,
                        VnScaleRounding rounding)
{
  float amount = fabsf (value), fraction;
  int exponent;

  if (isnan (value))
    return 0xff;
  if (isinf (value))
    return saturate ? 0xfe : 0xff;
  if (amount == 0.f)
    return 0;
  fraction = frexpf (amount, &exponent) * 2.f;   /* 1 .. 2 */
  exponent--;
  if (rounding == VN_ROUND_UP ? fraction > 1.f : rounding == VN_ROUND_NEAREST && fraction >= 1.5f)
    exponent++;
  if (exponent > 127)
    return saturate ? 0xfe : 0xff;
  return (guint8) MAX (exponent + 127, 0);
}

/**
 * vn_minifloat_from:
 * @saturate: what is too large becomes the largest number; otherwise infinity, or NaN where there is none
 * @rounding: of float8e8m0 only; the others round to nearest, ties to even
 *
 * Returns: the code of @value
 */
guint8
vn_minifloat_from (VnDType          dtype,
                   float            value,
                   gboolean         saturate,
                   VnScaleRounding  rounding)
{
  const Format *format = minifloat_find_format (dtype);
  float amount = fabsf (value), below, above;
  guint8 sign;
  guint low = 0, high;

  if (format == NULL)
    return minifloat_encode_scale (value, saturate, rounding);
  sign = signbit (value) ? format->sign : 0;
  if (isnan (value))
    return format->unsigned_zero ? format->nan : format->nan | sign;
  high = format->largest + 1u;   /* a virtual next code: what rounds to it is too large */
  while (high - low > 1)
    {
      guint middle = (low + high) / 2;

      if (minifloat_finite_value (format, middle) <= amount)
        low = middle;
      else
        high = middle;
    }
  below = minifloat_finite_value (format, low);
  above = minifloat_finite_value (format, high);
  if (amount - below > above - amount || (amount - below == above - amount && (low & 1) != 0))
    low = high;
  if (low > format->largest || amount > above)
    {
      if (saturate || format->dtype == VN_DTYPE_F4E2M1)
        return format->largest | sign;
      return format->infinity != 0 ? format->infinity | sign : format->unsigned_zero ? format->nan : format->nan | sign;
    }
  return low == 0 && format->unsigned_zero ? 0 : (guint8) (low | sign);
}
