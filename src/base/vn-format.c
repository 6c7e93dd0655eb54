/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers, sizes, times and paths as people and tables read them. */
#include "vn-format.h"

#include "vn-i18n.h"

#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MINUS "\xe2\x88\x92"
#define NBSP "\xc2\xa0"

/**
 * vn_format_number:
 * @value: any number; NaN and infinities are written as such
 * @significant: digits that count, 1 .. 15
 *
 * Returns: (transfer full): @value with a true minus sign, below a million without a power of ten
 */
char *
vn_format_number (double value,
                  guint  significant)
{
  g_autofree char *plain = NULL;
  double rounded;

  if (isnan (value))
    return g_strdup (_("NaN"));
  if (isinf (value))
    return g_strdup (value > 0 ? "∞" : MINUS "∞");

  plain = g_strdup_printf ("%.*g", (int) significant, fabs (value));
  rounded = strtod (plain, NULL);
  if (rounded >= 1 && rounded < 1e6 && strchr (plain, 'e') != NULL)
    {
      g_free (plain);
      plain = g_strdup_printf ("%.0f", rounded);
    }
  return g_strconcat (value < 0 ? MINUS : "", plain, NULL);
}

/**
 * vn_format_decimals:
 *
 * Returns: (transfer full): @value with so many decimals and a true minus sign; what rounds to zero has no sign
 */
char *
vn_format_decimals (double value,
                    guint  decimals)
{
  g_autofree char *plain = NULL;

  if (!isfinite (value))
    return vn_format_number (value, 3);
  plain = g_strdup_printf ("%.*f", (int) decimals, fabs (value));
  return g_strconcat (value < 0 && strpbrk (plain, "123456789") != NULL ? MINUS : "", plain, NULL);
}

/**
 * vn_format_signed:
 *
 * Returns: (transfer full): a difference: as vn_format_decimals(), with a plus sign where it is above zero
 */
char *
vn_format_signed (double value,
                  guint  decimals)
{
  g_autofree char *plain = vn_format_decimals (value, decimals);

  return g_strconcat (value > 0 && (isinf (value) || strpbrk (plain, "123456789") != NULL) ? "+" : "", plain, NULL);
}

/**
 * vn_format_db:
 * @decibels: a ratio in dB
 *
 * Returns: (transfer full): one decimal and the unit
 */
char *
vn_format_db (double decibels)
{
  if (!isfinite (decibels))
    {
      g_autofree char *text = vn_format_number (decibels, 3);

      return g_strdup_printf ("%s" NBSP "dB", text);
    }
  return g_strdup_printf ("%s%.1f" NBSP "dB", decibels < -0.05 ? MINUS : "", fabs (decibels));
}

/**
 * vn_format_db_margin:
 * @decibels: a ratio in dB
 * @margin: by how much it may be wrong, in dB; NaN: not known
 *
 * Returns: (transfer full): “43.2 ± 1.3 dB”, as vn_format_db()
 */
char *
vn_format_db_margin (double decibels,
                     double margin)
{
  if (!isfinite (decibels) || !isfinite (margin))
    return vn_format_db (decibels);
  return g_strdup_printf ("%s%.1f ± %.1f" NBSP "dB", decibels < -0.05 ? MINUS : "", fabs (decibels), margin);
}

/**
 * vn_format_signed_db:
 * @decibels: a difference in dB
 *
 * Returns: (transfer full): "+2.1 dB", "−0.4 dB"
 */
char *
vn_format_signed_db (double decibels)
{
  g_autofree char *text = vn_format_signed (decibels, 1);

  return g_strdup_printf ("%s" NBSP "dB", text);
}

/**
 * vn_format_db_column:
 * @decibels: a ratio in dB
 *
 * Returns: (transfer full): two decimals and the unit in ASCII, or a word where nothing or all is lost: printf() pads bytes,
 *   not characters
 */
