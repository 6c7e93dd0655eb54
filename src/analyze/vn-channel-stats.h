/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Statistics of values per channel over samples. */

#include "vn-plan.h"
#include "vn-samples.h"

G_BEGIN_DECLS

typedef enum
{
  VN_CHANNEL_LARGEST,        /* largest absolute value over all samples */
  VN_CHANNEL_MEAN,           /* mean over the samples of the means of each */
  VN_CHANNEL_TRIMMED_MEAN,   /* the same without the smallest and the largest thousandth of each sample */
  VN_CHANNEL_MEAN_SQUARE,    /* mean over the samples of the mean squares of each */
} VnChannelStat;

GPtrArray *vn_channel_stats (VnModel            *model,
                             GPtrArray          *values,
                             const int          *axes,         /* nullable */
                             VnChannelStat       stat,
                             const VnSamples    *samples,
                             GCancellable       *cancellable,
                             GError            **error);

G_END_DECLS
