/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which activations “--auto” does something about: those where most of the error starts for the time it costs. */
#pragma once

#include "improve-steps.h"

G_BEGIN_DECLS

/**
 * VnImproveLimit:
 * @ratio: how much time the export may take in ONNX Runtime beside the float network's; NaN: any
 * @integer_share: of multiplications that must be done on integers there; NaN: none
 */
typedef struct
{
  double ratio, integer_share;
} VnImproveLimit;

GPtrArray *vn_improve_order_origins (VnImproveBench       *bench,
                                     const VnImproveStep  *step,
                                     const VnRecipe       *recipe,
                                     const VnImproveLimit *limit,       /* nullable */
                                     GCancellable         *cancellable,
                                     GError              **error);

G_END_DECLS
