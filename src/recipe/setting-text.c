/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A field that vn-settings.def names, as text: what may stand there, reading and telling it. */

#include "vn-setting-private.h"

#include "vn-error.h"
#include "vn-foreign-word.h"
#include "vn-i18n.h"

#include <math.h>

/* ---- what is allowed ---- */

/**
 * vn_setting_dup_allowed:
 *
 * Returns: (transfer full): what may stand there, for messages and help: "qdq, qoperator", "50 to 100"
 */
char *
vn_setting_dup_allowed (const VnSetting *self)
{
  g_autoptr(GString) text = g_string_new (NULL);

  g_return_val_if_fail (self != NULL, NULL);

  switch (self->type)
    {
    case VN_SETTING_BOOL:
      return g_strdup (_("true or false"));
    case VN_SETTING_INT:
    case VN_SETTING_DOUBLE:
      if (self->def < self->min || self->def > self->max)
        return g_strdup_printf (_("%.10g, or %.10g to %.10g"), self->def, self->min, self->max);
      return g_strdup_printf (_("%.10g to %.10g"), self->min, self->max);
    case VN_SETTING_ENUM:
    case VN_SETTING_LIST:
      return self->choices != NULL ? g_strjoinv (", ", (char **) self->choices) : g_strdup (_("a string"));
    case VN_SETTING_DTYPE:
      for (guint i = 0; i < VN_N_DTYPES; i++)
        if (self->dtypes >> i & 1)
          g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", vn_dtype_get_name ((VnDType) i));
      return g_string_free (g_steal_pointer (&text), FALSE);
    default:
      return g_strdup (_("a string"));
    }
}

