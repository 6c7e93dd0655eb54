/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was meant by an option or a command that is not known. */
#include "vn-cmd-help.h"

#include "vn-foreign-word.h"
#include "vn-i18n.h"

#include <string.h>

/* The option of @args that is none of @options; GOption names it in its message only. */
static const char *
hint_find_unknown (GArray             *options,
                   const char * const *args)
{
  for (; *args != NULL && !g_str_equal (*args, "--"); args++)
    {
      gboolean known = !g_str_has_prefix (*args, "--");

      for (guint i = 0; i < options->len && !known; i++)
        {
          const char *name = g_array_index (options, VnCmdOption, i).entry->long_name;
          const char *rest = g_str_has_prefix (*args + 2, name) ? *args + 2 + strlen (name) : "?";

          known = *rest == '\0' || *rest == '=';
        }
      if (!known)
        return *args;
    }
  return NULL;
}

/* Another command that has the option. */
static const char *
hint_find_owner (const char *option)
{
  g_auto(GStrv) parts = g_strsplit (option + 2, "=", 2);
  guint n;
  const VnCmd * const *cmds = vn_cmd_get_all (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(GArray) options = vn_cmd_list_options (cmds[i]);

      for (guint k = 0; k < options->len; k++)
        if (g_str_equal (g_array_index (options, VnCmdOption, k).entry->long_name, parts[0]))
          return cmds[i]->name;
    }
  return NULL;
}

/**
 * vn_cmd_hint_at_option:
 * @options: of the command, of VnCmdOption
 * @args: what GOption found an unknown option among
 * @error: (inout): its message, which says what was meant afterwards, if that is known
 */
void
vn_cmd_hint_at_option (GArray              *options,
                       const char * const  *args,
                       GError             **error)
{
  const char *unknown;
  const char *owner;
  g_autoptr(GPtrArray) known = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *hint = NULL;

  g_return_if_fail (options != NULL);

  unknown = hint_find_unknown (options, args);
  owner = unknown != NULL ? hint_find_owner (unknown) : NULL;
  if (unknown == NULL)
    return;
  for (guint i = 0; i < options->len; i++)
    g_ptr_array_add (known, g_strconcat ("--", g_array_index (options, VnCmdOption, i).entry->long_name, NULL));
  g_ptr_array_add (known, NULL);
  if (owner != NULL)
    hint = g_strdup_printf (_("“%s” supports it"), owner);
  else
    hint = vn_word_dup_hint (VN_FOREIGN_OPTION, unknown, (const char * const *) known->pdata);
  if (hint == NULL)
    return;
  g_clear_error (error);
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION, _("Unknown option %s; %s"), unknown, hint);
}

/**
 * vn_cmd_dup_command_hint:
 * @name: no command
 *
 * Returns: (transfer full) (nullable): what was meant
 */
char *
vn_cmd_dup_command_hint (const char *name)
{
  guint n;
  const VnCmd * const *cmds = vn_cmd_get_all (&n);
  g_autofree const char **known = g_new0 (const char *, n + 1);

  g_return_val_if_fail (name != NULL, NULL);

  for (guint i = 0; i < n; i++)
    known[i] = cmds[i]->name;
  return vn_word_dup_hint (VN_FOREIGN_COMMAND, name, known);
}
