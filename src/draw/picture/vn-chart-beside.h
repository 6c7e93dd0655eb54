/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Charts of a tensor that two networks have. */

#include "vn-chart.h"

G_BEGIN_DECLS

/* The values of the second network: @counts[i] times @values[i]. */
typedef struct { const double *values; const guint *counts; guint n; } VnChartLevels;

void     vn_chart_draw_levels   (VnPen               *pen,
                                 double               width,
                                 double               height,
                                 const VnChartBars   *bars,
                                 const VnChartLevels *levels);

/**
 * VnChartChannels: the error of each channel.
 * @t: place on the scale of errors, 0 … 1; NaN: not measured
 * @chosen: of them; the one that is looked at
 * @lines: @n_lines heights at which a dashed line stands
 */
typedef struct
{
  const double *t;
  guint         n, chosen;
  const double *lines;
  guint         n_lines;
} VnChartChannels;

void     vn_chart_draw_channels (VnPen                 *pen,
                                 double                 width,
                                 double                 height,
                                 const VnChartChannels *channels);
gboolean vn_chart_channel_at    (const VnChartChannels *channels,
                                 double                 width,
                                 double                 x,
                                 guint                 *channel);

G_END_DECLS
