/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looking for parts in what a float network computes. */
#pragma once

#include "vn-parts.h"
#include "vn-samples.h"

G_BEGIN_DECLS

VnParts *vn_find_parts    (VnModel             *model,
                           const VnSamples     *samples,
                           VnNotes             *suspicions,     /* nullable */
                           GCancellable        *cancellable,
                           GError             **error);
void     vn_parts_inherit (VnParts             *self,
                           const VnModel       *model);

G_END_DECLS
