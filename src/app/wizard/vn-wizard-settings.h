/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Which settings of the recipe the steps of the wizard show: vn-wizard-settings.def. */

#include "vn-document.h"
#include "vn-setting.h"

G_BEGIN_DECLS

/**
 * VnWizardSetting: a line of the table.
 * @step: id of the step
 * @setting: (transfer none): what it shows
 */
typedef struct
{
  const char      *step;
  const VnSetting *setting;
} VnWizardSetting;

guint      vn_wizard_setting_count (void);
void       vn_wizard_setting_get   (guint            i,
                                    VnWizardSetting *setting);
void       vn_wizard_fill_settings (GtkBox          *box,
                                    const char      *step,
                                    VnDocument      *document);

G_END_DECLS
