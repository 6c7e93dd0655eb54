/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranges that keep what layers compute from quantized numbers nearest to the float values. */
#pragma once

#include "vn-calibrate.h"
#include "vn-judge.h"
#include "vn-second-order.h"

G_BEGIN_DECLS

/**
 * VnRangeSearchInput:
 * @prepared: the float network that is quantized
 * @recipe: says how scales are made of ranges; of a format that holds quantized and float tensors side by side
 * @stats: ranges to start from
 * @samples: to learn from: of those that were calibrated with
 * @judge: (nullable): says whether a change helps; %NULL: every change is kept
 * @progress: (nullable)
 */
typedef struct
{
  VnModel               *prepared;
  const VnRecipe        *recipe;
  VnStats               *stats;
  const VnRepairSamples *samples;
  VnJudge               *judge;
  const VnProgress      *progress;
} VnRangeSearchInput;

VnRangeFactors *vn_range_search (const VnRangeSearchInput *input,
                                 VnRepairGain             *gain,
                                 GCancellable             *cancellable,
                                 GError                  **error);

G_END_DECLS
