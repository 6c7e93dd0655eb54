/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wizard step: calibrate, quantize and measure, with progress. */
#include "vn-step-calibrate.h"

#include "vn-button-names.h"
#include "vn-format.h"
#include "vn-i18n.h"

struct _VnStepCalibrate
{
  VnWizardStep    parent_instance;

  VnJob          *job;       /* the one that is shown */
  char           *failure;   /* why the last run did not end well, or NULL */
  gboolean        is_of_size;   /* another size of an input may help */

  AdwStatusPage  *status;
  GtkProgressBar *progress;
  GtkLabel       *detail;
  GtkWidget      *start, *cancel, *size;
};

G_DEFINE_FINAL_TYPE (VnStepCalibrate, vn_step_calibrate, VN_TYPE_WIZARD_STEP)

static VnDocument *
step_calibrate_get_document (VnStepCalibrate *self)
{
  return vn_wizard_step_get_document (VN_WIZARD_STEP (self));
}

static void
step_calibrate_update_progress (VnStepCalibrate *self)
{
  g_autofree char *stage = vn_job_dup_stage (self->job);
  g_autofree char *detail = vn_job_dup_detail (self->job);
  double seconds = vn_job_get_seconds_left (self->job);
  g_autofree char *duration = seconds >= 1 ? vn_format_duration (seconds) : NULL;
  g_autofree char *left = duration != NULL ? g_strdup_printf (_("%s left"), duration) : NULL;
  g_autofree char *text = NULL;

  adw_status_page_set_title (self->status, stage);
  gtk_progress_bar_set_fraction (self->progress, vn_job_get_progress (self->job));
  text = g_strjoin (detail != NULL && left != NULL ? " · " : "", detail != NULL ? detail : "",
                    left != NULL ? left : "", NULL);
  gtk_label_set_label (self->detail, text);
}

static void
step_calibrate_show_result (VnStepCalibrate *self,
                            VnRun           *result)
{
  g_autofree char *duration = vn_format_duration (vn_run_get_seconds (result, NULL));
  g_autofree char *text = g_strdup_printf (ngettext ("%u sample in %s; the error was measured on %u.",
                                                     "%u samples in %s; the error was measured on %u.",
                                                     result->n_calibration),
                                           result->n_calibration, duration,
                                           result->n_held_out > 0 ? result->n_held_out : result->n_calibration);
  g_autofree char *without = g_strdup_printf (_("Finished in %s without samples; the error was not measured."), duration);

  adw_status_page_set_icon_name (self->status, "emblem-ok-symbolic");
  adw_status_page_set_title (self->status, _("Quantized"));
  gtk_label_set_label (self->detail, result->n_calibration > 0 ? text : without);
}

static void
step_calibrate_show_idle (VnStepCalibrate *self)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (step_calibrate_get_document (self)));

  if (self->failure != NULL)
    {
      adw_status_page_set_icon_name (self->status, "dialog-error-symbolic");
      adw_status_page_set_title (self->status, _("Calibration Failed"));
      gtk_label_set_label (self->detail, self->failure);
    }
  else if (result != NULL && !vn_bench_is_stale (VN_BENCH (step_calibrate_get_document (self))))
    step_calibrate_show_result (self, result);
  else
    {
      adw_status_page_set_icon_name (self->status, "vn-graph-symbolic");
      adw_status_page_set_title (self->status, _("Ready to Calibrate"));
      gtk_label_set_label (self->detail, _("The model runs on your samples to determine the range of every tensor. "
                                           "The graph stays usable meanwhile."));
    }
}

static void
step_calibrate_update (VnStepCalibrate *self)
{
  VnJob *job = vn_bench_get_job (VN_BENCH (step_calibrate_get_document (self)));

  if (self->job != job)
    {
      if (self->job != NULL)
        g_signal_handlers_disconnect_by_data (self->job, self);
      g_set_object (&self->job, job);
      if (job != NULL)
        g_signal_connect_swapped (job, "notify::progress", G_CALLBACK (step_calibrate_update_progress), self);
    }
  gtk_widget_set_visible (GTK_WIDGET (self->progress), job != NULL);
  gtk_widget_set_visible (self->cancel, job != NULL);
  gtk_widget_set_visible (self->start, job == NULL);
  gtk_widget_set_visible (self->size, job == NULL && self->failure != NULL && self->is_of_size);
  gtk_button_set_label (GTK_BUTTON (self->start), vn_bench_get_shown (VN_BENCH (step_calibrate_get_document (self))) != NULL
                                                  ? _("_Run Again") : _("_Start"));
  vn_button_names_set (self->start);
  if (job != NULL)
    {
      adw_status_page_set_icon_name (self->status, "vn-graph-symbolic");
      step_calibrate_update_progress (self);
    }
  else
    step_calibrate_show_idle (self);
  vn_wizard_step_changed (VN_WIZARD_STEP (self));
}

