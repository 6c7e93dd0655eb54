/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Polynomials with integer coefficients over numbered factors, for vn-dims.c. */

#include <glib.h>

G_BEGIN_DECLS

#define VN_POLY_MAX_TERMS   24
#define VN_POLY_MAX_FACTORS 6

/* coef * factor * factor ...; the factors ascending, unused ones 0 */
typedef struct
{
  gint64  coef;
  guint32 n;
  guint32 factors[VN_POLY_MAX_FACTORS];
} VnTerm;

/* Terms in descending order (degree, then factors), none with coef 0; no term: 0. The sum is divided by den > 0, which
 * has no divisor in common with all coefs. */
typedef struct
{
  gint64 den;
  guint  n;
  VnTerm terms[VN_POLY_MAX_TERMS];
} VnPoly;

void     vn_poly_init     (VnPoly       *self,
                           gint64        value);
gboolean vn_poly_add_term (VnPoly       *self,
                           const VnTerm *term);
gboolean vn_poly_add      (VnPoly       *self,
                           const VnPoly *other,
                           gint64        times);
gboolean vn_poly_mul      (const VnPoly *a,
                           const VnPoly *b,
                           VnPoly       *out);
gboolean vn_poly_divide   (const VnPoly *a,
                           const VnPoly *b,
                           VnPoly       *out);
gboolean vn_poly_set_den  (VnPoly       *self,
                           gint64        by);
void     vn_poly_cancel   (VnPoly       *a,
                           VnPoly       *b);
gint64   vn_gcd           (gint64        a,
                           gint64        b);

G_END_DECLS
