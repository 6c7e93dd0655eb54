/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The columns of the table of nodes. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Adds the columns of the table of nodes; returns the one it is sorted by at first, borrowed. */
GtkColumnViewColumn *vn_nodes_columns_add    (GtkColumnView *table);

/* To be called when what was measured has changed: sorts again. */
void                 vn_nodes_columns_resort (GtkColumnView *table);

G_END_DECLS
