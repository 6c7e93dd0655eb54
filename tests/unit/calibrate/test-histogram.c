/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-histogram-private.h"

#include <math.h>
#include <string.h>

static guint64 state;

static guint32
next_word (void)
{
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (guint32) (state >> 32);
}

static float
uniform (void)
{
  return (float) (next_word () >> 8) * 0x1p-24f;
}

static float
from_bits (guint32 bits)
{
  float x;

  memcpy (&x, &bits, sizeof x);
  return x;
}

static guint32
to_bits (float x)
{
  guint32 bits;

  memcpy (&bits, &x, sizeof bits);
  return bits;
}

/* ---- data ---- */

typedef void (*FillFunc) (float *x, gsize n);

static void
fill_normal (float *x,
             gsize  n)
{
  for (gsize i = 0; i < n; i++)
    x[i] = sqrtf (-2 * logf (uniform () + 1e-9f)) * cosf (6.2831853f * uniform ());
}

static void
fill_relu (float *x,
           gsize  n)
{
  fill_normal (x, n);
  for (gsize i = 0; i < n; i++)
    x[i] = MAX (x[i], 0);
}

static void
fill_zeros (float *x,
            gsize  n)
{
  for (gsize i = 0; i < n; i++)
    x[i] = next_word () & 1 ? 0.0f : -0.0f;
}

static void
fill_few_zeros (float *x,
                gsize  n)
{
  fill_normal (x, n);
  for (gsize i = 0; i < n; i += 37)
    x[i] = i % 2 ? 0.0f : -0.0f;
}

static void
fill_any_bits (float *x,
               gsize  n)
{
  for (gsize i = 0; i < n; i++)
    x[i] = from_bits (next_word ());
}

static void
fill_finite_bits (float *x,
                  gsize  n)
{
  for (gsize i = 0; i < n; i++)
    do
      x[i] = from_bits (next_word ());
    while (!isnormal (x[i]));
}

static void
fill_special (float *x,
              gsize  n)
{
  static const guint32 odd[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x0000ffff, 0x00010000, 0x007fffff, 0x807fffff, 0x00800000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0xff800001, 0x7fc00000, 0xffffffff, 0x3f800000,
  };

  for (gsize i = 0; i < n; i++)
    x[i] = from_bits (odd[next_word () % G_N_ELEMENTS (odd)]);
}

static void
fill_rare_special (float *x,
                   gsize  n)
{
  fill_relu (x, n);
  for (gsize i = 5000; i < n; i += 5000)
    x[i] = from_bits (i % 3 ? 0x7fc00000 : 0x00000123);
}

static void
fill_constant (float *x,
               gsize  n)
{
  for (gsize i = 0; i < n; i++)
    x[i] = 6.0f;
}

static void
fill_negative (float *x,
               gsize  n)
{
  for (gsize i = 0; i < n; i++)
    x[i] = -1e-30f - uniform () * 1e30f;
}

/* Just below what is far, and in the last place just there. */
static void
fill_nearly_far (float *x,
                 gsize  n)
{
  for (gsize i = 0; i < n; i++)
    x[i] = i % 3 ? 0x1.fffffep5f : -0x1.fffffep5f;
}

static void
fill_far (float *x,
          gsize  n)
{
  fill_nearly_far (x, n);
  if (n > 0)
    x[n - 1] = -64;
}

static void
fill_last_nan (float *x,
               gsize  n)
{
  fill_normal (x, n);
  if (n > 0)
    x[n - 1] = NAN;
}

static const struct
{
  const char *name;
  FillFunc    fill;
} fills[] = {
  { "normal",       fill_normal },
  { "relu",         fill_relu },
  { "zeros",        fill_zeros },
  { "few-zeros",    fill_few_zeros },
  { "any-bits",     fill_any_bits },
  { "finite-bits",  fill_finite_bits },
  { "special",      fill_special },
  { "rare-special", fill_rare_special },
  { "constant",     fill_constant },
  { "negative",     fill_negative },
  { "nearly-far",   fill_nearly_far },
  { "far",          fill_far },
  { "last-nan",     fill_last_nan },
};

static float *
make_data (guint which,
           gsize n)
{
  float *x = g_new (float, n + 1);

  state = 17 + which;
  fills[which].fill (x, n);
  return x;
}

/* ---- the definition, element by element ---- */

