/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What readers do to the configuration that they build, whichever kind of file they read. */
#include "vn-config-private.h"

#include "vn-recipe-change.h"
#include "vn-setting.h"

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
 * vn_config_note:
 * @where: field
 */
void
vn_config_note (VnConfig    *self,
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

static void
config_build_take_number (VnConfig             *self,
                          const VnSetting      *setting,
                          const VnConfigTarget *target,
                          gconstpointer         from)
{
  double number = setting->type == VN_SETTING_INT ? (double) *(const gint64 *) from : *(const double *) from;
  gpointer to = G_STRUCT_MEMBER_P (self->recipe, setting->offset);

  if (number < 0 && target->when != VN_CONFIG_ALWAYS)
    return;
  if (number == 0 && target->when == VN_CONFIG_POSITIVE)
    return;
  if (setting->type == VN_SETTING_DOUBLE)
    *(double *) to = target->when == VN_CONFIG_ALWAYS ? number : CLAMP (number, setting->min, setting->max);
  else if (target->when == VN_CONFIG_ALWAYS)
    *(gint64 *) to = *(const gint64 *) from;
  else
    *(gint64 *) to = CLAMP (*(const gint64 *) from, (gint64) setting->min, (gint64) setting->max);
}

/*< private >
 * vn_config_take_fields:
 * @targets: (array length=n)
 * @from: the structure that their offsets are of
 *
 * Gives settings of the recipe what fields say.
 */
void
vn_config_take_fields (VnConfig             *self,
                       const VnConfigTarget *targets,
                       gsize                 n,
                       gconstpointer         from)
{
  guint n_settings;
  const VnSetting *settings = vn_setting_list_of_recipe (&n_settings);

  g_return_if_fail (self != NULL && self->recipe != NULL && targets != NULL && from != NULL);

  for (gsize i = 0; i < n; i++)
    {
      const VnSetting *setting = vn_setting_find (settings, n_settings, targets[i].id, NULL);
      gconstpointer field = (const char *) from + targets[i].offset;

      g_return_if_fail (setting != NULL);
      if (setting->type == VN_SETTING_BOOL)
        G_STRUCT_MEMBER (gboolean, self->recipe, setting->offset) = *(const gboolean *) field;
      else
        config_build_take_number (self, setting, &targets[i], field);
    }
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
  vn_recipe_take_rule (self->recipe, rule);
  return rule;
}
