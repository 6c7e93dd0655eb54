/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wizard step: the preset of the target. */
#include "vn-step-target.h"

#include "vn-i18n.h"
#include "vn-rows.h"
#include "vn-suggest.h"
#include "vn-target-rows.h"
#include "vn-verify-job.h"

struct _VnStepTarget
{
  VnWizardStep  parent_instance;

  GPtrArray    *rows;         /* of AdwActionRow, one a preset, as shown */
  guint         n_first;      /* of those that suit the model, at the top; 0: all do */
  gboolean      busy;

  GtkBox       *presets;
  GtkLabel     *summary;
};

G_DEFINE_FINAL_TYPE (VnStepTarget, vn_step_target, VN_TYPE_WIZARD_STEP)

static const VnPreset *
step_target_get_preset (GtkWidget *row)
{
  return g_object_get_data (G_OBJECT (row), "vn-preset");
}

static GtkCheckButton *
step_target_get_check (GtkWidget *row)
{
  return GTK_CHECK_BUTTON (adw_action_row_get_activatable_widget (ADW_ACTION_ROW (row)));
}

/* What runs exports for it, if that has been found on this machine. */
static void
step_target_mark (GtkWidget *row)
{
  const VnTargetRuntime *runtime = vn_target_runtime_of (step_target_get_preset (row));
  GtkWidget *mark = g_object_get_data (G_OBJECT (row), "vn-mark");

  if (mark != NULL)
    gtk_widget_set_visible (mark, runtime != NULL && vn_verify_runtime_get_state (runtime) == VN_RUNTIME_STATE_FOUND);
}

static void
step_target_mark_all (VnStepTarget *self)
{
  for (guint i = 0; i < self->rows->len; i++)
    step_target_mark (self->rows->pdata[i]);
}

/* What each target is for, and what it makes of this model. */
static void
step_target_describe (VnStepTarget *self,
                      GtkWidget    *row)
{
  const VnPreset *preset = step_target_get_preset (row);
  const char *summary = preset->summary != NULL ? _(preset->summary) : "";
  VnDocument *document = vn_wizard_step_get_document (VN_WIZARD_STEP (self));
  const gboolean tells = !vn_preset_is_target (preset) ||
                         g_str_equal (preset->id, vn_bench_get_recipe (VN_BENCH (document))->preset);
  g_autofree char *found = tells ? vn_target_dup_text (document, preset->id, NULL) : NULL;
  g_autofree char *text = found == NULL ? g_strdup (summary) : g_strdup_printf ("%s\n%s", summary, found);

  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), text);
}

static void
step_target_summarize (VnStepTarget *self)
{
  VnDocument *document = vn_wizard_step_get_document (VN_WIZARD_STEP (self));
  const VnRecipe *recipe = vn_bench_get_recipe (VN_BENCH (document));
  const VnCoverage *coverage = NULL;
  const char *reason = NULL;
  g_autofree char *found = NULL, *types = NULL, *summary = NULL;

  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    vn_bench_find_coverage (VN_BENCH (document), NULL, &coverage, &reason);
  found = coverage != NULL ? vn_coverage_dup_text (coverage) : g_strdup (reason);
  types = g_strdup_printf (_("Activations %s, weights %s."), vn_wizard_step_get_type_name (recipe, "activation"),
                           vn_wizard_step_get_type_name (recipe, "weight"));
  summary = found != NULL ? g_strdup_printf ("%s %s.", types, found) : g_strdup (types);
  gtk_label_set_label (self->summary, summary);
}

/* The present one first: it is what somebody waits for; of targets that nobody sees nothing is calculated. */
static void
step_target_show_coverage (VnStepTarget *self)
{
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    vn_bench_look_for_runtimes (VN_BENCH (vn_wizard_step_get_document (VN_WIZARD_STEP (self))));
  step_target_summarize (self);
  for (guint i = 0; i < self->rows->len && gtk_widget_get_mapped (GTK_WIDGET (self)); i++)
    step_target_describe (self, self->rows->pdata[i]);
}

static void
step_target_recipe_changed (VnStepTarget *self)
{
  const VnRecipe *recipe = vn_bench_get_recipe (VN_BENCH (vn_wizard_step_get_document (VN_WIZARD_STEP (self))));

  self->busy = TRUE;
  for (guint i = 0; i < self->rows->len; i++)
    if (g_strcmp0 (step_target_get_preset (self->rows->pdata[i])->id, recipe->preset) == 0)
      gtk_check_button_set_active (step_target_get_check (self->rows->pdata[i]), TRUE);
  step_target_show_coverage (self);
  self->busy = FALSE;
  vn_wizard_step_changed (VN_WIZARD_STEP (self));
}

static void
step_target_preset_toggled (VnStepTarget   *self,
                            GtkCheckButton *button)
{
  if (!self->busy && gtk_check_button_get_active (button))
    vn_bench_set_target (VN_BENCH (vn_wizard_step_get_document (VN_WIZARD_STEP (self))),
                         g_object_get_data (G_OBJECT (button), "vn-preset"));
}

