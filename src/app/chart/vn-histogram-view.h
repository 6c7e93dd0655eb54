/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A widget that draws a histogram with ranges over it. The ends of the current range can be moved, by pointer or by keys. */

#include "vn-chart.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Signals:
 *   range-moved (double min, double max)   an end is being moved: nothing is decided yet
 *   range-set (double min, double max)     it was let go
 *   range-kept ()                          it was given up: the range is what it was */
#define VN_TYPE_HISTOGRAM_VIEW (vn_histogram_view_get_type ())
G_DECLARE_FINAL_TYPE (VnHistogramView, vn_histogram_view, VN, HISTOGRAM_VIEW, GtkDrawingArea)

GtkWidget *vn_histogram_view_new (void);
void       vn_histogram_view_set (VnHistogramView    *self,
                                  const VnHistogram  *histogram,
                                  gpointer            owner,
                                  GDestroyNotify      owner_free,
                                  const VnChartRange *ranges,
                                  guint               n_ranges);
void       vn_histogram_view_set_movable (VnHistogramView *self,
                                          gboolean         movable);
gboolean   vn_histogram_view_is_moving (VnHistogramView *self);
gboolean   vn_histogram_view_get_place (VnHistogramView *self,
                                        double           value,
                                        double          *x);

G_END_DECLS
