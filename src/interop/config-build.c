/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What readers do to the configuration that they build, whichever kind of file they read. */
#include "vn-config-private.h"

/**
 * vn_config_find_file:
 *
 * Returns: (transfer full): the file that a configuration calls @path: seen from where the program runs, as the tools do
 *   that it is for, or if there is none, from the folder of the configuration
 */
char *
vn_config_find_file (VnConfig   *self,
                     const char *path)
{
  g_autofree char *folder = NULL;
  g_autofree char *beside = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  folder = g_path_get_dirname (self->path);
  beside = g_build_filename (folder, path, NULL);
  if (g_path_is_absolute (path) || g_file_test (path, G_FILE_TEST_EXISTS) || !g_file_test (beside, G_FILE_TEST_EXISTS))
    return g_strdup (path);
  return g_steal_pointer (&beside);
}

/*< private >
 * vn_config_say:
 * @where: field
 */
void
vn_config_say (VnConfig    *self,
               VnNoteLevel  level,
               const char  *where,
               const char  *format,
               ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  vn_notes_add (self->notes, level, "configuration", where, "%s", text);
}

/*< private >
 * vn_config_set:
 * @id: of a setting of the recipe
 * @where: the field that asks for it
 */
gboolean
vn_config_set (VnConfig    *self,
               const char  *id,
               const char  *text,
               const char  *where,
               GError     **error)
{
  if (vn_recipe_set (self->recipe, id, text, error))
    return TRUE;
  g_prefix_error (error, "%s: ", where);
  return FALSE;
}

/*< private >
 * vn_config_add_rule:
 * @pattern: (nullable)
 * @from: (nullable)
 * @to: (nullable)
 */
VnOverride *
vn_config_add_rule (VnConfig    *self,
                    const char  *pattern,
                    char       **from,
                    char       **to,
                    gboolean     exclude)
{
  VnOverride *rule = vn_override_new ();

  rule->pattern = g_strdup (pattern);
  rule->in_edges = g_strdupv (from);
  rule->out_edges = g_strdupv (to);
  rule->exclude = exclude;
  g_ptr_array_add (self->recipe->overrides, rule);
  return rule;
}
