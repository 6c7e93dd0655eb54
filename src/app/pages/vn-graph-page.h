/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-page.h"

G_BEGIN_DECLS

/**
 * VnGraphPage: the canvas with what floats over it.
 */
#define VN_TYPE_GRAPH_PAGE (vn_graph_page_get_type ())
G_DECLARE_FINAL_TYPE (VnGraphPage, vn_graph_page, VN, GRAPH_PAGE, AdwBin)

void vn_graph_page_open_numbers (VnGraphPage *self,
                                 const char  *path);

G_END_DECLS
