/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mixed precision: what accuracy is paid with, progress, the chart of what can be had, and the point that is selected in it. */
#include "vn-curve-panel.h"

#include "vn-button-names.h"
#include "vn-curve-job.h"
#include "vn-curve-view.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-rows.h"

#include <math.h>

struct _VnCurvePanel
{
  AdwBin          parent_instance;

  VnDocument     *document;
  VnJob          *job;           /* that calculates, or NULL */
  VnCurveCost     usual;         /* of the recipe; another one is offered first when it changes */
  guint           tick;          /* once a second while it does: the time left */
  guint           reveal;        /* idle: the chart has come, and scrolls into view when it has its place */

  GtkDropDown    *cost;
  GtkWidget      *start, *settings, *running, *found, *apply;
  GtkProgressBar *progress;
  GtkLabel       *left, *point, *quality;
  VnCurveView    *view;
};

G_DEFINE_FINAL_TYPE (VnCurvePanel, vn_curve_panel, ADW_TYPE_BIN)

/* ---- the chart ---- */

/* Of the point in force also what the whole run has found. */
static char *
curve_panel_describe (VnCurvePanel       *self,
                      const VnCurvePoint *point,
                      gboolean            in_force)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (self->document));
  g_autofree char *text = vn_curve_point_dup_text (point), *db = NULL;

  if (!in_force)
    return g_steal_pointer (&text);
  if (vn_bench_get_expecting (VN_BENCH (self->document)) != VN_EXPECTING_NOTHING ||
      vn_bench_is_stale (VN_BENCH (self->document)) || result == NULL ||
      result->errors == NULL)
    return g_strdup_printf (_("%s · measuring"), text);
  db = vn_format_db (vn_error_table_get_outputs_sqnr (result->errors));
  return g_strdup_printf (_("%s · active, the run measured %s"), text, db);
}

static void
curve_panel_selected (VnCurvePanel *self)
{
  const VnCurve *curve = self->document != NULL ? vn_bench_get_curve (VN_BENCH (self->document)) : NULL;
  const int in_force = curve != NULL ? vn_bench_find_curve_point (VN_BENCH (self->document)) : -1,
  selected = vn_curve_view_get_selected (self->view);
  const int shown = selected >= 0 ? selected : in_force;
  g_autofree char *text = curve != NULL && shown >= 0
                          ? curve_panel_describe (self, vn_curve_get (curve, (guint) shown), shown == in_force) : NULL;

  gtk_label_set_label (self->point, text != NULL ? text : "");
  gtk_widget_set_sensitive (self->apply, curve != NULL && selected >= 0 && selected != in_force &&
                            vn_bench_get_job (VN_BENCH (self->document)) == NULL);
}

static void
curve_panel_show_quality (VnCurvePanel  *self,
                          const VnCurve *curve)
{
  guint n = 0;
  const double miss = vn_curve_get_worst_miss (curve, &n);
  g_autofree char *text = NULL;

  if (!isnan (miss))
    text = g_strdup_printf (ngettext ("Predictions were off by %.1f dB at the %u validated point, on %u samples.",
                                      "Predictions were off by at most %.1f dB at the %u validated points, on %u samples.", n),
                            miss, n, curve->n_samples);
  gtk_label_set_label (self->quality, text != NULL ? text : "");
  gtk_widget_set_visible (GTK_WIDGET (self->quality), text != NULL);
}

static void
curve_panel_update (VnCurvePanel *self)
{
  VnCurve *curve = vn_bench_get_curve (VN_BENCH (self->document));

  gtk_widget_set_visible (self->found, curve != NULL && self->job == NULL);
  vn_curve_view_set (self->view, curve, (VnCurveCost) MIN (gtk_drop_down_get_selected (self->cost), VN_N_CURVE_COSTS - 1),
                     vn_bench_find_curve_point (VN_BENCH (self->document)));
  if (curve != NULL)
    curve_panel_show_quality (self, curve);
  curve_panel_selected (self);
}

static void
curve_panel_recipe_changed (VnCurvePanel *self)
{
  const VnCurveCost usual = vn_curve_get_usual_cost (vn_bench_get_recipe (VN_BENCH (self->document)));

  if (usual != self->usual && vn_bench_get_curve (VN_BENCH (self->document)) == NULL)
    gtk_drop_down_set_selected (self->cost, usual);
  self->usual = usual;
  curve_panel_update (self);
}

static void
curve_panel_cost_chosen (VnCurvePanel *self)
{
  if (self->document != NULL)
    curve_panel_update (self);
}

static void
curve_panel_apply (VnCurvePanel *self)
{
  const int selected = vn_curve_view_get_selected (self->view);

  if (gtk_widget_get_sensitive (self->apply) && selected >= 0)
    vn_bench_apply_curve_point (VN_BENCH (self->document), (guint) selected);
}

/* ---- the job ---- */

