/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the user's metric comes to over all samples, and what a task tells beside the share that is kept. */

#include "vn-evaluate.h"
#include "vn-kept-meter.h"
#include "vn-user-metric.h"

G_BEGIN_DECLS

GArray *evaluate_metric_sum_up (VnUserMetric  *metric,
                                GPtrArray     *results,
                                const char    *model,
                                GError       **error);
void    evaluate_metric_add_figures (const VnKeptMeter *meter,
                                     VnScore           *scores,
                                     guint              n);

G_END_DECLS
