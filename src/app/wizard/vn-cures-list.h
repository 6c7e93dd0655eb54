/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnCuresList: what to try, with the reason, the gain and a button that does it; hidden while nothing is known.
 */
#define VN_TYPE_CURES_LIST (vn_cures_list_get_type ())
G_DECLARE_FINAL_TYPE (VnCuresList, vn_cures_list, VN, CURES_LIST, AdwBin)

void vn_cures_list_set_document (VnCuresList *self,
                                 VnDocument  *document);

G_END_DECLS