static void
curve_panel_update_progress (VnCurvePanel *self)
{
  g_autofree char *stage = vn_job_dup_stage (self->job), *left = NULL, *text = NULL;
  const double seconds = vn_job_get_seconds_left (self->job);

  if (seconds >= 1)
    {
      g_autofree char *duration = vn_format_duration (seconds);

      left = g_strdup_printf (_("%s left"), duration);
    }
  text = g_strjoin (" · ", stage, left, NULL);
  gtk_progress_bar_set_fraction (self->progress, vn_job_get_progress (self->job));
  gtk_label_set_label (self->left, text);
}

static gboolean
curve_panel_tick (gpointer data)
{
  curve_panel_update_progress (data);
  return G_SOURCE_CONTINUE;
}

static gboolean
curve_panel_reveal (gpointer data)
{
  VnCurvePanel *self = data;

  self->reveal = 0;
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    gtk_widget_grab_focus (GTK_WIDGET (self));
  return G_SOURCE_REMOVE;
}

static void
curve_panel_job_changed (VnCurvePanel *self)
{
  VnJob *job = vn_bench_get_job (VN_BENCH (self->document));
  const gboolean runs = vn_job_is (job, VN_JOB_CURVE), ended = self->job != NULL && !runs;

  if (self->job != NULL)
    g_signal_handlers_disconnect_by_data (self->job, self);
  if (!runs)
    job = NULL;
  g_set_object (&self->job, job);
  g_clear_handle_id (&self->tick, g_source_remove);
  if (runs)
    {
      self->tick = g_timeout_add_seconds (1, curve_panel_tick, self);
      g_signal_connect_swapped (job, "notify::progress", G_CALLBACK (curve_panel_update_progress), self);
      curve_panel_update_progress (self);
    }
  gtk_widget_set_visible (self->running, runs);
  gtk_widget_set_visible (self->settings, !runs);
  gtk_widget_set_sensitive (self->start, vn_bench_get_job (VN_BENCH (self->document)) == NULL &&
                            vn_bench_get_data (VN_BENCH (self->document)) != NULL);
  curve_panel_update (self);
  if (ended && self->reveal == 0)
    self->reveal = g_idle_add_full (G_PRIORITY_LOW, curve_panel_reveal, self, NULL);
}

static void
curve_panel_start (VnCurvePanel *self)
{
  g_autoptr(GError) error = NULL;

  if (!vn_bench_measure_curve (VN_BENCH (self->document),
                               (VnCurveCost) MIN (gtk_drop_down_get_selected (self->cost), VN_N_CURVE_COSTS - 1), &error))
    vn_bench_report_error (VN_BENCH (self->document), vn_job_id_get_failure (VN_JOB_CURVE), error);
}

static void
curve_panel_cancel (VnCurvePanel *self)
{
  vn_bench_cancel (VN_BENCH (self->document));
}

/* What the curve was calculated for is what is shown first. */
static void
curve_panel_result_changed (VnCurvePanel *self)
{
  const VnCurve *curve = vn_bench_get_curve (VN_BENCH (self->document));

  if (curve != NULL && gtk_widget_get_visible (self->found) == FALSE)
    gtk_drop_down_set_selected (self->cost, curve->cost);
  curve_panel_update (self);
}

/**
 * vn_curve_panel_set_document:
 */
void
vn_curve_panel_set_document (VnCurvePanel *self,
                             VnDocument   *document)
{
  g_return_if_fail (VN_IS_CURVE_PANEL (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  g_set_object (&self->document, document);
  g_signal_connect_object (document, "work-changed", G_CALLBACK (curve_panel_job_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::data", G_CALLBACK (curve_panel_job_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::run", G_CALLBACK (curve_panel_result_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::recipe", G_CALLBACK (curve_panel_recipe_changed), self, G_CONNECT_SWAPPED);
  curve_panel_recipe_changed (self);
  curve_panel_job_changed (self);
}

/* ---- parts ---- */

static GtkWidget *
curve_panel_make_cost (VnCurvePanel *self)
{
  GtkStringList *costs = gtk_string_list_new (NULL);
  GtkWidget *row = adw_action_row_new ();

  for (VnCurveCost cost = 0; cost < VN_N_CURVE_COSTS; cost++)
    gtk_string_list_append (costs, vn_curve_cost_get_title (cost));
  self->cost = GTK_DROP_DOWN (gtk_drop_down_new (G_LIST_MODEL (costs), NULL));
  self->usual = VN_CURVE_COST_FLOAT;
  gtk_drop_down_set_selected (self->cost, self->usual);
  gtk_widget_set_valign (GTK_WIDGET (self->cost), GTK_ALIGN_CENTER);
  g_signal_connect_swapped (self->cost, "notify::selected", G_CALLBACK (curve_panel_cost_chosen), self);
  adw_preferences_row_set_use_underline (ADW_PREFERENCES_ROW (row), TRUE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _("Cost Ty_pe"));
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), GTK_WIDGET (self->cost));
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), GTK_WIDGET (self->cost));
  return row;
}

static GtkWidget *
curve_panel_make_settings (VnCurvePanel *self)
{
  GtkWidget *list = gtk_list_box_new (), *row = adw_action_row_new ();

  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (list, "boxed-list");
  gtk_accessible_update_property (GTK_ACCESSIBLE (list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Mixed Precision"), -1);
  self->start = vn_button_new_with_mnemonic (_("_Calculate"));
  gtk_widget_set_valign (self->start, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (self->start, "clicked", G_CALLBACK (curve_panel_start), self);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _("Choose the Precision of Each Tensor"));
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), _("From smallest and fastest to as accurate as the float model; "
                                                       "the recipe is unchanged until a point is applied"));
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), self->start);
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), self->start);
  gtk_list_box_append (GTK_LIST_BOX (list), row);
  gtk_list_box_append (GTK_LIST_BOX (list), curve_panel_make_cost (self));
  return list;
}

