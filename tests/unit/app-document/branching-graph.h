/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A graph with two branches, a part that nothing joins and a node that holds a graph. Names of nodes and their outputs:
 *
 *   x ─ stem ┬ left ─┬ sum ─ tail ─ (out)
 *            └ right ┘
 *   y ─ alone ─ choice (If; its graph reads right) ─ (out)
 */

#include "vn-model.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

VnModel   *branching_graph_new       (void);
GtkBitset *branching_graph_find      (const VnGraph *graph,
                                      const char    *names);   /* "stem left" */
char      *branching_graph_dup_names (const VnGraph *graph,
                                      GtkBitset     *nodes);   /* "stem left", in file order */

G_END_DECLS
