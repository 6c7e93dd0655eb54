/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inspector: shows the selected node, several of them, or the model as a whole; long computations run on a
 * thread. */
#include "vn-inspector.h"

#include "inspector-sections.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-later.h"
#include "vn-rows.h"

#define MAX_RANGES 24

struct _VnInspector
{
  AdwBin        parent_instance;

  VnDocument   *document;
  GCancellable *cancellable;   /* of the charts that are being computed */
  GtkWidget    *activations, *table, *weights;   /* in the present sections, or NULL */

  GtkLabel     *title, *subtitle;
  GtkWidget    *walk, *sections;
};

G_DEFINE_FINAL_TYPE (VnInspector, vn_inspector, ADW_TYPE_BIN)

/* What takes too long for the main loop: the range of every method, and counting the weights. */
typedef struct
{
  VnResult     *result;         /* nullable */
  VnModel      *model;          /* keeps @node */
  const VnNode *node;
  double        percentile;
  gboolean      symmetric;
  VnChartRange  ranges[MAX_RANGES];
  guint         n_ranges;
  VnHistogram  *weights;        /* nullable */
} Work;

static void
inspector_work_free (gpointer data)
{
  Work *self = data;

  g_clear_pointer (&self->result, vn_result_unref);
  g_clear_pointer (&self->weights, vn_histogram_free);
  vn_model_unref (self->model);
  g_free (self);
}

static void
inspector_find_ranges (Work *work)
{
  const VnHistogram *histogram = vn_result_get_node_histogram (work->result, work->node);
  const VnTensorPlan *plan = vn_result_get_node_plan (work->result, work->node);
  VnRangeSettings settings = { .percentile = work->percentile, .symmetric = work->symmetric,
                               .two_sided = work->result->recipe->two_sided,
                               .bits = vn_dtype_get_bits (work->result->recipe->activation) };
  guint n;
  const VnRangeMethod * const *methods = vn_range_method_list (&n);

  if (histogram == NULL)
    return;
  if (plan != NULL && plan->quantized)
    work->ranges[work->n_ranges++] = (VnChartRange) { plan->min, plan->max, 0, _("In use"), TRUE };
  for (guint i = 0; i < n && work->n_ranges < MAX_RANGES; i++)
    {
      VnRange range;

      if (methods[i]->range (histogram, &settings, &range, NULL))
        work->ranges[work->n_ranges++] = (VnChartRange) { range.min, range.max, methods[i]->letter,
                                                          _(methods[i]->title), FALSE };
    }
}

static void
inspector_count_weights (Work *work)
{
  VnValue *weight = vn_inspector_find_weight (work->node);
  VnTensor *tensor = weight != NULL ? vn_value_get_constant (weight) : NULL;
  g_autoptr(VnTensor) values = tensor != NULL ? vn_tensor_convert (tensor, VN_DTYPE_F32, NULL) : NULL;
  g_autoptr(VnTensor) aligned = values != NULL ? vn_tensor_get_aligned (values, NULL) : NULL;
  g_autoptr(VnHistogramScratch) scratch = NULL;

  if (aligned == NULL)
    return;
  scratch = vn_scratch_new ();
  work->weights = vn_histogram_new ();
  vn_histogram_scan (work->weights, scratch, aligned->data, aligned->n_elements);
}

static void
inspector_run_work (GTask        *task,
                    gpointer      source,
                    gpointer      data,
                    GCancellable *cancellable)
{
  Work *work = data;

  if (work->result != NULL)
    inspector_find_ranges (work);
  if (!g_cancellable_is_cancelled (cancellable))
    inspector_count_weights (work);
  g_task_return_boolean (task, TRUE);
}

static void
inspector_fill_table (VnInspector *self,
                      const Work  *work)
{
  for (guint i = 0; i < work->n_ranges; i++)
    {
      const VnChartRange *range = &work->ranges[i];
      char letter[2] = { range->letter, 0 };
      g_autofree char *interval = vn_format_interval (range->min, range->max);
      GtkWidget *cells[] = { vn_label_new (letter, "heading"), vn_label_new (range->title, NULL),
                             vn_label_new (interval, "numeric") };

      gtk_widget_set_hexpand (cells[1], TRUE);
      gtk_label_set_xalign (GTK_LABEL (cells[2]), 1);
      for (guint column = 0; column < G_N_ELEMENTS (cells); column++)
        {
          gtk_widget_add_css_class (cells[column], range->is_current ? "caption-heading" : "caption");
          gtk_grid_attach (GTK_GRID (self->table), cells[column], (int) column, (int) i, 1, 1);
        }
    }
}