static GtkWidget *
curve_panel_make_running (VnCurvePanel *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12), *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *cancel = vn_button_new_with_mnemonic (_("_Cancel"));

  self->left = GTK_LABEL (vn_label_new (NULL, "numeric"));
  self->progress = GTK_PROGRESS_BAR (gtk_progress_bar_new ());
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->progress), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Mixed Precision"), -1);
  gtk_widget_set_hexpand (texts, TRUE);
  gtk_box_append (GTK_BOX (texts), GTK_WIDGET (self->left));
  gtk_box_append (GTK_BOX (texts), GTK_WIDGET (self->progress));
  gtk_widget_set_valign (cancel, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (cancel, "clicked", G_CALLBACK (curve_panel_cancel), self);
  gtk_box_append (GTK_BOX (box), texts);
  gtk_box_append (GTK_BOX (box), cancel);
  gtk_widget_add_css_class (box, "card");
  gtk_widget_add_css_class (box, "error-card");
  return box;
}

static GtkWidget *
curve_panel_make_found (VnCurvePanel *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6), *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);

  self->view = VN_CURVE_VIEW (vn_curve_view_new ());
  self->point = GTK_LABEL (vn_label_new (NULL, "numeric"));
  self->quality = GTK_LABEL (vn_label_new (NULL, "dim-label"));
  gtk_widget_add_css_class (GTK_WIDGET (self->quality), "caption");
  self->apply = vn_button_new_with_mnemonic (_("_Apply"));
  gtk_widget_set_tooltip_text (self->apply, _("Apply the selected point to the recipe and measure it"));
  gtk_widget_set_valign (self->apply, GTK_ALIGN_CENTER);
  gtk_widget_set_hexpand (GTK_WIDGET (self->point), TRUE);
  g_signal_connect_swapped (self->view, "selected", G_CALLBACK (curve_panel_selected), self);
  g_signal_connect_swapped (self->view, "activated", G_CALLBACK (curve_panel_apply), self);
  g_signal_connect_swapped (self->apply, "clicked", G_CALLBACK (curve_panel_apply), self);
  gtk_box_append (GTK_BOX (line), GTK_WIDGET (self->point));
  gtk_box_append (GTK_BOX (line), self->apply);
  gtk_box_append (GTK_BOX (box), line);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->view));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->quality));
  gtk_widget_add_css_class (box, "card");
  gtk_widget_add_css_class (box, "error-card");
  return box;
}

static void
vn_curve_panel_dispose (GObject *object)
{
  VnCurvePanel *self = VN_CURVE_PANEL (object);

  g_clear_handle_id (&self->tick, g_source_remove);
  g_clear_handle_id (&self->reveal, g_source_remove);
  if (self->job != NULL)
    g_signal_handlers_disconnect_by_data (self->job, self);
  g_clear_object (&self->job);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (vn_curve_panel_parent_class)->dispose (object);
}

/* To the button, or to the chart if there is one. */
static gboolean
vn_curve_panel_grab_focus (GtkWidget *widget)
{
  VnCurvePanel *self = VN_CURVE_PANEL (widget);

  return gtk_widget_grab_focus (gtk_widget_get_visible (self->found) ? GTK_WIDGET (self->view) : self->start);
}

static void
vn_curve_panel_class_init (VnCurvePanelClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_curve_panel_dispose;
  GTK_WIDGET_CLASS (klass)->grab_focus = vn_curve_panel_grab_focus;
}

static void
vn_curve_panel_init (VnCurvePanel *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);

  self->found = curve_panel_make_found (self);
  self->settings = curve_panel_make_settings (self);
  self->running = curve_panel_make_running (self);
  gtk_box_append (GTK_BOX (box), self->settings);
  gtk_box_append (GTK_BOX (box), self->running);
  gtk_box_append (GTK_BOX (box), self->found);
  adw_bin_set_child (ADW_BIN (self), vn_section_new (_("Mixed Precision"), NULL, box));
}
