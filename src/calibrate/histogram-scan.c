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

#include "vn-histogram-private.h"

#include "vn-multiversion.h"

#include <math.h>

#if defined __x86_64__ && defined __GNUC__
#include <immintrin.h>
#define HAVE_X86 1
#define CLONE(isa) __attribute__ ((target (isa)))
#endif

#define N_BINS 65536
#define LANES 4
#define LANE (N_BINS + 272)                  /* counters; the odd rest keeps the lanes of a bin in different cache sets */
#define CHUNK 2048
#define SMALL 8192                          /* elements: below, folding costs more than it saves */
#define FOLD_EVERY ((gsize) 1 << 17)         /* elements: no counter wraps before; the first lane has 3 of 8 of them at most */
#define NEGATIVE (VN_HISTOGRAM_PAGES / 2)    /* pages of numbers below 0 */

/* What the first walk learns of a chunk. Minimum and maximum pass over NaN, and may be a zero of either sign. */
typedef struct
{
  float    min, max;
  guint32  most;                /* largest magnitude, as bits */
} Summary;

#define VECTOR 16

typedef struct
{
  void  (*summarize)   (const float *x, gsize n, Summary *summary);
  gsize (*squeeze)     (const float *x, gsize n, guint32 *out);
  gsize (*count_zeros) (const float *x, gsize n);
  gsize (*fold_page)   (VnHistogramScratch *scratch, VnHistogram *self, guint page);
  guint32 (*widen)     (const float *x, gsize n, guint lanes, float *low, float *high);
} Kernels;

struct _VnHistogramScratch
{
  const Kernels *kernels;
  guint16       *counters;      /* LANES tables, LANE apart */
  guint32        most;          /* largest magnitude counted since the last fold, as bits */
  gsize          n_counted;     /* elements since then */
  gboolean       squeezes;      /* the last chunk had many zeros */
  gsize          n_since;       /* elements since the last fold, at most */
  guint64       *spare[VN_HISTOGRAM_PAGES];   /* @n_spare pages, all 0 */
  guint          n_spare;
  guint16        made[VN_HISTOGRAM_PAGES];    /* @n_made pages that the last histogram got that was empty when a scan began */
  guint          n_made;
  guint32        squeezed[CHUNK + VECTOR];
};

static void
histogram_scan_summary_init (Summary *self)
{
  *self = (Summary) { .min = INFINITY, .max = -INFINITY };
}

static void
histogram_scan_summarize_rest (const float *x,
                               gsize        n,
                               Summary     *summary)
{
  for (gsize i = 0; i < n; i++)
    {
      summary->min = x[i] < summary->min ? x[i] : summary->min;
      summary->max = x[i] > summary->max ? x[i] : summary->max;
      summary->most = MAX (summary->most, vn_float_bits (x[i]) & VN_FLOAT_ABS);
    }
}

/* The same in vectors of @bytes. */
#define DEFINE_SUMMARIZE(name, clone, bytes)                                                    \
  clone static void                                                                             \
  name (const float *x,                                                                         \
        gsize        n,                                                                         \
        Summary     *summary)                                                                   \
  {                                                                                             \
    typedef float Floats __attribute__ ((vector_size (bytes)));                                 \
    typedef gint32 Ints __attribute__ ((vector_size (bytes)));                                  \
    const gsize step = bytes / sizeof (float);                                                  \
    Ints min = (Ints) ((Floats) { 0 } + INFINITY);                                              \
    Ints max = (Ints) ((Floats) { 0 } - INFINITY);                                              \
    Ints most = { 0 };                                                                          \
    gsize i = 0;                                                                                \
                                                                                                \
    for (; i + step <= n; i += step)                                                            \
      {                                                                                         \
        Ints bits, magnitude, below, above, further;                                            \
                                                                                                \
        memcpy (&bits, x + i, sizeof bits);                                                     \
        below = (Floats) bits < (Floats) min;                                                   \
        above = (Floats) bits > (Floats) max;                                                   \
        min = (bits & below) | (min & ~below);                                                  \
        max = (bits & above) | (max & ~above);                                                  \
        magnitude = bits & (gint32) VN_FLOAT_ABS;                                               \
        further = magnitude > most;                                                             \
        most = (magnitude & further) | (most & ~further);                                       \
      }                                                                                         \
                                                                                                \
    for (guint k = 0; k < step; k++)                                                            \
      {                                                                                         \
        summary->min = MIN (summary->min, ((Floats) min)[k]);                                   \
        summary->max = MAX (summary->max, ((Floats) max)[k]);                                   \
        summary->most = MAX (summary->most, (guint32) most[k]);                                 \
      }                                                                                         \
    histogram_scan_summarize_rest (x + i, n - i, summary);                                      \
  }

