/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-histogram.h"
#include "vn-pen.h"

G_BEGIN_DECLS

/* Charts: one drawing for widgets, PNG, SVG and PDF. Draws into (0, 0, width, height) of a pen. */

typedef struct { double min, max; char letter; const char *title; gboolean is_current; } VnChartRange;

/* How many values there are: @n bars of equal width from @low to @high. */
typedef struct { double low, high; const double *counts; guint n; } VnChartBars;

/* Activation histogram: bars over the observed range, log count, darker inside the current range, each range a pair of lines with
 * its letter. */
void vn_chart_histogram (VnPen              *pen,
                         double              width,
                         double              height,
                         const VnHistogram  *histogram,
                         const VnChartRange *ranges,
                         guint               n_ranges);
void vn_chart_histogram_between (VnPen              *pen,
                                 double              width,
                                 double              height,
                                 const VnHistogram  *histogram,
                                 double              low,
                                 double              high,
                                 const VnChartRange *ranges,
                                 guint               n_ranges);
void vn_chart_histogram_get_span (const VnHistogram  *histogram,
                                  const VnChartRange *ranges,
                                  guint               n_ranges,
                                  double             *low,
                                  double             *high);
/* The same of values that were counted before. */
void vn_chart_draw_bars (VnPen              *pen,
                         double              width,
                         double              height,
                         const VnChartBars  *bars,
                         const VnChartRange *ranges,
                         guint               n_ranges);
void vn_chart_draw_axis (VnPen              *pen,
                         double              width,
                         double              height,
                         double              low,
                         double              high);

G_END_DECLS
