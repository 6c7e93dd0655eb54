/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Counting a tensor. It is walked in chunks that stay in the first-level cache, each twice: once in vector registers
 * for minimum, maximum and greatest magnitude, once to count. Counting goes into a dense table of 16-bit counters, four
 * of them side by side: consecutive elements use different ones, because two increments of one counter in a row would
 * wait for each other's store. What bounds it is one store for every element, so nothing else is done per element: zeros
 * are looked for only where their counters moved, and the pages that were used are found from the greatest exponent
 * down, until all elements are accounted for. Where many zeros are (after ReLU), those of the next chunk are squeezed
 * out first. Small tensors are counted in the histogram's own pages. The few chunks with NaN or infinities go the slow,
 * plain way.
 *
 * Everything is integer work on the bits of the floats, so the result is exact and the same for any way of cutting
 * the data. */

#include "histogram-kernels.h"

#include "vn-multiversion.h"

#include <math.h>

#define CHUNK 2048
#define SMALL 8192                          /* elements: below, folding costs more than it saves */
#define FOLD_EVERY ((gsize) 1 << 17)         /* elements: no counter wraps before; the first lane has 3 of 8 of them at most */
#define NEGATIVE (VN_HISTOGRAM_PAGES / 2)    /* pages of numbers below 0 */

struct _VnHistogramScratch
{
  const VnScanKernels *kernels;
  guint16             *counters;      /* %VN_SCAN_LANES tables, %VN_SCAN_LANE apart */
  guint32              most;          /* largest magnitude counted since the last fold, as bits */
  gsize                n_counted;     /* elements since then */
  gboolean             squeezes;      /* the last chunk had many zeros */
  gsize                n_since;       /* elements since the last fold, at most */
  guint64             *spare[VN_HISTOGRAM_PAGES];   /* @n_spare pages, all 0 */
  guint                n_spare;
  /* @n_made pages that the last histogram got that was empty when a scan began */
  guint16              made[VN_HISTOGRAM_PAGES];
  guint                n_made;
  guint32              squeezed[CHUNK + VN_SCAN_VECTOR];
};

/* A page of the histogram, made from a spare one if there is any. */
static guint64 *
histogram_scan_get_page (VnHistogramScratch *self,
                         VnHistogram        *histogram,
                         guint               page)
{
  guint64 *counts = vn_histogram_get_page (histogram, page);

  if (counts != NULL)
    return counts;
  if (self->n_spare > 0)
    vn_histogram_set_page (histogram, page, self->spare[--self->n_spare]);
  if (self->n_made < G_N_ELEMENTS (self->made))
    self->made[self->n_made++] = (guint16) page;
  return vn_histogram_page (histogram, page);
}

/* A table that uses the instructions of @level; NULL if this machine lacks them. */
VnHistogramScratch *
vn_scratch_new_level (VnLevel level)
{
  const VnScanKernels *kernels = vn_scan_kernels_get (level);
  VnHistogramScratch *self;

  if (kernels == NULL)
    return NULL;
  self = g_new0 (VnHistogramScratch, 1);
  self->kernels = kernels;
  self->counters = g_new0 (guint16, VN_SCAN_LANES * VN_SCAN_LANE);
  return self;
}

/**
 * vn_scratch_new:
 *
 * Returns: (transfer full): a table for one thread, about half a megabyte
 */
VnHistogramScratch *
vn_scratch_new (void)
{
  return vn_scratch_new_level (vn_machine_get_level ());
}

const VnScanKernels *
vn_scratch_get_kernels (const VnHistogramScratch *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->kernels;
}

/**
 * vn_scratch_free:
 * @self: (nullable) (transfer full): what to free
 */
void
vn_scratch_free (VnHistogramScratch *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->n_spare; i++)
    g_free (self->spare[i]);
  g_free (self->counters);
  g_free (self);
}

/* ---- the plain way: any float, straight into the pages ---- */

static void
histogram_scan_count_special (VnHistogram *self,
                              guint32      bits)
{
  if ((bits & VN_FLOAT_ABS) > VN_FLOAT_INF)
    self->n_nan++;
  else if (bits == VN_FLOAT_INF)
    self->n_pos_inf++;
  else
    self->n_neg_inf++;
}

