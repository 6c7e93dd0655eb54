/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules in words: what they are about, and what they say. */
#include "vn-recipe.h"

#include "vn-i18n.h"
#include "vn-setting.h"

static void
override_words_add (GStrvBuilder *names,
                    char        **list)
{
  for (guint i = 0; list != NULL && list[i] != NULL; i++)
    g_strv_builder_add (names, list[i]);
}

/**
 * vn_override_list_subjects:
 * @self: a rule
 *
 * Returns: (transfer full): what @self is about, one by one: its tensors, else its edges in one word, else its pattern; none if
 *   it is about nothing
 */
char **
vn_override_list_subjects (const VnOverride *self)
{
  g_autoptr(GStrvBuilder) names = g_strv_builder_new ();

  g_return_val_if_fail (self != NULL, NULL);

  if (self->tensors != NULL)
    override_words_add (names, self->tensors);
  else if (self->in_edges != NULL || self->out_edges != NULL)
    {
      g_autofree char *from = self->in_edges != NULL ? g_strjoinv (", ", self->in_edges) : g_strdup ("");
      g_autofree char *to = self->out_edges != NULL ? g_strjoinv (", ", self->out_edges) : g_strdup ("");
      g_autofree char *region = g_strdup_printf ("%s … %s", from, to);

      g_strv_builder_add (names, region);
      if (self->pattern != NULL)
        g_strv_builder_add (names, self->pattern);
    }
  else if (self->pattern != NULL)
    g_strv_builder_add (names, self->pattern);
  return g_strv_builder_end (names);
}

/**
 * vn_override_dup_subject:
 * @self: a rule
 *
 * Returns: (transfer full): what vn_override_list_subjects() lists, in one line
 */
char *
vn_override_dup_subject (const VnOverride *self)
{
  g_auto(GStrv) subjects = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  subjects = vn_override_list_subjects (self);
  return g_strjoinv (", ", subjects);
}

static void
override_words_add_layer_settings (GString          *text,
                                   const VnOverride *self)
{
  guint n;
  const VnSetting *settings = vn_setting_list_of_rule (&n);

  for (guint i = 0; i < VN_N_LAYER_SETTINGS; i++)
    {
      const VnSetting *setting = vn_setting_find (settings, n, vn_layer_setting_get_id ((VnLayerSetting) i), NULL);
      g_autofree char *value = NULL;

      if (vn_setting_is_default (setting, self))
        continue;
      value = vn_setting_dup_short_text (setting, self);
      g_string_append_printf (text, " %s=%s", setting->id, value);
    }
}

/**
 * vn_override_dup_effect:
 * @self: a rule
 *
 * Returns: (transfer full): what @self says, in a few words
 */
char *
vn_override_dup_effect (const VnOverride *self)
{
  g_autoptr(GString) text = g_string_new (NULL);

  g_return_val_if_fail (self != NULL, NULL);

  if (self->exclude)
    return g_strdup (_("float"));
  if (self->activation != VN_DTYPE_UNDEFINED)
    g_string_append (text, vn_dtype_get_name (self->activation));
  if (self->weight != VN_DTYPE_UNDEFINED)
    g_string_append_printf (text, _(" weights %s"), vn_dtype_get_name (self->weight));
  if (self->method != NULL)
    g_string_append_printf (text, " %s", self->method);
  if (self->convert != VN_DTYPE_UNDEFINED)
    g_string_append_printf (text, _(" converted to %s"), vn_dtype_get_name (self->convert));
  if (self->min != NULL || self->max != NULL || self->scales != NULL)
    g_string_append (text, _(" fixed range"));
  if (self->float_results)
    g_string_append (text, _(" outputs in float"));
  override_words_add_layer_settings (text, self);
  if (text->len == 0)
    g_string_append (text, _("target default"));
  return g_strdup (g_strstrip (text->str));
}
