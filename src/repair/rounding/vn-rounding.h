/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Second-order rounding of a matrix of weights: each number goes to the integer that, with what the numbers behind it can
 * make up for, changes the products least. */
#pragma once

#include "vn-error.h"

G_BEGIN_DECLS

/**
 * VnRoundingGrid: the integers that weights become: clamp (round (w / scale) + zero_point); of a zero point that
 * is no integer, the fraction is added before rounding.
 * @scales, @zero_points: the one at row[m] + column[k] holds for the weight in row m, column k
 * @qmin, @qmax: least and largest integer
 */
typedef struct
{
  const float   *scales;
  const double  *zero_points;
  const guint32 *row, *column;
  gint64         qmin, qmax;
} VnRoundingGrid;

#define VN_ROUNDING_DAMPING 0.01

gboolean vn_rounding_order   (double               *moments,
                              gsize                 k,
                              guint32              *order,
                              GError              **error);
gboolean vn_rounding_factor  (double               *moments,
                              gsize                 k,
                              double                damping,
                              GError              **error);
gboolean vn_rounding_solve   (double               *weights,
                              gsize                 m,
                              gsize                 k,
                              const VnRoundingGrid *grid,
                              const double         *factor,
                              GError              **error);
double   vn_rounding_nearest (const VnRoundingGrid *grid,
                              gsize                 row,
                              gsize                 column,
                              double                weight);

G_END_DECLS
