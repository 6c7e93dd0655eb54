/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

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
};

const VnExpr *vn_dims_get_expr (VnDims *self,
                                gint64  number);

G_END_DECLS
