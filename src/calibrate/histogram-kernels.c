/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The loops that counting consists of, for each instruction set. */

#include "histogram-kernels.h"

#include "vn-multiversion.h"

#include <math.h>

#if defined __x86_64__ && defined __GNUC__
#include <immintrin.h>
#define HAVE_X86 1
#define CLONE(isa) __attribute__ ((target (isa)))
#endif

static void
kernels_summarize_rest (const float   *x,
                        gsize          n,
                        VnScanSummary *summary)
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
  name (const float   *x,                                                                       \
        gsize          n,                                                                       \
        VnScanSummary *summary)                                                                 \
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
    *summary = (VnScanSummary) { .min = INFINITY, .max = -INFINITY };                           \
    for (guint k = 0; k < step; k++)                                                            \
      {                                                                                         \
        summary->min = MIN (summary->min, ((Floats) min)[k]);                                   \
        summary->max = MAX (summary->max, ((Floats) max)[k]);                                   \
        summary->most = MAX (summary->most, (guint32) most[k]);                                 \
      }                                                                                         \
    kernels_summarize_rest (x + i, n - i, summary);                                             \
  }

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

#define DEFINE_TAKE_PAGE(name, clone)                                                           \
  clone static gsize                                                                            \
  name (guint16 *counters,                                                                      \
        guint32 *sums)                                                                          \
  {                                                                                             \
    guint32 sum = 0;                                                                            \
                                                                                                \
    for (guint m = 0; m < VN_HISTOGRAM_PAGE_BINS; m++)                                          \
      {                                                                                         \
        sums[m] = (guint32) counters[m] + counters[m + VN_SCAN_LANE] +                          \
                  counters[m + 2 * VN_SCAN_LANE] + counters[m + 3 * VN_SCAN_LANE];              \
        sum += sums[m];                                                                         \
      }                                                                                         \
    for (guint k = 0; k < VN_SCAN_LANES && sum > 0; k++)                                        \
      memset (counters + k * VN_SCAN_LANE, 0, VN_HISTOGRAM_PAGE_BINS * sizeof *counters);       \
    return sum;                                                                                 \
  }

#define DEFINE_ADD_PAGE(name, clone)                                                            \
  clone static void                                                                             \
  name (guint64       *page,                                                                    \
        const guint32 *sums)                                                                    \
  {                                                                                             \
    for (guint m = 0; m < VN_HISTOGRAM_PAGE_BINS; m++)                                          \
      page[m] += sums[m];                                                                       \
  }

#define DEFINE_WIDEN(name, clone, bytes)                                                        \
  clone static void                                                                             \
  name (const float *x,                                                                         \
        gsize        n,                                                                         \
        guint        lanes,                                                                     \
        float       *low,                                                                       \
        float       *high,                                                                      \
        guint32     *greatest)                                                                  \
  {                                                                                             \
    typedef float Floats __attribute__ ((vector_size (bytes)));                                 \
    typedef gint32 Ints __attribute__ ((vector_size (bytes)));                                  \
    const guint step = bytes / sizeof (float);                                                  \
                                                                                                \
    for (guint k = 0; k < lanes; k += step)                                                     \
      {                                                                                         \
        Ints min, max, most;                                                                    \
                                                                                                \
        memcpy (&min, low + k, sizeof min);                                                     \
        memcpy (&max, high + k, sizeof max);                                                    \
        memcpy (&most, greatest + k, sizeof most);                                              \
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
        memcpy (greatest + k, &most, sizeof most);                                              \
      }                                                                                         \
  }

DEFINE_SUMMARIZE (summarize__ref, , 16)
DEFINE_WIDEN (widen__ref, , 16)
DEFINE_COUNT_ZEROS (count_zeros__ref, )
DEFINE_TAKE_PAGE (take_page__ref, )
DEFINE_ADD_PAGE (add_page__ref, )

