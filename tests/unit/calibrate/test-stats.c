/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Statistics on disk and merged. */

#include "vn-calibrate.h"
#include "vn-error.h"
#include "vn-stats-private.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static VnHistogram *
make_histogram (guint seed,
                guint n)
{
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();
  g_autoptr(GRand) rand = g_rand_new_with_seed (seed);
  g_autofree float *x = g_new (float, n + 1);
  VnHistogram *self = vn_histogram_new ();

  for (guint i = 0; i < n; i++)
    {
      x[i] = (float) g_rand_double_range (rand, -3, 5);
      if (i % 7 == 0)
        x[i] = 0;
      if (i % 101 == 50)
        x[i] = i % 2 ? NAN : INFINITY;
    }
  for (guint i = 0; i < n; i += 1000)
    {
      VnHistogram *sample = vn_histogram_new ();

      vn_histogram_scan (sample, scratch, x + i, MIN (1000, n - i));
      vn_histogram_take_sample (self, sample);
    }
  return self;
}

static VnStats *
make_stats (guint seed,
            guint n_samples)
{
  VnStats *self = vn_stats_new (n_samples);

  vn_stats_take (self, "zeta", make_histogram (seed, 3000));
  vn_stats_take (self, "alpha/1:0", make_histogram (seed + 1, 1));
  vn_stats_take (self, "Ü", make_histogram (seed + 2, 70000));
  vn_stats_take (self, "empty", make_histogram (seed + 3, 0));
  vn_stats_seal (self);
  return self;
}

/* Samples @from .. @to - 1 of a data set. */
static VnStats *
make_listed (guint       from,
             guint       to,
             const char *source,
             const char *data)
{
  const VnStatsOrigin origin = { (char *) "net.onnx", (char *) source, (char *) source, 13, (char *) data };
  VnStats *self = make_stats (from + 1, to - from);

  self->origin = vn_stats_origin_copy (&origin);
  for (guint i = from; i < to; i++)
    {
      g_autofree char *name = g_strdup_printf ("ü%u.png", i % 10);

      vn_stats_samples_add (self->samples, i, name, i % 10 * G_GUINT64_CONSTANT (0x123456789abcdef));
    }
  return self;
}

static char *
temporary_path (void)
{
  char *path = g_build_filename (g_get_tmp_dir (), "vn-stats-XXXXXX", NULL);

  g_close (g_mkstemp (path), NULL);
  return path;
}

static void
test_lookup (void)
{
  g_autoptr(VnStats) stats = make_stats (1, 5);

  g_assert_cmpuint (vn_stats_get_n_samples (stats), ==, 5);
  g_assert_cmpuint (vn_stats_get_n_values (stats), ==, 4);
  g_assert_cmpstr (vn_stats_get_name (stats, 0), ==, "alpha/1:0");
  g_assert_nonnull (vn_stats_get (stats, "zeta"));
  g_assert_null (vn_stats_get (stats, "zet"));
  g_assert_null (vn_stats_get (stats, ""));
  g_assert_cmpuint (vn_stats_get_bytes (stats), >, 4000);
}

static void
test_round_trip (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnStats) stats = make_stats (1, 5);
  g_autofree char *path = temporary_path ();
  g_autoptr(VnStats) loaded = NULL;
  GStatBuf info;

  g_assert_true (vn_stats_save (stats, path, &error));
  g_assert_no_error (error);
  loaded = vn_stats_load (path, &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_stat (path, &info), ==, 0);
  g_test_message ("%d bytes on disk, %" G_GSIZE_FORMAT " in memory", (int) info.st_size, vn_stats_get_bytes (stats));
  g_assert_true (vn_stats_equal (stats, loaded));
  g_unlink (path);
  g_assert_null (vn_stats_load (path, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT);
}

