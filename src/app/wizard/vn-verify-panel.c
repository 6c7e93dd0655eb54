/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ONNX Runtime makes of the export: expected figures until the button has measured them, with progress and the reason of a
 * failure; and another button that installs ONNX Runtime where there is none. */
#include "vn-verify-panel.h"

#include "verify-folder.h"

#include "vn-button-names.h"
#include "vn-compat.h"
#include "vn-i18n.h"
#include "vn-rows.h"
#include "vn-verify-job.h"

#include <math.h>

#define LISTED 5u   /* nodes in a row; the report has all */

/* A row with a button that begins something, and what is seen of it while it goes on. */
typedef struct
{
  AdwActionRow   *row;
  GtkButton      *start, *cancel;
  GtkProgressBar *progress;
  VnJob          *job;           /* that it has begun, or NULL */
  GSignalGroup   *watch;         /* of it */
  char           *failure;       /* (nullable): of the last try */
  const char     *usual;         /* what is said otherwise */
} Action;

struct _VnVerifyPanel
{
  AdwBin      parent_instance;

  VnDocument *document;
  Action      install, verify;   /* the last two rows of @list */
  GtkListBox *list;
};

G_DEFINE_FINAL_TYPE (VnVerifyPanel, vn_verify_panel, ADW_TYPE_BIN)

/* ---- figures ---- */

static void
verify_panel_add (VnVerifyPanel *self,
                  const char    *title,
                  const char    *value)
{
  int n = 0;

  while (gtk_list_box_get_row_at_index (self->list, n) != GTK_LIST_BOX_ROW (self->install.row))
    n++;
  gtk_list_box_insert (self->list, vn_row_new (title, value), n);
}

static void
verify_panel_clear (VnVerifyPanel *self)
{
  GtkListBoxRow *row;

  while ((row = gtk_list_box_get_row_at_index (self->list, 0)) != NULL && GTK_WIDGET (row) != GTK_WIDGET (self->install.row))
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
      title = g_strdup_printf (_("Measured in %s %s"), found->runtime->title, found->version);
      text = vn_verification_dup_text (found);
      verify_panel_add (self, title, text);
    }
  else if (!isnan (figures->ratio))
    {
      text = g_strdup_printf (_("%.2f times that of the float model"), figures->ratio);
      verify_panel_add (self, _("Latency per sample in ONNX Runtime, estimated"), text);
    }
}

/* What the runtime tells of nodes, those that count most first. */
static void
verify_panel_add_nodes (VnVerifyPanel        *self,
                        const VnVerification *found)
{
  const struct
  {
    const char      *title;
    const GPtrArray *nodes;
  } lists[] = { { _("Products not in integers"), found->floats }, { _("Nodes that fell back to the CPU"), found->fallen } };

  if (found->n_partitions > 0)
    {
      g_autofree char *n = g_strdup_printf ("%u", found->n_partitions);

      verify_panel_add (self, _("Partitions"), n);
    }
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    {
      g_autoptr(GString) text = g_string_new (NULL);

      for (guint k = 0; k < MIN (lists[i].nodes->len, LISTED); k++)
        {
          const VnVerifiedNode *node = g_ptr_array_index (lists[i].nodes, k);
          g_autofree char *name = vn_verified_node_dup_text (node);

          g_string_append_printf (text, "%s%s%s%s", k > 0 ? "\n" : "", name, node->reason != NULL ? ": " : "",
                                  node->reason != NULL ? node->reason : "");
        }
      if (lists[i].nodes->len > LISTED)
        g_string_append_printf (text, _("\nand %u more"), lists[i].nodes->len - LISTED);
      if (text->len > 0)
        verify_panel_add (self, lists[i].title, text->str);
    }
}

static const char *
verify_panel_get_title (const VnRun *result)
{
  return result->verification != NULL ? result->verification->runtime->title : vn_target_runtime_get_default ()->title;
}

static void
verify_panel_fill (VnVerifyPanel *self)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (self->document));
  VnRuntimeFigures figures;

  gtk_widget_set_visible (GTK_WIDGET (self), result != NULL);
  verify_panel_clear (self);
  if (result == NULL)
    return;
  vn_runtime_figures_init (&figures, result->forecast, result->verification);
  if (!isnan (figures.integer_share))
    {
      g_autofree char *text = g_strdup_printf (_("%.1f\u00a0%% of MACs"), 100 * figures.integer_share);

      g_autofree char *title = figures.share_measured
                               ? g_strdup_printf (_("Integer execution in %s, from its kernels"), verify_panel_get_title (result))
                               : g_strdup (isnan (figures.seconds) ? _("Integer execution on the target, estimated")
                                                                   : _("Integer execution in ONNX Runtime, estimated"));

      verify_panel_add (self, title, text);
    }
  verify_panel_add_time (self, result->verification, &figures);
  if (result->verification != NULL)
    verify_panel_add_nodes (self, result->verification);
}

