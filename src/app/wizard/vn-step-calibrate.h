/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Wizard step: calibrate, quantize and measure. */

#include "vn-wizard-step.h"

G_BEGIN_DECLS

#define VN_TYPE_STEP_CALIBRATE (vn_step_calibrate_get_type ())
G_DECLARE_FINAL_TYPE (VnStepCalibrate, vn_step_calibrate, VN, STEP_CALIBRATE, VnWizardStep)

G_END_DECLS
