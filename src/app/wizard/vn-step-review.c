/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wizard step: the verdict, the figures, where the error starts, and what can be done about it. */
#include "vn-step-review.h"

#include "vn-adaptive-bin.h"
#include "vn-button-names.h"
#include "vn-cures-list.h"
#include "vn-curve-panel.h"
#include "vn-data-suspicion.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-improve-panel.h"
#include "vn-node-item.h"
#include "vn-origins-list.h"
#include "vn-review-table.h"
#include "vn-rows.h"
#include "vn-verdict.h"
#include "vn-verify-panel.h"

#include <math.h>

#define NARROW 860            /* below, the lists stand one below the other */
#define MOST_FIGURES 4
#define FIGURES_WHEN_NARROW 2 /* in a line */
#define SCROLL_FRAMES 2       /* until what has changed is laid out */

struct _VnStepReview
{
  VnWizardStep  parent_instance;

  GtkImage     *verdict_icon;
  GtkLabel     *verdict_title, *verdict_text;
  GtkWidget    *clamp, *page, *verdict, *columns, *figures, *go_on;
  GtkButton    *leave_in_float;
  VnAdaptiveBin *adaptive;
  VnOriginsList *origins;
  VnImprovePanel *improve;
  VnCurvePanel *curve;
  VnCuresList  *cures;
  VnVerifyPanel *verify;
  VnReviewTable *table;
  GtkListBox   *suspicions;
  GtkWidget    *goal;         /* (nullable): where the page is to be scrolled to */
  guint         tick, n_frames;
  gint64        shown_time;   /* of the run that the page was scrolled for */
};

G_DEFINE_FINAL_TYPE (VnStepReview, vn_step_review, VN_TYPE_WIZARD_STEP)

static VnDocument *
step_review_get_document (VnStepReview *self)
{
  return vn_wizard_step_get_document (VN_WIZARD_STEP (self));
}

/* To the step that says what can be applied. */
static GtkWidget *
step_review_make_change_button (void)
{
  GtkWidget *button = vn_button_new_with_mnemonic (_("Change _Samples…"));

  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (button), "win.change-samples");
  return button;
}

/* What is suspected of the samples stands above all that was measured on them. */
static void
step_review_show_suspicions (VnStepReview    *self,
                             const VnVerdict *verdict)
{
  vn_list_box_clear (self->suspicions);
  for (guint i = 0; i < verdict->suspicions->len; i++)
    {
      const VnNote *note = g_ptr_array_index (verdict->suspicions, i);
      GtkWidget *row = adw_action_row_new ();
      GtkWidget *icon = gtk_image_new_from_icon_name ("dialog-warning-symbolic");
      g_autofree char *title = note->subject != NULL
                               ? g_strdup_printf ("%s: %s", note->subject, note->text) : g_strdup (note->text);

      adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
      adw_action_row_set_subtitle (ADW_ACTION_ROW (row), vn_data_suspicion_get_remedy (note));
      gtk_widget_add_css_class (icon, "warning");
      adw_action_row_add_prefix (ADW_ACTION_ROW (row), icon);
      adw_action_row_add_suffix (ADW_ACTION_ROW (row), step_review_make_change_button ());
      gtk_list_box_append (self->suspicions, row);
    }
  gtk_widget_set_visible (GTK_WIDGET (self->suspicions), verdict->suspicions->len > 0);
}

