/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-graph-layout.h"

G_BEGIN_DECLS

/* A grid over a layout that answers what is in a rectangle or near a point. Immutable; readable from any
 * thread. */

#define VN_ROUTE_TURN 60.    /* how far a line reaches that turns back, at most */

typedef struct _VnGraphIndex VnGraphIndex;

VnGraphIndex *vn_graph_index_new        (VnGraphLayout           *layout);
void          vn_graph_index_free       (VnGraphIndex       *self);
void          vn_graph_index_find_nodes (const VnGraphIndex *self,
                                         VnRect              area,
                                         GArray             *nodes);
void          vn_graph_index_find_edges (const VnGraphIndex *self,
                                         VnRect              area,
                                         GArray             *edges);
void          vn_graph_index_find_stubs (const VnGraphIndex *self,
                                         VnRect              area,
                                         GArray             *stubs);
guint         vn_graph_index_node_at    (const VnGraphIndex *self,
                                         VnPoint             point);
guint         vn_graph_index_edge_at    (const VnGraphIndex *self,
                                         VnPoint             point,
                                         double              distance);
guint         vn_graph_index_stub_at    (const VnGraphIndex *self,
                                         VnPoint             point);
double        vn_route_distance         (const VnPoint      *points,
                                         guint               n_points,
                                         VnPoint             point);
gboolean      vn_route_turns            (const VnPoint      *points,
                                         guint               n_points,
                                         guint               i);
void          vn_route_controls         (const VnPoint      *points,
                                         guint               n_points,
                                         guint               i,
                                         VnPoint            *c1,
                                         VnPoint            *c2);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnGraphIndex, vn_graph_index_free)

G_END_DECLS