char *
vn_format_db_column (double decibels)
{
  if (isinf (decibels))
    return g_strdup (decibels > 0 ? _("exact") : _("lost"));
  return g_strdup_printf (_("%.2f dB"), decibels);
}

/**
 * vn_format_db_column_margin:
 *
 * Returns: (transfer full): as vn_format_db_column(), with the margin of vn_format_db_margin()
 */
char *
vn_format_db_column_margin (double decibels,
                            double margin)
{
  if (isinf (decibels) || !isfinite (margin))
    return vn_format_db_column (decibels);
  /* Translators: a ratio and its margin of error */
  return g_strdup_printf (_("%.2f ± %.2f dB"), decibels, margin);
}

static char *
format_size (guint64     bytes,
             const char *space)
{
  static const char * const units[] = { "kB", "MB", "GB", "TB" };
  double size = (double) bytes / 1000;
  guint unit = 0;

  if (bytes < 1000)
    return g_strdup_printf ("%llu%s%s", (unsigned long long) bytes, space, ngettext ("byte", "bytes", (gulong) bytes));
  /* What one decimal would write as 1000.0 belongs to the next unit. */
  for (; size >= 999.95 && unit + 1 < G_N_ELEMENTS (units); unit++)
    size /= 1000;
  return g_strdup_printf ("%.1f%s%s", size, space, units[unit]);
}

/**
 * vn_format_bytes:
 *
 * Returns: (transfer full): a size in decimal units, as file managers write it
 */
char *
vn_format_bytes (guint64 bytes)
{
  return format_size (bytes, NBSP);
}

/**
 * vn_format_bytes_column:
 *
 * Returns: (transfer full): the same in ASCII, for columns of a terminal
 */
char *
vn_format_bytes_column (guint64 bytes)
{
  return format_size (bytes, " ");
}

/**
 * vn_format_plain:
 *
 * Returns: (transfer full): six significant digits for tables of reports; "inf", "-inf" and "nan" spelled out
 */
char *
vn_format_plain (double value)
{
  if (isnan (value))
    return g_strdup ("nan");
  if (isinf (value))
    return g_strdup (value > 0 ? "inf" : "-inf");
  return g_strdup_printf ("%.6g", value);
}

/**
 * vn_format_fixed:
 *
 * Returns: (transfer full): @value with so many decimals, otherwise as vn_format_plain()
 */
char *
vn_format_fixed (double value,
                 guint  decimals)
{
  return isfinite (value) ? g_strdup_printf ("%.*f", (int) decimals, value) : vn_format_plain (value);
}

/**
 * vn_format_interval:
 *
 * Returns: (transfer full): "−13.1 … 9.2"
 */
char *
vn_format_interval (double min,
                    double max)
{
  g_autofree char *low = vn_format_number (min, 4);
  g_autofree char *high = vn_format_number (max, 4);

  return g_strdup_printf ("%s" NBSP "…" NBSP "%s", low, high);
}

/**
 * vn_format_duration:
 * @seconds: 0 or more
 *
 * Returns: (transfer full): "0.8 s", "27 s", "3 min 20 s"
 */
char *
vn_format_duration (double seconds)
{
  if (seconds < 9.95)
    return g_strdup_printf (_("%.1f s"), seconds);
  if (seconds < 90)
    return g_strdup_printf (_("%.0f s"), seconds);
  return g_strdup_printf (_("%d min %d s"), (int) (seconds / 60), (int) seconds % 60);
}

/**
 * vn_format_path:
 *
 * Returns: (transfer full): @path with the home folder as "~", valid UTF-8
 */
char *
vn_format_path (const char *path)
{
  g_autofree char *display = NULL;
  g_autofree char *home = g_filename_display_name (g_get_home_dir ());
  gsize length = strlen (home);

  g_return_val_if_fail (path != NULL, NULL);

  display = g_filename_display_name (path);
  if (length > 1 && g_str_has_prefix (display, home) && (display[length] == '/' || display[length] == 0))
    return g_strconcat ("~", display + length, NULL);
  return g_steal_pointer (&display);
}

