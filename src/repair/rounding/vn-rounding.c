/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Optimal brain quantization in the form of Frantar et al., "GPTQ" (2022): with H the second moments of what the layer reads and
 * inverse (H) = Uᵀ U, columns are rounded from the first to the last; the error of column j, divided by U[j,j] and times
 * U[j,l], is taken off each column l behind it. Blocks of columns at a time, as there: the rest follows by one product. */
#include "vn-rounding.h"

#include "vn-i18n.h"
#include "vn-linalg.h"
#include "vn-memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 64

/**
 * vn_rounding_nearest:
 *
 * Returns: the value of the grid nearest to @weight, ties to even as QuantizeLinear
 */
double
vn_rounding_nearest (const VnRoundingGrid *grid,
                     gsize                 row,
                     gsize                 column,
                     double                weight)
{
  gsize at = grid->row[row] + grid->column[column];
  double scale = (double) grid->scales[at], zero = grid->zero_points[at], whole = floor (zero), q;

  if (scale == 0 || !isfinite (scale))     /* of blocks it may be negative */
    return weight;
  q = CLAMP (rint (weight / scale + (zero - whole)) + whole, (double) grid->qmin, (double) grid->qmax);
  return (q - zero) * scale;
}

typedef struct
{
  double  moment;
  guint32 column;
} RoundedColumn;

static int
rounding_compare_columns (gconstpointer a,
                          gconstpointer b)
{
  const RoundedColumn *x = a, *y = b;

  return x->moment != y->moment ? (x->moment < y->moment) - (x->moment > y->moment)
                                : (x->column > y->column) - (x->column < y->column);
}

/* Both triangles, so that whole rows can change places. */
static void
rounding_mirror (double *moments,
                 gsize   k)
{
  for (gsize i = 0; i < k; i++)
    for (gsize j = 0; j < i; j++)
      moments[i * k + j] = moments[j * k + i];
}

/* Row i becomes row order[i] of before, cycle by cycle; and in each row column i becomes column order[i]. @done: @k of %FALSE */
static void
rounding_permute (double        *moments,
                  gsize          k,
                  const guint32 *order,
                  double        *row,
                  gboolean      *done)
{
  for (gsize first = 0; first < k; first++)
    {
      gsize i = first;

      if (done[first])
        continue;
      memcpy (row, moments + first * k, k * sizeof *row);
      for (; order[i] != first; i = order[i])
        {
          memcpy (moments + i * k, moments + order[i] * k, k * sizeof *row);
          done[i] = TRUE;
        }
      memcpy (moments + i * k, row, k * sizeof *row);
      done[i] = TRUE;
    }
  for (gsize i = 0; i < k; i++)
    {
      memcpy (row, moments + i * k, k * sizeof *row);
      for (gsize j = 0; j < k; j++)
        moments[i * k + j] = row[order[j]];
    }
}

/**
 * vn_rounding_order:
 * @moments: (inout): @k x @k, upper triangle: sum of x xᵀ over what the layer read; its rows and columns come into that order
 * @order: (out): @k columns, that which was largest first: what is rounded early is made up for by most others. Scales stay
 *   those of the columns as they lie ("act-order" with static groups, of Frantar's code of "GPTQ")
 *
 * Returns: %FALSE if memory is short
 */
gboolean
vn_rounding_order (double   *moments,
                   gsize     k,
                   guint32  *order,
                   GError  **error)
{
  g_autofree RoundedColumn *columns = vn_try_new (RoundedColumn, k, error);
  g_autofree double *row = columns != NULL ? vn_try_new (double, k, error) : NULL;
  g_autofree gboolean *done = row != NULL ? vn_try_new0 (gboolean, k, error) : NULL;

  g_return_val_if_fail (moments != NULL && order != NULL && k > 0 && k <= G_MAXUINT32, FALSE);

  if (done == NULL)
    return FALSE;
  for (gsize i = 0; i < k; i++)
    columns[i] = (RoundedColumn) { isfinite (moments[i * k + i]) ? moments[i * k + i] : 0, (guint32) i };
  qsort (columns, k, sizeof *columns, rounding_compare_columns);
  for (gsize i = 0; i < k; i++)
    order[i] = columns[i].column;
  rounding_mirror (moments, k);
  rounding_permute (moments, k, order, row, done);
  return TRUE;
}

/* Where nothing was ever read, any weight is right; a little on the diagonal keeps the inverse in hand. */
static gboolean
rounding_damp (double *moments,
               gsize   k,
               double  damping)
{
  double sum = 0;

  for (gsize i = 0; i < k; i++)
    sum += moments[i * k + i];
  if (!(sum > 0) || !isfinite (sum))
    return FALSE;
  for (gsize i = 0; i < k; i++)
    moments[i * k + i] += (moments[i * k + i] > 0 ? damping : 1) * sum / (double) k;
  return TRUE;
}

/* Rounds the columns from @first to @last of one row, and keeps what each left for those behind the block. */
static void
rounding_row (double               *weights,
              gsize                 row,
              gsize                 k,
              const VnRoundingGrid *grid,
              const double         *factor,
              gsize                 first,
              gsize                 last,
              double               *left)
{
  for (gsize j = first; j < last; j++)
    {
      double rounded = vn_rounding_nearest (grid, row, j, weights[j]);
      double error = (weights[j] - rounded) / factor[j * k + j];

      weights[j] = rounded;
      left[j - first] = error;
      for (gsize l = j + 1; l < last; l++)
        weights[l] -= error * factor[j * k + l];
    }
}

/**
 * vn_rounding_factor:
 * @moments: (inout): @k x @k, upper triangle: sum of x xᵀ over what the layer read; becomes what vn_rounding_solve() takes
 * @damping: share of the mean diagonal that is added to it; %VN_ROUNDING_DAMPING
 *
 * Returns: %FALSE with %VN_ERROR_NUMERIC if the moments say nothing
 */
gboolean
vn_rounding_factor (double   *moments,
                    gsize     k,
                    double    damping,
                    GError  **error)
{
  g_return_val_if_fail (moments != NULL && k > 0, FALSE);

  if (rounding_damp (moments, k, damping))
    return vn_linalg_inverse_factor (moments, k, error);
  g_set_error_literal (error, VN_ERROR, VN_ERROR_NUMERIC, _("All inputs of the layer are zero or non-finite"));
  return FALSE;
}

/**
 * vn_rounding_solve:
 * @weights: (inout): @m x @k in rows, each of which is rounded by itself; becomes values of @grid
 * @factor: of vn_rounding_factor()
 *
 * Returns: %FALSE if memory is short; @weights are as they were then
 */
gboolean
vn_rounding_solve (double               *weights,
                   gsize                 m,
                   gsize                 k,
                   const VnRoundingGrid *grid,
                   const double         *factor,
                   GError              **error)
{
  g_autofree double *left = NULL;

  g_return_val_if_fail (weights != NULL && grid != NULL && factor != NULL && m > 0 && k > 0, FALSE);

  left = vn_try_new (double, m * BLOCK, error);
  if (left == NULL)
    return FALSE;
  for (gsize first = 0; first < k; first += BLOCK)
    {
      gsize last = MIN (first + BLOCK, k);

      for (gsize i = 0; i < m; i++)
        rounding_row (weights + i * k, i, k, grid, factor, first, last, left + i * BLOCK);
      vn_linalg_subtract (weights + last, k, left, BLOCK, factor + first * k + last, k, m, k - last, last - first);
    }
  return TRUE;
}
