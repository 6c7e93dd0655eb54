/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A widget that draws a histogram with ranges over it. */

#include "vn-chart.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define VN_TYPE_HISTOGRAM_VIEW (vn_histogram_view_get_type ())
G_DECLARE_FINAL_TYPE (VnHistogramView, vn_histogram_view, VN, HISTOGRAM_VIEW, GtkDrawingArea)

GtkWidget *vn_histogram_view_new (void);
void       vn_histogram_view_set (VnHistogramView    *self,
                                  const VnHistogram  *histogram,
                                  gpointer            owner,
                                  GDestroyNotify      owner_free,
                                  const VnChartRange *ranges,
                                  guint               n_ranges);

G_END_DECLS
