/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-scene.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* Where the boxes go: a layered layout from top to bottom. Pure geometry: the same input gives the same
 * picture, on any thread. */

typedef struct { double x, y; } VnPoint;
typedef struct { double x, y, width, height; } VnRect;

typedef enum { VN_PIN_NONE, VN_PIN_TOP, VN_PIN_BOTTOM } VnGraphLayoutPin;   /* in the first or the last rank */

typedef struct { double width, height; VnGraphLayoutPin pin; } VnGraphLayoutNode;
typedef struct { guint from, to, output, input; } VnGraphLayoutEdge;

/**
 * VnGraphLayoutInput:
 * @edges: must not form a cycle; several edges between the same two nodes are fine
 * @cut_span: edges over more ranks become a stub at either end; 0: 40 in graphs of over 2,000 nodes, else
 *   never
 */
typedef struct
{
  guint               n_nodes;
  const VnGraphLayoutNode *nodes;
  guint               n_edges;
  const VnGraphLayoutEdge *edges;
  guint               cut_span;
} VnGraphLayoutInput;

/**
 * VnGraphLayoutStub: one end of a long edge that is not drawn.
 * @edge: the edge; the one with the nearest other end, where a stub stands for several
 * @n_edges: how many it stands for
 * @at_source: below the node the edge leaves, else above the one it enters
 * @route: from the node to the pill, or from the pill to the node: line, curve, line
 */
typedef struct
{
  VnRect   box;
  guint    edge, n_edges;
  gboolean at_source;
  VnPoint  route[4];
} VnGraphLayoutStub;

/**
 * VnGraphLayoutFrame: an open group, drawn round its nodes.
 * @group: in the tree of groups
 * @anchor: where the middle of the closed group would be
 */
typedef struct
{
  guint   group, depth;
  VnRect  box;
  VnPoint anchor;
} VnGraphLayoutFrame;

typedef struct _VnGraphLayout VnGraphLayout;

VnGraphLayout           *vn_graph_layout_new           (const VnGraphLayoutInput  *input,
                                                        GCancellable              *cancellable,
                                                        GError                   **error);
VnGraphLayout           *vn_graph_layout_new_for_scene (const VnScene             *scene,
                                                        GCancellable              *cancellable,
                                                        GError                   **error);
void                     vn_graph_layout_new_async     (VnScene                   *scene,
                                                        double                     page,
                                                        GCancellable              *cancellable,
                                                        GAsyncReadyCallback        callback,
                                                        gpointer                   user_data);
VnGraphLayout           *vn_graph_layout_new_finish    (GAsyncResult              *result,
                                                        GError                   **error);
VnGraphLayout           *vn_graph_layout_wrap          (VnGraphLayout             *self,
                                                        double                     page);
VnGraphLayout           *vn_graph_layout_ref           (VnGraphLayout             *self);
void                     vn_graph_layout_unref         (VnGraphLayout             *self);
guint                    vn_graph_layout_get_n_nodes   (const VnGraphLayout       *self);
guint                    vn_graph_layout_get_n_edges   (const VnGraphLayout       *self);
guint                    vn_graph_layout_get_n_ranks   (const VnGraphLayout       *self);
guint                    vn_graph_layout_get_rank      (const VnGraphLayout       *self,
                                                        guint                      node);
guint64                  vn_graph_layout_get_crossings (const VnGraphLayout       *self);
VnRect                   vn_graph_layout_get_bounds    (const VnGraphLayout       *self);
const VnRect            *vn_graph_layout_get_box       (const VnGraphLayout       *self,
                                                        guint                      node);
const VnPoint           *vn_graph_layout_get_route     (const VnGraphLayout       *self,
                                                        guint                      edge,
                                                        guint                     *n_points,
                                                        guint                     *own_start);
guint                    vn_graph_layout_get_n_stubs   (const VnGraphLayout       *self);
const VnGraphLayoutStub *vn_graph_layout_get_stub      (const VnGraphLayout       *self,
                                                        guint                      i);
guint                    vn_graph_layout_get_n_frames  (const VnGraphLayout       *self);
const VnGraphLayoutFrame *vn_graph_layout_get_frame    (const VnGraphLayout       *self,
                                                        guint                      i);
VnGraphLayout           *vn_graph_layout_blend         (const VnGraphLayout       *self,
                                                        const VnRect              *from,
                                                        const VnRect              *frames_from,
                                                        const VnScene             *scene,
                                                        double                     progress);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnGraphLayout, vn_graph_layout_unref)

G_END_DECLS
