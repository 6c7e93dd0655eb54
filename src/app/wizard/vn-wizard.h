/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnWizard: the assistant: model, data, target, calibration, review, export. What is done in it stays when it
 * is left.
 */
#define VN_TYPE_WIZARD (vn_wizard_get_type ())
G_DECLARE_FINAL_TYPE (VnWizard, vn_wizard, VN, WIZARD, AdwBin)

void  vn_wizard_set_document (VnWizard   *self,
                              VnDocument *document);
void  vn_wizard_make_steps   (VnWizard   *self);
void  vn_wizard_begin        (VnWizard   *self,
                              const char *step);
void  vn_wizard_show_curve   (VnWizard   *self);
void  vn_wizard_edit_size    (VnWizard   *self,
                              const char *input);
const char *vn_wizard_get_step (VnWizard *self);
void  vn_wizard_go_next      (VnWizard   *self);

G_END_DECLS