static void
step_review_show_verdict (VnStepReview    *self,
                          const VnVerdict *verdict)
{
  static const struct { const char *icon, *style; } looks[] = {
    [VN_VERDICT_GOOD] = { "emblem-ok-symbolic", "success" },
    [VN_VERDICT_DIFFERS] = { "dialog-error-symbolic", "error" },
    [VN_VERDICT_WEAK_SPOT] = { "dialog-warning-symbolic", "warning" },
    [VN_VERDICT_CARE] = { "dialog-warning-symbolic", "warning" },
    [VN_VERDICT_UNUSABLE] = { "dialog-error-symbolic", "error" },
    [VN_VERDICT_REFUSED] = { "dialog-error-symbolic", "error" },
    [VN_VERDICT_SUSPICIOUS] = { "dialog-warning-symbolic", "warning" },
    [VN_VERDICT_NOT_FINITE] = { "dialog-error-symbolic", "error" },
    [VN_VERDICT_NOT_MEASURED] = { "dialog-question-symbolic", "dim-label" },
  };
  const gboolean is_good = verdict->level == VN_VERDICT_GOOD;
  const char *classes[] = { looks[verdict->level].style, NULL };
  g_autofree char *text = is_good && !verdict->is_opposed
                          ? g_strdup_printf ("%s %s", verdict->text, _("No fixes are needed.")) : NULL;

  gtk_image_set_from_icon_name (self->verdict_icon, looks[verdict->level].icon);
  gtk_widget_set_css_classes (GTK_WIDGET (self->verdict_icon), classes);
  gtk_label_set_label (self->verdict_title, verdict->title);
  gtk_label_set_label (self->verdict_text, text != NULL ? text : verdict->text);
  gtk_widget_set_visible (self->go_on, is_good);
  gtk_widget_set_visible (GTK_WIDGET (self->leave_in_float), verdict->level > VN_VERDICT_GOOD &&
                          verdict->level <= VN_VERDICT_UNUSABLE &&
                                                             verdict->is_spot);
}

/* What is to be done stands above what is told; where nothing is, the other way round. */
static void
step_review_arrange (VnStepReview *self,
                     gboolean      is_good)
{
  GtkWidget *order[] = { self->verdict, GTK_WIDGET (is_good ? (gpointer) self->table : (gpointer) self->improve), self->columns,
                         GTK_WIDGET (is_good ? (gpointer) self->improve : (gpointer) self->table), GTK_WIDGET (self->curve) };

  for (guint i = 1; i < G_N_ELEMENTS (order); i++)
    gtk_box_reorder_child_after (GTK_BOX (self->page), order[i], order[i - 1]);
  vn_improve_panel_set_suggested (self->improve, !is_good);
}

/* Nodes that are bad, as the verdict counts them. */
static void
step_review_leave_in_float (VnStepReview *self)
{
  VnDocument *document = step_review_get_document (self);
  GListModel *nodes = vn_document_get_nodes (document);
  g_autoptr(GtkBitset) bad = gtk_bitset_new_empty ();

  for (guint i = 0; i < g_list_model_get_n_items (nodes); i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (nodes, i);

      if (item->measured && !item->excluded && item->metrics[VN_METRIC_SQNR] < vn_metric_get_info (VN_METRIC_SQNR)->bad)
        gtk_bitset_add (bad, item->index);
    }
  vn_document_set_precision (document, bad, VN_NODE_FLOAT);
}

/* ---- scrolling ---- */

static gboolean
step_review_tick (GtkWidget     *widget,
                  GdkFrameClock *clock,
                  gpointer       data)
{
  VnStepReview *self = VN_STEP_REVIEW (widget);
  GtkWidget *scrolled = gtk_widget_get_ancestor (self->page, GTK_TYPE_SCROLLED_WINDOW);
  GtkAdjustment *adjustment = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scrolled));
  graphene_rect_t bounds;

  if (++self->n_frames <= SCROLL_FRAMES)
    return G_SOURCE_CONTINUE;
  self->tick = 0;
  if (!gtk_widget_compute_bounds (self->goal, self->page, &bounds))
    return G_SOURCE_REMOVE;
  /* what little stands above the verdict is seen, too */
  if (self->goal == self->verdict && bounds.origin.y < gtk_adjustment_get_page_size (adjustment) / 2)
    bounds.origin.y = 0;
  gtk_adjustment_set_value (adjustment, bounds.origin.y);
  return G_SOURCE_REMOVE;
}

/* When it has its place; of two the last. */
static void
step_review_scroll_to (VnStepReview *self,
                       GtkWidget    *goal)
{
  self->goal = goal;
  self->n_frames = 0;
  if (self->tick == 0)
    self->tick = gtk_widget_add_tick_callback (GTK_WIDGET (self), step_review_tick, NULL, NULL);
}

/* ---- figures ---- */

