/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The legend over the canvas. */

#include "vn-overlay-choice.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define VN_TYPE_LEGEND (vn_legend_get_type ())
G_DECLARE_FINAL_TYPE (VnLegend, vn_legend, VN, LEGEND, GtkWidget)

/* The card that explains the colours, to be laid over the canvas.
 *
 * Signals:
 *   overlay-changed ()            another overlay was chosen
 *   run-chosen ()                 the run that a difference is to
 *   handles-changed ()            the handles of the metric moved
 *   threshold-dragged (double axis, gboolean is_over)   the bar was dragged: select what is worse, see vn_heat_axis()
 *   band-activated (guint band)   a key was clicked: select the nodes of this band, see vn_overlay_kind_get_bands()
 *   quantize ()                   nothing is measured yet and the user wants to begin */

GtkWidget    *vn_legend_new           (void);
VnOverlayChoice vn_legend_get_choice  (VnLegend        *self);
void          vn_legend_set_choice    (VnLegend        *self,
                                       VnOverlayChoice  choice);
VnOverlayKind vn_legend_get_kind      (VnLegend        *self);
void          vn_legend_set_file      (VnLegend        *self,
                                       const char      *title,     /* nullable */
                                       VnOverlayKind    kind);
gboolean      vn_legend_has_file      (VnLegend        *self);
VnMetric      vn_legend_get_metric    (VnLegend        *self);
VnHeatHandles vn_legend_get_handles   (VnLegend        *self);
void          vn_legend_set_defaults  (VnLegend        *self,
                                       VnOverlayChoice  choice,
                                       VnHeatHandles    defaults);
void          vn_legend_set_overlay   (VnLegend        *self,
                                       const VnOverlay *overlay);
void          vn_legend_set_measured  (VnLegend        *self,
                                       gboolean         measured);
void          vn_legend_set_note      (VnLegend        *self,
                                       const char      *note);
void          vn_legend_set_runs      (VnLegend        *self,
                                       const char * const *titles,
                                       guint            selected);
guint         vn_legend_get_run       (VnLegend        *self);
void          vn_legend_set_folded    (VnLegend        *self,
                                       gboolean         folded);

G_END_DECLS