/* ---- rows that begin something ---- */

static void
verify_panel_show_progress (Action *action)
{
  g_autofree char *stage = vn_job_dup_stage (action->job);

  gtk_progress_bar_set_fraction (action->progress, vn_job_get_progress (action->job));
  adw_action_row_set_subtitle (action->row, stage != NULL ? stage : "");
}

static void
verify_panel_show_action (Action *action)
{
  gtk_widget_set_visible (GTK_WIDGET (action->start), action->job == NULL);
  gtk_widget_set_visible (GTK_WIDGET (action->cancel), action->job != NULL);
  gtk_widget_set_visible (GTK_WIDGET (action->progress), action->job != NULL);
  if (action->job != NULL)
    verify_panel_show_progress (action);
  else
    adw_action_row_set_subtitle (action->row, action->failure != NULL ? action->failure : action->usual);
}

/* @job: (nullable): what goes on now */
static void
verify_panel_watch (Action *action,
                    VnJob  *job)
{
  if (job != NULL && job != action->job)
    g_clear_pointer (&action->failure, g_free);
  g_set_object (&action->job, job);
  g_signal_group_set_target (action->watch, job);
}

/* (nullable): what would run the export, and is not there */
static const VnTargetRuntime *
verify_panel_get_missing (VnVerifyPanel *self)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (self->document));

  return result != NULL ? vn_verify_runtime_missing (result) : NULL;
}

/* What the rows are about. */
static void
verify_panel_name (VnVerifyPanel *self)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (self->document));
  const VnTargetRuntime *missing = verify_panel_get_missing (self);
  g_autofree char *lacks = missing != NULL ? g_strdup_printf (_("%s was not found"), missing->title) : NULL;
  g_autofree char *title = result != NULL
                           ? g_strdup_printf (_("Verify in %s"), vn_verify_runtime_for (result)->title) : NULL;

  if (lacks != NULL)
    adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->install.row), lacks);
  if (title != NULL)
    adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->verify.row), title);
}

static void
verify_panel_update (VnVerifyPanel *self)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (self->document));

  verify_panel_name (self);
  verify_panel_show_action (&self->install);
  verify_panel_show_action (&self->verify);
  gtk_widget_set_visible (GTK_WIDGET (self->install.row), self->install.job != NULL || verify_panel_get_missing (self) != NULL);
  gtk_widget_set_sensitive (GTK_WIDGET (self->verify.start), result != NULL &&
                            vn_bench_get_job (VN_BENCH (self->document)) == NULL &&
                                                             self->install.job == NULL);
}

static void
verify_panel_job_changed (VnVerifyPanel *self)
{
  VnJob *job = vn_bench_get_job (VN_BENCH (self->document));

  verify_panel_watch (&self->verify, vn_job_is (job, VN_JOB_VERIFY) ? job : NULL);
  verify_panel_watch (&self->install, vn_bench_get_install_job (VN_BENCH (self->document)));
  verify_panel_update (self);
}

static void
verify_panel_result_changed (VnVerifyPanel *self)
{
  g_clear_pointer (&self->verify.failure, g_free);
  verify_panel_fill (self);
  verify_panel_update (self);
}

/* It stays to be read, as it says what to do. */
static void
verify_panel_failed (VnVerifyPanel  *self,
                     const VnNotice *notice)
{
  Action *action = self->install.job != NULL && vn_bench_get_install_job (VN_BENCH (self->document)) == NULL
                   ? &self->install : &self->verify;

  if (action->job == NULL)
    return;
  g_free (action->failure);
  action->failure = g_strdup (notice->error->message);
}

static void
verify_panel_start (VnVerifyPanel *self)
{
  g_autoptr(GError) error = NULL;

  if (!vn_bench_verify (VN_BENCH (self->document), &error))
    vn_bench_report_error (VN_BENCH (self->document), vn_job_id_get_failure (VN_JOB_VERIFY), error);
}

