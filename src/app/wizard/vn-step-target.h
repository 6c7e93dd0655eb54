/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Wizard step: the target. */

#include "vn-wizard-step.h"

G_BEGIN_DECLS

#define VN_TYPE_STEP_TARGET (vn_step_target_get_type ())
G_DECLARE_FINAL_TYPE (VnStepTarget, vn_step_target, VN, STEP_TARGET, VnWizardStep)

G_END_DECLS
