/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The range of each channel of a tensor. */

#include "vn-channel-ranges.h"
#include "vn-pen.h"

G_BEGIN_DECLS

void vn_chart_draw_channel_ranges (VnPen                  *pen,
                                   double                  width,
                                   double                  height,
                                   const VnChannelRanges  *ranges,
                                   const VnChannelOutlier *outlier);    /* nullable */

G_END_DECLS
