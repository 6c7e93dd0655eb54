/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Wizard step: the samples. */

#include "vn-wizard-step.h"

G_BEGIN_DECLS

#define VN_TYPE_STEP_DATA (vn_step_data_get_type ())
G_DECLARE_FINAL_TYPE (VnStepData, vn_step_data, VN, STEP_DATA, VnWizardStep)

void vn_step_data_edit_size (VnStepData *self,
                             const char *input);

G_END_DECLS
