/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the stages of the layout share: vertices, links and ranks. */

#include "vn-graph-layout.h"

G_BEGIN_DECLS

#define NO_VERTEX    G_MAXUINT
#define GAP_BOXES    24.
#define GAP_LANE     18.    /* between a box and an edge that passes it */
#define GAP_LANES    14.    /* between two passing edges */
#define STUB_WIDTH   104.
#define STUB_HEIGHT  20.
#define PORT_STEP    22.

typedef enum { VERTEX_NODE, VERTEX_LANE, VERTEX_STUB } VertexKind;

/**
 * Vertex: what occupies a place in a rank: a node, one rank of a passing edge, or a stub. Node i is vertex i.
 * @x: of the centre; of the anchor, if it is grown
 * @left, @right, @grown: how far it reaches from @x, and its height, once it is grown; @grown 0: it is not
 */
typedef struct
{
  VertexKind kind;
  guint      rank, pos;
  double     width, height, x;
  double     left, right, grown;
} Vertex;

typedef struct { guint top, bottom; } Segment;   /* vertices of adjacent ranks */

/**
 * Link: how an edge runs.
 * @first_lane: its vertices below @from's rank, n_lanes in a row; shared with other edges of the same tensor
 * @is_cut: stubs instead
 * @shared: another edge already draws all but the last piece
 */
typedef struct
{
  guint    first_lane, n_lanes;
  gboolean is_cut, shared;
} Link;

typedef struct { guint vertex, edge, n_edges; gboolean at_source; } StubVertex;

/**
 * Growth: a node that takes more room than it was placed with.
 * @left, @right: from its place; @height: 0: it has not grown
 */
typedef struct { double left, right, height; } Growth;

/**
 * Work: the state of one layout.
 * @order: vertices of all ranks, rank r in [rank_first[r], rank_first[r + 1])
 * @up, @down: neighbours of vertex v in [up_first[v], up_first[v + 1])
 */
typedef struct
{
  const VnGraphLayoutInput *input;
  GCancellable        *cancellable;

  guint                n_ranks;
  guint               *node_rank;
  GArray              *vertices;    /* of Vertex */
  GArray              *segments;    /* of Segment */
  GArray              *stubs;       /* of StubVertex */
  Link                *links;

  guint               *order, *rank_first;
  guint               *up, *up_first, *down, *down_first;
  guint64              crossings;
  const double        *enter, *leave;   /* nullable: by edge, from the place of a grown node: where it enters, where it leaves */
} Work;

#define VERTEX(work, v) (&g_array_index ((work)->vertices, Vertex, (v)))

struct _VnGraphLayout
{
  gatomicrefcount ref;
  guint           n_nodes, n_edges, n_ranks;
  VnRect         *boxes;
  guint          *ranks;
  guint64         crossings;
  VnRect          bounds;
  GArray         *points;        /* of VnPoint, routes one after another */
  guint          *route_first;   /* n_edges + 1 */
  guint          *own_start;
  GArray         *stubs;         /* of VnGraphLayoutStub */
  GArray         *frames;        /* of VnGraphLayoutFrame, outer ones first */
};

typedef struct _VnGraphPlan VnGraphPlan;

/* Ranks, order and places, apart from the routes: nodes can grow afterwards and leave the others where they are. */
VnGraphPlan   *vn_graph_plan_new      (const VnGraphLayoutInput  *input,
                                       GCancellable              *cancellable,
                                       GError                   **error);
void           vn_graph_plan_free     (VnGraphPlan               *self);
VnGraphLayout *vn_graph_plan_lay_out  (const VnGraphPlan         *self,
                                       const Growth              *growth,
                                       const double              *enter,
                                       const double              *leave);
VnGraphLayout *vn_graph_layout_alloc  (guint                      n_nodes,
                                       guint                      n_edges);

gboolean vn_graph_layout_rank_nodes   (Work      *work,
                                       GError   **error);
void     vn_graph_layout_build_ranks  (Work      *work);
gboolean vn_graph_layout_order_ranks  (Work      *work,
                                       GError   **error);
gboolean vn_graph_layout_place        (Work      *work,
                                       GError   **error);
void     vn_graph_layout_route        (const Work    *work,
                                       const Work    *placed,
                                       VnGraphLayout *layout);

void     vn_graph_layout_nudge        (Work        *work,
                                       const guint *below);

void     vn_graph_layout_hold         (Work        *work);

static inline double
vn_graph_layout_separation (const Vertex *a,
                            const Vertex *b)
{
  double gap = GAP_BOXES;

  if (a->kind == VERTEX_LANE && b->kind == VERTEX_LANE)
    gap = GAP_LANES;
  else if (a->kind == VERTEX_LANE || b->kind == VERTEX_LANE)
    gap = GAP_LANE;
  return (a->width + b->width) / 2 + gap;
}

G_END_DECLS
