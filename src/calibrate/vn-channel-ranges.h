/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The least and the largest value of each channel of a tensor over samples. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* More channels than this are not told apart. */
#define VN_CHANNEL_RANGES_MOST 65536

/**
 * VnChannelRanges:
 * @n: channels; 0: they were not looked at; %G_MAXUINT: tensors had different numbers of them
 * @low, @high: of the finite elements of each; +inf, -inf before the first
 *
 * Merging several gives the same bits in any order.
 */
typedef struct
{
  guint  n;
  float *low, *high;
} VnChannelRanges;

void     vn_channel_ranges_clear (VnChannelRanges       *self);
void     vn_channel_ranges_scan  (VnChannelRanges       *self,
                                  const float           *x,
                                  gsize                  n_first,
                                  gsize                  n_channels,
                                  gsize                  n_inner);
void     vn_channel_ranges_merge (VnChannelRanges       *self,
                                  const VnChannelRanges *from);
gboolean vn_channel_ranges_prepare (VnChannelRanges     *self,
                                    gsize                n_channels);
gboolean vn_channel_ranges_equal (const VnChannelRanges *a,
                                  const VnChannelRanges *b);
gboolean vn_channel_ranges_are_known (const VnChannelRanges *self);
gboolean vn_channel_ranges_resize (VnChannelRanges      *self,
                                   guint                 n);

/* A channel stands out if it reaches further than this times the median of all. */
#define VN_CHANNEL_OUTLIER 3.0

/**
 * VnChannelOutlier: channels that set the range for all the others.
 * @channel: that reaches furthest
 * @reach: its largest magnitude
 * @others: the largest magnitude of the channels that do not stand out
 * @n: channels that stand out
 * @limit: what is beyond this stands out
 */
typedef struct
{
  guint  channel, n;
  double reach, others, limit;
} VnChannelOutlier;

double   vn_channel_ranges_get_reach (const VnChannelRanges *self,
                                      guint                  channel);
gboolean vn_channel_ranges_find_outlier (const VnChannelRanges *self,
                                         VnChannelOutlier      *outlier);

G_END_DECLS
