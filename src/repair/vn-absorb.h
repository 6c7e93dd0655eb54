/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Large biases absorbed by the layer behind: Nagel et al., "Data-Free Quantization through Weight Equalization and Bias
 * Correction" (2019), 4.1.3. */
#pragma once

#include "vn-balance.h"

G_BEGIN_DECLS

double   vn_absorb_get_amount (double                mean,
                               double                mean_square);
VnModel *vn_absorb_biases     (const VnBalanceInput *input,
                               VnRepairGain         *gain,
                               GCancellable         *cancellable,
                               GError              **error);

G_END_DECLS
