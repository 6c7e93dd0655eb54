/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections of the inspector: error, precision, scales, attributes, inputs and outputs, histograms. */
#include "inspector-sections.h"

#include "vn-button-names.h"
#include "vn-cause.h"
#include "vn-constant-panel.h"
#include "vn-cure-offers.h"
#include "vn-format.h"
#include "vn-format-model.h"
#include "vn-i18n.h"
#include "vn-node-cell.h"
#include "vn-rows.h"
#include "vn-swatch.h"

#include <math.h>

#define MAX_ATTR_ROWS 40
#define MAX_VALUE_ROWS 12

static char *
inspector_sections_describe_error (VnNodeItem *item)
{
  g_autofree char *db = vn_format_db (item->metrics[VN_METRIC_SQNR]);
  g_autofree char *noise = vn_metric_format (VN_METRIC_NOISE, item->metrics[VN_METRIC_NOISE]);
  g_autofree char *cosine = vn_metric_format (VN_METRIC_COSINE, item->metrics[VN_METRIC_COSINE]);

  return g_markup_printf_escaped ("<b>%s</b> <span alpha=\"55%%\" size=\"small\">· %s %s · %s %s</span>", db,
                                  _("noise-to-signal ratio"), noise, _("cosine"), cosine);
}

/**
 * vn_inspector_error_card:
 *
 * Returns: (nullable): the error in numbers, and where it comes from
 */
GtkWidget *
vn_inspector_error_card (VnDocument *document,
                         VnNodeItem *item)
{
  VnRun *result;
  GtkWidget *card, *swatch, *texts, *numbers;
  g_autofree char *markup = NULL, *cause = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && VN_IS_NODE_ITEM (item), NULL);

  result = vn_bench_get_shown (VN_BENCH (document));
  if (result == NULL || (!item->measured && !item->excluded))
    return NULL;
  card = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 3);
  swatch = vn_swatch_new (FALSE);
  vn_swatch_set (VN_SWATCH (swatch), item->excluded ? VN_SWATCH_FLOAT : VN_SWATCH_VALUE, VN_METRIC_SQNR,
                 item->metrics[VN_METRIC_SQNR]);
  markup = item->measured ? inspector_sections_describe_error (item) : g_strdup (_("Not measured"));
  numbers = vn_label_new (NULL, "numeric");
  gtk_label_set_markup (GTK_LABEL (numbers), markup);
  gtk_box_append (GTK_BOX (texts), numbers);
  if (result->state == VN_RUN_ESTIMATED)
    gtk_box_append (GTK_BOX (texts), vn_label_new (_("Estimated; a full run will confirm it"), "caption"));
  cause = vn_cure_offers_dup_reason (document, item);
  if (cause == NULL)
    cause = vn_cause_describe (result, item->node);
  if (cause != NULL)
    gtk_box_append (GTK_BOX (texts), vn_label_new (cause, "caption"));
  gtk_widget_set_hexpand (texts, TRUE);
  gtk_box_append (GTK_BOX (card), swatch);
  gtk_box_append (GTK_BOX (card), texts);
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "error-card");
  return card;
}

/**
 * vn_inspector_unsupported:
 *
 * Returns: (nullable): that @node cannot be run, and what follows from that
 */
GtkWidget *
vn_inspector_unsupported (const VnNode *node)
{
  g_autofree char *what = NULL, *text = NULL;
  GtkWidget *card;

  /* Calls of functions are expanded before anything is run. */
  if (vn_op_has_kernel (node) || vn_model_find_function (node->graph->model, node->domain, node->op_type) != NULL)
    return NULL;
  what = vn_op_describe_node (node);
  text = g_strdup_printf (_("Cannot be run by Vernier (%s). Nodes that depend on it are not computed and stay in float."), what);
  card = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  gtk_box_append (GTK_BOX (card), gtk_image_new_from_icon_name ("dialog-warning-symbolic"));
  gtk_box_append (GTK_BOX (card), vn_label_new (text, "caption"));
  gtk_widget_add_css_class (card, "card");
  gtk_widget_add_css_class (card, "error-card");
  return card;
}

/**
 * vn_inspector_actions:
 *
 * Returns: the buttons that change the precision of the selected nodes
 */
