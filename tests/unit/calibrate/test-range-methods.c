/* SPDX-License-Identifier: GPL-3.0-or-later */

/* All range methods: on cases worked by hand, at the edges, and what holds for each of them whatever the data. */

#include "vn-error.h"
#include "vn-range-sums.h"

#include <float.h>
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

#define S8 .bits = 8, .symmetric = TRUE, .qmin = -127, .qmax = 127
#define U8 .bits = 8, .qmin = 0, .qmax = 255
#define U8S .bits = 8, .symmetric = TRUE, .qmin = 0, .qmax = 255
#define S16 .bits = 16, .symmetric = TRUE, .qmin = -32767, .qmax = 32767

static void
test_by_hand (void)
{
  static const struct
  {
    const char     *method;
    VnRangeSettings settings;
    float           x[8];
    guint           n;
    double          min, max, tolerance;
  } cases[] = {
    /* 1 / 127 lies between 2^-7 and 2^-6.9: 2^-7 clips 1 to 127 / 128 */
    { "nonoverflow", { S8 }, { -1, 1 }, 2, -127 / 128.0, 127 / 128.0, 0 },
    { "nonoverflow", { S8 }, { -1.4f * 127 / 128, 0.5f }, 2, -127 / 128.0, 127 / 128.0, 0 },
    { "nonoverflow", { S8 }, { -1.5f * 127 / 128, 0.5f }, 2, -127 / 64.0, 127 / 64.0, 0 },
    { "nonoverflow", { U8 }, { 0, 255 }, 2, 0, 255, 0 },
    { "nonoverflow", { U8 }, { -1, 3 }, 2, -1, 191 / 64.0, 0 },
    { "nonoverflow", { U8S }, { -1, 1 }, 2, -1, 127 / 128.0, 0 },
    { "nonoverflow", { S16 }, { -1, 1 }, 2, -32767 / 32768.0, 32767 / 32768.0, 0 },
    /* nothing to scale: scale 1, zero point 0 */
    { "nonoverflow", { S8 }, { 0, 0 }, 2, -127, 127, 0 },
    { "nonoverflow", { U8 }, { 0, 0 }, 2, 0, 255, 0 },
    { "nonoverflow", { S8 }, { 1e-40f, -1e-40f }, 2, -127, 127, 0 },
    /* whole multiples of 1: no error from p = 0 on; p - 1 is tried first and errs */
    { "minmse", { S8 }, { -127, 1, 127 }, 3, -127, 127, 0 },
    /* no error with 2^1 (p - 1) nor with 2^0: the first one is kept */
    { "minmse", { S8 }, { -126, 126 }, 2, -254, 254, 0 },
    /* clipping 2 to 127 / 64 would cost more than p - 1 does */
    { "minmse", { S8 }, { 0.25f, 0.25f, -0.25f, 0.5f, 2 }, 5, -127 / 32.0, 127 / 32.0, 0 },
    { "average", { .bits = 8 }, { -2, 1 }, 2, -2, 1, 0 },
    { "average", { .symmetric = TRUE }, { -2, 1 }, 2, -2, 2, 0 },
    { "percentile-average", { .percentile = 100 }, { -2, 1 }, 2, -2, 1, 0 },
    { "percentile-average", { .percentile = 100, S8 }, { -2, 1 }, 2, -2, 2, 0 },
    /* scales below 1e-8 and below 2^-23 are raised */
    { "percentile-average", { .percentile = 100, U8 }, { 0, 1e-7f }, 2, 0, 255e-8, 1e-15 },
    { "percentile-average", { .percentile = 100, S8 }, { 0, 1e-7f }, 2, -127e-8, 127e-8, 1e-15 },
    { "xslim", { .percentile = 100, U8 }, { 0, 1e-6f }, 2, 0, 255 * 0x1p-23, 1e-12 },
    { "xslim", { .percentile = 100, U8 }, { 3, 3, 3 }, 3, 3, 3, 0 },
    { "xslim", { .percentile = 100, S16 }, { -3, 2 }, 2, -3, 3, 0 },
    { "xslim-kl", { .percentile = 100, U8 }, { 3, 3, 3 }, 3, 3, 3, 0 },
    { "xslim-mse", { .percentile = 100, S16 }, { -3, 2 }, 2, -3, 3, 0 },
    /* the last of 4096 bins is 1, of whose 128 steps the type has 127 on a side */
    { "kl-ppq", { S8 }, { -1, 1 }, 2, -127 / 128.0, 127 / 128.0, 0 },
    { "kl-ppq", { S16 }, { -3, 2 }, 2, -3 * 32767 / 32768.0, 3 * 32767 / 32768.0, 1e-12 },
    { "kl-ppq", { U8 }, { 0, 3 }, 2, 0, 3, 0 },
    { "kl-ppq", { S8 }, { 0, 0 }, 2, -127e-8, 127e-8, 1e-15 },
    /* steps of 8 bins end with the last bin, half a bin from it */
    { "mse-ppq", { S8 }, { -1, 1 }, 2, -1, 1, 0 },
    { "mse-ppq", { U8 }, { 0, 255 }, 2, 0, 255, 0 },
    { "mse-ppq", { U8 }, { 0, 0 }, 2, 0, 255e-8, 1e-15 },
    { "octav", { U8 }, { 3, 3 }, 2, 3, 3, 0 },
    { "octav", { U8 }, { 0, 0 }, 2, 0, 0, 0 },
    { "aciq-gauss", { U8 }, { -2, -2 }, 2, -2, -2, 0 },
    { "aciq-laplace", { U8 }, { 0, 0 }, 2, 0, 0, 0 },
    { "best", { .percentile = 99, U8 }, { 0, 0 }, 2, 0, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnHistogram) h = scan (cases[i].x, cases[i].n);
      VnRange range = { NAN, NAN };

      g_assert_true (vn_range_method_find (cases[i].method, &error)->range (h, &cases[i].settings, &range, &error));
      g_test_message ("case %u, %s: %.9g .. %.9g, expected %.9g .. %.9g", i, cases[i].method, range.min, range.max,
                      cases[i].min, cases[i].max);
      g_assert_cmpfloat (fabs (range.min - cases[i].min), <=, cases[i].tolerance);
      g_assert_cmpfloat (fabs (range.max - cases[i].max), <=, cases[i].tolerance);
    }
}

