/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which activations “--auto” does something about: those where most of the error starts for the time it costs. */
#pragma once

#include "improve-steps.h"

G_BEGIN_DECLS

GPtrArray *vn_improve_order_origins (VnImproveBench       *bench,
                                     const VnImproveStep  *step,
                                     const VnRecipe       *recipe,
                                     const VnImproveLimit *limit,
                                     GCancellable         *cancellable,
                                     GError              **error);

G_END_DECLS
