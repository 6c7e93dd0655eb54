/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Improving with a time limit: settings, progress, what each step gained and cost. */
#include "vn-improve-panel.h"

#include "vn-button-names.h"
#include "vn-format.h"
#include "vn-gain.h"
#include "vn-i18n.h"
#include "vn-rows.h"
#include "vn-settings.h"
#include "vn-thresholds.h"

#include <math.h>

#define LEAST_SECONDS 10
#define MOST_SECONDS  3600

struct _VnImprovePanel
{
  AdwBin          parent_instance;

  VnDocument     *document;
  VnJob          *job;           /* that improves, or NULL */
  guint           tick;          /* once a second while it does: the time left */

  GtkWidget      *settings, *running, *start;
  GtkSpinButton  *seconds;
  GtkSwitch      *accuracy_first;
  GtkProgressBar *progress;
  GtkLabel       *left;
  GtkListBox     *tries;
  GtkWidget      *tries_section;
};

G_DEFINE_FINAL_TYPE (VnImprovePanel, vn_improve_panel, ADW_TYPE_BIN)

/* ---- rows ---- */

/* What a step costs in size, where that is worth telling. */
static char *
improve_panel_format_growth (gint64 bytes)
{
  g_autofree char *size = vn_format_bytes ((guint64) ABS (bytes));

  return ABS (bytes) < 1024 ? g_strdup ("") : g_strdup_printf (" · %s%s", bytes > 0 ? "+" : "\u2212", size);
}

static GtkWidget *
improve_panel_make_row (const char *title,
                        const char *subtitle,
                        const char *icon,
                        const char *style,
                        double      gain_db)
{
  GtkWidget *row = adw_action_row_new (), *image = gtk_image_new_from_icon_name (icon);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  gtk_widget_add_css_class (image, style);
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), image);
  if (!isnan (gain_db))
    {
      g_autofree char *text = vn_format_signed_db (gain_db);
      GtkWidget *gain = gtk_label_new (text);

      gtk_widget_add_css_class (gain, "numeric");
      gtk_widget_add_css_class (gain, gain_db > VN_LEAST_GAIN_DB ? "heading" : "dim-label");
      adw_action_row_add_suffix (ADW_ACTION_ROW (row), gain);
    }
  return row;
}

/* ---- what improving tried ---- */

static char *
improve_panel_describe_try (const VnImproveTry *entry)
{
  g_autofree char *text = vn_improve_try_dup_outcome (entry), *growth = improve_panel_format_growth (entry->bytes);

  return vn_improve_try_is_kept (entry) ? g_strconcat (text, growth, NULL) : g_steal_pointer (&text);
}

static GtkWidget *
improve_panel_make_try (const VnImproveTry *entry)
{
  g_autofree char *subtitle = improve_panel_describe_try (entry);
  const char *title = _(entry->title);
  g_autofree char *first = g_utf8_strup (title, (gssize) (g_utf8_next_char (title) - title));
  g_autofree char *capital = g_strconcat (first, g_utf8_next_char (title), NULL);
  gboolean kept = vn_improve_try_is_kept (entry);

  return improve_panel_make_row (capital, subtitle, kept ? "emblem-ok-symbolic" : "list-remove-symbolic",
                                 kept ? "success" : "dim-label", entry->after_db - entry->before_db);
}

static void
improve_panel_fill_tries (VnImprovePanel *self)
{
  GPtrArray *tries = vn_bench_get_tries (VN_BENCH (self->document));
  guint n_in_vain = 0;
  g_autofree char *title = NULL;
  GtkWidget *in_vain;

  vn_list_box_clear (self->tries);
  gtk_widget_set_visible (self->tries_section, tries != NULL);
  if (tries == NULL)
    return;
  in_vain = adw_expander_row_new ();
  for (guint i = 0; i < tries->len; i++)
    {
      const VnImproveTry *entry = g_ptr_array_index (tries, i);

      if (vn_improve_try_is_kept (entry))
        gtk_list_box_append (self->tries, improve_panel_make_try (entry));
      else if (++n_in_vain > 0)
        adw_expander_row_add_row (ADW_EXPANDER_ROW (in_vain), improve_panel_make_try (entry));
    }
  if (n_in_vain == tries->len)
    gtk_list_box_append (self->tries, improve_panel_make_row (_("No fix lowers the error"), _("The recipe stays as it is"),
                                                              "dialog-information-symbolic", "dim-label", NAN));
  title = g_strdup_printf (ngettext ("%u step not kept", "%u steps not kept", n_in_vain), n_in_vain);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (in_vain), title);
  gtk_list_box_append (self->tries, in_vain);
  gtk_widget_set_visible (in_vain, n_in_vain > 0);
}