/* The thresholds printed in the paper, which has two digits behind the point. */
static void
test_aciq (void)
{
  static const double gauss[] = { 1.71, 2.15, 2.55, 2.93, 3.28, 3.61, 3.92 };
  static const double laplace[] = { 2.83, 3.89, 5.03, 6.20, 7.41, 8.64, 9.89 };

  for (guint bits = 2; bits <= 8; bits++)
    {
      g_test_message ("%u bits: %.4f, %.4f", bits, vn_range_aciq_threshold (TRUE, bits),
                      vn_range_aciq_threshold (FALSE, bits));
      g_assert_cmpfloat (fabs (vn_range_aciq_threshold (TRUE, bits) - gauss[bits - 2]), <, 0.011);
      g_assert_cmpfloat (fabs (vn_range_aciq_threshold (FALSE, bits) - laplace[bits - 2]), <, 0.011);
    }
}

static void
test_positions (void)
{
  static const struct { double scale; int nearest, half_up, up; } cases[] = {
    { 1, 0, 0, 0 },
    { 0.25, 2, 2, 2 },
    { 1.01, 0, 0, -1 },
    { 1.42, -1, -1, -1 },         /* above the root of 2 */
    { 1.41, 0, 0, -1 },
    { G_SQRT2 * 0x1p-126, 126, 125, 125 },
    { 0, 127, 127, 127 },
    { 1e-45, 127, 127, 127 },
    { 1e300, -127, -127, -127 },
    { INFINITY, -127, -127, -127 },
    { NAN, 127, 127, 127 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      int nearest = vn_scale_get_position (cases[i].scale, VN_POWER_NEAREST);

      g_test_message ("%g: %d", cases[i].scale, nearest);
      if (i != 5)    /* a logarithm of a half, up to rounding */
        {
          g_assert_cmpint (nearest, ==, cases[i].nearest);
          g_assert_cmpint (vn_scale_get_position (cases[i].scale, VN_POWER_HALF_UP), ==, cases[i].half_up);
        }
      g_assert_cmpint (vn_scale_get_position (cases[i].scale, VN_POWER_UP), ==, cases[i].up);
      g_assert_cmpfloat (vn_position_get_scale (nearest), ==, ldexp (1, -nearest));
    }
}

/* ---- every method on every kind of data ---- */

static guint
make_elements (guint  kind,
               float *x)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (kind);
  static const float huge[] = { FLT_MAX, -FLT_MAX, 1 }, special[] = { NAN, INFINITY, -INFINITY, 2, -1 };
  const guint n = 5000;

  for (guint i = 0; i < n; i++)
    {
      double u = g_rand_double_range (rand, 1e-9, 1);
      double normal = sqrt (-2 * log (u)) * cos (2 * G_PI * g_rand_double (rand));

      x[i] = (float) (kind == 0 ? normal : kind == 1 ? MAX (normal, 0) : kind == 2 ? 7 + normal / 2
                      : kind == 3 ? -3 - fabs (normal) : kind == 4 ? 0 : kind == 5 ? 1e-42 * normal
                      : kind == 6 ? 0.125 : kind == 7 ? normal * normal * normal : i == 77 ? 100 : normal);
    }
  if (kind < 9)
    return n;
  memcpy (x, kind == 9 ? huge : special, kind == 9 ? sizeof huge : sizeof special);
  return kind == 9 ? G_N_ELEMENTS (huge) : G_N_ELEMENTS (special);
}

