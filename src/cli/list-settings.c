/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "list settings", "rules" and "commands": what can be set, and by which option. */
#include "vn-cmd-help.h"
#include "vn-listing.h"

#include "vn-i18n.h"
#include "vn-recipe.h"

static const char *
list_settings_get_type (const VnSetting *setting)
{
  static const char * const names[] = { "switch", "integer", "number", "choice", "type", "text", "list" };

  return names[setting->type];
}

/* As somebody would write it: 99.999, not all digits of the nearest float. */
static char *
list_settings_dup_default (const VnSetting *setting,
                           gconstpointer    object)
{
  g_autofree char *text = vn_setting_dup_text (setting, object);
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (setting->type != VN_SETTING_DOUBLE)
    return g_steal_pointer (&text);
  return g_strdup (g_ascii_formatd (number, sizeof number, "%.10g", g_ascii_strtod (text, NULL)));
}

/* @object: where its default stands */
static void
list_settings_add (VnListing       *listing,
                   const VnSetting *setting,
                   gconstpointer    object,
                   const char      *group)
{
  g_autofree char *line = NULL, *allowed = NULL, *value = list_settings_dup_default (setting, object);
  gboolean number = setting->type == VN_SETTING_INT || setting->type == VN_SETTING_DOUBLE;

  vn_listing_begin (listing, setting->id, group);
  vn_listing_add_text (listing, "title", _(setting->title));
  vn_listing_add_text (listing, "summary", _(setting->blurb));
  vn_listing_add_text (listing, "type", list_settings_get_type (setting));
  vn_listing_add_text (listing, "default", value);
  if (number || setting->choices != NULL)
    {
      allowed = vn_setting_dup_allowed (setting);
      vn_listing_add_text (listing, "allowed", allowed);
    }
  if (setting->choices != NULL)
    vn_listing_add_words (listing, "choices", setting->choices);
  if (setting->type == VN_SETTING_DTYPE)
    vn_listing_add_types (listing, "types", setting->dtypes);
  line = allowed != NULL ? g_strdup_printf (_("%s: %s; allowed: %s"), _(setting->title), _(setting->blurb), allowed)
                         : g_strdup_printf ("%s: %s", _(setting->title), _(setting->blurb));
  vn_listing_end (listing, line);
}

void
vn_list_settings (VnListing *listing)
{
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);

  for (int group = 0; group < VN_N_SETTING_GROUPS; group++)
    for (guint i = 0; i < n; i++)
      if (vn_setting_get_group (&settings[i]) == (VnSettingGroup) group)
        list_settings_add (listing, &settings[i], recipe, vn_setting_group_get_title ((VnSettingGroup) group));
}

void
vn_list_rules (VnListing *listing)
{
  guint n;
  const VnSetting *settings = vn_setting_list_of_rule (&n);
  VnOverride *rule = vn_override_new ();

  for (guint i = 0; i < n; i++)
    list_settings_add (listing, &settings[i], rule, NULL);
  vn_override_free (rule);
}

static void
list_commands_add_option (JsonBuilder       *json,
                          const VnCmd       *cmd,
                          const VnCmdOption *option)
{
  const GOptionEntry *entry = option->entry;
  const struct { const char *member, *text; } texts[] = {
    { "id", entry->long_name }, { "letter", entry->short_name != 0 ? (char[]) { entry->short_name, '\0' } : NULL },
    { "argument", entry->arg_description != NULL ? _(entry->arg_description) : NULL },
    { "group", vn_cmd_group_get_title (option->group) }, { "summary", option->help },
    { "setting", option->setting != NULL ? option->setting->id : NULL },
  };

  json_builder_begin_object (json);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (texts[i].text != NULL)
      {
        vn_json_add_text (json, texts[i].member, texts[i].text);
      }
  vn_json_add_bool (json, "optional_argument", entry->arg_description != NULL &&
                    (entry->flags & G_OPTION_FLAG_OPTIONAL_ARG) != 0);
  vn_json_add_bool (json, "common", vn_cmd_is_common (cmd, entry->long_name));
  json_builder_end_object (json);
}

void
vn_list_commands (VnListing *listing)
{
  guint n;
  const VnCmd * const *cmds = vn_cmd_get_all (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(GArray) options = vn_cmd_list_options (cmds[i]);
      g_autofree char *usage = vn_cmd_dup_usage (cmds[i]);
      JsonBuilder *json = vn_listing_get_rows (listing);

      vn_listing_begin (listing, cmds[i]->name, NULL);
      vn_listing_add_text (listing, "usage", usage);
      vn_listing_add_text (listing, "summary", _(cmds[i]->summary));
      vn_json_begin_array (json, "options");
      for (guint k = 0; k < options->len; k++)
        list_commands_add_option (json, cmds[i], &g_array_index (options, VnCmdOption, k));
      json_builder_end_array (json);
      vn_listing_end (listing, _(cmds[i]->summary));
    }
}