static VnHistogram *
count_by_definition (const float *x,
                     gsize        n)
{
  VnHistogram *self = vn_histogram_new ();

  for (gsize i = 0; i < n; i++)
    {
      guint32 bits = to_bits (x[i]);
      guint page = bits >> 23;

      self->n++;
      if (isnan (x[i]))
        self->n_nan++;
      else if (isinf (x[i]))
        *(x[i] > 0 ? &self->n_pos_inf : &self->n_neg_inf) += 1;
      else
        {
          if (x[i] < self->min)
            self->min = x[i];
          if (x[i] > self->max)
            self->max = x[i];
          if (x[i] == 0)
            self->n_zero++;
          else
            {
              if (vn_histogram_get_page (self, page) == NULL)
                vn_histogram_set_page (self, page, g_new0 (guint64, VN_HISTOGRAM_PAGE_BINS));
              vn_histogram_get_page (self, page)[bits >> 16 & 127]++;
            }
        }
    }
  self->min += 0.0f;
  self->max += 0.0f;
  return self;
}

static void
print_histogram (const char        *what,
                 const VnHistogram *h)
{
  g_test_message ("%s: n %" G_GUINT64_FORMAT ", nan %" G_GUINT64_FORMAT ", inf %" G_GUINT64_FORMAT "/%"
                  G_GUINT64_FORMAT ", zero %" G_GUINT64_FORMAT ", %a .. %a", what, h->n, h->n_nan, h->n_pos_inf,
                  h->n_neg_inf, h->n_zero, h->min, h->max);
}

static const gsize sizes[] = { 0, 1, 7, 63, 64, 255, 256, 257, 1000, 2047, 2048, 2049, 5003, 8192, 40000, 600000 };