#define N_KINDS 11

static void
check_method (const VnRangeMethod   *method,
              const VnHistogram     *h,
              const VnRangeSettings *settings)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *winner = NULL;
  VnRange range = { NAN, NAN }, again = { NAN, NAN };
  const double most = MAX (fabs (h->min), fabs (h->max));
  double beyond = 0;

  g_assert_true (method->range (h, settings, &range, &error));
  g_assert_no_error (error);
  g_test_message ("%s, %u bits%s: %g .. %g of %g .. %g", method->id, settings->bits,
                  settings->symmetric ? " symmetric" : "", range.min, range.max, h->min, h->max);
  g_assert_true (isfinite (range.min) && isfinite (range.max));
  g_assert_cmpfloat (range.min, <=, range.max);
  /* those with a whole step, which may lie behind what was seen */
  if (g_str_equal (method->id, "mse-ppq") || g_str_has_prefix (method->id, "xslim"))
    beyond = MAX (most, h->max - h->min) * MAX (0.125, 2 / (exp2 (settings->bits) - 1));
  if (!method->power_of_two && most > 1e-4)    /* smaller ones may be widened */
    {
      g_assert_cmpfloat (range.min, >=, (settings->symmetric ? -most - beyond : h->min) * (1 + 1e-9) -
                                         (h->min > 0 ? 1e-6 * most : 0));
      g_assert_cmpfloat (range.max, <=, MAX (settings->symmetric ? most : h->max, 0) * (1 + 1e-9) + 0.01 * most + beyond);
    }
  if (method->contest == NULL)
    return;
  g_assert_true (method->contest (h, settings, &again, &winner, NULL));
  g_assert_nonnull (winner);
  g_assert_cmpfloat (again.min, ==, range.min);
  g_assert_cmpfloat (again.max, ==, range.max);
  g_test_message ("it is that of %s", winner);
}

static void
test_all (void)
{
  static const guint bits[] = { 8, 4, 16, 2 };
  guint n_methods;
  const VnRangeMethod * const *methods = vn_range_method_list (&n_methods);
  g_autofree float *x = g_new (float, 5000);

  for (guint kind = 0; kind < N_KINDS; kind++)
    {
      g_autoptr(VnHistogram) h = vn_histogram_new ();
      VnHistogram *sample = scan (x, make_elements (kind, x));

      vn_histogram_add_votes (h, sample, (float) -INFINITY, (float) INFINITY);
      vn_histogram_take_sample (h, sample);
      g_test_message ("kind %u", kind);
      for (guint b = 0; b < 2 * G_N_ELEMENTS (bits); b++)
        for (guint k = 0; k < n_methods; k++)
          check_method (methods[k], h, &(VnRangeSettings) { .percentile = 99.9, .symmetric = b % 2, .bits = bits[b / 2] });
    }
}

