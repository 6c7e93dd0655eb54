/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dialog with all settings of the recipe: a row with an editor for each line of vn-settings.def. */
#include "vn-settings-dialog.h"

#include "vn-button-names.h"
#include "vn-i18n.h"
#include "vn-setting-row.h"

static void
settings_dialog_add_group (GtkWidget      *page,
                           VnSettingGroup  id,
                           VnDocument     *document)
{
  GtkWidget *group = adw_preferences_group_new ();
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (group), vn_setting_group_get_title (id));
  if (id == 0)
    adw_preferences_group_set_description (ADW_PREFERENCES_GROUP (group),
                                           _("Separate several names with commas. The arrow resets a setting to the "
                                             "target default."));
  for (guint i = 0; i < n; i++)
    if (vn_setting_get_group (&settings[i]) == id)
      adw_preferences_group_add (ADW_PREFERENCES_GROUP (group), vn_setting_row_new (&settings[i], document));
  adw_preferences_page_add (ADW_PREFERENCES_PAGE (page), ADW_PREFERENCES_GROUP (group));
}

/**
 * vn_settings_dialog_new:
 * @parent: the window that it lies over
 * @document: whose recipe is edited; every change is a step that can be undone
 *
 * Returns: (transfer none): a window with a search
 */
GtkWidget *
vn_settings_dialog_new (GtkWindow  *parent,
                        VnDocument *document)
{
  GtkWidget *dialog, *page;

  g_return_val_if_fail (parent == NULL || GTK_IS_WINDOW (parent), NULL);
  g_return_val_if_fail (VN_IS_DOCUMENT (document), NULL);

  dialog = adw_preferences_window_new ();
  vn_button_names_set (dialog);   /* libadwaita's own: it has no rows yet */
  page = adw_preferences_page_new ();
  for (guint i = 0; i < VN_N_SETTING_GROUPS; i++)
    settings_dialog_add_group (page, (VnSettingGroup) i, document);
  adw_preferences_window_add (ADW_PREFERENCES_WINDOW (dialog), ADW_PREFERENCES_PAGE (page));
  gtk_window_set_title (GTK_WINDOW (dialog), _("All Settings"));
  gtk_window_set_transient_for (GTK_WINDOW (dialog), parent);
  gtk_window_set_modal (GTK_WINDOW (dialog), TRUE);
  gtk_window_set_default_size (GTK_WINDOW (dialog), 640, 720);
  return dialog;
}
