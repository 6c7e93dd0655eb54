/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-heat.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * VnSwatch: the error of one node as a small coloured box with ticks, or as a bar that grows with the error.
 */
#define VN_TYPE_SWATCH (vn_swatch_get_type ())
G_DECLARE_FINAL_TYPE (VnSwatch, vn_swatch, VN, SWATCH, GtkWidget)

typedef enum
{
  VN_SWATCH_EMPTY,      /* not measured: an outline */
  VN_SWATCH_FLOAT,      /* not quantized: a dotted outline */
  VN_SWATCH_VALUE,
} VnSwatchState;

GtkWidget *vn_swatch_new         (gboolean       as_bar);
GtkWidget *vn_swatch_new_bar     (int            width);
void       vn_swatch_set         (VnSwatch      *self,
                                  VnSwatchState  state,
                                  VnMetric       metric,
                                  double         value);
void       vn_swatch_set_handles (VnSwatch      *self,
                                  VnHeatHandles  handles);

G_END_DECLS