/* Zeros of either sign. */
#define DEFINE_COUNT_ZEROS(name, clone)                                                         \
  clone static gsize                                                                            \
  name (const float *x,                                                                         \
        gsize        n)                                                                         \
  {                                                                                             \
    guint32 zeros = 0;                                                                          \
                                                                                                \
    for (gsize i = 0; i < n; i++)                                                               \
      zeros += (vn_float_bits (x[i]) & VN_FLOAT_ABS) == 0;                                      \
    return zeros;                                                                               \
  }

/* A page of the histogram, made from a spare one if there is any. */
static guint64 *
histogram_scan_get_page (VnHistogramScratch *self,
                         VnHistogram        *histogram,
                         guint               page)
{
  if (histogram->pages[page] == NULL && self->n_spare > 0)
    histogram->pages[page] = self->spare[--self->n_spare];
  else if (histogram->pages[page] != NULL)
    return histogram->pages[page];
  if (self->n_made < G_N_ELEMENTS (self->made))
    self->made[self->n_made++] = (guint16) page;
  return vn_histogram_page (histogram, page);
}

/* Moves the 128 counters of a page into the histogram. Returns: how many elements they stood for */
#define DEFINE_FOLD_PAGE(name, clone)                                                           \
  clone static gsize                                                                            \
  name (VnHistogramScratch *scratch,                                                            \
        VnHistogram        *self,                                                               \
        guint               page)                                                               \
  {                                                                                             \
    guint32 sums[VN_HISTOGRAM_PAGE_BINS];                                                       \
    guint16 *counters = scratch->counters + page * VN_HISTOGRAM_PAGE_BINS;                      \
    guint32 sum = 0;                                                                            \
    guint64 *into;                                                                              \
                                                                                                \
    for (guint m = 0; m < VN_HISTOGRAM_PAGE_BINS; m++)                                          \
      {                                                                                         \
        sums[m] = (guint32) counters[m] + counters[m + LANE] + counters[m + 2 * LANE] +         \
                  counters[m + 3 * LANE];                                                       \
        sum += sums[m];                                                                         \
      }                                                                                         \
    if (sum == 0)                                                                               \
      return 0;                                                                                 \
                                                                                                \
    into = histogram_scan_get_page (scratch, self, page);                                       \
    for (guint m = 0; m < VN_HISTOGRAM_PAGE_BINS; m++)                                          \
      into[m] += sums[m];                                                                       \
    for (guint k = 0; k < LANES; k++)                                                           \
      memset (counters + k * LANE, 0, VN_HISTOGRAM_PAGE_BINS * sizeof *counters);               \
    return sum;                                                                                 \
  }

/* Widens the range of each lane: element i is in lane i % @lanes, which are at most %VN_LANES_MOST and full vectors. Returns:
 * the largest magnitude, as bits; if that is not finite, the ranges say nothing */
#define DEFINE_WIDEN(name, clone, bytes)                                                        \
  clone static guint32                                                                          \
  name (const float *x,                                                                         \
        gsize        n,                                                                         \
        guint        lanes,                                                                     \
        float       *low,                                                                       \
        float       *high)                                                                      \
  {                                                                                             \
    typedef float Floats __attribute__ ((vector_size (bytes)));                                 \
    typedef gint32 Ints __attribute__ ((vector_size (bytes)));                                  \
    const guint step = bytes / sizeof (float);                                                  \
    Ints most = { 0 };                                                                          \
    guint32 result = 0;                                                                         \
                                                                                                \
    for (guint k = 0; k < lanes; k += step)                                                     \
      {                                                                                         \
        Ints min, max;                                                                          \
                                                                                                \
        memcpy (&min, low + k, sizeof min);                                                     \
        memcpy (&max, high + k, sizeof max);                                                    \
        for (gsize i = k; i < n; i += lanes)                                                    \
          {                                                                                     \
            Ints bits, below, above, magnitude, further;                                        \
                                                                                                \
            memcpy (&bits, x + i, sizeof bits);                                                 \
            below = (Floats) bits < (Floats) min;                                               \
            above = (Floats) bits > (Floats) max;                                               \
            min = (bits & below) | (min & ~below);                                              \
            max = (bits & above) | (max & ~above);                                              \
            magnitude = bits & (gint32) VN_FLOAT_ABS;                                           \
            further = magnitude > most;                                                         \
            most = (magnitude & further) | (most & ~further);                                   \
          }                                                                                     \
        memcpy (low + k, &min, sizeof min);                                                     \
        memcpy (high + k, &max, sizeof max);                                                    \
      }                                                                                         \
    for (guint k = 0; k < step; k++)                                                            \
      result = MAX (result, (guint32) most[k]);                                                 \
    return result;                                                                              \
  }

