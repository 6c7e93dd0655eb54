/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

/**
 * VnBoundary: the edges of a set of nodes.
 * @in_edges: values that enter: used inside, produced outside, not constant
 * @out_edges: values that leave: produced inside, used outside or graph outputs
 */
typedef struct
{
  GPtrArray *in_edges;    /* of VnValue, in order of first use */
  GPtrArray *out_edges;   /* of VnValue, in order of production */
} VnBoundary;

/* @nodes: of VnNode, all of @graph. */
void       vn_boundary_of_nodes (VnBoundary     *self,
                                 const VnGraph  *graph,
                                 GPtrArray      *nodes);
void       vn_boundary_clear    (VnBoundary     *self);

/* The nodes that lie between: reachable from the in-edges and reaching the out-edges. Names, not pointers, as
 * recipes hold them. */
GPtrArray *vn_graph_capture     (const VnGraph      *graph,
                                 const char * const *in_edges,
                                 const char * const *out_edges,
                                 GError            **error);

/**
 * VnLeak: a value that crosses the edge of a region without being named.
 * @node: where it enters; where it goes, %NULL: to an output of the network
 */
typedef struct
{
  const VnValue *value;
  const VnNode  *node;
  gboolean       enters;
} VnLeak;

GArray    *vn_graph_find_leaks  (const VnGraph      *graph,
                                 GPtrArray          *nodes,
                                 const char * const *in_edges,
                                 const char * const *out_edges);

G_END_DECLS