/* No method the contest knows is better than its winner, and the winner's range is the one that is used. */
static void
test_best (void)
{
  g_autofree float *x = g_new (float, 5000);

  for (guint kind = 0; kind < N_KINDS - 2; kind++)
    for (guint b = 0; b < 4; b++)
      {
        g_autoptr(VnHistogram) h = vn_histogram_new ();
        g_autoptr(VnRoundingTable) table = NULL;
        const VnRangeSettings settings = { .percentile = 99.9, .bits = b < 2 ? 8 : 4, .symmetric = b % 2 };
        static const char * const others[] = { "minmax", "mse", "kl", "octav", "aciq-gauss", "aciq-laplace" };
        VnRange best, other;

        vn_histogram_take_sample (h, scan (x, make_elements (kind, x)));
        table = vn_rounding_table_new (h);
        g_assert_true (vn_range_method_find ("best", NULL)->range (h, &settings, &best, NULL));
        for (guint i = 0; i < G_N_ELEMENTS (others); i++)
          {
            g_assert_true (vn_range_method_find (others[i], NULL)->range (h, &settings, &other, NULL));
            g_assert_cmpfloat (vn_range_get_error (table, &best, &settings, INFINITY), <=,
                               vn_range_get_error (table, &other, &settings, INFINITY));
          }
      }
}

/* Each id once, each letter once: both name a method to the user. */
static void
test_table (void)
{
  guint n;
  const VnRangeMethod * const *methods = vn_range_method_list (&n);

  for (guint i = 0; i < n; i++)
    {
      g_assert_true (methods[i]->title != NULL && methods[i]->summary != NULL);
      g_assert_true (g_ascii_isupper (methods[i]->letter));
      for (guint k = 0; k < i; k++)
        {
          g_assert_cmpstr (methods[i]->id, !=, methods[k]->id);
          g_assert_cmpint (methods[i]->letter, !=, methods[k]->letter);
        }
    }
}

/* Weights are searched element by element; where no two positions are about equal, the histogram says the same. */
static void
test_data (void)
{
  const VnRangeMethod *minmse = vn_range_method_find ("minmse", NULL);
  g_autofree float *x = g_new (float, 5000);

  for (guint kind = 0; kind < N_KINDS - 2; kind++)
    {
      const guint n = make_elements (kind, x);
      const VnRangeSettings settings = { S8 };
      g_autoptr(VnHistogram) h = scan (x, n);
      VnRange range, of_data;

      g_assert_true (minmse->range (h, &settings, &range, NULL));
      g_assert_true (minmse->range_of_data (x, n, &settings, &of_data, NULL));
      g_assert_cmpfloat (range.max, ==, of_data.max);
      g_assert_cmpfloat (range.min, ==, of_data.min);
    }
}

static VnHistogram *
add_samples (const float *most,
             guint        n,
             gboolean     backwards)
{
  VnHistogram *self = vn_histogram_new ();

  for (guint i = 0; i < n; i++)
    {
      const float m = most[backwards ? n - 1 - i : i];
      const float x[] = { -m, m / 127, m };
      VnHistogram *sample = scan (x, G_N_ELEMENTS (x));

      vn_histogram_add_votes (self, sample, (float) -INFINITY, (float) INFINITY);
      vn_histogram_take_sample (self, sample);
    }
  return self;
}

/* Samples of 127 steps of a power of two choose that one. Together the widest would decide. */
static void
test_common (void)
{
  static const struct { float most[5]; guint n; double steps; } cases[] = {
    { { 127 }, 1, 127 },
    { { 127, 1016, 1016, 31.75f, 1016 }, 5, 1016 },
    { { 1016, 127, 127, 31.75f, 1016 }, 5, 127 },     /* two each: the smaller scale */
    { { 1016, 127, 31.75f }, 3, 31.75 },
  };
  const VnRangeMethod *common = vn_range_method_find ("minmse-common", NULL), *minmse = vn_range_method_find ("minmse", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint k = 0; k < 2; k++)
      {
        g_autoptr(VnHistogram) h = add_samples (cases[i].most, cases[i].n, k == 1);
        const VnRangeSettings signed8 = { S8 }, middle = { U8S }, asymmetric = { U8 };
        VnRange range, all;

        g_assert_true (common->range (h, &signed8, &range, NULL));
        g_assert_cmpfloat (range.max, ==, cases[i].steps);
        g_assert_cmpfloat (range.min, ==, -cases[i].steps);
        g_assert_true (common->range (h, &middle, &range, NULL));
        g_assert_cmpfloat (range.max, ==, cases[i].steps);
        g_assert_cmpfloat (range.min, ==, -cases[i].steps * 128 / 127);
        g_assert_true (common->range (h, &asymmetric, &range, NULL) && minmse->range (h, &asymmetric, &all, NULL));
        g_assert_cmpfloat (range.max, ==, all.max);
        g_assert_cmpfloat (range.min, ==, all.min);
      }
}

