/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of a command in groups, and what --help and --help-all print: the common options first. */
#include "vn-cmd-help.h"

#include "vn-calibrate.h"
#include "vn-i18n.h"

#include <string.h>

#define HELP_WIDTH 30   /* of the column of options */

static const VnCmd * const *all_cmds;
static guint n_cmds;

/**
 * vn_cmd_set_all:
 * @cmds: every command there is; must outlive the process
 *
 * main() knows the commands, and some of these tell about all of them.
 */
void
vn_cmd_set_all (const VnCmd * const *cmds,
                guint                n)
{
  g_return_if_fail (cmds != NULL);

  all_cmds = cmds;
  n_cmds = n;
}

/**
 * vn_cmd_get_all:
 * @n: (out)
 *
 * Returns: (transfer none): every command there is
 */
const VnCmd * const *
vn_cmd_get_all (guint *n)
{
  g_return_val_if_fail (n != NULL, NULL);

  *n = n_cmds;
  return all_cmds;
}

/**
 * vn_cmd_group_get_title:
 *
 * Returns: the heading of a group of options, translated
 */
const char *
vn_cmd_group_get_title (VnCmdGroup group)
{
  g_return_val_if_fail (group < VN_N_CMD_GROUPS, NULL);

  if (group == VN_CMD_GROUP_DATA)
    return _("Data");
  if (group == VN_CMD_GROUP_GENERAL)
    return _("General");
  return vn_setting_group_get_title ((VnSettingGroup) (group - VN_CMD_GROUP_DATA - 1));
}

/* ---- the options ---- */

static void
help_clear_option (gpointer data)
{
  g_free (((VnCmdOption *) data)->help);
}

static const VnSetting *
help_find_setting (const char *name)
{
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  return vn_setting_find (settings, n, name, NULL);
}

/* What a setting does, and what may stand there. */
static char *
help_dup_setting (const VnSetting    *setting,
                  const GOptionEntry *entry)
{
  gboolean number = setting->type == VN_SETTING_INT || setting->type == VN_SETTING_DOUBLE;
  g_autofree char *allowed = NULL;

  if (setting->check == vn_range_method_check)
    return g_strdup_printf (_("%s; “list methods” explains the methods"), _(setting->blurb));
  if (setting->type == VN_SETTING_DTYPE)
    return g_strdup_printf (_("%s; “list types” names the types"), _(setting->blurb));
  if ((setting->choices == NULL && !number) || strchr (entry->arg_description, '|') != NULL)
    return g_strdup (_(setting->blurb));
  allowed = vn_setting_dup_allowed (setting);
  return g_strdup_printf (_("%s; allowed: %s"), _(setting->blurb), allowed);
}

static void
help_add_settings (GArray *options)
{
  for (const GOptionEntry *entry = vn_cmd_setting_entries (); entry->long_name != NULL; entry++)
    {
      const VnSetting *setting = help_find_setting (entry->long_name);
      VnCmdOption option = { .entry = entry, .setting = setting, .group = VN_CMD_GROUP_TARGET };

      if (setting != NULL)
        option.group = (VnCmdGroup) (VN_CMD_GROUP_DATA + 1 + (int) vn_setting_get_group (setting));
      option.help = setting != NULL ? help_dup_setting (setting, entry) : g_strdup (_(entry->description));
      g_array_append_val (options, option);
    }
}

/* @entries: those before the first marker belong to @group. */
static void
help_add_entries (GArray             *options,
                  const GOptionEntry *entries,
                  VnCmdGroup          group)
{
  for (; entries != NULL && entries->long_name != NULL; entries++)
    {
      VnCmdOption option = { .entry = entries, .group = group };

      if (entries->long_name[0] == '\0')
        {
          group = (VnCmdGroup) entries->flags;
          continue;
        }
      option.help = g_strdup (_(entries->description));
      g_array_append_val (options, option);
    }
}

static gint
help_compare_groups (gconstpointer a,
                     gconstpointer b)
{
  const VnCmdOption *x = a, *y = b;

  return (gint) x->group - (gint) y->group;
}

/**
 * vn_cmd_list_options:
 *
 * Returns: (transfer full): the options of the command, of VnCmdOption, group by group; --help is not one of them
 */
GArray *
vn_cmd_list_options (const VnCmd *self)
{
  GArray *options = g_array_new (FALSE, FALSE, sizeof (VnCmdOption));

  g_return_val_if_fail (self != NULL, options);

  g_array_set_clear_func (options, help_clear_option);
  if (self->needs_data)
    help_add_entries (options, vn_cmd_data_entries (), VN_CMD_GROUP_DATA);
  if (self->holds_out)
    help_add_entries (options, vn_cmd_held_out_entries (), VN_CMD_GROUP_DATA);
  if (self->takes_trust)
    help_add_entries (options, vn_cmd_trust_entries (), VN_CMD_GROUP_DATA);
  if (!self->without_model)
    help_add_entries (options, vn_cmd_model_entries (), VN_CMD_GROUP_DATA);
  help_add_entries (options, self->options, VN_CMD_GROUP_OUTPUT);
  if (self->has_settings)
    help_add_settings (options);
  if (self->writes_model)
    help_add_entries (options, vn_cmd_write_entries (), VN_CMD_GROUP_OUTPUT);
  help_add_entries (options, vn_cmd_common_entries (), VN_CMD_GROUP_GENERAL);
  g_array_sort (options, help_compare_groups);
  return options;
}

