/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-color.h"
#include "vn-histogram.h"

#include <cairo.h>

G_BEGIN_DECLS

/* Charts: one painter for widgets, PNG, SVG and PDF. Draws into (0, 0, width, height) of @cr. */

typedef struct
{
  VnColor     ink;          /* text and lines, used with alpha */
  VnColor     accent;
  const char *font;         /* family; NULL: "Cantarell" */
} VnChartTheme;

extern const VnChartTheme vn_chart_theme_light;
extern const VnChartTheme vn_chart_theme_dark;

typedef struct { double min, max; char letter; const char *title; gboolean is_current; } VnChartRange;

/* Activation histogram: bars over the observed range, log count, darker inside the current range, each range a pair of lines with its letter. */
void vn_chart_histogram (cairo_t            *cr,
                         double              width,
                         double              height,
                         const VnHistogram  *histogram,
                         const VnChartRange *ranges,
                         guint               n_ranges,
                         const VnChartTheme *theme);

G_END_DECLS
