/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The parts of a graph view, for what is done with several of them together: travelling, words, folding, gestures. A part
 * knows at most those in front of it here, and tells of changes by signals. */

#include "vn-graph-hover.h"
#include "vn-graph-tiles.h"

G_BEGIN_DECLS

/**
 * VnGraphParts: what they belong to outlives what uses them.
 * @widget: where all is seen
 */
typedef struct
{
  GtkWidget        *widget;
  VnGraphPainter   *painter;
  VnGraphTiles     *tiles;
  VnViewport       *viewport;
  VnGraphContent   *content;
  VnGraphSelection *selection;
  VnGraphHover     *hover;
} VnGraphParts;

void     vn_graph_parts_reveal         (const VnGraphParts *self,
                                        guint               box);
void     vn_graph_parts_zoom_to_box    (const VnGraphParts *self,
                                        guint               box);
void     vn_graph_parts_zoom_to_node   (const VnGraphParts *self,
                                        guint               node);
gboolean vn_graph_parts_next_bad       (const VnGraphParts *self,
                                        int                 step);
gboolean vn_graph_parts_can_collapse   (const VnGraphParts *self);
gboolean vn_graph_parts_expand_focus   (const VnGraphParts *self);
gboolean vn_graph_parts_collapse_focus (const VnGraphParts *self);

G_END_DECLS
