/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inspector: shows the selected node, several of them, a tensor, or the model as a whole; long computations run on a
 * thread. */
#include "vn-inspector.h"

#include "inspector-sections.h"
#include "vn-compare-source.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-later.h"
#include "vn-range-editor.h"
#include "vn-rows.h"
#include "vn-tensor-panel.h"
#include "vn-thread.h"

struct _VnInspector
{
  AdwBin        parent_instance;

  VnDocument   *document;
  GCancellable *cancellable;   /* of the charts that are being computed */
  GtkWidget    *ranges, *weights, *weight_channels;   /* in the present sections, or NULL */
  VnNodeItem   *shown;         /* nullable: whose weights are being counted */
  gboolean      waits;         /* sections are to be made anew once nothing is being moved */
  gboolean      region_waits;  /* the edges of the selected nodes are shown after the other sections */
  VnTensorReader *reader;      /* nullable: samples, for tensors */
  VnRun        *reader_result; /* nullable: that @reader is for */

  GtkLabel     *title, *subtitle;
  GtkWidget    *walk, *sections;
};

G_DEFINE_FINAL_TYPE (VnInspector, vn_inspector, ADW_TYPE_BIN)

/* What takes too long for the main loop: counting the weights. */
typedef struct
{
  VnModel        *model;        /* keeps @node */
  const VnNode   *node;
  VnHistogram    *weights;      /* nullable */
  VnChannelRanges channels;
} Work;

static void
inspector_work_free (gpointer data)
{
  Work *self = data;

  g_clear_pointer (&self->weights, vn_histogram_free);
  vn_channel_ranges_clear (&self->channels);
  vn_model_unref (self->model);
  g_free (self);
}

/* By the channels of the output, where the operator has such. */
static void
inspector_scan_channels (Work           *work,
                         const VnTensor *values)
{
  static const char * const types[] = { "Conv", "ConvTranspose", "Gemm", "MatMul" };
  const VnShape *shape = &values->shape;
  int axis = vn_tensor_query_get_axis (work->node);
  gboolean has_channels = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    has_channels |= vn_node_is (work->node, types[i]);
  if (!has_channels || shape->rank < 2)
    return;
  vn_channel_ranges_scan (&work->channels, values->data, (gsize) vn_shape_count (shape, 0, axis), (gsize) shape->dims[axis],
                          (gsize) vn_shape_count (shape, axis + 1, (int) shape->rank));
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
  inspector_scan_channels (work, aligned);
}

static void
inspector_run_work (GTask        *task,
                    gpointer      source,
                    gpointer      data,
                    GCancellable *cancellable)
{
  if (!g_cancellable_is_cancelled (cancellable))
    inspector_count_weights (data);
  g_task_return_boolean (task, TRUE);
}

static void
inspector_work_done (GObject      *source,
                     GAsyncResult *async,
                     gpointer      data)
{
  VnInspector *self = VN_INSPECTOR (source);
  GTask *task = G_TASK (async);
  Work *work = g_task_get_task_data (task);
  VnHistogram *weights;
  GtkWidget *channels;

  if (!g_task_propagate_boolean (task, NULL) || self->weights == NULL || work->weights == NULL || self->shown == NULL)
    return;
  weights = g_steal_pointer (&work->weights);
  vn_histogram_view_set (VN_HISTOGRAM_VIEW (self->weights), weights, weights, (GDestroyNotify) vn_histogram_free, NULL, 0);
  channels = vn_inspector_weight_channels (self->document, self->shown, &work->channels);
  if (channels != NULL)
    gtk_box_append (GTK_BOX (self->weight_channels), channels);
}

static void
inspector_start_work (VnInspector *self,
                      VnNodeItem  *item)
{
  g_autoptr(GTask) task = NULL;
  Work *work;

  if (self->weights == NULL)
    return;
  g_set_object (&self->shown, item);
  work = g_new0 (Work, 1);
  work->model = vn_model_ref (vn_bench_get_model (VN_BENCH (self->document)));
  work->node = item->node;
  self->cancellable = g_cancellable_new ();
  task = g_task_new (self, self->cancellable, inspector_work_done, NULL);
  g_task_set_task_data (task, work, inspector_work_free);
  vn_thread_run_task (task, inspector_run_work);
}

static void inspector_rebuild (VnInspector *self);

static void
inspector_settled (VnInspector *self)
{
  if (self->waits)
    inspector_rebuild (self);
}

static void
inspector_append (VnInspector *self,
                  GtkWidget   *section)
{
  if (section != NULL)
    gtk_box_append (GTK_BOX (self->sections), section);
}