static void
inspector_show_weights (VnInspector *self,
                        Work        *work)
{
  VnHistogram *weights = g_steal_pointer (&work->weights);

  vn_histogram_view_set (VN_HISTOGRAM_VIEW (self->weights), weights, weights,
                         (GDestroyNotify) vn_histogram_free, NULL, 0);
}

static void
inspector_work_done (GObject      *source,
                     GAsyncResult *async,
                     gpointer      data)
{
  VnInspector *self = VN_INSPECTOR (source);
  GTask *task = G_TASK (async);
  Work *work = g_task_get_task_data (task);
  const VnHistogram *histogram;

  if (!g_task_propagate_boolean (task, NULL))
    return;
  if (self->activations != NULL && work->result != NULL)
    {
      histogram = vn_result_get_node_histogram (work->result, work->node);
      vn_histogram_view_set (VN_HISTOGRAM_VIEW (self->activations), histogram, vn_result_ref (work->result),
                             (GDestroyNotify) vn_result_unref, work->ranges, work->n_ranges);
      inspector_fill_table (self, work);
    }
  if (self->weights != NULL && work->weights != NULL)
    inspector_show_weights (self, work);
}

static void
inspector_start_work (VnInspector *self,
                      VnNodeItem  *item)
{
  const VnRecipe *recipe = vn_document_get_recipe (self->document);
  VnResult *result = vn_document_get_result (self->document);
  g_autoptr(GTask) task = NULL;
  Work *work;

  if (self->activations == NULL && self->weights == NULL)
    return;
  work = g_new0 (Work, 1);
  work->result = result != NULL ? vn_result_ref (result) : NULL;
  work->model = vn_model_ref (vn_document_get_model (self->document));
  work->node = item->node;
  work->percentile = recipe->percentile;
  work->symmetric = recipe->symmetric_activations;
  self->cancellable = g_cancellable_new ();
  task = g_task_new (self, self->cancellable, inspector_work_done, NULL);
  g_task_set_task_data (task, work, inspector_work_free);
  g_task_run_in_thread (task, inspector_run_work);
}

static void
inspector_append (VnInspector *self,
                  GtkWidget   *section)
{
  if (section != NULL)
    gtk_box_append (GTK_BOX (self->sections), section);
}

static void
inspector_show_node (VnInspector *self,
                     VnNodeItem  *item)
{
  VnResult *result = vn_document_get_result (self->document);
  guint n = g_list_model_get_n_items (vn_document_get_nodes (self->document));
  g_autofree char *subtitle = g_strdup_printf (_("%s · node %u of %u"), item->name, item->index + 1, n);

  gtk_label_set_label (self->title, item->node->op_type);
  gtk_label_set_label (self->subtitle, subtitle);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->subtitle), item->label);
  inspector_append (self, vn_inspector_unsupported (item->node));
  inspector_append (self, vn_inspector_error_card (self->document, item));
  inspector_append (self, vn_inspector_cures (self->document, item));
  inspector_append (self, vn_inspector_origins (self->document, item));
  inspector_append (self, vn_inspector_actions (vn_dtype_get_bits (item->precision) != 16, !item->excluded,
                                                item->has_rule));
  inspector_append (self, vn_inspector_output (result, item));
  inspector_append (self, vn_inspector_activations (result, item, &self->activations, &self->table));
  inspector_append (self, vn_inspector_weights (item->node, &self->weights));
  inspector_append (self, vn_inspector_attributes (item->node));
  inspector_append (self, vn_inspector_inputs (item->node));
  inspector_append (self, vn_inspector_outputs (item->node));
  inspector_start_work (self, item);
}

static void
inspector_show_many (VnInspector *self,
                     GtkBitset   *selection,
                     guint        n)
{
  g_autofree char *title = g_strdup_printf (ngettext ("%u Node", "%u Nodes", n), n);

  gtk_label_set_label (self->title, title);
  gtk_label_set_label (self->subtitle, _("selected together"));
  inspector_append (self, vn_inspector_actions (TRUE, TRUE, TRUE));
  inspector_append (self, vn_inspector_shared (self->document, selection));
  inspector_append (self, vn_inspector_region (vn_document_get_model (self->document)->graph,
                                               vn_document_get_recipe (self->document), selection));
}

