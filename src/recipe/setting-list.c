/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What is done with all plain fields of a recipe or a rule together. @list is vn_setting_list_of_recipe() or
 * vn_setting_list_of_rule(), the object of the kind that it speaks of. */

#include "vn-setting.h"

/*< private >
 * vn_settings_reset:
 *
 * Gives each field of @object its default; what it held is not freed.
 */
void
vn_settings_reset (VnSettingsFunc list,
                   gpointer       object)
{
  guint n;
  const VnSetting *settings = list (&n);

  for (guint i = 0; i < n; i++)
    vn_setting_reset (&settings[i], object);
}

/*< private >
 * vn_settings_clear:
 *
 * Frees what the fields of @object own.
 */
void
vn_settings_clear (VnSettingsFunc list,
                   gpointer       object)
{
  guint n;
  const VnSetting *settings = list (&n);

  for (guint i = 0; i < n; i++)
    vn_setting_clear (&settings[i], object);
}

/*< private >
 * vn_settings_own:
 *
 * Gives each field of @object, a shallow copy of another, what it points at for its own.
 */
void
vn_settings_own (VnSettingsFunc list,
                 gpointer       object)
{
  guint n;
  const VnSetting *settings = list (&n);

  for (guint i = 0; i < n; i++)
    vn_setting_own (&settings[i], object);
}

/*< private >
 * vn_settings_equal:
 *
 * Returns: whether all fields of @a and @b hold the same
 */
gboolean
vn_settings_equal (VnSettingsFunc list,
                   gconstpointer  a,
                   gconstpointer  b)
{
  guint n;
  const VnSetting *settings = list (&n);

  for (guint i = 0; i < n; i++)
    if (!vn_setting_equal (&settings[i], a, b))
      return FALSE;
  return TRUE;
}

/*< private >
 * vn_settings_check:
 *
 * Returns: %FALSE with %VN_ERROR_SETTING or %VN_ERROR_UNSUPPORTED if a field holds what is not allowed;
 *   the message begins with @where
 */
gboolean
vn_settings_check (VnSettingsFunc list,
                   gconstpointer  object,
                   const char    *where,
                   GError       **error)
{
  guint n;
  const VnSetting *settings = list (&n);

  for (guint i = 0; i < n; i++)
    if (!vn_setting_check (&settings[i], object, error))
      {
        g_prefix_error (error, "%s: ", where);
        return FALSE;
      }
  return TRUE;
}
