/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wizard step: where the quantized model and the report are written. */
#include "vn-step-export.h"

#include "vn-compat.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-report.h"
#include "vn-verify-job.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

struct _VnStepExport
{
  VnWizardStep  parent_instance;

  char         *model_path;
  char         *report_base;   /* of the report: the folder for all forms, or the file without its ending */
  gboolean      report_chosen; /* by the user; else it lies beside the model */
  gboolean      exporting;     /* the next job that ends well is ours */

  AdwActionRow *model_row, *report_row;
  GtkButton    *choose_model, *choose_report, *open_folder;
  GtkSwitch    *with_report, *verify;
  GtkDropDown  *report_form;
  GtkWidget    *done;
  GtkLabel     *done_text;
};

G_DEFINE_FINAL_TYPE (VnStepExport, vn_step_export, VN_TYPE_WIZARD_STEP)

static VnDocument *
step_export_get_document (VnStepExport *self)
{
  return vn_wizard_step_get_document (VN_WIZARD_STEP (self));
}

static void
step_export_show_path (AdwActionRow *row,
                       const char   *path)
{
  g_autofree char *shown = path != NULL ? vn_format_path (path) : g_strdup ("");
  g_autofree char *escaped = g_markup_escape_text (shown, -1);

  adw_action_row_set_subtitle (row, escaped);
}

/* The form that is chosen; NULL: all, in a folder. */
static const VnReportPrinter *
step_export_get_form (VnStepExport *self)
{
  guint n, chosen = gtk_drop_down_get_selected (self->report_form);
  const VnReportPrinter *printers = vn_report_printer_list (&n);

  return chosen > 0 && chosen <= n ? &printers[chosen - 1] : NULL;
}

static char *
step_export_dup_report (VnStepExport *self)
{
  const VnReportPrinter *form = step_export_get_form (self);

  if (self->report_base == NULL)
    return NULL;
  return g_strconcat (self->report_base, form != NULL ? strrchr (form->file, '.') : NULL, NULL);
}

static void
step_export_update (VnStepExport *self)
{
  g_autofree char *report = step_export_dup_report (self);

  step_export_show_path (self->model_row, self->model_path);
  step_export_show_path (self->report_row, report);
  gtk_widget_set_sensitive (GTK_WIDGET (self->report_form), gtk_switch_get_active (self->with_report));
  gtk_widget_set_sensitive (GTK_WIDGET (self->choose_report), gtk_switch_get_active (self->with_report));
  gtk_widget_set_visible (self->done, FALSE);
  vn_wizard_step_changed (VN_WIZARD_STEP (self));
}

/* Beside the model, called like it. */
static void
step_export_place_report (VnStepExport *self)
{
  g_autofree char *base = NULL;

  if (self->report_chosen || self->model_path == NULL)
    return;
  base = g_str_has_suffix (self->model_path, ".onnx") ? g_strndup (self->model_path, strlen (self->model_path) - strlen (".onnx"))
                                                      : g_strdup (self->model_path);
  g_free (self->report_base);
  self->report_base = g_strconcat (base, "-report", NULL);
}

/* Beside the opened file, where that can be written; else in the documents folder. */
static void
step_export_model_changed (VnStepExport *self)
{
  VnModel *model = vn_document_get_model (step_export_get_document (self));
  g_autofree char *name = vn_document_dup_file_name (step_export_get_document (self), VN_QUANTIZED_ENDING);
  g_autofree char *folder = NULL;
  const char *documents = g_get_user_special_dir (G_USER_DIRECTORY_DOCUMENTS);

  if (model == NULL)
    return;
  folder = model->path != NULL ? g_path_get_dirname (model->path) : NULL;
  if (folder == NULL || g_access (folder, W_OK) != 0)
    {
      g_free (folder);
      folder = g_strdup (documents != NULL ? documents : g_get_home_dir ());
    }
  self->report_chosen = FALSE;
  g_free (self->model_path);
  self->model_path = g_build_filename (folder, name, NULL);
  step_export_place_report (self);
  step_export_update (self);
}

static void
step_export_model_chosen (GFile    *file,
                          gpointer  data)
{
  g_autofree char *path = g_file_get_path (file);

  if (path != NULL)
    vn_step_export_set_model_path (data, path);
}

