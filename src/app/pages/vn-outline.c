/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-outline.h"

#include "vn-badge.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-node-cell.h"
#include "vn-selection-link.h"
#include "vn-swatch.h"

struct _VnOutline
{
  AdwBin           parent_instance;

  VnDocument      *document;
  GtkFilter       *filter;
  GtkFilterListModel *filtered;
  VnSelectionLink *link;
  char            *needle;     /* folded */

  GtkSearchEntry  *search;
  GtkStack        *stack;
  GtkListView     *list;
  GtkButton       *clear;
};

G_DEFINE_FINAL_TYPE (VnOutline, vn_outline, ADW_TYPE_BIN)

static GtkWidget *
make_row (void)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  GtkWidget *name = gtk_label_new (NULL);
  GtkWidget *path = gtk_label_new (NULL);
  GtkWidget *value = gtk_label_new (NULL);

  gtk_label_set_ellipsize (GTK_LABEL (path), PANGO_ELLIPSIZE_START);
  gtk_label_set_xalign (GTK_LABEL (path), 0);
  gtk_widget_set_hexpand (path, TRUE);
  gtk_widget_add_css_class (path, "dim-label");
  gtk_widget_add_css_class (path, "caption");
  gtk_widget_add_css_class (value, "numeric");
  gtk_box_append (GTK_BOX (box), vn_swatch_new (FALSE));
  gtk_box_append (GTK_BOX (box), name);
  gtk_box_append (GTK_BOX (box), path);
  gtk_box_append (GTK_BOX (box), vn_badge_new ());
  gtk_box_append (GTK_BOX (box), value);
  return box;
}

static void
update_row (GtkWidget  *cell,
            VnNodeItem *item)
{
  GtkWidget *swatch = gtk_widget_get_first_child (cell);
  GtkWidget *name = gtk_widget_get_next_sibling (swatch);
  GtkWidget *path = gtk_widget_get_next_sibling (name);
  GtkWidget *badge = gtk_widget_get_next_sibling (path);
  GtkWidget *value = gtk_widget_get_next_sibling (badge);
  gboolean usual = item->precision == VN_DTYPE_U8 || item->precision == VN_DTYPE_S8;
  g_autofree char *number = item->measured ? vn_format_db (item->metrics[VN_METRIC_SQNR]) : NULL;

  vn_node_cell_set_swatch (swatch, item);
  gtk_label_set_label (GTK_LABEL (name), item->node->op_type);
  gtk_label_set_label (GTK_LABEL (path), item->name);
  vn_badge_set (badge, usual ? VN_DTYPE_UNDEFINED : item->precision);
  gtk_label_set_label (GTK_LABEL (value), item->measured && !item->excluded ? number : "");
  gtk_widget_set_tooltip_text (cell, item->label);
}

static gboolean
matches (gpointer item,
         gpointer data)
{
  return vn_node_item_matches (item, VN_OUTLINE (data)->needle);
}

static void
update_stack (VnOutline *self)
{
  gboolean nothing = g_list_model_get_n_items (G_LIST_MODEL (self->filtered)) == 0 &&
                     self->needle != NULL && *self->needle != 0;

  gtk_stack_set_visible_child_name (self->stack, nothing ? "nothing" : "list");
}

static void
search_changed (VnOutline *self)
{
  g_free (self->needle);
  self->needle = g_utf8_casefold (gtk_editable_get_text (GTK_EDITABLE (self->search)), -1);
  gtk_filter_changed (self->filter, GTK_FILTER_CHANGE_DIFFERENT);
  update_stack (self);
}

static void
clear_search (VnOutline *self)
{
  gtk_editable_set_text (GTK_EDITABLE (self->search), "");
}

static void
activated (VnOutline *self)
{
  gtk_widget_activate_action (GTK_WIDGET (self), "win.show-in-graph", NULL);
}

/**
 * vn_outline_set_document:
 */
void
vn_outline_set_document (VnOutline  *self,
                         VnDocument *document)
{
  GtkMultiSelection *selection;

  self->document = g_object_ref (document);
  self->filter = GTK_FILTER (gtk_custom_filter_new (matches, self, NULL));
  self->filtered = gtk_filter_list_model_new (g_object_ref (vn_document_get_nodes (document)),
                                              g_object_ref (self->filter));
  selection = gtk_multi_selection_new (g_object_ref (G_LIST_MODEL (self->filtered)));
  self->link = vn_selection_link_new (document, GTK_SELECTION_MODEL (selection), GTK_WIDGET (self->list));
  gtk_list_view_set_model (self->list, GTK_SELECTION_MODEL (selection));
  g_object_unref (selection);
  g_signal_connect_object (document, "model-changed", G_CALLBACK (clear_search), self, G_CONNECT_SWAPPED);
}

/**
 * vn_outline_focus_search:
 */
void
vn_outline_focus_search (VnOutline *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self->search));
}

static void
vn_outline_dispose (GObject *object)
{
  VnOutline *self = VN_OUTLINE (object);

  if (self->filter != NULL)
    gtk_custom_filter_set_filter_func (GTK_CUSTOM_FILTER (self->filter), NULL, NULL, NULL);
  g_clear_object (&self->link);
  g_clear_object (&self->filtered);
  g_clear_object (&self->filter);
  g_clear_object (&self->document);
  g_clear_pointer (&self->needle, g_free);
  gtk_widget_dispose_template (GTK_WIDGET (self), VN_TYPE_OUTLINE);
  G_OBJECT_CLASS (vn_outline_parent_class)->dispose (object);
}

static void
vn_outline_class_init (VnOutlineClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_outline_dispose;
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-outline.ui");
  gtk_widget_class_bind_template_child (widget_class, VnOutline, search);
  gtk_widget_class_bind_template_child (widget_class, VnOutline, stack);
  gtk_widget_class_bind_template_child (widget_class, VnOutline, list);
  gtk_widget_class_bind_template_child (widget_class, VnOutline, clear);
}

static void
vn_outline_init (VnOutline *self)
{
  GtkListItemFactory *factory = vn_node_cell_factory_new (make_row, update_row);

  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_list_view_set_factory (self->list, factory);
  g_object_unref (factory);
  g_signal_connect_swapped (self->search, "search-changed", G_CALLBACK (search_changed), self);
  g_signal_connect_swapped (self->clear, "clicked", G_CALLBACK (clear_search), self);
  g_signal_connect_swapped (self->list, "activate", G_CALLBACK (activated), self);
}