static void
test_merge (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnStats) a = make_stats (1, 5);
  g_autoptr(VnStats) b = make_stats (10, 7);
  g_autoptr(VnStats) c = make_stats (20, 1);
  g_autoptr(VnStats) other = vn_stats_new (1);
  g_autoptr(VnStats) abc = vn_stats_merge ((VnStats *[]) { a, b, c }, 3, &error);
  g_autoptr(VnStats) cab = vn_stats_merge ((VnStats *[]) { c, a, b }, 3, &error);
  g_autoptr(VnHistogram) sum = vn_histogram_new ();

  g_assert_no_error (error);
  g_assert_cmpuint (vn_stats_get_n_samples (abc), ==, 13);
  g_assert_true (vn_stats_equal (abc, cab));
  g_assert_false (vn_stats_equal (abc, a));
  vn_histogram_merge (sum, vn_stats_get (b, "zeta"));
  vn_histogram_merge (sum, vn_stats_get (a, "zeta"));
  vn_histogram_merge (sum, vn_stats_get (c, "zeta"));
  g_assert_true (vn_histogram_equal (sum, vn_stats_get (abc, "zeta")));

  vn_stats_take (other, "zeta", make_histogram (1, 3));
  vn_stats_seal (other);
  g_assert_null (vn_stats_merge ((VnStats *[]) { a, other }, 2, &error));
  g_test_message ("%s", error->message);
  g_assert_error (error, VN_ERROR, VN_ERROR_MISSING_DATA);
  g_clear_error (&error);
  g_assert_null (vn_stats_merge ((VnStats *[]) { other, a }, 2, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MISSING_DATA);
}

static void
expect_no_merge (VnStats    *a,
                 VnStats    *b,
                 const char *text)
{
  g_autoptr(GError) error = NULL;

  g_assert_null (vn_stats_merge ((VnStats *[]) { a, b }, 2, &error));
  g_test_message ("%s", error->message);
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
  g_assert_nonnull (strstr (error->message, text));
}

/* Parts know what they are of: they merge in any order to the same file, and not with what does not belong to them. */
static void
test_origin (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnStats) a = make_listed (0, 4, "s", "d");
  g_autoptr(VnStats) b = make_listed (4, 9, "s", "d");
  g_autoptr(VnStats) again = make_listed (8, 9, "s", "d");
  g_autoptr(VnStats) same = make_listed (12, 14, "s", "d");   /* names and values of 2 and 3 */
  g_autoptr(VnStats) other = make_listed (9, 10, "t", "d");
  g_autoptr(VnStats) otherwise = make_listed (9, 10, "s", "e");
  g_autoptr(VnStats) nothing = vn_stats_new (0);
  g_autoptr(VnStats) ab = vn_stats_merge ((VnStats *[]) { a, b }, 2, &error);
  g_autoptr(VnStats) ba = vn_stats_merge ((VnStats *[]) { b, a }, 2, &error);
  g_autoptr(VnStats) repeated = vn_stats_merge ((VnStats *[]) { a, same }, 2, &error);
  g_autoptr(GBytes) ab_bytes = vn_stats_to_bytes (ab, NULL);
  g_autoptr(GBytes) ba_bytes = vn_stats_to_bytes (ba, NULL);
  g_autoptr(VnStats) read = vn_stats_from_bytes (ab_bytes, &error);
  g_autoptr(VnStats) more = NULL;
  const char *example = NULL;

  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (ab_bytes, ba_bytes));
  g_assert_cmpuint (vn_stats_get_n_samples (read), ==, 9);
  g_assert_true (vn_stats_has_sample (read, 7, "ü7.png"));
  g_assert_false (vn_stats_has_sample (read, 7, "ü6.png"));
  g_assert_true (vn_stats_has_sample (read, G_MAXUINT, "ü6.png"));
  g_assert_false (vn_stats_has_sample (read, 9, "ü9.png"));
  g_assert_cmpstr (vn_stats_get_origin (read)->network, ==, "net.onnx");
  g_assert_cmpuint (vn_stats_count_twice (read, NULL), ==, 0);
  g_assert_cmpuint (vn_stats_count_twice (repeated, &example), ==, 2);
  g_assert_cmpstr (example, ==, "ü2.png");

  expect_no_merge (b, again, "ü8.png");
  expect_no_merge (a, other, "a different model");
  expect_no_merge (a, otherwise, "“e”");
  nothing->origin = vn_stats_origin_copy (a->origin);
  more = vn_stats_merge ((VnStats *[]) { nothing, a }, 2, &error);
  g_assert_no_error (error);
  g_assert_true (vn_stats_equal (a, more));
}

