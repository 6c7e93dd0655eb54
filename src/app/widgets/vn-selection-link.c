/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps the selection of a list or tree and that of the document the same. */
#include "vn-selection-link.h"

#include "vn-scope.h"

struct _VnSelectionLink
{
  GObject            parent_instance;

  VnDocument        *document;
  GtkSelectionModel *selection;
  GtkWidget         *view;       /* borrowed: it owns the link */
  gboolean           busy;
};

G_DEFINE_FINAL_TYPE (VnSelectionLink, vn_selection_link, G_TYPE_OBJECT)

/* What a row stands for: VnNodeItem or VnScope, whether the list is a tree or not. */
static gpointer
selection_link_dup_item (VnSelectionLink *self,
                         guint            position,
                         gboolean        *expanded)
{
  g_autoptr(GObject) item = g_list_model_get_item (G_LIST_MODEL (self->selection), position);

  *expanded = GTK_IS_TREE_LIST_ROW (item) && gtk_tree_list_row_get_expanded (GTK_TREE_LIST_ROW (item));
  return GTK_IS_TREE_LIST_ROW (item) ? gtk_tree_list_row_get_item (GTK_TREE_LIST_ROW (item))
                                     : g_steal_pointer (&item);
}

static gboolean
selection_link_holds_all (GtkBitset *set,
                          GtkBitset *part)
{
  g_autoptr(GtkBitset) rest = gtk_bitset_copy (part);

  gtk_bitset_subtract (rest, set);
  return gtk_bitset_is_empty (rest);
}

/* A selected scope stands for all its nodes; an open one that was selected before does not, for its rows
 * tell more. */
static GtkBitset *
selection_link_read_list (VnSelectionLink *self,
                          gboolean         with_open_scopes)
{
  g_autoptr(GtkBitset) positions = gtk_selection_model_get_selection (self->selection);
  GtkBitset *before = vn_document_get_selection (self->document);
  GtkBitset *nodes = gtk_bitset_new_empty ();
  GtkBitsetIter iter;
  guint position;

  for (gboolean ok = gtk_bitset_iter_init_first (&iter, positions, &position); ok;
       ok = gtk_bitset_iter_next (&iter, &position))
    {
      gboolean expanded;
      g_autoptr(GObject) item = selection_link_dup_item (self, position, &expanded);

      if (VN_IS_NODE_ITEM (item))
        gtk_bitset_add (nodes, VN_NODE_ITEM (item)->index);
      else if (with_open_scopes || !expanded || !selection_link_holds_all (before, vn_scope_get_nodes (VN_SCOPE (item))))
        gtk_bitset_union (nodes, vn_scope_get_nodes (VN_SCOPE (item)));
    }
  return nodes;
}

static void selection_link_write_list (VnSelectionLink *self);

static void
selection_link_list_changed (VnSelectionLink *self)
{
  g_autoptr(GtkBitset) nodes = NULL;

  if (self->busy)
    return;
  nodes = selection_link_read_list (self, FALSE);
  if (gtk_bitset_is_empty (nodes))
    {
      gtk_bitset_unref (nodes);
      nodes = selection_link_read_list (self, TRUE);
    }
  self->busy = TRUE;
  vn_document_select (self->document, nodes);
  selection_link_write_list (self);
  self->busy = FALSE;
}

/* Brings a row into sight, in the list as it is now. */
static void
selection_link_scroll_to (VnSelectionLink *self,
                          guint            position)
{
  GtkWidget *list = self->view;

  if (!gtk_widget_get_mapped (list))
    return;
  /* The rows of a table are in a list inside of it. */
  if (GTK_IS_COLUMN_VIEW (list))
    for (list = gtk_widget_get_first_child (list); list != NULL && !GTK_IS_LIST_VIEW (list);)
      list = gtk_widget_get_next_sibling (list);
  if (list != NULL && position < g_list_model_get_n_items (G_LIST_MODEL (self->selection)))
    gtk_widget_activate_action (list, "list.scroll-to-item", "u", position);
}

