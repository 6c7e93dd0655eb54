/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wizard step: the preset of the target. */
#include "vn-step-target.h"

#include "vn-i18n.h"
#include "vn-rows.h"

struct _VnStepTarget
{
  VnWizardStep  parent_instance;

  GtkWidget   **checks;       /* one a preset */
  gboolean      busy;

  GtkBox       *presets;
  GtkLabel     *summary;
};

G_DEFINE_FINAL_TYPE (VnStepTarget, vn_step_target, VN_TYPE_WIZARD_STEP)

static void
step_target_recipe_changed (VnStepTarget *self)
{
  const VnRecipe *recipe = vn_bench_get_recipe (VN_BENCH (vn_wizard_step_get_document (VN_WIZARD_STEP (self))));
  guint n;
  const VnPreset * const *presets = vn_preset_list (&n);
  g_autofree char *summary = NULL;

  self->busy = TRUE;
  for (guint i = 0; i < n; i++)
    if (g_strcmp0 (presets[i]->id, recipe->preset) == 0)
      gtk_check_button_set_active (GTK_CHECK_BUTTON (self->checks[i]), TRUE);
  summary = g_strdup_printf (_("Activations %s, weights %s."), vn_wizard_step_get_type_name (recipe, "activation"),
                             vn_wizard_step_get_type_name (recipe, "weight"));
  gtk_label_set_label (self->summary, summary);
  self->busy = FALSE;
  vn_wizard_step_changed (VN_WIZARD_STEP (self));
}

/* The rules for single nodes stay when the target changes. */
static void
step_target_preset_toggled (VnStepTarget   *self,
                            GtkCheckButton *button)
{
  VnDocument *document = vn_wizard_step_get_document (VN_WIZARD_STEP (self));
  const VnRecipe *old = vn_bench_get_recipe (VN_BENCH (document));
  const VnPreset *preset = g_object_get_data (G_OBJECT (button), "vn-preset");
  g_autofree char *title = NULL;
  VnRecipe *recipe;

  if (self->busy || !gtk_check_button_get_active (button))
    return;
  recipe = vn_recipe_new (preset->id);
  for (guint i = 0; i < old->overrides->len; i++)
    g_ptr_array_add (recipe->overrides, vn_override_copy (g_ptr_array_index (old->overrides, i)));
  title = g_strdup_printf (_("Target %s"), _(preset->title));
  vn_bench_edit_recipe (VN_BENCH (document), recipe, title);
}

static void
vn_step_target_document_set (VnWizardStep *step)
{
  VnDocument *document = vn_wizard_step_get_document (step);

  g_signal_connect_object (document, "changed::recipe", G_CALLBACK (step_target_recipe_changed), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::data", G_CALLBACK (vn_wizard_step_changed), step, G_CONNECT_SWAPPED);
  step_target_recipe_changed (VN_STEP_TARGET (step));
}

static char *
vn_step_target_dup_answer (VnWizardStep *step)
{
  const VnRecipe *recipe = vn_bench_get_recipe (VN_BENCH (vn_wizard_step_get_document (step)));
  const VnPreset *preset = vn_preset_find (recipe->preset, NULL);

  return g_strdup (preset != NULL ? _(preset->title) : recipe->preset);
}

static char *
vn_step_target_dup_blocker (VnWizardStep *step)
{
  VnDocument *document = vn_wizard_step_get_document (step);
  g_autoptr(GError) error = NULL;

  if (!vn_recipe_validate (vn_bench_get_recipe (VN_BENCH (document)), &error))
    return g_strdup (error->message);
  return vn_bench_lacks_samples (VN_BENCH (document)) ? g_strdup (_("This target needs samples")) : NULL;
}

static void
vn_step_target_dispose (GObject *object)
{
  VnStepTarget *self = VN_STEP_TARGET (object);

  self->busy = TRUE;
  g_clear_pointer (&self->checks, g_free);
  gtk_widget_dispose_template (GTK_WIDGET (object), VN_TYPE_STEP_TARGET);
  G_OBJECT_CLASS (vn_step_target_parent_class)->dispose (object);
}

static void
vn_step_target_class_init (VnStepTargetClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  VnWizardStepClass *step_class = VN_WIZARD_STEP_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_step_target_dispose;
  step_class->document_set = vn_step_target_document_set;
  step_class->dup_answer = vn_step_target_dup_answer;
  step_class->dup_blocker = vn_step_target_dup_blocker;
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-step-target.ui");
  vn_wizard_step_declare_settings (widget_class);
  gtk_widget_class_bind_template_child (widget_class, VnStepTarget, presets);
  gtk_widget_class_bind_template_child (widget_class, VnStepTarget, summary);
}

static GtkWidget *
step_target_make_preset_row (VnStepTarget   *self,
                             const VnPreset *preset,
                             GtkWidget      *check)
{
  GtkWidget *row = adw_action_row_new ();

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _(preset->title));
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), preset->summary != NULL ? _(preset->summary) : "");
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), check);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), check);
  g_object_set_data (G_OBJECT (check), "vn-preset", (gpointer) preset);
  gtk_accessible_update_property (GTK_ACCESSIBLE (check), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _(preset->title), -1);
  g_signal_connect_swapped (check, "toggled", G_CALLBACK (step_target_preset_toggled), self);
  return row;
}

/* A list for each group of targets. */
static void
step_target_add_presets (VnStepTarget *self)
{
  guint n;
  const VnPreset * const *presets = vn_preset_list (&n);
  const char *group = NULL;
  GtkWidget *list = NULL;

  self->checks = g_new0 (GtkWidget *, n);
  for (guint i = 0; i < n; i++)
    {
      const char *heading = vn_preset_get_group (presets[i]);

      if (list == NULL || g_strcmp0 (heading, group) != 0)
        {
          list = vn_row_list_new ();
          gtk_accessible_update_property (GTK_ACCESSIBLE (list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                          heading != NULL ? _(heading) : _("Target"), -1);
          gtk_box_append (self->presets, vn_section_new (heading != NULL ? _(heading) : "", NULL, list));
        }
      group = heading;
      self->checks[i] = gtk_check_button_new ();
      gtk_widget_set_valign (self->checks[i], GTK_ALIGN_CENTER);
      if (i > 0)
        gtk_check_button_set_group (GTK_CHECK_BUTTON (self->checks[i]), GTK_CHECK_BUTTON (self->checks[0]));
      gtk_list_box_append (GTK_LIST_BOX (list), step_target_make_preset_row (self, presets[i], self->checks[i]));
    }
}

static void
vn_step_target_init (VnStepTarget *self)
{
  self->busy = TRUE;
  gtk_widget_init_template (GTK_WIDGET (self));
  step_target_add_presets (self);
  self->busy = FALSE;
}
