/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Cells of lists over nodes. */

#include "vn-node-item.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef GtkWidget *(*VnCellMake)   (void);
typedef void       (*VnCellUpdate) (GtkWidget  *cell,
                                    VnNodeItem *item);
typedef void       (*VnRowShow)    (GtkListItem *row,
                                    GObject     *item);

void                vn_node_row_watch        (GtkListItem  *row,
                                              gpointer      item,
                                              VnRowShow     show);
void                vn_node_row_unwatch      (GtkListItem  *row);

GtkListItemFactory *vn_node_cell_factory_new (VnCellMake    make,
                                              VnCellUpdate  update);

/* Shows the error of @item in a VnSwatch. */
void                vn_node_cell_set_swatch  (GtkWidget    *swatch,
                                              VnNodeItem   *item);

void                vn_node_cell_set_share  (GtkWidget  *swatch,
                                             VnNodeItem *item,
                                             double      share);

G_END_DECLS
