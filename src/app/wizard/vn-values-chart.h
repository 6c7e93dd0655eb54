/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A chart of the values that the network gets, over those that its first layer seems to be made for. */

#include "vn-data-look.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define VN_TYPE_VALUES_CHART (vn_values_chart_get_type ())
G_DECLARE_FINAL_TYPE (VnValuesChart, vn_values_chart, VN, VALUES_CHART, AdwBin)

void vn_values_chart_set (VnValuesChart      *self,
                          const VnDataValues *values,      /* nullable */
                          gboolean            is_picture,
                          VnColorOrder        color);

G_END_DECLS
