/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Correction of biases from the front of a network to its end, kept where it helps. */
#pragma once

#include "vn-bias-correct.h"
#include "vn-judge.h"
#include "vn-second-order.h"

G_BEGIN_DECLS

/**
 * VnBiasGuardInput:
 * @prepared: the float network
 * @recipe: of a format with pairs of QuantizeLinear and DequantizeLinear
 * @stats: what ranges are found from
 * @judge: (nullable): says whether a correction helps; %NULL: all are kept
 * @edits: (nullable): told what is corrected
 * @take_weights: (transfer full): the network that it is given, with the weights that will be written
 */
typedef struct
{
  VnModel            *prepared;
  const VnRecipe     *recipe;
  VnStats            *stats;
  const VnSamples *run;
  VnJudge            *judge;
  VnEditLog          *edits;
  VnModel          *(*take_weights) (const VnModel *corrected, gpointer data);
  gpointer            data;
} VnBiasGuardInput;

VnModel *vn_bias_guard_correct (const VnBiasGuardInput *input,
                                VnRepairGain           *gain,
                                GCancellable           *cancellable,
                                GError                **error);

G_END_DECLS
