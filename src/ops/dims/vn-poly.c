/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Polynomials with integer coefficients over symbols: arithmetic of symbolic sizes. */
#include "vn-poly-private.h"

#include "vn-checked.h"

#include <string.h>

/* More steps than any division of two polynomials of this size that goes up. */
#define MAX_DIVISION_STEPS 256

/**
 * vn_gcd:
 *
 * Returns: the greatest common divisor, not negative; of 0 and 0, or where it does not fit: 0
 */
gint64
vn_gcd (gint64 a,
        gint64 b)
{
  guint64 x = a < 0 ? 0 - (guint64) a : (guint64) a, y = b < 0 ? 0 - (guint64) b : (guint64) b;

  while (y != 0)
    {
      guint64 rest = x % y;

      x = y;
      y = rest;
    }
  return x <= G_MAXINT64 ? (gint64) x : 0;
}

/**
 * vn_poly_init:
 * @self: (out)
 *
 * Makes the constant polynomial @value.
 */
void
vn_poly_init (VnPoly *self,
              gint64  value)
{
  self->den = 1;
  self->n = value != 0;
  self->terms[0] = (VnTerm) { value };
}

/* Negative if @a comes first: graded lexicographic order, which division relies on. */
static int
poly_compare_terms (const VnTerm *a,
                    const VnTerm *b)
{
  if (a->n != b->n)
    return a->n > b->n ? -1 : 1;
  for (guint i = 0; i < a->n; i++)
    if (a->factors[i] != b->factors[i])
      return a->factors[i] < b->factors[i] ? -1 : 1;
  return 0;
}

/**
 * vn_poly_add_term:
 * @term: counted in units of 1 / den
 *
 * Returns: %FALSE if the result does not fit
 */
gboolean
vn_poly_add_term (VnPoly       *self,
                  const VnTerm *term)
{
  guint at = 0;

  while (at < self->n && poly_compare_terms (&self->terms[at], term) < 0)
    at++;
  if (at < self->n && poly_compare_terms (&self->terms[at], term) == 0)
    {
      if (!vn_checked_add_s64 (self->terms[at].coef, term->coef, &self->terms[at].coef))
        return FALSE;
      if (self->terms[at].coef == 0)
        {
          self->n--;
          memmove (&self->terms[at], &self->terms[at + 1], (self->n - at) * sizeof (VnTerm));
        }
      return TRUE;
    }
  if (term->coef == 0)
    return TRUE;
  if (self->n == VN_POLY_MAX_TERMS)
    return FALSE;
  memmove (&self->terms[at + 1], &self->terms[at], (self->n - at) * sizeof (VnTerm));
  self->terms[at] = *term;
  self->n++;
  return TRUE;
}

static void
poly_reduce (VnPoly *self)
{
  gint64 common = self->den;

  for (guint i = 0; i < self->n && common != 1; i++)
    common = vn_gcd (common, self->terms[i].coef);
  if (common <= 1)
    return;
  self->den /= common;
  for (guint i = 0; i < self->n; i++)
    self->terms[i].coef /= common;
}

static gboolean
poly_scale (VnPoly *self,
            gint64  times)
{
  for (guint i = 0; i < self->n; i++)
    if (!vn_checked_mul_s64 (self->terms[i].coef, times, &self->terms[i].coef))
      return FALSE;
  return TRUE;
}

/**
 * vn_poly_add:
 *
 * Adds @times times @other.
 *
 * Returns: %FALSE if the result does not fit
 */
gboolean
vn_poly_add (VnPoly       *self,
             const VnPoly *other,
             gint64        times)
{
  gint64 common = vn_gcd (self->den, other->den), up = other->den / common, other_up = self->den / common;

  if (!vn_checked_mul_s64 (self->den, up, &self->den) || !poly_scale (self, up) ||
      !vn_checked_mul_s64 (times, other_up, &times))
    return FALSE;
  for (guint i = 0; i < other->n; i++)
    {
      VnTerm term = other->terms[i];

      if (!vn_checked_mul_s64 (term.coef, times, &term.coef) || !vn_poly_add_term (self, &term))
        return FALSE;
    }
  poly_reduce (self);
  return TRUE;
}

static gboolean
poly_multiply_terms (const VnTerm *a,
                     const VnTerm *b,
                     VnTerm       *out)
{
  guint i = 0, k = 0;

  *out = (VnTerm) { 0, a->n + b->n };
  if (out->n > VN_POLY_MAX_FACTORS || !vn_checked_mul_s64 (a->coef, b->coef, &out->coef))
    return FALSE;
  for (guint at = 0; at < out->n; at++)
    out->factors[at] = k == b->n || (i < a->n && a->factors[i] <= b->factors[k]) ? a->factors[i++] : b->factors[k++];
  return TRUE;
}

