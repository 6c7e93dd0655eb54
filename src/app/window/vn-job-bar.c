/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bar at the lower edge of the window: progress of the running job, what was done, and the list of problems. */
#include "vn-job-bar.h"

#include "vn-button-names.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-node-item.h"
#include "vn-rows.h"

#define REVEAL_DELAY_MS 300
#define ANNOUNCE_SECONDS 8
#define MAX_NOTES 500

struct _VnJobBar
{
  AdwBin          parent_instance;

  VnDocument     *document;
  VnJob          *job;          /* the one that is shown */
  guint           reveal_timeout, hide_timeout;

  GtkRevealer    *revealer;
  GtkImage       *icon;
  GtkLabel       *title, *detail, *left, *problems_label;
  GtkProgressBar *progress;
  GtkWidget      *cancel, *problems_button;
  GtkPopover     *problems_popover;
  GtkListBox     *problems;
};

G_DEFINE_FINAL_TYPE (VnJobBar, vn_job_bar, ADW_TYPE_BIN)

/* The bar stays while it has anything to tell. */
static void
job_bar_update_revealed (VnJobBar *self)
{
  gboolean busy = self->job != NULL && self->reveal_timeout == 0;

  gtk_revealer_set_reveal_child (self->revealer, busy || self->hide_timeout != 0 ||
                                                 gtk_widget_get_visible (self->problems_button));
}

static void
job_bar_show_parts (VnJobBar *self,
                    gboolean  running,
                    gboolean  done)
{
  gtk_widget_set_visible (GTK_WIDGET (self->progress), running);
  gtk_widget_set_visible (self->cancel, running);
  gtk_widget_set_visible (GTK_WIDGET (self->detail), running);
  gtk_widget_set_visible (GTK_WIDGET (self->left), running || done);
  gtk_widget_set_visible (GTK_WIDGET (self->icon), done);
  gtk_widget_set_visible (GTK_WIDGET (self->title), running || done);
}

static void
job_bar_update_progress (VnJobBar *self)
{
  g_autofree char *stage = vn_job_dup_stage (self->job);
  g_autofree char *detail = vn_job_dup_detail (self->job);
  g_autofree char *duration = NULL, *left = NULL;
  double seconds = vn_job_get_seconds_left (self->job);

  if (self->reveal_timeout != 0)   /* what the job before it came to may still be told */
    return;
  gtk_progress_bar_set_fraction (self->progress, vn_job_get_progress (self->job));
  gtk_label_set_label (self->title, stage);
  gtk_label_set_label (self->detail, detail != NULL ? detail : "");
  if (seconds >= 1)
    {
      duration = vn_format_duration (seconds);
      left = g_strdup_printf (_("%s left"), duration);
    }
  gtk_label_set_label (self->left, left != NULL ? left : "");
}

static gboolean
job_bar_reveal (gpointer data)
{
  VnJobBar *self = data;

  self->reveal_timeout = 0;
  g_clear_handle_id (&self->hide_timeout, g_source_remove);
  job_bar_show_parts (self, TRUE, FALSE);
  job_bar_update_progress (self);
  job_bar_update_revealed (self);
  return G_SOURCE_REMOVE;
}

static void
job_changed (VnJobBar *self)
{
  VnJob *job = vn_bench_get_job (VN_BENCH (self->document));

  /* what the user waits for comes first; where error starts is looked for beside it, and weights are looked at */
  if (job == NULL)
    job = vn_bench_get_origins_job (VN_BENCH (self->document));
  if (job == NULL)
    job = vn_bench_get_weights_job (VN_BENCH (self->document));
  if (job != NULL && job == self->job)
    return;
  if (self->job != NULL)
    g_signal_handlers_disconnect_by_data (self->job, self);
  g_clear_handle_id (&self->reveal_timeout, g_source_remove);
  g_set_object (&self->job, job);
  if (job != NULL)
    {
      g_signal_connect_swapped (job, "notify::progress", G_CALLBACK (job_bar_update_progress), self);
      self->reveal_timeout = g_timeout_add (REVEAL_DELAY_MS, job_bar_reveal, self);
    }
  else if (self->hide_timeout == 0)
    job_bar_show_parts (self, FALSE, FALSE);
  job_bar_update_revealed (self);
}

static gboolean
job_bar_forget (gpointer data)
{
  VnJobBar *self = data;

  self->hide_timeout = 0;
  if (self->job == NULL)
    job_bar_show_parts (self, FALSE, FALSE);
  job_bar_update_revealed (self);
  return G_SOURCE_REMOVE;
}

/**
 * vn_job_bar_announce:
 * @text: what has been done; stays for a few seconds
 */
void
vn_job_bar_announce (VnJobBar   *self,
                     const char *text)
{
  VnRun *result;
  g_autofree char *left = NULL;

  g_return_if_fail (VN_IS_JOB_BAR (self));

  result = vn_bench_get_shown (VN_BENCH (self->document));
  gtk_label_set_label (self->title, text);
  if (result != NULL)
    {
      g_autofree char *seconds = vn_format_duration (vn_run_get_seconds (result, NULL));

      left = g_strdup_printf (ngettext ("%s · %u sample", "%s · %u samples", result->n_calibration), seconds,
                              result->n_calibration);
    }
  gtk_label_set_label (self->left, left != NULL ? left : "");
  job_bar_show_parts (self, FALSE, TRUE);
  g_clear_handle_id (&self->hide_timeout, g_source_remove);
  self->hide_timeout = g_timeout_add_seconds (ANNOUNCE_SECONDS, job_bar_forget, self);
  job_bar_update_revealed (self);
}

