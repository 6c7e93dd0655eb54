/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Options made from vn-settings.def: --per-channel, --percentile=99.9, --exclude ... What they say is kept until the
 * preset is known, which they all come after. */

#include "vn-cmd.h"

#include "vn-calibrate.h"
#include "vn-i18n.h"
#include "vn-setting.h"

#include <string.h>

typedef struct
{
  const char *id;
  char       *text;
} Assignment;

static GArray *assignments;   /* of Assignment */

/* Spellings that stand for a setting and a value. */
static const struct { const char *option, *id, *text, *blurb; } shorthands[] = {
  { "per-tensor", "per-channel", "false", N_("Quantize weights per tensor") },
  { "symmetric", "symmetric-activations", "true", N_("Symmetric activations") },
};

static gboolean
cmd_settings_remember (const char  *option,
                       const char  *value,
                       gpointer     data,
                       GError     **error)
{
  const char *name = g_str_has_prefix (option, "--") ? option + 2 : "method";
  Assignment assignment = { NULL, NULL };
  const VnSetting *settings;
  guint n;

  for (guint i = 0; i < G_N_ELEMENTS (shorthands); i++)
    if (g_str_equal (shorthands[i].option, name))
      assignment = (Assignment) { shorthands[i].id, g_strdup (shorthands[i].text) };
  if (assignment.id == NULL)
    {
      settings = vn_setting_list_of_recipe (&n);
      assignment.id = vn_setting_find (settings, n, name, error)->id;
      assignment.text = g_strdup (value != NULL ? value : "true");
    }
  if (assignments == NULL)
    assignments = g_array_new (FALSE, FALSE, sizeof (Assignment));
  g_array_append_val (assignments, assignment);
  return TRUE;
}

/* The name of the value; short choices in its place. A switch that is on unless said says how to turn it off. */
static char *
cmd_settings_describe_value (const VnSetting *setting)
{
  g_autofree char *choices = NULL;

  switch (setting->type)
    {
    case VN_SETTING_BOOL:
      return setting->def != 0 ? g_strdup ("true|false") : NULL;
    case VN_SETTING_ENUM:
      choices = g_strjoinv ("|", (char **) setting->choices);
      return strlen (choices) <= 16 ? g_steal_pointer (&choices) : g_strdup (_("NAME"));
    case VN_SETTING_DTYPE:
      return g_strdup (_("TYPE"));
    case VN_SETTING_STRING:
      return g_strdup (setting->check == vn_range_method_check ? _("METHOD") : _("FILE"));
    case VN_SETTING_LIST:
      return g_strdup (_("NAME"));
    default:
      return g_strdup (_("N"));
    }
}

/**
 * vn_cmd_setting_entries:
 *
 * Returns: (transfer none): an option for each setting of a recipe, ending with one without name
 */
const GOptionEntry *
vn_cmd_setting_entries (void)
{
  static GOptionEntry *entries;
  const VnSetting *settings;
  guint n;

  if (entries != NULL)
    return entries;
  settings = vn_setting_list_of_recipe (&n);
  entries = g_new0 (GOptionEntry, n + G_N_ELEMENTS (shorthands) + 1);
  for (guint i = 0; i < n; i++)
    entries[i] = (GOptionEntry) { settings[i].id, g_str_equal (settings[i].id, "method") ? 'm' : 0,
                                  settings[i].type == VN_SETTING_BOOL ? G_OPTION_FLAG_OPTIONAL_ARG : 0,
                                  G_OPTION_ARG_CALLBACK, cmd_settings_remember, settings[i].blurb,
                                  cmd_settings_describe_value (&settings[i]) };
  for (guint i = 0; i < G_N_ELEMENTS (shorthands); i++)
    entries[n + i] = (GOptionEntry) { shorthands[i].option, 0, G_OPTION_FLAG_NO_ARG, G_OPTION_ARG_CALLBACK, cmd_settings_remember,
                                      shorthands[i].blurb, NULL };
  return entries;
}

/**
 * vn_cmd_apply_settings:
 *
 * Sets what the options say.
 *
 * Returns: %FALSE if a value is not allowed
 */