static void
verify_panel_cancel (VnVerifyPanel *self)
{
  vn_bench_cancel (VN_BENCH (self->document));
}

static void
verify_panel_install (gpointer data)
{
  VnVerifyPanel *self = data;
  const VnTargetRuntime *missing = verify_panel_get_missing (self);
  g_autoptr(GError) error = NULL;

  if (missing != NULL && !vn_bench_install_runtime (VN_BENCH (self->document), missing, &error))
    vn_bench_report_error (VN_BENCH (self->document), vn_job_id_get_failure (VN_JOB_ORT_INSTALL), error);
}

static void
verify_panel_ask_install (VnVerifyPanel *self)
{
  const VnTargetRuntime *missing = verify_panel_get_missing (self);
  g_autofree char *folder = missing != NULL ? vn_verify_dup_environment (missing) : NULL;

  if (missing != NULL)
    vn_ask_install (GTK_WIDGET (self), missing, folder, verify_panel_install, self);
}

static void
verify_panel_cancel_install (VnVerifyPanel *self)
{
  vn_bench_cancel_install (VN_BENCH (self->document));
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
  g_signal_connect_object (document, "work-changed", G_CALLBACK (verify_panel_job_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::run", G_CALLBACK (verify_panel_result_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notice::failed", G_CALLBACK (verify_panel_failed), self, G_CONNECT_SWAPPED);
  verify_panel_job_changed (self);
  verify_panel_result_changed (self);
}

/* ---- parts ---- */

static void
verify_panel_make_action (VnVerifyPanel *self,
                          Action        *action,
                          const char    *title,
                          const char    *usual,
                          const char    *button)
{
  GtkWidget *row = adw_action_row_new (), *parts[3];

  *action = (Action) { .row = ADW_ACTION_ROW (row), .start = GTK_BUTTON (vn_button_new_with_mnemonic (button)),
                       .cancel = GTK_BUTTON (vn_button_new_with_mnemonic (_("_Cancel"))),
                       .progress = GTK_PROGRESS_BAR (gtk_progress_bar_new ()), .usual = usual,
                       .watch = g_signal_group_new (VN_TYPE_JOB) };
  g_signal_group_connect_swapped (action->watch, "notify::progress", G_CALLBACK (verify_panel_show_progress), action);
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle_lines (action->row, 0);
  gtk_accessible_update_property (GTK_ACCESSIBLE (action->progress), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  gtk_widget_set_size_request (GTK_WIDGET (action->progress), 120, -1);
  parts[0] = GTK_WIDGET (action->progress);
  parts[1] = GTK_WIDGET (action->start);
  parts[2] = GTK_WIDGET (action->cancel);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      adw_action_row_add_suffix (action->row, parts[i]);
      gtk_widget_set_valign (parts[i], GTK_ALIGN_CENTER);
    }
  gtk_list_box_append (self->list, row);
}

static void
verify_panel_clear_action (Action *action)
{
  g_clear_object (&action->watch);
  g_clear_object (&action->job);
  g_clear_pointer (&action->failure, g_free);
}

static void
vn_verify_panel_dispose (GObject *object)
{
  VnVerifyPanel *self = VN_VERIFY_PANEL (object);

  verify_panel_clear_action (&self->install);
  verify_panel_clear_action (&self->verify);
  g_clear_object (&self->document);
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
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("In the Runtime"), -1);
  verify_panel_make_action (self, &self->install, _("ONNX Runtime was not found"),
                            _("Without it, latency and outputs there are estimates. It can be installed for this "
                              "program alone"),
                            _("_Install…"));
  verify_panel_make_action (self, &self->verify, _("Verify in ONNX Runtime"),
                            _("Runs the export in the runtime to check whether it loads, how well its outputs agree, "
                              "and how long it takes"), _("_Verify"));
  g_signal_connect_swapped (self->install.start, "clicked", G_CALLBACK (verify_panel_ask_install), self);
  g_signal_connect_swapped (self->install.cancel, "clicked", G_CALLBACK (verify_panel_cancel_install), self);
  g_signal_connect_swapped (self->verify.start, "clicked", G_CALLBACK (verify_panel_start), self);
  g_signal_connect_swapped (self->verify.cancel, "clicked", G_CALLBACK (verify_panel_cancel), self);
  adw_bin_set_child (ADW_BIN (self), vn_section_new (_("In the Runtime"), NULL, GTK_WIDGET (self->list)));
}
