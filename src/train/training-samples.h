/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a block reads and should compute, sample by sample: of all values of a network only these are kept. */
#pragma once

#include "vn-judge.h"

G_BEGIN_DECLS

/**
 * VnTrainFeed: the inputs of the network for each sample, as long as it is trained.
 * @inputs: (array length=n): arrays of @n_inputs tensors
 * @n_copies: samples that follow each other that are copies of the same, itself counted
 */
typedef struct
{
  guint       n, n_inputs, n_copies;
  VnTensor ***inputs;
  guint       n_threads;
} VnTrainFeed;

/**
 * VnTrainTaps: values of one network in each sample.
 * @n: samples; fewer than were asked for if there is no room
 * @n_copies: as of the feed
 * @tensors: (array length=n): arrays of @n_values tensors
 */
typedef struct
{
  guint       n, n_values, n_copies;
  VnTensor ***tensors;
} VnTrainTaps;

gboolean vn_train_feed_init  (VnTrainFeed           *self,
                              VnModel               *model,
                              const VnRepairSamples *samples,
                              gsize                  most_bytes,
                              GError               **error);
void     vn_train_feed_clear (VnTrainFeed           *self);

gboolean vn_train_taps_init  (VnTrainTaps           *self,
                              VnModel               *model,
                              GPtrArray             *values,
                              const VnTrainFeed     *feed,
                              GHashTable            *shapes,
                              gsize                  most_bytes,
                              GCancellable          *cancellable,
                              GError               **error);
void     vn_train_taps_clear (VnTrainTaps           *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnTrainFeed, vn_train_feed_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnTrainTaps, vn_train_taps_clear)

G_END_DECLS