static void
test_check_origin (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnStats) stats = make_listed (0, 4, "s", "d");
  VnStatsOrigin origin = { (char *) "renamed.onnx", (char *) "s", (char *) "s", 13, (char *) "whatever" };

  g_assert_true (vn_stats_check_origin (stats, &origin, "a.stats", &error));
  origin.source = (char *) "as opened, the names of nodes are others";
  g_assert_true (vn_stats_check_origin (stats, &origin, "a.stats", &error));
  origin.prepared = (char *) "t";
  g_assert_false (vn_stats_check_origin (stats, &origin, "a.stats", &error));
  g_test_message ("%s", error->message);
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
  g_assert_nonnull (strstr (error->message, "renamed.onnx"));
  g_assert_nonnull (strstr (error->message, "net.onnx"));
  g_clear_error (&error);
  origin.source = (char *) "s";
  g_assert_false (vn_stats_check_origin (stats, &origin, "a.stats", &error));
  g_test_message ("%s", error->message);
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
  g_clear_error (&error);
  origin.opset = 21;
  g_assert_false (vn_stats_check_origin (stats, &origin, "a.stats", &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
}

/* ---- votes ---- */

static VnHistogram *
make_voted (guint seed,
            guint n)
{
  VnHistogram *self = vn_histogram_new ();

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(VnHistogram) sample = make_histogram (seed + i, 20 + i);

      vn_histogram_add_votes (self, sample, (float) -INFINITY, (float) INFINITY);
      vn_histogram_merge (self, sample);    /* which is told apart as one sample */
    }
  return self;
}

/* Votes come back from a file, add up in any order, and only files that have them are of the later version. */
static void
test_votes (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnStats) a = vn_stats_new (3);
  g_autoptr(VnStats) b = vn_stats_new (2);
  g_autoptr(VnStats) plain = vn_stats_new (1);
  g_autoptr(VnStats) ab = NULL;
  g_autoptr(VnStats) ba = NULL;
  g_autoptr(VnStats) mixed = NULL;
  g_autoptr(VnStats) read = NULL;
  g_autoptr(GBytes) bytes = NULL;
  g_autoptr(GBytes) plain_bytes = NULL;

  vn_stats_take (a, "x", make_voted (1, 3));
  vn_stats_take (b, "x", make_voted (50, 2));
  vn_stats_take (plain, "x", make_histogram (9, 30));
  ab = vn_stats_merge ((VnStats *[]) { a, b }, 2, &error);
  ba = vn_stats_merge ((VnStats *[]) { b, a }, 2, &error);
  mixed = vn_stats_merge ((VnStats *[]) { a, plain }, 2, &error);
  g_assert_no_error (error);
  g_assert_true (vn_stats_equal (ab, ba));
  g_assert_true (vn_stats_has_votes (ab));
  g_assert_false (vn_stats_has_votes (plain));
  g_assert_false (vn_stats_has_votes (mixed));
  bytes = vn_stats_to_bytes (ab, NULL);
  plain_bytes = vn_stats_to_bytes (plain, NULL);
  g_assert_cmpuint (((const guint8 *) g_bytes_get_data (bytes, NULL))[VN_STATS_FILE_MAGIC_SIZE], ==, 5);
  g_assert_cmpuint (((const guint8 *) g_bytes_get_data (plain_bytes, NULL))[VN_STATS_FILE_MAGIC_SIZE], ==, 4);
  read = vn_stats_from_bytes (bytes, &error);
  g_assert_no_error (error);
  g_assert_true (vn_stats_equal (ab, read));
  g_assert_true (vn_stats_has_votes (read));
}

/* A file that an earlier version of the program wrote: of "x", which was 1.5 once and 0 once. */
static void
test_earlier_version (void)
{
  static const char base64[] =
    "Vm5TdGF0cwoEAQAAAAEBeAIAAAABAAAAAAAAwD8BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAADAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAMAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAMAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAwAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAX8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQ"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAXMsaJyX7D8JGn5GR7OGJ7Gpdp"
    "XUa82X4GxhcvC/j2KQ==";
  g_autoptr(GError) error = NULL;
  gsize size;
  g_autofree guint8 *data = g_base64_decode (base64, &size);
  g_autoptr(GBytes) bytes = g_bytes_new (data, size);
  g_autoptr(VnStats) stats = vn_stats_from_bytes (bytes, &error);
  const VnHistogram *x;

  g_assert_no_error (error);
  x = vn_stats_get (stats, "x");
  g_assert_cmpuint (x->n, ==, 2);
  g_assert_cmpfloat (x->max, ==, 1.5f);
  g_assert_cmpuint (x->samples.n, ==, 1);
  g_assert_cmpuint (x->votes.n, ==, 0);
  g_assert_false (vn_stats_has_votes (stats));
}

/* ---- damage ---- */