/* Votes that nobody counted are no votes; one sample alone needs none. */
static void
test_common_uncounted (void)
{
  static const float x[] = { -127, 1, 127 };
  const VnRangeMethod *common = vn_range_method_find ("minmse-common", NULL);
  const VnRangeSettings settings = { S8 };
  g_autoptr(VnHistogram) h = scan (x, G_N_ELEMENTS (x));
  g_autoptr(VnHistogram) told_apart = vn_histogram_new ();
  g_autoptr(GError) error = NULL;
  VnRange range;

  g_assert_true (common->range (h, &settings, &range, &error));
  g_assert_cmpfloat (range.max, ==, 127);
  vn_histogram_take_sample (told_apart, scan (x, G_N_ELEMENTS (x)));
  g_assert_false (common->range (told_apart, &settings, &range, &error));
  g_test_message ("%s", error->message);
  g_assert_error (error, VN_ERROR, VN_ERROR_MISSING_DATA);
}

/* What a tap behind a clamp votes is what it would have seen. */
static void
test_common_clamped (void)
{
  static const float seen[] = { -300, 0.5f, 2, 7, INFINITY }, cut[] = { 0, 0.5f, 2, 6, 6 };
  g_autoptr(VnHistogram) behind = vn_histogram_new ();
  g_autoptr(VnHistogram) source = scan (seen, G_N_ELEMENTS (seen));
  g_autoptr(VnHistogram) plain = vn_histogram_new ();
  g_autoptr(VnHistogram) own = scan (cut, G_N_ELEMENTS (cut));

  vn_histogram_add_votes (behind, source, 0, 6);
  vn_histogram_add_votes (plain, own, (float) -INFINITY, (float) INFINITY);
  g_assert_cmpuint (plain->votes.n, ==, VN_POSITION_GRIDS);
  g_assert_true (vn_position_votes_equal (&behind->votes, &plain->votes));
}

/* ---- XSlim's search, candidate by candidate ---- */

#define XSLIM_BINS 4096

static double
get_plain_mse (const double *counts,
               guint         start,
               guint         end,
               guint         levels)
{
  const double step = MAX ((double) (end - start) / levels, 1), middle = (step - 1) / 2;
  double sum = 0, total = 0, at = 0;

  for (guint i = 0; i < XSLIM_BINS; i++)
    {
      double distance = i < start ? start - 0.5 - i : i >= end ? i - (end - 0.5) : middle - fabs (at - middle) + 0.5;

      total += counts[i];
      sum += counts[i] * distance * distance;
      if (i < start || i >= end)
        continue;
      at += 1;
      at -= at >= step ? step : 0;
    }
  return sum / total;
}

typedef struct { double kl, mse; VnRange range; } PlainCandidate;

static int
compare_plain (gconstpointer a,
               gconstpointer b)
{
  const PlainCandidate *x = a, *y = b;

  return x->mse != y->mse ? (x->mse > y->mse) - (x->mse < y->mse) : (x->kl > y->kl) - (x->kl < y->kl);
}

static double
get_plain_lambda (GArray *candidates)
{
  g_autoptr(GArray) sorted = g_array_copy (candidates);
  const guint n = MIN (10, sorted->len);
  double sum = 0;

  g_array_sort (sorted, compare_plain);
  for (guint i = 0; i < n; i++)
    {
      const PlainCandidate *best = &g_array_index (sorted, PlainCandidate, i);

      sum += isfinite (best->kl) ? best->kl * best->kl / (best->mse * best->mse) : 0;
    }
  return sqrt (sum / n);
}

static void
add_plain (GArray            *candidates,
           const VnRangeSums *sums,
           guint              start,
           guint              length,
           guint              levels,
           VnRange            range)
{
  const guint end = MIN (start + length, XSLIM_BINS);
  PlainCandidate candidate = { vn_range_sums_get_kl (sums, start, end, levels), get_plain_mse (sums->counts, start, end, levels),
                               range };

  g_array_append_val (candidates, candidate);
}