/**
 * vn_step_export_set_model_path:
 * @path: where the model is to be written; a report that nobody chose a place for is written beside it
 */
void
vn_step_export_set_model_path (VnStepExport *self,
                               const char   *path)
{
  g_return_if_fail (VN_IS_STEP_EXPORT (self) && path != NULL);

  g_free (self->model_path);
  self->model_path = g_strdup (path);
  step_export_place_report (self);
  step_export_update (self);
}

static void
step_export_report_chosen (GFile    *file,
                           gpointer  data)
{
  VnStepExport *self = data;

  const VnReportPrinter *form = step_export_get_form (self);

  g_free (self->report_base);
  self->report_chosen = TRUE;
  self->report_base = g_file_get_path (file);
  if (form != NULL && g_str_has_suffix (self->report_base, strrchr (form->file, '.')))
    *strrchr (self->report_base, '.') = '\0';
  step_export_update (self);
}

static void
step_export_choose_model (VnStepExport *self)
{
  g_autofree char *name = self->model_path != NULL ? g_path_get_basename (self->model_path) : NULL;

  vn_choose_file (GTK_WIDGET (self), VN_CHOOSE_SAVE_MODEL, name, step_export_model_chosen, g_object_ref (self),
                  g_object_unref);
}

static void
step_export_choose_report (VnStepExport *self)
{
  g_autofree char *path = step_export_dup_report (self), *name = path != NULL ? g_path_get_basename (path) : NULL;
  gboolean is_file = step_export_get_form (self) != NULL;

  vn_choose_file (GTK_WIDGET (self), is_file ? VN_CHOOSE_SAVE_REPORT : VN_CHOOSE_SAVE_FOLDER, is_file ? name : NULL,
                  step_export_report_chosen, g_object_ref (self), g_object_unref);
}

static void
step_export_open_folder (VnStepExport *self)
{
  g_autofree char *folder = g_path_get_dirname (self->model_path);
  g_autofree char *uri = g_filename_to_uri (folder, NULL, NULL);

  if (uri != NULL)
    gtk_show_uri (GTK_WINDOW (gtk_widget_get_ancestor (GTK_WIDGET (self), GTK_TYPE_WINDOW)), uri,
                  GDK_CURRENT_TIME);
}

/* What came of running it in ONNX Runtime, if that was asked for. */
static char *
step_export_dup_measured (VnStepExport *self)
{
  VnResult *result = vn_document_get_result (step_export_get_document (self));
  g_autofree char *text = NULL;

  if (!gtk_switch_get_active (self->verify) || result == NULL)
    return NULL;
  for (guint i = 0; i < vn_notes_get_n (result->notes); i++)
    if (g_str_equal (vn_notes_get (result->notes, i)->code, VN_NOTE_CODE_NOT_VERIFIED))
      return g_strdup (vn_notes_get (result->notes, i)->text);
  if (result->verification == NULL)
    return NULL;
  text = vn_verification_dup_text (result->verification);
  return g_strdup_printf (_("Measured in ONNX Runtime %s: %s"), result->verification->version, text);
}

static void
step_export_job_done (VnStepExport *self)
{
  g_autofree char *shown = NULL, *text = NULL, *measured = NULL;

  if (!self->exporting)
    return;
  self->exporting = FALSE;
  shown = vn_format_path (self->model_path);
  measured = step_export_dup_measured (self);
  text = g_strdup_printf (_("Written: %s"), shown);
  if (measured != NULL)
    {
      g_autofree char *written = g_steal_pointer (&text);

      text = g_strjoin ("\n", written, measured, NULL);
    }
  gtk_label_set_label (self->done_text, text);
  gtk_widget_set_visible (self->done, TRUE);
}

static void
step_export_job_failed (VnStepExport *self)
{
  self->exporting = FALSE;
}

static void
step_export_job_changed (VnStepExport *self)
{
  vn_wizard_step_changed (VN_WIZARD_STEP (self));
}