/**
 * vn_poly_mul:
 * @out: (out): not @a or @b
 *
 * Returns: %FALSE if the result does not fit
 */
gboolean
vn_poly_mul (const VnPoly *a,
             const VnPoly *b,
             VnPoly       *out)
{
  vn_poly_init (out, 0);
  if (!vn_checked_mul_s64 (a->den, b->den, &out->den))
    return FALSE;
  for (guint i = 0; i < a->n; i++)
    for (guint k = 0; k < b->n; k++)
      {
        VnTerm term;

        if (!poly_multiply_terms (&a->terms[i], &b->terms[k], &term) || !vn_poly_add_term (out, &term))
          return FALSE;
      }
  poly_reduce (out);
  return TRUE;
}

static gboolean
poly_divide_terms (const VnTerm *a,
                   const VnTerm *b,
                   VnTerm       *out)
{
  guint k = 0;

  if (b->coef == -1 ? a->coef == G_MININT64 : a->coef % b->coef != 0)
    return FALSE;
  *out = (VnTerm) { a->coef / b->coef };
  for (guint i = 0; i < a->n; i++)
    if (k < b->n && a->factors[i] == b->factors[k])
      k++;
    else
      out->factors[out->n++] = a->factors[i];
  return k == b->n;
}

/**
 * vn_poly_divide:
 * @a: with den 1
 * @b: with den 1
 * @out: (out): not @a or @b
 *
 * Returns: whether @b divides @a; if not, @out is undefined
 */
gboolean
vn_poly_divide (const VnPoly *a,
                const VnPoly *b,
                VnPoly       *out)
{
  VnPoly rest = *a;

  vn_poly_init (out, 0);
  if (b->n == 0 || a->den != 1 || b->den != 1)
    return FALSE;
  for (guint step = 0; rest.n > 0; step++)
    {
      VnTerm quotient, product;

      if (step == MAX_DIVISION_STEPS || !poly_divide_terms (&rest.terms[0], &b->terms[0], &quotient) ||
          !vn_poly_add_term (out, &quotient))
        return FALSE;
      for (guint i = 0; i < b->n; i++)
        {
          if (!poly_multiply_terms (&quotient, &b->terms[i], &product) || !vn_checked_mul_s64 (product.coef, -1, &product.coef) ||
              !vn_poly_add_term (&rest, &product))
            return FALSE;
        }
    }
  return TRUE;
}

/**
 * vn_poly_set_den:
 * @by: above 0
 *
 * Divides by @by.
 *
 * Returns: %FALSE if the result does not fit
 */
gboolean
vn_poly_set_den (VnPoly *self,
                 gint64  by)
{
  if (!vn_checked_mul_s64 (self->den, by, &self->den))
    return FALSE;
  poly_reduce (self);
  return TRUE;
}

static gboolean
poly_divides_all (const VnTerm *by,
                  const VnPoly *poly)
{
  VnTerm quotient;

  for (guint i = 0; i < poly->n; i++)
    if (!poly_divide_terms (&poly->terms[i], by, &quotient))
      return FALSE;
  return TRUE;
}

static void
poly_divide_all (const VnTerm *by,
                 VnPoly       *poly)
{
  for (guint i = 0; i < poly->n; i++)
    {
      VnTerm term = poly->terms[i];

      poly_divide_terms (&term, by, &poly->terms[i]);
    }
}

/**
 * vn_poly_cancel:
 * @a: not 0
 * @b: not 0
 *
 * Divides both by the factors, and the integer, that all their terms have in common.
 */
void
vn_poly_cancel (VnPoly *a,
                VnPoly *b)
{
  VnTerm lead = b->terms[b->n - 1], common = { 0 };

  for (guint i = 0; i < lead.n; i++)
    {
      VnTerm single = { 1, 1, { lead.factors[i] } };

      while (poly_divides_all (&single, a) && poly_divides_all (&single, b))
        {
          poly_divide_all (&single, a);
          poly_divide_all (&single, b);
        }
    }
  for (guint i = 0; i < a->n; i++)
    common.coef = vn_gcd (common.coef, a->terms[i].coef);
  for (guint i = 0; i < b->n; i++)
    common.coef = vn_gcd (common.coef, b->terms[i].coef);
  if (common.coef > 1)
    {
      poly_divide_all (&common, a);
      poly_divide_all (&common, b);
    }
}
