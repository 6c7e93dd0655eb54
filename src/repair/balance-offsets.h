/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Constant offsets of tensors, which range from 0 to them is wasted on. */
#pragma once

#include "vn-balance.h"

G_BEGIN_DECLS

VnModel *vn_balance_take_offsets (const VnBalanceInput  *input,
                                  VnStats              **stats,
                                  VnRepairGain          *gain,
                                  GCancellable          *cancellable,
                                  GError               **error);

G_END_DECLS
