/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Base class of the wizard's steps: an answer for the list of steps, what keeps the user from going on, and rows of settings. */
#include "vn-wizard-step.h"

#include "vn-format-traits.h"
#include "vn-i18n.h"
#include "vn-wizard-settings.h"

typedef struct
{
  VnDocument *document;
} VnWizardStepPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (VnWizardStep, vn_wizard_step, ADW_TYPE_BIN)

static guint changed_signal;

static void
vn_wizard_step_dispose (GObject *object)
{
  VnWizardStepPrivate *priv = vn_wizard_step_get_instance_private (VN_WIZARD_STEP (object));

  g_clear_object (&priv->document);
  G_OBJECT_CLASS (vn_wizard_step_parent_class)->dispose (object);
}

static void
vn_wizard_step_class_init (VnWizardStepClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_wizard_step_dispose;
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_GROUP);
  changed_signal = g_signal_new ("changed", VN_TYPE_WIZARD_STEP, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                 G_TYPE_NONE, 0);
}

static void
vn_wizard_step_init (VnWizardStep *self)
{
}

/**
 * vn_wizard_step_declare_settings:
 * @klass: of a step whose template has a box named "settings"
 *
 * The settings that vn-wizard-settings.def lists for the step are shown in it.
 */
void
vn_wizard_step_declare_settings (GtkWidgetClass *klass)
{
  gtk_widget_class_bind_template_child_full (klass, "settings", FALSE, 0);
}

/**
 * vn_wizard_step_set_document:
 * @id: of the step
 * @document: what all steps speak of
 *
 * To be called once.
 */
void
vn_wizard_step_set_document (VnWizardStep *self,
                             const char   *id,
                             VnDocument   *document)
{
  VnWizardStepPrivate *priv = vn_wizard_step_get_instance_private (self);
  GObject *settings;

  g_return_if_fail (VN_IS_WIZARD_STEP (self));
  g_return_if_fail (id != NULL);
  g_return_if_fail (VN_IS_DOCUMENT (document));
  g_return_if_fail (priv->document == NULL);

  priv->document = g_object_ref (document);
  settings = gtk_widget_get_template_child (GTK_WIDGET (self), G_OBJECT_TYPE (self), "settings");
  if (settings != NULL)
    vn_wizard_fill_settings (GTK_BOX (settings), id, document);
  if (VN_WIZARD_STEP_GET_CLASS (self)->document_set != NULL)
    VN_WIZARD_STEP_GET_CLASS (self)->document_set (self);
}

VnDocument *
vn_wizard_step_get_document (VnWizardStep *self)
{
  VnWizardStepPrivate *priv;

  g_return_val_if_fail (VN_IS_WIZARD_STEP (self), NULL);

  priv = vn_wizard_step_get_instance_private (self);
  return priv->document;
}

void
vn_wizard_step_enter (VnWizardStep *self)
{
  VnWizardStepClass *klass;

  g_return_if_fail (VN_IS_WIZARD_STEP (self));

  klass = VN_WIZARD_STEP_GET_CLASS (self);
  if (klass->enter != NULL)
    klass->enter (self);
}

char *
vn_wizard_step_dup_answer (VnWizardStep *self)
{
  VnWizardStepClass *klass;

  g_return_val_if_fail (VN_IS_WIZARD_STEP (self), NULL);

  klass = VN_WIZARD_STEP_GET_CLASS (self);
  return klass->dup_answer != NULL ? klass->dup_answer (self) : NULL;
}

char *
vn_wizard_step_dup_blocker (VnWizardStep *self)
{
  VnWizardStepClass *klass;

  g_return_val_if_fail (VN_IS_WIZARD_STEP (self), NULL);

  klass = VN_WIZARD_STEP_GET_CLASS (self);
  return klass->dup_blocker != NULL ? klass->dup_blocker (self) : NULL;
}

gboolean
vn_wizard_step_has_warning (VnWizardStep *self)
{
  VnWizardStepClass *klass;

  g_return_val_if_fail (VN_IS_WIZARD_STEP (self), FALSE);

  klass = VN_WIZARD_STEP_GET_CLASS (self);
  return klass->has_warning != NULL && klass->has_warning (self);
}

void
vn_wizard_step_next (VnWizardStep *self)
{
  VnWizardStepClass *klass;

  g_return_if_fail (VN_IS_WIZARD_STEP (self));

  klass = VN_WIZARD_STEP_GET_CLASS (self);
  if (klass->next != NULL)
    klass->next (self);
}

void
vn_wizard_step_changed (VnWizardStep *self)
{
  g_return_if_fail (VN_IS_WIZARD_STEP (self));

  g_signal_emit (self, changed_signal, 0);
}

/**
 * vn_wizard_step_get_type_name:
 * @setting: "activation" or "weight"
 *
 * Returns: (transfer none): the type that @recipe makes of these; a type that its format does not heed is not told
 */
const char *
vn_wizard_step_get_type_name (const VnRecipe *recipe,
                              const char     *setting)
{
  gboolean is_weight;
  VnDType dtype;

  g_return_val_if_fail (recipe != NULL && setting != NULL, NULL);

  is_weight = g_str_equal (setting, "weight");
  dtype = is_weight ? recipe->weight : recipe->activation;
  if (vn_recipe_get_format (recipe)->half_arithmetic)
    return vn_dtype_get_name (VN_DTYPE_F16);
  if (!vn_recipe_get_format (recipe)->has_scales)
    return is_weight ? vn_dtype_get_name (VN_DTYPE_BF16) : _("float");
  if (dtype == VN_DTYPE_UNDEFINED || (!is_weight && vn_recipe_get_format (recipe)->weights_only))
    return _("float");
  return vn_dtype_get_name (dtype);
}
