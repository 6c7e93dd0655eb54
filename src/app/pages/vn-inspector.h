/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnInspector: everything about the selected node, or what the selected nodes share.
 */
#define VN_TYPE_INSPECTOR (vn_inspector_get_type ())
G_DECLARE_FINAL_TYPE (VnInspector, vn_inspector, VN, INSPECTOR, AdwBin)

void vn_inspector_set_document (VnInspector *self,
                                VnDocument  *document);
void vn_inspector_show_about   (VnInspector *self);

G_END_DECLS
