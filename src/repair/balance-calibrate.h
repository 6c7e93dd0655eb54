/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of a network while its channels are balanced. */
#pragma once

#include "vn-balance.h"

G_BEGIN_DECLS

VnStats *vn_balance_calibrate (const VnBalanceInput  *input,
                               VnModel               *model,
                               GCancellable          *cancellable,
                               GError               **error);

G_END_DECLS
