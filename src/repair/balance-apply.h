/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dividing channels by their factors. */
#pragma once

#include "balance-graph.h"

G_BEGIN_DECLS

VnModel *vn_balance_apply (const VnModel        *model,
                           const VnBalanceGraph *graph,
                           const gboolean       *chosen,     /* by unit; NULL: all */
                           GError              **error);

/* ---- balance-cost.c ---- */

double   vn_balance_estimate_network (const VnGraph        *graph);
double   vn_balance_estimate_value   (const VnBalanceGraph *graph,
                                      const VnValue        *value);

G_END_DECLS
