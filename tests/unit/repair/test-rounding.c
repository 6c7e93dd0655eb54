/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Second-order rounding against the rule it comes from, done column by column with whole inverses; and that it does not leave
 * the products further off than rounding to the nearest. */
#include "vn-linalg.h"
#include "vn-rounding.h"

#include <math.h>
#include <string.h>

/* Numbers that look random, from -1 to 1. */
static double
number (guint *state)
{
  *state = *state * 1664525u + 1013904223u;
  return (double) (*state >> 8) / (1 << 23) - 1;
}

/* What layers read: vectors whose numbers go along with each other. */
static float *
make_columns (gsize k,
              gsize n,
              guint seed)
{
  float *columns = g_new (float, k * n);

  for (gsize p = 0; p < n; p++)
    {
      double common = number (&seed);

      for (gsize i = 0; i < k; i++)
        columns[p * k + i] = (float) (common + 0.5 * number (&seed) + 0.3);
    }
  return columns;
}

static double *
make_moments (gsize        k,
              const float *columns,
              gsize        n)
{
  double *moments = g_new0 (double, k * k);
  g_autofree float *scratch = g_new (float, k * k);

  vn_linalg_add_moments (moments, k, columns, n / 2, 0, k, scratch);
  vn_linalg_add_moments (moments, k, columns + n / 2 * k, n - n / 2, 0, k, scratch);
  return moments;
}

static void
test_moments (void)
{
  static const gsize sizes[] = { 1, 7, 40 };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    {
      gsize k = sizes[s], n = 50;
      g_autofree float *columns = make_columns (k, n, 3);
      g_autofree double *moments = make_moments (k, columns, n);

      for (gsize i = 0; i < k; i++)
        for (gsize j = i; j < k; j++)
          {
            double sum = 0;

            for (gsize p = 0; p < n; p++)
              sum += (double) columns[p * k + i] * (double) columns[p * k + j];
            g_assert_cmpfloat_with_epsilon (moments[i * k + j], sum, 1e-4 * n);
          }
    }
}

/* (w - q)ᵀ H (w - q) with H = X Xᵀ, where vector j is there shares[j] times. */
static void
test_energies (void)
{
  static const gsize sizes[] = { 1, 9, 40 };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (guint counted = 0; counted < 2; counted++)
      {
        const gsize k = sizes[s], n = 30, m = 5;
        g_autofree float *columns = make_columns (k, n, 3), *rows = make_columns (k, m, 4), *shares = g_new (float, n);
        g_autofree float *scratch = g_new (float, m * n);
        double sums[5] = { 1, 1, 1, 1, 1 };

        for (gsize j = 0; j < n; j++)
          shares[j] = 1 + (float) (j % 3);
        vn_linalg_add_energies (sums, rows, m, columns, counted ? shares : NULL, n, k, scratch);
        for (gsize r = 0; r < m; r++)
          {
            double wanted = 1;

            for (gsize i = 0; i < k; i++)
              for (gsize l = 0; l < k; l++)
                {
                  double h = 0;

                  for (gsize j = 0; j < n; j++)
                    h += (counted ? (double) shares[j] : 1) * (double) columns[j * k + i] * (double) columns[j * k + l];
                  wanted += (double) rows[r * k + i] * h * (double) rows[r * k + l];
                }
            g_assert_cmpfloat_with_epsilon (sums[r], wanted, 1e-5 * wanted);
          }
      }
}

static void
test_factor (void)
{
  const gsize k = 23, n = 200;
  g_autofree float *columns = make_columns (k, n, 5);
  g_autofree double *moments = make_moments (k, columns, n), *factor = g_memdup2 (moments, k * k * sizeof (double));

  g_assert_true (vn_linalg_inverse_factor (factor, k, NULL));
  /* H Uᵀ U = 1 */
  for (gsize i = 0; i < k; i++)
    for (gsize j = 0; j < k; j++)
      {
        double sum = 0;

        for (gsize l = 0; l < k; l++)
          {
            double inverse = 0;

            for (gsize u = 0; u <= MIN (l, j); u++)
              inverse += factor[u * k + l] * factor[u * k + j];
            sum += moments[MIN (i, l) * k + MAX (i, l)] * inverse;
          }
        g_assert_cmpfloat_with_epsilon (sum, i == j, 1e-6);
      }
}