static inline void
histogram_scan_count_one (VnHistogram        *self,
                          VnHistogramScratch *scratch,
                          guint32             bits)
{
  guint64 *page = vn_histogram_get_page (self, bits >> 23);

  if (page == NULL)
    page = histogram_scan_get_page (scratch, self, bits >> 23);
  page[(bits >> 16) % VN_HISTOGRAM_PAGE_BINS]++;
}

/* Adding 0 makes -0 a 0: which of them came first must not show in the minimum or maximum. */
static void
scan_plain (VnHistogram        *self,
            VnHistogramScratch *scratch,
            const float        *x,
            gsize               n,
            guint               lanes,
            float              *low,
            float              *high)
{
  for (gsize i = 0; i < n; i++)
    {
      guint32 bits = vn_float_bits (x[i]);
      float value = x[i] + 0.0f;

      if ((bits & VN_FLOAT_ABS) >= VN_FLOAT_INF)
        {
          histogram_scan_count_special (self, bits);
          continue;
        }
      low[i % lanes] = MIN (low[i % lanes], value);
      high[i % lanes] = MAX (high[i % lanes], value);
      if ((bits & VN_FLOAT_ABS) == 0)
        self->n_zero++;
      else
        histogram_scan_count_one (self, scratch, bits);
    }
}

/* ---- the fast way: finite ---- */

static void
histogram_scan_count_sparse (VnHistogram        *self,
                             VnHistogramScratch *scratch,
                             const guint32      *words,
                             gsize               n)
{
  for (gsize i = 0; i < n; i++)
    histogram_scan_count_one (self, scratch, words[i]);
}

/* The upper 16 bits of element @i. */
static inline guint
histogram_scan_upper_half (const char *words,
                           gsize       i)
{
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
  guint16 half;

  memcpy (&half, words + i * sizeof (guint32) + 2, sizeof half);
  return half;
#else
  guint32 bits;

  memcpy (&bits, words + i * sizeof bits, sizeof bits);
  return bits >> 16;
#endif
}

/* Stores hold this loop up, so it has time to fetch @next, which is walked after it. */
static void
histogram_scan_count_dense (guint16    *counters,
                            const char *words,
                            gsize       n,
                            const char *next)
{
  gsize i = 0;

  for (; i + VN_SCAN_LANES <= n; i += VN_SCAN_LANES)
    {
      __builtin_prefetch (next + i * sizeof (guint32));
      counters[histogram_scan_upper_half (words, i)]++;
      counters[histogram_scan_upper_half (words, i + 1) + VN_SCAN_LANE]++;
      counters[histogram_scan_upper_half (words, i + 2) + 2 * VN_SCAN_LANE]++;
      counters[histogram_scan_upper_half (words, i + 3) + 3 * VN_SCAN_LANE]++;
    }
  for (; i < n; i++)
    counters[histogram_scan_upper_half (words, i)]++;
}

/* How many elements the bins that hold zeros got. */
static gsize
histogram_scan_take_zero_bins (guint16 *counters)
{
  gsize n = 0;

  for (guint k = 0; k < VN_SCAN_LANES; k++)
    {
      n += counters[k * VN_SCAN_LANE] + counters[k * VN_SCAN_LANE + VN_SCAN_BINS / 2];
      counters[k * VN_SCAN_LANE] = counters[k * VN_SCAN_LANE + VN_SCAN_BINS / 2] = 0;
    }
  return n;
}

/* Of the numbers that share a bin with a zero those that are none. */
static void
histogram_scan_count_tiny (VnHistogram        *self,
                           VnHistogramScratch *scratch,
                           const float        *x,
                           gsize               n)
{
  for (gsize i = 0; i < n; i++)
    {
      guint32 bits = vn_float_bits (x[i]);

      if ((bits & VN_FLOAT_ABS) != 0 && (bits & VN_FLOAT_ABS) <= 0xffff)
        histogram_scan_count_one (self, scratch, bits);
    }
}

