/* SPDX-License-Identifier: GPL-3.0-or-later */
/* New numbers for polynomials, symbols and fractions. */
#include "vn-dims-private.h"

#include <math.h>
#include <string.h>

/* What would read longer than this is no help to anybody. */
#define MAX_SIZE 64

/* Fractions with a denominator above this are not followed: floats round where they would not. */
#define MAX_DEN 1024

static guint
dims_make_poly_size (VnDims       *self,
                     const VnPoly *poly)
{
  guint size = 0;

  for (guint i = 0; i < poly->n; i++)
    {
      size += 1;
      for (guint k = 0; k < poly->terms[i].n; k++)
        size += ((const VnAtom *) g_ptr_array_index (self->atoms, poly->terms[i].factors[k]))->size;
    }
  return size;
}

guint
vn_dims_get_text_size (VnDims *self,
                       gint64  number)
{
  VnPoly poly;

  vn_dims_get_poly (self, number, &poly);
  return dims_make_poly_size (self, &poly);
}

gint64
vn_dims_from_poly (VnDims       *self,
                   const VnPoly *poly)
{
  gsize bytes = poly->n * sizeof (VnTerm);
  VnExpr *expr;
  gint64 number;

  if (poly->n == 0)
    return 0;
  if (poly->n == 1 && poly->terms[0].n == 0 && poly->den == 1 && !vn_dims_is_symbolic (poly->terms[0].coef))
    return poly->terms[0].coef;
  if (dims_make_poly_size (self, poly) > MAX_SIZE || self->exprs->len >= VN_DIMS_MAX_EXPRS)
    return vn_dims_fresh (self, G_MININT64);
  expr = g_malloc (sizeof (VnExpr) + bytes);
  expr->den = poly->den;
  expr->n = poly->n;
  memcpy (expr->terms, poly->terms, bytes);
  number = GPOINTER_TO_SIZE (g_hash_table_lookup (self->expr_numbers, expr));
  if (number != 0)
    {
      g_free (expr);
      return VN_DIMS_FIRST - number;
    }
  number = 2 * (gint64) self->exprs->len + (vn_dims_get_poly_lower (self, poly) > 1);
  g_ptr_array_add (self->exprs, expr);
  g_hash_table_insert (self->expr_numbers, expr, GSIZE_TO_POINTER (number));
  return VN_DIMS_FIRST - number;
}

/* The expression that is one atom; @key: (transfer full): what tells atoms apart. */
gint64
vn_dims_from_atom (VnDims *self,
                   char   *key,
                   VnAtom  atom)
{
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (self->atom_numbers, key));
  VnPoly poly = { 1, 1, { { 1, 1 } } };

  if (index == 0)
    {
      atom.name = g_strdup (atom.name);
      g_ptr_array_add (self->atoms, g_memdup2 (&atom, sizeof atom));
      index = self->atoms->len;
      g_hash_table_insert (self->atom_numbers, key, GUINT_TO_POINTER (index));
    }
  else
    {
      VnAtom *known = g_ptr_array_index (self->atoms, index - 1);

      known->lower = MAX (known->lower, atom.lower);
      g_free (key);
    }
  poly.terms[0].factors[0] = index - 1;
  return vn_dims_from_poly (self, &poly);
}

/**
 * vn_dims_symbol:
 * @name: as it stands in the file
 * @lower: it is at least this
 *
 * Returns: the number that stands for it
 */
gint64
vn_dims_symbol (VnDims     *self,
                const char *name,
                gint64      lower)
{
  return vn_dims_from_atom (self, g_strconcat ("s", name, NULL),
                            (VnAtom) { .kind = VN_ATOM_SYMBOL, .name = (char *) name, .lower = lower, .size = 1 });
}

/**
 * vn_dims_fresh:
 * @lower: it is at least this; %G_MININT64 if nothing is known of it
 *
 * Returns: a symbol that equals no other: “unk__0”, “unk__1” ...
 */
gint64
vn_dims_fresh (VnDims *self,
               gint64  lower)
{
  g_autofree char *name = NULL;

  do
    {
      g_free (name);
      name = g_strdup_printf ("unk__%u", self->next_fresh++);
    }
  while (g_hash_table_contains (self->taken, name));
  return vn_dims_symbol (self, name, lower);
}

/**
 * vn_dims_rename:
 * @number: of vn_dims_fresh(); nothing happens to others
 * @name: what it is to be called from now on, unless something else is
 */
void
vn_dims_rename (VnDims     *self,
                gint64      number,
                const char *name)
{
  const VnExpr *expr = vn_dims_is_symbolic (number) ? vn_dims_get_expr (self, number) : NULL;
  g_autofree char *key = g_strconcat ("s", name, NULL);
  VnAtom *atom;

  if (expr == NULL || expr->n != 1 || expr->den != 1 || expr->terms[0].coef != 1 || expr->terms[0].n != 1)
    return;
  atom = g_ptr_array_index (self->atoms, expr->terms[0].factors[0]);
  if (atom->kind != VN_ATOM_SYMBOL || g_hash_table_contains (self->taken, atom->name) ||
      g_hash_table_contains (self->atom_numbers, key))
    return;
  g_free (atom->name);
  atom->name = g_strdup (name);
  g_hash_table_insert (self->atom_numbers, g_steal_pointer (&key), GUINT_TO_POINTER (expr->terms[0].factors[0] + 1));
}

/**
 * vn_dims_from_double:
 *
 * Returns: the number that stands for @value, which need not be an integer
 */
gint64
vn_dims_from_double (VnDims *self,
                     double  value)
{
  double times = value * MAX_DEN;
  VnPoly poly;

  if (self == NULL)
    return VN_DIM_UNKNOWN;
  if (!isfinite (value))
    return vn_dims_fresh (self, G_MININT64);
  if (times == floor (times) && fabs (times) < 0x1p40)
    {
      vn_poly_init (&poly, (gint64) times);
      vn_poly_set_den (&poly, MAX_DEN);
      return vn_dims_from_poly (self, &poly);
    }
  return vn_dims_from_atom (self, g_strdup_printf ("r%a", value),
                            (VnAtom) { .kind = VN_ATOM_REAL, .real = value, .size = 1,
                                       .lower = fabs (value) < 0x1p40 ? (gint64) floor (value) : G_MININT64 });
}
