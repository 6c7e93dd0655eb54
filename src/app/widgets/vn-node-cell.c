/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells of lists over nodes: a factory that shows a node again whenever it changes. */
#include "vn-node-cell.h"

#include "vn-swatch.h"

#include <math.h>

typedef struct
{
  VnCellMake   make;
  VnCellUpdate update;
} Cell;

#define WATCH "vn-watch"

/* ---- rows that follow what they show ---- */

static void
node_cell_item_changed (GtkListItem *row,
                        GParamSpec  *pspec,
                        GObject     *item)
{
  VnRowShow show = (VnRowShow) g_object_get_data (G_OBJECT (row), WATCH "-show");

  show (row, item);
}

/**
 * vn_node_row_watch:
 * @row: that is bound
 * @item: what it shows, with a property "revision": a VnNodeItem or VnScope. Given, as a row of a tree has lost it by the
 *   time it is unbound
 * @show: shows @item in @row
 *
 * Shows @item now and whenever its revision changes, until vn_node_row_unwatch() or one of them is gone.
 */
void
vn_node_row_watch (GtkListItem *row,
                   gpointer     item,
                   VnRowShow    show)
{
  GSignalGroup *watch;

  g_return_if_fail (GTK_IS_LIST_ITEM (row));
  g_return_if_fail (G_IS_OBJECT (item));
  g_return_if_fail (show != NULL);

  watch = g_object_get_data (G_OBJECT (row), WATCH);
  if (watch == NULL)
    {
      watch = g_signal_group_new (G_TYPE_OBJECT);
      g_signal_group_connect_swapped (watch, "notify::revision", G_CALLBACK (node_cell_item_changed), row);
      g_object_set_data_full (G_OBJECT (row), WATCH, watch, g_object_unref);
    }
  g_object_set_data (G_OBJECT (row), WATCH "-show", (gpointer) show);
  g_signal_group_set_target (watch, item);
  show (row, item);
}

/**
 * vn_node_row_unwatch:
 *
 * Does nothing if @row shows nothing.
 */
void
vn_node_row_unwatch (GtkListItem *row)
{
  GSignalGroup *watch;

  g_return_if_fail (GTK_IS_LIST_ITEM (row));

  watch = g_object_get_data (G_OBJECT (row), WATCH);
  if (watch != NULL)
    g_signal_group_set_target (watch, NULL);
}

/* ---- factories ---- */

static void
node_cell_show (GtkListItem *list_item,
                GObject     *item)
{
  const Cell *cell = g_object_get_data (G_OBJECT (list_item), "vn-cell");

  cell->update (gtk_list_item_get_child (list_item), VN_NODE_ITEM (item));
}

static void
node_cell_setup (GtkSignalListItemFactory *factory,
                 GtkListItem              *list_item,
                 gpointer                  data)
{
  const Cell *cell = data;

  g_object_set_data (G_OBJECT (list_item), "vn-cell", data);
  gtk_list_item_set_child (list_item, cell->make ());
}

static void
node_cell_bind (GtkSignalListItemFactory *factory,
                GtkListItem              *list_item,
                gpointer                  data)
{
  vn_node_row_watch (list_item, gtk_list_item_get_item (list_item), node_cell_show);
}

static void
node_cell_unbind (GtkSignalListItemFactory *factory,
                  GtkListItem              *list_item,
                  gpointer                  data)
{
  vn_node_row_unwatch (list_item);
}

/**
 * vn_node_cell_factory_new:
 * @make: makes an empty cell
 * @update: shows a node in it; called again whenever something about the node has changed
 *
 * Returns: (transfer full): a factory for lists over VnNodeItem
 */
GtkListItemFactory *
vn_node_cell_factory_new (VnCellMake   make,
                          VnCellUpdate update)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  Cell *cell = g_new0 (Cell, 1);

  *cell = (Cell) { make, update };
  g_object_set_data_full (G_OBJECT (factory), "vn-cell", cell, g_free);
  g_signal_connect (factory, "setup", G_CALLBACK (node_cell_setup), cell);
  g_signal_connect (factory, "bind", G_CALLBACK (node_cell_bind), cell);
  g_signal_connect (factory, "unbind", G_CALLBACK (node_cell_unbind), cell);
  return factory;
}

/**
 * vn_node_cell_set_share:
 * @share: of the outputs' error that starts at @item, or a part of that
 *
 * Shows @share in a swatch, as that stands in the run of @item.
 */
void
vn_node_cell_set_share (GtkWidget  *swatch,
                        VnNodeItem *item,
                        double      share)
{
  g_return_if_fail (GTK_IS_WIDGET (swatch));
  g_return_if_fail (VN_IS_NODE_ITEM (item));

  vn_swatch_set (VN_SWATCH (swatch), isnan (share) ? VN_SWATCH_EMPTY : VN_SWATCH_VALUE, VN_METRIC_CONTRIBUTION, share);
  vn_swatch_set_handles (VN_SWATCH (swatch), item->share_handles);
}

/**
 * vn_node_cell_set_swatch:
 */
void
vn_node_cell_set_swatch (GtkWidget  *swatch,
                         VnNodeItem *item)
{
  VnSwatchState state = VN_SWATCH_EMPTY;

  g_return_if_fail (GTK_IS_WIDGET (swatch));
  g_return_if_fail (VN_IS_NODE_ITEM (item));

  if (vn_node_item_is_float (item))
    state = VN_SWATCH_FLOAT;
  else if (vn_node_item_is_rated (item))
    state = VN_SWATCH_VALUE;
  vn_swatch_set (VN_SWATCH (swatch), state, item->metric, item->n_bad > 0 ? NAN : item->metrics[item->metric]);
  vn_swatch_set_handles (VN_SWATCH (swatch), item->handles);
}
