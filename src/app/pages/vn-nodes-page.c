/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page with the table of all nodes: search, filters, sorting, and its place among the selections. */
#include "vn-nodes-page.h"

#include "nodes-columns.h"
#include "vn-adaptive-bin.h"
#include "vn-format.h"
#include "vn-gradual-rows.h"
#include "vn-heat.h"
#include "vn-i18n.h"
#include "vn-later.h"
#include "vn-node-item.h"
#include "vn-precision-menu.h"
#include "vn-rows.h"
#include "vn-selection-link.h"

typedef enum { CHIP_ALL, CHIP_BAD, CHIP_WATCH, CHIP_FINE, CHIP_FLOAT, N_CHIPS } Chip;

struct _VnNodesPage
{
  AdwBin              parent_instance;

  VnDocument         *document;
  GtkFilter          *filter;
  GtkFilterListModel *filtered;
  GtkSliceListModel  *rows;      /* of them in order; none while the table is not seen */
  VnSelectionLink    *link;
  VnNodeQuery        *query;     /* NULL: nothing was looked for */
  Chip                chip;

  GtkBox             *chips;
  GtkWidget          *buttons[N_CHIPS];
  GtkSearchEntry     *search;
  GtkStack           *stack;
  GtkColumnView      *table;
  GtkButton          *clear;
  GtkRevealer        *foot;
  GtkLabel           *foot_label;
  GtkMenuButton      *precision;
};

static void nodes_page_init_interface (VnPageInterface *interface);

G_DEFINE_FINAL_TYPE_WITH_CODE (VnNodesPage, vn_nodes_page, ADW_TYPE_BIN,
                               G_IMPLEMENT_INTERFACE (VN_TYPE_PAGE, nodes_page_init_interface))

static Chip
nodes_page_get_chip (VnNodeItem *item)
{
  static const Chip chips[VN_N_BANDS] = { [VN_BAND_FINE] = CHIP_FINE, [VN_BAND_WATCH] = CHIP_WATCH, [VN_BAND_BAD] = CHIP_BAD };

  if (vn_node_item_is_float (item))
    return CHIP_FLOAT;
  return vn_node_item_is_rated (item) ? chips[vn_heat_get_band (vn_node_item_get_ticks (item))] : CHIP_ALL;
}

static gboolean
nodes_page_matches (gpointer item,
                    gpointer data)
{
  VnNodesPage *self = data;

  return (self->chip == CHIP_ALL || nodes_page_get_chip (item) == self->chip) &&
         (self->query == NULL || vn_node_item_matches (item, self->query));
}

static void
nodes_page_update_stack (VnNodesPage *self)
{
  gboolean nothing = g_list_model_get_n_items (G_LIST_MODEL (self->filtered)) == 0 &&
                     vn_bench_get_model (VN_BENCH (self->document)) != NULL;

  gtk_stack_set_visible_child_name (self->stack, nothing ? "nothing" : "table");
}

static void
nodes_page_refilter (VnNodesPage *self)
{
  gtk_filter_changed (self->filter, GTK_FILTER_CHANGE_DIFFERENT);
  nodes_page_update_stack (self);
}

static void
nodes_page_search_changed (VnNodesPage *self)
{
  g_clear_pointer (&self->query, vn_node_query_free);
  self->query = vn_node_query_new (gtk_editable_get_text (GTK_EDITABLE (self->search)));
  nodes_page_refilter (self);
}

static void
nodes_page_stop_search (VnNodesPage *self)
{
  gtk_editable_set_text (GTK_EDITABLE (self->search), "");
}

static void
nodes_page_chip_toggled (VnNodesPage     *self,
                         GtkToggleButton *button)
{
  if (!gtk_toggle_button_get_active (button))
    return;
  for (guint i = 0; i < N_CHIPS; i++)
    if (self->buttons[i] == GTK_WIDGET (button))
      self->chip = (Chip) i;
  nodes_page_refilter (self);
}

static void
nodes_page_clear_filters (VnNodesPage *self)
{
  gtk_editable_set_text (GTK_EDITABLE (self->search), "");
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->buttons[CHIP_ALL]), TRUE);
}

static void
nodes_page_update_chips (VnNodesPage *self)
{
  static const char * const names[N_CHIPS] = { N_("All"), N_("Bad"), N_("Borderline"), N_("Fine"),
                                               N_("Not quantized") };
  GListModel *nodes = vn_document_get_nodes (self->document);
  guint n = g_list_model_get_n_items (nodes);
  guint counts[N_CHIPS] = { 0 };

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (nodes, i);

      counts[nodes_page_get_chip (item)]++;
    }
  counts[CHIP_ALL] = n;
  for (guint i = 0; i < N_CHIPS; i++)
    {
      g_autofree char *text = g_strdup_printf ("%s  %u", _(names[i]), counts[i]);

      gtk_button_set_label (GTK_BUTTON (self->buttons[i]), text);
      gtk_widget_set_sensitive (self->buttons[i], i == CHIP_ALL || counts[i] > 0 || self->chip == i);
    }
}

