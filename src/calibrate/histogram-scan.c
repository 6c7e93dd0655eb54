/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Counting a tensor. It is walked in chunks that stay in the first-level cache, each twice: once in vector registers
 * for minimum, maximum, zeros and the range of exponents, once to count. Counting goes into a dense table of 32-bit
 * counters, four of them side by side: consecutive elements use different ones, because two increments of one counter
 * in a row would wait for each other's store. Chunks with many zeros (after ReLU) have them squeezed out first. Small
 * tensors are counted in the histogram's own pages. The few chunks with NaN, infinities or subnormal numbers go the
 * slow, plain way.
 *
 * Everything is integer work on the bits of the floats, so the result is exact and the same for any way of cutting
 * the data. */

#include "vn-histogram-private.h"

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
#define FOLD_EVERY ((gsize) 1 << 30)         /* elements: no sum of lanes wraps before */
#define LEAST_NORMAL 0x00800000u

/* What the first walk learns of a chunk. Minimum and maximum pass over NaN, and may be a zero of either sign. */
typedef struct
{
  float    min, max;
  guint32  most;                /* largest magnitude, as bits */
  guint32  least;               /* smallest nonzero magnitude, as bits, less one */
  gsize    n_zero;
} Summary;

#define VECTOR 16

typedef void  (*SummaryFunc) (const float *x, gsize n, Summary *summary);
typedef gsize (*SqueezeFunc) (const float *x, gsize n, guint32 *out);

struct _VnScratch
{
  guint32     *counters;        /* LANES tables, LANE apart */
  guint        first, last;     /* exponents counted since the last fold, first > last: none */
  gboolean     negative;        /* any negative number among them */
  gboolean     positive;
  SummaryFunc  summarize;
  SqueezeFunc  squeeze;
  guint32      squeezed[CHUNK + VECTOR];
};

static void
summary_init (Summary *self)
{
  *self = (Summary) { .min = INFINITY, .max = -INFINITY, .least = G_MAXUINT32 };
}

static void
summarize_rest (const float *x,
                gsize        n,
                Summary     *summary)
{
  for (gsize i = 0; i < n; i++)
    {
      guint32 magnitude = vn_float_bits (x[i]) & VN_FLOAT_ABS;

      summary->min = x[i] < summary->min ? x[i] : summary->min;
      summary->max = x[i] > summary->max ? x[i] : summary->max;
      summary->most = MAX (summary->most, magnitude);
      summary->least = MIN (summary->least, magnitude - 1);
      summary->n_zero += magnitude == 0;
    }
}

/* The same in vectors of @bytes. Comparisons are signed, which all machines have: a magnitude less one is moved so that
 * 1 becomes the least number and 0 the greatest. */
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
    Ints least = (Ints) { 0 } + G_MAXINT32;                                                     \
    Ints zeros = { 0 };                                                                         \
    gsize i = 0;                                                                                \
                                                                                                \
    for (; i + step <= n; i += step)                                                            \
      {                                                                                         \
        Ints bits, magnitude, moved, below, above, further, closer;                             \
                                                                                                \
        memcpy (&bits, x + i, sizeof bits);                                                     \
        below = (Floats) bits < (Floats) min;                                                   \
        above = (Floats) bits > (Floats) max;                                                   \
        min = (bits & below) | (min & ~below);                                                  \
        max = (bits & above) | (max & ~above);                                                  \
        magnitude = bits & (gint32) VN_FLOAT_ABS;                                               \
        further = magnitude > most;                                                             \
        most = (magnitude & further) | (most & ~further);                                       \
        zeros -= magnitude == 0;                                                                \
        moved = (magnitude - 1) ^ G_MININT32;                                                   \
        closer = moved < least;                                                                 \
        least = (moved & closer) | (least & ~closer);                                           \
      }                                                                                         \
                                                                                                \
    for (guint k = 0; k < step; k++)                                                            \
      {                                                                                         \
        summary->min = MIN (summary->min, ((Floats) min)[k]);                                   \
        summary->max = MAX (summary->max, ((Floats) max)[k]);                                   \
        summary->most = MAX (summary->most, (guint32) most[k]);                                 \
        summary->least = MIN (summary->least, (guint32) least[k] ^ 0x80000000u);                \
        summary->n_zero += (gsize) zeros[k];                                                    \
      }                                                                                         \
    summarize_rest (x + i, n - i, summary);                                                     \
  }

DEFINE_SUMMARIZE (summarize__ref, , 16)

