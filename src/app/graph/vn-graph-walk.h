/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Where arrow keys lead in a network. */

#include "vn-graph-content.h"

G_BEGIN_DECLS

guint vn_graph_walk        (VnGraphContent *self,
                            guint           node,
                            guint           keyval);
guint vn_graph_walk_to_end (VnGraphContent *self,
                            gboolean        last);

G_END_DECLS
