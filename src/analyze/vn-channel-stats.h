/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Statistics of values per channel over samples. */

#include "vn-dataset.h"
#include "vn-plan.h"
#include "vn-progress.h"

G_BEGIN_DECLS

typedef enum
{
  VN_CHANNEL_LARGEST,        /* largest absolute value over all samples */
  VN_CHANNEL_MEAN,           /* mean over the samples of the means of each */
  VN_CHANNEL_TRIMMED_MEAN,   /* the same without the smallest and the largest thousandth of each sample */
  VN_CHANNEL_MEAN_SQUARE,    /* mean over the samples of the mean squares of each */
} VnChannelStat;

/**
 * VnChannelRun: samples to look at values with.
 * @samples: indices into @dataset
 * @n_threads: 0: all processors; results are the same bits for any number
 * @axes: (nullable): by value that is looked at: the axis of its channels; %NULL: 1 for all
 */
typedef struct
{
  GHashTable       *shapes;     /* nullable, as vn_model_infer_types() */
  VnDataset        *dataset;
  const guint      *samples;
  guint             n_samples;
  guint             n_threads;
  const VnProgress *progress;   /* nullable */
  VnNotes          *notes;      /* nullable */
  const int        *axes;
} VnChannelRun;

GPtrArray *vn_channel_stats (VnModel            *model,
                             GPtrArray          *values,
                             VnChannelStat       stat,
                             const VnChannelRun *run,
                             GCancellable       *cancellable,
                             GError            **error);

G_END_DECLS
