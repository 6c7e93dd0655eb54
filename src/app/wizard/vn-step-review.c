/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wizard step: the verdict, the figures, and the weakest nodes with what can be done about them. */
#include "vn-step-review.h"

#include "vn-cause.h"
#include "vn-data-suspicion.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-node-item.h"
#include "vn-rows.h"
#include "vn-swatch.h"
#include "vn-verdict.h"

#include <math.h>

#define MAX_WEAKEST 8

struct _VnStepReview
{
  VnWizardStep  parent_instance;

  GtkBitset    *weak;        /* nodes of the rows that are not in float yet */

  GtkImage     *verdict_icon;
  GtkLabel     *verdict_title, *verdict_text, *measured;
  GtkWidget    *figures, *exclude_all;
  GtkListBox   *suspicions, *weakest, *table;
};

G_DEFINE_FINAL_TYPE (VnStepReview, vn_step_review, VN_TYPE_WIZARD_STEP)

static VnDocument *
step_review_get_document (VnStepReview *self)
{
  return vn_wizard_step_get_document (VN_WIZARD_STEP (self));
}

static void
step_review_clear_list (GtkListBox *list)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (list))) != NULL)
    gtk_list_box_remove (list, child);
}

/* What is suspected of the samples stands above all that was measured on them. */
static void
step_review_show_suspicions (VnStepReview    *self,
                             const VnVerdict *verdict)
{
  step_review_clear_list (self->suspicions);
  for (guint i = 0; i < verdict->suspicions->len; i++)
    {
      const VnNote *note = g_ptr_array_index (verdict->suspicions, i);
      GtkWidget *row = adw_action_row_new ();
      GtkWidget *icon = gtk_image_new_from_icon_name ("dialog-warning-symbolic");
      g_autofree char *title = note->subject != NULL ? g_strdup_printf ("%s: %s", note->subject, note->text) : g_strdup (note->text);

      adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
      adw_action_row_set_subtitle (ADW_ACTION_ROW (row), vn_data_suspicion_get_remedy (note));
      gtk_widget_add_css_class (icon, "warning");
      adw_action_row_add_prefix (ADW_ACTION_ROW (row), icon);
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
    [VN_VERDICT_WEAK_SPOT] = { "dialog-warning-symbolic", "warning" },
    [VN_VERDICT_CARE] = { "dialog-warning-symbolic", "warning" },
    [VN_VERDICT_UNUSABLE] = { "dialog-error-symbolic", "error" },
    [VN_VERDICT_SUSPICIOUS] = { "dialog-warning-symbolic", "warning" },
    [VN_VERDICT_NOT_FINITE] = { "dialog-error-symbolic", "error" },
    [VN_VERDICT_NOT_MEASURED] = { "dialog-question-symbolic", "dim-label" },
  };
  const char *classes[] = { looks[verdict->level].style, NULL };

  gtk_image_set_from_icon_name (self->verdict_icon, looks[verdict->level].icon);
  gtk_widget_set_css_classes (GTK_WIDGET (self->verdict_icon), classes);
  gtk_label_set_label (self->verdict_title, verdict->title);
  gtk_label_set_label (self->verdict_text, verdict->text);
}

static void
step_review_add_figure (VnStepReview *self,
                        const char   *value,
                        const char   *caption)
{
  if (gtk_widget_get_first_child (self->figures) != NULL)
    gtk_box_append (GTK_BOX (self->figures), gtk_separator_new (GTK_ORIENTATION_VERTICAL));
  gtk_box_append (GTK_BOX (self->figures), vn_figure_new (value, caption));
}

static void
step_review_show_figures (VnStepReview    *self,
                          const VnResult  *result,
                          const VnVerdict *verdict)
{
  g_autofree char *before = vn_format_bytes (result->float_bytes);
  g_autofree char *after = vn_format_bytes (result->quantized_bytes);
  g_autofree char *sizes = g_strdup_printf ("%s → %s", before, after);
  g_autofree char *ratio = NULL;

  vn_box_clear (self->figures);
  if (result->quantized_bytes <= result->float_bytes)
    ratio = g_strdup_printf (_("size, %.1f× smaller"),
                             (double) result->float_bytes / (double) MAX (result->quantized_bytes, 1));
  else
    ratio = g_strdup_printf (_("size, %.1f× larger"),
                             (double) result->quantized_bytes / (double) MAX (result->float_bytes, 1));
  step_review_add_figure (self, sizes, ratio);
  if (verdict->worst_output_db < INFINITY)
    {
      g_autofree char *db = vn_format_db (verdict->worst_output_db);

      step_review_add_figure (self, db, _("signal to noise, worst output"));
    }
  if (result->accuracy.valid && result->accuracy.n > 0)
    {
      double share = 100.0 * result->accuracy.agree / result->accuracy.n;
      g_autofree char *kept = g_strdup_printf ("%.1f %%", share);

      step_review_add_figure (self, kept, _("same answer as before"));
    }
}