static gsize
squeeze__ref (const float *x,
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

/* The comparisons of min and max give their second operand if the first is NaN. */
CLONE ("avx512f") static void
summarize__avx512 (const float *x,
                   gsize        n,
                   Summary     *summary)
{
  const __m512i abs = _mm512_set1_epi32 ((int) VN_FLOAT_ABS);
  const __m512i minus_one = _mm512_set1_epi32 (-1);
  __m512 min = _mm512_set1_ps (INFINITY);
  __m512 max = _mm512_set1_ps (-INFINITY);
  __m512i most = _mm512_setzero_si512 ();
  __m512i least = minus_one;
  __m512i zeros = _mm512_setzero_si512 ();
  gsize i = 0;

  for (; i + VECTOR <= n; i += VECTOR)
    {
      __m512i bits = _mm512_loadu_si512 (x + i);
      __m512i magnitude = _mm512_and_si512 (bits, abs);

      min = _mm512_min_ps (_mm512_castsi512_ps (bits), min);
      max = _mm512_max_ps (_mm512_castsi512_ps (bits), max);
      most = _mm512_max_epu32 (magnitude, most);
      zeros = _mm512_mask_sub_epi32 (zeros, _mm512_testn_epi32_mask (bits, abs), zeros, minus_one);
      least = _mm512_min_epu32 (_mm512_add_epi32 (magnitude, minus_one), least);
    }

  summary->min = _mm512_reduce_min_ps (min);
  summary->max = _mm512_reduce_max_ps (max);
  summary->most = _mm512_reduce_max_epu32 (most);
  summary->least = _mm512_reduce_min_epu32 (least);
  summary->n_zero = (gsize) _mm512_reduce_add_epi32 (zeros);
  summarize_rest (x + i, n - i, summary);
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
  return m + squeeze__ref (x + i, n - i, out + m);
}
#endif

static const struct
{
  SummaryFunc summarize;
  SqueezeFunc squeeze;
} kernels[] = {
#ifdef HAVE_X86
  [VN_LEVEL_V4] = { summarize__avx512, squeeze__avx512 },
  [VN_LEVEL_V3] = { summarize__avx2, squeeze__ref },
#endif
  [VN_LEVEL_GENERIC] = { summarize__ref, squeeze__ref },
};

/* A table that uses the instructions of @level; NULL if this machine lacks them. */
VnScratch *
vn_scratch_new_level (VnLevel level)
{
  VnScratch *self;

  if (level < vn_machine_get_best_level () || level >= G_N_ELEMENTS (kernels))
    return NULL;
  self = g_new0 (VnScratch, 1);
  self->first = 1;
  self->last = 0;
  self->summarize = kernels[level].summarize;
  self->squeeze = kernels[level].squeeze;
  self->counters = g_new0 (guint32, LANES * LANE);
  return self;
}

/**
 * vn_scratch_new:
 *
 * Returns: (transfer full): a table for one thread, about 1 MB
 */
VnScratch *
vn_scratch_new (void)
{
  return vn_scratch_new_level (vn_machine_get_level ());
}

/**
 * vn_scratch_free:
 * @self: (nullable) (transfer full): what to free
 */
void
vn_scratch_free (VnScratch *self)
{
  if (self == NULL)
    return;
  g_free (self->counters);
  g_free (self);
}

/* ---- the plain way: any float, straight into the pages ---- */

static void
count_special (VnHistogram *self,
               guint32      bits)
{
  if ((bits & VN_FLOAT_ABS) > VN_FLOAT_INF)
    self->n_nan++;
  else if (bits == VN_FLOAT_INF)
    self->n_pos_inf++;
  else
    self->n_neg_inf++;
}

/* Adding 0 makes -0 a 0: which of them came first must not show in the minimum or maximum. */
static void
scan_plain (VnHistogram *self,
            const float *x,
            gsize        n)
{
  for (gsize i = 0; i < n; i++)
    {
      guint32 bits = vn_float_bits (x[i]);
      float value = x[i] + 0.0f;

      if ((bits & VN_FLOAT_ABS) >= VN_FLOAT_INF)
        {
          count_special (self, bits);
          continue;
        }
      self->min = MIN (self->min, value);
      self->max = MAX (self->max, value);
      if ((bits & VN_FLOAT_ABS) == 0)
        self->n_zero++;
      else
        vn_histogram_page (self, bits >> 23)[(bits >> 16) % VN_HISTOGRAM_PAGE_BINS]++;
    }
}

/* ---- the fast way: finite, no subnormals ---- */

static void
count_sparse (VnHistogram   *self,
              const guint32 *words,
              gsize          n)
{
  for (gsize i = 0; i < n; i++)
    vn_histogram_page (self, words[i] >> 23)[(words[i] >> 16) % VN_HISTOGRAM_PAGE_BINS]++;
}

/* The upper 16 bits of element @i. */
static inline guint
upper_half (const char *words,
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

static void
count_dense (guint32    *counters,
             const char *words,
             gsize       n)
{
  gsize i = 0;

  for (; i + LANES <= n; i += LANES)
    {
      counters[upper_half (words, i)]++;
      counters[upper_half (words, i + 1) + LANE]++;
      counters[upper_half (words, i + 2) + 2 * LANE]++;
      counters[upper_half (words, i + 3) + 3 * LANE]++;
    }
  for (; i < n; i++)
    counters[upper_half (words, i)]++;
}

static void
note_exponents (VnScratch     *scratch,
                const Summary *summary)
{
  guint first = (summary->least + 1) >> 23;
  guint last = summary->most >> 23;

  scratch->negative |= summary->min < 0;
  scratch->positive |= summary->max > 0;
  if (scratch->first > scratch->last)
    {
      scratch->first = first;
      scratch->last = last;
      return;
    }
  scratch->first = MIN (scratch->first, first);
  scratch->last = MAX (scratch->last, last);
}

static void
scan_chunk (VnHistogram *self,
            VnScratch   *scratch,
            const float *x,
            gsize        n,
            gboolean     small)
{
  Summary summary;

  summary_init (&summary);
  scratch->summarize (x, n, &summary);
  if (summary.most >= VN_FLOAT_INF || summary.least < LEAST_NORMAL - 1)
    {
      scan_plain (self, x, n);
      return;
    }

  self->min = MIN (self->min, summary.min + 0.0f);
  self->max = MAX (self->max, summary.max + 0.0f);
  self->n_zero += summary.n_zero;
  if (summary.n_zero == n)
    return;

  if (small)
    {
      count_sparse (self, scratch->squeezed, scratch->squeeze (x, n, scratch->squeezed));
      return;
    }
  note_exponents (scratch, &summary);
  if (summary.n_zero > n / 8)
    count_dense (scratch->counters, (const char *) scratch->squeezed, scratch->squeeze (x, n, scratch->squeezed));
  else
    count_dense (scratch->counters, (const char *) x, n);
}

static void
fold_page (VnHistogram *self,
           guint        page,
           guint32     *counters)
{
  guint32 sums[VN_HISTOGRAM_PAGE_BINS];
  guint32 any = 0;
  guint64 *into;

  for (guint m = 0; m < VN_HISTOGRAM_PAGE_BINS; m++)
    {
      sums[m] = counters[m] + counters[m + LANE] + counters[m + 2 * LANE] + counters[m + 3 * LANE];
      any |= sums[m];
    }
  if (any == 0)
    return;

  into = vn_histogram_page (self, page);
  for (guint m = 0; m < VN_HISTOGRAM_PAGE_BINS; m++)
    into[m] += sums[m];
  for (guint k = 0; k < LANES; k++)
    memset (counters + k * LANE, 0, sizeof sums);
}

static void
fold (VnHistogram *self,
      VnScratch   *scratch)
{
  const guint negative = VN_HISTOGRAM_PAGES / 2;

  /* Zeros that were not squeezed out: counted apart already. */
  for (guint k = 0; k < LANES; k++)
    scratch->counters[k * LANE] = scratch->counters[k * LANE + N_BINS / 2] = 0;

  for (guint e = scratch->first; e <= scratch->last; e++)
    {
      if (scratch->positive)
        fold_page (self, e, scratch->counters + e * VN_HISTOGRAM_PAGE_BINS);
      if (scratch->negative)
        fold_page (self, negative + e, scratch->counters + (negative + e) * VN_HISTOGRAM_PAGE_BINS);
    }
  scratch->first = 1;
  scratch->last = 0;
  scratch->negative = scratch->positive = FALSE;
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
                   VnScratch   *scratch,
                   const float *x,
                   gsize        n)
{
  const gboolean small = n < SMALL;

  self->n += n;
  while (n > 0)
    {
      gsize part = MIN (n, FOLD_EVERY);

      for (gsize i = 0; i < part; i += CHUNK)
        scan_chunk (self, scratch, x + i, MIN (CHUNK, part - i), small);
      if (!small)
        fold (self, scratch);
      x += part;
      n -= part;
    }
}
