/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wizard step: in which numbers the network computes, as a whole and in the regions that have others. */
#include "vn-step-precision.h"

#include "vn-i18n.h"
#include "vn-rows.h"
#include "vn-rule-groups.h"

#define MOST_REGIONS 12u      /* rows; the recipe beside the graph has all */

struct _VnStepPrecision
{
  VnWizardStep  parent_instance;

  GtkListBox   *regions;
};

G_DEFINE_FINAL_TYPE (VnStepPrecision, vn_step_precision, VN_TYPE_WIZARD_STEP)

static void
step_precision_add_region (VnStepPrecision   *self,
                           const VnRuleGroup *group)
{
  guint n = group->nodes->len;
  g_autofree char *text = g_strdup_printf (ngettext ("%u node", "%u nodes", n), n);

  gtk_list_box_append (self->regions, vn_row_new_wide (group->title, group->enabled ? text : _("switched off")));
}

/* Rules that give a part of the network numbers of its own, as the recipe lists them. */
static void
step_precision_recipe_changed (VnStepPrecision *self)
{
  VnDocument *document = vn_wizard_step_get_document (VN_WIZARD_STEP (self));
  const VnRecipe *recipe = vn_bench_get_recipe (VN_BENCH (document));
  g_autoptr(GPtrArray) groups = NULL;

  vn_list_box_clear (self->regions);
  if (vn_bench_get_model (VN_BENCH (document)) != NULL)
    groups = vn_rule_groups_list (recipe, vn_bench_get_model (VN_BENCH (document)));
  for (guint i = 0; groups != NULL && i < MIN (groups->len, MOST_REGIONS); i++)
    step_precision_add_region (self, groups->pdata[i]);
  if (groups == NULL || groups->len == 0)
    gtk_list_box_append (self->regions, vn_row_new_wide (_("The whole model uses the same precision"),
                                                         _("After calibration, the Review page shows which parts need more")));
  vn_wizard_step_changed (VN_WIZARD_STEP (self));
}

static void
vn_step_precision_document_set (VnWizardStep *step)
{
  VnDocument *document = vn_wizard_step_get_document (step);

  g_signal_connect_object (document, "changed::recipe", G_CALLBACK (step_precision_recipe_changed), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::model", G_CALLBACK (step_precision_recipe_changed), step, G_CONNECT_SWAPPED);
  step_precision_recipe_changed (VN_STEP_PRECISION (step));
}

static char *
vn_step_precision_dup_answer (VnWizardStep *step)
{
  const VnRecipe *recipe = vn_bench_get_recipe (VN_BENCH (vn_wizard_step_get_document (step)));

  return g_strdup_printf (_("activations %s, weights %s"), vn_wizard_step_get_type_name (recipe, "activation"),
                          vn_wizard_step_get_type_name (recipe, "weight"));
}

static char *
vn_step_precision_dup_blocker (VnWizardStep *step)
{
  g_autoptr(GError) error = NULL;

  if (vn_recipe_validate (vn_bench_get_recipe (VN_BENCH (vn_wizard_step_get_document (step))), &error))
    return NULL;
  return g_strdup (error->message);
}

static void
vn_step_precision_dispose (GObject *object)
{
  gtk_widget_dispose_template (GTK_WIDGET (object), VN_TYPE_STEP_PRECISION);
  G_OBJECT_CLASS (vn_step_precision_parent_class)->dispose (object);
}

static void
vn_step_precision_class_init (VnStepPrecisionClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  VnWizardStepClass *step_class = VN_WIZARD_STEP_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_step_precision_dispose;
  step_class->document_set = vn_step_precision_document_set;
  step_class->dup_answer = vn_step_precision_dup_answer;
  step_class->dup_blocker = vn_step_precision_dup_blocker;
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-step-precision.ui");
  vn_wizard_step_declare_settings (widget_class);
  gtk_widget_class_bind_template_child (widget_class, VnStepPrecision, regions);
}

static void
vn_step_precision_init (VnStepPrecision *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
