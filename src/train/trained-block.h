/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One block while it is trained: what it learns, what it reads and should compute. */
#pragma once

#include "training-cut.h"
#include "training-importance.h"
#include "training-samples.h"
#include "trained-layer.h"

#include "vn-train-block.h"

G_BEGIN_DECLS

/* Whether a scale follows the range of its tensor, and how. */
typedef enum { VN_SCALE_FIXED, VN_SCALE_FREE, VN_SCALE_POWER_OF_TWO } VnScaleKind;

/**
 * VnTrainState: a network on its way through training.
 * @wanted: the float network
 * @model: the same with the weights and biases so far
 * @scheme: how it is trained
 * @plan: that @model is written with
 * @kinds: by name of a tensor: #VnScaleKind
 * @n_shares: by name of a tensor: how many have its parameters
 * @trains: by VnNode.index: #VnTrain
 * @importance: (nullable): by name of a tensor: #VnTrainImportance
 * @deadline: monotonic time, or 0
 * @n_left: blocks that are still to be trained, the present one counted
 * @stop: (nullable): ends training with the best so far
 */
typedef struct
{
  const VnModel  *wanted;
  VnModel        *model;
  VnTrainScheme   scheme;
  VnQuantPlan    *plan;
  GHashTable     *kinds, *n_shares;
  int            *trains;
  GHashTable     *importance;
  guint           n_threads;
  gint64          deadline;
  guint           n_left;
  GCancellable   *stop, *cancellable;
} VnTrainState;

/**
 * VnTrainedScale: scale of tensors that a block computes.
 * @name: (owned): of the tensor that the scale is that of
 * @first, @octave, @best: the scale at the beginning, and the logarithm of what it was multiplied by
 * @hooks: of guint: in the block
 */
typedef struct
{
  char            *name;
  VnFakeQuantizer *grid;
  VnScaleKind      kind;
  gboolean         learns;
  float            first, octave, best;
  VnAdam           adam;
  GArray          *hooks;
} VnTrainedScale;

/**
 * VnTrainedBlock:
 * @layers: of VnTrainedLayer
 * @scales: of VnTrainedScale
 * @before, @after: energy of the error of what it computes, as it counts in the outputs of the network, or by that of the float
 *   values, in samples that it was not trained with
 * @n_steps: that were done
 */
typedef struct
{
  const VnTrainState *state;
  VnBlock            *block;
  GPtrArray          *layers, *scales;
  double              before, after;
  guint               n_steps;
} VnTrainedBlock;

gboolean        vn_train_state_is_stopped (const VnTrainState *self);
guint           vn_train_get_steps        (const VnTrainScheme *scheme);

VnTrainedBlock *vn_trained_block_new      (const VnTrainState *state,
                                           const VnTrainPart *nodes,
                                           GError            **error);
void            vn_trained_block_free     (VnTrainedBlock     *self);
gboolean        vn_trained_block_learns   (const VnTrainedBlock *self);
gboolean        vn_trained_block_measure  (VnTrainedBlock     *self,
                                           const VnTrainTaps  *read,
                                           const VnTrainTaps  *wanted,
                                           GError            **error);
gboolean        vn_trained_block_train    (VnTrainedBlock     *self,
                                           const VnTrainTaps  *read,
                                           const VnTrainTaps  *float_read,    /* nullable */
                                           const VnTrainTaps  *wanted,
                                           const VnProgress   *progress,
                                           guint64             done,
                                           guint64             total,
                                           GError            **error);
VnStats        *vn_trained_block_take_scales (const VnTrainedBlock *self,
                                           VnQuantPlan        *plan,
                                           VnStats            *stats);
gboolean        vn_trained_block_set_weights (VnTrainedBlock  *self,
                                           VnModel            *model,
                                           GError            **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnTrainedBlock, vn_trained_block_free)

G_END_DECLS
