/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The error of quantization, from counts alone. Inside a bin the values are taken as evenly spread, and the squared
 * distance to the nearest multiple of the scale s is integrated exactly: with k = rint (x / s) and r = x - k s
 *
 *   F(x) = integral from 0 to x = k s^3 / 12 + r^3 / 3
 *
 * What lies beyond an end e of the range has the error (x - e)^2. */

#include "vn-histogram-private.h"

#include <math.h>

typedef struct
{
  double scale, lo, hi;
  double sum;
} Error;

static double
rounded_until (double x,
               double scale)
{
  double k = rint (x / scale);
  double r = x - k * scale;

  return k * scale * scale * scale / 12 + r * r * r / 3;
}

static double
cube (double x)
{
  return x * x * x;
}

static double
squared (double x,
         const Error *self)
{
  double q = CLAMP (rint (x / self->scale) * self->scale, self->lo, self->hi);

  return (x - q) * (x - q);
}

static void
add_error (const VnBin *bin,
           gpointer     data)
{
  Error *self = data;
  double a = bin->lo;
  double b = bin->hi;
  double inside_from = CLAMP (a, self->lo, self->hi);
  double inside_to = CLAMP (b, self->lo, self->hi);
  double integral = 0;

  if (!(b > a))
    {
      self->sum += (double) bin->count * squared (a, self);
      return;
    }
  if (inside_to > inside_from)
    integral += rounded_until (inside_to, self->scale) - rounded_until (inside_from, self->scale);
  if (a < self->lo)
    integral += (cube (self->lo - a) - cube (MAX (self->lo - b, 0))) / 3;
  if (b > self->hi)
    integral += (cube (b - self->hi) - cube (MAX (a - self->hi, 0))) / 3;
  self->sum += (double) bin->count * integral / (b - a);
}

/**
 * vn_histogram_get_error:
 * @scale: distance of the levels, above 0; 0 is a level
 * @lo: lowest level, a multiple of @scale
 * @hi: highest level, a multiple of @scale, not below @lo
 *
 * Returns: the sum of squared differences between the finite values seen and the same values rounded to the nearest
 *   multiple of @scale and clipped to @lo .. @hi; 0 for an empty histogram
 */
double
vn_histogram_get_error (const VnHistogram *self,
                        double             scale,
                        double             lo,
                        double             hi)
{
  Error error = { .scale = scale, .lo = lo, .hi = hi };

  g_return_val_if_fail (scale > 0 && lo <= hi, NAN);

  vn_histogram_foreach (self, add_error, &error);
  return error.sum;
}
