/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-graph-painter.h"

G_BEGIN_DECLS

/* What a painter has drawn, kept in square pieces, so that moving about costs only the pieces that come
 * into sight. The pieces are of one zoom; another zoom starts anew. */

typedef struct _VnGraphTiles VnGraphTiles;

VnGraphTiles *vn_graph_tiles_new         (VnGraphPainter *painter);
void          vn_graph_tiles_free        (VnGraphTiles   *self);
void          vn_graph_tiles_invalidate  (VnGraphTiles   *self);
void          vn_graph_tiles_clear       (VnGraphTiles   *self);
gboolean      vn_graph_tiles_draw        (VnGraphTiles   *self,
                                          cairo_t        *cr,
                                          VnGraphCamera   camera,
                                          double          width,
                                          double          height,
                                          int             scale,
                                          double          budget);
gboolean      vn_graph_tiles_draw_scaled (VnGraphTiles   *self,
                                          cairo_t        *cr,
                                          VnGraphCamera   camera,
                                          double          width,
                                          double          height);
gboolean      vn_graph_tiles_prefetch    (VnGraphTiles   *self);
guint         vn_graph_tiles_get_n       (VnGraphTiles   *self);
VnGraphCamera vn_graph_camera_snap       (VnGraphCamera   camera,
                                          int             scale);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnGraphTiles, vn_graph_tiles_free)

G_END_DECLS
