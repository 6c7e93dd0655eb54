/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Running sums over bins, for methods that try many thresholds. */

#include "vn-range-private.h"

G_BEGIN_DECLS

#define VN_RANGE_SUMS_BINS 4096

/* Counts of bins of equal width, and sums over the first k of them: count, count times index, count times its square,
 * count ln count, bins not empty. @next: the first bin at or behind k that is not empty, or the number of bins. */
typedef struct
{
  double counts[VN_RANGE_SUMS_BINS];
  double mass[VN_RANGE_SUMS_BINS + 1], first[VN_RANGE_SUMS_BINS + 1], second[VN_RANGE_SUMS_BINS + 1];
  double c_ln_c[VN_RANGE_SUMS_BINS + 1];
  guint  n_used[VN_RANGE_SUMS_BINS + 1], next[VN_RANGE_SUMS_BINS + 1];
} VnRangeSums;

void   vn_range_sums_make_whole (VnRangeSums       *self);
void   vn_range_sums_update     (VnRangeSums       *self);
double vn_range_sums_get_kl     (const VnRangeSums *self,
                                 guint              start,
                                 guint              end,
                                 guint              levels);

G_END_DECLS
