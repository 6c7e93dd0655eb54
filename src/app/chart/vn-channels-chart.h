/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The error of each channel of a tensor: a click chooses one. */

#include "vn-heat.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Signal channel-chosen (guint channel). */
#define VN_TYPE_CHANNELS_CHART (vn_channels_chart_get_type ())
G_DECLARE_FINAL_TYPE (VnChannelsChart, vn_channels_chart, VN, CHANNELS_CHART, GtkDrawingArea)

void       vn_channels_chart_set        (VnChannelsChart *self,
                                         const double    *sqnr,
                                         guint            n,
                                         VnHeatHandles    handles);
void       vn_channels_chart_set_chosen (VnChannelsChart *self,
                                         guint            channel);

G_END_DECLS
