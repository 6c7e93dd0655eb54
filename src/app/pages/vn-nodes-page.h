/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-page.h"

G_BEGIN_DECLS

/**
 * VnNodesPage: the nodes as a table that can be sorted and filtered.
 */
#define VN_TYPE_NODES_PAGE (vn_nodes_page_get_type ())
G_DECLARE_FINAL_TYPE (VnNodesPage, vn_nodes_page, VN, NODES_PAGE, AdwBin)

G_END_DECLS