/* Where exports for it can be run on this machine; hidden until that is known. */
static void
step_target_add_mark (GtkWidget      *row,
                      const VnPreset *preset)
{
  const VnTargetRuntime *runtime = vn_target_runtime_of (preset);
  g_autofree char *tip = NULL;
  GtkWidget *mark;

  if (runtime == NULL)
    return;
  mark = gtk_label_new (_("verified here"));
  gtk_widget_add_css_class (mark, "dim-label");
  tip = g_strdup_printf (_("%s was found on this machine and runs the export"), runtime->title);
  gtk_widget_set_valign (mark, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (mark, tip);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), mark);
  g_object_set_data (G_OBJECT (row), "vn-mark", mark);
  step_target_mark (row);
}

static GtkWidget *
step_target_make_preset_row (VnStepTarget   *self,
                             const VnPreset *preset)
{
  GtkWidget *row = adw_action_row_new (), *check = gtk_check_button_new ();

  gtk_widget_set_valign (check, GTK_ALIGN_CENTER);
  if (self->rows->len > 0)
    gtk_check_button_set_group (GTK_CHECK_BUTTON (check), step_target_get_check (self->rows->pdata[0]));
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _(preset->title));
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), preset->summary != NULL ? _(preset->summary) : "");
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), check);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), check);
  g_object_set_data (G_OBJECT (row), "vn-preset", (gpointer) preset);
  step_target_add_mark (row, preset);
  g_object_set_data (G_OBJECT (check), "vn-preset", (gpointer) preset);
  gtk_accessible_update_property (GTK_ACCESSIBLE (check), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _(preset->title), -1);
  g_signal_connect_swapped (check, "toggled", G_CALLBACK (step_target_preset_toggled), self);
  g_ptr_array_add (self->rows, row);
  return row;
}

/* The list of a group; why the targets at the top stand there is said above them. */
static GtkWidget *
step_target_add_group (VnStepTarget *self,
                       const char   *heading,
                       const char   *reason)
{
  GtkWidget *list = vn_row_list_new (), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 8);

  gtk_accessible_update_property (GTK_ACCESSIBLE (list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  heading != NULL ? _(heading) : _("Target"), -1);
  if (reason != NULL)
    gtk_box_append (GTK_BOX (box), vn_label_new (reason, "dim-label"));
  gtk_box_append (GTK_BOX (box), list);
  gtk_box_append (self->presets, vn_section_new (heading != NULL ? _(heading) : "", NULL, box));
  return list;
}

/* Precisions first, those that suit the model at their front; then runtimes. */
static GPtrArray *
step_target_list_presets (VnModel *model,
                          guint   *n_first)
{
  guint n;
  const VnPreset * const *targets = vn_target_list (&n);
  GPtrArray *presets = vn_suggest_presets (model, n_first);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (presets, (gpointer) targets[i]);
  return presets;
}

/* A list for each group of targets. */
static void
step_target_add_presets (VnStepTarget *self,
                         VnModel      *model)
{
  g_autoptr(GPtrArray) presets = step_target_list_presets (model, &self->n_first);
  const char *group = NULL;
  GtkWidget *list = NULL;

  vn_box_clear (GTK_WIDGET (self->presets));
  g_ptr_array_set_size (self->rows, 0);
  for (guint i = 0; i < presets->len; i++)
    {
      const VnPreset *preset = presets->pdata[i];
      const char *heading = i < self->n_first ? N_("Suggested for This Model") : vn_preset_get_group (preset);

      if (list == NULL || g_strcmp0 (heading, group) != 0)
        {
          g_autofree char *reason = i == 0 ? vn_suggest_dup_reason (model) : NULL;

          list = step_target_add_group (self, heading, reason);
        }
      group = heading;
      gtk_list_box_append (GTK_LIST_BOX (list), step_target_make_preset_row (self, preset));
    }
}

/* Other targets may suit it. */
static void
step_target_model_changed (VnStepTarget *self)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (vn_wizard_step_get_document (VN_WIZARD_STEP (self))));
  g_autoptr(GPtrArray) presets = NULL;
  guint n_first;

  presets = vn_suggest_presets (model, &n_first);
  if (n_first != self->n_first || n_first > 0)
    {
      self->busy = TRUE;
      step_target_add_presets (self, model);
      self->busy = FALSE;
    }
  step_target_recipe_changed (self);
}

static void
vn_step_target_document_set (VnWizardStep *step)
{
  VnDocument *document = vn_wizard_step_get_document (step);

  g_signal_connect_object (document, "changed::model", G_CALLBACK (step_target_model_changed), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::recipe", G_CALLBACK (step_target_recipe_changed), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::coverage", G_CALLBACK (step_target_show_coverage), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "work-changed", G_CALLBACK (step_target_mark_all), step, G_CONNECT_SWAPPED);
  g_signal_connect_after (step, "map", G_CALLBACK (step_target_show_coverage), NULL);
  g_signal_connect_object (document, "changed::data", G_CALLBACK (vn_wizard_step_changed), step, G_CONNECT_SWAPPED);
  step_target_model_changed (VN_STEP_TARGET (step));
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
  g_clear_pointer (&self->rows, g_ptr_array_unref);
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

static void
vn_step_target_init (VnStepTarget *self)
{
  self->busy = TRUE;
  self->rows = g_ptr_array_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  step_target_add_presets (self, NULL);
  self->busy = FALSE;
}
