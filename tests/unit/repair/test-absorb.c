/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of a bias the layer behind absorbs, against examples worked by hand. */
#include "vn-absorb.h"

#include <math.h>

/* Numbers of mean 10 and deviation 2: 10 - 6. */
static void
test_amount (void)
{
  g_assert_cmpfloat_with_epsilon (vn_absorb_get_amount (10, 104), 4, 1e-12);
  g_assert_cmpfloat_with_epsilon (vn_absorb_get_amount (3, 9), 3, 1e-12);
  g_assert_cmpfloat_with_epsilon (vn_absorb_get_amount (3, 9 - 1e-9), 3, 1e-12);   /* as rounding may have it */
}

/* Where Relu cuts off some of the numbers there is nothing. */
static void
test_nothing (void)
{
  g_assert_cmpfloat (vn_absorb_get_amount (1, 2), ==, 0);
  g_assert_cmpfloat (vn_absorb_get_amount (-5, 26), ==, 0);
  g_assert_cmpfloat (vn_absorb_get_amount (0, 0), ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/absorb/amount", test_amount);
  g_test_add_func ("/absorb/nothing", test_nothing);
  return g_test_run ();
}
