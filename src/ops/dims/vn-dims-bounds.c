/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What expressions are at least, and whether they can be sizes. */
#include "vn-dims-private.h"

#include "vn-checked.h"

const VnAtom *
vn_dims_get_only_factor (VnDims       *self,
                         const VnTerm *term)
{
  return term->n == 1 ? g_ptr_array_index (self->atoms, term->factors[0]) : NULL;
}

/* Replaces -k floor (a / b) by the smaller -k a / b, and -k min (a, b) by -k a or -k b, so that it may cancel out. */
static gboolean
dims_bounds_relax (VnDims *self,
                   VnPoly *poly)
{
  for (guint i = 0; i < poly->n; i++)
    {
      const VnAtom *atom = vn_dims_get_only_factor (self, &poly->terms[i]);
      VnPoly by, sum;
      VnTerm term = poly->terms[i];

      if (term.coef >= 0 || atom == NULL || (atom->kind != VN_ATOM_MIN && atom->kind != VN_ATOM_FLOOR) ||
          (atom->kind == VN_ATOM_FLOOR && (vn_dims_is_symbolic (atom->b) || atom->b < 1)))
        continue;
      vn_dims_get_poly (self, atom->kind == VN_ATOM_MIN && !vn_dims_is_symbolic (atom->b) ? atom->b : atom->a, &by);
      if (atom->kind == VN_ATOM_FLOOR && !vn_poly_set_den (&by, atom->b))
        return FALSE;
      vn_poly_init (&sum, 0);
      for (guint k = 0; k < poly->n; k++)
        if (k != i)
          vn_poly_add_term (&sum, &poly->terms[k]);
      if (!vn_poly_add (&sum, &by, term.coef) || !vn_poly_set_den (&sum, poly->den))
        return FALSE;
      *poly = sum;
      return TRUE;
    }
  return FALSE;
}

static gboolean
dims_bounds_term_lower (VnDims       *self,
                        const VnTerm *term,
                        gint64       *lower)
{
  *lower = term->coef;
  if (term->coef < 0)
    return term->n == 0;
  for (guint i = 0; i < term->n; i++)
    {
      const VnAtom *atom = g_ptr_array_index (self->atoms, term->factors[i]);

      if (atom->lower < 0 || !vn_checked_mul_s64 (*lower, atom->lower, lower))
        return FALSE;
    }
  return TRUE;
}

gint64
vn_dims_floor_quotient (gint64 a,
                        gint64 b)
{
  return a / b - (a % b < 0);
}

gint64
vn_dims_get_poly_lower (VnDims       *self,
                        const VnPoly *poly)
{
  VnPoly rest = *poly;
  gint64 sum = 0;

  for (guint i = 0; i < 4 && rest.den < G_MAXINT32 && dims_bounds_relax (self, &rest); i++)
    ;
  for (guint i = 0; i < rest.n; i++)
    {
      gint64 lower;

      if (!dims_bounds_term_lower (self, &rest.terms[i], &lower) || !vn_checked_add_s64 (sum, lower, &sum))
        return G_MININT64;
    }
  /* The value is an integer if it has no denominator itself. */
  return vn_dims_floor_quotient (sum, rest.den) + (poly->den == 1 && sum % rest.den != 0);
}

/**
 * vn_dims_get_lower:
 *
 * Returns: what @number is at least; %G_MININT64 if that is not known
 */
gint64
vn_dims_get_lower (VnDims *self,
                   gint64  number)
{
  VnPoly poly;

  if (self == NULL || !vn_dims_is_symbolic (number))
    return number;
  vn_dims_get_poly (self, number, &poly);
  return vn_dims_get_poly_lower (self, &poly);
}

/* Whether it may be something else than an integer. */
gboolean
vn_dims_is_real_poly (VnDims       *self,
                      const VnPoly *poly)
{
  for (guint i = 0; i < poly->n; i++)
    for (guint k = 0; k < poly->terms[i].n; k++)
      if (((const VnAtom *) g_ptr_array_index (self->atoms, poly->terms[i].factors[k]))->kind == VN_ATOM_REAL)
        return TRUE;
  return FALSE;
}

/**
 * vn_dims_as_size:
 *
 * Returns: @number if it can be the size of a dim, else %VN_DIM_UNKNOWN: it is negative, may be no integer, or is not
 *   known at all, so that for some operators it might mean something else than a size
 */
gint64
vn_dims_as_size (VnDims *self,
                 gint64  number)
{
  VnPoly poly;

  if (self == NULL || !vn_dims_is_symbolic (number))
    return MAX (number, VN_DIM_UNKNOWN);
  vn_dims_get_poly (self, number, &poly);
  if (poly.den != 1 || vn_dims_is_real_poly (self, &poly))
    return VN_DIM_UNKNOWN;
  for (guint i = 0; i < poly.n; i++)
    for (guint k = 0; k < poly.terms[i].n; k++)
      {
        const VnAtom *atom = g_ptr_array_index (self->atoms, poly.terms[i].factors[k]);

        if (atom->kind == VN_ATOM_SYMBOL && atom->lower == G_MININT64)
          return VN_DIM_UNKNOWN;
      }
  return number;
}
