/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbolic sizes: numbers that stand for expressions of open dims, and names for new ones. */
#include "vn-dims-private.h"

#include <math.h>
#include <string.h>

/* Numbers that stand for expressions: FIRST, FIRST - 2 ..., or one less: VN_DIM_IS_LONG. */
#define FIRST     (-((gint64) 1 << 62))
#define MAX_EXPRS ((gint64) 1 << 30)

/* What would read longer than this is no help to anybody. */
#define MAX_SIZE 64

/* Fractions with a denominator above this are not followed: floats round where they would not. */
#define MAX_DEN 1024

static guint
expr_hash (gconstpointer data)
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
expr_equal (gconstpointer a,
            gconstpointer b)
{
  const VnExpr *x = a, *y = b;

  return x->den == y->den && x->n == y->n && memcmp (x->terms, y->terms, x->n * sizeof (VnTerm)) == 0;
}

static void
atom_free (gpointer data)
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
  self->atoms = g_ptr_array_new_with_free_func (atom_free);
  self->exprs = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (self->exprs, NULL);   /* 0 is none of their numbers */
  self->expr_numbers = g_hash_table_new (expr_hash, expr_equal);
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
  return number <= FIRST && number > FIRST - 2 * MAX_EXPRS;
}

const VnExpr *
vn_dims_get_expr (VnDims *self,
                  gint64  number)
{
  return g_ptr_array_index (self->exprs, (guint) ((FIRST - number) / 2));
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
  gint64 index = (FIRST - dim) / 2;

  if (dim >= VN_DIM_UNKNOWN)
    return dim;
  if (!vn_dims_is_symbolic (dim) || index < 1 || index >= self->exprs->len ||
      FIRST - (gint64) GPOINTER_TO_SIZE (g_hash_table_lookup (self->expr_numbers, vn_dims_get_expr (self, dim))) != dim)
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

static guint
poly_size (VnDims       *self,
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
  if (poly_size (self, poly) > MAX_SIZE || self->exprs->len >= MAX_EXPRS)
    return vn_dims_fresh (self, G_MININT64);
  expr = g_malloc (sizeof (VnExpr) + bytes);
  expr->den = poly->den;
  expr->n = poly->n;
  memcpy (expr->terms, poly->terms, bytes);
  number = GPOINTER_TO_SIZE (g_hash_table_lookup (self->expr_numbers, expr));
  if (number != 0)
    {
      g_free (expr);
      return FIRST - number;
    }
  number = 2 * (gint64) self->exprs->len + (vn_dims_get_poly_lower (self, poly) > 1);
  g_ptr_array_add (self->exprs, expr);
  g_hash_table_insert (self->expr_numbers, expr, GSIZE_TO_POINTER (number));
  return FIRST - number;
}

guint
vn_dims_get_text_size (VnDims *self,
                       gint64  number)
{
  VnPoly poly;

  vn_dims_get_poly (self, number, &poly);
  return poly_size (self, &poly);
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
