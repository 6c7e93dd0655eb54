/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnAdaptiveBin: holds a child that takes another form when it gets narrow.
 *
 * It asks for #VnAdaptiveBin:min-width at most, whatever its child in its present form needs. Before the frame after it got
 * another width it sets #VnAdaptiveBin:narrow (to whether it has less than #VnAdaptiveBin:break-at), has #VnAdaptiveBin:box stand
 * upright while that is so, and emits #VnAdaptiveBin::resized with the width: then the child can be changed. Until then a child
 * that is too wide is cut off, and never gets less than it needs.
 */
#define VN_TYPE_ADAPTIVE_BIN (vn_adaptive_bin_get_type ())
G_DECLARE_FINAL_TYPE (VnAdaptiveBin, vn_adaptive_bin, VN, ADAPTIVE_BIN, GtkWidget)

VnAdaptiveBin *vn_adaptive_bin_insert    (GtkWidget     *parent,
                                          const char    *property,
                                          int            min_width,
                                          int            break_at);
gboolean       vn_adaptive_bin_is_narrow (VnAdaptiveBin *self);

G_END_DECLS
