/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What pointer, wheel, touchpad and keyboard do in a graph view. */

#include "vn-graph-parts.h"

G_BEGIN_DECLS

/* Signals: node-activated, leak-activated, context-menu, as those of VnGraphView. */
#define VN_TYPE_GRAPH_INPUT (vn_graph_input_get_type ())
G_DECLARE_FINAL_TYPE (VnGraphInput, vn_graph_input, VN, GRAPH_INPUT, GObject)

VnGraphInput *vn_graph_input_new       (const VnGraphParts *parts);
void          vn_graph_input_set_lasso (VnGraphInput       *self,
                                        gboolean            lasso);

G_END_DECLS
