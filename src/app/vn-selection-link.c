/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-selection-link.h"

#include "vn-node-item.h"

struct _VnSelectionLink
{
  GObject            parent_instance;

  VnDocument        *document;
  GtkSelectionModel *selection;
  GtkWidget         *view;       /* borrowed: it owns the link */
  gboolean           busy;
};

G_DEFINE_FINAL_TYPE (VnSelectionLink, vn_selection_link, G_TYPE_OBJECT)

static void
list_changed (VnSelectionLink *self)
{
  g_autoptr(GtkBitset) positions = NULL;
  g_autoptr(GtkBitset) nodes = NULL;
  GtkBitsetIter iter;
  guint position;

  if (self->busy)
    return;
  positions = gtk_selection_model_get_selection (self->selection);
  nodes = gtk_bitset_new_empty ();
  for (gboolean ok = gtk_bitset_iter_init_first (&iter, positions, &position); ok;
       ok = gtk_bitset_iter_next (&iter, &position))
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (G_LIST_MODEL (self->selection), position);

      gtk_bitset_add (nodes, item->index);
    }
  self->busy = TRUE;
  vn_document_select (self->document, nodes);
  self->busy = FALSE;
}

/* Brings a row into sight, in the list as it is now. */
static void
scroll_to (VnSelectionLink *self,
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

static void
document_changed (VnSelectionLink *self)
{
  GListModel *model = G_LIST_MODEL (self->selection);
  guint n = g_list_model_get_n_items (model);
  GtkBitset *nodes = vn_document_get_selection (self->document);
  g_autoptr(GtkBitset) selected = gtk_bitset_new_empty ();
  g_autoptr(GtkBitset) mask = NULL;

  if (self->busy)
    return;
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (model, i);

      if (gtk_bitset_contains (nodes, item->index))
        gtk_bitset_add (selected, i);
    }
  mask = gtk_bitset_new_range (0, n);
  self->busy = TRUE;
  gtk_selection_model_set_selection (self->selection, selected, mask);
  self->busy = FALSE;
  if (gtk_bitset_get_size (selected) == 1)
    scroll_to (self, gtk_bitset_get_minimum (selected));
}

/**
 * vn_selection_link_scroll:
 *
 * Brings the first selected row into sight, or the first one of all: after sorting anew, a list is anywhere.
 */
void
vn_selection_link_scroll (VnSelectionLink *self)
{
  g_autoptr(GtkBitset) selected = gtk_selection_model_get_selection (self->selection);

  scroll_to (self, gtk_bitset_is_empty (selected) ? 0 : gtk_bitset_get_minimum (selected));
}

static void
items_changed (VnSelectionLink *self)
{
  gboolean busy = self->busy;

  /* Rows that come back after a filter was cleared are selected where the document says so. */
  if (!busy)
    document_changed (self);
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
 * @selection: over VnNodeItem
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

  self->document = g_object_ref (document);
  self->selection = g_object_ref (selection);
  self->view = view;
  g_signal_connect_object (selection, "selection-changed", G_CALLBACK (list_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (selection, "items-changed", G_CALLBACK (items_changed), self,
                           G_CONNECT_SWAPPED | G_CONNECT_AFTER);
  g_signal_connect_object (document, "selection-changed", G_CALLBACK (document_changed), self,
                           G_CONNECT_SWAPPED);
  document_changed (self);
  return self;
}