static void
histogram_scan_count_chunk (VnHistogram *self,
                            VnHistogramScratch   *scratch,
                            const float *x,
                            gsize        n)
{
  const char *words = (const char *) x;
  gsize n_left = n;
  gsize n_at_zero, n_zero;

  if (scratch->squeezes)
    {
      words = (const char *) scratch->squeezed;
      n_left = scratch->kernels->squeeze (x, n, scratch->squeezed);
    }
  histogram_scan_count_dense (scratch->counters, words, n_left, (const char *) (x + n));
  n_at_zero = histogram_scan_take_zero_bins (scratch->counters);
  scratch->n_counted += n_left - n_at_zero;
  n_zero = n - n_left;
  if (n_at_zero > 0 && !scratch->squeezes)
    n_zero = scratch->kernels->count_zeros (x, n);
  if (n_zero < n - n_left + n_at_zero)
    histogram_scan_count_tiny (self, scratch, x, n);
  self->n_zero += n_zero;
  scratch->squeezes = n_zero > n / 8;
}

/* Moves the counters of a page into the histogram. */
static void
histogram_scan_fold_page (VnHistogram        *self,
                          VnHistogramScratch *scratch,
                          guint               page)
{
  guint32 sums[VN_HISTOGRAM_PAGE_BINS];
  gsize n = scratch->kernels->take_page (scratch->counters + page * VN_HISTOGRAM_PAGE_BINS, sums);

  if (n == 0)
    return;
  scratch->kernels->add_page (histogram_scan_get_page (scratch, self, page), sums);
  scratch->n_counted -= n;
}

static void
histogram_scan_fold (VnHistogram        *self,
                     VnHistogramScratch *scratch)
{
  for (guint e = scratch->most >> 23; scratch->n_counted > 0; e--)
    {
      histogram_scan_fold_page (self, scratch, e);
      histogram_scan_fold_page (self, scratch, NEGATIVE + e);
    }
  scratch->most = 0;
  scratch->n_since = 0;
}

/* @x: finite, with magnitudes up to @most */
static void
histogram_scan_count (VnHistogram        *self,
                      VnHistogramScratch *scratch,
                      const float        *x,
                      gsize               n,
                      guint32             most,
                      gboolean            small)
{
  if (small)
    {
      gsize n_left = scratch->kernels->squeeze (x, n, scratch->squeezed);

      self->n_zero += n - n_left;
      histogram_scan_count_sparse (self, scratch, scratch->squeezed, n_left);
      return;
    }
  scratch->most = MAX (scratch->most, most);
  histogram_scan_count_chunk (self, scratch, x, n);
  scratch->n_since += n;
  if (scratch->n_since >= FOLD_EVERY)
    histogram_scan_fold (self, scratch);
}

/*< private >
 * vn_histogram_begin_scan:
 * @n: how many elements will follow
 *
 * What is counted until vn_histogram_end_scan() may be in the table of @scratch only.
 *
 * Returns: whether they are few: to be handed on
 */
gboolean
vn_histogram_begin_scan (VnHistogram        *self,
                         VnHistogramScratch *scratch,
                         gsize               n)
{
  if (self->n == 0)
    scratch->n_made = 0;
  self->n += n;
  scratch->squeezes = FALSE;
  return n < SMALL;
}

void
vn_histogram_end_scan (VnHistogram        *self,
                       VnHistogramScratch *scratch)
{
  if (scratch->n_since > 0)
    histogram_scan_fold (self, scratch);
}

/*< private >
 * vn_histogram_scan_run:
 * @low, @high: (inout): widened by what is finite
 *
 * Counts some of the elements.
 */
void
vn_histogram_scan_run (VnHistogram        *self,
                       VnHistogramScratch *scratch,
                       const float        *x,
                       gsize               n,
                       gboolean            small,
                       float              *low,
                       float              *high)
{
  for (gsize i = 0; i < n; i += CHUNK)
    {
      const gsize n_here = MIN (CHUNK, n - i);
      VnScanSummary summary;

      scratch->kernels->summarize (x + i, n_here, &summary);
      if (summary.most >= VN_FLOAT_INF)
        {
          scan_plain (self, scratch, x + i, n_here, 1, low, high);
          continue;
        }
      *low = MIN (*low, summary.min + 0.0f);
      *high = MAX (*high, summary.max + 0.0f);
      histogram_scan_count (self, scratch, x + i, n_here, summary.most, small);
    }
}

/*< private >
 * vn_histogram_scan_lanes:
 * @n: a multiple of @lanes
 * @lanes: 8 or 16
 * @low, @high: (inout) (array length=lanes): each widened by what is finite in its lane
 *
 * Counts some of the elements, those of a lane being @lanes apart.
 */
