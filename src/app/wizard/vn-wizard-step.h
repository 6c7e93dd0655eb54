/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnWizardStep: a page of the assistant.
 * @document_set: (nullable): the document is there: connect to it and show it
 * @enter: (nullable): the page comes to the front
 * @dup_answer: (nullable): what was decided here, for the list of steps; NULL: nothing yet
 * @dup_blocker: (nullable): why one cannot go on, in a few words; NULL: one can
 * @has_warning: (nullable): whether the answer may be wrong, though one can go on with it
 * @next: (nullable): does what the button of the last page does
 */
#define VN_TYPE_WIZARD_STEP (vn_wizard_step_get_type ())
G_DECLARE_DERIVABLE_TYPE (VnWizardStep, vn_wizard_step, VN, WIZARD_STEP, AdwBin)

struct _VnWizardStepClass
{
  AdwBinClass parent_class;

  void  (*document_set) (VnWizardStep *self);
  void  (*enter)        (VnWizardStep *self);
  char *(*dup_answer)   (VnWizardStep *self);
  char *(*dup_blocker)  (VnWizardStep *self);
  gboolean (*has_warning) (VnWizardStep *self);
  void  (*next)         (VnWizardStep *self);
};

void        vn_wizard_step_declare_settings (GtkWidgetClass *klass);
void        vn_wizard_step_set_document (VnWizardStep *self,
                                         const char   *id,
                                         VnDocument   *document);
VnDocument *vn_wizard_step_get_document (VnWizardStep *self);
void        vn_wizard_step_enter        (VnWizardStep *self);
char       *vn_wizard_step_dup_answer   (VnWizardStep *self);
char       *vn_wizard_step_dup_blocker  (VnWizardStep *self);
gboolean    vn_wizard_step_has_warning  (VnWizardStep *self);
void        vn_wizard_step_next         (VnWizardStep *self);

/* For subclasses: what activations or weights become, "activation" or "weight": what the target does not heed is no answer. */
const char *vn_wizard_step_get_type_name (const VnRecipe *recipe,
                                          const char     *setting);
/* For subclasses: answer or blocker may have changed. */
void        vn_wizard_step_changed      (VnWizardStep *self);

G_END_DECLS
