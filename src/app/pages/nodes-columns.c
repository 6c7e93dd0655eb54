/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of the table of nodes: what each shows and how it sorts. */
#include "nodes-columns.h"

#include "vn-badge.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-node-cell.h"
#include "vn-swatch.h"
#include "vn-tooltip.h"

#include <math.h>
#include <string.h>

static GtkWidget *
nodes_columns_make_text (void)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  return label;
}

static GtkWidget *
nodes_columns_make_number (void)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 1);
  gtk_widget_add_css_class (label, "numeric");
  return label;
}

static GtkWidget *
nodes_columns_make_strong_number (void)
{
  GtkWidget *label = nodes_columns_make_number ();

  gtk_widget_add_css_class (label, "heading");
  return label;
}

static GtkWidget *
nodes_columns_make_bar (void)
{
  return vn_swatch_new (TRUE);
}

/* A short bar, and the share beside it. */
static GtkWidget *
nodes_columns_make_share (void)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  GtkWidget *bar = vn_swatch_new_bar (72), *label = nodes_columns_make_strong_number ();

  gtk_widget_set_hexpand (label, TRUE);
  gtk_box_append (GTK_BOX (box), bar);
  gtk_box_append (GTK_BOX (box), label);
  return box;
}

static GtkWidget *
nodes_columns_make_name (void)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  GtkWidget *label = nodes_columns_make_text ();

  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_width_chars (GTK_LABEL (label), 16);
  gtk_box_append (GTK_BOX (box), vn_swatch_new (FALSE));
  gtk_box_append (GTK_BOX (box), label);
  return box;
}

static void
nodes_columns_update_name (GtkWidget  *cell,
                           VnNodeItem *item)
{
  vn_node_cell_set_swatch (gtk_widget_get_first_child (cell), item);
  gtk_label_set_label (GTK_LABEL (gtk_widget_get_last_child (cell)), item->label);
  vn_tooltip_set (cell, item->label);
}

static void
nodes_columns_update_type (GtkWidget  *cell,
                           VnNodeItem *item)
{
  gtk_label_set_label (GTK_LABEL (cell), item->node->op_type);
}

static void
nodes_columns_update_shape (GtkWidget  *cell,
                            VnNodeItem *item)
{
  gtk_label_set_label (GTK_LABEL (cell), item->shape);
}

static void
nodes_columns_update_precision (GtkWidget  *cell,
                                VnNodeItem *item)
{
  vn_badge_set (cell, item->precision);
}

static void
nodes_columns_set_metric (GtkWidget  *cell,
                          VnNodeItem *item,
                          VnMetric    metric)
{
  g_autofree char *text = item->measured ? vn_metric_format (metric, item->metrics[metric]) : NULL;

  gtk_label_set_label (GTK_LABEL (cell), text != NULL ? text : "–");
}

static void
nodes_columns_update_value (GtkWidget  *cell,
                            VnNodeItem *item)
{
  if (vn_node_item_is_float (item))
    gtk_label_set_label (GTK_LABEL (cell), _("not quantized"));
  else
    nodes_columns_set_metric (cell, item, VN_METRIC_SQNR);
}

static void
nodes_columns_update_bar (GtkWidget  *cell,
                          VnNodeItem *item)
{
  VnSwatchState state = vn_node_item_is_float (item) ? VN_SWATCH_FLOAT : item->measured ? VN_SWATCH_VALUE : VN_SWATCH_EMPTY;

  vn_swatch_set (VN_SWATCH (cell), state, VN_METRIC_SQNR, item->metrics[VN_METRIC_SQNR]);
}

static void
nodes_columns_update_share (GtkWidget  *cell,
                            VnNodeItem *item)
{
  double share = item->metrics[VN_METRIC_CONTRIBUTION];
  g_autofree char *text = isnan (share) ? g_strdup ("–") : vn_metric_format (VN_METRIC_CONTRIBUTION, share);

  vn_node_cell_set_share (gtk_widget_get_first_child (cell), item, share);
  gtk_label_set_label (GTK_LABEL (gtk_widget_get_last_child (cell)), text);
}

static void
nodes_columns_update_noise (GtkWidget  *cell,
                            VnNodeItem *item)
{
  nodes_columns_set_metric (cell, item, VN_METRIC_NOISE);
}

static void
nodes_columns_update_cosine (GtkWidget  *cell,
                             VnNodeItem *item)
{
  nodes_columns_set_metric (cell, item, VN_METRIC_COSINE);
}

static void
nodes_columns_update_max_error (GtkWidget  *cell,
                                VnNodeItem *item)
{
  nodes_columns_set_metric (cell, item, VN_METRIC_MAX_ERROR);
}

static void
nodes_columns_update_weights (GtkWidget  *cell,
                              VnNodeItem *item)
{
  g_autofree char *text = item->weight_bytes > 0 ? vn_format_bytes (item->weight_bytes) : NULL;

  gtk_label_set_label (GTK_LABEL (cell), text != NULL ? text : "–");
}

typedef enum { BY_NAME, BY_TYPE, BY_SHAPE, BY_PRECISION, BY_WEIGHTS, BY_METRIC } Key;

static int
nodes_columns_compare_u64 (guint64 a,
                           guint64 b)
{
  return a < b ? -1 : a > b;
}