static void
step_review_place_figures (VnStepReview *self)
{
  const int in_line = vn_adaptive_bin_is_narrow (self->adaptive) ? FIGURES_WHEN_NARROW : MOST_FIGURES;
  GtkLayoutManager *layout = gtk_widget_get_layout_manager (self->figures);
  int n = 0;

  for (GtkWidget *child = gtk_widget_get_first_child (self->figures); child != NULL; child = gtk_widget_get_next_sibling (child),
       n++)
    {
      GtkGridLayoutChild *place = GTK_GRID_LAYOUT_CHILD (gtk_layout_manager_get_layout_child (layout, child));

      gtk_grid_layout_child_set_column (place, n % in_line);
      gtk_grid_layout_child_set_row (place, n / in_line);
      if (n % in_line > 0)
        gtk_widget_add_css_class (child, "apart");
      else
        gtk_widget_remove_css_class (child, "apart");
    }
}

static void
step_review_add_figure (VnStepReview *self,
                        const char   *value,
                        const char   *caption)
{
  guint n = 0;

  for (GtkWidget *child = gtk_widget_get_first_child (self->figures); child != NULL; child = gtk_widget_get_next_sibling (child))
    n++;
  if (n < MOST_FIGURES)
    gtk_grid_attach (GTK_GRID (self->figures), vn_figure_new (value, caption), (int) n, 0, 1, 1);
}

static void
step_review_add_size (VnStepReview       *self,
                      const VnRunFigures *figures)
{
  g_autofree char *before = vn_format_bytes (figures->float_bytes);
  g_autofree char *after = vn_format_bytes (figures->quantized_bytes);
  g_autofree char *sizes = g_strdup_printf ("%s → %s", before, after);
  g_autofree char *ratio = NULL;

  if (figures->quantized_bytes <= figures->float_bytes)
    ratio = g_strdup_printf (_("size, %.1f× smaller"),
                             (double) figures->float_bytes / (double) MAX (figures->quantized_bytes, 1));
  else
    ratio = g_strdup_printf (_("size, %.1f× larger"),
                             (double) figures->quantized_bytes / (double) MAX (figures->float_bytes, 1));
  step_review_add_figure (self, sizes, ratio);
}

/* By how much answers differ, where that is told beside the share: the KL divergence of next tokens, for one. */
static gboolean
step_review_add_second (VnStepReview *self,
                        const VnKept *kept)
{
  g_autofree char *mean = vn_kept_dup_mean (kept), *perplexity = vn_kept_dup_perplexity (kept);

  if (mean != NULL)
    step_review_add_figure (self, mean, vn_task_get_second_title (kept->task));
  if (perplexity != NULL)
    step_review_add_figure (self, perplexity, _("perplexity"));
  return mean != NULL;
}

/* What is left of the answers, whatever is known of them. */
static gboolean
step_review_add_answers (VnStepReview     *self,
                         const VnAccuracy *accuracy)
{
  if (accuracy->valid && accuracy->n > 0)
    {
      g_autofree char *same = g_strdup_printf ("%.1f %%", 100.0 * accuracy->agree / accuracy->n);

      step_review_add_figure (self, same, _("top-1 agreement with float"));
      return TRUE;
    }
  if (vn_kept_is_known (&accuracy->kept))
    {
      g_autofree char *share = g_strdup_printf ("%.1f %%", 100 * accuracy->kept.share);

      step_review_add_figure (self, share, vn_task_get_name (accuracy->kept.task));
      return TRUE;
    }
  return FALSE;
}

/* The worst output, and if @two the next one. */
static void
step_review_add_outputs (VnStepReview    *self,
                         const VnRun     *result,
                         const VnVerdict *verdict,
                         gboolean         two)
{
  const VnErrorRow *next = NULL;
  g_autofree char *db = NULL;

  if (!(verdict->figures.worst_db < INFINITY))
    return;
  db = vn_format_db_margin (verdict->figures.worst_db, verdict->figures.margin_db);
  step_review_add_figure (self, db, verdict->worst->is_last ? _("SQNR, before unsupported nodes")
                                                            : _("SQNR, worst output"));
  for (guint i = 0; two && i < vn_error_table_get_n (result->errors); i++)
    {
      const VnErrorRow *row = vn_error_table_get (result->errors, i);

      if (row->is_output && row != verdict->worst && isfinite (row->sqnr_db) && (next == NULL || row->sqnr_db < next->sqnr_db))
        next = row;
    }
  if (next != NULL)
    {
      g_autofree char *second = vn_format_db_margin (next->sqnr_db, next->margin_db),
      *caption = g_strdup_printf (_("SQNR, %s"), next->value);

      step_review_add_figure (self, second, caption);
    }
}

