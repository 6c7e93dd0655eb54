/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnQueryChips: drop-downs above a list of nodes: which types, precisions and bands of error it shows. They read and change what
 * stands in a search, a query for vn_node_query_new(): nothing is looked for but what can be read there.
 */
#define VN_TYPE_QUERY_CHIPS (vn_query_chips_get_type ())
G_DECLARE_FINAL_TYPE (VnQueryChips, vn_query_chips, VN, QUERY_CHIPS, AdwBin)

void vn_query_chips_set (VnQueryChips *self,
                         VnDocument   *document,
                         GtkEditable  *search);

G_END_DECLS
