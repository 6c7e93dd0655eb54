/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Second-order rounding of the weights of a network. */
#pragma once

#include "vn-judge.h"
#include "vn-quantize.h"
#include "vn-rounding-journal.h"

G_BEGIN_DECLS

/**
 * VnRepairInput: what a repair starts from.
 * @prepared: the float network that is quantized
 * @recipe: of a format with pairs of QuantizeLinear and DequantizeLinear
 * @plan: of @prepared and @recipe
 * @samples: to learn from: of those that were calibrated with
 * @judge: (nullable): says whether a change helps; %NULL: every change is kept
 * @journal: (nullable): layers that an earlier run has finished; gets the others
 * @progress: (nullable)
 * @most_kept: bytes of values between layers that are kept in memory, of each of two networks; what goes beyond is in a file.
 *   0: some megabytes. Results are the same bits for any number
 */
typedef struct
{
  const VnModel         *prepared;
  const VnRecipe        *recipe;
  VnQuantPlan           *plan;
  const VnRepairSamples *samples;
  VnJudge               *judge;
  VnRoundingJournal     *journal;
  const VnProgress      *progress;
  gsize                  most_kept;
} VnRepairInput;

/**
 * VnRepairGain: what a repair has brought.
 * @n_tried, @n_kept: layers
 * @before_db, @after_db: mean signal to noise of the outputs; without a judge 0
 */
typedef struct
{
  guint  n_tried, n_kept;
  double before_db, after_db;
} VnRepairGain;

VnModel *vn_second_order_round (const VnRepairInput *input,
                                VnRepairGain        *gain,
                                GCancellable        *cancellable,
                                GError             **error);

G_END_DECLS
