/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-channel-ranges.h"

#include <glib.h>

G_BEGIN_DECLS

/* The one observer. Per tensor: exact minimum and maximum, counts of NaN, infinities and zeros, and a histogram
 * indexed by the upper 16 bits of the float (sign, exponent, 7 mantissa bits). No range in advance, no second pass;
 * merging is integer addition, so the result does not depend on order or threads. */

#define VN_HISTOGRAM_PAGES 512       /* sign and exponent */
#define VN_HISTOGRAM_PAGE_BINS 128   /* mantissa */
#define VN_HISTOGRAM_TABLE_PAGES 32   /* of most tensors the numbers lie between so few powers of two */

/* Magnitudes from 2^6 = 64 on, by the exponent's bits: what holds none of them is no mask. */
#define VN_HISTOGRAM_FAR_EXPONENT (127 + 6)

/* An integer of 320 bits, two's complement, in units of 2^-149. */
typedef struct { guint64 limbs[5]; } VnExactSum;

/* Over samples: exact sums of the bounds of all, 99.9999, 99.999, 99.99, 99.9 and 99 percent at each end: sample-sums.c. */
#define VN_SAMPLE_TAILS 6
typedef struct
{
  guint64    n;             /* samples that had a finite element */
  VnExactSum low[VN_SAMPLE_TAILS], high[VN_SAMPLE_TAILS];
} VnSampleSums;

/* How many samples choose which power of two 2^-position for which levels: position-votes.c. */
#define VN_POSITION_GRIDS 12
typedef struct
{
  guint   grid;
  int     position;
  guint64 count;
} VnPositionVote;

typedef struct
{
  guint           n;
  VnPositionVote *votes;    /* ascending by grid and position */
} VnPositionVotes;

typedef struct _VnRangeMemo VnRangeMemo;

typedef struct
{
  guint64  n;               /* elements seen, all kinds */
  guint64  n_nan, n_pos_inf, n_neg_inf, n_zero;
  float    min, max;        /* of the finite elements; +inf, -inf before the first */
  /* By page VN_HISTOGRAM_PAGE_BINS counters, NULL: all zero. Zeros are not in it. Read by vn_histogram_get_page(), changed by
   * vn_histogram_set_page() alone: all tables without a page are the same one. */
  guint64 * const *tables[VN_HISTOGRAM_PAGES / VN_HISTOGRAM_TABLE_PAGES];
  guint64  used[VN_HISTOGRAM_PAGES / 64];   /* a bit for each page */
  VnSampleSums samples;     /* empty where samples were not told apart */
  VnPositionVotes votes;    /* empty unless they were asked for */
  VnChannelRanges channels; /* of what convolutions read and write, and products read */
  VnRangeMemo    *ranges;   /* (nullable): found so far, where no more is counted: range-memo.c */
} VnHistogram;

/* The counters of a page of sign and exponent; NULL: all zero. */
static inline guint64 *
vn_histogram_get_page (const VnHistogram *self,
                       guint              page)
{
  return self->tables[page / VN_HISTOGRAM_TABLE_PAGES][page % VN_HISTOGRAM_TABLE_PAGES];
}

/**
 * VnHistogramScratch: dense table of one thread, in which a tensor is counted before the touched pages are folded in.
 */
typedef struct _VnHistogramScratch VnHistogramScratch;

VnHistogramScratch *vn_scratch_new  (void);
void                vn_scratch_free (VnHistogramScratch *self);

VnHistogram *vn_histogram_new       (void);
void         vn_histogram_free      (VnHistogram       *self);
void         vn_histogram_scan      (VnHistogram       *self,
                                     VnHistogramScratch         *scratch,
                                     const float       *x,
                                     gsize              n);
void         vn_histogram_merge     (VnHistogram       *self,
                                     const VnHistogram *from);
void         vn_histogram_take_sample (VnHistogram       *self,
                                       VnHistogram       *sample);   /* (transfer full) */
void         vn_histogram_add_votes (VnHistogram       *self,
                                     const VnHistogram *sample,
                                     float              min,
                                     float              max);
VnHistogram *vn_histogram_new_clamped (const VnHistogram *self,
                                     float              min,
                                     float              max);
VnHistogram *vn_histogram_new_within (const VnHistogram *self,
                                     float              min,
                                     float              max);
gboolean     vn_histogram_equal     (const VnHistogram *a,
                                     const VnHistogram *b);

/* Bins in ascending order of value; [lo, hi] of one bin's floats. Zero is reported as a bin of its own. */
typedef struct { float lo, hi; guint64 count; } VnBin;
typedef void (*VnBinFunc) (const VnBin *bin, gpointer data);
void         vn_histogram_foreach   (const VnHistogram *self,
                                     VnBinFunc          func,
                                     gpointer           data);

/* @bins counters of equal width over [lo, hi], mass spread evenly inside each source bin; what lies outside is left out. For
 * charts. */
void         vn_histogram_linear    (const VnHistogram *self,
                                     double             lo,
                                     double             hi,
                                     double            *counts,
                                     guint              bins);

/* Sum of squared errors of rounding to multiples of @scale and clipping to @lo .. @hi. For searches and charts. */
double       vn_histogram_get_error (const VnHistogram *self,
                                     double             scale,
                                     double             lo,
                                     double             hi);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnHistogram, vn_histogram_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnHistogramScratch, vn_scratch_free)

G_END_DECLS