static void
step_review_add_time (VnStepReview           *self,
                      const VnRuntimeFigures *figures)
{
  g_autofree char *number = NULL, *value = NULL;

  if (!(figures->seconds > 0))
    return;
  number = vn_format_number (figures->seconds * 1000, figures->time_measured ? 3 : 2);
  value = g_strconcat (figures->time_measured ? "" : "≈\u00a0", number, "\u00a0ms", NULL);
  step_review_add_figure (self, value, figures->time_measured
                          ? _("latency per sample, measured") : _("latency per sample, estimated"));
}

static void
step_review_show_figures (VnStepReview    *self,
                          const VnRun     *result,
                          const VnVerdict *verdict)
{
  GtkWidget *child;
  gboolean has_answers;

  while ((child = gtk_widget_get_first_child (self->figures)) != NULL)
    gtk_grid_remove (GTK_GRID (self->figures), child);
  step_review_add_size (self, &verdict->figures);
  has_answers = step_review_add_answers (self, &result->accuracy);
  if (!step_review_add_second (self, &result->accuracy.kept))
    step_review_add_outputs (self, result, verdict, !has_answers);
  step_review_add_time (self, &verdict->figures.runtime);
  step_review_place_figures (self);
}

/* On what the figures were found. */
static char *
step_review_describe_samples (VnStepReview *self,
                              VnRun        *result)
{
  guint n = result->n_held_out > 0 ? result->n_held_out : result->n_calibration;

  if (result->errors == NULL)
    return g_strdup (_("Not measured: no samples were run"));
  if (result->state == VN_RUN_ESTIMATED)
    {
      n = vn_bench_count_expected_on (VN_BENCH (step_review_get_document (self)));
      return g_strdup_printf (ngettext ("Estimated from %u sample; a full run will confirm it",
                                        "Estimated from %u samples; a full run will confirm it", n), n);
    }
  if (result->left_out)
    return g_strdup_printf (ngettext ("Measured on %u sample, excluded from calibration for it",
                                      "Measured on %u samples, each excluded from calibration in turn", n), n);
  if (result->n_held_out > 0)
    return g_strdup_printf (ngettext ("Measured on %u sample not used for calibration",
                                      "Measured on %u samples not used for calibration", n), n);
  return g_strdup_printf (ngettext ("Measured on the %u calibration sample", "Measured on the %u calibration samples", n), n);
}

static void
step_review_show_table (VnStepReview *self,
                        VnRun        *result)
{
  g_autofree char *title = step_review_describe_samples (self, result);

  vn_review_table_update (self->table, title);
}

static void
step_review_result_changed (VnStepReview *self)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (step_review_get_document (self)));
  g_autoptr(VnVerdict) verdict = NULL;

  vn_wizard_step_changed (VN_WIZARD_STEP (self));
  if (result == NULL)
    return;
  verdict = vn_verdict_new (result);
  step_review_show_suspicions (self, verdict);
  step_review_show_verdict (self, verdict);
  step_review_show_figures (self, result, verdict);
  step_review_show_table (self, result);
  gtk_widget_set_visible (self->columns, result->errors != NULL);
  step_review_arrange (self, verdict->level == VN_VERDICT_GOOD);
  if (result->state == VN_RUN_ESTIMATED || result->time == self->shown_time)
    return;
  self->shown_time = result->time;
  step_review_scroll_to (self, self->verdict);
}

/* What is changed meanwhile would throw away what is being tried. */
static void
step_review_job_changed (VnStepReview *self)
{
  const gboolean is_trying = vn_bench_is_trying (VN_BENCH (step_review_get_document (self)));

  gtk_widget_set_sensitive (GTK_WIDGET (self->origins), !is_trying);
  gtk_widget_set_sensitive (GTK_WIDGET (self->leave_in_float), !is_trying);
}

