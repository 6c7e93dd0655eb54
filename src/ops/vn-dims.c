/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-dims-private.h"

#include "vn-checked.h"

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

static void
poly_of (VnDims *self,
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

static gint64 poly_lower (VnDims       *self,
                          const VnPoly *poly);

static gint64
number_of (VnDims       *self,
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
  number = 2 * (gint64) self->exprs->len + (poly_lower (self, poly) > 1);
  g_ptr_array_add (self->exprs, expr);
  g_hash_table_insert (self->expr_numbers, expr, GSIZE_TO_POINTER (number));
  return FIRST - number;
}

static guint
number_size (VnDims *self,
             gint64  number)
{
  VnPoly poly;

  poly_of (self, number, &poly);
  return poly_size (self, &poly);
}

/* The expression that is one atom; @key: (transfer full): what tells atoms apart. */
static gint64
number_of_atom (VnDims *self,
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
  return number_of (self, &poly);
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
  return number_of_atom (self, g_strconcat ("s", name, NULL),
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
      return number_of (self, &poly);
    }
  return number_of_atom (self, g_strdup_printf ("r%a", value),
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

  poly_of (self, number, &poly);
  if (poly.n > 1 || (poly.n == 1 && poly.terms[0].n > 0))
    return FALSE;
  *value = poly.n == 1 ? (double) poly.terms[0].coef / (double) poly.den : 0;
  return TRUE;
}

/* ---- bounds ---- */

static const VnAtom *
only_factor (VnDims       *self,
             const VnTerm *term)
{
  return term->n == 1 ? g_ptr_array_index (self->atoms, term->factors[0]) : NULL;
}

/* Replaces -k floor (a / b) by the smaller -k a / b, and -k min (a, b) by -k a or -k b, so that it may cancel out. */
static gboolean
relax (VnDims *self,
       VnPoly *poly)
{
  for (guint i = 0; i < poly->n; i++)
    {
      const VnAtom *atom = only_factor (self, &poly->terms[i]);
      VnPoly by, sum;
      VnTerm term = poly->terms[i];

      if (term.coef >= 0 || atom == NULL || (atom->kind != VN_ATOM_MIN && atom->kind != VN_ATOM_FLOOR) ||
          (atom->kind == VN_ATOM_FLOOR && (vn_dims_is_symbolic (atom->b) || atom->b < 1)))
        continue;
      poly_of (self, atom->kind == VN_ATOM_MIN && !vn_dims_is_symbolic (atom->b) ? atom->b : atom->a, &by);
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
term_lower (VnDims       *self,
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

static gint64
floor_quotient (gint64 a,
                gint64 b)
{
  return a / b - (a % b < 0);
}

static gint64
poly_lower (VnDims       *self,
            const VnPoly *poly)
{
  VnPoly rest = *poly;
  gint64 sum = 0;

  for (guint i = 0; i < 4 && rest.den < G_MAXINT32 && relax (self, &rest); i++)
    ;
  for (guint i = 0; i < rest.n; i++)
    {
      gint64 lower;

      if (!term_lower (self, &rest.terms[i], &lower) || !vn_checked_add_s64 (sum, lower, &sum))
        return G_MININT64;
    }
  /* The value is an integer if it has no denominator itself. */
  return floor_quotient (sum, rest.den) + (poly->den == 1 && sum % rest.den != 0);
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
  poly_of (self, number, &poly);
  return poly_lower (self, &poly);
}

/* Whether it may be something else than an integer. */
static gboolean
is_real (VnDims       *self,
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
  poly_of (self, number, &poly);
  if (poly.den != 1 || is_real (self, &poly))
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

/* ---- arithmetic ---- */

static gint64
add_times (VnDims *self,
           gint64  a,
           gint64  b,
           gint64  times)
{
  VnPoly x, y;

  if (self == NULL)
    return VN_DIM_UNKNOWN;
  poly_of (self, a, &x);
  poly_of (self, b, &y);
  return vn_poly_add (&x, &y, times) ? number_of (self, &x) : vn_dims_fresh (self, G_MININT64);
}

gint64
vn_dims_add (VnDims *self,
             gint64  a,
             gint64  b)
{
  return add_times (self, a, b, 1);
}

gint64
vn_dims_sub (VnDims *self,
             gint64  a,
             gint64  b)
{
  return add_times (self, a, b, -1);
}

gint64
vn_dims_mul (VnDims *self,
             gint64  a,
             gint64  b)
{
  VnPoly x, y, product;

  if (self == NULL)
    return VN_DIM_UNKNOWN;
  poly_of (self, a, &x);
  poly_of (self, b, &y);
  return vn_poly_mul (&x, &y, &product) ? number_of (self, &product) : vn_dims_fresh (self, G_MININT64);
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
  poly_of (self, a, &x);
  poly_of (self, b, &y);
  if (y.n == 1 && y.terms[0].n == 0 && y.terms[0].coef > 0)
    {
      VnPoly product, den;

      vn_poly_init (&den, y.den);
      if (vn_poly_mul (&x, &den, &product) && vn_poly_set_den (&product, y.terms[0].coef))
        return number_of (self, &product);
    }
  return vn_poly_divide (&x, &y, &quotient) ? number_of (self, &quotient) : vn_dims_fresh (self, G_MININT64);
}

/* floor (a / b) as it is. */
static gint64
quotient_atom (VnDims *self,
               gint64  a,
               gint64  b)
{
  gint64 lower_a = vn_dims_get_lower (self, a), lower_b = vn_dims_get_lower (self, b);
  gint64 lower = lower_a >= 0 && lower_b >= 1 ? 0 : G_MININT64;

  if (!vn_dims_is_symbolic (b) && b > 0 && lower_a != G_MININT64)
    lower = floor_quotient (lower_a, b);
  return number_of_atom (self, g_strdup_printf ("f%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT, a, b),
                         (VnAtom) { .kind = VN_ATOM_FLOOR, .a = a, .b = b, .lower = lower,
                                    .size = number_size (self, a) + number_size (self, b) });
}

/* Takes what is divisible out of @poly / den: only coefs from 0 to den - 1 remain in it. */
static gboolean
split_whole (VnPoly *poly,
             VnPoly *whole)
{
  VnPoly rest;

  vn_poly_init (whole, 0);
  vn_poly_init (&rest, 0);
  for (guint i = 0; i < poly->n; i++)
    {
      VnTerm term = poly->terms[i], quotient = term;

      quotient.coef = floor_quotient (term.coef, poly->den);
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
reduce_floor (VnPoly *poly)
{
  gint64 common = poly->den;

  for (guint i = 0; i < poly->n; i++)
    if (poly->terms[i].n > 0)
      common = vn_gcd (common, poly->terms[i].coef);
  if (common <= 1)
    return;
  poly->den /= common;
  for (guint i = 0; i < poly->n; i++)
    poly->terms[i].coef = floor_quotient (poly->terms[i].coef, common);
  if (poly->n > 0 && poly->terms[poly->n - 1].coef == 0)
    poly->n--;
}

/* floor ((floor (x / m) + c) / d) is floor ((x + m c) / (m d)). */
static gboolean
unnest_floor (VnDims *self,
              VnPoly *poly)
{
  const VnAtom *atom = poly->n > 0 && poly->n <= 2 && poly->terms[0].coef == 1 ? only_factor (self, &poly->terms[0]) : NULL;
  gint64 constant = poly->n == 2 ? poly->terms[1].coef : 0;
  VnPoly inner, add;

  if (atom == NULL || atom->kind != VN_ATOM_FLOOR || vn_dims_is_symbolic (atom->b) ||
      (poly->n == 2 && poly->terms[1].n > 0) || !vn_checked_mul_s64 (constant, atom->b, &constant))
    return FALSE;
  poly_of (self, atom->a, &inner);
  vn_poly_init (&add, constant);
  if (inner.den != 1 || !vn_poly_add (&inner, &add, 1) || !vn_checked_mul_s64 (poly->den, atom->b, &inner.den))
    return FALSE;
  *poly = inner;
  return TRUE;
}

/* floor (poly), in a form that is the same for equal values in the cases that networks make. */
static gint64
floor_poly (VnDims *self,
            VnPoly *poly)
{
  VnPoly whole, part;
  gint64 inner;

  if (is_real (self, poly))
    return quotient_atom (self, number_of (self, poly), 1);
  if (!split_whole (poly, &whole))
    return vn_dims_fresh (self, G_MININT64);
  reduce_floor (poly);
  while (poly->den > 1 && unnest_floor (self, poly))
    {
      VnPoly more;

      if (!split_whole (poly, &more) || !vn_poly_add (&whole, &more, 1))
        return vn_dims_fresh (self, G_MININT64);
      reduce_floor (poly);
    }
  if (poly->n == 0 || (poly->den > 1 && poly->terms[0].n == 0))
    return number_of (self, &whole);
  part = *poly;
  part.den = 1;
  inner = number_of (self, &part);
  if (poly->den > 1)
    inner = quotient_atom (self, inner, poly->den);
  return vn_dims_add (self, number_of (self, &whole), inner);
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
  poly_of (self, a, &x);
  poly_of (self, b, &y);
  if (x.n == 0 || y.n == 0)
    return y.n == 0 ? vn_dims_fresh (self, G_MININT64) : 0;
  if (vn_poly_divide (&x, &y, &quotient) && !is_real (self, &quotient))
    return number_of (self, &quotient);
  if (x.den != 1 || y.den != 1)
    {
      VnPoly exact;

      poly_of (self, vn_dims_div (self, a, b), &exact);
      return floor_poly (self, &exact);
    }
  vn_poly_cancel (&x, &y);
  if (y.n == 1 && y.terms[0].n == 0 && y.terms[0].coef > 0)
    return vn_poly_set_den (&x, y.terms[0].coef) ? floor_poly (self, &x) : vn_dims_fresh (self, G_MININT64);
  return quotient_atom (self, number_of (self, &x), number_of (self, &y));
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
  poly_of (self, a, &poly);
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
pick (VnDims     *self,
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
  return number_of_atom (self, g_strdup_printf ("%c%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT,
                                                kind == VN_ATOM_MAX ? 'M' : 'm', MIN (a, b), MAX (a, b)),
                         (VnAtom) { .kind = kind, .a = MIN (a, b), .b = MAX (a, b),
                                    .lower = kind == VN_ATOM_MAX ? MAX (lower_a, lower_b) : MIN (lower_a, lower_b),
                                    .size = number_size (self, a) + number_size (self, b) });
}

gint64
vn_dims_min (VnDims *self,
             gint64  a,
             gint64  b)
{
  return pick (self, a, b, VN_ATOM_MIN);
}

gint64
vn_dims_max (VnDims *self,
             gint64  a,
             gint64  b)
{
  return pick (self, a, b, VN_ATOM_MAX);
}
