/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What reaches the weights of a network. */
#pragma once

#include "vn-importance.h"
#include "vn-judge.h"

G_BEGIN_DECLS

VnImportance *vn_weight_importance_measure (VnModel               *prepared,
                                            const VnRepairSamples *samples,
                                            GCancellable          *cancellable,
                                            GError               **error);

G_END_DECLS
