/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Training of a quantized network, block by block: scales, the rounding of weights, weights and biases. */
#pragma once

#include "vn-second-order.h"

G_BEGIN_DECLS

/**
 * VnTrainInput: what training starts from.
 * @prepared: the float network
 * @start: (nullable): the same with weights and biases that other repairs found
 * @planned: (nullable): the network that the plan is made of: @prepared with other biases
 * @recipe: of a format with pairs of QuantizeLinear and DequantizeLinear
 * @stats: what ranges are found from
 * @samples: to learn from: of those that were calibrated with
 * @seconds: that it may take at most; 0: what @recipe says
 * @judge: (nullable): says whether a block helps; %NULL: every block is kept whose own error falls
 * @progress: (nullable)
 * @stop: (nullable): ends training with the best so far
 */
typedef struct
{
  const VnModel         *prepared, *start, *planned;
  const VnRecipe        *recipe;
  VnStats               *stats;
  const VnRepairSamples *samples;
  double                 seconds;
  VnJudge               *judge;
  const VnProgress      *progress;
  GCancellable          *stop;
} VnTrainInput;

/**
 * VnTrainResult: what training found.
 * @model: the network with weights and biases
 * @stats: with factors for ranges
 * @has_blocks: there was something to train
 */
typedef struct
{
  VnModel  *model;
  VnStats  *stats;
  gboolean  has_blocks;
} VnTrainResult;

void     vn_train_result_clear (VnTrainResult       *self);
gboolean vn_train              (const VnTrainInput  *input,
                                VnTrainResult       *result,
                                VnRepairGain        *gain,
                                GCancellable        *cancellable,
                                GError             **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnTrainResult, vn_train_result_clear)

G_END_DECLS