static GtkBitset *
selection_link_find_selected (VnSelectionLink *self)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->selection));
  GtkBitset *nodes = vn_document_get_selection (self->document);
  GtkBitset *selected = gtk_bitset_new_empty ();

  for (guint i = 0; i < n && !gtk_bitset_is_empty (nodes); i++)
    {
      gboolean expanded;
      g_autoptr(GObject) item = selection_link_dup_item (self, i, &expanded);

      if (VN_IS_NODE_ITEM (item) ? gtk_bitset_contains (nodes, VN_NODE_ITEM (item)->index)
                                 : selection_link_holds_all (nodes, vn_scope_get_nodes (VN_SCOPE (item))))
        gtk_bitset_add (selected, i);
    }
  return selected;
}

static void
selection_link_write_list (VnSelectionLink *self)
{
  g_autoptr(GtkBitset) selected = selection_link_find_selected (self);
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->selection));
  g_autoptr(GtkBitset) mask = gtk_bitset_new_range (0, n);

  gtk_selection_model_set_selection (self->selection, selected, mask);
}

static void
selection_link_document_changed (VnSelectionLink *self)
{
  g_autoptr(GtkBitset) selected = NULL;

  if (self->busy)
    return;
  self->busy = TRUE;
  selection_link_write_list (self);
  self->busy = FALSE;
  selected = gtk_selection_model_get_selection (self->selection);
  if (gtk_bitset_get_size (selected) == 1)
    selection_link_scroll_to (self, gtk_bitset_get_minimum (selected));
}

/**
 * vn_selection_link_scroll:
 *
 * Brings the first selected row into sight, or the first one of all: after sorting anew, a list is anywhere.
 */
void
vn_selection_link_scroll (VnSelectionLink *self)
{
  g_autoptr(GtkBitset) selected = NULL;

  g_return_if_fail (VN_IS_SELECTION_LINK (self));

  selected = gtk_selection_model_get_selection (self->selection);
  selection_link_scroll_to (self, gtk_bitset_is_empty (selected) ? 0 : gtk_bitset_get_minimum (selected));
}

static void
selection_link_items_changed (VnSelectionLink *self)
{
  gboolean busy = self->busy;

  /* Rows that come back after a filter was cleared are selected where the document says so. */
  if (!busy)
    selection_link_document_changed (self);
}

static void
vn_selection_link_dispose (GObject *object)
{
  VnSelectionLink *self = VN_SELECTION_LINK (object);

  g_clear_object (&self->document);
  g_clear_object (&self->selection);
  G_OBJECT_CLASS (vn_selection_link_parent_class)->dispose (object);
}

static void
vn_selection_link_class_init (VnSelectionLinkClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_selection_link_dispose;
}

static void
vn_selection_link_init (VnSelectionLink *self)
{
}

/**
 * vn_selection_link_new:
 * @selection: over VnNodeItem, or rows of a tree of VnNodeItem and VnScope
 * @view: the list, which has to keep the link and drop it in its dispose
 *
 * Returns: (transfer full): the link
 */
VnSelectionLink *
vn_selection_link_new (VnDocument        *document,
                       GtkSelectionModel *selection,
                       GtkWidget         *view)
{
  VnSelectionLink *self = g_object_new (VN_TYPE_SELECTION_LINK, NULL);

  g_return_val_if_fail (VN_IS_DOCUMENT (document), NULL);
  g_return_val_if_fail (GTK_IS_SELECTION_MODEL (selection), NULL);
  g_return_val_if_fail (GTK_IS_WIDGET (view), NULL);

  self->document = g_object_ref (document);
  self->selection = g_object_ref (selection);
  self->view = view;
  g_signal_connect_object (selection, "selection-changed", G_CALLBACK (selection_link_list_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (selection, "items-changed", G_CALLBACK (selection_link_items_changed), self,
                           G_CONNECT_SWAPPED | G_CONNECT_AFTER);
  g_signal_connect_object (document, "selection-changed", G_CALLBACK (selection_link_document_changed), self,
                           G_CONNECT_SWAPPED);
  selection_link_document_changed (self);
  return self;
}