static void
step_review_show_offered (VnStepReview *self)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (step_review_get_document (self)));

  if (result != NULL)
    step_review_show_table (self, result);
}

static void
vn_step_review_document_set (VnWizardStep *step)
{
  VnDocument *document = vn_wizard_step_get_document (step);

  vn_origins_list_set_document (VN_STEP_REVIEW (step)->origins, document);
  vn_cures_list_set_document (VN_STEP_REVIEW (step)->cures, document);
  vn_improve_panel_set_document (VN_STEP_REVIEW (step)->improve, document);
  vn_curve_panel_set_document (VN_STEP_REVIEW (step)->curve, document);
  vn_review_table_set_document (VN_STEP_REVIEW (step)->table, document);
  vn_verify_panel_set_document (VN_STEP_REVIEW (step)->verify, document);
  g_signal_connect_object (document, "changed::run", G_CALLBACK (step_review_result_changed), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::offered", G_CALLBACK (step_review_show_offered), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "work-changed", G_CALLBACK (step_review_job_changed), step, G_CONNECT_SWAPPED);
  step_review_result_changed (VN_STEP_REVIEW (step));
}

/**
 * vn_step_review_show_curve:
 *
 * Brings mixed precision into view.
 */
void
vn_step_review_show_curve (VnStepReview *self)
{
  g_return_if_fail (VN_IS_STEP_REVIEW (self));

  gtk_widget_grab_focus (GTK_WIDGET (self->curve));
  step_review_scroll_to (self, GTK_WIDGET (self->curve));
}

static char *
vn_step_review_dup_answer (VnWizardStep *step)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (vn_wizard_step_get_document (step)));
  g_autoptr(VnVerdict) verdict = NULL;

  if (result == NULL)
    return NULL;
  verdict = vn_verdict_new (result);
  return g_strdup (verdict->title);
}

static char *
vn_step_review_dup_blocker (VnWizardStep *step)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (vn_wizard_step_get_document (step)));

  return result == NULL ? g_strdup (_("Not calibrated yet")) : NULL;
}

static void
vn_step_review_dispose (GObject *object)
{
  VnStepReview *self = VN_STEP_REVIEW (object);

  if (self->tick != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->tick);
  self->tick = 0;
  gtk_widget_dispose_template (GTK_WIDGET (object), VN_TYPE_STEP_REVIEW);
  G_OBJECT_CLASS (vn_step_review_parent_class)->dispose (object);
}

static void
vn_step_review_class_init (VnStepReviewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  VnWizardStepClass *step_class = VN_WIZARD_STEP_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_step_review_dispose;
  step_class->document_set = vn_step_review_document_set;
  step_class->dup_answer = vn_step_review_dup_answer;
  step_class->dup_blocker = vn_step_review_dup_blocker;
  g_type_ensure (VN_TYPE_ORIGINS_LIST);
  g_type_ensure (VN_TYPE_CURES_LIST);
  g_type_ensure (VN_TYPE_CURVE_PANEL);
  g_type_ensure (VN_TYPE_IMPROVE_PANEL);
  g_type_ensure (VN_TYPE_VERIFY_PANEL);
  g_type_ensure (VN_TYPE_REVIEW_TABLE);
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-step-review.ui");
  vn_wizard_step_declare_settings (widget_class);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, verdict_icon);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, verdict_title);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, verdict_text);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, clamp);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, page);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, verdict);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, columns);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, go_on);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, leave_in_float);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, figures);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, improve);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, cures);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, curve);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, verify);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, suspicions);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, origins);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, table);
}

static void
vn_step_review_init (VnStepReview *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->adaptive = vn_adaptive_bin_insert (self->clamp, "child", 0, NARROW);
  g_object_set (self->adaptive, "box", self->columns, NULL);
  g_signal_connect_object (self->adaptive, "notify::narrow", G_CALLBACK (step_review_place_figures), self, G_CONNECT_SWAPPED);
  g_signal_connect_swapped (self->leave_in_float, "clicked", G_CALLBACK (step_review_leave_in_float), self);
}
