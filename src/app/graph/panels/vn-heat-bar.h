/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The error scale with its two handles. */

#include "vn-heat.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define VN_TYPE_HEAT_BAR (vn_heat_bar_get_type ())
G_DECLARE_FINAL_TYPE (VnHeatBar, vn_heat_bar, VN, HEAT_BAR, GtkWidget)

/* The heat scale between two facing scales, with the handles "fine" and "bad".
 *
 * Signals:
 *   handles-changed ()   while a handle is dragged or moved by keys
 *   threshold-dragged (double axis, gboolean is_over)   while the bar is dragged: what is worse than this place is meant */

GtkWidget    *vn_heat_bar_new         (void);
void          vn_heat_bar_set_metric  (VnHeatBar     *self,
                                       VnMetric       metric,
                                       VnHeatHandles  handles,
                                       VnHeatHandles  defaults);
void          vn_heat_bar_set_handles (VnHeatBar     *self,
                                       VnHeatHandles  handles);
VnHeatHandles vn_heat_bar_get_handles (VnHeatBar     *self);

G_END_DECLS
