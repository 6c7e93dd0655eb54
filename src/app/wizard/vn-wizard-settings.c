/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of settings on a step of the wizard, from a table of fields: what is said of a setting stands in vn-settings.def. */
#include "vn-wizard-settings.h"

#include "vn-i18n.h"
#include "vn-rows.h"
#include "vn-setting-row.h"

static const struct { const char *step; gsize offset; } table[] = {
#define VN_WIZARD_SETTING(STEP, FIELD) { STEP, G_STRUCT_OFFSET (VnRecipe, FIELD) },
#include "vn-wizard-settings.def"
#undef VN_WIZARD_SETTING
};

/**
 * vn_wizard_setting_count:
 *
 * Returns: how many settings the steps show together
 */
guint
vn_wizard_setting_count (void)
{
  return G_N_ELEMENTS (table);
}

/**
 * vn_wizard_setting_get:
 * @i: less than vn_wizard_setting_count()
 * @setting: (out caller-allocates): which setting it is, and on which step
 */
void
vn_wizard_setting_get (guint            i,
                       VnWizardSetting *setting)
{
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  g_return_if_fail (i < G_N_ELEMENTS (table));
  g_return_if_fail (setting != NULL);

  setting->step = table[i].step;
  setting->setting = NULL;
  for (guint k = 0; k < n; k++)
    if (settings[k].offset == table[i].offset)
      setting->setting = &settings[k];
}

/**
 * vn_wizard_fill_settings:
 * @box: where they are shown; invisible if there are none
 * @step: id of the step
 * @document: whose recipe is shown and edited
 *
 * Adds the rows of the settings that the step shows, under a title.
 */
void
vn_wizard_fill_settings (GtkBox     *box,
                         const char *step,
                         VnDocument *document)
{
  GtkWidget *list = NULL;

  g_return_if_fail (GTK_IS_BOX (box));
  g_return_if_fail (step != NULL);
  g_return_if_fail (VN_IS_DOCUMENT (document));

  for (guint i = 0; i < vn_wizard_setting_count (); i++)
    {
      VnWizardSetting line;

      vn_wizard_setting_get (i, &line);
      if (line.setting == NULL || !g_str_equal (line.step, step))
        continue;
      if (list == NULL)
        list = vn_row_list_new ();
      gtk_list_box_append (GTK_LIST_BOX (list), vn_setting_row_new (line.setting, document));
    }
  gtk_widget_set_visible (GTK_WIDGET (box), list != NULL);
  if (list != NULL)
    gtk_box_append (box, vn_section_new (_("Details"), NULL, list));
}
