/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ONNX Runtime makes of the export: expected figures until the button has measured them, with progress and the reason of a failure. */
#include "vn-verify-panel.h"

#include "vn-button-names.h"
#include "vn-i18n.h"
#include "vn-rows.h"
#include "vn-verify-job.h"

#include <math.h>

struct _VnVerifyPanel
{
  AdwBin          parent_instance;

  VnDocument     *document;
  VnJob          *job;           /* that verifies, or NULL */
  char           *failure;       /* (nullable): of the last try */

  GtkListBox     *list;
  AdwActionRow   *row;           /* with the button; the last of @list */
  GtkButton      *start, *cancel;
  GtkProgressBar *progress;
};

G_DEFINE_FINAL_TYPE (VnVerifyPanel, vn_verify_panel, ADW_TYPE_BIN)

/* ---- figures ---- */

static void
verify_panel_add (VnVerifyPanel *self,
                  const char    *title,
                  const char    *value)
{
  int n = 0;

  while (gtk_list_box_get_row_at_index (self->list, n) != NULL)
    n++;
  gtk_list_box_insert (self->list, vn_row_new (title, value), n - 1);
}

static void
verify_panel_clear (VnVerifyPanel *self)
{
  GtkListBoxRow *row;

  while ((row = gtk_list_box_get_row_at_index (self->list, 0)) != NULL && GTK_WIDGET (row) != GTK_WIDGET (self->row))
    gtk_list_box_remove (self->list, GTK_WIDGET (row));
}

static void
verify_panel_add_time (VnVerifyPanel          *self,
                       const VnVerification   *found,
                       const VnRuntimeFigures *figures)
{
  g_autofree char *title = NULL, *text = NULL;

  if (found != NULL)
    {
      title = g_strdup_printf (_("Measured in ONNX Runtime %s"), found->version);
      text = vn_verification_dup_text (found);
      verify_panel_add (self, title, text);
    }
  else if (!isnan (figures->ratio))
    {
      text = g_strdup_printf (_("%.2f times that of the float network"), figures->ratio);
      verify_panel_add (self, _("Time of one sample there, expected"), text);
    }
}

static void
verify_panel_fill (VnVerifyPanel *self)
{
  VnResult *result = vn_document_get_result (self->document);
  VnRuntimeFigures figures;

  gtk_widget_set_visible (GTK_WIDGET (self), result != NULL);
  verify_panel_clear (self);
  if (result == NULL)
    return;
  vn_runtime_figures_init (&figures, result->forecast, result->verification);
  if (!isnan (figures.integer_share))
    {
      g_autofree char *text = g_strdup_printf (_("%.1f\u00a0%% of the multiplications"), 100 * figures.integer_share);

      verify_panel_add (self, figures.share_measured ? _("On integers in ONNX Runtime, by its kernels") : _("On integers in ONNX Runtime, expected"),
                        text);
    }
  verify_panel_add_time (self, result->verification, &figures);
}

/* ---- the job ---- */

static void
verify_panel_update_progress (VnVerifyPanel *self)
{
  g_autofree char *stage = vn_job_dup_stage (self->job);

  gtk_progress_bar_set_fraction (self->progress, vn_job_get_progress (self->job));
  adw_action_row_set_subtitle (self->row, stage != NULL ? stage : "");
}

static void
verify_panel_update_row (VnVerifyPanel *self)
{
  VnResult *result = vn_document_get_result (self->document);

  gtk_widget_set_visible (GTK_WIDGET (self->start), self->job == NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->cancel), self->job != NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->progress), self->job != NULL);
  gtk_widget_set_sensitive (GTK_WIDGET (self->start), result != NULL && vn_document_get_job (self->document) == NULL);
  if (self->job != NULL)
    verify_panel_update_progress (self);
  else
    adw_action_row_set_subtitle (self->row, self->failure != NULL ? self->failure
                                            : _("Runs the export there: whether it loads and agrees, and how long it takes"));
}

static void
verify_panel_job_changed (VnVerifyPanel *self)
{
  VnJob *job = vn_document_get_job (self->document);

  if (job != NULL && !VN_IS_VERIFY_JOB (job))
    job = NULL;
  if (self->job != NULL)
    g_signal_handlers_disconnect_by_data (self->job, self);
  if (job != NULL && job != self->job)
    g_clear_pointer (&self->failure, g_free);
  g_set_object (&self->job, job);
  if (job != NULL)
    g_signal_connect_object (job, "notify::progress", G_CALLBACK (verify_panel_update_progress), self, G_CONNECT_SWAPPED);
  verify_panel_update_row (self);
}

