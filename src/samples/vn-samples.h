/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples that work is done with. */
#pragma once

#include "vn-dataset.h"
#include "vn-progress.h"

G_BEGIN_DECLS

/**
 * VnSamples: borrows all that it points to.
 * @dataset: opened for the inputs of the network that is run
 * @shapes: (nullable): of its inputs, as vn_model_infer_types() takes them
 * @indices: (array length=n): which samples of @dataset, in which order
 * @n_threads: 0: all processors; results are the same bits for any number
 * @progress: (nullable): told after each sample
 * @notes: (nullable): told of samples that cannot be read
 */
typedef struct
{
  VnDataset        *dataset;
  GHashTable       *shapes;
  const guint      *indices;
  guint             n;
  guint             n_threads;
  const VnProgress *progress;
  VnNotes          *notes;
} VnSamples;

G_END_DECLS
