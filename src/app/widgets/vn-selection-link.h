/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

G_BEGIN_DECLS

/**
 * VnSelectionLink: keeps the selection of a list over nodes and that of the document the same.
 */
#define VN_TYPE_SELECTION_LINK (vn_selection_link_get_type ())
G_DECLARE_FINAL_TYPE (VnSelectionLink, vn_selection_link, VN, SELECTION_LINK, GObject)

VnSelectionLink *vn_selection_link_new (VnDocument        *document,
                                        GtkSelectionModel *selection,
                                        GtkWidget         *view);

void             vn_selection_link_scroll (VnSelectionLink *self);

G_END_DECLS
