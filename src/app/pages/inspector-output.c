/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections of the inspector about a tensor: how it is quantized, its histogram and range, and what makes and reads it. */
#include "inspector-sections.h"

#include "vn-format.h"
#include "vn-format-model.h"
#include "vn-i18n.h"
#include "vn-range-editor.h"
#include "vn-rows.h"

#define MAX_READER_ROWS 12

static void
inspector_output_add (GtkWidget *list,
                      GtkWidget *row)
{
  if (row != NULL)
    gtk_list_box_append (GTK_LIST_BOX (list), row);
}

static void
inspector_output_add_scale (GtkWidget          *list,
                            const VnTensorPlan *plan)
{
  g_autofree char *scale = NULL, *zero = NULL;

  if (plan->scale == NULL)
    return;
  if (plan->scale->n_elements > 1)
    {
      scale = g_strdup_printf (_("%u, one per channel"), (guint) plan->scale->n_elements);
      inspector_output_add (list, vn_row_new (_("Scale"), scale));
      return;
    }
  scale = vn_format_number (vn_tensor_get_double (plan->scale, 0), 4);
  inspector_output_add (list, vn_row_new (_("Scale"), scale));
  if (plan->zero_point != NULL && vn_dtype_is_integer (plan->zero_point->dtype))
    {
      zero = vn_format_number ((double) vn_tensor_get_s64 (plan->zero_point, 0), 9);
      inspector_output_add (list, vn_row_new (_("Zero point"), zero));
    }
}

/* Who shares parameters has a range that is not its own: that is told where there is nothing to edit. */
static void
inspector_output_add_plan (GtkWidget         *list,
                           VnInspectedTensor *tensor)
{
  const VnTensorPlan *plan = tensor->plan;

  if (plan->quantized && !vn_inspected_tensor_can_range (tensor))
    {
      g_autofree char *range = vn_format_interval (plan->min, plan->max);

      inspector_output_add (list, vn_row_new (_("Range"), range));
    }
  if (plan->quantized)
    inspector_output_add_scale (list, plan);
  if (plan->quantized && plan->shares != NULL)
    inspector_output_add (list, vn_row_new_wide (_("Shares parameters with"), plan->shares));
  if (plan->rule != NULL)
    inspector_output_add (list, vn_row_new (_("Set by"), plan->rule));
}

static void
inspector_output_add_constant (GtkWidget    *list,
                               VnDocument   *document,
                               VnNodeItem   *item,
                               VnTensorRole  role,
                               const char   *title)
{
  g_autoptr(VnInspectedTensor) constant = vn_inspected_tensor_new_for_constant (document, item, role);

  if (constant != NULL)
    inspector_output_add (list, vn_inspector_precision_row (document, constant, title));
}

static gboolean
inspector_output_has_decision (VnDocument        *document,
                               VnInspectedTensor *tensor)
{
  return tensor->plan != NULL || (tensor->item != NULL &&
                                  (tensor->item->precision != VN_DTYPE_UNDEFINED || tensor->item->has_rule)) ||
         vn_bench_get_shown (VN_BENCH (document)) == NULL;
}

/* Where nobody can quantize there is nothing to choose. */
static gboolean
inspector_output_is_float (VnInspectedTensor *tensor)
{
  const VnModel *model = tensor->item != NULL ? tensor->item->node->graph->model : NULL;
  const VnValue *value = model != NULL ? vn_graph_find_value (model->graph, tensor->source) : NULL;

  return value == NULL || value->type.kind != VN_TYPE_TENSOR || value->type.dtype == VN_DTYPE_UNDEFINED ||
         vn_dtype_is_float (value->type.dtype);
}

static GtkWidget *
inspector_output_wrap (VnDocument *document,
                       const char *title,
                       GtkWidget  *list)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6), *label;
  g_autofree char *prospect = vn_inspector_dup_prospect (document);

  label = vn_label_new (prospect, "caption");
  gtk_widget_add_css_class (label, "dim-label");
  gtk_box_append (GTK_BOX (box), list);
  gtk_box_append (GTK_BOX (box), label);
  return vn_section_new (title, NULL, box);
}

/**
 * vn_inspector_output:
 *
 * Returns: (nullable): how the output of a node and its constants are quantized, to be changed in place, and what decided that
 */
