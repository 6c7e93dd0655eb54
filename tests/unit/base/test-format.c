/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How numbers, sizes and times are written for people, for columns and for tables; where numbers have a comma, too. */
#include "vn-format.h"
#include "vn-shown.h"

#include <locale.h>
#include <math.h>

#define MINUS "\xe2\x88\x92"
#define NBSP "\xc2\xa0"

static void
check (char       *text,
       const char *expected)
{
  g_assert_cmpstr (text, ==, expected);
  g_free (text);
}

static void
test_numbers (void)
{
  check (vn_format_number (-13.125, 3), MINUS "13.1");
  check (vn_format_number (0, 3), "0");
  check (vn_format_number (17683, 3), "17700");
  check (vn_format_number (-999999, 3), MINUS "1e+06");
  check (vn_format_number (0.0000123, 2), "1.2e-05");
  check (vn_format_number (-INFINITY, 3), MINUS "∞");
  check (vn_format_number (NAN, 3), "NaN");
  check (vn_format_decimals (-0.5, 3), MINUS "0.500");
  check (vn_format_decimals (-0.04, 1), "0.0");
  check (vn_format_decimals (INFINITY, 3), "∞");
  check (vn_format_signed (2.04, 1), "+2.0");
  check (vn_format_signed (-2.04, 1), MINUS "2.0");
  check (vn_format_signed (0.04, 1), "0.0");
  check (vn_format_signed (3, 0), "+3");
  check (vn_format_interval (-1.5, 6), MINUS "1.5" NBSP "…" NBSP "6");
}

static void
test_db (void)
{
  check (vn_format_db (32.66), "32.7" NBSP "dB");
  check (vn_format_db (-3.14), MINUS "3.1" NBSP "dB");
  check (vn_format_db (-0.04), "0.0" NBSP "dB");
  check (vn_format_db (INFINITY), "∞" NBSP "dB");
  check (vn_format_signed_db (2.14), "+2.1" NBSP "dB");
  check (vn_format_signed_db (-0.41), MINUS "0.4" NBSP "dB");
  check (vn_format_signed_db (INFINITY), "+∞" NBSP "dB");
  check (vn_format_db_column (32.664), "32.66 dB");
  check (vn_format_db_column (-3.14159), "-3.14 dB");
  check (vn_format_db_column (INFINITY), "exact");
  check (vn_format_db_column (-INFINITY), "lost");
}

static void
test_bytes (void)
{
  check (vn_format_bytes (0), "0" NBSP "bytes");
  check (vn_format_bytes (1), "1" NBSP "byte");
  check (vn_format_bytes_column (999), "999 bytes");
  check (vn_format_bytes_column (1000), "1.0 kB");
  check (vn_format_bytes_column (999949), "999.9 kB");
  check (vn_format_bytes_column (999950), "1.0 MB");
  check (vn_format_bytes (1730000000), "1.7" NBSP "GB");
  check (vn_format_bytes_column (G_MAXUINT64), "18446744.1 TB");
}

static void
test_durations (void)
{
  check (vn_format_duration (0.84), "0.8 s");
  check (vn_format_duration (27.4), "27 s");
  check (vn_format_duration (200), "3 min 20 s");
}

static void
test_tables (void)
{
  check (vn_format_plain (0.1), "0.1");
  check (vn_format_plain (-1234567), "-1.23457e+06");
  check (vn_format_plain (-INFINITY), "-inf");
  check (vn_format_plain (NAN), "nan");
  check (vn_format_fixed (2.0 / 3, 2), "0.67");
  check (vn_format_fixed (INFINITY, 2), "inf");
  check (vn_format_fixed (-123456.5, 5), "-123456.50000");
}

static void
test_floats (void)
{
  const float written[] = { -0.5f, 123.675f, 1e-7f };
  g_autofree char *text = vn_format_floats (written, 3);
  float read[3];
  guint n = 0;

  g_assert_true (vn_format_parse_floats (text, read, 3, &n));
  g_assert_cmpuint (n, ==, 3);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpfloat (read[i], ==, written[i]);
  g_assert_false (vn_format_parse_floats (text, read, 2, &n));
  g_assert_false (vn_format_parse_floats ("1, x", read, 3, &n));
  g_assert_false (vn_format_parse_floats ("inf", read, 3, &n));
  g_assert_false (vn_format_parse_floats ("  ", read, 3, &n));
}