static void
step_review_fix_clicked (VnStepReview *self,
                         GtkButton    *button)
{
  g_autoptr(GtkBitset) nodes = gtk_bitset_new_empty ();
  gpointer precision = g_object_get_data (G_OBJECT (button), "vn-precision");

  gtk_bitset_add (nodes, GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "vn-node")));
  vn_document_set_precision (step_review_get_document (self), nodes, (VnNodePrecision) GPOINTER_TO_INT (precision));
}

static void
step_review_exclude_all (VnStepReview *self)
{
  vn_document_set_precision (step_review_get_document (self), self->weak, VN_NODE_FLOAT);
}

static void
step_review_add_fix_button (VnStepReview    *self,
                            AdwActionRow    *row,
                            VnNodeItem      *item,
                            const char      *label,
                            const char      *tooltip,
                            VnNodePrecision  precision)
{
  GtkWidget *button = gtk_button_new_with_label (label);

  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (button, tooltip);
  g_object_set_data (G_OBJECT (button), "vn-node", GUINT_TO_POINTER (item->index));
  g_object_set_data (G_OBJECT (button), "vn-precision", GINT_TO_POINTER (precision));
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (step_review_fix_clicked), self);
  adw_action_row_add_suffix (row, button);
}

static void
step_review_add_fix (VnStepReview *self,
                     AdwActionRow *row,
                     VnNodeItem   *item)
{
  if (item->excluded)
    {
      adw_action_row_add_suffix (row, gtk_label_new (_("in float")));
      return;
    }
  if (vn_dtype_get_bits (item->precision) < 16)
    step_review_add_fix_button (self, row, item, _("16 Bit"), _("Give the Output of This Node Twice the Bits"),
                                VN_NODE_16_BIT);
  step_review_add_fix_button (self, row, item, _("Exclude"), _("Leave This Node in Float"), VN_NODE_FLOAT);
  gtk_bitset_add (self->weak, item->index);
}

static GtkWidget *
step_review_make_weak_row (VnStepReview *self,
                           VnResult     *result,
                           VnNodeItem   *item)
{
  g_autofree char *title = g_strdup_printf ("%s  %s", item->node->op_type, item->name);
  g_autofree char *db = vn_format_db (item->metrics[VN_METRIC_SQNR]);
  g_autofree char *cause = vn_cause_describe (result, item->node);
  GtkWidget *row = adw_action_row_new ();
  GtkWidget *swatch = vn_swatch_new (FALSE);
  GtkWidget *value = gtk_label_new (db);

  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (row), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_action_row_set_title_lines (ADW_ACTION_ROW (row), 1);
  if (cause != NULL)
    adw_action_row_set_subtitle (ADW_ACTION_ROW (row), cause);
  vn_swatch_set (VN_SWATCH (swatch), VN_SWATCH_VALUE, item->metrics[VN_METRIC_SQNR]);
  adw_action_row_add_prefix (ADW_ACTION_ROW (row), swatch);
  gtk_widget_add_css_class (value, "heading");
  gtk_widget_add_css_class (value, "numeric");
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), value);
  step_review_add_fix (self, ADW_ACTION_ROW (row), item);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), gtk_image_new_from_icon_name ("go-next-symbolic"));
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (row), "win.select-node");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (row), "u", item->index);
  return row;
}

static int
step_review_compare_weak (gconstpointer a,
                          gconstpointer b)
{
  const VnNodeItem *p = *(VnNodeItem **) a, *q = *(VnNodeItem **) b;
  double x = p->metrics[VN_METRIC_SQNR], y = q->metrics[VN_METRIC_SQNR];

  if (isnan (x) || isnan (y))
    return isnan (y) - isnan (x);
  return x < y ? -1 : x > y ? 1 : (p->index > q->index) - (p->index < q->index);
}

/* Nodes that are less than fine, worst first, but those that only pass on the error of another. */
static GPtrArray *
step_review_find_weak (VnDocument *document,
                       VnResult   *result)
{
  GListModel *nodes = vn_document_get_nodes (document);
  GPtrArray *weak = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; i < g_list_model_get_n_items (nodes); i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (nodes, i);

      if (item->measured && !(item->metrics[VN_METRIC_SQNR] >= vn_metric_get_info (VN_METRIC_SQNR)->fine) &&
          vn_cause_find_origin (result, item->node) == NULL)
        g_ptr_array_add (weak, g_steal_pointer (&item));
    }
  g_ptr_array_sort (weak, step_review_compare_weak);
  return weak;
}

