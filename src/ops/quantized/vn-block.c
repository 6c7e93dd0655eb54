/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rounding to formats whose elements share an exponent in blocks along one axis; NaN and infinities stay and do not count.
 *
 * Block floating point: with the largest exponent E of the block and m bits of mantissa the step is 2^(E - (m - 1)), and
 * results stay within 2^(E + 1) less one step. Small sub-blocks may lower the exponent.
 *
 * Microscaling (Open Compute Project): a block shares the scale 2^(E - emax), and what is left of each element is rounded
 * to a small float, or to an integer of 8 bits that counts 2^-6. */
#include "vn-block.h"

#include "vn-half.h"

#include <math.h>
#include <string.h>

static const VnBlockElement elements[] = {
  { "fp8_e5m2", 5, 2, 15, -57344, 57344 },
  { "fp8_e4m3", 4, 3, 8, -448, 448 },
  { "fp6_e3m2", 3, 2, 4, -28, 28 },
  { "fp6_e2m3", 2, 3, 2, -7.5, 7.5 },
  { "fp4_e2m1", 2, 1, 2, -6, 6 },
  { "int8", 0, 6, 0, -2, 127. / 64 },
};

/* What the types mean, as AMD Quark configures them. */
static const struct
{
  VnDType     dtype;
  const char *element;
  gint64      mantissa, block, sub_block, max_shift;
} types[] = {
  { VN_DTYPE_BFP16, NULL, 7, 8, 2, 0 },
  { VN_DTYPE_MX4, NULL, 2, 16, 2, 1 },
  { VN_DTYPE_MX6, NULL, 4, 16, 2, 1 },
  { VN_DTYPE_MX9, NULL, 7, 16, 2, 1 },
  { VN_DTYPE_MXINT8, "int8", 0, 32, 0, 0 },
  { VN_DTYPE_MXFP8E5M2, "fp8_e5m2", 0, 32, 0, 0 },
  { VN_DTYPE_MXFP8E4M3, "fp8_e4m3", 0, 32, 0, 0 },
  { VN_DTYPE_MXFP6E3M2, "fp6_e3m2", 0, 32, 0, 0 },
  { VN_DTYPE_MXFP6E2M3, "fp6_e2m3", 0, 32, 0, 0 },
  { VN_DTYPE_MXFP4, "fp4_e2m1", 0, 32, 0, 0 },
};

/**
 * vn_block_element_find:
 *
 * Returns: (transfer none) (nullable): the element called @name, such as "fp6_e3m2" or "int8"
 */
const VnBlockElement *
vn_block_element_find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    if (g_str_equal (elements[i].name, name))
      return &elements[i];
  return NULL;
}

/**
 * vn_block_format_init:
 * @dtype: a type for which vn_dtype_is_block() holds
 *
 * Ties go to even.
 *
 * Returns: %FALSE for other types
 */
gboolean
vn_block_format_init (VnBlockFormat *self,
                      VnDType        dtype)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      if (types[i].dtype != dtype)
        continue;
      *self = (VnBlockFormat) {
        types[i].element != NULL ? vn_block_element_find (types[i].element) : NULL,
        types[i].mantissa, types[i].block, types[i].sub_block, types[i].max_shift, FALSE, VN_ROUND_HALF_EVEN
      };
      return TRUE;
    }
  return FALSE;
}

/* Largest biased exponent of the numbers; 0 if there is none but zeros. */
static int
block_largest_exponent (const float *x,
                        gsize        n,
                        gsize        stride)
{
  int largest = 0;

  for (gsize i = 0; i < n; i++)
    {
      guint32 bits;
      int exponent;

      memcpy (&bits, x + i * stride, sizeof bits);
      exponent = (int) (bits >> 23 & 0xff);
      if (exponent != 0xff)
        largest = MAX (largest, exponent);
    }
  return largest;
}

static double
block_round_to (VnRoundHalf rounding,
                double      value)
{
  switch (rounding)
    {
    case VN_ROUND_HALF_AWAY: return round (value);
    case VN_ROUND_HALF_UP: return floor (value + 0.5);
    default: return rint (value);
    }
}

static void
block_round_with_exponent (const VnBlockFormat *self,
                           int                  exponent,
                           const float         *x,
                           float               *y,
                           gsize                n,
                           gsize                stride)
{
  double step = ldexp (1., exponent - 127 - (int) self->mantissa + 1);
  double limit = ldexp (1., exponent - 127 + 1) - step;

  for (gsize i = 0; i < n; i++)
    {
      float v = x[i * stride];
      double rounded;

      if (!isfinite (v))
        {
          y[i * stride] = v;
          continue;
        }
      rounded = block_round_to (self->rounding, (double) v / step) * step;
      y[i * stride] = (float) CLAMP (rounded, -limit, limit);
    }
}

static void
block_round_float (const VnBlockFormat *self,
                   const float         *x,
                   float               *y,
                   gsize                n,
                   gsize                stride)
{
  int exponent;
  gsize piece = self->max_shift > 0 ? (gsize) self->sub_block : n;

  if (self->through_bfloat)
    {
      for (gsize i = 0; i < n; i++)
        y[i * stride] = vn_bfloat_to_float (vn_bfloat_from_float (x[i * stride]));
      x = y;
    }
  exponent = block_largest_exponent (x, n, stride);
  for (gsize i = 0; i < n; i += piece)
    {
      gsize length = MIN (piece, n - i);
      int own = self->max_shift > 0 ? block_largest_exponent (x + i * stride, length, stride) : exponent;
      int shift = MIN (exponent - own, (int) self->max_shift);

      block_round_with_exponent (self, exponent - shift, x + i * stride, y + i * stride, length, stride);
    }
}

/* The nearest number the element can hold; floats have ties go to even always. */
static double
block_round_element (const VnBlockFormat *self,
                     double               value)
{
  const VnBlockElement *element = self->element;
  int exponent = 0;
  double step, rounded;

  if (value == 0)
    return value;
  if (element->exponent > 0)
    exponent = MAX (ilogb (value), 2 - (1 << (element->exponent - 1)));
  step = ldexp (1., exponent - element->mantissa);
  rounded = block_round_to (element->exponent > 0 ? VN_ROUND_HALF_EVEN : self->rounding, value / step) * step;
  return CLAMP (rounded, element->least, element->largest);
}

static void
block_round_scaled (const VnBlockFormat *self,
                    const float         *x,
                    float               *y,
                    gsize                n,
                    gsize                stride)
{
  double scale = ldexp (1., block_largest_exponent (x, n, stride) - 127 - self->element->emax);

  for (gsize i = 0; i < n; i++)
    {
      float v = x[i * stride];

      y[i * stride] = isfinite (v) ? (float) (block_round_element (self, (double) v / scale) * scale) : v;
    }
}

/**
 * vn_block_round:
 * @x: @dim rows of @inner elements; blocks lie along @dim, the last may be shorter
 * @y: (out): as many; may be @x
 */
void
vn_block_round (const VnBlockFormat *self,
                const float         *x,
                float               *y,
                gsize                dim,
                gsize                inner)
{
  gsize block = (gsize) self->block;

  for (gsize first = 0; first < dim; first += block)
    for (gsize i = 0; i < inner; i++)
      {
        gsize at = first * inner + i, n = MIN (block, dim - first);

        if (self->element != NULL)
          block_round_scaled (self, x + at, y + at, n, inner);
        else
          block_round_float (self, x + at, y + at, n, inner);
      }
}
