/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-error-table.h"

G_BEGIN_DECLS

/**
 * VnErrorSum: running sums over pairs of tensors, in double precision: f float, q quantized.
 * Elements where f is not finite are counted as bad of the float network and left out; those where only q is not are bad.
 */
typedef struct
{
  guint64 n, n_bad, n_bad_float;
  double  ff, qq, fq, dd;      /* sums of f*f, q*q, f*q, (q-f)*(q-f) */
  double  max_error;
  double  float_min, float_max, quant_min, quant_max;
} VnErrorSum;

void   vn_error_sum_init   (VnErrorSum       *self);
void   vn_error_sum_add    (VnErrorSum       *self,
                            const float      *f,
                            const float      *q,
                            gsize             n);
void   vn_error_sum_merge  (VnErrorSum       *self,
                            const VnErrorSum *from);
double vn_error_sum_noise  (const VnErrorSum *self);
double vn_error_sum_sqnr   (const VnErrorSum *self);
double vn_error_sum_bounded_sqnr (const VnErrorSum *self);
double vn_error_sum_cosine (const VnErrorSum *self);
double vn_error_sum_mse    (const VnErrorSum *self);
void   vn_error_sum_fill_row (const VnErrorSum *self,
                              VnErrorRow       *row);

G_END_DECLS
