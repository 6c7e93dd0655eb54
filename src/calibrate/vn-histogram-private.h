/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The bits of floats as an index, and what the files of the histogram share. */

#include "vn-histogram.h"
#include "vn-machine.h"

#include <math.h>
#include <string.h>

G_BEGIN_DECLS

#define VN_FLOAT_ABS 0x7fffffffu
#define VN_FLOAT_INF 0x7f800000u

static inline guint32
vn_float_bits (float x)
{
  guint32 bits;

  memcpy (&bits, &x, sizeof bits);
  return bits;
}

static inline float
vn_float_from_bits (guint32 bits)
{
  float x;

  memcpy (&x, &bits, sizeof x);
  return x;
}

guint64 *vn_histogram_make_page  (VnHistogram        *self,
                                  guint               page);
guint64 *vn_histogram_set_page   (VnHistogram        *self,
                                  guint               page,
                                  guint64            *counts);    /* (transfer full) (nullable) */

/* The first page from @page on that is not NULL, or VN_HISTOGRAM_PAGES. */
static inline guint
vn_histogram_next_page (const VnHistogram *self,
                        guint              page)
{
  for (guint word = page / 64; word < G_N_ELEMENTS (self->used); word++)
    {
      const guint64 left = self->used[word] & (word == page / 64 ? G_MAXUINT64 << page % 64 : G_MAXUINT64);

      if (left != 0)
        return word * 64 + (guint) __builtin_ctzll (left);
    }
  return VN_HISTOGRAM_PAGES;
}

#define VN_HISTOGRAM_FOREACH_PAGE(self, p) \
  for (guint p = vn_histogram_next_page (self, 0); p < VN_HISTOGRAM_PAGES; p = vn_histogram_next_page (self, p + 1))

/* The counters of a page, made when first asked for. When memory is refused, those of no page: who began to count looks
 * at vn_memory_check() in the end. */
static inline guint64 *
vn_histogram_page (VnHistogram *self,
                   guint        page)
{
  guint64 *counts = vn_histogram_get_page (self, page);

  return counts != NULL ? counts : vn_histogram_make_page (self, page);
}

/* Elements that are neither NaN nor infinite. */
static inline guint64
vn_histogram_n_finite (const VnHistogram *self)
{
  return self->n - self->n_nan - self->n_pos_inf - self->n_neg_inf;
}

void     vn_histogram_take       (VnHistogram        *self,
                                  VnHistogram        *from);    /* (transfer full) */

/* Of one sample of a tensor, in pieces: channels that are runs of elements, or lanes. */
#define VN_LANES_MOST 16
gboolean vn_histogram_begin_scan (VnHistogram        *self,
                                  VnHistogramScratch *scratch,
                                  gsize               n);
void     vn_histogram_scan_run    (VnHistogram        *self,
                                   VnHistogramScratch *scratch,
                                   const float        *x,
                                   gsize               n,
                                   gboolean            small,
                                   float              *low,
                                   float              *high);
void     vn_histogram_scan_lanes  (VnHistogram        *self,
                                   VnHistogramScratch *scratch,
                                   const float        *x,
                                   gsize               n,
                                   guint               lanes,
                                   gboolean            small,
                                   float              *low,
                                   float              *high);
void     vn_histogram_end_scan    (VnHistogram        *self,
                                   VnHistogramScratch *scratch);
void     vn_histogram_take_counts (VnHistogram        *self,
                                   VnHistogram        *sample,
                                   VnHistogramScratch *scratch);
void     vn_histogram_clear       (VnHistogram        *self);

/* How channels lie in memory: @n_first times each of @n_channels with @n_inner elements; with @lanes that many channels are a
 * block, in which the elements of a channel are @lanes apart. */
typedef struct
{
  gsize n_first, n_channels, n_inner;
  guint lanes;
} VnChannelLayout;

void     vn_histogram_scan_channels (VnHistogram           *self,
                                     VnHistogramScratch    *scratch,
                                     const float           *x,
                                     const VnChannelLayout *layout,
                                     VnChannelRanges       *ranges);
