/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The whole network, small, with the part that is seen: a click goes there, a drag moves on. */

#include "vn-graph-view.h"

G_BEGIN_DECLS

#define VN_TYPE_MINIMAP (vn_minimap_get_type ())
G_DECLARE_FINAL_TYPE (VnMinimap, vn_minimap, VN, MINIMAP, GtkWidget)

GtkWidget *vn_minimap_new      (void);
void       vn_minimap_set_view (VnMinimap   *self,
                                VnGraphView *view);

G_END_DECLS