static void
verify_panel_result_changed (VnVerifyPanel *self)
{
  g_clear_pointer (&self->failure, g_free);
  verify_panel_fill (self);
  verify_panel_update_row (self);
}

/* It stays to be read, as it says what to do. */
static void
verify_panel_failed (VnVerifyPanel *self,
                     const char    *title,
                     const GError  *error)
{
  if (self->job == NULL)
    return;
  g_free (self->failure);
  self->failure = g_strdup (error->message);
}

static void
verify_panel_start (VnVerifyPanel *self)
{
  g_autoptr(GError) error = NULL;

  if (!vn_document_verify (self->document, &error))
    g_signal_emit_by_name (self->document, "failed", _("The export could not be verified"), error);
}

static void
verify_panel_cancel (VnVerifyPanel *self)
{
  vn_document_cancel (self->document);
}

/**
 * vn_verify_panel_set_document:
 */
void
vn_verify_panel_set_document (VnVerifyPanel *self,
                              VnDocument    *document)
{
  g_return_if_fail (VN_IS_VERIFY_PANEL (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  g_set_object (&self->document, document);
  g_signal_connect_object (document, "job-changed", G_CALLBACK (verify_panel_job_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "result-changed", G_CALLBACK (verify_panel_result_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "failed", G_CALLBACK (verify_panel_failed), self, G_CONNECT_SWAPPED);
  verify_panel_job_changed (self);
  verify_panel_result_changed (self);
}

/* ---- parts ---- */

static void
verify_panel_make_row (VnVerifyPanel *self)
{
  GtkWidget *row = adw_action_row_new ();

  self->row = ADW_ACTION_ROW (row);
  self->start = GTK_BUTTON (vn_button_new_with_mnemonic (_("_Verify")));
  self->cancel = GTK_BUTTON (vn_button_new_with_mnemonic (_("_Cancel")));
  self->progress = GTK_PROGRESS_BAR (gtk_progress_bar_new ());
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _("Verify in ONNX Runtime"));
  adw_action_row_set_subtitle_lines (self->row, 0);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->progress), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Verify in ONNX Runtime"), -1);
  gtk_widget_set_size_request (GTK_WIDGET (self->progress), 120, -1);
  adw_action_row_add_suffix (self->row, GTK_WIDGET (self->progress));
  adw_action_row_add_suffix (self->row, GTK_WIDGET (self->start));
  adw_action_row_add_suffix (self->row, GTK_WIDGET (self->cancel));
  gtk_widget_set_valign (GTK_WIDGET (self->progress), GTK_ALIGN_CENTER);
  gtk_widget_set_valign (GTK_WIDGET (self->start), GTK_ALIGN_CENTER);
  gtk_widget_set_valign (GTK_WIDGET (self->cancel), GTK_ALIGN_CENTER);
  g_signal_connect_swapped (self->start, "clicked", G_CALLBACK (verify_panel_start), self);
  g_signal_connect_swapped (self->cancel, "clicked", G_CALLBACK (verify_panel_cancel), self);
}

static void
vn_verify_panel_dispose (GObject *object)
{
  VnVerifyPanel *self = VN_VERIFY_PANEL (object);

  g_clear_object (&self->job);
  g_clear_object (&self->document);
  g_clear_pointer (&self->failure, g_free);
  G_OBJECT_CLASS (vn_verify_panel_parent_class)->dispose (object);
}

static void
vn_verify_panel_class_init (VnVerifyPanelClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_verify_panel_dispose;
}

static void
vn_verify_panel_init (VnVerifyPanel *self)
{
  self->list = GTK_LIST_BOX (gtk_list_box_new ());
  gtk_list_box_set_selection_mode (self->list, GTK_SELECTION_NONE);
  gtk_widget_add_css_class (GTK_WIDGET (self->list), "boxed-list");
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("In ONNX Runtime"), -1);
  verify_panel_make_row (self);
  gtk_list_box_append (self->list, GTK_WIDGET (self->row));
  adw_bin_set_child (ADW_BIN (self), vn_section_new (_("In ONNX Runtime"), NULL, GTK_WIDGET (self->list)));
}
