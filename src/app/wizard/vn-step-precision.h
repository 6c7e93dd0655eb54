/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Wizard step: in which numbers the network computes. */

#include "vn-wizard-step.h"

G_BEGIN_DECLS

#define VN_TYPE_STEP_PRECISION (vn_step_precision_get_type ())
G_DECLARE_FINAL_TYPE (VnStepPrecision, vn_step_precision, VN, STEP_PRECISION, VnWizardStep)

G_END_DECLS
