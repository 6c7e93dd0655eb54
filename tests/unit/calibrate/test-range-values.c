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
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();
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

/* A line per percentile and kind of threshold, then one of the entropy calibrator. */
static const char script[] =
  "import sys, io, contextlib, numpy as np\n"
  "from onnxruntime.quantization.calibrate import HistogramCollector\n"
  "x = np.load(sys.argv[1])\n"
  "def thresholds(*settings):\n"
  "    with contextlib.redirect_stdout(io.StringIO()):\n"
  "        c = HistogramCollector(*settings, 'same')\n"
  "        c.collect({'x': x})\n"
  "        r = c.compute_collection_result()['x']\n"
  "    return f'{float(r[0])!r} {float(r[1])!r}'\n"
  "for p in sys.argv[2:]:\n"
  "    for symmetric in (True, False):\n"
  "        print(thresholds('percentile', symmetric, 2048, 128, float(p)))\n"
  "print(thresholds('entropy', False, 128, 128, 99.999))\n";

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

static char **
ask_peer (const char *python,
          VnTensor   *x)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "vn-ranges-XXXXXX", NULL);
  const char *argv[] = { python, "-c", script, path, "99.999", "99.99", "99", NULL };
  g_autofree char *out = NULL;
  g_autoptr(GError) error = NULL;
  int status;

  g_close (g_mkstemp (path), NULL);
  g_assert_true (vn_npy_write (path, x, NULL));
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, 0, NULL, NULL, &out, NULL, &status, &error));
  g_assert_cmpint (status, ==, 0);
  g_unlink (path);
  return g_strsplit (out, "\n", -1);
}

static void
check_range (const char            *method,
             const VnRangeSettings *settings,
             const VnHistogram     *h,
             const char            *theirs,
             gboolean               exact)
{
  const double width = exact ? 0 : 2 * MAX (fabs (h->min), fabs (h->max)) / 2048;
  const double relative = exact ? 0 : 1 / 128.0;
  double low, high;
  VnRange range;

  g_assert_cmpint (sscanf (theirs, "%lf %lf", &low, &high), ==, 2);
  g_assert_true (vn_range_method_find (method, NULL)->range (h, settings, &range, NULL));
  g_test_message ("%s %g%s: %g .. %g, theirs %g .. %g", method, settings->percentile,
                  settings->two_sided ? " two-sided" : "", range.min, range.max, low, high);
  g_assert_cmpfloat (fabs (range.min - low), <=, fabs (low) * relative + width);
  g_assert_cmpfloat (fabs (range.max - high), <=, fabs (high) * relative + width);
}

/* The calibrator's bins are equally wide, ours at most 1/128 of their value. */
static void
test_oracle (void)
{
  static const double percentiles[] = { 99.999, 99.99, 99 };
  const char *python = g_getenv ("VN_ORACLE_PYTHON");

  if (python == NULL || *python == '\0')
    {
      g_test_skip ("VN_ORACLE_PYTHON is not set");
      return;
    }
  for (Kind kind = 0; kind < N_KINDS; kind++)
    {
      g_autoptr(VnTensor) x = make_data (kind);
      g_autoptr(VnHistogram) h = scan (x->data, x->n_elements);
      g_auto(GStrv) lines = ask_peer (python, x);

      g_assert_cmpuint (g_strv_length (lines), >=, 2 * G_N_ELEMENTS (percentiles) + 1);
      for (guint k = 0; k < 2 * G_N_ELEMENTS (percentiles); k++)
        check_range ("percentile", &(VnRangeSettings) { .percentile = percentiles[k / 2], .two_sided = k % 2 }, h,
                     lines[k], FALSE);
      check_range ("entropy", &(VnRangeSettings) { 0 }, h, lines[2 * G_N_ELEMENTS (percentiles)], TRUE);
    }
}

/* ---- errors and searches, against the elements themselves ---- */

static double
error_by_elements (const VnTensor *tensor,
                   double          scale,
                   double          lo,
                   double          hi)
{
  const float *x = tensor->data;
  double sum = 0;

  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      double q = CLAMP (rint (x[i] / scale) * scale, lo, hi);

      sum += (x[i] - q) * (x[i] - q);
    }
  return sum;
}