/* Histogram with the range, and the ranges of channels. */
static void
inspector_add_activations (VnInspector       *self,
                           VnInspectedTensor *tensor)
{
  inspector_append (self, vn_inspector_activations (self->document, tensor, &self->ranges));
  inspector_append (self, vn_inspector_channels (self->document, tensor));
  if (self->ranges != NULL)
    g_signal_connect_object (self->ranges, "settled", G_CALLBACK (inspector_settled), self, G_CONNECT_SWAPPED);
}

static void
inspector_show_node (VnInspector *self,
                     VnNodeItem  *item)
{
  g_autoptr(VnInspectedTensor) tensor = vn_inspected_tensor_new_for_node (self->document, item);
  guint n = g_list_model_get_n_items (vn_document_get_nodes (self->document));
  g_autofree char *subtitle = g_strdup_printf (_("%s · node %u of %u"), item->name, item->index + 1, n);

  gtk_label_set_label (self->title, item->node->op_type);
  gtk_label_set_label (self->subtitle, subtitle);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->subtitle), item->label);
  inspector_append (self, vn_inspector_unsupported (item->node));
  inspector_append (self, vn_inspector_error_card (self->document, item));
  inspector_append (self, vn_inspector_cures (self->document, item));
  inspector_append (self, vn_inspector_actions (vn_dtype_get_bits (item->precision) != 16, !item->excluded,
                                                item->has_rule));
  inspector_append (self, vn_inspector_output (self->document, item));
  if (tensor != NULL)
    inspector_add_activations (self, tensor);
  inspector_append (self, vn_inspector_origins (self->document, item));
  inspector_append (self, vn_inspector_weights (item->node, &self->weights, &self->weight_channels));
  inspector_append (self, vn_inspector_attributes (item->node));
  inspector_append (self, vn_inspector_inputs (self->document, item->node));
  inspector_append (self, vn_inspector_outputs (self->document, item->node));
  inspector_start_work (self, item);
}

/* The samples are opened once for all tensors of a run. */
static VnTensorReader *
inspector_get_reader (VnInspector *self,
                      VnRun       *result)
{
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnDataSpec) data = NULL;
  guint n_calibration;

  if (self->reader != NULL && self->reader_result == result)
    return self->reader;
  g_clear_pointer (&self->reader, vn_tensor_reader_unref);
  g_clear_pointer (&self->reader_result, vn_run_unref);
  data = vn_compare_source_dup_data (self->document, result, &shapes, &n_calibration);
  self->reader = vn_tensor_reader_new (data, shapes, n_calibration);
  self->reader_result = vn_run_ref (result);
  return self->reader;
}

static const char *
inspector_explain_no_values (VnInspector *self,
                             gboolean     has_result)
{
  if (has_result)
    return _("One of the two models has no such tensor: it was folded into another.");
  if (vn_quantize_count_quantized (vn_bench_get_model (VN_BENCH (self->document))) > 0)
    return _("This model is already quantized: Compare shows its values next to those of its float model.");
  return _("Float and quantized values are shown after quantization.");
}

static void
inspector_add_values (VnInspector       *self,
                      VnInspectedTensor *tensor)
{
  VnRun *result = vn_bench_get_confirmed (VN_BENCH (self->document));
  GtkWidget *panel = result != NULL ? vn_tensor_panel_new (self->document, inspector_get_reader (self, result), tensor) : NULL;

  if (panel != NULL)
    inspector_append (self, vn_section_new (_("Values"), vn_bench_is_stale (VN_BENCH (self->document))
                                            ? _("of the last full run") : NULL, panel));
  else
    inspector_append (self, vn_section_new (_("Values"), NULL,
                                            vn_label_new (inspector_explain_no_values (self, result != NULL), "dim-label")));
}

static void
inspector_show_tensor (VnInspector *self,
                       const char  *name)
{
  g_autoptr(VnInspectedTensor) tensor = vn_inspected_tensor_new_for_value (self->document, name);
  const VnValue *value = vn_graph_find_value (vn_bench_get_model (VN_BENCH (self->document))->graph, name);
  g_autofree char *way = vn_inspector_dup_way (self->document, value);

  gtk_label_set_label (self->title, name);
  gtk_label_set_label (self->subtitle, way);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->title), name);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->subtitle), way);
  inspector_append (self, vn_inspector_tensor (self->document, tensor));
  inspector_add_values (self, tensor);
  inspector_add_activations (self, tensor);
  inspector_append (self, vn_inspector_tensor_ends (self->document, value));
}

static void
inspector_show_region (VnInspector *self)
{
  if (!self->region_waits)
    return;
  self->region_waits = FALSE;
  inspector_append (self, vn_inspector_region (self->document, vn_document_get_selection (self->document)));
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
  self->region_waits = TRUE;
  vn_later_frame (GTK_WIDGET (self), self->document, (VnLaterFunc) inspector_show_region);
}

