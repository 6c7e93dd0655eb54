/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loops that counting consists of, for each instruction set; they give the same bits. */
#pragma once

#include "vn-histogram-private.h"

G_BEGIN_DECLS

#define VN_SCAN_LANES 4                      /* tables of counters, side by side */
#define VN_SCAN_BINS 65536
#define VN_SCAN_LANE (VN_SCAN_BINS + 272)    /* counters of one; the odd rest keeps the lanes of a bin in different cache sets */
#define VN_SCAN_VECTOR 16                    /* elements that a loop may write too many */

/* What is learnt of some elements before they are counted. Minimum and maximum pass over NaN, and may be a zero of either
 * sign. */
typedef struct
{
  float    min, max;
  guint32  most;                /* largest magnitude, as bits */
} VnScanSummary;

/**
 * VnScanKernels:
 * @summarize: sets @summary
 * @widen: widens the range of each lane, and its largest magnitude, as bits: element i is in lane i % @lanes, which are at most
 *   %VN_LANES_MOST and full vectors. Where a magnitude is not finite, the range of its lane says nothing
 * @squeeze: copies the bits of what is not 0, and writes up to %VN_SCAN_VECTOR words behind them. Returns how many they are
 * @count_zeros: returns how many elements are 0, of either sign
 * @take_page: adds the %VN_HISTOGRAM_PAGE_BINS counters of a page over all lanes, of which @counters is the first, and clears
 *   them. Returns how many elements they stood for
 * @add_page: adds these sums to a page of a histogram
 */
typedef struct
{
  void    (*summarize)   (const float *x, gsize n, VnScanSummary *summary);
  void    (*widen)       (const float *x, gsize n, guint lanes, float *low, float *high, guint32 *greatest);
  gsize   (*squeeze)     (const float *x, gsize n, guint32 *out);
  gsize   (*count_zeros) (const float *x, gsize n);
  gsize   (*take_page)   (guint16 *counters, guint32 *sums);
  void    (*add_page)    (guint64 *page, const guint32 *sums);
} VnScanKernels;

const VnScanKernels *vn_scan_kernels_get   (VnLevel                   level);
const VnScanKernels *vn_scratch_get_kernels (const VnHistogramScratch *self);

G_END_DECLS
