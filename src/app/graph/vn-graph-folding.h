/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Groups of a graph view that are seen to open and close. */

#include "vn-graph-parts.h"

G_BEGIN_DECLS

typedef struct _VnGraphFolding VnGraphFolding;

VnGraphFolding *vn_graph_folding_new        (const VnGraphParts  *parts);
void            vn_graph_folding_free       (VnGraphFolding      *self);
void            vn_graph_folding_start      (VnGraphFolding      *self,
                                             const VnGraphBefore *before,
                                             gboolean             moves_camera);
void            vn_graph_folding_stop       (VnGraphFolding      *self);
gboolean        vn_graph_folding_is_running (VnGraphFolding      *self);

G_END_DECLS
