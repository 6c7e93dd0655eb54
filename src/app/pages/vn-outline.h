/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnOutline: the nodes of the network as a list with a search entry, beside the graph.
 */
#define VN_TYPE_OUTLINE (vn_outline_get_type ())
G_DECLARE_FINAL_TYPE (VnOutline, vn_outline, VN, OUTLINE, AdwBin)

void vn_outline_set_document (VnOutline  *self,
                              VnDocument *document);
void vn_outline_focus_search (VnOutline  *self);

G_END_DECLS
