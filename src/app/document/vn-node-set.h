/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Sets of nodes as GTK has them, and as lists of indices in the graph, ascending, as all else has them. */

#include "vn-rules.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

GtkBitset  *vn_node_set_new         (GArray *list);          /* of guint */
GArray     *vn_node_set_list        (GtkBitset *nodes);      /* of guint */
GtkBitset  *vn_node_set_of_rule     (const VnOverride *rule,
                                     const VnGraph    *graph);
int         vn_node_set_find_region (GtkBitset      *nodes,
                                     const VnRecipe *recipe,
                                     const VnGraph  *graph);
VnOverride *vn_node_set_make_region (GtkBitset     *nodes,
                                     const VnGraph *graph);

G_END_DECLS
