/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Counting a tensor. It is walked in chunks that stay in the first-level cache, each twice: once in vector registers
 * for minimum, maximum, zeros and the range of exponents, once to count. Counting goes into a dense table of 32-bit
 * counters with four lanes per bin: consecutive elements use different lanes, because two increments of one counter
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
#define PAGE_COUNTERS (VN_HISTOGRAM_PAGE_BINS * LANES)
#define CHUNK 2048
#define SMALL 24576                          /* elements: below, folding costs more than it saves */
#define FOLD_EVERY ((gsize) 1 << 30)         /* elements: a lane's counter cannot wrap before */
#define LEAST_NORMAL 0x00800000u

typedef gint32 Ints __attribute__ ((vector_size (64)));
typedef guint32 Words __attribute__ ((vector_size (64)));
#define VECTOR 16

/* What the first walk learns of a chunk. Keys order floats as integers: -0 is -1, 0 is 0. */
typedef struct
{
  gint32  min_key, max_key;
  guint32 least;                /* smallest nonzero magnitude, as bits, less one */
  gsize   n_zero;
} Summary;

typedef void  (*SummaryFunc) (const float *x, gsize n, Summary *summary);
typedef gsize (*SqueezeFunc) (const float *x, gsize n, guint32 *out);

struct _VnScratch
{
  guint32     *counters;        /* [N_BINS][LANES] */
  guint        first, last;     /* exponents counted since the last fold, first > last: none */
  SummaryFunc  summarize;
  SqueezeFunc  squeeze;
  guint32      squeezed[CHUNK + VECTOR];
};

static inline gint32
key_from_bits (guint32 bits)
{
  return (gint32) (bits ^ ((guint32) ((gint32) bits >> 31) & VN_FLOAT_ABS));
}

static inline float
float_from_key (gint32 key)
{
  guint32 bits = (guint32) key ^ ((guint32) (key >> 31) & VN_FLOAT_ABS);

  /* Whether -0 or 0 came first must not show. */
  return vn_float_from_bits (bits) + 0.0f;
}

static inline void
summarize_one (guint32  bits,
               Summary *summary)
{
  gint32 key = key_from_bits (bits);
  guint32 magnitude = bits & VN_FLOAT_ABS;

  summary->min_key = MIN (summary->min_key, key);
  summary->max_key = MAX (summary->max_key, key);
  summary->least = MIN (summary->least, magnitude - 1);
  summary->n_zero += magnitude == 0;
}

static inline __attribute__ ((always_inline)) void
summarize_body (const float *x,
                gsize        n,
                Summary     *summary)
{
  Ints min = (Ints) { 0 } + G_MAXINT32;
  Ints max = (Ints) { 0 } + G_MININT32;
  Words least = (Words) { 0 } - 1;
  Ints zeros = { 0 };
  gsize i = 0;

  for (; i + VECTOR <= n; i += VECTOR)
    {
      Ints bits, key, below, above;
      Words magnitude, closer;

      memcpy (&bits, x + i, sizeof bits);
      key = bits ^ ((bits >> 31) & (gint32) VN_FLOAT_ABS);
      magnitude = (Words) bits & VN_FLOAT_ABS;
      below = key < min;
      above = key > max;
      min = (key & below) | (min & ~below);
      max = (key & above) | (max & ~above);
      zeros -= (Ints) (magnitude == 0);
      magnitude -= 1;
      closer = (Words) (magnitude < least);
      least = (magnitude & closer) | (least & ~closer);
    }

  *summary = (Summary) { .min_key = G_MAXINT32, .max_key = G_MININT32, .least = G_MAXUINT32 };
  for (guint k = 0; k < VECTOR; k++)
    {
      summary->min_key = MIN (summary->min_key, min[k]);
      summary->max_key = MAX (summary->max_key, max[k]);
      summary->least = MIN (summary->least, least[k]);
      summary->n_zero += (gsize) zeros[k];
    }
  for (; i < n; i++)
    summarize_one (vn_float_bits (x[i]), summary);
}

static void
summarize__ref (const float *x,
                gsize        n,
                Summary     *summary)
{
  summarize_body (x, n, summary);
}

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
CLONE ("avx2") static void
summarize__avx2 (const float *x,
                 gsize        n,
                 Summary     *summary)
{
  summarize_body (x, n, summary);
}

