/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-curve.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * VnCurveView: a curve of mixed precision whose points can be selected and applied, with the mouse and with keys: arrows walk
 * along it, Enter applies.
 *
 * Signals:
 * - selected: another point, or none
 * - activated: the selected point shall be applied
 */
#define VN_TYPE_CURVE_VIEW (vn_curve_view_get_type ())
G_DECLARE_FINAL_TYPE (VnCurveView, vn_curve_view, VN, CURVE_VIEW, GtkDrawingArea)

GtkWidget *vn_curve_view_new          (void);
void       vn_curve_view_set          (VnCurveView *self,
                                       VnCurve     *curve,         /* nullable */
                                       VnCurveCost  cost,
                                       int          in_force);     /* -1: none */
int        vn_curve_view_get_selected (VnCurveView *self);         /* -1: none */
void       vn_curve_view_select       (VnCurveView *self,
                                       int          point);
int        vn_curve_view_find_point   (VnCurveView *self,          /* -1: none is near */
                                       double       x,
                                       double       y);
gboolean   vn_curve_view_locate_point (VnCurveView *self,
                                       guint        point,
                                       double      *x,
                                       double      *y);

G_END_DECLS