GtkWidget *
vn_inspector_actions (gboolean can_widen,
                      gboolean can_exclude,
                      gboolean can_restore)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *wide = vn_button_new_with_mnemonic (_("Use _16-Bit"));
  GtkWidget *exclude = vn_button_new_with_mnemonic (_("E_xclude"));
  GtkWidget *restore = vn_button_new_with_mnemonic (_("Re_store"));

  gtk_actionable_set_action_name (GTK_ACTIONABLE (wide), "win.set-precision");
  gtk_actionable_set_action_target (GTK_ACTIONABLE (wide), "s", "16");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (exclude), "win.exclude");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (restore), "win.restore");
  gtk_widget_set_tooltip_text (wide, _("Double the Bit Width of the Output"));
  gtk_widget_set_tooltip_text (exclude, _("Leave in Float (Delete)"));
  gtk_widget_set_tooltip_text (restore, _("Use Target Default"));
  gtk_widget_set_visible (wide, can_widen);
  gtk_widget_set_visible (exclude, can_exclude);
  gtk_widget_set_visible (restore, can_restore);
  gtk_widget_set_hexpand (wide, TRUE);
  gtk_widget_set_hexpand (exclude, TRUE);
  gtk_widget_set_hexpand (restore, TRUE);
  gtk_box_append (GTK_BOX (box), wide);
  gtk_box_append (GTK_BOX (box), exclude);
  gtk_box_append (GTK_BOX (box), restore);
  return box;
}

static void
inspector_sections_add_row (GtkWidget  *list,
                            const char *title,
                            const char *value)
{
  gtk_list_box_append (GTK_LIST_BOX (list), vn_row_new (title, value));
}

/**
 * vn_inspector_attributes:
 */
GtkWidget *
vn_inspector_attributes (const VnNode *node)
{
  GtkWidget *list;

  if (node->attrs->len == 0)
    return NULL;
  list = vn_row_list_new ();
  for (guint i = 0; i < MIN (node->attrs->len, MAX_ATTR_ROWS); i++)
    {
      const VnAttr *attr = g_ptr_array_index (node->attrs, i);
      g_autofree char *value = vn_format_attr (attr);

      inspector_sections_add_row (list, attr->name, value);
    }
  vn_row_list_add_rest (list, node->attrs->len - MIN (node->attrs->len, MAX_ATTR_ROWS));
  return vn_section_new (_("Attributes"), NULL, list);
}

static void
inspector_sections_value_activated (AdwActionRow *row,
                                    VnDocument   *document)
{
  vn_inspector_select_later (document, gtk_widget_get_tooltip_text (GTK_WIDGET (row)), 0);
}

/* A tensor is shown by a click; of a constant of one element stands here what it is. */
static void
inspector_sections_add_value_row (GtkWidget     *list,
                                  VnDocument    *document,
                                  const VnValue *value)
{
  g_autofree char *shape = vn_format_shape (&value->type);
  const VnTensor *constant = vn_value_get_constant (value);
  const char *kind = value->initializer != NULL ? _("weight") : value->is_input ? _("input of the model")
                     : value->is_output ? _("output of the model") : NULL;
  g_autofree char *under = kind != NULL ? g_strdup_printf ("%s · %s", shape, kind) : g_strdup (shape);
  GtkWidget *row = vn_row_new_wide (value->name, under);

  gtk_widget_set_tooltip_text (row, value->name);
  if (value->type.kind == VN_TYPE_TENSOR && value->type.dtype != VN_DTYPE_UNDEFINED)
    {
      GtkWidget *type = gtk_label_new (vn_dtype_get_name (value->type.dtype));

      gtk_widget_add_css_class (type, "caption");
      gtk_widget_add_css_class (type, "dim-label");
      adw_action_row_add_suffix (ADW_ACTION_ROW (row), type);
    }
  if (constant != NULL && constant->n_elements == 1 && vn_tensor_has_numbers (constant))
    {
      g_autofree char *text = vn_constant_dup_element (constant, 0);
      GtkWidget *label = gtk_label_new (text);

      gtk_widget_add_css_class (label, "numeric");
      adw_action_row_add_suffix (ADW_ACTION_ROW (row), label);
    }
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), gtk_image_new_from_icon_name ("go-next-symbolic"));
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  g_signal_connect_object (row, "activated", G_CALLBACK (inspector_sections_value_activated), document, 0);
  gtk_list_box_append (GTK_LIST_BOX (list), row);
}

/**
 * vn_inspector_values:
 * @values: (element-type VnValue): what a node or the model reads or writes; %NULL for what is left out
 *
 * Returns: (nullable): a row for each: a click shows the tensor; %NULL: there are none
 */
