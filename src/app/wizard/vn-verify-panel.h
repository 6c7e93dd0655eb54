/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnVerifyPanel: what ONNX Runtime makes of the export, expected or measured, and a button that measures; hidden where there is
 * no result.
 */
#define VN_TYPE_VERIFY_PANEL (vn_verify_panel_get_type ())
G_DECLARE_FINAL_TYPE (VnVerifyPanel, vn_verify_panel, VN, VERIFY_PANEL, AdwBin)

void vn_verify_panel_set_document (VnVerifyPanel *self,
                                   VnDocument    *document);

G_END_DECLS
