/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Expressions behind symbolic sizes: atoms, polynomials and their numbers. */

#include "vn-dims.h"
#include "vn-poly-private.h"

G_BEGIN_DECLS

typedef enum
{
  VN_ATOM_SYMBOL,
  VN_ATOM_REAL,     /* a float that is no short fraction */
  VN_ATOM_FLOOR,    /* floor (a / b) */
  VN_ATOM_MIN,
  VN_ATOM_MAX,
} VnAtomKind;

/* Nobody has an axis that long: exporters write 2^31 - 1, 2^63 - 1 and numbers near them. */
#define VN_DIMS_FAR 1000000000

/* What polynomials are made of. */
typedef struct
{
  VnAtomKind kind;
  char      *name;     /* of a symbol */
  double     real;
  gint64     a, b;     /* numbers */
  gint64     lower;    /* it is at least this; G_MININT64: nothing is known */
  guint      size;     /* of its text, roughly */
} VnAtom;

/* Numbers that stand for expressions: VN_DIMS_FIRST, VN_DIMS_FIRST - 2 ..., or one less: VN_DIM_IS_LONG. */
#define VN_DIMS_FIRST     (-((gint64) 1 << 62))
#define VN_DIMS_MAX_EXPRS ((gint64) 1 << 30)

typedef struct
{
  gint64 den;
  guint  n;
  VnTerm terms[];
} VnExpr;

struct _VnDims
{
  GPtrArray  *atoms;        /* of VnAtom */
  GPtrArray  *exprs;        /* of VnExpr, from index 1 on */
  GHashTable *expr_numbers; /* VnExpr -> distance of its number from the first */
  GHashTable *atom_numbers; /* key -> index + 1 */
  GHashTable *taken;        /* names that new symbols must not have */
  guint       next_fresh;
  gint64      far;          /* what is meant by an end of Slice from here on: “to the end” */
};

const VnExpr *vn_dims_get_expr (VnDims *self,
                                gint64  number);

/* The polynomial that @number stands for. */
void vn_dims_get_poly (VnDims *self,
                       gint64  number,
                       VnPoly *poly);
/* The number that stands for @poly; a new symbol if it is too long to read. */
gint64 vn_dims_from_poly (VnDims       *self,
                          const VnPoly *poly);
/* The expression that is one atom; @key: (transfer full): what tells atoms apart. */
gint64 vn_dims_from_atom (VnDims *self,
                          char   *key,
                          VnAtom  atom);
/* Of its text, roughly. */
guint vn_dims_get_text_size (VnDims *self,
                             gint64  number);
/* What it is at least; G_MININT64: nothing is known. */
gint64 vn_dims_get_poly_lower (VnDims       *self,
                               const VnPoly *poly);
/* Whether it may be something else than an integer. */
gboolean vn_dims_is_real_poly (VnDims       *self,
                               const VnPoly *poly);
/* NULL: @term is no multiple of one atom. */
const VnAtom *vn_dims_get_only_factor (VnDims       *self,
                                       const VnTerm *term);
/* @a / @b rounded down; @b is above 0. */
gint64 vn_dims_floor_quotient (gint64 a,
                               gint64 b);

G_END_DECLS
