/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Sums over samples: against the sorted elements, in any order, through a clamp. */

#include "vn-histogram-private.h"

#include <float.h>
#include <math.h>

static VnHistogram *
scan (const float *x,
      gsize        n)
{
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();
  VnHistogram *self = vn_histogram_new ();

  vn_histogram_scan (self, scratch, x, n);
  return self;
}

static float *
make_elements (guint seed,
               gsize n,
               guint kind)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (seed);
  float *x = g_new (float, n + 1);

  for (gsize i = 0; i < n; i++)
    {
      double u = g_rand_double_range (rand, 1e-9, 1);
      double normal = sqrt (-2 * log (u)) * cos (2 * G_PI * g_rand_double (rand));

      x[i] = (float) (kind == 0 ? normal : kind == 1 ? MAX (normal, 0) : kind == 2 ? -5 + normal / 4
                                                                      : kind == 3 ? normal * normal * normal : 0.25);
    }
  return x;
}

static int
compare (gconstpointer a,
         gconstpointer b)
{
  float x = *(const float *) a, y = *(const float *) b;

  return (x > y) - (x < y);
}

/* The elements themselves, by their place in ascending order; ours are good to a bin, which is 1/128 of the value. */
static void
test_tails (void)
{
  static const double percentiles[] = { 100, 99.9999, 99.999, 99.99, 99.9, 99 };
  static const double shares[] = { 1, 0.999999, 0.99999, 0.9999, 0.999, 0.99 };
  static const gsize sizes[] = { 1, 2, 99, 100, 101, 5000, 10000, 123457 };

  for (guint kind = 0; kind < 5; kind++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
      {
        const gsize n = sizes[s];
        g_autofree float *x = make_elements (kind + 7 * s, n, kind);
        g_autoptr(VnHistogram) h = vn_histogram_new ();

        vn_histogram_take_sample (h, scan (x, n));
        qsort (x, n, sizeof *x, compare);
        for (guint i = 0; i < G_N_ELEMENTS (percentiles); i++)
          {
            const double share = shares[i];
            gsize low = (gsize) ((double) n * (1 - share)), high = MIN (n - 1, (gsize) ((double) n * share));
            const gboolean exact = i == 0 || (low == 0 && high == n - 1);
            const double tolerance = exact ? 0 : 1 / 127.0;
            double min, max;

            g_assert_true (vn_sample_sums_get_mean (&h->samples, percentiles[i], &min, &max));
            g_test_message ("kind %u, %" G_GSIZE_FORMAT " elements, %g: %g .. %g", kind, n, percentiles[i], min, max);
            g_assert_cmpfloat (fabs (min - (double) x[low]), <=, tolerance * fabs ((double) x[low]));
            g_assert_cmpfloat (fabs (max - (double) x[high]), <=, tolerance * fabs ((double) x[high]));
          }
      }
}

/* Sums of numbers whose sum no double can hold on the way. */
static void
test_exact (void)
{
  static const struct { float x[4]; guint n; double mean; } cases[] = {
    { { 1, 2, 4 }, 3, 7.0 / 3 },
    { { FLT_MAX, 1, -FLT_MAX, 2 }, 4, 0.75 },
    { { FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX }, 4, FLT_MAX },
    { { -FLT_MAX, -FLT_MAX }, 2, -FLT_MAX },
    { { FLT_TRUE_MIN, FLT_MAX, -FLT_MAX }, 3, FLT_TRUE_MIN / 3.0 },
    { { -FLT_TRUE_MIN, -FLT_TRUE_MIN }, 2, -FLT_TRUE_MIN },
    { { 0, -0.0f }, 2, 0 },
    { { 1e10f, -1e-10f, -1e10f, -1e-10f }, 4, -0.5 * 1e-10f },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint turn = 0; turn < cases[i].n; turn++)
      {
        g_autoptr(VnHistogram) h = vn_histogram_new ();
        double min, max;

        for (guint k = 0; k < cases[i].n; k++)
          vn_histogram_take_sample (h, scan (&cases[i].x[(k + turn) % cases[i].n], 1));
        g_assert_true (vn_sample_sums_get_mean (&h->samples, 100, &min, &max));
        g_assert_cmpfloat (min, ==, cases[i].mean);
        g_assert_cmpfloat (max, ==, cases[i].mean);
      }
}

/* Counting and adding do not depend on who saw which samples, and samples without a finite value do not count. */
static void
test_merge (void)
{
  static const float none[] = { NAN, INFINITY };
  g_autoptr(VnHistogram) whole = vn_histogram_new ();
  VnHistogram *parts[3] = { vn_histogram_new (), vn_histogram_new (), vn_histogram_new () };
  g_autoptr(VnHistogram) sum = vn_histogram_new ();
  double min, max;

  g_assert_false (vn_sample_sums_get_mean (&whole->samples, 100, &min, &max));
  for (guint i = 0; i < 20; i++)
    {
      g_autofree float *x = make_elements (i, 1 + 371 * i, i % 5);

      vn_histogram_take_sample (whole, scan (x, 1 + 371 * i));
      vn_histogram_take_sample (parts[i * 7 % 3], scan (x, 1 + 371 * i));
    }
  vn_histogram_take_sample (whole, scan (none, 2));
  vn_histogram_take_sample (parts[2], scan (none, 2));
  g_assert_cmpuint (whole->samples.n, ==, 20);
  for (guint i = 3; i-- > 0;)
    {
      g_assert_false (vn_histogram_equal (whole, sum));
      vn_histogram_merge (sum, parts[i]);
      vn_histogram_free (parts[i]);
    }
  g_assert_true (vn_histogram_equal (whole, sum));
}

/* What a tap behind a clamp is told must be what it would have seen. */
static void
test_clamped (void)
{
  static const float bounds[][2] = { { 0, 6 }, { -1, 1 }, { 0, INFINITY }, { 7, 8 } };
  static const float special[] = { -INFINITY, -3, 0.5f, 2, INFINITY, NAN };

  for (guint b = 0; b < G_N_ELEMENTS (bounds); b++)
    for (guint kind = 0; kind < 6; kind++)
      {
        const gsize n = kind < 5 ? 4000 : G_N_ELEMENTS (special);
        g_autofree float *x = kind < 5 ? make_elements (kind, n, kind) : g_memdup2 (special, sizeof special);
        g_autoptr(VnHistogram) sample = scan (x, n);
        g_autoptr(VnHistogram) seen = vn_histogram_new ();
        VnSampleSums sums = { 0 };
        VnSampleTails tails = { 0 };
        double min, max, seen_min, seen_max;

        for (gsize i = 0; i < n; i++)
          x[i] = x[i] < bounds[b][0] ? bounds[b][0] : x[i] > bounds[b][1] ? bounds[b][1] : x[i];
        vn_histogram_take_sample (seen, scan (x, n));
        vn_sample_sums_add (&sums, sample, &tails, bounds[b][0], bounds[b][1]);
        for (double p = 99; p < 100.5; p += 0.5)
          {
            g_assert_true (vn_sample_sums_get_mean (&sums, MIN (p, 100), &min, &max));
            g_assert_true (vn_sample_sums_get_mean (&seen->samples, MIN (p, 100), &seen_min, &seen_max));
            g_assert_cmpfloat (fabs (min - seen_min), <=, p < 100 ? fabs (min) / 127 : 0);
            g_assert_cmpfloat (fabs (max - seen_max), <=, p < 100 ? fabs (max) / 127 : 0);
          }
      }
}

/* Between the shares that are known the bounds move steadily. */
static void
test_between (void)
{
  g_autofree float *x = make_elements (3, 200000, 0);
  g_autoptr(VnHistogram) h = vn_histogram_new ();
  double min, max, last_min = 0, last_max = 0;

  vn_histogram_take_sample (h, scan (x, 200000));
  for (double outside = 5; outside > 1e-6; outside *= 0.8)
    {
      g_assert_true (vn_sample_sums_get_mean (&h->samples, 100 - outside, &min, &max));
      g_assert_cmpfloat (max, >=, last_max);
      g_assert_cmpfloat (min, <=, last_min);
      last_min = min;
      last_max = max;
    }
  g_assert_cmpfloat (last_max, <=, h->max);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/samples/tails", test_tails);
  g_test_add_func ("/samples/exact", test_exact);
  g_test_add_func ("/samples/merge", test_merge);
  g_test_add_func ("/samples/clamped", test_clamped);
  g_test_add_func ("/samples/between", test_between);

  return g_test_run ();
}