DEFINE_SUMMARIZE (summarize__ref, , 16)
DEFINE_WIDEN (widen__ref, , 16)
DEFINE_COUNT_ZEROS (count_zeros__ref, )
DEFINE_FOLD_PAGE (fold_page__ref, )

static gsize
histogram_scan_squeeze__ref (const float *x,
                             gsize        n,
                             guint32     *out)
{
  gsize m = 0;

  for (gsize i = 0; i < n; i++)
    {
      guint32 bits = vn_float_bits (x[i]);

      out[m] = bits;
      m += (bits & VN_FLOAT_ABS) != 0;
    }
  return m;
}

#ifdef HAVE_X86
DEFINE_SUMMARIZE (summarize__avx2, CLONE ("avx2"), 32)
DEFINE_WIDEN (widen__avx2, CLONE ("avx2"), 32)
DEFINE_COUNT_ZEROS (count_zeros__avx2, CLONE ("avx2"))
DEFINE_FOLD_PAGE (fold_page__avx2, CLONE ("avx2"))
DEFINE_COUNT_ZEROS (count_zeros__avx512, CLONE ("avx512f"))
DEFINE_FOLD_PAGE (fold_page__avx512, CLONE ("avx512f" VN_WIDE_VECTORS))

/* The comparisons of min and max give their second operand if the first is NaN. */
CLONE ("avx512f") static void
summarize__avx512 (const float *x,
                   gsize        n,
                   Summary     *summary)
{
  const __m512i abs = _mm512_set1_epi32 ((int) VN_FLOAT_ABS);
  __m512 min = _mm512_set1_ps (INFINITY);
  __m512 max = _mm512_set1_ps (-INFINITY);
  __m512i most = _mm512_setzero_si512 ();
  gsize i = 0;

  for (; i + VECTOR <= n; i += VECTOR)
    {
      __m512i bits = _mm512_loadu_si512 (x + i);

      min = _mm512_min_ps (_mm512_castsi512_ps (bits), min);
      max = _mm512_max_ps (_mm512_castsi512_ps (bits), max);
      most = _mm512_max_epu32 (_mm512_and_si512 (bits, abs), most);
    }

  summary->min = _mm512_reduce_min_ps (min);
  summary->max = _mm512_reduce_max_ps (max);
  summary->most = _mm512_reduce_max_epu32 (most);
  histogram_scan_summarize_rest (x + i, n - i, summary);
}

/* As widen__ref (). */
CLONE ("avx512f") static guint32
widen__avx512 (const float *x,
               gsize        n,
               guint        lanes,
               float       *low,
               float       *high)
{
  const __m512i abs = _mm512_set1_epi32 ((int) VN_FLOAT_ABS);
  __m512i most = _mm512_setzero_si512 ();
  __m512 min, max;

  if (lanes != VECTOR)
    return widen__ref (x, n, lanes, low, high);
  min = _mm512_loadu_ps (low);
  max = _mm512_loadu_ps (high);
  for (gsize i = 0; i < n; i += VECTOR)
    {
      __m512i bits = _mm512_loadu_si512 (x + i);

      min = _mm512_min_ps (_mm512_castsi512_ps (bits), min);
      max = _mm512_max_ps (_mm512_castsi512_ps (bits), max);
      most = _mm512_max_epu32 (_mm512_and_si512 (bits, abs), most);
    }
  _mm512_storeu_ps (low, min);
  _mm512_storeu_ps (high, max);
  return _mm512_reduce_max_epu32 (most);
}

