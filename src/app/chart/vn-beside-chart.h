/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The values of a channel in two networks: bars and stems. */

#include "vn-tensor-view.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define VN_TYPE_BESIDE_CHART (vn_beside_chart_get_type ())
G_DECLARE_FINAL_TYPE (VnBesideChart, vn_beside_chart, VN, BESIDE_CHART, GtkDrawingArea)

GtkWidget *vn_beside_chart_new (void);
void       vn_beside_chart_set (VnBesideChart        *self,
                                const VnTensorValues *values);    /* NULL: nothing */

G_END_DECLS