void
vn_histogram_scan_lanes (VnHistogram        *self,
                         VnHistogramScratch *scratch,
                         const float        *x,
                         gsize               n,
                         guint               lanes,
                         gboolean            small,
                         float              *low,
                         float              *high)
{
  for (gsize i = 0; i < n; i += CHUNK)
    {
      const gsize n_here = MIN (CHUNK, n - i);
      float least[VN_LANES_MOST], greatest[VN_LANES_MOST];
      guint32 magnitudes[VN_LANES_MOST] = { 0 }, most = 0;

      for (guint k = 0; k < lanes; k++)
        {
          least[k] = INFINITY;
          greatest[k] = -INFINITY;
        }
      scratch->kernels->widen (x + i, n_here, lanes, least, greatest, magnitudes);
      for (guint k = 0; k < lanes; k++)
        most = MAX (most, magnitudes[k]);
      if (most >= VN_FLOAT_INF)
        {
          scan_plain (self, scratch, x + i, n_here, lanes, low, high);
          continue;
        }
      for (guint k = 0; k < lanes; k++)
        {
          low[k] = MIN (low[k], least[k] + 0.0f);
          high[k] = MAX (high[k], greatest[k] + 0.0f);
        }
      histogram_scan_count (self, scratch, x + i, n_here, most, small);
    }
}

/**
 * vn_histogram_scan:
 * @scratch: the calling thread's table
 * @x: (array length=n): elements, at any alignment of a float
 *
 * Counts @n more elements. Scanning parts in any order gives the same bits as scanning the whole.
 */
void
vn_histogram_scan (VnHistogram *self,
                   VnHistogramScratch   *scratch,
                   const float *x,
                   gsize        n)
{
  gboolean small;

  g_return_if_fail (self != NULL && scratch != NULL);

  small = vn_histogram_begin_scan (self, scratch, n);
  vn_histogram_scan_run (self, scratch, x, n, small, &self->min, &self->max);
  vn_histogram_end_scan (self, scratch);
}

#define LINE 8   /* counters in a line of the cache */

/* Of most pages a sample has few bins: what it lacks is not fetched. */
static VN_MULTIVERSION void
histogram_scan_move_page (guint64 *to,
                          guint64 *from)
{
  for (guint m = 0; m < VN_HISTOGRAM_PAGE_BINS; m += LINE)
    {
      guint64 any = 0;

      for (guint k = 0; k < LINE; k++)
        any |= from[m + k];
      if (any == 0)
        continue;
      for (guint k = 0; k < LINE; k++)
        {
          to[m + k] += from[m + k];
          from[m + k] = 0;
        }
    }
}

/* What is counted beside the pages. */
static void
histogram_scan_move_numbers (VnHistogram *to,
                             VnHistogram *from)
{
  to->n += from->n;
  to->n_nan += from->n_nan;
  to->n_pos_inf += from->n_pos_inf;
  to->n_neg_inf += from->n_neg_inf;
  to->n_zero += from->n_zero;
  to->min = MIN (to->min, from->min);
  to->max = MAX (to->max, from->max);
  from->n = from->n_nan = from->n_pos_inf = from->n_neg_inf = from->n_zero = 0;
  from->min = INFINITY;
  from->max = -INFINITY;
}

/*< private >
 * vn_histogram_take_counts:
 * @sample: what was counted of one sample, all of it by @scratch and nothing else since; empty afterwards
 *
 * As vn_histogram_merge(), but what @sample needed of memory serves the next one.
 */
void
vn_histogram_take_counts (VnHistogram        *self,
                          VnHistogram        *sample,
                          VnHistogramScratch *scratch)
{
  for (guint i = 0; i < scratch->n_made; i++)
    {
      const guint p = scratch->made[i];
      guint64 *page = vn_histogram_set_page (sample, p, NULL), *sum = vn_histogram_get_page (self, p);

      if (page == NULL)
        continue;
      if (sum == NULL)
        {
          vn_histogram_set_page (self, p, page);
          continue;
        }
      histogram_scan_move_page (sum, page);
      if (scratch->n_spare < G_N_ELEMENTS (scratch->spare))
        scratch->spare[scratch->n_spare++] = page;
      else
        g_free (page);
    }
  scratch->n_made = 0;
  histogram_scan_move_numbers (self, sample);
}
