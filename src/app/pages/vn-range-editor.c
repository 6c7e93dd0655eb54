/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ranges of an activation: what is in use, the best three of what methods would choose, all of them on demand, and one's
 * own. */
#include "vn-range-editor.h"

#include "vn-format.h"
#include "vn-histogram-view.h"
#include "vn-i18n.h"
#include "vn-range-estimate.h"
#include "vn-rows.h"
#include "vn-thread.h"

#include <math.h>

#define N_BEST 3
#define ROW_KEY "vn-method"

struct _VnRangeEditor
{
  AdwBin             parent_instance;

  VnDocument        *document;
  VnInspectedTensor *tensor;
  VnRecipe          *recipe;        /* @tensor was quantized with */
  VnRangeQuestion    question;
  VnRangeEstimate    used;
  GArray            *estimates;     /* of VnRangeEstimate, best first; NULL: not there yet */
  GCancellable      *cancellable;

  VnHistogramView   *view;
  GtkWidget         *best, *rest, *all;
  GtkLabel          *summary, *title, *interval, *error;   /* the last three: of the range in use */
  GtkSizeGroup      *sizes[3];      /* letters, ranges, errors */
};

G_DEFINE_FINAL_TYPE (VnRangeEditor, vn_range_editor, ADW_TYPE_BIN)

/* ---- words ---- */

/* Three figures are enough beside others; the row of the range has more. */
static char *
range_editor_dup_interval (const VnRange *range)
{
  g_autofree char *min = vn_format_number (range->min, 3), *max = vn_format_number (range->max, 3);

  return g_strdup_printf ("%s\u00a0…\u00a0%s", min, max);
}

static char *
range_editor_dup_error (const VnRangeEstimate *estimate)
{
  return isinf (estimate->sqnr_db) ? g_strdup (_("exact")) : vn_format_db (estimate->sqnr_db);
}

static char *
range_editor_dup_clipped (const VnRangeEstimate *estimate)
{
  double percent = 100 * estimate->clipped;
  g_autofree char *share = percent > 0 && percent < 0.001
                           ? g_strdup ("") : vn_format_decimals (percent, percent < 0.1 ? 3 : percent < 10 ? 2 : 1);

  if (percent <= 0)
    return g_strdup (_("nothing is clipped"));
  if (*share == '\0')
    return g_strdup (_("almost nothing is clipped"));
  return g_strdup_printf (_("%s\u00a0%% of the values clipped"), share);
}

/* What the range that is held comes to, and how it is made to count. */
static void
range_editor_update_summary (VnRangeEditor         *self,
                             const VnRangeEstimate *estimate,
                             gboolean               moving)
{
  g_autofree char *db = range_editor_dup_error (estimate), *clipped = range_editor_dup_clipped (estimate);
  g_autofree char *interval = range_editor_dup_interval (&estimate->range);
  g_autofree char *text = moving ? g_strdup_printf (_("%s, %s. Release or press Enter to apply, Escape to cancel."), db, clipped)
                                 : g_strdup_printf (_("Estimated from the histogram: %s, %s"), db, clipped);

  gtk_label_set_label (self->summary, text);
  gtk_label_set_label (self->title, moving ? _("Your range, release to apply") : _("Current range"));
  gtk_label_set_label (self->interval, interval);
  gtk_label_set_label (self->error, db);
}

/* ---- rows ---- */

static GtkWidget *
range_editor_make_cell (VnRangeEditor *self,
                        guint          column,
                        const char    *text,
                        gboolean       bold)
{
  GtkWidget *cell = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (cell), column == 0 ? 0 : 1);
  gtk_widget_add_css_class (cell, "numeric");
  gtk_widget_add_css_class (cell, bold ? "caption-heading" : "caption");
  gtk_size_group_add_widget (self->sizes[column], cell);
  return cell;
}

static GtkWidget *
range_editor_make_row (VnRangeEditor *self,
                       char           letter,
                       const char    *title,
                       const char    *interval,
                       const char    *error,
                       gboolean       bold)
{
  GtkWidget *row = gtk_list_box_row_new (), *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *name = gtk_label_new (title);
  const char text[2] = { letter, '\0' };

  gtk_label_set_xalign (GTK_LABEL (name), 0);
  gtk_label_set_ellipsize (GTK_LABEL (name), PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (name, TRUE);
  gtk_widget_add_css_class (name, bold ? "caption-heading" : "caption");
  gtk_box_append (GTK_BOX (box), range_editor_make_cell (self, 0, text, TRUE));
  gtk_box_append (GTK_BOX (box), name);
  gtk_box_append (GTK_BOX (box), range_editor_make_cell (self, 1, interval, bold));
  gtk_box_append (GTK_BOX (box), range_editor_make_cell (self, 2, error, bold));
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), box);
  return row;
}