CLONE ("avx512f,avx512bw") static void
summarize__avx512 (const float *x,
                   gsize        n,
                   Summary     *summary)
{
  summarize_body (x, n, summary);
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

/**
 * vn_scratch_new:
 *
 * Returns: (transfer full): a table for one thread, about 1 MB
 */
VnScratch *
vn_scratch_new (void)
{
  VnScratch *self = g_new0 (VnScratch, 1);

  self->counters = g_new0 (guint32, N_BINS * LANES);
  self->first = 1;
  self->last = 0;
  self->summarize = summarize__ref;
  self->squeeze = squeeze__ref;
#ifdef HAVE_X86
  if (__builtin_cpu_supports ("avx2"))
    self->summarize = summarize__avx2;
  if (__builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw"))
    {
      self->summarize = summarize__avx512;
      self->squeeze = squeeze__avx512;
    }
#endif
  return self;
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

static void
scan_plain (VnHistogram *self,
            const float *x,
            gsize        n)
{
  for (gsize i = 0; i < n; i++)
    {
      guint32 bits = vn_float_bits (x[i]);
      float value = float_from_key (key_from_bits (bits));

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

static inline void
count_word (guint32 *counters,
            guint32  bits,
            guint    lane)
{
  counters[(bits >> 16) * LANES + lane]++;
}

static void
count_dense (guint32    *counters,
             const char *words,
             gsize       n)
{
  gsize i = 0;

  for (; i + 4 <= n; i += 4)
    {
      guint64 two[2];

      memcpy (two, words + i * sizeof (guint32), sizeof two);
      count_word (counters, (guint32) two[0], 0);
      count_word (counters, (guint32) (two[0] >> 32), 1);
      count_word (counters, (guint32) two[1], 2);
      count_word (counters, (guint32) (two[1] >> 32), 3);
    }
  for (; i < n; i++)
    {
      guint32 bits;

      memcpy (&bits, words + i * sizeof bits, sizeof bits);
      count_word (counters, bits, i % LANES);
    }
}

static gboolean
summary_is_plain (const Summary *summary)
{
  return summary->max_key >= (gint32) VN_FLOAT_INF ||
         summary->min_key <= key_from_bits (VN_FLOAT_INF | 0x80000000u) ||
         summary->least < LEAST_NORMAL - 1;
}

static void
note_exponents (VnScratch     *scratch,
                const Summary *summary)
{
  guint32 most = MAX (summary->max_key, 0);
  guint first = (summary->least + 1) >> 23;
  guint last;

  if (summary->min_key < 0)
    most = MAX (most, (guint32) summary->min_key ^ G_MAXUINT32);
  last = most >> 23;
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

  scratch->summarize (x, n, &summary);
  if (summary_is_plain (&summary))
    {
      scan_plain (self, x, n);
      return;
    }

  self->min = MIN (self->min, float_from_key (summary.min_key));
  self->max = MAX (self->max, float_from_key (summary.max_key));
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

/* Most of a page is empty after a small tensor: it is looked through by cache lines of four bins. */
static void
fold_page (VnHistogram *self,
           guint        page,
           guint32     *counters)
{
  guint64 *into = self->pages[page];

  for (guint m = 0; m < VN_HISTOGRAM_PAGE_BINS; m += VECTOR / LANES, counters += VECTOR)
    {
      guint64 words[VECTOR / 2];

      memcpy (words, counters, sizeof words);
      if ((words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] | words[7]) == 0)
        continue;
      if (into == NULL)
        into = vn_histogram_page (self, page);
      for (guint i = 0; i < VECTOR; i++)
        into[m + i / LANES] += counters[i];
      memset (counters, 0, sizeof words);
    }
}

static void
fold (VnHistogram *self,
      VnScratch   *scratch)
{
  const guint negative = VN_HISTOGRAM_PAGES / 2;

  /* Zeros that were not squeezed out: counted apart already. */
  memset (scratch->counters, 0, LANES * sizeof (guint32));
  memset (scratch->counters + N_BINS / 2 * LANES, 0, LANES * sizeof (guint32));

  for (guint e = scratch->first; e <= scratch->last; e++)
    {
      fold_page (self, e, scratch->counters + (gsize) e * PAGE_COUNTERS);
      fold_page (self, negative + e, scratch->counters + (gsize) (negative + e) * PAGE_COUNTERS);
    }
  scratch->first = 1;
  scratch->last = 0;
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