gboolean
vn_cmd_apply_settings (VnRecipe  *recipe,
                       GError   **error)
{
  g_return_val_if_fail (recipe != NULL, FALSE);

  for (guint i = 0; assignments != NULL && i < assignments->len; i++)
    {
      const Assignment *assignment = &g_array_index (assignments, Assignment, i);
      g_autoptr(GError) reason = NULL;

      if (vn_recipe_set (recipe, assignment->id, assignment->text, &reason))
        continue;
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--%s", reason->message);
      return FALSE;
    }
  return TRUE;
}

/**
 * vn_cmd_add_rules:
 * @rules: (nullable): --rule: each as it stands in the list "rules" of a recipe
 * @excludes: (nullable): --exclude
 *
 * Appends these to the rules of @recipe.
 *
 * Returns: %FALSE if one of @rules is none
 */
gboolean
vn_cmd_add_rules (VnRecipe  *recipe,
                  char     **rules,
                  char     **excludes,
                  GError   **error)
{
  g_return_val_if_fail (recipe != NULL, FALSE);

  for (char **at = rules; at != NULL && *at != NULL; at++)
    {
      VnOverride *rule = vn_override_from_json (*at, error);

      if (rule == NULL)
        {
          g_prefix_error (error, "--rule: ");
          return FALSE;
        }
      g_ptr_array_add (recipe->overrides, rule);
    }
  for (char **at = excludes; at != NULL && *at != NULL; at++)
    vn_recipe_add_exclude (recipe, *at);
  return TRUE;
}

/**
 * vn_cmd_choose_target:
 * @preset: (inout) (nullable): --preset; what stands for @target and @wide, if that is said
 * @target: (nullable): --target
 * @wide: --wide
 *
 * Returns: %FALSE if there is no such target, or @preset is said, too
 */
gboolean
vn_cmd_choose_target (const char **preset,
                      const char  *target,
                      gboolean     wide,
                      GError     **error)
{
  g_autoptr(GError) unknown = NULL;
  const VnPreset *found;

  g_return_val_if_fail (preset != NULL, FALSE);

  if (target == NULL && !wide)
    return TRUE;
  if (target == NULL || *preset != NULL)
    {
      g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                           target == NULL ? _("--wide requires --target") : _("--target and --preset cannot be combined"));
      return FALSE;
    }
  found = vn_target_find (target, wide, &unknown);
  if (found == NULL)
    {
      g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, unknown->message);
      return FALSE;
    }
  *preset = found->id;
  return TRUE;
}

/**
 * vn_cmd_make_recipe:
 * @start: (nullable): of a project
 * @preset: (nullable): --preset
 * @recipe_file: (nullable): --recipe
 * @rules: (nullable): --rule
 * @excludes: (nullable): --exclude
 *
 * Returns: (transfer full) (nullable): what these and the options for single settings say
 */
VnRecipe *
vn_cmd_make_recipe (const VnRecipe  *start,
                    const char      *preset,
                    const char      *recipe_file,
                    char           **rules,
                    char           **excludes,
                    GError         **error)
{
  g_autoptr(VnRecipe) recipe = NULL;
  g_autoptr(GError) unknown = NULL;

  if (start != NULL && (preset != NULL || recipe_file != NULL))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   _("A project has its own recipe: remove --preset and --recipe, or specify its model"));
      return NULL;
    }
  if (preset != NULL && vn_preset_find (preset, &unknown) == NULL)
    {
      g_set_error_literal (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, unknown->message);
      return NULL;
    }
  if (preset != NULL && recipe_file != NULL)
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   _("--preset and --recipe cannot be combined: a recipe has its own preset"));
      return NULL;
    }
  recipe = start != NULL ? vn_recipe_copy (start)
         : recipe_file != NULL ? vn_recipe_load (recipe_file, error) : vn_recipe_new (preset);
  if (recipe == NULL)
    return NULL;
  if (!vn_cmd_apply_settings (recipe, error) || !vn_cmd_add_rules (recipe, rules, excludes, error))
    return NULL;
  return vn_recipe_validate (recipe, error) ? g_steal_pointer (&recipe) : NULL;
}