/* Shorter runs of a channel's elements are not worth a piece each. */
#define VN_HISTOGRAM_SHORT_RUN 16

/* Of samples that are not counted: the least and the greatest element. */
typedef struct { float low, high; } VnEnds;

#define VN_ENDS_NONE ((VnEnds) { INFINITY, -INFINITY })

gboolean vn_ends_scan             (VnEnds                *self,
                                   VnHistogramScratch    *scratch,
                                   const float           *x,
                                   const VnChannelLayout *layout,
                                   VnChannelRanges       *ranges);
gboolean vn_ends_take_channels    (VnEnds                *self,
                                   const float           *low,
                                   const float           *high,
                                   gsize                  n_channels,
                                   VnChannelRanges       *ranges);
void     vn_ends_widen            (VnEnds                *self,
                                   const VnEnds          *by);
void     vn_histogram_count_ends  (VnHistogram           *self,
                                   const VnEnds          *ends);
void     vn_channel_ranges_merge_clamped (VnChannelRanges       *self,
                                          const VnChannelRanges *from,
                                          float                  min,
                                          float                  max);

VnRangeMemo *vn_range_memo_new   (void);
void         vn_range_memo_free  (VnRangeMemo        *self);

/* The share of the elements that lies inside, on each side: the first is all of them. */
extern const double vn_sample_shares[VN_SAMPLE_TAILS];

/* Of one sample, what VnSampleSums adds up. */
typedef struct
{
  gboolean known;
  float    low[VN_SAMPLE_TAILS], high[VN_SAMPLE_TAILS];
} VnSampleTails;

void     vn_sample_sums_add      (VnSampleSums       *self,
                                  const VnHistogram  *sample,
                                  VnSampleTails      *tails,
                                  float               min,
                                  float               max);
void     vn_sample_sums_add_tails (VnSampleSums        *self,
                                   const VnSampleTails *tails,
                                   float                min,
                                   float                max);
void     vn_sample_sums_merge    (VnSampleSums       *self,
                                  const VnSampleSums *from);
gboolean vn_sample_sums_get_mean (const VnSampleSums *self,
                                  double              percentile,
                                  double             *min,
                                  double             *max);
gboolean vn_sample_sums_fit      (const VnSampleSums *self,
                                  guint64             n,
                                  float               min,
                                  float               max);

#define VN_POSITION_LEAST (-200)   /* beyond all that a search can find */
#define VN_POSITION_MOST 200

/* Symmetric levels of a type: the least and the greatest, counted from the zero point. */
typedef struct { double low, high; } VnPositionGrid;

extern const VnPositionGrid vn_position_grids[VN_POSITION_GRIDS];

void     vn_position_votes_clear (VnPositionVotes       *self);
void     vn_position_votes_add   (VnPositionVotes       *self,
                                  guint                  grid,
                                  int                    position,
                                  guint64                count);
void     vn_position_votes_merge (VnPositionVotes       *self,
                                  const VnPositionVotes *from);
gboolean vn_position_votes_equal (const VnPositionVotes *a,
                                  const VnPositionVotes *b);
guint64  vn_position_votes_count (const VnPositionVotes *self,
                                  guint                  grid);
guint64  vn_position_votes_get   (const VnPositionVotes *self,
                                  double                 low,
                                  double                 high,
                                  int                   *position);

/* A histogram, laid out for a search among many ranges. */
typedef struct _VnRoundingTable VnRoundingTable;

VnRoundingTable *vn_rounding_table_new  (const VnHistogram     *histogram);
void             vn_rounding_table_free (VnRoundingTable       *self);
double           vn_rounding_table_get  (const VnRoundingTable *self,
                                         double                 scale,
                                         double                 lo,
                                         double                 hi,
                                         double                 enough);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnRoundingTable, vn_rounding_table_free)

gsize      vn_histogram_get_bytes (const VnHistogram *self);

VnHistogramScratch *vn_scratch_new_level   (VnLevel            level);

G_END_DECLS
