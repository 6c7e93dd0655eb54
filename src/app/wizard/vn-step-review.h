/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Wizard step: verdict and figures. */

#include "vn-wizard-step.h"

G_BEGIN_DECLS

#define VN_TYPE_STEP_REVIEW (vn_step_review_get_type ())
G_DECLARE_FINAL_TYPE (VnStepReview, vn_step_review, VN, STEP_REVIEW, VnWizardStep)

void vn_step_review_show_curve (VnStepReview *self);

G_END_DECLS
