/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Range methods, on small cases by hand and against the calibrator of onnxruntime.quantization. */

#include "vn-calibrate.h"
#include "vn-error.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static VnHistogram *
scan (const float *x,
      gsize        n)
{
  g_autoptr(VnScratch) scratch = vn_scratch_new ();
  VnHistogram *self = vn_histogram_new ();

  vn_histogram_scan (self, scratch, x, n);
  return self;
}

static void
test_by_hand (void)
{
  static const float two[] = { -2, 1 };
  static const float constant[] = { 3, 3, 3, 3 };
  static const float special[] = { NAN, 1, -INFINITY, 4, INFINITY };
  static const float outlier[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 1000 };
  static const struct
  {
    const char  *method;
    const float *x;
    guint        n;
    double       percentile;
    gboolean     symmetric;
    double       min, max, tolerance;
  } cases[] = {
    { "minmax", two, 2, 99.999, FALSE, -2, 1, 0 },
    { "minmax", two, 2, 99.999, TRUE, -2, 2, 0 },
    { "minmax", special, 5, 99.999, FALSE, 1, 4, 0 },
    { "percentile", two, 2, 100, FALSE, -2, 1, 0 },
    { "percentile", constant, 4, 99, TRUE, 3, 3, 0 },
    { "percentile", constant, 4, 99, FALSE, 3, 3, 0 },
    { "percentile", special, 5, 100, TRUE, 1, 4, 0 },
    { "percentile", outlier, 10, 85, TRUE, 0, 8, 0.5 },
    { "percentile", outlier, 10, 80, FALSE, 0, 8, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnHistogram) h = scan (cases[i].x, cases[i].n);
      VnRangeSettings settings = { cases[i].percentile, cases[i].symmetric, !cases[i].symmetric };
      VnRange range = { NAN, NAN };

      g_assert_true (vn_range_method_find (cases[i].method, &error)->range (h, &settings, &range, &error));
      g_test_message ("%s %g%s: %g .. %g, expected %g .. %g", cases[i].method, cases[i].percentile,
                      cases[i].symmetric ? " symmetric" : "", range.min, range.max, cases[i].min, cases[i].max);
      g_assert_cmpfloat (fabs (range.min - cases[i].min), <=, cases[i].tolerance);
      g_assert_cmpfloat (fabs (range.max - cases[i].max), <=, cases[i].tolerance);
    }
}

static void
test_refused (void)
{
  static const float none[] = { NAN, INFINITY };
  static const float one[] = { 1, 2 };
  static const struct
  {
    const char  *method;
    const float *x;
    guint        n;
    double       percentile;
    int          code;
  } cases[] = {
    { "minmax", none, 2, 99, VN_ERROR_NUMERIC },
    { "minmax", none, 0, 99, VN_ERROR_NUMERIC },
    { "percentile", none, 2, 99, VN_ERROR_NUMERIC },
    { "percentile", one, 2, 0, VN_ERROR_SETTING },
    { "percentile", one, 2, 100.1, VN_ERROR_SETTING },
    { "percentile", one, 2, NAN, VN_ERROR_SETTING },
  };
  g_autoptr(GError) unknown = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnHistogram) h = scan (cases[i].x, cases[i].n);
      VnRangeSettings settings = { cases[i].percentile, FALSE };
      VnRange range;

      g_assert_false (vn_range_method_find (cases[i].method, NULL)->range (h, &settings, &range, &error));
      g_test_message ("%s: %s", cases[i].method, error->message);
      g_assert_error (error, VN_ERROR, cases[i].code);
    }
  g_assert_null (vn_range_method_find ("maxmin", &unknown));
  g_test_message ("%s", unknown->message);
  g_assert_error (unknown, VN_ERROR, VN_ERROR_SETTING);
}

/* ---- against onnxruntime ---- */

static const char script[] =
  "import sys, io, contextlib, numpy as np\n"
  "from onnxruntime.quantization.calibrate import HistogramCollector\n"
  "x = np.load(sys.argv[1])\n"
  "with contextlib.redirect_stdout(io.StringIO()):\n"
  "    c = HistogramCollector('percentile', sys.argv[2] == '1', 2048, 128, float(sys.argv[3]), 'same')\n"
  "    c.collect({'x': x})\n"
  "    r = c.compute_collection_result()['x']\n"
  "print(float(r[0]), float(r[1]))\n";

typedef enum { NORMAL, RELU, HEAVY, ONE_SIDED, N_KINDS } Kind;

static VnTensor *
make_data (Kind kind)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (kind + 1);
  g_autoptr(GError) error = NULL;
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (301234), &error);
  float *x;

  g_assert_no_error (error);
  x = tensor->data;
  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      double u = g_rand_double_range (rand, 1e-9, 1);
      double normal = sqrt (-2 * log (u)) * cos (2 * G_PI * g_rand_double (rand));

      x[i] = (float) (kind == NORMAL ? normal : kind == RELU ? MAX (normal, 0) : kind == HEAVY ? normal * normal * normal
                                                                                            : 5 + normal * 0.3);
    }
  return tensor;
}

/* The calibrator's bins are equally wide, ours at most 1/128 of their value. */
static void
test_oracle (void)
{
  static const double percentiles[] = { 99.999, 99.99, 99 };
  const char *python = g_getenv ("VN_ORACLE_PYTHON");
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "vn-ranges.npy", NULL);
  guint n_compared = 0;

  if (python == NULL || *python == '\0')
    {
      g_test_skip ("VN_ORACLE_PYTHON is not set");
      return;
    }
  for (Kind kind = 0; kind < N_KINDS; kind++)
    {
      g_autoptr(VnTensor) x = make_data (kind);
      g_autoptr(VnHistogram) h = scan (x->data, x->n_elements);

      g_assert_true (vn_npy_write (path, x, NULL));
      for (guint k = 0; k < 2 * G_N_ELEMENTS (percentiles); k++)
        {
          VnRangeSettings settings = { percentiles[k / 2], FALSE, k % 2 };
          g_autofree char *text = g_strdup_printf ("%g", settings.percentile);
          const char *argv[] = { python, "-c", script, path, settings.two_sided ? "0" : "1", text, NULL };
          g_autofree char *out = NULL;
          g_autoptr(GError) error = NULL;
          double low, high, width;
          VnRange range;
          int status;

          g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, 0, NULL, NULL, &out, NULL, &status, &error));
          g_assert_cmpint (status, ==, 0);
          g_assert_cmpint (sscanf (out, "%lf %lf", &low, &high), ==, 2);
          g_assert_true (vn_range_method_find ("percentile", NULL)->range (h, &settings, &range, &error));
          width = 2 * MAX (fabs (h->min), fabs (h->max)) / 2048;
          g_test_message ("kind %u, %g%s: %g .. %g, theirs %g .. %g", kind, settings.percentile,
                          settings.two_sided ? " two-sided" : "", range.min, range.max, low, high);
          g_assert_cmpfloat (fabs (range.min - low), <=, fabs (low) / 128 + width);
          g_assert_cmpfloat (fabs (range.max - high), <=, fabs (high) / 128 + width);
          n_compared++;
        }
    }
  g_unlink (path);
  g_assert_cmpuint (n_compared, ==, N_KINDS * 2 * G_N_ELEMENTS (percentiles));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/ranges/by-hand", test_by_hand);
  g_test_add_func ("/ranges/refused", test_refused);
  g_test_add_func ("/ranges/oracle", test_oracle);

  return g_test_run ();
}
