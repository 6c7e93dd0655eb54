/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error of a range as it is told from a histogram, beside the error of really rounding the values. */
#include "vn-range-estimate.h"

#include "vn-error.h"

#include <math.h>

#define N_VALUES 20000

/* A bell, and a few values far out at one side. */
static float *
make_values (void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (7);
  float *x = g_new (float, N_VALUES);

  for (guint i = 0; i < N_VALUES; i++)
    {
      double sum = 0;

      for (guint k = 0; k < 12; k++)
        sum += g_rand_double (rand) - 0.5;
      x[i] = (float) (i % 500 == 0 ? 8 + sum : sum);
    }
  return x;
}

static VnHistogram *
count_values (const float *x)
{
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();
  VnHistogram *histogram = vn_histogram_new ();

  vn_histogram_scan (histogram, scratch, x, N_VALUES);
  return histogram;
}

static void
round_values (const float           *x,
              const VnRangeEstimate *estimate,
              double                *sqnr_db,
              double                *clipped)
{
  double power = 0, noise = 0;
  guint outside = 0;

  for (guint i = 0; i < N_VALUES; i++)
    {
      double q = CLAMP (rint ((double) x[i] / estimate->scale) * estimate->scale, estimate->covered.min, estimate->covered.max);

      power += (double) x[i] * (double) x[i];
      noise += ((double) x[i] - q) * ((double) x[i] - q);
      outside += (double) x[i] < estimate->covered.min - estimate->scale / 2 ||
                 (double) x[i] > estimate->covered.max + estimate->scale / 2;
    }
  *sqnr_db = 10 * log10 (power / noise);
  *clipped = (double) outside / N_VALUES;
}

static void
test_given (void)
{
  static const struct { double min, max; VnDType dtype; gboolean symmetric; } cases[] = {
    { -4, 9.5, VN_DTYPE_U8, FALSE },
    { -3, 3, VN_DTYPE_U8, FALSE },
    { -3, 3, VN_DTYPE_S8, TRUE },
    { -1, 0.5, VN_DTYPE_S8, FALSE },
    { -4, 9.5, VN_DTYPE_U16, FALSE },
  };
  g_autofree float *x = make_values ();
  g_autoptr(VnHistogram) histogram = count_values (x);
  VnRecipe *recipe = vn_recipe_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnRangeQuestion question = { histogram, recipe, cases[i].dtype, cases[i].symmetric, FALSE, 99.99 };
      VnRange range = { cases[i].min, cases[i].max };
      VnRangeEstimate estimate;
      double sqnr_db, clipped;
      g_autoptr(GError) error = NULL;

      g_assert_true (vn_range_estimate (&question, &range, NULL, &estimate, &error));
      g_assert_no_error (error);
      round_values (x, &estimate, &sqnr_db, &clipped);
      g_test_message ("%g .. %g: %.3f dB of %.3f, clipped %.5f of %.5f", range.min, range.max, estimate.sqnr_db, sqnr_db,
                      estimate.clipped, clipped);
      g_assert_cmpfloat_with_epsilon (estimate.covered.min, range.min, 2 * estimate.scale);
      g_assert_cmpfloat_with_epsilon (estimate.covered.max, range.max, 2 * estimate.scale);
      g_assert_cmpfloat_with_epsilon (estimate.sqnr_db, sqnr_db, 0.3);
      g_assert_cmpfloat_with_epsilon (estimate.clipped, clipped, 0.002);
    }
  vn_recipe_free (recipe);
}

/* All that can choose are asked, each with its own range, the best first. */
static void
test_methods (void)
{
  g_autofree float *x = make_values ();
  g_autoptr(VnHistogram) histogram = count_values (x);
  VnRecipe *recipe = vn_recipe_new (NULL);
  const VnRangeQuestion question = { histogram, recipe, VN_DTYPE_U8, FALSE, FALSE, 99.99 };
  g_autoptr(GArray) estimates = vn_range_estimate_methods (&question);
  const VnRangeEstimate *best = &g_array_index (estimates, VnRangeEstimate, 0);
  gboolean has_minmax = FALSE;

  g_assert_cmpuint (estimates->len, >=, 8);
  for (guint i = 0; i < estimates->len; i++)
    {
      const VnRangeEstimate *estimate = &g_array_index (estimates, VnRangeEstimate, i);
      VnRangeEstimate again;

      g_test_message ("%s: %g .. %g, %.2f dB", estimate->method->id, estimate->range.min, estimate->range.max, estimate->sqnr_db);
      g_assert_cmpfloat (estimate->sqnr_db, <=, best->sqnr_db);
      g_assert_true (vn_range_estimate (&question, &estimate->range, estimate->method->id, &again, NULL));
      g_assert_cmpfloat (again.sqnr_db, ==, estimate->sqnr_db);
      has_minmax |= g_str_equal (estimate->method->id, "minmax");
    }
  g_assert_true (has_minmax);
  vn_recipe_free (recipe);
}

static void
test_refused (void)
{
  g_autofree float *x = make_values ();
  g_autoptr(VnHistogram) histogram = count_values (x);
  VnRecipe *recipe = vn_recipe_new (NULL);
  VnRangeQuestion question = { histogram, recipe, VN_DTYPE_U8, FALSE, FALSE, 99.99 };
  VnRangeEstimate estimate;
  g_autoptr(GError) error = NULL;

  g_assert_false (vn_range_estimate (&question, &(VnRange) { 2, 1 }, NULL, &estimate, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_NUMERIC);
  g_clear_error (&error);
  question.dtype = VN_DTYPE_F16;
  g_assert_false (vn_range_estimate (&question, &(VnRange) { 0, 1 }, NULL, &estimate, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED);
  vn_recipe_free (recipe);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/range-estimate/given", test_given);
  g_test_add_func ("/quantize/range-estimate/methods", test_methods);
  g_test_add_func ("/quantize/range-estimate/refused", test_refused);
  return g_test_run ();
}
