/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Factors of ranges: which hold for a tensor, and that statistics carry them without changing. */
#include "vn-calibrate.h"

static void
check_range (const VnRangeFactors *factors,
             const char           *tensor,
             guint                 bits,
             float                 low,
             float                 high)
{
  float min = -2, max = 4;

  vn_range_factors_apply (factors, tensor, bits, 1, &min, &max);
  g_assert_cmpfloat (min, ==, low);
  g_assert_cmpfloat (max, ==, high);
}

static void
test_apply (void)
{
  g_autoptr(VnRangeFactors) factors = vn_range_factors_new (), uniform = vn_range_factors_new_uniform (0.25f, 0.5f);
  const float half = 0.5f, quarter = 0.25f, all[] = { 0.5f, 1, 2 };
  float low[] = { -1, -2, -3 }, high[] = { 1, 2, 3 };

  check_range (NULL, "a", 8, -2, 4);
  check_range (factors, "a", 8, -2, 4);
  vn_range_factors_set (factors, "a", 8, 1, &half, &quarter);
  check_range (factors, "a", 8, -1, 1);
  check_range (factors, "a", 16, -2, 4);
  check_range (factors, "b", 8, -2, 4);
  check_range (uniform, "b", 16, -0.5f, 2);

  vn_range_factors_set (factors, "b", 8, 3, all, all);
  check_range (factors, "b", 8, -2, 4);
  vn_range_factors_apply (factors, "b", 8, 3, low, high);
  for (guint i = 0; i < 3; i++)
    {
      g_assert_cmpfloat (low[i], ==, -all[i] * (float) (i + 1));
      g_assert_cmpfloat (high[i], ==, all[i] * (float) (i + 1));
    }
}

static void
test_stats (void)
{
  g_autoptr(VnStats) stats = vn_stats_new_empty ();
  g_autoptr(VnRangeFactors) factors = vn_range_factors_new ();
  g_autoptr(VnStats) with = vn_stats_with_factors (stats, factors), without = vn_stats_with_factors (with, NULL);

  g_assert_null (vn_stats_get_factors (stats));
  g_assert_true (vn_stats_get_factors (with) == factors);
  g_assert_null (vn_stats_get_factors (without));
  g_assert_true (vn_stats_equal (stats, with));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/calibrate/range-factors/apply", test_apply);
  g_test_add_func ("/calibrate/range-factors/stats", test_stats);
  return g_test_run ();
}
