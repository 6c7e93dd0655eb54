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
gboolean vn_channel_ranges_equal (const VnChannelRanges *a,
                                  const VnChannelRanges *b);
gboolean vn_channel_ranges_are_known (const VnChannelRanges *self);
gboolean vn_channel_ranges_resize (VnChannelRanges      *self,
                                   guint                 n);

G_END_DECLS
