/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the user's metric comes to over all samples. */

#include "vn-user-metric.h"

G_BEGIN_DECLS

GArray *evaluate_metric_sum_up (VnUserMetric  *metric,
                                GPtrArray     *results,
                                const char    *model,
                                GError       **error);

G_END_DECLS