CLONE ("avx512f,popcnt") static gsize
squeeze__avx512 (const float *x,
                 gsize        n,
                 guint32     *out)
{
  const __m512i magnitude = _mm512_set1_epi32 ((int) VN_FLOAT_ABS);
  gsize m = 0;
  gsize i = 0;

  for (; i + VECTOR <= n; i += VECTOR)
    {
      __m512i bits = _mm512_loadu_si512 (x + i);
      __mmask16 kept = _mm512_test_epi32_mask (bits, magnitude);

      _mm512_storeu_si512 (out + m, _mm512_maskz_compress_epi32 (kept, bits));
      m += (gsize) __builtin_popcount (kept);
    }
  return m + histogram_scan_squeeze__ref (x + i, n - i, out + m);
}
#endif

static const Kernels kernels_at[] = {
#ifdef HAVE_X86
  [VN_LEVEL_V4] = { summarize__avx512, squeeze__avx512, count_zeros__avx512, fold_page__avx512, widen__avx512 },
  [VN_LEVEL_V3] = { summarize__avx2, histogram_scan_squeeze__ref, count_zeros__avx2, fold_page__avx2, widen__avx2 },
#endif
  [VN_LEVEL_GENERIC] = { summarize__ref, histogram_scan_squeeze__ref, count_zeros__ref, fold_page__ref, widen__ref },
};

/* A table that uses the instructions of @level; NULL if this machine lacks them. */
VnHistogramScratch *
vn_scratch_new_level (VnLevel level)
{
  VnHistogramScratch *self;

  if (level < vn_machine_get_best_level () || level >= G_N_ELEMENTS (kernels_at))
    return NULL;
  self = g_new0 (VnHistogramScratch, 1);
  self->kernels = &kernels_at[level];
  self->counters = g_new0 (guint16, LANES * LANE);
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
  guint64 *page = self->pages[bits >> 23];

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

  for (; i + LANES <= n; i += LANES)
    {
      __builtin_prefetch (next + i * sizeof (guint32));
      counters[histogram_scan_upper_half (words, i)]++;
      counters[histogram_scan_upper_half (words, i + 1) + LANE]++;
      counters[histogram_scan_upper_half (words, i + 2) + 2 * LANE]++;
      counters[histogram_scan_upper_half (words, i + 3) + 3 * LANE]++;
    }
  for (; i < n; i++)
    counters[histogram_scan_upper_half (words, i)]++;
}

/* How many elements the bins that hold zeros got. */
static gsize
histogram_scan_take_zero_bins (guint16 *counters)
{
  gsize n = 0;

  for (guint k = 0; k < LANES; k++)
    {
      n += counters[k * LANE] + counters[k * LANE + N_BINS / 2];
      counters[k * LANE] = counters[k * LANE + N_BINS / 2] = 0;
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

static void
histogram_scan_fold (VnHistogram *self,
                     VnHistogramScratch   *scratch)
{
  for (guint e = scratch->most >> 23; scratch->n_counted > 0; e--)
    {
      scratch->n_counted -= scratch->kernels->fold_page (scratch, self, e);
      scratch->n_counted -= scratch->kernels->fold_page (scratch, self, NEGATIVE + e);
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
      Summary summary;

      histogram_scan_summary_init (&summary);
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
      guint32 most;

      for (guint k = 0; k < lanes; k++)
        {
          least[k] = INFINITY;
          greatest[k] = -INFINITY;
        }
      most = scratch->kernels->widen (x + i, n_here, lanes, least, greatest);
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

static VN_MULTIVERSION void
histogram_scan_move_page (guint64 *to,
                          guint64 *from)
{
  for (guint m = 0; m < VN_HISTOGRAM_PAGE_BINS; m++)
    {
      to[m] += from[m];
      from[m] = 0;
    }
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
      guint64 *page = g_steal_pointer (&sample->pages[p]);

      if (page == NULL || self->pages[p] == NULL)
        {
          self->pages[p] = page != NULL ? page : self->pages[p];
          continue;
        }
      histogram_scan_move_page (self->pages[p], page);
      if (scratch->n_spare < G_N_ELEMENTS (scratch->spare))
        scratch->spare[scratch->n_spare++] = page;
      else
        g_free (page);
    }
  scratch->n_made = 0;
  vn_histogram_merge (self, sample);
  vn_histogram_clear (sample);
}
