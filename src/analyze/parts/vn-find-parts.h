/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looking for parts in what a float network computes. */
#pragma once

#include "vn-channel-stats.h"
#include "vn-parts.h"

G_BEGIN_DECLS

VnParts *vn_find_parts    (VnModel             *model,
                           const VnChannelRun  *run,
                           VnNotes             *suspicions,     /* nullable */
                           GCancellable        *cancellable,
                           GError             **error);
void     vn_parts_inherit (VnParts             *self,
                           const VnModel       *model);

G_END_DECLS