GtkWidget *
vn_inspector_values (VnDocument *document,
                     const char *title,
                     GPtrArray  *values)
{
  GtkWidget *list;
  guint n = 0;
  g_autofree char *note = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && values != NULL, NULL);

  if (values->len == 0)
    return NULL;
  list = vn_row_list_new ();
  for (guint i = 0; i < values->len; i++)
    if (g_ptr_array_index (values, i) != NULL && n++ < MAX_VALUE_ROWS)
      inspector_sections_add_value_row (list, document, g_ptr_array_index (values, i));
  vn_row_list_add_rest (list, n - MIN (n, MAX_VALUE_ROWS));
  note = g_strdup_printf ("%u", values->len);
  return vn_section_new (title, values->len > 1 ? note : NULL, list);
}

/**
 * vn_inspector_weights:
 *
 * Returns: (nullable): the weights of a node: as they are stored, and what they stand for
 */
GtkWidget *
vn_inspector_weights (VnDocument *document,
                      VnNodeItem *item)
{
  VnStoredWeight stored;
  gboolean is_stored = FALSE;
  const VnValue *weight;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && VN_IS_NODE_ITEM (item), NULL);

  weight = vn_node_find_weight (item->node, &stored, &is_stored);
  if (weight == NULL)
    return NULL;
  return vn_section_new (_("Weights"), weight->name, vn_constant_panel_new (document, weight, is_stored ? &stored : NULL, item));
}

/**
 * vn_inspector_constant:
 * @value: a constant of the opened model
 *
 * Returns: what it holds
 */
GtkWidget *
vn_inspector_constant (VnDocument    *document,
                       const VnValue *value)
{
  VnStoredWeight stored;
  gboolean is_stored;

  g_return_val_if_fail (VN_IS_DOCUMENT (document) && value != NULL, NULL);

  is_stored = vn_constant_find_stored (value, &stored);
  return vn_section_new (_("Constant"), NULL, vn_constant_panel_new (document, value, is_stored ? &stored : NULL, NULL));
}

typedef struct
{
  const char *op_type;
  VnDType     precision;
  gboolean    mixed_type, mixed_precision, measured;
  guint       n, n_excluded;
  guint64     weight_bytes;
  double      worst_db;
} Shared;

static void
inspector_sections_share_item (Shared     *shared,
                               VnNodeItem *item)
{
  if (shared->n++ == 0)
    {
      shared->op_type = item->node->op_type;
      shared->precision = item->precision;
      shared->worst_db = INFINITY;
    }
  shared->mixed_type |= !g_str_equal (shared->op_type, item->node->op_type);
  shared->mixed_precision |= shared->precision != item->precision;
  shared->n_excluded += item->excluded;
  shared->weight_bytes += item->weight_bytes;
  shared->measured |= item->measured;
  if (item->measured && !(item->metrics[VN_METRIC_SQNR] >= shared->worst_db))
    shared->worst_db = item->metrics[VN_METRIC_SQNR];
}

/**
 * vn_inspector_shared:
 *
 * Returns: what several nodes share, "mixed" where they differ
 */
GtkWidget *
vn_inspector_shared (VnDocument *document,
                     GtkBitset  *selection)
{
  GtkWidget *list = vn_row_list_new ();
  Shared shared = { 0 };
  GtkBitsetIter iter;
  guint index;
  g_autofree char *excluded = NULL, *bytes = NULL, *worst = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (document), NULL);
  g_return_val_if_fail (selection != NULL, NULL);

  for (gboolean ok = gtk_bitset_iter_init_first (&iter, selection, &index); ok;
       ok = gtk_bitset_iter_next (&iter, &index))
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (vn_document_get_nodes (document), index);

      inspector_sections_share_item (&shared, item);
    }
  excluded = g_strdup_printf (_("%u of %u"), shared.n_excluded, shared.n);
  bytes = vn_format_bytes (shared.weight_bytes);
  worst = shared.measured ? vn_format_db (shared.worst_db) : g_strdup ("–");
  inspector_sections_add_row (list, _("Type"), shared.mixed_type ? _("mixed") : shared.op_type);
  if (shared.mixed_precision)
    inspector_sections_add_row (list, _("Precision"), _("mixed"));
  else if (shared.precision != VN_DTYPE_UNDEFINED)
    inspector_sections_add_row (list, _("Precision"), vn_dtype_get_name (shared.precision));
  inspector_sections_add_row (list, _("Worst SQNR"), worst);
  inspector_sections_add_row (list, _("Weights"), bytes);
  inspector_sections_add_row (list, _("Left in float"), excluded);
  return vn_section_new (_("Shared"), NULL, list);
}