GtkWidget *
vn_inspector_output (VnDocument *document,
                     VnNodeItem *item)
{
  g_autoptr(VnInspectedTensor) tensor = NULL;
  GtkWidget *list;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && VN_IS_NODE_ITEM (item), NULL);

  tensor = vn_inspected_tensor_new_for_node (document, item);
  if (tensor == NULL || !inspector_output_has_decision (document, tensor) || !inspector_output_is_float (tensor) ||
      vn_quantize_count_quantized (vn_bench_get_model (VN_BENCH (document))) > 0)
    return NULL;
  list = vn_row_list_new ();
  /* a clamp or a norm behind the node does its work there */
  if (tensor->plan != NULL && !g_str_equal (tensor->name, tensor->source))
    {
      GtkWidget *row = vn_row_new_wide (_("Quantized at"), tensor->name);

      gtk_widget_set_tooltip_text (row, _("No quantizer lies between the two: changes here apply to this tensor"));
      inspector_output_add (list, row);
    }
  inspector_output_add (list, vn_inspector_precision_row (document, tensor, _("Precision")));
  inspector_output_add (list, vn_inspector_method_row (document, tensor));
  inspector_output_add (list, vn_inspector_range_row (document, tensor));
  if (tensor->plan != NULL)
    inspector_output_add_plan (list, tensor);
  inspector_output_add_constant (list, document, item, VN_TENSOR_WEIGHT, _("Weights"));
  inspector_output_add_constant (list, document, item, VN_TENSOR_BIAS, _("Bias"));
  return inspector_output_wrap (document, _("Output Tensor"), list);
}

/* Of a network that is quantized already: the integers that the tensor becomes, or comes from. */
static const VnNode *
inspector_output_find_conversion (const VnValue *value)
{
  if (value->producer != NULL && vn_node_is (value->producer, "DequantizeLinear"))
    return value->producer;
  for (guint i = 0; i < value->uses->len; i++)
    if (g_array_index (value->uses, VnUse, i).index == 0 &&
        vn_node_is (g_array_index (value->uses, VnUse, i).node, "QuantizeLinear"))
      return g_array_index (value->uses, VnUse, i).node;
  return NULL;
}

static void
inspector_output_add_conversion (GtkWidget     *list,
                                 const VnValue *value)
{
  const VnNode *node = inspector_output_find_conversion (value);
  VnValue *inputs[] = { node != NULL ? vn_node_get_input (node, 1) : NULL, node != NULL ? vn_node_get_input (node, 2) : NULL };
  VnTensor *scale = inputs[0] != NULL ? vn_value_get_constant (inputs[0]) : NULL, *zero = inputs[1] != NULL
                    ? vn_value_get_constant (inputs[1]) : NULL;
  g_autofree char *step = NULL, *point = NULL;

  if (scale == NULL)
    return;
  if (zero != NULL)
    inspector_output_add (list, vn_row_new (_("Quantized to"), vn_dtype_get_name (zero->dtype)));
  step = scale->n_elements == 1 ? vn_format_number (vn_tensor_get_double (scale, 0), 4)
         : g_strdup_printf (_("%u, one per channel"), (guint) scale->n_elements);
  inspector_output_add (list, vn_row_new (_("Scale"), step));
  if (zero == NULL || zero->n_elements != 1 || !vn_dtype_is_integer (zero->dtype))
    return;
  point = vn_format_number ((double) vn_tensor_get_s64 (zero, 0), 9);
  inspector_output_add (list, vn_row_new (_("Zero point"), point));
}

/**
 * vn_inspector_tensor:
 *
 * Returns: shape, type and precision of a tensor between nodes; the precision can be changed in place
 */
GtkWidget *
vn_inspector_tensor (VnDocument        *document,
                     VnInspectedTensor *tensor)
{
  const VnValue *value;
  g_autofree char *shape = NULL;
  GtkWidget *list;
  gboolean can_edit;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && tensor != NULL, NULL);

  value = vn_graph_find_value (vn_bench_get_model (VN_BENCH (document))->graph, tensor->source);
  g_return_val_if_fail (value != NULL, NULL);

  list = vn_row_list_new ();
  shape = vn_format_shape (&value->type);
  can_edit = value->type.kind == VN_TYPE_TENSOR && vn_dtype_is_float (value->type.dtype) &&
             inspector_output_has_decision (document, tensor) &&
             vn_quantize_count_quantized (vn_bench_get_model (VN_BENCH (document))) == 0;
  inspector_output_add (list, vn_row_new (_("Shape"), shape));
  if (value->type.kind == VN_TYPE_TENSOR && value->type.dtype != VN_DTYPE_UNDEFINED)
    inspector_output_add (list, vn_row_new (_("Type"), vn_dtype_get_name (value->type.dtype)));
  if (can_edit)
    {
      inspector_output_add (list, vn_inspector_precision_row (document, tensor, _("Precision")));
      inspector_output_add (list, vn_inspector_method_row (document, tensor));
      inspector_output_add (list, vn_inspector_range_row (document, tensor));
    }
  if (tensor->plan != NULL)
    inspector_output_add_plan (list, tensor);
  else
    inspector_output_add_conversion (list, value);
  return can_edit ? inspector_output_wrap (document, _("Tensor"), list) : vn_section_new (_("Tensor"), NULL, list);
}

