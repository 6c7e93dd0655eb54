/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of the selection ask of each other. */

#include "vn-graph-selection.h"

G_BEGIN_DECLS

/* graph-selection-parts.c */
gboolean _vn_graph_selection_is_inside   (VnGraphSelection *self,
                                          guint             box);
void     _vn_graph_selection_find_parts  (VnGraphSelection *self);

/* vn-graph-selection.c */
void     _vn_graph_selection_pick_box    (VnGraphSelection *self,
                                          guint             box,
                                          guint8            picked);
void     _vn_graph_selection_mark_boxes  (VnGraphSelection *self);
void     _vn_graph_selection_was_changed (VnGraphSelection *self);

G_END_DECLS
