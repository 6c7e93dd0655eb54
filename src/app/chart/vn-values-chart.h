/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The values of a channel in two networks: bars and stems. */

#include "vn-tensor-view.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define VN_TYPE_VALUES_CHART (vn_values_chart_get_type ())
G_DECLARE_FINAL_TYPE (VnValuesChart, vn_values_chart, VN, VALUES_CHART, GtkDrawingArea)

GtkWidget *vn_values_chart_new (void);
void       vn_values_chart_set (VnValuesChart        *self,
                                const VnTensorValues *values);    /* NULL: nothing */

G_END_DECLS
