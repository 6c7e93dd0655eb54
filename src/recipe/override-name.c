/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people call the rules of a recipe: one line that can be read, whoever wrote it. */
#include "vn-recipe-check-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

#define MOST_CHARACTERS 120

/* Controls, ends of lines, and what turns the direction of writing. */
static gboolean
override_name_is_harmful (gunichar c)
{
  return !g_unichar_validate (c) || g_unichar_iscntrl (c) || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

static gboolean
override_name_has_harm (const char *name)
{
  for (const char *at = name; *at != '\0'; at = g_utf8_next_char (at))
    if (override_name_is_harmful (g_utf8_get_char (at)))
      return TRUE;
  return FALSE;
}

static gboolean
override_name_is_blank (const char *name)
{
  for (const char *at = name; *at != '\0'; at = g_utf8_next_char (at))
    if (!g_unichar_isspace (g_utf8_get_char (at)))
      return FALSE;
  return TRUE;
}

/*< private >
 * vn_override_check_name:
 * @name: from a file, maybe
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if @name is blank, too long, or has what does not show in one line; the message does not
 * repeat it
 */
gboolean
vn_override_check_name (const char  *name,
                        GError     **error)
{
  g_return_val_if_fail (name != NULL, FALSE);

  if (!g_utf8_validate (name, -1, NULL) || override_name_has_harm (name))
    g_set_error_literal (error, VN_ERROR, VN_ERROR_SETTING, _("control characters, such as line breaks, are not "
                                                              "allowed in a name"));
  else if (g_utf8_strlen (name, -1) > MOST_CHARACTERS)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("it has %lld characters; a name has up to %d"),
                 (long long) g_utf8_strlen (name, -1),
                 MOST_CHARACTERS);
  else if (override_name_is_blank (name))
    g_set_error_literal (error, VN_ERROR, VN_ERROR_SETTING, _("a name cannot consist of spaces only; omit it"));
  else
    return TRUE;
  return FALSE;
}

/**
 * vn_override_set_name:
 * @name: (nullable): any text; %NULL or blank: none
 *
 * Calls the rule so, as far as that can be a name: what does not show becomes a blank, and what is too long is cut.
 */
void
vn_override_set_name (VnOverride *self,
                      const char *name)
{
  g_autofree char *valid = name != NULL ? g_utf8_make_valid (name, -1) : g_strdup ("");
  g_autoptr(GString) text = g_string_new (NULL);
  glong n = 0;

  g_return_if_fail (self != NULL);

  for (const char *at = g_strstrip (valid); *at != '\0' && n < MOST_CHARACTERS; at = g_utf8_next_char (at), n++)
    g_string_append_unichar (text, override_name_is_harmful (g_utf8_get_char (at)) ? ' ' : g_utf8_get_char (at));
  g_free (self->name);
  self->name = override_name_is_blank (text->str) ? NULL : g_strdup (g_strstrip (text->str));
}

/**
 * vn_recipe_has_equal_names:
 *
 * Returns: whether the rules of @a and @b are called the same, one by one
 */
gboolean
vn_recipe_has_equal_names (const VnRecipe *a,
                           const VnRecipe *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  if (a->overrides->len != b->overrides->len)
    return FALSE;
  for (guint i = 0; i < a->overrides->len; i++)
    if (g_strcmp0 (((const VnOverride *) g_ptr_array_index (a->overrides, i))->name,
                   ((const VnOverride *) g_ptr_array_index (b->overrides, i))->name) != 0)
      return FALSE;
  return TRUE;
}

/**
 * vn_recipe_forget_names:
 *
 * From now on no rule of @self has a name.
 */
void
vn_recipe_forget_names (VnRecipe *self)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->overrides->len; i++)
    g_clear_pointer (&((VnOverride *) g_ptr_array_index (self->overrides, i))->name, g_free);
}