static GtkWidget *
range_editor_make_method_row (VnRangeEditor         *self,
                              const VnRangeEstimate *estimate)
{
  g_autofree char *interval = range_editor_dup_interval (&estimate->range), *db = range_editor_dup_error (estimate);
  g_autofree char *clipped = range_editor_dup_clipped (estimate), *label = NULL, *name = NULL;
  GtkWidget *row = range_editor_make_row (self, estimate->method->letter, _(estimate->method->title), interval, db, FALSE);

  label = g_strdup_printf (_("%s: %s, %s, %s"), _(estimate->method->title), interval, db, clipped);
  name = g_strconcat ("edit-method-", estimate->method->id, NULL);
  g_object_set_data (G_OBJECT (row), ROW_KEY, (gpointer) estimate->method);
  gtk_widget_set_name (row, name);
  gtk_widget_set_tooltip_text (row, label);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), vn_inspected_tensor_can_range (self->tensor));
  gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  return row;
}

static void
range_editor_row_activated (VnRangeEditor *self,
                            GtkListBoxRow *row)
{
  const VnRangeMethod *method = g_object_get_data (G_OBJECT (row), ROW_KEY);

  if (method != NULL)
    vn_inspected_tensor_set_method (self->tensor, self->document, method->id);
}

static GtkWidget *
range_editor_make_list (VnRangeEditor *self,
                        const char    *label)
{
  GtkWidget *list = gtk_list_box_new ();

  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (list, "range-list");
  gtk_accessible_update_property (GTK_ACCESSIBLE (list), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  g_signal_connect_object (list, "row-activated", G_CALLBACK (range_editor_row_activated), self, G_CONNECT_SWAPPED);
  return list;
}

/* Methods that agree on a range are one line of the chart. */
static gboolean
range_editor_is_new (const VnRangeEstimate *estimate,
                     const VnChartRange    *shown,
                     guint                  n)
{
  for (guint i = 0; i < n; i++)
    {
      double tiny = 1e-3 * (shown[i].max - shown[i].min);

      if (fabs (shown[i].min - estimate->range.min) <= tiny && fabs (shown[i].max - estimate->range.max) <= tiny)
        return FALSE;
    }
  return TRUE;
}

static gboolean
range_editor_is_used (VnRangeEditor         *self,
                      const VnRangeEstimate *estimate)
{
  return g_strcmp0 (self->tensor->plan->method, estimate->method->id) == 0;
}

/* The one in use and the best three that are not the same; the others are in the list that opens. */
static void
range_editor_show_methods (VnRangeEditor *self)
{
  VnChartRange shown[1 + N_BEST] = { { self->used.range.min, self->used.range.max, 0, _("Current range"), TRUE } };
  g_autofree char *label = g_strdup_printf (ngettext ("%u Method",
                                                      "All %u Methods", self->estimates->len), self->estimates->len);
  guint n = 1;

  for (guint i = 0; i < self->estimates->len; i++)
    {
      const VnRangeEstimate *estimate = &g_array_index (self->estimates, VnRangeEstimate, i);

      gtk_list_box_append (GTK_LIST_BOX (self->rest), range_editor_make_method_row (self, estimate));
      if (n > N_BEST || range_editor_is_used (self, estimate) || !range_editor_is_new (estimate, shown, n))
        continue;
      gtk_list_box_append (GTK_LIST_BOX (self->best), range_editor_make_method_row (self, estimate));
      shown[n++] = (VnChartRange) { estimate->range.min, estimate->range.max, estimate->method->letter,
                                    _(estimate->method->title), FALSE };
    }
  gtk_expander_set_label (GTK_EXPANDER (self->all), label);
  gtk_widget_set_visible (self->all, self->estimates->len > 0);
  if (!vn_histogram_view_is_moving (self->view))
    vn_histogram_view_set (self->view, self->tensor->histogram, vn_run_ref (self->tensor->result), (GDestroyNotify) vn_run_unref,
                           shown, n);
}

/* ---- moving ---- */

static void
range_editor_moved (VnRangeEditor *self,
                    double         min,
                    double         max)
{
  VnRangeEstimate estimate;

  if (vn_range_estimate (&self->question, &(VnRange) { min, max }, NULL, &estimate, NULL))
    range_editor_update_summary (self, &estimate, TRUE);
}

static void
range_editor_set (VnRangeEditor *self,
                  double         min,
                  double         max)
{
  vn_inspected_tensor_set_range (self->tensor, self->document, &(VnRange) { min, max });
  g_signal_emit_by_name (self, "settled");
}

static void
range_editor_kept (VnRangeEditor *self)
{
  range_editor_update_summary (self, &self->used, FALSE);
  g_signal_emit_by_name (self, "settled");
}

/* ---- estimates ---- */

typedef struct
{
  VnRun          *result;       /* keeps the histogram */
  VnRecipe       *recipe;
  VnRangeQuestion question;
} Work;

static void
range_editor_free_work (gpointer data)
{
  Work *self = data;

  vn_run_unref (self->result);
  vn_recipe_free (self->recipe);
  g_free (self);
}

static void
range_editor_run (GTask        *task,
                  gpointer      source,
                  gpointer      data,
                  GCancellable *cancellable)
{
  Work *work = data;

  g_task_return_pointer (task, vn_range_estimate_methods (&work->question), (GDestroyNotify) g_array_unref);
}

static void
range_editor_done (GObject      *source,
                   GAsyncResult *async,
                   gpointer      data)
{
  VnRangeEditor *self = VN_RANGE_EDITOR (source);
  GArray *estimates = g_task_propagate_pointer (G_TASK (async), NULL);

  if (estimates == NULL)
    return;
  self->estimates = estimates;
  range_editor_show_methods (self);
  g_signal_emit_by_name (self, "ready");
}

static void
range_editor_start (VnRangeEditor *self)
{
  g_autoptr(GTask) task = NULL;
  Work *work = g_new0 (Work, 1);

  work->result = vn_run_ref (self->tensor->result);
  work->recipe = vn_recipe_copy (self->recipe);
  work->question = self->question;
  work->question.recipe = work->recipe;
  self->cancellable = g_cancellable_new ();
  task = g_task_new (self, self->cancellable, range_editor_done, NULL);
  g_task_set_task_data (task, work, range_editor_free_work);
  vn_thread_run_task (task, range_editor_run);
}

/* A zero point in the middle of the integers: the range was made symmetric. */
static gboolean
range_editor_is_symmetric (const VnRecipe     *recipe,
                           const VnOverride   *rule,
                           const VnTensorPlan *plan)
{
  gboolean symmetric = recipe->symmetric_activations;
  gint64 low, high, zero;

  if (rule != NULL && rule->symmetric != VN_AS_RECIPE)
    symmetric = rule->symmetric == VN_YES;
  if (!symmetric || plan->zero_point == NULL || !vn_dtype_integer_range (plan->dtype, &low, &high))
    return symmetric;
  zero = vn_tensor_get_s64 (plan->zero_point, 0);
  return zero == (low + high + 1) / 2;
}

static void
range_editor_make_question (VnRangeEditor *self)
{
  const VnTensorPlan *plan = self->tensor->plan;
  const VnOverride *rule = vn_bench_find_tensor_rule (VN_BENCH (self->document), self->tensor->name);

  self->recipe = vn_recipe_copy (self->tensor->result->recipe);
  self->question = (VnRangeQuestion) { .histogram = self->tensor->histogram, .recipe = self->recipe, .dtype = plan->dtype,
                                       .symmetric = range_editor_is_symmetric (self->recipe, rule, plan),
                                       .reduce_range = rule != NULL && rule->reduce_range == VN_YES,
                                       .percentile = rule != NULL && rule->percentile > 0
                                                     ? rule->percentile : self->recipe->percentile };
}

/* ---- widget ---- */

static void
vn_range_editor_dispose (GObject *object)
{
  VnRangeEditor *self = VN_RANGE_EDITOR (object);

  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  for (guint i = 0; i < G_N_ELEMENTS (self->sizes); i++)
    g_clear_object (&self->sizes[i]);
  G_OBJECT_CLASS (vn_range_editor_parent_class)->dispose (object);
}

static void
vn_range_editor_finalize (GObject *object)
{
  VnRangeEditor *self = VN_RANGE_EDITOR (object);

  g_clear_pointer (&self->estimates, g_array_unref);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  vn_inspected_tensor_free (self->tensor);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (vn_range_editor_parent_class)->finalize (object);
}

static void
vn_range_editor_class_init (VnRangeEditorClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_range_editor_dispose;
  G_OBJECT_CLASS (klass)->finalize = vn_range_editor_finalize;
  g_signal_new ("settled", VN_TYPE_RANGE_EDITOR, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("ready", VN_TYPE_RANGE_EDITOR, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
vn_range_editor_init (VnRangeEditor *self)
{
  GtkWidget *card = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);

  for (guint i = 0; i < G_N_ELEMENTS (self->sizes); i++)
    self->sizes[i] = gtk_size_group_new (GTK_SIZE_GROUP_HORIZONTAL);
  self->view = VN_HISTOGRAM_VIEW (vn_histogram_view_new ());
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->view), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Histogram of the output"), -1);
  self->summary = GTK_LABEL (vn_label_new (NULL, "caption"));
  gtk_widget_add_css_class (GTK_WIDGET (self->summary), "numeric");
  self->best = range_editor_make_list (self, _("Ranges"));
  self->rest = range_editor_make_list (self, _("Ranges of all methods"));
  self->all = gtk_expander_new (NULL);
  gtk_widget_set_name (self->all, "edit-all-methods");
  gtk_widget_add_css_class (self->all, "caption");
  gtk_expander_set_child (GTK_EXPANDER (self->all), self->rest);
  gtk_widget_set_visible (self->all, FALSE);
  gtk_box_append (GTK_BOX (card), GTK_WIDGET (self->view));
  gtk_box_append (GTK_BOX (card), GTK_WIDGET (self->summary));
  gtk_box_append (GTK_BOX (card), self->best);
  gtk_box_append (GTK_BOX (card), self->all);
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "chart-card");
  adw_bin_set_child (ADW_BIN (self), card);
  g_signal_connect_swapped (self->view, "range-moved", G_CALLBACK (range_editor_moved), self);
  g_signal_connect_swapped (self->view, "range-set", G_CALLBACK (range_editor_set), self);
  g_signal_connect_swapped (self->view, "range-kept", G_CALLBACK (range_editor_kept), self);
}

static void
range_editor_add_used (VnRangeEditor *self)
{
  GtkWidget *row = range_editor_make_row (self, ' ', "", "", "", TRUE),
  *box = gtk_list_box_row_get_child (GTK_LIST_BOX_ROW (row));
  GtkWidget *cell = gtk_widget_get_next_sibling (gtk_widget_get_first_child (box));

  self->title = GTK_LABEL (cell);
  self->interval = GTK_LABEL (gtk_widget_get_next_sibling (cell));
  self->error = GTK_LABEL (gtk_widget_get_next_sibling (GTK_WIDGET (self->interval)));
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
  gtk_widget_set_focusable (row, FALSE);
  gtk_list_box_append (GTK_LIST_BOX (self->best), row);
}

/**
 * vn_range_editor_new:
 * @tensor: (transfer full): with a histogram
 *
 * Returns: (transfer floating): its histogram; where it has a range that can be changed, that and the ranges of all methods
 */
GtkWidget *
vn_range_editor_new (VnDocument        *document,
                     VnInspectedTensor *tensor)
{
  VnRangeEditor *self;
  VnChartRange used = { 0, 0, 0, _("Current range"), TRUE };
  VnRange range = { 0 };
  gboolean has_range, is_given = FALSE;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && tensor != NULL && tensor->histogram != NULL, NULL);

  self = g_object_new (VN_TYPE_RANGE_EDITOR, NULL);
  self->document = g_object_ref (document);
  self->tensor = tensor;
  has_range = tensor->plan != NULL && tensor->plan->quantized && vn_dtype_is_integer (tensor->plan->dtype);
  gtk_widget_set_visible (GTK_WIDGET (self->summary), FALSE);
  if (has_range)
    {
      range = vn_inspected_tensor_get_range (tensor, document, &is_given);
      used.min = range.min;
      used.max = range.max;
      range_editor_make_question (self);
      vn_histogram_view_set_movable (self->view, vn_inspected_tensor_can_range (tensor));
    }
  vn_histogram_view_set (self->view, tensor->histogram, vn_run_ref (tensor->result), (GDestroyNotify) vn_run_unref, &used,
                         has_range ? 1 : 0);
  if (has_range && vn_range_estimate (&self->question, &range, is_given ? NULL : tensor->plan->method, &self->used, NULL))
    {
      range_editor_add_used (self);
      range_editor_update_summary (self, &self->used, FALSE);
      gtk_widget_set_visible (GTK_WIDGET (self->summary), TRUE);
      range_editor_start (self);
    }
  return GTK_WIDGET (self);
}

/**
 * vn_range_editor_is_moving:
 *
 * Returns: whether an end of the range is held
 */
gboolean
vn_range_editor_is_moving (VnRangeEditor *self)
{
  g_return_val_if_fail (VN_IS_RANGE_EDITOR (self), FALSE);

  return vn_histogram_view_is_moving (self->view);
}
