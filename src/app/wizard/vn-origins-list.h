/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnOriginsList: where the error of the result starts, with reasons and what can be done there, and how far the search is.
 */
#define VN_TYPE_ORIGINS_LIST (vn_origins_list_get_type ())
G_DECLARE_FINAL_TYPE (VnOriginsList, vn_origins_list, VN, ORIGINS_LIST, AdwBin)

void vn_origins_list_set_document (VnOriginsList *self,
                                   VnDocument    *document);

G_END_DECLS