static gboolean
setting_refuse (const VnSetting  *self,
                const char       *text,
                GError          **error)
{
  g_autofree char *allowed = vn_setting_dup_allowed (self);
  g_autofree char *hint = NULL;

  if (self->type == VN_SETTING_ENUM || self->type == VN_SETTING_DTYPE)
    hint = vn_word_dup_hint (self->type == VN_SETTING_ENUM ? VN_FOREIGN_FORMAT : VN_FOREIGN_TYPE, text, self->choices);
  if (hint != NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: “%s” is not allowed; %s"), self->id, text, hint);
  else
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: “%s” is not allowed; use %s"), self->id, text, allowed);
  return FALSE;
}

/* Of a method that is not known: what was meant, if that can be said, in the place of all there are. */
static void
setting_hint_at_method (const VnSetting  *self,
                        const char       *method,
                        GError          **reason)
{
  g_auto(GStrv) known = NULL;
  g_autofree char *hint = NULL;

  if (self->check != vn_range_method_check)
    return;
  known = vn_setting_list_choices (self, NULL);
  hint = vn_word_dup_hint (VN_FOREIGN_METHOD, method, (const char * const *) known);
  if (hint == NULL)
    return;
  g_clear_error (reason);
  g_set_error (reason, VN_ERROR, VN_ERROR_SETTING, _("There is no range method “%s”; %s"), method, hint);
}

static gboolean
setting_are_elements_allowed (const VnSetting  *self,
                              char            **list,
                              GError          **error)
{
  for (guint i = 0; list != NULL && list[i] != NULL; i++)
    {
      if (self->choices != NULL && !g_strv_contains (self->choices, list[i]))
        {
          g_autofree char *allowed = vn_setting_dup_allowed (self);

          g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s” is not allowed; use %s"), list[i], allowed);
          return FALSE;
        }
      if (self->check != NULL && !self->check (list[i], error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
setting_is_allowed (const VnSetting  *self,
                    gconstpointer     object,
                    GError          **error)
{
  const char *text;
  double number;

  switch (self->type)
    {
    case VN_SETTING_BOOL:
      return TRUE;
    case VN_SETTING_LIST:
      return setting_are_elements_allowed (self, FIELD (char ** const, self, object), error);
    case VN_SETTING_STRING:
      text = FIELD (const char * const, self, object);
      return text == NULL || self->check == NULL || self->check (text, error);
    case VN_SETTING_ENUM:
      number = setting_get_number (self, object);
      return number >= 0 && number < setting_count_choices (self);
    case VN_SETTING_DTYPE:
      number = setting_get_number (self, object);
      return number == self->def || (number > 0 && number < VN_N_DTYPES && (self->dtypes >> (guint) number & 1));
    default:
      number = setting_get_number (self, object);
      return number == self->def || (number >= self->min && number <= self->max);
    }
}

/**
 * vn_setting_check:
 *
 * Returns: %FALSE with %VN_ERROR_SETTING, naming setting, value and what is allowed, if the field holds what it must not
 */
gboolean
vn_setting_check (const VnSetting  *self,
                  gconstpointer     object,
                  GError          **error)
{
  g_autofree char *text = NULL;
  g_autoptr(GError) reason = NULL;

  g_return_val_if_fail (self != NULL, FALSE);

  if (setting_is_allowed (self, object, &reason))
    return TRUE;
  if (reason != NULL)
    {
      if (self->type == VN_SETTING_STRING)
        setting_hint_at_method (self, FIELD (const char * const, self, object), &reason);
      g_propagate_prefixed_error (error, g_steal_pointer (&reason), "%s: ", self->id);
      return FALSE;
    }
  text = vn_setting_dup_text (self, object);
  return setting_refuse (self, text, error);
}

/* ---- as text ---- */

static gboolean
setting_parse_int (const VnSetting  *self,
                   gpointer          object,
                   const char       *text)
{
  static const char * const no[] = { "false", "no", "off", "0", NULL }, * const yes[] = { "true", "yes", "on", "1", NULL };

  switch (self->type)
    {
    case VN_SETTING_BOOL:
      FIELD (int, self, object) = g_strv_contains (yes, text);
      return FIELD (int, self, object) || g_strv_contains (no, text);
    case VN_SETTING_ENUM:
      for (int i = 0; self->choices[i] != NULL; i++)
        if (g_str_equal (self->choices[i], text))
          {
            FIELD (int, self, object) = i;
            return TRUE;
          }
      return FALSE;
    default:
      FIELD (int, self, object) = (int) vn_dtype_from_name (text);
      return FIELD (int, self, object) != VN_DTYPE_UNDEFINED;
    }
}

static gboolean
setting_parse_double (const char *text,
                      double     *number)
{
  char *end;

  *number = g_ascii_strtod (text, &end);
  return end != text && *end == '\0' && isfinite (*number);
}

static void
setting_append_to_list (char      ***list,
                        const char  *text)
{
  guint n = *list != NULL ? g_strv_length (*list) : 0;

  *list = g_renew (char *, *list, n + 2);
  (*list)[n] = g_strdup (text);
  (*list)[n + 1] = NULL;
}

/**
 * vn_setting_parse:
 * @text: "true", "99.9", "u8", "minmse"; of a LIST: one more element; "" takes away the text of a STRING and all elements
 *   of a LIST
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if @text is not allowed; the field then holds anything
 */
gboolean
vn_setting_parse (const VnSetting  *self,
                  gpointer          object,
                  const char       *text,
                  GError          **error)
{
  gboolean ok = TRUE;

  g_return_val_if_fail (self != NULL, FALSE);

  switch (self->type)
    {
    case VN_SETTING_INT:
      ok = g_ascii_string_to_signed (text, 10, G_MININT64, G_MAXINT64, &FIELD (gint64, self, object), NULL);
      break;
    case VN_SETTING_DOUBLE:
      ok = setting_parse_double (text, &FIELD (double, self, object));
      break;
    case VN_SETTING_STRING:
      g_free (FIELD (char *, self, object));
      FIELD (char *, self, object) = *text != '\0' ? g_strdup (text) : NULL;
      break;
    case VN_SETTING_LIST:
      if (*text == '\0')
        vn_setting_clear (self, object);
      else
        setting_append_to_list (&FIELD (char **, self, object), text);
      break;
    default:
      ok = setting_parse_int (self, object, text);
      break;
    }
  return ok ? vn_setting_check (self, object, error) : setting_refuse (self, text, error);
}

/**
 * vn_setting_take_list:
 * @self: a LIST
 * @list: (transfer full): its elements; an empty one says nothing
 *
 * What vn_setting_parse() does for each, in one go.
 */
void
vn_setting_take_list (const VnSetting  *self,
                      gpointer          object,
                      char            **list)
{
  g_return_if_fail (self != NULL && self->type == VN_SETTING_LIST);

  vn_setting_clear (self, object);
  if (list[0] != NULL)
    FIELD (char **, self, object) = list;
  else
    g_strfreev (list);
}

/**
 * vn_setting_dup_text:
 *
 * Returns: (transfer full): the field as vn_setting_parse() reads it; elements of a LIST joined by ", "
 */
char *
vn_setting_dup_text (const VnSetting *self,
                     gconstpointer    object)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  int i;

  g_return_val_if_fail (self != NULL, NULL);

  switch (self->type)
    {
    case VN_SETTING_BOOL:
      return g_strdup (FIELD (const int, self, object) ? "true" : "false");
    case VN_SETTING_STRING:
      return g_strdup (FIELD (const char * const, self, object) != NULL ? FIELD (const char * const, self, object) : "");
    case VN_SETTING_LIST:
      return FIELD (char ** const, self, object) != NULL ? g_strjoinv (", ", FIELD (char ** const, self, object)) : g_strdup ("");
    case VN_SETTING_DTYPE:
      return g_strdup (vn_dtype_get_name ((VnDType) FIELD (const int, self, object)));
    case VN_SETTING_ENUM:
      i = FIELD (const int, self, object);
      return i >= 0 && (guint) i < setting_count_choices (self) ? g_strdup (self->choices[i]) : g_strdup_printf ("%d", i);
    default:
      return g_strdup (g_ascii_dtostr (number, sizeof number, setting_get_number (self, object)));
    }
}

/**
 * vn_setting_dup_short_text:
 *
 * Returns: (transfer full): as vn_setting_dup_text(), numbers with no more digits than vn_setting_parse() needs to read the
 *   same: for people and for command lines
 */
char *
vn_setting_dup_short_text (const VnSetting *self,
                           gconstpointer    object)
{
  g_return_val_if_fail (self != NULL, NULL);

  static const char * const formats[] = { "%.6g", "%.9g", "%.15g", "%.16g" };
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  for (guint i = 0; self->type == VN_SETTING_DOUBLE && i < G_N_ELEMENTS (formats); i++)
    {
      g_ascii_formatd (text, sizeof text, formats[i], FIELD (const double, self, object));
      if (g_ascii_strtod (text, NULL) == FIELD (const double, self, object))
        return g_strdup (text);
    }
  return vn_setting_dup_text (self, object);
}
