/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-constant-look.h"
#include "vn-document.h"
#include "vn-node-item.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnConstantPanel: a constant in the inspector: type and scales, figures, a histogram, a picture, its elements as numbers, to be
 * copied and saved. Elements are read in the background.
 */
#define VN_TYPE_CONSTANT_PANEL (vn_constant_panel_get_type ())
G_DECLARE_FINAL_TYPE (VnConstantPanel, vn_constant_panel, VN, CONSTANT_PANEL, AdwBin)

GtkWidget      *vn_constant_panel_new      (VnDocument           *document,
                                            const VnValue        *value,
                                            const VnStoredWeight *stored,    /* nullable */
                                            VnNodeItem           *item);     /* nullable */
VnConstantLook *vn_constant_panel_get_look (VnConstantPanel      *self);     /* borrowed; NULL: not read yet */

G_END_DECLS
