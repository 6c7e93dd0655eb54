/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measuring where error starts. */
#pragma once

#include "vn-channel-stats.h"
#include "vn-contributions.h"

G_BEGIN_DECLS

VnContributions *vn_contribution_measure (const VnModel       *prepared,
                                          const VnModel       *written,
                                          VnQuantPlan         *plan,
                                          const VnChannelRun  *run,
                                          GCancellable        *cancellable,
                                          GError             **error);

G_END_DECLS