static void
test_error (void)
{
  static const double steps[] = { 255, 15, 65535 };

  for (Kind kind = 0; kind < N_KINDS; kind++)
    {
      g_autoptr(VnTensor) x = make_data (kind);
      g_autoptr(VnHistogram) h = scan (x->data, x->n_elements);

      for (guint k = 0; k < G_N_ELEMENTS (steps); k++)
        for (guint clip = 1; clip <= 4; clip *= 2)
          {
            double hi = MAX (h->max, 0) / clip;
            double lo = MIN (h->min, 0) / clip;
            double scale = (hi - lo) / steps[k];
            double below = rint (-lo / scale);
            double ours = vn_histogram_get_error (h, scale, -below * scale, (steps[k] - below) * scale);
            double exact = error_by_elements (x, scale, -below * scale, (steps[k] - below) * scale);

            g_test_message ("kind %u, %g steps, 1/%u of the range: %g, exact %g", kind, steps[k], clip, ours, exact);
            g_assert_cmpfloat (fabs (ours - exact), <=, 0.02 * exact);
          }
    }
}

/* The range chosen from the histogram is about as good as the best of its candidates on the elements. */
static void
test_mse (void)
{
  static const guint bits[] = { 8, 4 };

  for (Kind kind = 0; kind < N_KINDS; kind++)
    for (guint b = 0; b < 2 * G_N_ELEMENTS (bits); b++)
      {
        g_autoptr(VnTensor) x = make_data (kind);
        g_autoptr(VnHistogram) h = scan (x->data, x->n_elements);
        VnRangeSettings settings = { .bits = bits[b / 2], .symmetric = b % 2 };
        double steps = exp2 (settings.bits) - 1 - settings.symmetric;
        double best = INFINITY;
        double chosen = INFINITY;
        VnRange range;

        g_assert_true (vn_range_method_find ("mse", NULL)->range (h, &settings, &range, NULL));
        for (guint i = 100; i > 0; i--)
          {
            double most = MAX (fabs (h->min), fabs (h->max));
            double hi = (settings.symmetric ? most : MAX (h->max, 0)) * i / 100;
            double lo = (settings.symmetric ? -most : MIN (h->min, 0)) * i / 100;
            double scale = (hi - lo) / steps;
            double below = settings.symmetric ? steps / 2 : rint (-lo / scale);
            gboolean is_chosen = fabs (hi - range.max) < 1e-9 * hi || fabs (lo - range.min) < 1e-9 * fabs (lo);
            double error;

            if (i % 4 != 0 && !is_chosen)    /* neighbors are alike */
              continue;
            error = error_by_elements (x, scale, -below * scale, (settings.symmetric ? below : steps - below) * scale);
            best = MIN (best, error);
            if (is_chosen)
              chosen = MIN (chosen, error);
          }
        g_test_message ("kind %u, %u bits%s: %g .. %g of %g .. %g, error %g, best %g", kind, settings.bits,
                        settings.symmetric ? " symmetric" : "", range.min, range.max, h->min, h->max, chosen, best);
        g_assert_cmpfloat (chosen, <=, best * 1.01);
      }
}

/* Even data are not clipped, a lone outlier is; what is clipped stays inside what was seen. */
static void
test_kl (void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (3);
  g_autofree float *even = g_new (float, 100000);
  g_autofree float *outlier = g_new (float, 100000);
  const VnRangeMethod *kl = vn_range_method_find ("kl", NULL);

  for (guint i = 0; i < 100000; i++)
    {
      double u = g_rand_double_range (rand, 1e-9, 1);

      even[i] = (float) g_rand_double_range (rand, -1, 1);
      outlier[i] = (float) (sqrt (-2 * log (u)) * cos (2 * G_PI * g_rand_double (rand)));
    }
  outlier[77] = 60;
  for (guint k = 0; k < 4; k++)
    {
      g_autoptr(VnHistogram) h = scan (k % 2 ? outlier : even, 100000);
      VnRangeSettings settings = { .bits = k < 2 ? 8 : 16 };
      VnRange range;

      g_assert_true (kl->range (h, &settings, &range, NULL));
      g_test_message ("%s, %u bits: %g .. %g of %g .. %g", k % 2 ? "outlier" : "even", settings.bits, range.min, range.max,
                      h->min, h->max);
      g_assert_cmpfloat (range.min, >=, h->min);
      if (k == 1)
        {
          g_assert_cmpfloat (range.max, <, 20);
          g_assert_cmpfloat (range.max, >, 3);
        }
      else
        g_assert_cmpfloat (range.max, >, 0.97 * h->max);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/ranges/by-hand", test_by_hand);
  g_test_add_func ("/ranges/refused", test_refused);
  g_test_add_func ("/ranges/oracle", test_oracle);
  g_test_add_func ("/ranges/error", test_error);
  g_test_add_func ("/ranges/mse", test_mse);
  g_test_add_func ("/ranges/kl", test_kl);

  return g_test_run ();
}
