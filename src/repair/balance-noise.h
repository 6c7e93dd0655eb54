/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Factors of channels for weights that share one scale: those that make the noise of all steps together least. */
#pragma once

#include "balance-graph.h"

#include "vn-quantize.h"

G_BEGIN_DECLS

/**
 * VnBalanceNoise: what the noise of quantizing is estimated from.
 * @plan: of the network as it is
 * @power_of_two: scales are powers of two
 * @largest, @square: by VnBalanceGraph.first + channel: the largest absolute number, and the mean square; 0: never seen
 */
typedef struct
{
  VnQuantPlan  *plan;
  gboolean      power_of_two;
  const double *largest, *square;
} VnBalanceNoise;

gboolean vn_balance_minimize_noise (VnBalanceGraph       *graph,
                                    const VnBalanceNoise *noise,
                                    GError              **error);

G_END_DECLS
