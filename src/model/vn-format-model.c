/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a model holds, in one line of text: types, attributes. */
#include "vn-format-model.h"

#include "vn-format.h"
#include "vn-i18n.h"

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

  g_return_val_if_fail (type != NULL, NULL);

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
 * vn_format_parse_shape:
 * @text: dims with "×", "x", blanks or commas between them
 *
 * Returns: %FALSE if that is not one to eight positive whole numbers or "?", which stands for %VN_DIM_UNKNOWN
 */
gboolean
vn_format_parse_shape (const char *text,
                       VnShape    *shape)
{
  g_autoptr(GString) plain = NULL;
  g_auto(GStrv) words = NULL;
  VnShape parsed = VN_SHAPE_SCALAR;

  g_return_val_if_fail (text != NULL, FALSE);

  plain = g_string_new (text);
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

static void
format_model_append_ints (GString      *text,
                          const GArray *ints)
{
  for (guint i = 0; i < ints->len && i < 16; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", g_array_index (ints, gint64, i));
  if (ints->len > 16)
    g_string_append (text, ", …");
}

static void
format_model_append_floats (GString      *text,
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
format_model_bytes_to_text (GBytes *bytes)
{
  gsize size = 0;
  const char *data = bytes != NULL ? g_bytes_get_data (bytes, &size) : NULL;

  return data != NULL ? g_utf8_make_valid (data, (gssize) MIN (size, 80)) : g_strdup ("");
}

static char *
format_model_tensor_to_text (const VnTensor *tensor)
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

  g_return_val_if_fail (attr != NULL, NULL);

  switch (attr->type)
    {
    case VN_ATTR_FLOAT:
      return vn_format_number (attr->f, 6);
    case VN_ATTR_INT:
      g_string_append_printf (text, "%" G_GINT64_FORMAT, attr->i);
      break;
    case VN_ATTR_STRING:
      return format_model_bytes_to_text (attr->s);
    case VN_ATTR_TENSOR:
      return attr->tensor != NULL ? format_model_tensor_to_text (attr->tensor) : g_strdup ("");
    case VN_ATTR_FLOATS:
      format_model_append_floats (text, attr->floats);
      break;
    case VN_ATTR_INTS:
      format_model_append_ints (text, attr->ints);
      break;
    case VN_ATTR_STRINGS:
      for (guint i = 0; i < attr->strings->len && i < 16; i++)
        {
          g_autofree char *one = format_model_bytes_to_text (g_ptr_array_index (attr->strings, i));

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
