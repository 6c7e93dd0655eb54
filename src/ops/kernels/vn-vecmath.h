/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Elementary functions without branches or calls, so that loops over them become vector code. NaN and infinities
 * give what the C library gives; errors stay within about 2 units in the last place. */

#include "vn-op-kernel.h"

G_BEGIN_DECLS

typedef union
{
  float   f;
  guint32 u;
} VnFloatBits;

VN_INLINE float
vn_float_from_bits (guint32 bits)
{
  return ((VnFloatBits) { .u = bits }).f;
}

VN_INLINE guint32
vn_float_to_bits (float value)
{
  return ((VnFloatBits) { .f = value }).u;
}

/* x = n ln 2 + r with |r| <= ln 2 / 2. Adding and removing 1.5 * 2^23 rounds to an integer, and the low bits of
 * the sum are that integer: no conversion that NaN could upset. Needs |x| < 2^21. */
VN_INLINE float
vn_exp_reduce (float    x,
               guint32 *n)
{
  const float magic = 12582912.f;
  float t = x * 1.44269504f + magic;
  float k = t - magic;

  *n = vn_float_to_bits (t) - vn_float_to_bits (magic);
  return (x - k * 0.693145752f) - k * 1.42860677e-6f;
}

/* e^r - 1 for |r| <= ln 2 / 2: the Taylor series, whose next term is below 2^-25 of the sum. */
VN_INLINE float
vn_expm1_core (float r)
{
  float p = 1.f / 5040.f;

  p = p * r + 1.f / 720.f;
  p = p * r + 1.f / 120.f;
  p = p * r + 1.f / 24.f;
  p = p * r + 1.f / 6.f;
  p = p * r + 0.5f;
  return r + r * r * p;
}

/* e^x */
VN_INLINE float
vn_expf (float x)
{
  guint32 n, half;
  float c = x < -104.f ? -104.f : x;
  float q = vn_expm1_core (vn_exp_reduce (c = c > 89.f ? 89.f : c, &n)) + 1.f;

  /* 2^n in two steps, or the smallest and the largest results would be lost. */
  half = (guint32) ((gint32) n >> 1);
  return q * vn_float_from_bits ((half + 127u) << 23) * vn_float_from_bits ((n - half + 127u) << 23);
}

/* e^x - 1, for x <= 88 */
VN_INLINE float
vn_expm1f (float x)
{
  guint32 n;
  float c = x < -40.f ? -40.f : x;
  float q = vn_expm1_core (vn_exp_reduce (c = c > 88.f ? 88.f : c, &n));
  float scale = vn_float_from_bits ((n + 127u) << 23);

  return q * scale + (scale - 1.f);
}

/* tanh |x| = (1 - e^-2|x|) / (1 + e^-2|x|) */
VN_INLINE float
vn_tanhf (float x)
{
  float e = vn_expm1f (-2.f * __builtin_fabsf (x));

  return __builtin_copysignf (-e / (e + 2.f), x);
}

/* e^-x is only needed beside 1: what is too small there does not count, and from e^88.4 on it may be infinite. */
VN_INLINE float
vn_sigmoidf (float x)
{
  guint32 n;
  float c = -x < -87.f ? -87.f : -x;
  float q = vn_expm1_core (vn_exp_reduce (c = c > 89.f ? 89.f : c, &n)) + 1.f;

  return 1.f / (1.f + q * vn_float_from_bits ((n + 127u) << 23));
}

/* ln (1 + u) for 0 <= u <= 1, as 2 artanh (u / (2 + u)): the series in s^2 <= 1/9 ends below 2^-26. */
VN_INLINE float
vn_log1p_unit (float u)
{
  float s = u / (2.f + u), t = s * s;
  float p = 1.f / 15.f;

  p = p * t + 1.f / 13.f;
  p = p * t + 1.f / 11.f;
  p = p * t + 1.f / 9.f;
  p = p * t + 1.f / 7.f;
  p = p * t + 1.f / 5.f;
  p = p * t + 1.f / 3.f;
  return 2.f * (s + s * t * p);
}

/* ln (1 + e^x) = max (x, 0) + ln (1 + e^-|x|) */
VN_INLINE float
vn_softplusf (float x)
{
  return (x < 0.f ? 0.f : x) + vn_log1p_unit (vn_expf (-__builtin_fabsf (x)));
}

/* Up to 1: x times a polynomial in x^2. Above: 1 - exp of a polynomial fitted to ln erfc on 1 .. 4, beyond which
 * the result is 1. Both fits are minimax (weighted least squares, Lawson's iteration), errors below 2e-9. */
VN_INLINE float
vn_erff (float x)
{
  float a = __builtin_fabsf (x), t = a * a, near, far;
  float b = a > 4.f ? 4.f : a;

  near = 7.889119807e-5f;
  near = near * t - 8.020841605e-4f;
  near = near * t + 5.189535409e-3f;
  near = near * t - 2.685444465e-2f;
  near = near * t + 1.128360018e-1f;
  near = near * t - 3.761262714e-1f;
  near = near * t + 1.128379166f;

  far = -2.168685004e-5f;
  far = far * b + 4.413363783e-4f;
  far = far * b - 4.204561881e-3f;
  far = far * b + 2.520825676e-2f;
  far = far * b - 1.084185774e-1f;
  far = far * b - 6.332198930e-1f;
  far = far * b - 1.129578424f;
  far = far * b + 1.880402343e-4f;
  far = -vn_expm1f (far);

  return a > 1.f ? __builtin_copysignf (far, x) : x * near;
}

/* x / 2 (1 + erf (x / sqrt 2)) */
VN_INLINE float
vn_geluf (float x)
{
  return 0.5f * x * (1.f + vn_erff (x * 0.707106781f));
}

/* x tanh (ln (1 + e^x)), the logarithm cancelled against the exponentials; tanh is 1 from 20 on. */
VN_INLINE float
vn_mishf (float x)
{
  float e = vn_expf (x > 20.f ? 20.f : x);
  float m = e * (e + 2.f);
  float y = x * (m / (m + 2.f));

  return x > 20.f ? x : y;
}

G_END_DECLS
