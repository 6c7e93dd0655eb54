/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What repairs need of linear algebra, on OpenBLAS and its LAPACK. Matrices lie in rows; symmetric ones hold their upper
 * triangle. Each call runs in the thread that makes it. */
#pragma once

#include "vn-error.h"

G_BEGIN_DECLS

gboolean    vn_linalg_init            (const char   *otherwise,
                                       GError      **error);
const char *vn_linalg_get_core        (void);

void        vn_linalg_add_moments     (double       *moments,
                                       gsize         k,
                                       const float  *columns,
                                       gsize         n,
                                       gsize         first,
                                       gsize         last,
                                       float        *scratch);
void        vn_linalg_add_energies    (double       *sums,
                                       const float  *rows,
                                       gsize         m,
                                       const float  *others,
                                       const float  *shares,
                                       gsize         n,
                                       gsize         k,
                                       float        *scratch);
gboolean    vn_linalg_inverse_factor  (double       *moments,
                                       gsize         k,
                                       GError      **error);
void        vn_linalg_subtract        (double       *a,
                                       gsize         a_step,
                                       const double *left,
                                       gsize         left_step,
                                       const double *right,
                                       gsize         right_step,
                                       gsize         m,
                                       gsize         n,
                                       gsize         k);
void        vn_linalg_multiply_inverse (double      *rows,
                                       gsize         m,
                                       const double *factor,
                                       gsize         k);
void        vn_linalg_add_product     (float        *c,
                                       gsize         c_step,
                                       const float  *a,
                                       gsize         a_step,
                                       gboolean      a_transposed,
                                       const float  *b,
                                       gsize         b_step,
                                       gboolean      b_transposed,
                                       gsize         m,
                                       gsize         n,
                                       gsize         k,
                                       float         factor);

G_END_DECLS