static void
check_definition (VnHistogramScratch *scratch,
                  guint      level)
{
  for (guint w = 0; w < G_N_ELEMENTS (fills); w++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
      {
        g_autofree float *x = make_data (w, sizes[s]);
        g_autoptr(VnHistogram) expected = count_by_definition (x, sizes[s]);
        g_autoptr(VnHistogram) got = vn_histogram_new ();

        vn_histogram_scan (got, scratch, x, sizes[s]);
        g_test_message ("level %u, %s, %" G_GSIZE_FORMAT " elements", level, fills[w].name, sizes[s]);
        print_histogram ("expected", expected);
        print_histogram ("got", got);
        g_assert_true (vn_histogram_equal (expected, got));
      }
}

static void
test_definition (void)
{
  for (VnLevel level = vn_machine_get_best_level (); level <= VN_LEVEL_GENERIC; level++)
    {
      g_autoptr(VnHistogramScratch) scratch = vn_scratch_new_level (level);

      g_assert_nonnull (scratch);
      check_definition (scratch, level);
    }
}

/* whole == left + right + merge, and the same scratch serves all of them */
static void
test_cuts (void)
{
  const gsize n = 40000;
  const gsize cuts[] = { 0, 1, 7, 63, 64, 2048, 20001, n };
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();

  for (guint w = 0; w < G_N_ELEMENTS (fills); w++)
    {
      g_autofree float *x = make_data (w, n);
      g_autoptr(VnHistogram) whole = vn_histogram_new ();

      vn_histogram_scan (whole, scratch, x, n);
      for (guint c = 0; c < G_N_ELEMENTS (cuts); c++)
        {
          g_autoptr(VnHistogram) left = vn_histogram_new ();
          g_autoptr(VnHistogram) right = vn_histogram_new ();
          g_autoptr(VnHistogram) in_turn = vn_histogram_new ();

          vn_histogram_scan (left, scratch, x, cuts[c]);
          vn_histogram_scan (right, scratch, x + cuts[c], n - cuts[c]);
          vn_histogram_scan (in_turn, scratch, x + cuts[c], n - cuts[c]);
          vn_histogram_scan (in_turn, scratch, x, cuts[c]);
          vn_histogram_merge (right, left);
          g_test_message ("%s cut at %" G_GSIZE_FORMAT, fills[w].name, cuts[c]);
          g_assert_true (vn_histogram_equal (whole, right));
          g_assert_true (vn_histogram_equal (whole, in_turn));
        }
    }
}

/* Counting what was clamped, and clamping what was counted. */
static void
test_clamped (void)
{
  static const float clamps[][2] = {
    { 0, INFINITY }, { 0, 6 }, { -INFINITY, INFINITY }, { -0.371f, 0.003f }, { -1e-40f, 1e-41f }, { 1.5f, 1.5f },
    { -INFINITY, 0 }, { 0.1234567f, 3e38f }, { -3.4028235e38f, 3.4028235e38f }, { -0.0f, 0.0f },
  };

  for (guint w = 0; w < G_N_ELEMENTS (fills); w++)
    for (guint c = 0; c < G_N_ELEMENTS (clamps); c++)
      {
        const gsize n = c % 2 == 0 ? 5003 : w % 3;
        g_autofree float *x = make_data (w, n);
        g_autoptr(VnHistogram) before = count_by_definition (x, n);
        g_autoptr(VnHistogram) got = vn_histogram_new_clamped (before, clamps[c][0], clamps[c][1]);
        g_autoptr(VnHistogram) expected = NULL;

        for (gsize i = 0; i < n; i++)
          {
            x[i] = x[i] < clamps[c][0] ? clamps[c][0] : x[i];
            x[i] = x[i] > clamps[c][1] ? clamps[c][1] : x[i];
          }
        expected = count_by_definition (x, n);
        g_test_message ("%s, %g .. %g", fills[w].name, clamps[c][0], clamps[c][1]);
        print_histogram ("expected", expected);
        print_histogram ("got", got);
        g_assert_true (vn_histogram_equal (expected, got));
      }
}

static void
test_unequal (void)
{
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();
  const float values[] = { 1.0f, 1.01f, -1.0f, 0.0f, NAN, INFINITY };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    for (guint k = 0; k < G_N_ELEMENTS (values); k++)
      {
        g_autoptr(VnHistogram) a = vn_histogram_new ();
        g_autoptr(VnHistogram) b = vn_histogram_new ();

        vn_histogram_scan (a, scratch, &values[i], 1);
        vn_histogram_scan (b, scratch, &values[k], 1);
        g_test_message ("%g and %g", values[i], values[k]);
        g_assert_cmpint (vn_histogram_equal (a, b), ==, i == k);
      }
}

/* ---- reading ---- */

typedef struct
{
  double  last;
  guint64 n;
  guint   n_bins;
} Walk;

static void
walk_bin (const VnBin *bin,
          gpointer     data)
{
  Walk *walk = data;

  g_assert_cmpfloat (bin->lo, <=, bin->hi);
  g_assert_cmpfloat (bin->lo, >=, walk->last);
  g_assert_cmpuint (bin->count, >, 0);
  walk->last = bin->hi;
  walk->n += bin->count;
  walk->n_bins++;
}

static void
test_foreach (void)
{
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();

  for (guint w = 0; w < G_N_ELEMENTS (fills); w++)
    {
      g_autofree float *x = make_data (w, 30000);
      g_autoptr(VnHistogram) h = vn_histogram_new ();
      Walk walk = { .last = -INFINITY };

      vn_histogram_scan (h, scratch, x, 30000);
      vn_histogram_foreach (h, walk_bin, &walk);
      g_test_message ("%s: %u bins", fills[w].name, walk.n_bins);
      g_assert_cmpuint (walk.n, ==, h->n - h->n_nan - h->n_pos_inf - h->n_neg_inf);
      if (walk.n > 0)
        g_assert_cmpfloat (walk.last, ==, h->max);
    }
}

static void
measure (VnHistogramScratch *scratch,
         guint      level,
         guint      which,
         gsize      n,
         gsize      part)
{
  const guint rounds = 40;
  g_autofree float *x = make_data (which, n);
  g_autoptr(VnHistogram) h = vn_histogram_new ();
  gint64 best = G_MAXINT64;

  for (guint k = 0; k < rounds; k++)
    {
      gint64 start = g_get_monotonic_time ();

      for (gsize i = 0; i < n; i += part)
        vn_histogram_scan (h, scratch, x + i, MIN (part, n - i));
      best = MIN (best, g_get_monotonic_time () - start);
    }
  g_test_message ("level %u, %s in pieces of %" G_GSIZE_FORMAT ": %.3f ns per element", level, fills[which].name, part,
                  1e3 * (double) best / (double) n);
  g_assert_cmpuint (h->n, ==, n * rounds);
}

/* Only with -m perf: prints nanoseconds per element. */
static void
test_speed (void)
{
  static const gsize parts[] = { 64, 4096, 16384, 800000 };

  if (!g_test_perf ())
    {
      g_test_skip ("run with -m perf");
      return;
    }
  for (VnLevel level = vn_machine_get_best_level (); level <= VN_LEVEL_GENERIC; level++)
    {
      g_autoptr(VnHistogramScratch) scratch = vn_scratch_new_level (level);

      for (guint w = 0; w < G_N_ELEMENTS (fills); w++)
        for (guint p = 0; p < G_N_ELEMENTS (parts); p++)
          measure (scratch, level, w, 800000, parts[p]);
    }
}

/* ---- channels ---- */

/* The same elements in blocks; what stands for no channel is junk. */
static float *
make_blocks (const float           *x,
             const VnChannelLayout *layout)
{
  const gsize lanes = layout->lanes, n_blocks = (layout->n_channels + lanes - 1) / lanes;
  float *blocks = g_new (float, layout->n_first * n_blocks * layout->n_inner * lanes + 1);

  for (gsize i = 0; i < layout->n_first * n_blocks * layout->n_inner * lanes; i++)
    blocks[i] = i % 2 ? NAN : -1e30f;
  for (gsize f = 0; f < layout->n_first; f++)
    for (gsize c = 0; c < layout->n_channels; c++)
      for (gsize i = 0; i < layout->n_inner; i++)
        blocks[((f * n_blocks + c / lanes) * layout->n_inner + i) * lanes + c % lanes] =
          x[(f * layout->n_channels + c) * layout->n_inner + i];
  return blocks;
}

static void
check_channel_ranges (const float           *x,
                      const VnChannelLayout *layout,
                      const VnChannelRanges *ranges)
{
  g_assert_cmpuint (ranges->n, ==, layout->n_channels);
  for (gsize c = 0; c < layout->n_channels; c++)
    {
      float low = INFINITY, high = -INFINITY;

      for (gsize f = 0; f < layout->n_first; f++)
        for (gsize i = 0; i < layout->n_inner; i++)
          {
            float value = x[(f * layout->n_channels + c) * layout->n_inner + i];

            if (!isfinite (value))
              continue;
            low = MIN (low, value);
            high = MAX (high, value);
          }
      /* of both zeros one */
      g_assert_cmphex (vn_float_bits (ranges->low[c]), ==, vn_float_bits (low + 0.0f));
      g_assert_cmphex (vn_float_bits (ranges->high[c]), ==, vn_float_bits (high + 0.0f));
    }
}

/* The ends alone: the same as counting finds, unless there is something that must be counted. */
static gboolean
check_ends (VnHistogramScratch    *scratch,
            const float           *x,
            const float           *laid_out,
            const VnChannelLayout *layout,
            const VnHistogram     *expected)
{
  const gsize n = layout->n_first * layout->n_channels * layout->n_inner;
  g_autoptr(VnHistogram) got = vn_histogram_new ();
  VnEnds ends = VN_ENDS_NONE, alone = VN_ENDS_NONE;
  VnChannelRanges ranges = { 0 };
  gboolean is_near = TRUE;

  for (gsize i = 0; i < n; i++)
    is_near = is_near && fabsf (x[i]) < 64;
  g_assert_cmpint (vn_ends_scan (&ends, scratch, laid_out, layout, &ranges), ==, is_near);
  g_assert_cmpint (vn_ends_scan (&alone, scratch, laid_out, layout, NULL), ==, is_near);
  g_assert_cmpmem (&alone, sizeof alone, &ends, sizeof ends);
  vn_histogram_count_ends (got, &ends);
  if (is_near)
    {
      const float both[] = { expected->min, expected->max };
      g_autoptr(VnHistogram) two = count_by_definition (both, 2);

      g_assert_true (vn_histogram_equal (two, got));
      check_channel_ranges (x, layout, &ranges);
      g_assert_true (vn_ends_take_channels (&ends, ranges.low, ranges.high, ranges.n, NULL));
      g_assert_cmpmem (&alone, sizeof alone, &ends, sizeof ends);
    }
  g_assert_cmpuint (got->n, ==, is_near ? 2 : 0);
  vn_channel_ranges_clear (&ranges);
  return is_near;
}

static gboolean
check_channels (VnHistogramScratch    *scratch,
                const float           *x,
                const VnChannelLayout *layout)
{
  const gsize n = layout->n_first * layout->n_channels * layout->n_inner;
  g_autofree float *blocks = layout->lanes > 0 ? make_blocks (x, layout) : NULL;
  g_autoptr(VnHistogram) expected = count_by_definition (x, n), got = vn_histogram_new (), taken = vn_histogram_new ();
  VnChannelRanges ranges = { 0 };
  gboolean is_near;

  vn_histogram_scan_channels (got, scratch, blocks != NULL ? blocks : x, layout, NULL);
  g_assert_true (vn_histogram_equal (expected, got));
  is_near = check_ends (scratch, x, blocks != NULL ? blocks : x, layout, expected);
  vn_histogram_take_counts (taken, got, scratch);
  g_assert_cmpuint (got->n, ==, 0);
  vn_histogram_scan_channels (got, scratch, blocks != NULL ? blocks : x, layout, &ranges);
  g_assert_true (vn_histogram_equal (expected, got));
  check_channel_ranges (x, layout, &ranges);
  vn_histogram_take_counts (taken, got, scratch);   /* once more, where pages are known already */
  vn_histogram_merge (expected, expected);
  g_assert_true (vn_histogram_equal (expected, taken));
  vn_channel_ranges_clear (&ranges);
  return is_near;
}

/* Counting and the ranges of channels in one walk, however channels lie. */
static void
test_channels (void)
{
  static const guint lanes[] = { 0, 8, 16 };
  static const gsize shapes[][3] = { { 1, 1, 1 }, { 2, 3, 300 }, { 1, 8, 49 }, { 2, 13, 5 }, { 1, 16, 2500 }, { 2, 24, 700 },
                                     { 1, 37, 16 }, { 3, 5, 1 } };

  guint n = 0, n_near = 0;

  for (VnLevel level = vn_machine_get_best_level (); level <= VN_LEVEL_GENERIC; level++)
    {
      g_autoptr(VnHistogramScratch) scratch = vn_scratch_new_level (level);

      for (guint w = 0; w < G_N_ELEMENTS (fills); w++)
        for (guint s = 0; s < G_N_ELEMENTS (shapes); s++)
          for (guint l = 0; l < G_N_ELEMENTS (lanes); l++)
            {
              const VnChannelLayout layout = { shapes[s][0], shapes[s][1], shapes[s][2], lanes[l] };
              g_autofree float *x = make_data (w, layout.n_first * layout.n_channels * layout.n_inner);

              g_test_message ("level %u, %s, shape %u, %u lanes", level, fills[w].name, s, lanes[l]);
              n_near += check_channels (scratch, x, &layout);
              n++;
            }
    }
  g_assert_cmpuint (n_near, >, n / 4);
  g_assert_cmpuint (n_near, <, n);
}

/* One channel of five reaches further than three times the median; of equal ones none. */
static void
test_channel_outlier (void)
{
  const float x[] = { 1, -1.9f, 0.5f, 12.4f, -1.2f, 1.5f, 0, 3, -2, 1 };
  const float even[] = { 1, 2, -2, 1, 2 };
  VnChannelRanges ranges = { 0 }, level = { 0 };
  VnChannelOutlier outlier;

  vn_channel_ranges_scan (&ranges, x, 1, 5, 2);
  g_assert_true (vn_channel_ranges_find_outlier (&ranges, &outlier));
  g_assert_cmpuint (outlier.channel, ==, 1);
  g_assert_cmpuint (outlier.n, ==, 1);
  g_assert_cmpfloat_with_epsilon (outlier.reach, 12.4, 1e-6);
  g_assert_cmpfloat_with_epsilon (outlier.others, 3, 1e-6);
  vn_channel_ranges_scan (&level, even, 1, 5, 1);
  g_assert_false (vn_channel_ranges_find_outlier (&level, &outlier));
  vn_channel_ranges_clear (&ranges);
  vn_channel_ranges_clear (&level);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/histogram/definition", test_definition);
  g_test_add_func ("/histogram/cuts", test_cuts);
  g_test_add_func ("/histogram/clamped", test_clamped);
  g_test_add_func ("/histogram/unequal", test_unequal);
  g_test_add_func ("/histogram/foreach", test_foreach);
  g_test_add_func ("/histogram/speed", test_speed);

  g_test_add_func ("/histogram/channels", test_channels);
  g_test_add_func ("/calibrate/channels/outlier", test_channel_outlier);
  return g_test_run ();
}