/* ---- help ---- */

/**
 * vn_cmd_is_common:
 *
 * Returns: whether --help explains the option, not only --help-all
 */
gboolean
vn_cmd_is_common (const VnCmd *self,
                  const char  *name)
{
  g_return_val_if_fail (self != NULL && name != NULL, FALSE);

  return self->common == NULL || g_strv_contains (self->common, name);
}

/**
 * vn_cmd_dup_usage:
 *
 * Returns: (transfer full): "vernier-cli run MODEL [OPTION …]"
 */
char *
vn_cmd_dup_usage (const VnCmd *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return g_strdup_printf (_("vernier-cli %s %s [OPTION …]"), self->name, self->usage);
}

/* "-o, --output=FILE" */
static char *
help_dup_left (const GOptionEntry *entry)
{
  gboolean optional = (entry->flags & G_OPTION_FLAG_OPTIONAL_ARG) != 0;
  g_autoptr(GString) text = g_string_new (NULL);

  if (entry->short_name != 0)
    g_string_append_printf (text, "-%c, ", entry->short_name);
  g_string_append_printf (text, "--%s", entry->long_name);
  if (entry->arg_description != NULL)
    g_string_append_printf (text, optional ? "[=%s]" : "=%s", _(entry->arg_description));
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
help_append_option (GString           *text,
                    const VnCmdOption *option)
{
  g_autofree char *left = help_dup_left (option->entry);

  vn_cmd_append_item (text, left, option->help, HELP_WIDTH);
}

/* In the order of the command's list, from the most common. */
static void
help_append_common (GString     *text,
                    const VnCmd *self,
                    GArray      *options)
{
  g_string_append_printf (text, "\n%s\n", _("Common options"));
  for (guint i = 0; self->common[i] != NULL; i++)
    for (guint k = 0; k < options->len; k++)
      {
        const VnCmdOption *option = &g_array_index (options, VnCmdOption, k);

        if (g_str_equal (option->entry->long_name, self->common[i]))
          help_append_option (text, option);
      }
}

/* Names alone, a line or more for each group. */
static void
help_append_others (GString     *text,
                    const VnCmd *self,
                    GArray      *options)
{
  g_string_append_printf (text, "\n%s\n", _("Other options; --help-all explains them"));
  for (int group = 0; group < VN_N_CMD_GROUPS; group++)
    {
      g_autoptr(GString) names = g_string_new (NULL);

      for (guint i = 0; i < options->len; i++)
        {
          const VnCmdOption *option = &g_array_index (options, VnCmdOption, i);

          if (option->group == (VnCmdGroup) group && !vn_cmd_is_common (self, option->entry->long_name))
            g_string_append_printf (names, "%s--%s", names->len > 0 ? " " : "", option->entry->long_name);
        }
      if (names->len > 0)
        vn_cmd_append_item (text, vn_cmd_group_get_title ((VnCmdGroup) group), names->str, 16);
    }
}

static void
help_append_all (GString *text,
                 GArray  *options)
{
  for (guint i = 0; i < options->len; i++)
    {
      const VnCmdOption *option = &g_array_index (options, VnCmdOption, i);

      if (i == 0 || g_array_index (options, VnCmdOption, i - 1).group != option->group)
        g_string_append_printf (text, "\n%s\n", vn_cmd_group_get_title (option->group));
      help_append_option (text, option);
    }
}

/**
 * vn_cmd_dup_help:
 * @all: explain all options, not the common ones only
 *
 * Returns: (transfer full): what --help, or --help-all, prints: lines of at most %VN_CMD_COLUMNS columns
 */
char *
vn_cmd_dup_help (const VnCmd *self,
                 gboolean     all)
{
  g_autoptr(GArray) options = NULL;
  g_autoptr(GString) text = NULL;
  g_autofree char *usage = NULL, *line = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  options = vn_cmd_list_options (self);
  text = g_string_new (NULL);
  usage = vn_cmd_dup_usage (self);
  line = g_strdup_printf (_("Usage: %s"), usage);
  vn_cmd_append_wrapped (text, line, 0, 7);
  g_string_append_printf (text, "\n%s\n", _(self->summary));
  if (self->common != NULL && !all)
    {
      help_append_common (text, self, options);
      help_append_others (text, self, options);
    }
  else
    help_append_all (text, options);
  g_string_append_printf (text, _("\nManual: man vernier-cli-%s\n"), self->name);
  return g_string_free (g_steal_pointer (&text), FALSE);
}
