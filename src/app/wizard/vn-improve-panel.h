/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnImprovePanel: has the program try what may lower the error, and tells what that has gained.
 */
#define VN_TYPE_IMPROVE_PANEL (vn_improve_panel_get_type ())
G_DECLARE_FINAL_TYPE (VnImprovePanel, vn_improve_panel, VN, IMPROVE_PANEL, AdwBin)

void vn_improve_panel_set_document (VnImprovePanel *self,
                                    VnDocument     *document);
void vn_improve_panel_set_suggested (VnImprovePanel *self,
                                     gboolean        suggested);

G_END_DECLS
