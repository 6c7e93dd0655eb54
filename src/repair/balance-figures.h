/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the channels of a network hold. */
#pragma once

#include "balance-graph.h"
#include "vn-balance.h"

G_BEGIN_DECLS

/**
 * VnBalanceFigures:
 * @plain: statistics of the network as it is
 * @of_weights: factors are for the sake of weights, whose errors the channels multiply: the size of a channel is the root of its
 *   mean square instead of its largest number
 * @squares: mean squares are wanted, too
 * @largest, @square: (out): by channel: size, and mean square, of the numbers of the network as it is
 */
typedef struct
{
  const VnBalanceInput *input;
  VnBalanceGraph       *graph;
  VnStats              *plain;
  gboolean              of_weights, squares;
  GCancellable         *cancellable;
  double               *largest, *square;
} VnBalanceFigures;

gboolean vn_balance_figures_find  (VnBalanceFigures *self,
                                   GError          **error);
void     vn_balance_figures_clear (VnBalanceFigures *self);

G_END_DECLS