static char *
format_replace (const char *text,
                const char *what,
                const char *by)
{
  g_auto(GStrv) parts = g_strsplit (text, what, -1);

  return g_strjoinv (by, parts);
}

/**
 * vn_format_to_locale:
 * @number: with a point, as programs write it
 *
 * Returns: (transfer full): the same with the locale's decimal point
 */
char *
vn_format_to_locale (const char *number)
{
  g_return_val_if_fail (number != NULL, NULL);

  return format_replace (number, ".", nl_langinfo (RADIXCHAR));
}

/**
 * vn_format_from_locale:
 * @text: one number as somebody writes it, with a point, a comma or the locale's decimal point, and either minus sign
 *
 * Returns: (transfer full): @text as programs read it; what is no number stays none
 */
char *
vn_format_from_locale (const char *text)
{
  g_autofree char *plain = NULL, *result = NULL;

  g_return_val_if_fail (text != NULL, NULL);

  plain = format_replace (text, MINUS, "-");
  result = format_replace (plain, nl_langinfo (RADIXCHAR), ".");
  return g_strdelimit (g_steal_pointer (&result), ",", '.');
}

/* A word of a list: the comma in "0,5" belongs to the number where numbers are written so; those in "0,5,", "0.5,2" and "1,2,3"
 * do not. */
static char **
format_split_word (const char *word)
{
  g_auto(GStrv) parts = g_strsplit (word, ",", -1);
  guint n = g_strv_length (parts);

  if (n > 1 && *parts[n - 1] == '\0')
    g_clear_pointer (&parts[--n], g_free);
  if (n == 2 && *parts[0] != '\0' && strchr (word, '.') == NULL && g_str_equal (nl_langinfo (RADIXCHAR), ","))
    {
      char *number = g_strjoinv (".", parts);

      g_strfreev (g_steal_pointer (&parts));
      parts = g_new0 (char *, 2);
      parts[0] = number;
    }
  return g_steal_pointer (&parts);
}

/* Returns: %FALSE if @word is no finite number, or there is no room for it */
static gboolean
format_read_float (const char *word,
                   float      *values,
                   guint       n,
                   guint      *n_read)
{
  g_autofree char *number = vn_format_from_locale (word);
  char *end = NULL;
  double value = g_ascii_strtod (number, &end);

  if (end == number || *end != '\0' || !isfinite (value) || *n_read == n)
    return FALSE;
  values[(*n_read)++] = (float) value;
  return TRUE;
}

/**
 * vn_format_parse_floats:
 * @text: numbers with blanks, semicolons or commas between them, each with a point or the locale's decimal point
 * @values: where they go
 * @n: room in @values
 * @n_read: (out): how many were found
 *
 * Returns: %FALSE if something in @text is no finite number, or there are none or more than @n
 */
gboolean
vn_format_parse_floats (const char *text,
                        float      *values,
                        guint       n,
                        guint      *n_read)
{
  g_auto(GStrv) words = NULL;

  g_return_val_if_fail (text != NULL, FALSE);

  *n_read = 0;
  words = g_strsplit_set (text, " ;\t", -1);
  for (guint i = 0; words[i] != NULL; i++)
    {
      g_auto(GStrv) parts = format_split_word (words[i]);

      for (guint k = 0; parts[k] != NULL; k++)
        if (*parts[k] != '\0' && !format_read_float (parts[k], values, n, n_read))
          return FALSE;
    }
  return *n_read > 0;
}

/**
 * vn_format_floats:
 *
 * Returns: (transfer full): what vn_format_parse_floats() reads back
 */
char *
vn_format_floats (const float *values,
                  guint        n)
{
  g_autoptr(GString) text = g_string_new (NULL);

  g_return_val_if_fail (values != NULL || n == 0, NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%.6g", i > 0 ? "  " : "", (double) values[i]);
  return g_strdup (text->str);
}