static void
step_calibrate_show_failure (VnStepCalibrate *self,
                             const GError    *error)
{
  const char *input = vn_bench_find_size (VN_BENCH (step_calibrate_get_document (self)), error);

  g_free (self->failure);
  self->failure = g_strdup (error->message);
  if (input != NULL)
    gtk_actionable_set_action_target (GTK_ACTIONABLE (self->size), "s", input);
  self->is_of_size = input != NULL;
  step_calibrate_update (self);
}

static void
step_calibrate_failed (VnStepCalibrate *self,
                       const VnNotice  *notice)
{
  step_calibrate_show_failure (self, notice->error);
}

static void
step_calibrate_succeeded (VnStepCalibrate *self)
{
  g_clear_pointer (&self->failure, g_free);
  step_calibrate_update (self);
}

static void
step_calibrate_start (VnStepCalibrate *self)
{
  g_autoptr(GError) error = NULL;

  g_clear_pointer (&self->failure, g_free);
  if (!vn_bench_quantize (VN_BENCH (step_calibrate_get_document (self)), &error))
    step_calibrate_show_failure (self, error);
}

static void
vn_step_calibrate_enter (VnWizardStep *step)
{
  VnDocument *document = vn_wizard_step_get_document (step);

  if (vn_bench_get_job (VN_BENCH (document)) == NULL &&
      (vn_bench_get_shown (VN_BENCH (document)) == NULL || vn_bench_is_stale (VN_BENCH (document))))
    step_calibrate_start (VN_STEP_CALIBRATE (step));
  step_calibrate_update (VN_STEP_CALIBRATE (step));
}

static void
vn_step_calibrate_document_set (VnWizardStep *step)
{
  VnDocument *document = vn_wizard_step_get_document (step);

  g_signal_connect_object (document, "work-changed", G_CALLBACK (step_calibrate_update), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::data", G_CALLBACK (step_calibrate_succeeded), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::recipe", G_CALLBACK (step_calibrate_succeeded), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::run", G_CALLBACK (step_calibrate_succeeded), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notice::failed", G_CALLBACK (step_calibrate_failed), step, G_CONNECT_SWAPPED);
  step_calibrate_update (VN_STEP_CALIBRATE (step));
}

static char *
vn_step_calibrate_dup_answer (VnWizardStep *step)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (vn_wizard_step_get_document (step)));
  g_autofree char *duration = NULL;
  double seconds;

  if (result == NULL)
    return NULL;
  if (result->n_calibration == 0)
    return g_strdup (_("no samples"));
  seconds = vn_run_get_seconds (result, NULL);
  if (!(seconds > 0))
    return g_strdup_printf (ngettext ("%u sample", "%u samples", result->n_calibration), result->n_calibration);
  duration = vn_format_duration (seconds);
  return g_strdup_printf (ngettext ("%u sample, %s", "%u samples, %s", result->n_calibration),
                          result->n_calibration, duration);
}

static char *
vn_step_calibrate_dup_blocker (VnWizardStep *step)
{
  VnDocument *document = vn_wizard_step_get_document (step);

  if (vn_bench_get_shown (VN_BENCH (document)) != NULL)
    return NULL;
  return g_strdup (vn_bench_get_job (VN_BENCH (document)) != NULL ? _("Calibration is running")
                                                          : _("Not calibrated yet"));
}

static void
vn_step_calibrate_dispose (GObject *object)
{
  VnStepCalibrate *self = VN_STEP_CALIBRATE (object);

  if (self->job != NULL)
    g_signal_handlers_disconnect_by_data (self->job, self);
  g_clear_object (&self->job);
  g_clear_pointer (&self->failure, g_free);
  gtk_widget_dispose_template (GTK_WIDGET (object), VN_TYPE_STEP_CALIBRATE);
  G_OBJECT_CLASS (vn_step_calibrate_parent_class)->dispose (object);
}

static void
vn_step_calibrate_class_init (VnStepCalibrateClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  VnWizardStepClass *step_class = VN_WIZARD_STEP_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_step_calibrate_dispose;
  step_class->document_set = vn_step_calibrate_document_set;
  step_class->enter = vn_step_calibrate_enter;
  step_class->dup_answer = vn_step_calibrate_dup_answer;
  step_class->dup_blocker = vn_step_calibrate_dup_blocker;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/vernier/Vernier/vn-step-calibrate.ui");
  vn_wizard_step_declare_settings (widget_class);
  gtk_widget_class_bind_template_child (widget_class, VnStepCalibrate, status);
  gtk_widget_class_bind_template_child (widget_class, VnStepCalibrate, progress);
  gtk_widget_class_bind_template_child (widget_class, VnStepCalibrate, detail);
  gtk_widget_class_bind_template_child (widget_class, VnStepCalibrate, start);
  gtk_widget_class_bind_template_child (widget_class, VnStepCalibrate, cancel);
  gtk_widget_class_bind_template_child (widget_class, VnStepCalibrate, size);
}

static void
vn_step_calibrate_init (VnStepCalibrate *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (self->start, "clicked", G_CALLBACK (step_calibrate_start), self);
}
