/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Ways to make a selection of nodes larger. Nodes are indices in the graph; each function returns a new
 * set, which always holds the given one. */

GtkBitset *vn_select_blocks     (const VnGraph *graph,
                                 GtkBitset     *nodes);
GtkBitset *vn_select_similar    (const VnGraph *graph,
                                 GtkBitset     *nodes);
GtkBitset *vn_select_downstream (const VnGraph *graph,
                                 GtkBitset     *nodes);
GtkBitset *vn_select_upstream   (const VnGraph *graph,
                                 GtkBitset     *nodes);
GtkBitset *vn_select_between    (const VnGraph *graph,
                                 GtkBitset     *nodes);

G_END_DECLS