/* All that the search may choose from, with both costs. */
static GArray *
list_plain (const VnHistogram *h,
            guint              levels,
            double             percentile)
{
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (PlainCandidate));
  g_autofree VnRangeSums *sums = g_new (VnRangeSums, 1);
  const double low = h->min, width = ((double) h->max - low) / XSLIM_BINS;
  const guint step = XSLIM_BINS / levels * 2;
  VnRange range;

  vn_histogram_linear (h, h->min, h->max, sums->counts, XSLIM_BINS);
  vn_range_sums_make_whole (sums);
  vn_range_sums_update (sums);
  vn_range_get_average (h, percentile, &range);
  add_plain (candidates, sums, (guint) floor ((range.min - low) / width),
             (guint) CLAMP (ceil ((range.max - range.min) / width), 1, XSLIM_BINS),
             levels, range);
  for (guint start = 0; start < XSLIM_BINS; start += step)
    for (guint n = levels; n < XSLIM_BINS - start + step - 1; n += step)
      add_plain (candidates, sums, start, n, levels, (VnRange) { low + start * width, low + start * width + n * width });
  return candidates;
}

/* The range that the search chooses costs least, whatever it does not look at. To know that takes long: all settings on the first
 * kind, a third of them on each other one. */
static void
test_xslim (void)
{
  static const struct { const char *id; guint bits; gint64 qmin, qmax; } cases[] = {
    { "xslim", 8, 0, 255 }, { "xslim-mse", 8, 0, 255 }, { "xslim-kl", 8, 0, 255 }, { "xslim", 8, 1, 255 }, { "xslim", 4, 0, 15 },
    { "xslim", 4, 0, 10 }, { "xslim", 10, 0, 1023 }, { "xslim", 2, 0, 3 }, { "xslim", 2, 0, 2 },
  };
  g_autofree float *x = g_new (float, 5000);

  for (guint kind = 0; kind < N_KINDS - 2; kind++)
    for (guint i = kind % 3; i < G_N_ELEMENTS (cases) && kind != 4 && kind != 5 && kind != 6; i += kind == 0 ? 1 : 3)
      {
        const VnRangeSettings settings = { .percentile = 99.9, .bits = cases[i].bits, .qmin = cases[i].qmin,
                                           .qmax = cases[i].qmax };
        g_autoptr(VnHistogram) h = vn_histogram_new ();
        g_autoptr(GArray) plain = NULL;
        const PlainCandidate *found = NULL;
        double of_kl = g_str_equal (cases[i].id, "xslim-mse") ? 0 : 1, of_mse = 0, least = INFINITY;
        VnRange range;

        vn_histogram_take_sample (h, scan (x, make_elements (kind, x)));
        plain = list_plain (h, (guint) (cases[i].qmax - cases[i].qmin + 1), 99.9);
        of_mse = g_str_equal (cases[i].id, "xslim-kl") ? 0 : of_kl == 0 ? 1 : get_plain_lambda (plain);
        g_assert_true (vn_range_method_find (cases[i].id, NULL)->range (h, &settings, &range, NULL));
        for (guint k = 0; k < plain->len; k++)
          {
            const PlainCandidate *candidate = &g_array_index (plain, PlainCandidate, k);

            least = fmin (least, of_kl * candidate->kl + of_mse * candidate->mse);
            if (candidate->range.min == range.min && candidate->range.max == range.max && found == NULL)
              found = candidate;
          }
        g_test_message ("kind %u, %s, %d levels: %g .. %g", kind, cases[i].id, (int) (cases[i].qmax - cases[i].qmin + 1),
                        range.min, range.max);
        g_assert_nonnull (found);
        g_assert_cmpfloat (of_kl * found->kl + of_mse * found->mse, <=, least + 1e-9 * fabs (least));
      }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/methods/table", test_table);
  g_test_add_func ("/methods/by-hand", test_by_hand);
  g_test_add_func ("/methods/aciq", test_aciq);
  g_test_add_func ("/methods/positions", test_positions);
  g_test_add_func ("/methods/all", test_all);
  g_test_add_func ("/methods/best", test_best);
  g_test_add_func ("/methods/xslim", test_xslim);
  g_test_add_func ("/methods/data", test_data);
  g_test_add_func ("/methods/common", test_common);
  g_test_add_func ("/methods/common-uncounted", test_common_uncounted);
  g_test_add_func ("/methods/common-clamped", test_common_clamped);

  return g_test_run ();
}