/* ---- the job ---- */

static void
improve_panel_update_progress (VnImprovePanel *self)
{
  g_autofree char *stage = vn_job_dup_stage (self->job), *detail = vn_job_dup_detail (self->job);
  double seconds = vn_bench_get_improve_seconds (VN_BENCH (self->document));
  g_autofree char *duration = vn_format_duration (MAX (seconds, 0));
  g_autofree char *left = seconds >= 1 ? g_strdup_printf (_("at most %s left"), duration)
                          : g_strdup (_("finishing the current step"));
  g_autofree char *text = g_strjoin (" · ", stage, left, NULL);

  gtk_progress_bar_set_fraction (self->progress, CLAMP (1 - seconds / gtk_spin_button_get_value (self->seconds), 0, 1));
  gtk_label_set_label (self->left, text);
}

static gboolean
improve_panel_tick (gpointer data)
{
  improve_panel_update_progress (data);
  return G_SOURCE_CONTINUE;
}

static void
improve_panel_job_changed (VnImprovePanel *self)
{
  VnJob *job = vn_bench_get_job (VN_BENCH (self->document));
  gboolean improves = vn_job_is (job, VN_JOB_IMPROVE);

  if (self->job != NULL)
    g_signal_handlers_disconnect_by_data (self->job, self);
  if (!improves)
    job = NULL;
  g_set_object (&self->job, job);
  g_clear_handle_id (&self->tick, g_source_remove);
  if (improves)
    {
      self->tick = g_timeout_add_seconds (1, improve_panel_tick, self);
      g_signal_connect_swapped (job, "notify::progress", G_CALLBACK (improve_panel_update_progress), self);
      improve_panel_update_progress (self);
    }
  gtk_widget_set_visible (self->running, improves);
  gtk_widget_set_visible (self->settings, !improves);
  gtk_widget_set_sensitive (self->start, vn_bench_get_job (VN_BENCH (self->document)) == NULL &&
                            vn_bench_get_data (VN_BENCH (self->document)) != NULL);
}

static void
improve_panel_start (VnImprovePanel *self)
{
  g_autoptr(GError) error = NULL;

  if (!vn_bench_improve (VN_BENCH (self->document), gtk_spin_button_get_value (self->seconds),
                            gtk_switch_get_active (self->accuracy_first), &error))
    vn_bench_report_error (VN_BENCH (self->document), vn_job_id_get_failure (VN_JOB_IMPROVE), error);
}

static void
improve_panel_cancel (VnImprovePanel *self)
{
  vn_bench_cancel (VN_BENCH (self->document));
}

/**
 * vn_improve_panel_set_document:
 */