static void
nodes_page_result_changed (VnNodesPage *self)
{
  vn_nodes_columns_resort (self->table);
  nodes_page_update_chips (self);
  nodes_page_refilter (self);
  vn_selection_link_scroll (self->link);
}

static void
nodes_page_changed (VnNodesPage *self)
{
  vn_later (self, self->document, (VnLaterFunc) nodes_page_result_changed);
}

/* The chips go by another metric. */
static void
nodes_page_metric_changed (VnNodesPage *self)
{
  nodes_page_update_chips (self);
  if (self->chip != CHIP_ALL)
    nodes_page_refilter (self);
}

/* The table may have been sorted while it was not seen. */
static void
nodes_page_mapped (VnNodesPage *self)
{
  if (self->link == NULL)
    return;
  vn_gradual_rows_show (self->rows);
  vn_selection_link_scroll (self->link);
}

static void
nodes_page_unmapped (VnNodesPage *self)
{
  if (self->link != NULL)
    vn_gradual_rows_hide (self->rows);
}

static double
nodes_page_get_worst (GListModel *nodes,
                      GtkBitset  *selection,
                      guint64    *weight_bytes,
                      gboolean   *measured)
{
  GtkBitsetIter iter;
  guint index;
  double worst = G_MAXDOUBLE;

  for (gboolean ok = gtk_bitset_iter_init_first (&iter, selection, &index); ok;
       ok = gtk_bitset_iter_next (&iter, &index))
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (nodes, index);

      *weight_bytes += item->weight_bytes;
      *measured |= item->measured;
      if (item->measured && !(item->metrics[VN_METRIC_SQNR] >= worst))
        worst = item->metrics[VN_METRIC_SQNR];
    }
  return worst;
}

static void
nodes_page_selection_changed (VnNodesPage *self)
{
  GtkBitset *selection = vn_document_get_selection (self->document);
  guint n = (guint) gtk_bitset_get_size (selection);
  guint64 bytes = 0;
  gboolean measured = FALSE;
  double worst = nodes_page_get_worst (vn_document_get_nodes (self->document), selection, &bytes, &measured);
  g_autofree char *size = vn_format_bytes (bytes);
  g_autofree char *count = g_strdup_printf (ngettext ("%u node selected", "%u nodes selected", n), n);
  g_autofree char *db = measured ? vn_format_db (worst) : NULL;
  g_autofree char *rest = measured ? g_strdup_printf (_("%s of weights · worst %s"), size, db)
                                   : g_strdup_printf (_("%s of weights"), size);
  g_autofree char *text = g_markup_printf_escaped ("<b>%s</b>  <span alpha=\"55%%\">%s</span>", count, rest);

  gtk_label_set_markup (self->foot_label, text);
  gtk_revealer_set_reveal_child (self->foot, n > 0);
}

static void
nodes_page_activated (VnNodesPage *self,
                      guint        position)
{
  GListModel *model = G_LIST_MODEL (gtk_column_view_get_model (self->table));
  g_autoptr(VnNodeItem) item = g_list_model_get_item (model, position);

  gtk_widget_activate_action (GTK_WIDGET (self), "win.select-node", "u", item->index);
}

