/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-node-item.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * VnScope: the nodes whose names begin alike, as a folder of the outline.
 */
#define VN_TYPE_SCOPE (vn_scope_get_type ())
G_DECLARE_FINAL_TYPE (VnScope, vn_scope, VN, SCOPE, GObject)

VnScope    *vn_scope_new_for_nodes (GListModel *nodes);
const char *vn_scope_get_name      (VnScope    *self);
GListModel *vn_scope_get_children  (VnScope    *self);   /* of VnScope and VnNodeItem, borrowed */
GtkBitset  *vn_scope_get_nodes     (VnScope    *self);   /* indices of all nodes below, borrowed */
VnNodeItem *vn_scope_get_worst     (VnScope    *self);   /* borrowed; NULL: none measured */
void        vn_scope_update        (VnScope    *self);

G_END_DECLS
