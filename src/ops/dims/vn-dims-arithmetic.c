/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums, products, quotients, minima and maxima of numbers (vn-dims.h). */
#include "vn-dims-private.h"

#include "vn-checked.h"

static gint64
dims_arithmetic_add_times (VnDims *self,
                           gint64  a,
                           gint64  b,
                           gint64  times)
{
  VnPoly x, y;

  if (self == NULL)
    return VN_DIM_UNKNOWN;
  vn_dims_get_poly (self, a, &x);
  vn_dims_get_poly (self, b, &y);
  return vn_poly_add (&x, &y, times) ? vn_dims_from_poly (self, &x) : vn_dims_fresh (self, G_MININT64);
}

gint64
vn_dims_add (VnDims *self,
             gint64  a,
             gint64  b)
{
  return dims_arithmetic_add_times (self, a, b, 1);
}

gint64
vn_dims_sub (VnDims *self,
             gint64  a,
             gint64  b)
{
  return dims_arithmetic_add_times (self, a, b, -1);
}

gint64
vn_dims_mul (VnDims *self,
             gint64  a,
             gint64  b)
{
  VnPoly x, y, product;

  if (self == NULL)
    return VN_DIM_UNKNOWN;
  vn_dims_get_poly (self, a, &x);
  vn_dims_get_poly (self, b, &y);
  return vn_poly_mul (&x, &y, &product) ? vn_dims_from_poly (self, &product) : vn_dims_fresh (self, G_MININT64);
}

/**
 * vn_dims_div:
 *
 * Returns: the exact quotient of two values that may be fractions
 */
gint64
vn_dims_div (VnDims *self,
             gint64  a,
             gint64  b)
{
  VnPoly x, y, quotient;

  if (self == NULL)
    return VN_DIM_UNKNOWN;
  vn_dims_get_poly (self, a, &x);
  vn_dims_get_poly (self, b, &y);
  if (y.n == 1 && y.terms[0].n == 0 && y.terms[0].coef > 0)
    {
      VnPoly product, den;

      vn_poly_init (&den, y.den);
      if (vn_poly_mul (&x, &den, &product) && vn_poly_set_den (&product, y.terms[0].coef))
        return vn_dims_from_poly (self, &product);
    }
  return vn_poly_divide (&x, &y, &quotient) ? vn_dims_from_poly (self, &quotient) : vn_dims_fresh (self, G_MININT64);
}