static void
nodes_page_set_document (VnPage     *page,
                         VnDocument *document)
{
  VnNodesPage *self = VN_NODES_PAGE (page);
  GtkColumnViewColumn *column = vn_nodes_columns_add (self->table);
  GtkSortListModel *sorted;
  GtkMultiSelection *selection;

  self->document = g_object_ref (document);
  self->filter = GTK_FILTER (gtk_custom_filter_new (nodes_page_matches, self, NULL));
  self->filtered = gtk_filter_list_model_new (g_object_ref (vn_document_get_nodes (document)),
                                              g_object_ref (self->filter));
  /* Sorted before the table gets the rows: one that is sorted later has scrolled away from the first row. */
  gtk_column_view_sort_by_column (self->table, column, GTK_SORT_ASCENDING);
  sorted = gtk_sort_list_model_new (g_object_ref (G_LIST_MODEL (self->filtered)),
                                    g_object_ref (gtk_column_view_get_sorter (self->table)));
  self->rows = vn_gradual_rows_new (G_LIST_MODEL (sorted));
  selection = gtk_multi_selection_new (g_object_ref (G_LIST_MODEL (self->rows)));
  self->link = vn_selection_link_new (document, GTK_SELECTION_MODEL (selection), GTK_WIDGET (self->table));
  gtk_column_view_set_model (self->table, GTK_SELECTION_MODEL (selection));
  g_object_unref (selection);

  g_signal_connect_object (document, "changed::model", G_CALLBACK (nodes_page_clear_filters), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::model", G_CALLBACK (nodes_page_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::run", G_CALLBACK (nodes_page_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::recipe", G_CALLBACK (nodes_page_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "metric-changed", G_CALLBACK (nodes_page_metric_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "selection-changed", G_CALLBACK (nodes_page_selection_changed), self,
                           G_CONNECT_SWAPPED);
  vn_precision_menu_connect (self->precision, document);
  nodes_page_update_chips (self);
}

static void
nodes_page_focus_search (VnPage *page)
{
  gtk_widget_grab_focus (GTK_WIDGET (VN_NODES_PAGE (page)->search));
}

static GtkRevealer *
nodes_page_get_foot (VnPage *page)
{
  return VN_NODES_PAGE (page)->foot;
}

static void
nodes_page_init_interface (VnPageInterface *interface)
{
  interface->get_foot = nodes_page_get_foot;
  interface->set_document = nodes_page_set_document;
  interface->focus_search = nodes_page_focus_search;
}

static void
vn_nodes_page_dispose (GObject *object)
{
  VnNodesPage *self = VN_NODES_PAGE (object);

  if (self->filter != NULL)
    gtk_custom_filter_set_filter_func (GTK_CUSTOM_FILTER (self->filter), NULL, NULL, NULL);
  g_clear_object (&self->link);
  g_clear_object (&self->rows);
  g_clear_object (&self->filtered);
  g_clear_object (&self->filter);
  g_clear_object (&self->document);
  g_clear_pointer (&self->query, vn_node_query_free);
  gtk_widget_dispose_template (GTK_WIDGET (self), VN_TYPE_NODES_PAGE);
  G_OBJECT_CLASS (vn_nodes_page_parent_class)->dispose (object);
}

static void
vn_nodes_page_class_init (VnNodesPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_nodes_page_dispose;
  g_type_ensure (VN_TYPE_ADAPTIVE_BIN);
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-nodes-page.ui");
  gtk_widget_class_bind_template_child (widget_class, VnNodesPage, chips);
  gtk_widget_class_bind_template_child (widget_class, VnNodesPage, search);
  gtk_widget_class_bind_template_child (widget_class, VnNodesPage, stack);
  gtk_widget_class_bind_template_child (widget_class, VnNodesPage, table);
  gtk_widget_class_bind_template_child (widget_class, VnNodesPage, clear);
  gtk_widget_class_bind_template_child (widget_class, VnNodesPage, foot);
  gtk_widget_class_bind_template_child (widget_class, VnNodesPage, foot_label);
  gtk_widget_class_bind_template_child (widget_class, VnNodesPage, precision);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Delete, 0, "win.exclude", NULL);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_c, GDK_CONTROL_MASK, "win.copy", "s", "name");
}

static void
nodes_page_add_chips (VnNodesPage *self)
{
  for (guint i = 0; i < N_CHIPS; i++)
    {
      self->buttons[i] = gtk_toggle_button_new ();
      gtk_widget_add_css_class (self->buttons[i], "chip");
      gtk_widget_set_valign (self->buttons[i], GTK_ALIGN_CENTER);
      if (i > 0)
        gtk_toggle_button_set_group (GTK_TOGGLE_BUTTON (self->buttons[i]),
                                     GTK_TOGGLE_BUTTON (self->buttons[0]));
      else
        gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->buttons[0]), TRUE);
      g_signal_connect_swapped (self->buttons[i], "toggled", G_CALLBACK (nodes_page_chip_toggled), self);
      gtk_box_append (self->chips, self->buttons[i]);
    }
}

static void
vn_nodes_page_init (VnNodesPage *self)
{
  GtkWidget *box;

  gtk_widget_init_template (GTK_WIDGET (self));
  box = gtk_revealer_get_child (self->foot);
  for (GtkWidget *child = gtk_widget_get_first_child (box); child != NULL; child = gtk_widget_get_next_sibling (child))
    if (GTK_IS_BUTTON (child))
      vn_button_let_shrink (GTK_BUTTON (child), TRUE);
  nodes_page_add_chips (self);
  g_signal_connect_swapped (self->search, "search-changed", G_CALLBACK (nodes_page_search_changed), self);
  g_signal_connect_swapped (self->search, "stop-search", G_CALLBACK (nodes_page_stop_search), self);
  g_signal_connect_swapped (self->clear, "clicked", G_CALLBACK (nodes_page_clear_filters), self);
  g_signal_connect_data (self->table, "map", G_CALLBACK (nodes_page_mapped), self, NULL,
                         G_CONNECT_SWAPPED | G_CONNECT_AFTER);
  g_signal_connect_swapped (self->table, "unmap", G_CALLBACK (nodes_page_unmapped), self);
  g_signal_connect_swapped (self->table, "activate", G_CALLBACK (nodes_page_activated), self);
}
