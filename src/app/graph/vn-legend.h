/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The legend over the canvas. */

#include "vn-heat.h"
#include "vn-verification.h"
#include "vn-scene.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define VN_TYPE_LEGEND (vn_legend_get_type ())
G_DECLARE_FINAL_TYPE (VnLegend, vn_legend, VN, LEGEND, GtkWidget)

typedef enum { VN_BAND_FINE, VN_BAND_WATCH, VN_BAND_BAD, VN_N_BANDS } VnBand;

/* The card that explains the colours, to be laid over the canvas.
 *
 * Signals:
 *   overlay-changed ()            another overlay or metric was chosen
 *   handles-changed ()            the handles of the metric moved
 *   band-activated (guint band)   a key was clicked: select the nodes of this VnBand
 *   quantize ()                   nothing is measured yet and the user wants to begin */

GtkWidget    *vn_legend_new           (void);
VnOverlayKind vn_legend_get_kind      (VnLegend        *self);   /* ERROR, PRECISION, KERNELS or NONE */
VnMetric      vn_legend_get_metric    (VnLegend        *self);
void          vn_legend_set_metric    (VnLegend        *self,
                                       VnMetric         metric);
VnHeatHandles vn_legend_get_handles   (VnLegend        *self);
void          vn_legend_set_defaults  (VnLegend        *self,
                                       VnMetric         metric,
                                       VnHeatHandles    defaults);
void          vn_legend_set_overlay   (VnLegend        *self,
                                       const VnOverlay *overlay);
void          vn_legend_set_measured  (VnLegend        *self,
                                       gboolean         measured);
void          vn_legend_set_runtime   (VnLegend        *self,
                                       const VnRuntimeForecast *forecast,
                                       const VnVerification    *verification);
void          vn_legend_set_folded    (VnLegend        *self,
                                       gboolean         folded);

G_END_DECLS
