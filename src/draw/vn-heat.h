/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-color.h"
#include "vn-error-table.h"

G_BEGIN_DECLS

/* The colours of error and of amounts. Error runs neutral, amber, orange-red, magenta; lightness falls in
 * the light style and rises in the dark one, so that distance from the canvas says how bad it is for any
 * colour vision. */

typedef enum { VN_HEAT_ERROR, VN_HEAT_AMOUNT } VnHeatScale;

/* What the ticks of an error say. */
typedef enum { VN_BAND_FINE, VN_BAND_WATCH, VN_BAND_BAD, VN_N_BANDS } VnBand;

/**
 * VnHeatHandles: where "fine" ends and "bad" begins, on the axis of vn_heat_axis(): larger is better, one
 * decade of the underlying ratio is 10. Always fine >= bad + 1.
 */
typedef struct { double fine, bad; } VnHeatHandles;

#define VN_HEAT_N_COLORS 256

VnColor        vn_heat_color          (VnHeatScale    scale,
                                       gboolean       dark,
                                       double         t);
VnColor        vn_heat_difference     (gboolean       dark,
                                       double         t);
double         vn_heat_axis           (VnMetric       metric,
                                       double         value);
double         vn_heat_from_axis      (VnMetric       metric,
                                       double         axis);
VnHeatHandles  vn_heat_default_handles (VnMetric      metric);
VnHeatHandles  vn_heat_handles_from_values (VnMetric  metric,
                                       const double  *values,
                                       gsize          n);
VnHeatHandles  vn_heat_handles_for_run (VnMetric       metric,
                                        VnErrorTable  *errors);
double         vn_heat_t              (double         axis,
                                       VnHeatHandles  handles);
double         vn_heat_axis_at        (double         t,
                                       VnHeatHandles  handles);
VnBand         vn_heat_get_band       (guint          ticks);
const char    *vn_band_get_id         (VnBand         band);
const char    *vn_band_get_title      (VnBand         band);
guint          vn_heat_ticks          (double         axis,
                                       VnHeatHandles  handles);

G_END_DECLS
