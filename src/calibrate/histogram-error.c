/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The error of quantization, from counts alone. Inside a bin the values are taken as evenly spread, and the squared
 * distance to the nearest multiple of the scale s is integrated exactly: with k = rint (x / s) and r = x - k s
 *
 *   F(x) = integral from 0 to x = k s^3 / 12 + r^3 / 3
 *
 * What lies beyond an end e of the range has the error (x - e)^2.
 *
 * A search asks for a hundred ranges. So the bins are laid out once, the outermost first: there, a range that clips too
 * much shows after a few of them, and where all that is left rounds to 0, one number has been summed up in advance. */

#include "vn-histogram-private.h"
#include "vn-multiversion.h"

#include <math.h>

#define BLOCK 64

typedef struct
{
  double scale, inverse, unit, lo, hi;
} Levels;

/* x rounded to an integer, for |x| < 2^51: the sum has no room for a fraction. */
VN_INLINE double
rounded (double x)
{
  const double magic = 6755399441055744.0;

  return (x + magic) - magic;
}

VN_INLINE double
cube (double x)
{
  return x * x * x;
}

VN_INLINE double
rounded_until (double        x,
               const Levels *levels)
{
  double k = rounded (x * levels->inverse);
  double r = x - k * levels->scale;

  return k * levels->unit + cube (r) * (1.0 / 3);
}

VN_INLINE double
larger (double a,
        double b)
{
  return a > b ? a : b;
}

VN_INLINE double
smaller (double a,
         double b)
{
  return a < b ? a : b;
}

/* Of @n bins from a to b with @density values for a unit of x. */
VN_MULTIVERSION
static void
histogram_error_block_errors (const Levels *levels,
                              const double *a,
                              const double *b,
                              const double *density,
                              guint         n,
                              double       *errors)
{
  double lo = levels->lo, hi = levels->hi;

  for (guint i = 0; i < n; i++)
    {
      double from = smaller (larger (a[i], lo), hi), to = smaller (larger (b[i], lo), hi);
      double inside = rounded_until (to, levels) - rounded_until (from, levels);
      double below = cube (larger (lo - a[i], 0)) - cube (larger (lo - b[i], 0));
      double above = cube (larger (b[i] - hi, 0)) - cube (larger (a[i] - hi, 0));

      errors[i] = density[i] * (inside + (below + above) * (1.0 / 3));
    }
}

/* ---- the bins, from the outermost to the innermost ---- */

struct _VnRoundingTable
{
  guint   n_bins, n_points;
  double *a, *b, *density;       /* of bins with a width */
  double *rest;                  /* error of bin i and all after it if all their values become 0 */
  double *points, *counts;       /* the others */
};

static void
histogram_error_count_bin (const VnBin *bin,
                           gpointer     data)
{
  VnRoundingTable *self = data;

  if (bin->hi > bin->lo)
    self->n_bins++;
  else
    self->n_points++;
}

/* In ascending order for now. */
static void
histogram_error_add_bin (const VnBin *bin,
                         gpointer     data)
{
  VnRoundingTable *self = data;
  double width = (double) bin->hi - (double) bin->lo;

  if (width > 0)
    {
      self->a[self->n_bins] = bin->lo;
      self->b[self->n_bins] = bin->hi;
      self->density[self->n_bins++] = (double) bin->count / width;
      return;
    }
  self->points[self->n_points] = bin->lo;
  self->counts[self->n_points++] = (double) bin->count;
}

static double
histogram_error_magnitude (const VnRoundingTable *self,
                           guint               i)
{
  return MAX (fabs (self->a[i]), fabs (self->b[i]));
}

static void
histogram_error_sort_bins (VnRoundingTable *self)
{
  g_autofree double *ascending = g_memdup2 (self->a, 3 * self->n_bins * sizeof (double));
  const VnRoundingTable from = { .a = ascending, .b = ascending + self->n_bins, .density = ascending + 2 * self->n_bins };
  guint first = 0, last = self->n_bins;

  for (guint i = 0; i < self->n_bins; i++)
    {
      guint next = histogram_error_magnitude (&from, first) >= histogram_error_magnitude (&from, last - 1) ? first++ : --last;

      self->a[i] = from.a[next];
      self->b[i] = from.b[next];
      self->density[i] = from.density[next];
    }
  self->rest[self->n_bins] = 0;
  for (guint i = self->n_bins; i-- > 0;)
    self->rest[i] = self->rest[i + 1] + self->density[i] * (cube (self->b[i]) - cube (self->a[i])) / 3;
}

/**
 * vn_rounding_table_new:
 *
 * Returns: (transfer full): what vn_rounding_table_get() needs of @histogram
 */
VnRoundingTable *
vn_rounding_table_new (const VnHistogram *histogram)
{
  VnRoundingTable *self = g_new0 (VnRoundingTable, 1);
  guint n_bins, n_points;

  vn_histogram_foreach (histogram, histogram_error_count_bin, self);
  n_bins = self->n_bins;
  n_points = self->n_points;
  self->a = g_new (double, 4 * (gsize) n_bins + 2 * (gsize) n_points + 1);
  self->b = self->a + n_bins;
  self->density = self->b + n_bins;
  self->rest = self->density + n_bins;
  self->points = self->rest + n_bins + 1;
  self->counts = self->points + n_points;
  self->n_bins = self->n_points = 0;
  vn_histogram_foreach (histogram, histogram_error_add_bin, self);
  histogram_error_sort_bins (self);
  return self;
}

void
vn_rounding_table_free (VnRoundingTable *self)
{
  g_free (self->a);
  g_free (self);
}

static double
histogram_error_point (const Levels *levels,
                       double        x)
{
  double q = CLAMP (rounded (CLAMP (x, levels->lo, levels->hi) * levels->inverse) * levels->scale, levels->lo,
                    levels->hi);

  return (x - q) * (x - q);
}

/**
 * vn_rounding_table_get:
 * @scale, @lo, @hi: as for vn_histogram_get_error(), not more than 2^32 levels
 * @enough: the error need not be known better once it reaches this
 *
 * Returns: the error, or some number that is not below @enough if the error is not
 */
double
vn_rounding_table_get (const VnRoundingTable *self,
                       double              scale,
                       double              lo,
                       double              hi,
                       double              enough)
{
  const Levels levels = { scale, 1 / scale, cube (scale) / 12, lo, hi };
  double errors[BLOCK], sum = 0;

  for (guint i = 0; i < self->n_points; i++)
    sum += self->counts[i] * histogram_error_point (&levels, self->points[i]);
  for (guint i = 0; i < self->n_bins && sum < enough; i += BLOCK)
    {
      guint n = MIN (BLOCK, self->n_bins - i);

      if (lo <= 0 && hi >= 0 && histogram_error_magnitude (self, i) <= scale / 2)
        return sum + self->rest[i];
      histogram_error_block_errors (&levels, self->a + i, self->b + i, self->density + i, n, errors);
      for (guint j = 0; j < n; j++)
        sum += errors[j];
    }
  return sum;
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
  g_autoptr(VnRoundingTable) table = NULL;

  g_return_val_if_fail (self != NULL && scale > 0 && lo <= hi, NAN);

  table = vn_rounding_table_new (self);
  return vn_rounding_table_get (table, scale, lo, hi, INFINITY);
}
