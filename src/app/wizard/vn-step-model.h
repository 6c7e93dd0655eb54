/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Wizard step: what the model is. */

#include "vn-wizard-step.h"

G_BEGIN_DECLS

#define VN_TYPE_STEP_MODEL (vn_step_model_get_type ())
G_DECLARE_FINAL_TYPE (VnStepModel, vn_step_model, VN, STEP_MODEL, VnWizardStep)

G_END_DECLS
