/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnCurvePanel: has it calculated what mixed precision can make of the network, shows that as a chart, and applies points of it.
 */
#define VN_TYPE_CURVE_PANEL (vn_curve_panel_get_type ())
G_DECLARE_FINAL_TYPE (VnCurvePanel, vn_curve_panel, VN, CURVE_PANEL, AdwBin)

void vn_curve_panel_set_document (VnCurvePanel *self,
                                  VnDocument   *document);

G_END_DECLS