/* Nothing is selected: the model as a whole. */
static void
inspector_show_model (VnInspector *self)
{
  VnModel *model = vn_document_get_model (self->document);
  g_autofree char *title = vn_document_dup_title (self->document);
  g_autofree char *size = NULL, *opset = NULL, *nodes = NULL, *weights = NULL;
  GtkWidget *list = vn_row_list_new ();
  guint n_quantized = vn_quantize_count_quantized (model);

  gtk_label_set_label (self->title, title);
  gtk_label_set_label (self->subtitle, _("Select a node to see more of it"));
  size = vn_format_bytes (model->file_size);
  weights = vn_format_bytes (vn_graph_weight_bytes (model->graph));
  opset = g_strdup_printf ("%" G_GINT64_FORMAT, vn_model_get_opset (model, ""));
  nodes = g_strdup_printf ("%u", model->graph->nodes->len);
  gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new (_("Nodes"), nodes));
  gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new (_("File size"), size));
  gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new (_("Weights"), weights));
  gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new (_("Opset"), opset));
  if (model->producer_name != NULL && *model->producer_name != 0)
    gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new (_("Made by"), model->producer_name));
  if (n_quantized > 0)
    {
      g_autofree char *quantized = g_strdup_printf (_("%u of %u"), n_quantized, model->graph->nodes->len);

      gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new (_("Quantized already"), quantized));
    }
  inspector_append (self, vn_section_new (_("Model"), NULL, list));
}

static void
inspector_rebuild (VnInspector *self)
{
  GtkBitset *selection = vn_document_get_selection (self->document);
  guint n = (guint) gtk_bitset_get_size (selection);

  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  self->activations = self->table = self->weights = NULL;
  vn_box_clear (self->sections);
  gtk_widget_set_visible (self->walk, vn_document_get_model (self->document) != NULL);
  if (vn_document_get_model (self->document) == NULL)
    return;
  if (n == 0)
    inspector_show_model (self);
  else if (n > 1)
    inspector_show_many (self, selection, n);
  else
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (vn_document_get_nodes (self->document),
                                                          gtk_bitset_get_minimum (selection));

      inspector_show_node (self, item);
    }
}

static void
inspector_changed (VnInspector *self)
{
  vn_later (self, self->document, (VnLaterFunc) inspector_rebuild);
}

/* Nothing of the model before stays. */
static void
inspector_model_changed (VnInspector *self)
{
  vn_box_clear (self->sections);
  inspector_changed (self);
}

/**
 * vn_inspector_set_document:
 */
void
vn_inspector_set_document (VnInspector *self,
                           VnDocument  *document)
{
  g_return_if_fail (VN_IS_INSPECTOR (self));
  g_return_if_fail (VN_IS_DOCUMENT (document));

  static const char * const signals[] = { "selection-changed", "result-changed", "recipe-changed" };

  self->document = g_object_ref (document);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_object (document, signals[i], G_CALLBACK (inspector_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "model-changed", G_CALLBACK (inspector_model_changed), self, G_CONNECT_SWAPPED);
  inspector_rebuild (self);
}

static void
vn_inspector_dispose (GObject *object)
{
  VnInspector *self = VN_INSPECTOR (object);

  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_object (&self->document);
  self->activations = self->table = self->weights = NULL;
  gtk_widget_dispose_template (GTK_WIDGET (self), VN_TYPE_INSPECTOR);
  G_OBJECT_CLASS (vn_inspector_parent_class)->dispose (object);
}

static void
vn_inspector_class_init (VnInspectorClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_inspector_dispose;
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-inspector.ui");
  gtk_widget_class_bind_template_child (widget_class, VnInspector, title);
  gtk_widget_class_bind_template_child (widget_class, VnInspector, subtitle);
  gtk_widget_class_bind_template_child (widget_class, VnInspector, walk);
  gtk_widget_class_bind_template_child (widget_class, VnInspector, sections);
}

static void
vn_inspector_init (VnInspector *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}
