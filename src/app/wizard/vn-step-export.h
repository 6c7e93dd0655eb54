/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Wizard step: writing the results. */

#include "vn-wizard-step.h"

G_BEGIN_DECLS

#define VN_TYPE_STEP_EXPORT (vn_step_export_get_type ())
G_DECLARE_FINAL_TYPE (VnStepExport, vn_step_export, VN, STEP_EXPORT, VnWizardStep)

void vn_step_export_set_model_path (VnStepExport *self,
                                    const char   *path);
void vn_step_export_choose         (VnStepExport *self,
                                    const char   *id,
                                    gboolean      wanted,
                                    const char   *name);

G_END_DECLS
