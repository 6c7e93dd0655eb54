/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-scene.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The bar of a legend that has no handles: of amounts, with shares above and bytes or seconds below, or of a difference. */
GtkWidget *vn_legend_scale_new         (void);
void       vn_legend_scale_set_overlay (GtkWidget       *self,
                                        VnOverlayKind    kind,
                                        const VnOverlay *overlay);   /* nullable */

G_END_DECLS