/* Where numbers are written with a comma all are, and both forms are read. */
static void
test_comma (void)
{
  const float written[] = { -0.5f, 123.675f, 3 };
  static const struct { const char *text; guint n; float first; } lists[] = {
    { "0,5 0,25 1", 3, 0.5f },
    { "0,5, 0,25, 1", 3, 0.5f },
    { "0,5; \u22121,5", 2, 0.5f },
    { "0.5,0.25,1", 3, 0.5f },
    { "1,2,3", 3, 1 },
    { "7,", 1, 7 },
  };
  g_autofree char *text = NULL;
  float read[3];
  guint n;

  if (setlocale (LC_NUMERIC, "de_DE.UTF-8") == NULL && setlocale (LC_NUMERIC, "fr_FR.UTF-8") == NULL)
    {
      g_test_skip ("this system has no locale with a decimal comma");
      return;
    }
  text = vn_format_floats (written, 3);
  check (vn_format_number (-13.125, 3), MINUS "13,1");
  check (vn_format_plain (-0.1), "-0,1");
  check (vn_format_fixed (2.0 / 3, 2), "0,67");
  check (vn_format_to_locale ("1e-05"), "1e-05");
  check (vn_format_to_locale ("-99.5"), "-99,5");
  check (vn_format_from_locale (MINUS "99,5"), "-99.5");
  check (vn_format_from_locale ("99.5"), "99.5");
  g_assert_cmpstr (text, ==, "-0,5  123,675  3");
  g_assert_true (vn_format_parse_floats (text, read, 3, &n));
  g_assert_cmpmem (read, sizeof read, written, sizeof written);
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    {
      g_test_message ("%s", lists[i].text);
      g_assert_true (vn_format_parse_floats (lists[i].text, read, 3, &n));
      g_assert_cmpuint (n, ==, lists[i].n);
      g_assert_cmpfloat (read[0], ==, lists[i].first);
    }
  g_assert_false (vn_format_parse_floats ("0,5,0,25", read, 3, &n));
  setlocale (LC_NUMERIC, "C");
  check (vn_format_from_locale (MINUS "99,5"), "-99.5");
  g_assert_true (vn_format_parse_floats ("1,5", read, 3, &n));
  g_assert_cmpuint (n, ==, 2);
}

static void
test_paths (void)
{
  g_autofree char *below = g_build_filename (g_get_home_dir (), "a.onnx", NULL);
  g_autofree char *beside = g_strconcat (g_get_home_dir (), "2/a.onnx", NULL);

  check (vn_format_path (below), "~/a.onnx");
  check (vn_format_path (beside), beside);
}

/* A name cannot end a line, reach a terminal's controls or turn what follows; all else stays. */
static void
test_shown (void)
{
  static const struct { const char *text, *shown; } cases[] = {
    { "conv1/weight", "conv1/weight" }, { "", "" }, { "a\nVerdict: As good", "a\\nVerdict: As good" },
    { "\x1b[31mRED", "\\x1b[31mRED" },
    { "a\tb\rc\x7f\b", "a\\tb\\rc\\x7f\\x08" }, { "größe 大小 ∞", "größe 大小 ∞" }, { "\xc2\x9b" "31m", "\\u009b31m" },
    { "a\xe2\x80\xae" "b", "a\\u202eb" }, { "\xe2\x80\xa8", "\\u2028" }, { "\xe2\x81\xa6", "\\u2066" },
    { "a\xff\xc3", "a\\xff\\xc3" },
    { "a\\n", "a\\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *once = vn_shown_dup (cases[i].text), *twice = vn_shown_dup (once);

      g_assert_cmpstr (once, ==, cases[i].shown);
      g_assert_cmpstr (twice, ==, once);
    }
  g_assert_null (vn_shown_dup (NULL));
}

/* As printf(), but for what names hold. */
static void
test_shown_format (void)
{
  check (vn_shown_printf ("%s: %u\n%%", "a\nb", 7u), "a\\nb: 7\n%");
  check (vn_shown_printf ("[%-6s|%6s|%.2s|%*s]", "ab", "c\x1b", "xyz", 4, "d"), "[ab    | c\\x1b|xy|   d]");
  check (vn_shown_printf ("%2$s %1$d %2$s", 5, "e\n"), "e\\n 5 e\\n");
  check (vn_shown_printf ("%zu %lld %llu %ld %lu %c %05.2f %g %x %+d", (gsize) 1, -2LL, 3ULL, -4L, 5UL, 'c', 1.5, 2.5, 255u, 9),
         "1 -2 3 -4 5 c 01.50 2.5 ff +9");
  check (vn_shown_printf ("%.*f %*.*e|%hhd", 1, 2.25, 10, 2, 1234.5, 3), "2.2   1.23e+03|3");
  check (vn_shown_printf ("%" G_GINT64_FORMAT " %s", G_MAXINT64, "x"), "9223372036854775807 x");
  check (vn_shown_printf ("plain"), "plain");
}

int
main (int   argc,
      char *argv[])
{
  setlocale (LC_ALL, "C.UTF-8");
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/format/numbers", test_numbers);
  g_test_add_func ("/format/db", test_db);
  g_test_add_func ("/format/bytes", test_bytes);
  g_test_add_func ("/format/durations", test_durations);
  g_test_add_func ("/format/tables", test_tables);
  g_test_add_func ("/format/floats", test_floats);
  g_test_add_func ("/format/comma", test_comma);
  g_test_add_func ("/format/paths", test_paths);
  g_test_add_func ("/format/shown", test_shown);
  g_test_add_func ("/format/shown-format", test_shown_format);
  return g_test_run ();
}