static void
test_no_inverse (void)
{
  double moments[] = { 1, 2, 0, 1 };
  g_autoptr(GError) error = NULL;

  g_assert_false (vn_linalg_inverse_factor (moments, 2, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_NUMERIC);
}

/* ---- the rule ---- */

/* Inverse of the rows and columns from @first on, by elimination. */
static double *
invert_rest (const double *h,
             gsize         k,
             gsize         first)
{
  gsize n = k - first;
  double *inverse = g_new0 (double, n * n);
  g_autofree double *a = g_new (double, n * n);

  for (gsize i = 0; i < n; i++)
    {
      inverse[i * n + i] = 1;
      for (gsize j = 0; j < n; j++)
        a[i * n + j] = h[MIN (first + i, first + j) * k + MAX (first + i, first + j)];
    }
  for (gsize p = 0; p < n; p++)
    {
      double pivot = a[p * n + p];

      for (gsize j = 0; j < n; j++)
        {
          a[p * n + j] /= pivot;
          inverse[p * n + j] /= pivot;
        }
      for (gsize i = 0; i < n; i++)
        {
          double factor = a[i * n + p];

          for (gsize j = 0; j < n && i != p; j++)
            {
              a[i * n + j] -= factor * a[p * n + j];
              inverse[i * n + j] -= factor * inverse[p * n + j];
            }
        }
    }
  return inverse;
}

/* Each number in turn goes to the grid; the others take what makes up for it best: w[l] -= (w[j] - q) inv[j,l] / inv[j,j]. */
static void
round_by_rule (double               *weights,
               gsize                 m,
               gsize                 k,
               const VnRoundingGrid *grid,
               const double         *h)
{
  for (gsize j = 0; j < k; j++)
    {
      g_autofree double *inverse = invert_rest (h, k, j);

      for (gsize i = 0; i < m; i++)
        {
          double rounded = vn_rounding_nearest (grid, i, j, weights[i * k + j]);
          double error = (weights[i * k + j] - rounded) / inverse[0];

          weights[i * k + j] = rounded;
          for (gsize l = j + 1; l < k; l++)
            weights[i * k + l] -= error * inverse[l - j];
        }
    }
}

typedef struct
{
  gsize    m, k;
  gboolean per_row, blocks;
} Case;

static const Case cases[] = {
  { 1, 1, FALSE, FALSE }, { 4, 9, TRUE, FALSE }, { 5, 70, TRUE, FALSE }, { 3, 130, FALSE, FALSE }, { 4, 96, TRUE, TRUE },
};

#define PER_BLOCK 32

typedef struct
{
  float   scales[64];
  double  zeros[64];
  guint32 row[8], column[160];
} Grid;

static VnRoundingGrid
make_grid (Grid       *grid,
           const Case *c)
{
  gsize n_blocks = c->blocks ? (c->k + PER_BLOCK - 1) / PER_BLOCK : 1;

  for (gsize i = 0; i < G_N_ELEMENTS (grid->scales); i++)
    {
      grid->scales[i] = 0.09f + 0.01f * (float) (i % 7);
      grid->zeros[i] = c->per_row ? 0 : 3;
    }
  for (gsize i = 0; i < c->m; i++)
    grid->row[i] = c->per_row ? (guint32) (i * n_blocks) : 0;
  for (gsize j = 0; j < c->k; j++)
    grid->column[j] = c->blocks ? (guint32) (j / PER_BLOCK) : 0;
  return (VnRoundingGrid) { grid->scales, grid->zeros, grid->row, grid->column, -8, 7 };
}

static double
product_error (const double *before,
               const double *after,
               const Case   *c,
               const float  *columns,
               gsize         n)
{
  double sum = 0;

  for (gsize p = 0; p < n; p++)
    for (gsize i = 0; i < c->m; i++)
      {
        double error = 0;

        for (gsize j = 0; j < c->k; j++)
          error += (after[i * c->k + j] - before[i * c->k + j]) * (double) columns[p * c->k + j];
        sum += error * error;
      }
  return sum;
}

static void
test_rule (gconstpointer data)
{
  const Case *c = data;
  const gsize n = 600, size = c->m * c->k;
  guint seed = 11;
  Grid room;
  VnRoundingGrid grid = make_grid (&room, c);
  g_autofree float *columns = make_columns (c->k, n, 7);
  g_autofree double *moments = make_moments (c->k, columns, n), *damped = g_memdup2 (moments, c->k * c->k * sizeof (double));
  g_autofree double *weights = g_new (double, size), *solved = NULL, *wanted = NULL, *nearest = g_new (double, size);
  double diagonal = 0;

  for (gsize i = 0; i < size; i++)
    weights[i] = 0.6 * number (&seed);
  for (gsize i = 0; i < size; i++)
    nearest[i] = vn_rounding_nearest (&grid, i / c->k, i % c->k, weights[i]);
  solved = g_memdup2 (weights, size * sizeof (double));
  wanted = g_memdup2 (weights, size * sizeof (double));
  for (gsize i = 0; i < c->k; i++)
    diagonal += moments[i * c->k + i];
  for (gsize i = 0; i < c->k; i++)
    damped[i * c->k + i] += VN_ROUNDING_DAMPING * diagonal / (double) c->k;
  round_by_rule (wanted, c->m, c->k, &grid, damped);
  g_assert_true (vn_rounding_factor (moments, c->k, VN_ROUNDING_DAMPING, NULL));
  g_assert_true (vn_rounding_solve (solved, c->m, c->k, &grid, moments, NULL));
  for (gsize i = 0; i < size; i++)
    g_assert_cmpfloat_with_epsilon (solved[i], wanted[i], 1e-6);
  if (c->k > 1)
    g_assert_cmpfloat (product_error (weights, solved, c, columns, n), <, 0.7 * product_error (weights, nearest, c, columns, n));
}

/* Columns in order of what they read, largest first; those alike as they lie. */
static void
test_order (void)
{
  static const double diagonal[] = { 2, 7, 7, 0, 9, 1, 7 };
  static const guint32 wanted[] = { 4, 1, 2, 6, 0, 5, 3 };
  enum { K = G_N_ELEMENTS (diagonal) };
  double moments[K * K], before[K * K];
  guint32 order[K];

  for (gsize i = 0; i < K; i++)
    for (gsize j = 0; j < K; j++)
      before[i * K + j] = moments[i * K + j] = i == j ? diagonal[i] : j > i ? (double) (10 * i + j) / 100 : -1;
  g_assert_true (vn_rounding_order (moments, K, order, NULL));
  for (gsize i = 0; i < K; i++)
    {
      g_assert_cmpuint (order[i], ==, wanted[i]);
      for (gsize j = i; j < K; j++)
        g_assert_cmpfloat (moments[i * K + j], ==, before[MIN (order[i], order[j]) * K + MAX (order[i], order[j])]);
    }
}

static void
test_nothing_read (void)
{
  double moments[81] = { 0 };
  g_autoptr(GError) error = NULL;

  g_assert_false (vn_rounding_factor (moments, 9, VN_ROUNDING_DAMPING, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_NUMERIC);
}

/* A number that was never read goes to the nearest, and changes no other. */
static void
test_dead_column (void)
{
  Grid room;
  VnRoundingGrid grid = make_grid (&room, &cases[1]);
  double moments[4] = { 4, 0, 0, 0 }, weights[2] = { 0.44, 0.26 };

  g_assert_true (vn_rounding_factor (moments, 2, VN_ROUNDING_DAMPING, NULL));
  g_assert_true (vn_rounding_solve (weights, 1, 2, &grid, moments, NULL));
  g_assert_cmpfloat (weights[0], ==, vn_rounding_nearest (&grid, 0, 0, 0.44));
  g_assert_cmpfloat (weights[1], ==, vn_rounding_nearest (&grid, 0, 1, 0.26));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_assert_true (vn_linalg_init ("", NULL));
  g_test_add_func ("/linalg/moments", test_moments);
  g_test_add_func ("/linalg/energies", test_energies);
  g_test_add_func ("/rounding/order", test_order);
  g_test_add_func ("/linalg/factor", test_factor);
  g_test_add_func ("/linalg/no-inverse", test_no_inverse);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/rounding/rule/%zux%zu%s", cases[i].m, cases[i].k, cases[i].blocks
                                               ? "-blocks" : "");

      g_test_add_data_func (path, &cases[i], test_rule);
    }
  g_test_add_func ("/rounding/nothing-read", test_nothing_read);
  g_test_add_func ("/rounding/dead-column", test_dead_column);
  return g_test_run ();
}
