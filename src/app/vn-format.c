/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-format.h"

#include "vn-i18n.h"

#include <math.h>
#include <string.h>

#define MINUS "\xe2\x88\x92"
#define NBSP "\xc2\xa0"

/**
 * vn_format_number:
 * @value: any number; NaN and infinities are written as such
 * @significant: digits that count, 1 .. 15
 *
 * Returns: (transfer full): @value with a true minus sign
 */
char *
vn_format_number (double value,
                  guint  significant)
{
  g_autofree char *plain = NULL;

  if (isnan (value))
    return g_strdup (_("NaN"));
  if (isinf (value))
    return g_strdup (value > 0 ? "∞" : MINUS "∞");

  plain = g_strdup_printf ("%.*g", (int) significant, fabs (value));
  return g_strconcat (value < 0 ? MINUS : "", plain, NULL);
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
 * vn_format_bytes:
 *
 * Returns: (transfer full): a size in decimal units, as file managers write it
 */
char *
vn_format_bytes (guint64 bytes)
{
  return g_format_size (bytes);
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
 * vn_format_shape:
 * @type: type of a value
 *
 * Returns: (transfer full): "1×3×224×224"; symbolic dims by name, unknown ones as "?"; "scalar" for rank 0;
 *   an empty string for what is not a tensor or has no known rank
 */
char *
vn_format_shape (const VnType *type)
{
  g_autoptr(GString) text = g_string_new (NULL);

  if (type->kind != VN_TYPE_TENSOR || type->shape.rank < 0)
    return g_strdup ("");
  if (type->shape.rank == 0)
    return g_strdup (_("scalar"));

  for (int i = 0; i < type->shape.rank; i++)
    {
      if (i > 0)
        g_string_append (text, "×");
      if (type->shape.dims[i] >= 0)
        g_string_append_printf (text, "%" G_GINT64_FORMAT, type->shape.dims[i]);
      else
        g_string_append (text, type->symbols[i] != NULL ? type->symbols[i] : "?");
    }
  return g_strdup (text->str);
}

/**
 * vn_format_metric:
 *
 * Returns: (transfer full): @value in the form that suits @metric, with unit
 */
char *
vn_format_metric (VnMetric metric,
                  double   value)
{
  if (metric == VN_METRIC_SQNR)
    return vn_format_db (value);
  if (metric == VN_METRIC_COSINE && isfinite (value))
    return g_strdup_printf ("%s%.*f", value < 0 ? MINUS : "", fabs (value) > 0.9995 ? 5 : 3, fabs (value));
  return vn_format_number (value, 3);
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
  g_autofree char *display = g_filename_display_name (path);
  g_autofree char *home = g_filename_display_name (g_get_home_dir ());
  gsize length = strlen (home);

  if (length > 1 && g_str_has_prefix (display, home) && (display[length] == '/' || display[length] == 0))
    return g_strconcat ("~", display + length, NULL);
  return g_steal_pointer (&display);
}

static void
append_ints (GString      *text,
             const GArray *ints)
{
  for (guint i = 0; i < ints->len && i < 16; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", g_array_index (ints, gint64, i));
  if (ints->len > 16)
    g_string_append (text, ", …");
}

static void
append_floats (GString      *text,
               const GArray *floats)
{
  for (guint i = 0; i < floats->len && i < 16; i++)
    {
      g_autofree char *number = vn_format_number (g_array_index (floats, float, i), 5);

      g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", number);
    }
  if (floats->len > 16)
    g_string_append (text, ", …");
}

static char *
bytes_to_text (GBytes *bytes)
{
  gsize size = 0;
  const char *data = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;

  return data != NULL ? g_utf8_make_valid (data, (gssize) MIN (size, 80)) : g_strdup ("");
}

static char *
tensor_to_text (const VnTensor *tensor)
{
  g_autofree char *shape = vn_shape_to_string (&tensor->shape, "×");

  if (tensor->n_elements == 1 && tensor->dtype != VN_DTYPE_STRING)
    return vn_format_number (vn_tensor_get_double (tensor, 0), 6);
  return g_strdup_printf ("%s %s", vn_dtype_get_name (tensor->dtype), shape);
}

/**
 * vn_format_attr:
 *
 * Returns: (transfer full): the value of an attribute in one line, long lists cut
 */
char *
vn_format_attr (const VnAttr *attr)
{
  g_autoptr(GString) text = g_string_new (NULL);

  switch (attr->type)
    {
    case VN_ATTR_FLOAT:
      return vn_format_number (attr->f, 6);
    case VN_ATTR_INT:
      g_string_append_printf (text, "%" G_GINT64_FORMAT, attr->i);
      break;
    case VN_ATTR_STRING:
      return bytes_to_text (attr->s);
    case VN_ATTR_TENSOR:
      return attr->tensor != NULL ? tensor_to_text (attr->tensor) : g_strdup ("");
    case VN_ATTR_FLOATS:
      append_floats (text, attr->floats);
      break;
    case VN_ATTR_INTS:
      append_ints (text, attr->ints);
      break;
    case VN_ATTR_STRINGS:
      for (guint i = 0; i < attr->strings->len && i < 16; i++)
        {
          g_autofree char *one = bytes_to_text (g_ptr_array_index (attr->strings, i));

          g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", one);
        }
      break;
    case VN_ATTR_GRAPH:
    case VN_ATTR_GRAPHS:
      return g_strdup (_("a graph of its own"));
    case VN_ATTR_UNDEFINED:
    case VN_ATTR_TENSORS:
    case VN_ATTR_OPAQUE:
      return g_strdup ("…");
    }
  return g_strdup (text->str);
}

/**
 * vn_format_parse_floats:
 * @text: numbers with blanks, commas or semicolons between them
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
  g_auto(GStrv) words = g_strsplit_set (text, " ,;\t", -1);
  guint count = 0;

  for (guint i = 0; words[i] != NULL; i++)
    {
      char *end = NULL;
      double value;

      if (*words[i] == 0)
        continue;
      value = g_ascii_strtod (words[i], &end);
      if (end == words[i] || *end != 0 || !isfinite (value) || count == n)
        return FALSE;
      values[count++] = (float) value;
    }
  *n_read = count;
  return count > 0;
}

/**
 * vn_format_parse_shape:
 * @text: dims with "×", "x", blanks or commas between them
 *
 * Returns: %FALSE if that is not one to eight positive whole numbers or "?", which stands for %VN_DIM_UNKNOWN
 */
gboolean
vn_format_parse_shape (const char *text,
                       VnShape    *shape)
{
  g_autoptr(GString) plain = g_string_new (text);
  g_auto(GStrv) words = NULL;
  VnShape parsed = VN_SHAPE_SCALAR;

  g_string_replace (plain, "×", " ", 0);
  words = g_strsplit_set (plain->str, " ,xX\t", -1);
  for (guint i = 0; words[i] != NULL; i++)
    {
      gint64 dim = VN_DIM_UNKNOWN;

      if (*words[i] == 0)
        continue;
      if (parsed.rank == VN_MAX_RANK)
        return FALSE;
      if (!g_str_equal (words[i], "?") && !g_ascii_string_to_signed (words[i], 10, 1, G_MAXINT32, &dim, NULL))
        return FALSE;
      parsed.dims[parsed.rank++] = dim;
    }
  *shape = parsed;
  return parsed.rank > 0;
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

  for (guint i = 0; i < n; i++)
    {
      char number[G_ASCII_DTOSTR_BUF_SIZE];

      g_ascii_formatd (number, sizeof number, "%.6g", values[i]);
      g_string_append_printf (text, "%s%s", i > 0 ? "  " : "", number);
    }
  return g_strdup (text->str);
}
