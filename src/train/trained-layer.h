/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is trained of one layer: which way its weights are rounded, or weights and bias themselves, and the scales of the
 * weights. */
#pragma once

#include "vn-adam.h"
#include "vn-fake-quantizer.h"
#include "vn-weight-layer.h"

G_BEGIN_DECLS

/**
 * VnTrainedLayer:
 * @weight, @bias: constants of the network that is trained; @bias may be %NULL: it has none, or keeps it
 * @label: (owned): of the node
 * @wanted: the float constant, before anything rounded it
 * @train: one of #VnTrain
 * @grid, @bias_grid: of the weights; of the bias: (nullable): it is not rounded, or too finely to count
 * @steps: weights in steps of their first scale; with AdaRound what the share of a step comes from that is added to @below
 * @below: AdaRound: integers
 * @first_scales, @octaves: scales at the beginning, and logarithms of what they were multiplied by since
 * @trains_scales, @power_of_two: whether scales are trained, and as powers of two
 * @bias_values: as trained, before they are rounded
 * @bias_step: how large a step of the bias is, where that of a weight is 1
 * @best_steps, @best_octaves, @best_bias: what was best so far
 */
typedef struct
{
  const VnValue   *weight, *bias;
  char            *label;
  VnTensor        *wanted;
  int              train;
  gsize            n, n_bias;
  VnFakeQuantizer *grid, *bias_grid;
  float           *steps, *below, *best_steps;
  float           *first_scales, *octaves, *best_octaves;
  gboolean         trains_scales, power_of_two;
  float           *bias_values, *best_bias;
  double           bias_step;
  double          *octave_gradients;
  float           *scratch;
  VnAdam           adam, scale_adam, bias_adam;
} VnTrainedLayer;

/**
 * VnTrainedLayerInput: what a layer starts from.
 * @wanted: the float constant, before anything rounded it
 * @row, @bias_row: (nullable for the bias): of the plan
 */
typedef struct
{
  const VnNode     *node;
  VnTensor         *wanted;
  const VnQuantRow *row, *bias_row;
  int               train;
  gboolean          trains_scales, power_of_two;
} VnTrainedLayerInput;

VnTrainedLayer *vn_trained_layer_new        (const VnTrainedLayerInput *input,
                                             GError                   **error);
void            vn_trained_layer_free       (VnTrainedLayer            *self);
void            vn_trained_layer_write      (VnTrainedLayer            *self,
                                             gboolean                   hard,
                                             float                     *weights,
                                             float                     *bias);       /* nullable */
double          vn_trained_layer_learn      (VnTrainedLayer            *self,
                                             const float               *weights,
                                             const float               *bias,        /* nullable */
                                             double                     rate,
                                             double                     beta,
                                             double                     pull);
void            vn_trained_layer_set_octave (VnTrainedLayer            *self,
                                             float                      octave);
void            vn_trained_layer_keep       (VnTrainedLayer            *self);
void            vn_trained_layer_take_best  (VnTrainedLayer            *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnTrainedLayer, vn_trained_layer_free)

G_END_DECLS