/* Writes @data with a checksum that is right, so that the parser itself is met. */
static VnStats *
load_bytes (const guint8  *data,
            gsize          size,
            gboolean       sign,
            GError       **error)
{
  guint8 *copy = g_memdup2 (data, size + 1);
  g_autoptr(GBytes) bytes = NULL;

  if (sign && size >= 32)
    {
      g_autoptr(GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
      gsize digest_size = 32;

      g_checksum_update (checksum, copy, (gssize) size - 32);
      g_checksum_get_digest (checksum, copy + size - 32, &digest_size);
    }
  bytes = g_bytes_new_take (copy, size);
  return vn_stats_from_bytes (bytes, error);
}

static void
use_bin (const VnBin *bin,
         gpointer     data)
{
  g_assert_true (isfinite (bin->lo) && isfinite (bin->hi));
  g_assert_cmpfloat (bin->lo, <=, bin->hi);
  *(guint64 *) data += bin->count;
}

/* What was let through must be usable: by each method in turn. */
static void
use_stats (VnStats *stats,
           guint    turn)
{
  guint n_methods;
  const VnRangeMethod * const *methods = vn_range_method_list (&n_methods);

  for (guint i = 0; i < vn_stats_get_n_values (stats); i++)
    {
      const VnHistogram *h = vn_stats_get (stats, vn_stats_get_name (stats, i));
      guint64 n = 0;

      vn_histogram_foreach (h, use_bin, &n);
      g_assert_cmpuint (n + h->n_nan + h->n_pos_inf + h->n_neg_inf, ==, h->n);
      for (guint k = 0; k < 2; k++)
        {
          VnRangeSettings settings = { .percentile = 99.9, .symmetric = k % 2, .two_sided = k % 2 };
          VnRange range;

          if (methods[(turn + i) % n_methods]->range (h, &settings, &range, NULL))
            g_assert_cmpfloat (range.min, <=, range.max);
        }
    }
}

static void
test_damage (void)
{
  const VnStatsOrigin origin = { (char *) "n", (char *) "s", (char *) "p", 13, (char *) "d" };
  g_autoptr(VnStats) stats = vn_stats_new (2);
  VnHistogram *voted = make_histogram (2, 3);
  g_autoptr(GRand) rand = g_rand_new_with_seed (5);
  g_autofree char *path = temporary_path ();
  g_autofree guint8 *data = NULL;
  guint n_refused = 0;
  guint n_taken = 0;
  gsize size;

  vn_stats_take (stats, "a", make_histogram (1, 40));
  vn_histogram_add_votes (voted, voted, (float) -INFINITY, (float) INFINITY);
  vn_stats_take (stats, "b", voted);
  stats->origin = vn_stats_origin_copy (&origin);
  vn_stats_samples_add (stats->samples, 0, "x", 1);
  vn_stats_samples_add (stats->samples, 7, "y", 2);
  g_assert_true (vn_stats_save (stats, path, NULL));
  g_assert_true (g_file_get_contents (path, (char **) &data, &size, NULL));
  g_unlink (path);

  for (guint signing = 0; signing < 2; signing++)
    {
      for (gsize n = 0; n < size; n++)
        {
          g_autoptr(GError) error = NULL;
          g_autoptr(VnStats) loaded = load_bytes (data, n, signing, &error);

          g_assert_null (loaded);
          g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
        }
      for (guint round = 0; round < 4000; round++)
        {
          gsize at = (gsize) g_rand_int_range (rand, 0, (int) size - 32);
          guint8 old = data[at];
          g_autoptr(GError) error = NULL;
          g_autoptr(VnStats) loaded = NULL;

          data[at] = (guint8) (round % 2 ? g_rand_int (rand) : old ^ 1u << g_rand_int_range (rand, 0, 8));
          loaded = load_bytes (data, size, signing, &error);
          if (!signing && data[at] != old)
            g_assert_null (loaded);
          data[at] = old;
          n_refused += loaded == NULL;
          n_taken += loaded != NULL;
          if (loaded != NULL)
            use_stats (loaded, n_taken);
        }
    }
  g_test_message ("%u refused, %u taken", n_refused, n_taken);
  g_assert_cmpuint (n_refused, >, 4000);
  g_assert_cmpuint (n_taken, >, 0);
}

/* One part says that there are others, until they are all together: then it is as if there never had been parts. */
static void
test_parts (void)
{
  g_autoptr(VnStats) a = make_listed (0, 5, "net", "as they are"), b = make_listed (5, 8, "net", "as they are"), ab = NULL,
  whole = NULL, read = NULL;
  g_autoptr(GBytes) part = NULL, joined = NULL, plain = NULL;
  g_autoptr(GError) error = NULL;

  whole = vn_stats_merge ((VnStats *[]) { a, b }, 2, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_stats_get_n_missing (whole), ==, 0);
  plain = vn_stats_to_bytes (whole, NULL);

  a->n_all = b->n_all = 8;
  g_assert_cmpuint (vn_stats_get_n_missing (a), ==, 3);
  g_assert_cmpuint (vn_stats_get_n_missing (b), ==, 5);
  part = vn_stats_to_bytes (a, NULL);
  read = vn_stats_from_bytes (part, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_stats_get_n_missing (read), ==, 3);
  g_assert_true (vn_stats_equal (read, a));

  ab = vn_stats_merge ((VnStats *[]) { b, read }, 2, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_stats_get_n_missing (ab), ==, 0);
  joined = vn_stats_to_bytes (ab, NULL);
  g_assert_true (g_bytes_equal (joined, plain));

  /* What an interrupted run has left counts as there: that is told of by itself. */
  a->n_left = 2;
  g_assert_cmpuint (vn_stats_get_n_missing (a), ==, 1);
}

/* ---- ranges that are remembered ---- */

static guint n_asked;

static gboolean
count_asking (const VnHistogram      *histogram,
              const VnRangeSettings  *settings,
              VnRange                *range,
              GError                **error)
{
  n_asked++;
  *range = (VnRange) { histogram->min, settings->percentile };
  return TRUE;
}

static gboolean
count_contest (const VnHistogram      *histogram,
               const VnRangeSettings  *settings,
               VnRange                *range,
               char                  **winner,
               GError                **error)
{
  *winner = g_strdup_printf ("winner %g", settings->percentile);
  return count_asking (histogram, settings, range, error);
}

/* Statistics answer again without a search, each method and setting for itself; a histogram that still counts searches anew. */
static void
test_remembered (void)
{
  const VnRangeMethod one = { .range = count_asking }, other = { .range = count_asking, .contest = count_contest };
  const VnRangeMethod *methods[] = { &one, &other };
  g_autoptr(VnStats) stats = vn_stats_new (1);
  g_autoptr(VnHistogram) open = make_histogram (3, 100);

  vn_stats_take (stats, "x", make_histogram (3, 100));
  vn_stats_seal (stats);
  for (guint round = 0; round < 3; round++)
    for (guint m = 0; m < 2; m++)
      for (guint i = 0; i < 3; i++)
        {
          const VnHistogram *histogram = vn_stats_get (stats, "x");
          const VnRangeSettings settings = { .percentile = 90 + i, .bits = 8 };
          VnRange range = { NAN, NAN };
          g_autofree char *winner = NULL;
          g_autofree char *expected = m == 1 ? g_strdup_printf ("winner %u", 90 + i) : NULL;

          g_assert_true (vn_range_method_find_range (methods[m], histogram, &settings, &range, &winner, NULL));
          g_assert_cmpstr (winner, ==, expected);
          g_assert_cmpfloat (range.min, ==, histogram->min);
          g_assert_cmpfloat (range.max, ==, 90 + i);
          g_assert_cmpuint (n_asked, ==, round > 0 ? 6 : 3 * m + i + 1);
        }
  for (guint round = 0; round < 2; round++)
    {
      VnRange range;

      g_assert_true (vn_range_method_find_range (&one, open, &(VnRangeSettings) { .percentile = 90, .bits = 8 }, &range, NULL,
                                                 NULL));
      g_assert_cmpuint (n_asked, ==, 7 + round);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/stats/lookup", test_lookup);
  g_test_add_func ("/stats/parts", test_parts);
  g_test_add_func ("/stats/round-trip", test_round_trip);
  g_test_add_func ("/stats/merge", test_merge);
  g_test_add_func ("/stats/origin", test_origin);
  g_test_add_func ("/stats/check-origin", test_check_origin);
  g_test_add_func ("/stats/votes", test_votes);
  g_test_add_func ("/stats/earlier-version", test_earlier_version);
  g_test_add_func ("/stats/remembered", test_remembered);
  g_test_add_func ("/stats/damage", test_damage);

  return g_test_run ();
}
