/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-scene.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* Where the boxes go: a layered layout from top to bottom. Pure geometry: the same input gives the same picture, on
 * any thread. */

typedef struct { double x, y; } VnPoint;
typedef struct { double x, y, width, height; } VnRect;

typedef struct { double width, height; } VnLayoutNode;
typedef struct { guint from, to, output, input; } VnLayoutEdge;

/**
 * VnLayoutInput:
 * @edges: must not form a cycle; several edges between the same two nodes are fine
 * @cut_span: edges over more ranks become a stub at either end; 0: 40 in graphs of over 2,000 nodes, else never
 */
typedef struct
{
  guint               n_nodes;
  const VnLayoutNode *nodes;
  guint               n_edges;
  const VnLayoutEdge *edges;
  guint               cut_span;
} VnLayoutInput;

/**
 * VnLayoutStub: one end of a long edge that is not drawn.
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
} VnLayoutStub;

typedef struct _VnLayout VnLayout;

VnLayout           *vn_layout_new           (const VnLayoutInput  *input,
                                             GCancellable         *cancellable,
                                             GError              **error);
VnLayout           *vn_layout_new_for_scene (const VnScene        *scene,
                                             GCancellable         *cancellable,
                                             GError              **error);
void                vn_layout_new_async     (VnScene              *scene,
                                             GCancellable         *cancellable,
                                             GAsyncReadyCallback   callback,
                                             gpointer              user_data);
VnLayout           *vn_layout_new_finish    (GAsyncResult         *result,
                                             GError              **error);
VnLayout           *vn_layout_ref           (VnLayout             *self);
void                vn_layout_unref         (VnLayout             *self);
guint               vn_layout_get_n_nodes   (const VnLayout       *self);
guint               vn_layout_get_n_edges   (const VnLayout       *self);
guint               vn_layout_get_n_ranks   (const VnLayout       *self);
guint               vn_layout_get_rank      (const VnLayout       *self,
                                             guint                 node);
guint64             vn_layout_get_crossings (const VnLayout       *self);
VnRect              vn_layout_get_bounds    (const VnLayout       *self);
const VnRect       *vn_layout_get_box       (const VnLayout       *self,
                                             guint                 node);
const VnPoint      *vn_layout_get_route     (const VnLayout       *self,
                                             guint                 edge,
                                             guint                *n_points,
                                             guint                *own_start);
guint               vn_layout_get_n_stubs   (const VnLayout       *self);
const VnLayoutStub *vn_layout_get_stub      (const VnLayout       *self,
                                             guint                 i);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnLayout, vn_layout_unref)

G_END_DECLS