void
vn_improve_panel_set_document (VnImprovePanel *self,
                               VnDocument     *document)
{
  g_return_if_fail (VN_IS_IMPROVE_PANEL (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  g_set_object (&self->document, document);
  g_signal_connect_object (document, "work-changed", G_CALLBACK (improve_panel_job_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::data", G_CALLBACK (improve_panel_job_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::run", G_CALLBACK (improve_panel_fill_tries), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::recipe", G_CALLBACK (improve_panel_fill_tries), self, G_CONNECT_SWAPPED);
  improve_panel_job_changed (self);
  improve_panel_fill_tries (self);
}

/**
 * vn_improve_panel_set_suggested:
 * @suggested: whether it is the next thing to do
 */
void
vn_improve_panel_set_suggested (VnImprovePanel *self,
                                gboolean        suggested)
{
  g_return_if_fail (VN_IS_IMPROVE_PANEL (self));

  if (suggested)
    gtk_widget_add_css_class (self->start, "suggested-action");
  else
    gtk_widget_remove_css_class (self->start, "suggested-action");
}

/* ---- parts ---- */

static GtkListBox *
improve_panel_make_list (const char *label)
{
  GtkWidget *list = gtk_list_box_new ();

  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (list, "boxed-list");
  gtk_accessible_update_property (GTK_ACCESSIBLE (list), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  return GTK_LIST_BOX (list);
}

static GtkWidget *
improve_panel_make_setting (const char *title,
                            const char *subtitle,
                            GtkWidget  *control)
{
  GtkWidget *row = adw_action_row_new ();

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_preferences_row_set_use_underline (ADW_PREFERENCES_ROW (row), TRUE);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  gtk_widget_set_valign (control, GTK_ALIGN_CENTER);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), control);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), control);
  return row;
}

static GtkWidget *
improve_panel_make_settings (VnImprovePanel *self)
{
  GtkListBox *list = improve_panel_make_list (_("Improve Automatically"));

  self->seconds = GTK_SPIN_BUTTON (gtk_spin_button_new_with_range (LEAST_SECONDS, MOST_SECONDS, 10));
  gtk_spin_button_set_value (self->seconds, vn_settings_get_int ("improve-seconds", VN_IMPROVE_SECONDS));
  self->accuracy_first = GTK_SWITCH (gtk_switch_new ());
  self->start = vn_button_new_with_mnemonic (_("_Improve Automatically"));
  gtk_widget_set_valign (self->start, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (self->start, "clicked", G_CALLBACK (improve_panel_start), self);
  gtk_list_box_append (list, improve_panel_make_setting (_("Lower the Error"),
                                                         _("Tries fixes one by one and keeps those that improve the outputs"),
                                                         self->start));
  gtk_list_box_append (list, improve_panel_make_setting (_("_Time Limit"), _("In seconds; a step that would exceed it "
                                                                             "is not started"),
                                                         GTK_WIDGET (self->seconds)));
  gtk_list_box_append (list, improve_panel_make_setting (_("_Accuracy First"), _("The export may take more than 1.25 times "
                                                                                 "as long in ONNX Runtime and keep less "
                                                                                 "than half of its integer MACs"),
                                                         GTK_WIDGET (self->accuracy_first)));
  return GTK_WIDGET (list);
}

static GtkWidget *
improve_panel_make_running (VnImprovePanel *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12), *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *cancel = vn_button_new_with_mnemonic (_("_Cancel"));

  self->left = GTK_LABEL (vn_label_new (NULL, "numeric"));
  self->progress = GTK_PROGRESS_BAR (gtk_progress_bar_new ());
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->progress), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Improve Automatically"), -1);
  gtk_widget_set_hexpand (texts, TRUE);
  gtk_box_append (GTK_BOX (texts), GTK_WIDGET (self->left));
  gtk_box_append (GTK_BOX (texts), GTK_WIDGET (self->progress));
  gtk_widget_set_valign (cancel, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (cancel, "clicked", G_CALLBACK (improve_panel_cancel), self);
  gtk_box_append (GTK_BOX (box), texts);
  gtk_box_append (GTK_BOX (box), cancel);
  gtk_widget_add_css_class (box, "card");
  gtk_widget_add_css_class (box, "error-card");
  return box;
}

static void
vn_improve_panel_dispose (GObject *object)
{
  VnImprovePanel *self = VN_IMPROVE_PANEL (object);

  g_clear_handle_id (&self->tick, g_source_remove);
  if (self->job != NULL)
    g_signal_handlers_disconnect_by_data (self->job, self);
  g_clear_object (&self->job);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (vn_improve_panel_parent_class)->dispose (object);
}

static void
vn_improve_panel_class_init (VnImprovePanelClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_improve_panel_dispose;
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
vn_improve_panel_init (VnImprovePanel *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 20);

  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Improve Automatically"), -1);
  self->settings = improve_panel_make_settings (self);
  self->running = improve_panel_make_running (self);
  self->tries = improve_panel_make_list (_("Results of Automatic Improvement"));
  self->tries_section = vn_section_new (_("Results of Automatic Improvement"), NULL, GTK_WIDGET (self->tries));
  gtk_box_append (GTK_BOX (box), self->settings);
  gtk_box_append (GTK_BOX (box), self->running);
  gtk_box_append (GTK_BOX (box), self->tries_section);
  adw_bin_set_child (ADW_BIN (self), box);
}
