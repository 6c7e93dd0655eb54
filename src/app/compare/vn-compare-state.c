/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A card that is there while something is read or measured, or when that has failed: a size that does not fit is the usual reason
 * why a file cannot be measured, and can be changed where that is told. */
#include "vn-compare-state.h"

#include "vn-i18n.h"
#include "vn-input-sizes.h"

struct _VnCompareState
{
  AdwBin           parent_instance;

  VnCompareSource *source;        /* nullable */
  GtkBox          *card;
  GtkLabel        *label;
  GtkProgressBar  *progress;
  GtkWidget       *cancel, *again;
  GtkWidget       *sizes;         /* nullable: a bin with those of inputs that the model leaves open */
  guint            progress_timeout;
};

G_DEFINE_FINAL_TYPE (VnCompareState, vn_compare_state, ADW_TYPE_BIN)

static gboolean
compare_state_show_progress (gpointer data)
{
  VnCompareState *self = data;
  VnJob *job = self->source != NULL ? self->source->job : NULL;
  g_autofree char *stage = job != NULL ? vn_job_dup_stage (job) : NULL;

  gtk_label_set_label (self->label, stage != NULL ? stage : "");
  gtk_progress_bar_set_fraction (self->progress, job != NULL ? vn_job_get_progress (job) : 0);
  return G_SOURCE_CONTINUE;
}

static void
compare_state_measure_again (VnCompareState *self)
{
  if (self->source != NULL)
    vn_compare_source_measure_again (self->source);
}

static void
compare_state_data_changed (VnCompareState *self)
{
  if (gtk_widget_get_visible (self->again))
    compare_state_measure_again (self);
}

/* Only when they are needed: a window has few that fail. */
static void
compare_state_make_sizes (VnCompareState *self,
                          VnDocument     *document)
{
  GtkWidget *sizes = g_object_new (VN_TYPE_INPUT_SIZES, NULL);

  self->sizes = adw_bin_new ();
  adw_bin_set_child (ADW_BIN (self->sizes), sizes);
  gtk_box_append (self->card, self->sizes);
  vn_input_sizes_set_document (VN_INPUT_SIZES (sizes), document);
  g_signal_connect_object (document, "changed::data", G_CALLBACK (compare_state_data_changed), self, G_CONNECT_SWAPPED);
}

/**
 * vn_compare_state_update:
 * @source: (nullable): that the side shows; it may have changed
 *
 * Shows what goes on for @source, or why that failed; nothing, if neither is so.
 */
void
vn_compare_state_update (VnCompareState  *self,
                         VnCompareSource *source)
{
  gboolean busy = source != NULL && source->job != NULL;
  const GError *error = source != NULL && !busy ? source->error : NULL;
  gboolean failed;

  g_return_if_fail (VN_IS_COMPARE_STATE (self));

  g_set_object (&self->source, source);
  failed = source != NULL && vn_compare_source_may_measure_again (source);
  gtk_widget_set_visible (GTK_WIDGET (self), busy || error != NULL);
  gtk_widget_set_visible (GTK_WIDGET (self->progress), busy);
  gtk_widget_set_visible (self->cancel, busy);
  gtk_widget_set_visible (self->again, failed);
  if (failed && self->sizes == NULL)
    compare_state_make_sizes (self, source->document);
  if (self->sizes != NULL)
    gtk_widget_set_visible (self->sizes, failed);
  if (error != NULL)
    gtk_label_set_label (self->label, error->message);
  if (busy && self->progress_timeout == 0)
    self->progress_timeout = g_timeout_add (100, compare_state_show_progress, self);
  else if (!busy)
    g_clear_handle_id (&self->progress_timeout, g_source_remove);
  if (busy)
    compare_state_show_progress (self);
}

static void
compare_state_cancel (VnCompareState *self)
{
  if (self->source != NULL)
    vn_compare_source_cancel (self->source);
}

static void
vn_compare_state_dispose (GObject *object)
{
  VnCompareState *self = VN_COMPARE_STATE (object);

  g_clear_handle_id (&self->progress_timeout, g_source_remove);
  g_clear_object (&self->source);
  G_OBJECT_CLASS (vn_compare_state_parent_class)->dispose (object);
}

static void
vn_compare_state_class_init (VnCompareStateClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_compare_state_dispose;
}

static void
vn_compare_state_init (VnCompareState *self)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10);

  self->card = GTK_BOX (gtk_box_new (GTK_ORIENTATION_VERTICAL, 10));
  self->label = GTK_LABEL (gtk_label_new (NULL));
  self->progress = GTK_PROGRESS_BAR (gtk_progress_bar_new ());
  self->cancel = gtk_button_new_with_label (_("Cancel"));
  self->again = gtk_button_new_with_label (_("Measure Again"));
  gtk_label_set_wrap (self->label, TRUE);
  gtk_label_set_xalign (self->label, 0);
  gtk_label_set_max_width_chars (self->label, 48);
  gtk_widget_set_valign (GTK_WIDGET (self->progress), GTK_ALIGN_CENTER);
  gtk_widget_set_valign (self->again, GTK_ALIGN_CENTER);
  gtk_widget_set_size_request (GTK_WIDGET (self->progress), 120, -1);
  g_signal_connect_swapped (self->cancel, "clicked", G_CALLBACK (compare_state_cancel), self);
  g_signal_connect_swapped (self->again, "clicked", G_CALLBACK (compare_state_measure_again), self);
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (self->label));
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (self->progress));
  gtk_box_append (GTK_BOX (line), self->cancel);
  gtk_box_append (GTK_BOX (line), self->again);
  gtk_box_append (self->card, line);
  adw_bin_set_child (ADW_BIN (self), GTK_WIDGET (self->card));
  gtk_widget_add_css_class (GTK_WIDGET (self), "floating");
  gtk_widget_add_css_class (GTK_WIDGET (self), "compare-state");
  gtk_widget_set_halign (GTK_WIDGET (self), GTK_ALIGN_START);
  gtk_widget_set_valign (GTK_WIDGET (self), GTK_ALIGN_END);
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
}