static void
step_review_show_weakest (VnStepReview *self,
                          VnResult     *result)
{
  g_autoptr(GPtrArray) weak = step_review_find_weak (step_review_get_document (self), result);

  step_review_clear_list (self->weakest);
  gtk_bitset_remove_all (self->weak);
  for (guint i = 0; i < MIN (weak->len, MAX_WEAKEST); i++)
    gtk_list_box_append (self->weakest, step_review_make_weak_row (self, result, g_ptr_array_index (weak, i)));
  if (weak->len == 0)
    gtk_list_box_append (self->weakest, vn_row_new (_("No node stands out"), NULL));
  gtk_widget_set_sensitive (self->exclude_all, !gtk_bitset_is_empty (self->weak));
}

static void
step_review_show_outputs (VnStepReview *self,
                          VnResult     *result)
{
  guint n = result->errors != NULL ? vn_error_table_get_n (result->errors) : 0;

  for (guint i = 0; i < n; i++)
    {
      const VnErrorRow *row = vn_error_table_get (result->errors, i);
      g_autofree char *title = NULL, *db = NULL, *cosine = NULL, *value = NULL;

      if (!row->is_output && !row->is_last)
        continue;
      title = row->is_output ? g_strdup_printf (_("Output %s"), row->value)
                             : g_strdup_printf (_("%s, before nodes that cannot be run"), row->value);
      db = vn_format_db (row->sqnr_db);
      cosine = vn_metric_format (VN_METRIC_COSINE, row->cosine);
      value = g_strdup_printf (_("%s · cosine %s"), db, cosine);
      gtk_list_box_append (self->table, vn_row_new (title, value));
    }
}

static void
step_review_show_table (VnStepReview *self,
                        VnResult     *result)
{
  guint n = result->n_held_out > 0 ? result->n_held_out : result->n_calibration;
  g_autofree char *title = result->n_held_out > 0
                           ? g_strdup_printf (ngettext ("Measured on %u sample not used for calibration",
                                                        "Measured on %u samples not used for calibration", n), n)
                           : g_strdup_printf (ngettext ("Measured on the %u calibration sample",
                                                        "Measured on the %u calibration samples", n), n);

  gtk_label_set_label (self->measured, title);
  step_review_clear_list (self->table);
  if (result->accuracy.valid && result->accuracy.n > 0)
    {
      g_autofree char *top1 = g_strdup_printf ("%.1f %% → %.1f %%",
                                               100.0 * result->accuracy.float_top1 / result->accuracy.n,
                                               100.0 * result->accuracy.quant_top1 / result->accuracy.n);

      gtk_list_box_append (self->table, vn_row_new (_("Top-1 accuracy"), top1));
    }
  step_review_show_outputs (self, result);
}

static void
step_review_result_changed (VnStepReview *self)
{
  VnResult *result = vn_document_get_result (step_review_get_document (self));
  g_autoptr(VnVerdict) verdict = NULL;

  vn_wizard_step_changed (VN_WIZARD_STEP (self));
  if (result == NULL)
    return;
  verdict = vn_verdict_new (result->errors, &result->accuracy, result->notes);
  step_review_show_suspicions (self, verdict);
  step_review_show_verdict (self, verdict);
  step_review_show_figures (self, result, verdict);
  step_review_show_weakest (self, result);
  step_review_show_table (self, result);
}

static void
vn_step_review_document_set (VnWizardStep *step)
{
  VnDocument *document = vn_wizard_step_get_document (step);

  g_signal_connect_object (document, "result-changed", G_CALLBACK (step_review_result_changed), step, G_CONNECT_SWAPPED);
  step_review_result_changed (VN_STEP_REVIEW (step));
}

static char *
vn_step_review_dup_answer (VnWizardStep *step)
{
  VnResult *result = vn_document_get_result (vn_wizard_step_get_document (step));
  g_autoptr(VnVerdict) verdict = result != NULL ? vn_verdict_new (result->errors, &result->accuracy, result->notes) : NULL;

  return verdict != NULL ? g_strdup (verdict->title) : NULL;
}

static char *
vn_step_review_dup_blocker (VnWizardStep *step)
{
  VnResult *result = vn_document_get_result (vn_wizard_step_get_document (step));

  return result == NULL ? g_strdup (_("Not calibrated yet")) : NULL;
}

static void
vn_step_review_dispose (GObject *object)
{
  VnStepReview *self = VN_STEP_REVIEW (object);

  g_clear_pointer (&self->weak, gtk_bitset_unref);
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
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-step-review.ui");
  vn_wizard_step_declare_settings (widget_class);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, verdict_icon);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, verdict_title);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, verdict_text);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, measured);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, figures);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, exclude_all);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, suspicions);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, weakest);
  gtk_widget_class_bind_template_child (widget_class, VnStepReview, table);
}

static void
vn_step_review_init (VnStepReview *self)
{
  self->weak = gtk_bitset_new_empty ();
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_swapped (self->exclude_all, "clicked", G_CALLBACK (step_review_exclude_all), self);
}