/* How many samples the histogram is of. */
static char *
inspector_output_dup_samples (VnRun *result)
{
  const guint n = result->n_calibration, n_counted = result->stats != NULL ? vn_stats_get_n_counted (result->stats) : n;

  if (n_counted < n)
    return g_strdup_printf (ngettext ("%u of %u sample, log count", "%u of %u samples, log count", n), n_counted, n);
  return g_strdup_printf (ngettext ("%u sample, log count", "%u samples, log count", n), n);
}

/**
 * vn_inspector_activations:
 * @tensor: copied
 * @editor: (out) (nullable): the #VnRangeEditor
 *
 * Returns: (nullable): distribution of a tensor over the calibration samples, with its range
 */
GtkWidget *
vn_inspector_activations (VnDocument         *document,
                          VnInspectedTensor  *tensor,
                          GtkWidget         **editor)
{
  g_autofree char *note = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && tensor != NULL && editor != NULL, NULL);

  *editor = NULL;
  if (tensor->histogram == NULL)
    return NULL;
  note = inspector_output_dup_samples (tensor->result);
  *editor = vn_range_editor_new (document, vn_inspected_tensor_copy (tensor));
  return vn_section_new (_("Activations"), note, *editor);
}

/* ---- what makes and reads a tensor ---- */

static void
inspector_output_node_activated (AdwActionRow *row,
                                 VnDocument   *document)
{
  vn_inspector_select_later (document, NULL, GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (row), "node")));
}

static GtkWidget *
inspector_output_make_node_row (VnDocument   *document,
                                const VnNode *node,
                                const char   *place)
{
  g_autoptr(VnNodeItem) item = g_list_model_get_item (vn_document_get_nodes (document), node->index);
  g_autofree char *title = g_strdup_printf ("%s · %s", place, node->op_type);
  GtkWidget *row = vn_row_new_wide (title, item->name);

  gtk_widget_set_tooltip_text (row, item->label);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), gtk_image_new_from_icon_name ("go-next-symbolic"));
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  g_object_set_data (G_OBJECT (row), "node", GUINT_TO_POINTER (node->index));
  g_signal_connect_object (row, "activated", G_CALLBACK (inspector_output_node_activated), document, 0);
  return row;
}

static gboolean
inspector_output_is_in_list (VnDocument   *document,
                             const VnNode *node)
{
  const VnGraph *graph = vn_bench_get_model (VN_BENCH (document))->graph;

  return node != NULL && node->index < graph->nodes->len && g_ptr_array_index (graph->nodes, node->index) == node;
}

/**
 * vn_inspector_tensor_ends:
 *
 * Returns: the node that makes @value, and those that read it: a click selects one
 */
GtkWidget *
vn_inspector_tensor_ends (VnDocument    *document,
                          const VnValue *value)
{
  GtkWidget *list;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && value != NULL, NULL);

  list = vn_row_list_new ();
  if (inspector_output_is_in_list (document, value->producer))
    inspector_output_add (list, inspector_output_make_node_row (document, value->producer, _("from")));
  else if (value->is_input)
    inspector_output_add (list, vn_row_new (_("from"), _("input of the model")));
  for (guint i = 0; i < MIN (value->uses->len, MAX_READER_ROWS); i++)
    if (inspector_output_is_in_list (document, g_array_index (value->uses, VnUse, i).node))
      inspector_output_add (list, inspector_output_make_node_row (document, g_array_index (value->uses, VnUse, i).node, _("to")));
  vn_row_list_add_rest (list, value->uses->len - MIN (value->uses->len, MAX_READER_ROWS));
  if (value->is_output)
    inspector_output_add (list, vn_row_new (_("to"), _("output of the model")));
  return vn_section_new (_("Connections"), NULL, list);
}

/**
 * vn_inspector_dup_way:
 *
 * Returns: (transfer full): where @value comes from and goes to, in a line
 */
char *
vn_inspector_dup_way (VnDocument    *document,
                      const VnValue *value)
{
  const char *from, *to = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && value != NULL, NULL);

  from = vn_value_get_constant (value) != NULL ? _("constant")
         : value->producer != NULL ? value->producer->op_type : _("input of the model");
  if (value->uses->len == 0)
    return g_strdup_printf ("%s → %s", from, value->is_output ? _("output of the model") : "–");
  to = g_array_index (value->uses, VnUse, 0).node->op_type;
  if (value->uses->len == 1)
    return g_strdup_printf (_("tensor · %s → %s"), from, to);
  return g_strdup_printf (ngettext ("tensor · %s → %s and %u more",
                                    "tensor · %s → %s and %u more", value->uses->len - 1), from, to, value->uses->len - 1);
}