/* floor (a / b) as it is. */
static gint64
dims_arithmetic_quotient_atom (VnDims *self,
                               gint64  a,
                               gint64  b)
{
  gint64 lower_a = vn_dims_get_lower (self, a), lower_b = vn_dims_get_lower (self, b);
  gint64 lower = lower_a >= 0 && lower_b >= 1 ? 0 : G_MININT64;

  if (!vn_dims_is_symbolic (b) && b > 0 && lower_a != G_MININT64)
    lower = vn_dims_floor_quotient (lower_a, b);
  return vn_dims_from_atom (self, g_strdup_printf ("f%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT, a, b),
                            (VnAtom) { .kind = VN_ATOM_FLOOR, .a = a, .b = b, .lower = lower,
                                       .size = vn_dims_get_text_size (self, a) + vn_dims_get_text_size (self, b) });
}

/* Takes what is divisible out of @poly / den: only coefs from 0 to den - 1 remain in it. */
static gboolean
dims_arithmetic_split_whole (VnPoly *poly,
                             VnPoly *whole)
{
  VnPoly rest;

  vn_poly_init (whole, 0);
  vn_poly_init (&rest, 0);
  for (guint i = 0; i < poly->n; i++)
    {
      VnTerm term = poly->terms[i], quotient = term;

      quotient.coef = vn_dims_floor_quotient (term.coef, poly->den);
      term.coef -= quotient.coef * poly->den;
      if (!vn_poly_add_term (whole, &quotient) || !vn_poly_add_term (&rest, &term))
        return FALSE;
    }
  rest.den = poly->den;
  *poly = rest;
  return TRUE;
}

/* Divides the coefs of all but the constant, and den, by what they have in common: that does not change the floor. */
static void
dims_arithmetic_reduce_floor (VnPoly *poly)
{
  gint64 common = poly->den;

  for (guint i = 0; i < poly->n; i++)
    if (poly->terms[i].n > 0)
      common = vn_gcd (common, poly->terms[i].coef);
  if (common <= 1)
    return;
  poly->den /= common;
  for (guint i = 0; i < poly->n; i++)
    poly->terms[i].coef = vn_dims_floor_quotient (poly->terms[i].coef, common);
  if (poly->n > 0 && poly->terms[poly->n - 1].coef == 0)
    poly->n--;
}

/* floor ((floor (x / m) + c) / d) is floor ((x + m c) / (m d)). */
static gboolean
dims_arithmetic_unnest_floor (VnDims *self,
                              VnPoly *poly)
{
  const VnAtom *atom = poly->n > 0 && poly->n <= 2 && poly->terms[0].coef == 1
                       ? vn_dims_get_only_factor (self, &poly->terms[0]) : NULL;
  gint64 constant = poly->n == 2 ? poly->terms[1].coef : 0;
  VnPoly inner, add;

  if (atom == NULL || atom->kind != VN_ATOM_FLOOR || vn_dims_is_symbolic (atom->b) ||
      (poly->n == 2 && poly->terms[1].n > 0) || !vn_checked_mul_s64 (constant, atom->b, &constant))
    return FALSE;
  vn_dims_get_poly (self, atom->a, &inner);
  vn_poly_init (&add, constant);
  if (inner.den != 1 || !vn_poly_add (&inner, &add, 1) || !vn_checked_mul_s64 (poly->den, atom->b, &inner.den))
    return FALSE;
  *poly = inner;
  return TRUE;
}

/* floor (poly), in a form that is the same for equal values in the cases that networks make. */
static gint64
dims_arithmetic_floor_poly (VnDims *self,
                            VnPoly *poly)
{
  VnPoly whole, part;
  gint64 inner;

  if (vn_dims_is_real_poly (self, poly))
    return dims_arithmetic_quotient_atom (self, vn_dims_from_poly (self, poly), 1);
  if (!dims_arithmetic_split_whole (poly, &whole))
    return vn_dims_fresh (self, G_MININT64);
  dims_arithmetic_reduce_floor (poly);
  while (poly->den > 1 && dims_arithmetic_unnest_floor (self, poly))
    {
      VnPoly more;

      if (!dims_arithmetic_split_whole (poly, &more) || !vn_poly_add (&whole, &more, 1))
        return vn_dims_fresh (self, G_MININT64);
      dims_arithmetic_reduce_floor (poly);
    }
  if (poly->n == 0 || (poly->den > 1 && poly->terms[0].n == 0))
    return vn_dims_from_poly (self, &whole);
  part = *poly;
  part.den = 1;
  inner = vn_dims_from_poly (self, &part);
  if (poly->den > 1)
    inner = dims_arithmetic_quotient_atom (self, inner, poly->den);
  return vn_dims_add (self, vn_dims_from_poly (self, &whole), inner);
}

/**
 * vn_dims_floor_div:
 *
 * Returns: @a / @b rounded down
 */
gint64
vn_dims_floor_div (VnDims *self,
                   gint64  a,
                   gint64  b)
{
  VnPoly x, y, quotient;

  if (self == NULL)
    return VN_DIM_UNKNOWN;
  vn_dims_get_poly (self, a, &x);
  vn_dims_get_poly (self, b, &y);
  if (x.n == 0 || y.n == 0)
    return y.n == 0 ? vn_dims_fresh (self, G_MININT64) : 0;
  if (vn_poly_divide (&x, &y, &quotient) && !vn_dims_is_real_poly (self, &quotient))
    return vn_dims_from_poly (self, &quotient);
  if (x.den != 1 || y.den != 1)
    {
      VnPoly exact;

      vn_dims_get_poly (self, vn_dims_div (self, a, b), &exact);
      return dims_arithmetic_floor_poly (self, &exact);
    }
  vn_poly_cancel (&x, &y);
  if (y.n == 1 && y.terms[0].n == 0 && y.terms[0].coef > 0)
    return vn_poly_set_den (&x, y.terms[0].coef) ? dims_arithmetic_floor_poly (self, &x) : vn_dims_fresh (self, G_MININT64);
  return dims_arithmetic_quotient_atom (self, vn_dims_from_poly (self, &x), vn_dims_from_poly (self, &y));
}

/**
 * vn_dims_ceil_div:
 *
 * Returns: @a / @b rounded up
 */
gint64
vn_dims_ceil_div (VnDims *self,
                  gint64  a,
                  gint64  b)
{
  VnPoly poly;

  if (self == NULL)
    return VN_DIM_UNKNOWN;
  vn_dims_get_poly (self, a, &poly);
  /* floor ((a + b - 1) / b) is right for integers only. */
  if (poly.den != 1)
    return vn_dims_ceil_div (self, vn_dims_mul (self, a, poly.den), vn_dims_mul (self, b, poly.den));
  return vn_dims_floor_div (self, vn_dims_add (self, a, vn_dims_add (self, b, -1)), b);
}

gint64
vn_dims_mod (VnDims *self,
             gint64  a,
             gint64  b)
{
  return vn_dims_sub (self, a, vn_dims_mul (self, b, vn_dims_floor_div (self, a, b)));
}

static gint64
dims_arithmetic_pick (VnDims     *self,
                      gint64      a,
                      gint64      b,
                      VnAtomKind  kind)
{
  gint64 lower_a, lower_b;

  if (self == NULL)
    return VN_DIM_UNKNOWN;
  if (vn_dims_get_lower (self, vn_dims_sub (self, a, b)) >= 0)
    return kind == VN_ATOM_MAX ? a : b;
  if (vn_dims_get_lower (self, vn_dims_sub (self, b, a)) >= 0)
    return kind == VN_ATOM_MAX ? b : a;
  lower_a = vn_dims_get_lower (self, MIN (a, b));
  lower_b = vn_dims_get_lower (self, MAX (a, b));
  return vn_dims_from_atom (self, g_strdup_printf ("%c%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT,
                                                   kind == VN_ATOM_MAX ? 'M' : 'm', MIN (a, b), MAX (a, b)),
                            (VnAtom) { .kind = kind, .a = MIN (a, b), .b = MAX (a, b),
                                       .lower = kind == VN_ATOM_MAX ? MAX (lower_a, lower_b) : MIN (lower_a, lower_b),
                                       .size = vn_dims_get_text_size (self, a) + vn_dims_get_text_size (self, b) });
}

gint64
vn_dims_min (VnDims *self,
             gint64  a,
             gint64  b)
{
  return dims_arithmetic_pick (self, a, b, VN_ATOM_MIN);
}

gint64
vn_dims_max (VnDims *self,
             gint64  a,
             gint64  b)
{
  return dims_arithmetic_pick (self, a, b, VN_ATOM_MAX);
}
