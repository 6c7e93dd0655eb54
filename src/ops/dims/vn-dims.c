/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The expressions that numbers stand for (vn-dims.h), as they are kept. */
#include "vn-dims-private.h"

#include <string.h>

static guint
dims_expr_hash (gconstpointer data)
{
  const VnExpr *expr = data;
  guint64 hash = (guint64) expr->den * 31 + expr->n;

  for (guint i = 0; i < expr->n; i++)
    {
      hash = hash * 0x9e3779b97f4a7c15u + (guint64) expr->terms[i].coef;
      for (guint k = 0; k < expr->terms[i].n; k++)
        hash = (hash ^ hash >> 29) * 0x9e3779b97f4a7c15u + expr->terms[i].factors[k];
    }
  return (guint) (hash ^ hash >> 32);
}

static gboolean
dims_expr_equal (gconstpointer a,
                 gconstpointer b)
{
  const VnExpr *x = a, *y = b;

  return x->den == y->den && x->n == y->n && memcmp (x->terms, y->terms, x->n * sizeof (VnTerm)) == 0;
}

static void
dims_atom_free (gpointer data)
{
  VnAtom *self = data;

  g_free (self->name);
  g_free (self);
}

VnDims *
vn_dims_new (void)
{
  VnDims *self = g_new0 (VnDims, 1);

  self->far = VN_DIMS_FAR;
  self->atoms = g_ptr_array_new_with_free_func (dims_atom_free);
  self->exprs = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (self->exprs, NULL);   /* 0 is none of their numbers */
  self->expr_numbers = g_hash_table_new (dims_expr_hash, dims_expr_equal);
  self->atom_numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return self;
}

void
vn_dims_free (VnDims *self)
{
  g_hash_table_unref (self->expr_numbers);
  g_hash_table_unref (self->atom_numbers);
  g_hash_table_unref (self->taken);
  g_ptr_array_unref (self->exprs);
  g_ptr_array_unref (self->atoms);
  g_free (self);
}

/**
 * vn_dims_is_symbolic:
 *
 * Returns: whether @number stands for an expression. Integers from a file for which this is true must be refused.
 */
gboolean
vn_dims_is_symbolic (gint64 number)
{
  return number <= VN_DIMS_FIRST && number > VN_DIMS_FIRST - 2 * VN_DIMS_MAX_EXPRS;
}

const VnExpr *
vn_dims_get_expr (VnDims *self,
                  gint64  number)
{
  return g_ptr_array_index (self->exprs, (guint) ((VN_DIMS_FIRST - number) / 2));
}

/**
 * vn_dims_check:
 * @dim: what some code says is the size of a dim
 *
 * Returns: @dim if it is one, else %VN_DIM_UNKNOWN: it is negative and was not made by @self
 */
gint64
vn_dims_check (VnDims *self,
               gint64  dim)
{
  gint64 index;

  if (dim >= VN_DIM_UNKNOWN)
    return dim;
  if (!vn_dims_is_symbolic (dim))
    return VN_DIM_UNKNOWN;
  index = (VN_DIMS_FIRST - dim) / 2;
  if (index < 1 || index >= self->exprs->len ||
      VN_DIMS_FIRST - (gint64) GPOINTER_TO_SIZE (g_hash_table_lookup (self->expr_numbers, vn_dims_get_expr (self, dim))) != dim)
    return VN_DIM_UNKNOWN;
  return dim;
}

/* ---- numbers and polynomials ---- */

void
vn_dims_get_poly (VnDims *self,
                  gint64  number,
                  VnPoly *poly)
{
  const VnExpr *expr;

  vn_poly_init (poly, number);
  if (!vn_dims_is_symbolic (number))
    return;
  expr = vn_dims_get_expr (self, number);
  poly->den = expr->den;
  poly->n = expr->n;
  memcpy (poly->terms, expr->terms, expr->n * sizeof (VnTerm));
}

/**
 * vn_dims_take_name:
 *
 * Keeps new symbols from having this name.
 */
void
vn_dims_take_name (VnDims     *self,
                   const char *name)
{
  g_hash_table_add (self->taken, g_strdup (name));
}

/**
 * vn_dims_get_double:
 *
 * Returns: whether @number is an integer or a fraction, which is stored in @value
 */
gboolean
vn_dims_get_double (VnDims *self,
                    gint64  number,
                    double *value)
{
  VnPoly poly;

  vn_dims_get_poly (self, number, &poly);
  if (poly.n > 1 || (poly.n == 1 && poly.terms[0].n > 0))
    return FALSE;
  *value = poly.n == 1 ? (double) poly.terms[0].coef / (double) poly.den : 0;
  return TRUE;
}
