/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Balancing the channels of a network. */
#pragma once

#include "vn-channel-stats.h"
#include "vn-second-order.h"

G_BEGIN_DECLS

/**
 * VnBalanceInput: what balancing starts from.
 * @prepared: the float network
 * @samples: to learn ranges from
 * @judge: (nullable): says whether a change helps; %NULL: all of it is kept
 * @progress: (nullable)
 * @draft: the result is only tried: the search for tensors that do no good is cut short
 */
typedef struct
{
  VnModel               *prepared;
  const VnRecipe        *recipe;
  const VnRepairSamples *samples;
  VnJudge               *judge;
  const VnProgress      *progress;
  gboolean               draft;
} VnBalanceInput;

VnModel *vn_balance_channels (const VnBalanceInput *input,
                              VnRepairGain         *gain,
                              GCancellable         *cancellable,
                              GError              **error);

G_END_DECLS
