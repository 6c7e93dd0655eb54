/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A histogram read as one whose bins are equally wide. */
#include "vn-histogram-private.h"

static void
test_linear (void)
{
  static const struct
  {
    double lo, hi;
    double sum;         /* expected over all bins, of 40000 uniform in 0 .. 1 */
  } cases[] = {
    { 0, 1, 40000 }, { -1, 1, 40000 }, { 0, 0.5, 20000 }, { 0.25, 0.75, 20000 }, { 2, 3, 0 }, { -3, -2, 0 }, { 1, 1, 0 },
  };
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();
  g_autoptr(VnHistogram) h = vn_histogram_new ();
  g_autofree float *x = g_new (float, 40000);

  for (guint i = 0; i < 40000; i++)
    x[i] = ((float) i + 0.5f) / 40000;
  vn_histogram_scan (h, scratch, x, 40000);
  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      double counts[100];
      double sum = 0;

      vn_histogram_linear (h, cases[c].lo, cases[c].hi, counts, 100);
      for (guint i = 0; i < 100; i++)
        {
          g_assert_cmpfloat (counts[i], >=, 0);
          sum += counts[i];
        }
      g_test_message ("%g .. %g: %g of %g", cases[c].lo, cases[c].hi, sum, cases[c].sum);
      g_assert_cmpfloat_with_epsilon (sum, cases[c].sum, 20);
      /* evenly spread data stay evenly spread */
      if (c == 0)
        for (guint i = 0; i < 100; i++)
          g_assert_cmpfloat_with_epsilon (counts[i], 400, 4);
    }
}

static void
test_linear_zero (void)
{
  const float x[] = { 0, 0, -0.0f, 1, -1 };
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();
  g_autoptr(VnHistogram) h = vn_histogram_new ();
  double counts[4];

  vn_histogram_scan (h, scratch, x, G_N_ELEMENTS (x));
  vn_histogram_linear (h, -1, 1, counts, 4);
  g_test_message ("%g %g %g %g", counts[0], counts[1], counts[2], counts[3]);
  g_assert_cmpfloat (counts[0], ==, 1);
  g_assert_cmpfloat (counts[1], ==, 0);
  g_assert_cmpfloat (counts[2], ==, 3);
  g_assert_cmpfloat (counts[3], ==, 1);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/histogram/linear", test_linear);
  g_test_add_func ("/histogram/linear-zero", test_linear_zero);
  return g_test_run ();
}