/* Nothing is selected: the model as a whole. */
static void
inspector_show_model (VnInspector *self)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));
  g_autofree char *title = vn_bench_dup_title (VN_BENCH (self->document));
  g_autofree char *size = NULL, *opset = NULL, *nodes = NULL, *weights = NULL;
  GtkWidget *list = vn_row_list_new ();
  guint n_quantized = vn_quantize_count_quantized (model);

  gtk_label_set_label (self->title, title);
  gtk_label_set_label (self->subtitle, _("Select a node to see its details"));
  size = vn_format_bytes (model->file_size);
  weights = vn_format_bytes (vn_graph_weight_bytes (model->graph));
  opset = g_strdup_printf ("%" G_GINT64_FORMAT, vn_model_get_opset (model, ""));
  nodes = g_strdup_printf ("%u", model->graph->nodes->len);
  gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new (_("Nodes"), nodes));
  gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new (_("File size"), size));
  gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new (_("Weights"), weights));
  gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new (_("Opset"), opset));
  if (model->producer_name != NULL && *model->producer_name != 0)
    gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new (_("Producer"), model->producer_name));
  if (n_quantized > 0)
    {
      g_autofree char *quantized = g_strdup_printf (_("%u of %u"), n_quantized, model->graph->nodes->len);

      gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new (_("Already quantized"), quantized));
    }
  inspector_append (self, vn_section_new (_("Model"), NULL, list));
}

/* Whose name begins so was edited in place: it gets the focus back. */
#define EDITED "edit-"

static char *
inspector_dup_focus (VnInspector *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;

  if (focus == NULL || !gtk_widget_is_ancestor (focus, self->sections))
    return NULL;
  for (; focus != self->sections; focus = gtk_widget_get_parent (focus))
    if (g_str_has_prefix (gtk_widget_get_name (focus), EDITED))
      return g_strdup (gtk_widget_get_name (focus));
  return NULL;
}

static gboolean
inspector_give_focus (GtkWidget  *widget,
                      const char *name)
{
  if (g_str_equal (gtk_widget_get_name (widget), name))
    return gtk_widget_grab_focus (widget);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    if (inspector_give_focus (child, name))
      return TRUE;
  return FALSE;
}

static void
inspector_clear (VnInspector *self)
{
  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_object (&self->shown);
  self->ranges = self->weights = self->weight_channels = NULL;
  self->waits = self->region_waits = FALSE;
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->title), NULL);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->subtitle), NULL);
  vn_box_clear (self->sections);
}

static void
inspector_fill (VnInspector *self)
{
  GtkBitset *selection = vn_document_get_selection (self->document);
  guint n = (guint) gtk_bitset_get_size (selection);

  if (vn_document_get_tensor (self->document) != NULL)
    inspector_show_tensor (self, vn_document_get_tensor (self->document));
  else if (n == 0)
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

/* What somebody holds stays until it is let go. */
static void
inspector_rebuild (VnInspector *self)
{
  g_autofree char *focus = NULL;

  if (self->ranges != NULL && vn_range_editor_is_moving (VN_RANGE_EDITOR (self->ranges)))
    {
      self->waits = TRUE;
      return;
    }
  focus = inspector_dup_focus (self);
  inspector_clear (self);
  gtk_widget_set_visible (self->walk, vn_bench_get_model (VN_BENCH (self->document)) != NULL);
  if (vn_bench_get_model (VN_BENCH (self->document)) == NULL)
    return;
  inspector_fill (self);
  if (focus != NULL)
    inspector_give_focus (self->sections, focus);
}

static void
inspector_changed (VnInspector *self)
{
  vn_later (self, self->document, (VnLaterFunc) inspector_rebuild);
}

/* Another node, another model: what is held is let go, nothing of the one before stays. */
static void
inspector_turn (VnInspector *self)
{
  inspector_clear (self);
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

  static const char * const turns[] = { "changed::model", "selection-changed" };
  static const char * const signals[] = { "changed::run", "changed::recipe", "changed::expected" };

  self->document = g_object_ref (document);
  for (guint i = 0; i < G_N_ELEMENTS (turns); i++)
    g_signal_connect_object (document, turns[i], G_CALLBACK (inspector_turn), self, G_CONNECT_SWAPPED);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_object (document, signals[i], G_CALLBACK (inspector_changed), self, G_CONNECT_SWAPPED);
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
  g_clear_object (&self->shown);
  g_clear_pointer (&self->reader, vn_tensor_reader_unref);
  g_clear_pointer (&self->reader_result, vn_run_unref);
  self->ranges = self->weights = self->weight_channels = NULL;
  gtk_widget_dispose_template (GTK_WIDGET (self), VN_TYPE_INSPECTOR);
  G_OBJECT_CLASS (vn_inspector_parent_class)->dispose (object);
}

static void
vn_inspector_class_init (VnInspectorClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_inspector_dispose;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
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
