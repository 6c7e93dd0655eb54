/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-compare.h"
#include "vn-error-sum.h"

#include <math.h>

static VnErrorSum
sum_of (const float *f,
        const float *q,
        gsize        n)
{
  VnErrorSum sum;

  vn_error_sum_init (&sum);
  vn_error_sum_add (&sum, f, q, n);
  return sum;
}

static void
test_table (void)
{
  static const struct
  {
    const char *name;
    float       f[4], q[4];
    double      noise, cosine, mse, max;
  } cases[] = {
    { "equal", { 1, -2, 3, 0 }, { 1, -2, 3, 0 }, 0, 1, 0, 0 },
    { "one tenth of the power", { 1, 0, 3, 0 }, { 1, 1, 3, 0 }, 0.1, 10 / 10.488088481701515, 0.25, 1 },
    { "both zero", { 0 }, { 0 }, 0, 1, 0, 0 },
    { "noise without signal", { 0 }, { 1, 0, 0, 0 }, INFINITY, 0, 0.25, 1 },
    { "signal lost", { 3, 4, 0, 0 }, { 0 }, 1, 0, 6.25, 4 },
    { "opposite", { 1, 2, 0, 0 }, { -1, -2, 0, 0 }, 4, -1, 5, 4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnErrorSum sum = sum_of (cases[i].f, cases[i].q, 4);

      g_test_message ("%s: noise %g cosine %g mse %g max %g", cases[i].name, vn_error_sum_noise (&sum),
                      vn_error_sum_cosine (&sum), vn_error_sum_mse (&sum), sum.max_error);
      if (isinf (cases[i].noise))
        g_assert_true (isinf (vn_error_sum_noise (&sum)));
      else
        g_assert_cmpfloat_with_epsilon (vn_error_sum_noise (&sum), cases[i].noise, 1e-12);
      g_assert_cmpfloat_with_epsilon (vn_error_sum_cosine (&sum), cases[i].cosine, 1e-7);
      g_assert_cmpfloat_with_epsilon (vn_error_sum_mse (&sum), cases[i].mse, 1e-12);
      g_assert_cmpfloat_with_epsilon (sum.max_error, cases[i].max, 1e-12);
    }
}

static void
test_decibels (void)
{
  const float f[] = { 10, 0 }, q[] = { 10, 1 };
  VnErrorSum sum = sum_of (f, q, 2);
  VnErrorSum same = sum_of (f, f, 2);

  g_assert_cmpfloat_with_epsilon (vn_error_sum_sqnr (&sum), 20, 1e-9);
  g_assert_true (isinf (vn_error_sum_sqnr (&same)) && vn_error_sum_sqnr (&same) > 0);
}

/* Lengths around the block and lane sizes, against sums in plain order. */
static void
test_lengths (void)
{
  static const gsize lengths[] = { 1, 7, 8, 9, 1023, 1024, 1025, 5000 };
  g_autofree float *f = g_new (float, 5000);
  g_autofree float *q = g_new (float, 5000);
  g_autoptr(GRand) rand = g_rand_new_with_seed (7);

  for (gsize i = 0; i < 5000; i++)
    {
      f[i] = (float) g_rand_double_range (rand, -4, 4);
      q[i] = f[i] + (float) g_rand_double_range (rand, -0.1, 0.1);
    }
  for (guint k = 0; k < G_N_ELEMENTS (lengths); k++)
    {
      VnErrorSum sum = sum_of (f, q, lengths[k]), left,
      right = sum_of (f + lengths[k] / 3, q + lengths[k] / 3, lengths[k] - lengths[k] / 3);
      double ff = 0, dd = 0;

      for (gsize i = 0; i < lengths[k]; i++)
        {
          ff += (double) f[i] * f[i];
          dd += ((double) q[i] - f[i]) * ((double) q[i] - f[i]);
        }
      g_test_message ("%" G_GSIZE_FORMAT " elements", lengths[k]);
      g_assert_cmpfloat_with_epsilon (sum.ff, ff, 1e-9 * ff);
      g_assert_cmpfloat_with_epsilon (sum.dd, dd, 1e-9 * dd);
      left = sum_of (f, q, lengths[k] / 3);
      vn_error_sum_merge (&left, &right);
      g_assert_cmpfloat_with_epsilon (left.dd, dd, 1e-9 * dd);
      g_assert_cmpuint (left.n, ==, lengths[k]);
    }
}

static void
test_not_finite (void)
{
  const float f[] = { 1, NAN, 2, 3 }, q[] = { 1, 5, NAN, 3 };
  VnErrorSum sum = sum_of (f, q, 4);
  VnErrorRow row = { .noise_to_signal = vn_error_sum_noise (&sum), .cosine = vn_error_sum_cosine (&sum), .n_bad = sum.n_bad };

  g_assert_cmpuint (sum.n_bad, ==, 1);
  g_assert_true (isinf (vn_error_sum_noise (&sum)));
  g_assert_true (vn_error_row_is_marked (&row));
}

static void
test_marks (void)
{
  static const struct { double noise, cosine; gboolean marked; } cases[] = {
    { 0.05, 0.999, FALSE }, { 0.1, 0.99, FALSE }, { 0.1001, 0.999, TRUE }, { 0.05, 0.9899, TRUE }, { NAN, 1, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnErrorRow row = { .noise_to_signal = cases[i].noise, .cosine = cases[i].cosine };

      g_test_message ("noise %g cosine %g", cases[i].noise, cases[i].cosine);
      g_assert_cmpint (vn_error_row_is_marked (&row), ==, cases[i].marked);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/error-sum/table", test_table);
  g_test_add_func ("/error-sum/decibels", test_decibels);
  g_test_add_func ("/error-sum/lengths", test_lengths);
  g_test_add_func ("/error-sum/not-finite", test_not_finite);
  g_test_add_func ("/error-sum/marks", test_marks);
  return g_test_run ();
}