static gsize
kernels_squeeze__ref (const float *x,
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
DEFINE_TAKE_PAGE (take_page__avx2, CLONE ("avx2"))
DEFINE_ADD_PAGE (add_page__avx2, CLONE ("avx2"))
DEFINE_COUNT_ZEROS (count_zeros__avx512, CLONE ("avx512f"))
DEFINE_TAKE_PAGE (take_page__avx512, CLONE ("avx512f" VN_WIDE_VECTORS))
DEFINE_ADD_PAGE (add_page__avx512, CLONE ("avx512f" VN_WIDE_VECTORS))

/* Of four words those whose bit is set, first: where the bytes of a vector come from. */
#define WORD(k) 4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3
#define NO_WORD -1, -1, -1, -1
static const gint8 kept_words[16][16] = {
  { NO_WORD, NO_WORD, NO_WORD, NO_WORD },    { WORD (0), NO_WORD, NO_WORD, NO_WORD },
  { WORD (1), NO_WORD, NO_WORD, NO_WORD },   { WORD (0), WORD (1), NO_WORD, NO_WORD },
  { WORD (2), NO_WORD, NO_WORD, NO_WORD },   { WORD (0), WORD (2), NO_WORD, NO_WORD },
  { WORD (1), WORD (2), NO_WORD, NO_WORD },  { WORD (0), WORD (1), WORD (2), NO_WORD },
  { WORD (3), NO_WORD, NO_WORD, NO_WORD },   { WORD (0), WORD (3), NO_WORD, NO_WORD },
  { WORD (1), WORD (3), NO_WORD, NO_WORD },  { WORD (0), WORD (1), WORD (3), NO_WORD },
  { WORD (2), WORD (3), NO_WORD, NO_WORD },  { WORD (0), WORD (2), WORD (3), NO_WORD },
  { WORD (1), WORD (2), WORD (3), NO_WORD }, { WORD (0), WORD (1), WORD (2), WORD (3) },
};

CLONE ("avx2,popcnt") static gsize
squeeze__avx2 (const float *x,
               gsize        n,
               guint32     *out)
{
  gsize m = 0;
  gsize i = 0;

  for (; i + 4 <= n; i += 4)
    {
      __m128i bits = _mm_loadu_si128 ((const __m128i *) (x + i));
      __m128i is_zero = _mm_cmpeq_epi32 (_mm_slli_epi32 (bits, 1), _mm_setzero_si128 ());   /* without the sign */
      guint kept = 15 ^ (guint) _mm_movemask_ps (_mm_castsi128_ps (is_zero));

      _mm_storeu_si128 ((__m128i *) (out + m), _mm_shuffle_epi8 (bits, _mm_loadu_si128 ((const __m128i *) kept_words[kept])));
      m += (gsize) __builtin_popcount (kept);
    }
  return m + kernels_squeeze__ref (x + i, n - i, out + m);
}

/* The comparisons of min and max give their second operand if the first is NaN. */
CLONE ("avx512f") static void
summarize__avx512 (const float   *x,
                   gsize          n,
                   VnScanSummary *summary)
{
  const __m512i abs = _mm512_set1_epi32 ((int) VN_FLOAT_ABS);
  __m512 min = _mm512_set1_ps (INFINITY);
  __m512 max = _mm512_set1_ps (-INFINITY);
  __m512i most = _mm512_setzero_si512 ();
  gsize i = 0;

  for (; i + VN_SCAN_VECTOR <= n; i += VN_SCAN_VECTOR)
    {
      __m512i bits = _mm512_loadu_si512 (x + i);

      min = _mm512_min_ps (_mm512_castsi512_ps (bits), min);
      max = _mm512_max_ps (_mm512_castsi512_ps (bits), max);
      most = _mm512_max_epu32 (_mm512_and_si512 (bits, abs), most);
    }

  summary->min = _mm512_reduce_min_ps (min);
  summary->max = _mm512_reduce_max_ps (max);
  summary->most = _mm512_reduce_max_epu32 (most);
  kernels_summarize_rest (x + i, n - i, summary);
}

/* As widen__ref(). */
CLONE ("avx512f") static void
widen__avx512 (const float *x,
               gsize        n,
               guint        lanes,
               float       *low,
               float       *high,
               guint32     *greatest)
{
  const __m512i abs = _mm512_set1_epi32 ((int) VN_FLOAT_ABS);
  __m512i most;
  __m512 min, max;

  if (lanes != VN_SCAN_VECTOR)
    {
      widen__ref (x, n, lanes, low, high, greatest);
      return;
    }
  min = _mm512_loadu_ps (low);
  max = _mm512_loadu_ps (high);
  most = _mm512_loadu_si512 (greatest);
  for (gsize i = 0; i < n; i += VN_SCAN_VECTOR)
    {
      __m512i bits = _mm512_loadu_si512 (x + i);

      min = _mm512_min_ps (_mm512_castsi512_ps (bits), min);
      max = _mm512_max_ps (_mm512_castsi512_ps (bits), max);
      most = _mm512_max_epu32 (_mm512_and_si512 (bits, abs), most);
    }
  _mm512_storeu_ps (low, min);
  _mm512_storeu_ps (high, max);
  _mm512_storeu_si512 (greatest, most);
}

CLONE ("avx512f,popcnt") static gsize
squeeze__avx512 (const float *x,
                 gsize        n,
                 guint32     *out)
{
  const __m512i magnitude = _mm512_set1_epi32 ((int) VN_FLOAT_ABS);
  gsize m = 0;
  gsize i = 0;

  for (; i + VN_SCAN_VECTOR <= n; i += VN_SCAN_VECTOR)
    {
      __m512i bits = _mm512_loadu_si512 (x + i);
      __mmask16 kept = _mm512_test_epi32_mask (bits, magnitude);

      _mm512_storeu_si512 (out + m, _mm512_maskz_compress_epi32 (kept, bits));
      m += (gsize) __builtin_popcount (kept);
    }
  return m + kernels_squeeze__ref (x + i, n - i, out + m);
}
#endif

static const VnScanKernels kernels_at[] = {
#ifdef HAVE_X86
  [VN_LEVEL_V4] = { summarize__avx512, widen__avx512, squeeze__avx512, count_zeros__avx512, take_page__avx512, add_page__avx512 },
  [VN_LEVEL_V3] = { summarize__avx2, widen__avx2, squeeze__avx2, count_zeros__avx2, take_page__avx2, add_page__avx2 },
#endif
  [VN_LEVEL_GENERIC] = { summarize__ref, widen__ref, kernels_squeeze__ref, count_zeros__ref, take_page__ref, add_page__ref },
};

/*< private >
 * vn_scan_kernels_get:
 *
 * Returns: (transfer none) (nullable): those that use the instructions of @level; %NULL if this machine lacks them
 */
const VnScanKernels *
vn_scan_kernels_get (VnLevel level)
{
  return level < vn_machine_get_best_level () || level >= G_N_ELEMENTS (kernels_at) ? NULL : &kernels_at[level];
}