static void
vn_step_export_next (VnWizardStep *step)
{
  VnStepExport *self = VN_STEP_EXPORT (step);
  VnDocument *document = vn_wizard_step_get_document (step);
  g_autoptr(GError) error = NULL;
  g_autofree char *report = step_export_dup_report (self);

  gtk_widget_set_visible (self->done, FALSE);
  self->exporting = vn_document_export (document, self->model_path,
                                        gtk_switch_get_active (self->with_report) ? report : NULL,
                                        gtk_switch_get_active (self->verify), &error);
  if (error != NULL)
    g_signal_emit_by_name (document, "failed", _("Export failed"), error);
}

static void
vn_step_export_document_set (VnWizardStep *step)
{
  VnDocument *document = vn_wizard_step_get_document (step);

  g_signal_connect_object (document, "model-changed", G_CALLBACK (step_export_model_changed), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "done", G_CALLBACK (step_export_job_done), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "failed", G_CALLBACK (step_export_job_failed), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "job-changed", G_CALLBACK (step_export_job_changed), step, G_CONNECT_SWAPPED);
  step_export_model_changed (VN_STEP_EXPORT (step));
}

static char *
vn_step_export_dup_blocker (VnWizardStep *step)
{
  VnDocument *document = vn_wizard_step_get_document (step);

  if (vn_document_get_result (document) == NULL)
    return g_strdup (_("Not calibrated yet"));
  return vn_document_get_job (document) != NULL ? g_strdup (_("Still working")) : NULL;
}

static void
vn_step_export_dispose (GObject *object)
{
  VnStepExport *self = VN_STEP_EXPORT (object);

  g_clear_pointer (&self->model_path, g_free);
  g_clear_pointer (&self->report_base, g_free);
  gtk_widget_dispose_template (GTK_WIDGET (object), VN_TYPE_STEP_EXPORT);
  G_OBJECT_CLASS (vn_step_export_parent_class)->dispose (object);
}

static void
vn_step_export_class_init (VnStepExportClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  VnWizardStepClass *step_class = VN_WIZARD_STEP_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_step_export_dispose;
  step_class->document_set = vn_step_export_document_set;
  step_class->dup_blocker = vn_step_export_dup_blocker;
  step_class->next = vn_step_export_next;
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-step-export.ui");
  vn_wizard_step_declare_settings (widget_class);
  gtk_widget_class_bind_template_child (widget_class, VnStepExport, model_row);
  gtk_widget_class_bind_template_child (widget_class, VnStepExport, report_row);
  gtk_widget_class_bind_template_child (widget_class, VnStepExport, choose_model);
  gtk_widget_class_bind_template_child (widget_class, VnStepExport, choose_report);
  gtk_widget_class_bind_template_child (widget_class, VnStepExport, open_folder);
  gtk_widget_class_bind_template_child (widget_class, VnStepExport, with_report);
  gtk_widget_class_bind_template_child (widget_class, VnStepExport, report_form);
  gtk_widget_class_bind_template_child (widget_class, VnStepExport, verify);
  gtk_widget_class_bind_template_child (widget_class, VnStepExport, done);
  gtk_widget_class_bind_template_child (widget_class, VnStepExport, done_text);
}

static void
step_export_fill_forms (VnStepExport *self)
{
  guint n;
  const VnReportPrinter *printers = vn_report_printer_list (&n);
  g_autoptr(GtkStringList) titles = gtk_string_list_new (NULL);

  gtk_string_list_append (titles, _("All forms, in a folder"));
  for (guint i = 0; i < n; i++)
    gtk_string_list_append (titles, _(printers[i].title));
  gtk_drop_down_set_model (self->report_form, G_LIST_MODEL (titles));
}

static void
vn_step_export_init (VnStepExport *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  step_export_fill_forms (self);
  g_signal_connect_swapped (self->report_form, "notify::selected", G_CALLBACK (step_export_update), self);
  g_signal_connect_swapped (self->choose_model, "clicked", G_CALLBACK (step_export_choose_model), self);
  g_signal_connect_swapped (self->choose_report, "clicked", G_CALLBACK (step_export_choose_report), self);
  g_signal_connect_swapped (self->open_folder, "clicked", G_CALLBACK (step_export_open_folder), self);
  g_signal_connect_swapped (self->with_report, "notify::active", G_CALLBACK (step_export_update), self);
}