static const char *
job_bar_get_note_icon (const VnNote *note)
{
  if (note->level == VN_NOTE_PROBLEM)
    return "dialog-error-symbolic";
  return note->level == VN_NOTE_WARNING ? "dialog-warning-symbolic" : "dialog-information-symbolic";
}

static GtkWidget *
job_bar_make_note_row (const VnNote *note)
{
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *icon = gtk_image_new_from_icon_name (job_bar_get_note_icon (note));

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), note->text);
  if (note->subject != NULL)
    adw_action_row_set_subtitle (ADW_ACTION_ROW (row), note->subject);
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), icon);
  return row;
}

/* A finding about a node leads to it. */
static void
job_bar_link_to_node (VnJobBar     *self,
                      GtkWidget    *row,
                      const VnNote *note)
{
  GListModel *nodes = vn_document_get_nodes (self->document);
  guint n = g_list_model_get_n_items (nodes);

  for (guint i = 0; note->subject != NULL && i < n; i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (nodes, i);

      if (!g_str_equal (item->label, note->subject))
        continue;
      gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
      gtk_actionable_set_action_name (GTK_ACTIONABLE (row), "win.select-node");
      gtk_actionable_set_action_target (GTK_ACTIONABLE (row), "u", i);
      adw_action_row_add_suffix (ADW_ACTION_ROW (row), gtk_image_new_from_icon_name ("go-next-symbolic"));
      return;
    }
}

/* A scrolled window asks for the height of lines that are not broken. */
static void
job_bar_fit_problems (VnJobBar *self)
{
  GtkScrolledWindow *window = GTK_SCROLLED_WINDOW (gtk_popover_get_child (self->problems_popover));
  int width, height;

  gtk_widget_get_size_request (GTK_WIDGET (window), &width, NULL);
  gtk_widget_measure (GTK_WIDGET (self->problems), GTK_ORIENTATION_VERTICAL, width, NULL, &height, NULL, NULL);
  gtk_scrolled_window_set_min_content_height (window, MIN (height, gtk_scrolled_window_get_max_content_height (window)));
}

static void
job_bar_fill_problems (VnJobBar *self)
{
  guint n = MIN (vn_bench_get_n_notes (VN_BENCH (self->document)), MAX_NOTES);

  vn_list_box_clear (self->problems);
  for (guint i = 0; i < n; i++)
    {
      const VnNote *note = vn_bench_get_note (VN_BENCH (self->document), i);
      GtkWidget *row = job_bar_make_note_row (note);

      job_bar_link_to_node (self, row, note);
      gtk_list_box_append (self->problems, row);
    }
  job_bar_fit_problems (self);
}

static void
job_bar_notes_changed (VnJobBar *self)
{
  guint n = vn_bench_count_problems (VN_BENCH (self->document));
  g_autofree char *text = g_strdup_printf (ngettext ("%u problem", "%u problems", n), n);

  gtk_label_set_label (self->problems_label, text);
  vn_button_names_set (self->problems_button);
  gtk_widget_set_visible (self->problems_button, n > 0);
  job_bar_update_revealed (self);
}

/**
 * vn_job_bar_set_document:
 */
void
vn_job_bar_set_document (VnJobBar   *self,
                         VnDocument *document)
{
  g_return_if_fail (VN_IS_JOB_BAR (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  g_set_object (&self->document, document);
  g_signal_connect_object (document, "work-changed", G_CALLBACK (job_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "work-changed", G_CALLBACK (job_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::run", G_CALLBACK (job_bar_notes_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::model", G_CALLBACK (job_bar_notes_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::notes", G_CALLBACK (job_bar_notes_changed), self, G_CONNECT_SWAPPED);
  job_bar_notes_changed (self);
}

static void
vn_job_bar_dispose (GObject *object)
{
  VnJobBar *self = VN_JOB_BAR (object);

  g_clear_handle_id (&self->reveal_timeout, g_source_remove);
  g_clear_handle_id (&self->hide_timeout, g_source_remove);
  if (self->job != NULL)
    g_signal_handlers_disconnect_by_data (self->job, self);
  g_clear_object (&self->job);
  g_clear_object (&self->document);
  gtk_widget_dispose_template (GTK_WIDGET (self), VN_TYPE_JOB_BAR);
  G_OBJECT_CLASS (vn_job_bar_parent_class)->dispose (object);
}

static void
vn_job_bar_class_init (VnJobBarClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_job_bar_dispose;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-job-bar.ui");
  gtk_widget_class_bind_template_child (widget_class, VnJobBar, icon);
  gtk_widget_class_bind_template_child (widget_class, VnJobBar, title);
  gtk_widget_class_bind_template_child (widget_class, VnJobBar, detail);
  gtk_widget_class_bind_template_child (widget_class, VnJobBar, left);
  gtk_widget_class_bind_template_child (widget_class, VnJobBar, progress);
  gtk_widget_class_bind_template_child (widget_class, VnJobBar, cancel);
  gtk_widget_class_bind_template_child (widget_class, VnJobBar, problems_button);
  gtk_widget_class_bind_template_child (widget_class, VnJobBar, problems_label);
  gtk_widget_class_bind_template_child (widget_class, VnJobBar, problems_popover);
  gtk_widget_class_bind_template_child (widget_class, VnJobBar, problems);
}

static void
vn_job_bar_init (VnJobBar *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  /* Not bound: GTK 4.8 unparents bound children that are direct ones, and the bin would do it once more. */
  self->revealer = GTK_REVEALER (adw_bin_get_child (ADW_BIN (self)));
  job_bar_show_parts (self, FALSE, FALSE);
  g_signal_connect_swapped (self->problems_popover, "show", G_CALLBACK (job_bar_fill_problems), self);
  g_signal_connect_swapped (self->problems, "row-activated", G_CALLBACK (gtk_popover_popdown),
                            self->problems_popover);
}