/* What was not measured comes last, NaN first: it is the worst. */
static int
nodes_columns_compare_metric (const VnNodeItem *a,
                              const VnNodeItem *b,
                              VnMetric          metric)
{
  double x = a->metrics[metric], y = b->metrics[metric];
  double worst = vn_metric_is_higher_better (metric) ? -INFINITY : INFINITY;

  if (a->measured != b->measured)
    return a->measured ? -1 : 1;
  if (!a->measured)
    return 0;
  if (metric == VN_METRIC_CONTRIBUTION && isnan (x) && isnan (y))
    return nodes_columns_compare_metric (a, b, VN_METRIC_SQNR);
  if (metric == VN_METRIC_CONTRIBUTION)   /* the largest first */
    return isnan (x) != isnan (y) ? (isnan (x) ? 1 : -1) : x > y ? -1 : x < y;
  if (isnan (x))
    x = worst;
  if (isnan (y))
    y = worst;
  return x < y ? -1 : x > y;
}

static int
nodes_columns_compare_items (gconstpointer p,
                             gconstpointer q,
                             gpointer      data)
{
  const VnNodeItem *a = p, *b = q;
  guint key = GPOINTER_TO_UINT (data);
  int order = 0;

  if (key >= BY_METRIC)
    order = nodes_columns_compare_metric (a, b, (VnMetric) (key - BY_METRIC));
  else if (key == BY_NAME)
    order = strcmp (a->label, b->label);
  else if (key == BY_TYPE)
    order = strcmp (a->node->op_type, b->node->op_type);
  else if (key == BY_SHAPE)
    order = strcmp (a->shape, b->shape);
  else if (key == BY_PRECISION)
    order = nodes_columns_compare_u64 (vn_dtype_get_bits (a->precision), vn_dtype_get_bits (b->precision));
  else
    order = nodes_columns_compare_u64 (a->weight_bytes, b->weight_bytes);
  return order != 0 ? order : nodes_columns_compare_u64 (a->index, b->index);
}

typedef struct
{
  const char   *title;
  VnCellMake    make;
  VnCellUpdate  update;
  guint         key;
  gboolean      expand;
  int           width;
} Column;

static const Column columns[] = {
  { N_("Node"), nodes_columns_make_name, nodes_columns_update_name, BY_NAME, TRUE, -1 },
  { N_("Type"), nodes_columns_make_text, nodes_columns_update_type, BY_TYPE, FALSE, 130 },
  { N_("Output shape"), nodes_columns_make_text, nodes_columns_update_shape, BY_SHAPE, FALSE, 140 },
  { N_("Precision"), vn_badge_new, nodes_columns_update_precision, BY_PRECISION, FALSE, 90 },
  { N_("Contribution"), nodes_columns_make_share, nodes_columns_update_share, BY_METRIC + VN_METRIC_CONTRIBUTION, FALSE, 160 },
  { N_("SQNR"), nodes_columns_make_bar, nodes_columns_update_bar, BY_METRIC + VN_METRIC_SQNR, FALSE, 180 },
  { N_("dB"), nodes_columns_make_strong_number, nodes_columns_update_value, BY_METRIC + VN_METRIC_SQNR, FALSE, 110 },
  { N_("Noise-to-signal ratio"), nodes_columns_make_number, nodes_columns_update_noise, BY_METRIC + VN_METRIC_NOISE, FALSE, 110 },
  { N_("Cosine"), nodes_columns_make_number, nodes_columns_update_cosine, BY_METRIC + VN_METRIC_COSINE, FALSE, 90 },
  { N_("Largest error"), nodes_columns_make_number, nodes_columns_update_max_error, BY_METRIC + VN_METRIC_MAX_ERROR, FALSE, 110 },
  { N_("Weights"), nodes_columns_make_number, nodes_columns_update_weights, BY_WEIGHTS, FALSE, 100 },
};

/**
 * vn_nodes_columns_add:
 *
 * Returns: (transfer none): the column of the contribution, which goes by the signal to noise ratio where that was not measured
 */
GtkColumnViewColumn *
vn_nodes_columns_add (GtkColumnView *table)
{
  GtkColumnViewColumn *first = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    {
      const Column *column = &columns[i];
      GtkListItemFactory *factory = vn_node_cell_factory_new (column->make, column->update);
      GtkColumnViewColumn *added = gtk_column_view_column_new (_(column->title), factory);
      gpointer key = GUINT_TO_POINTER (column->key);
      GtkSorter *sorter = GTK_SORTER (gtk_custom_sorter_new (nodes_columns_compare_items, key, NULL));

      gtk_column_view_column_set_sorter (added, sorter);
      gtk_column_view_column_set_expand (added, column->expand);
      gtk_column_view_column_set_resizable (added, TRUE);
      gtk_column_view_column_set_fixed_width (added, column->width);
      gtk_column_view_append_column (table, added);
      if (column->key == BY_METRIC + VN_METRIC_CONTRIBUTION)
        first = added;
      g_object_unref (sorter);
      g_object_unref (added);
    }
  return first;
}

/**
 * vn_nodes_columns_resort:
 */
void
vn_nodes_columns_resort (GtkColumnView *table)
{
  GListModel *list = gtk_column_view_get_columns (table);

  for (guint i = 0; i < g_list_model_get_n_items (list); i++)
    {
      g_autoptr(GtkColumnViewColumn) column = g_list_model_get_item (list, i);

      gtk_sorter_changed (gtk_column_view_column_get_sorter (column), GTK_SORTER_CHANGE_DIFFERENT);
    }
}
