/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Resampling with a triangle as wide as two pixels of the coarser side: bilinear when enlarging, a weighted mean over
 * the covered area when shrinking, so that no source pixel is skipped. Rows and columns one after the other, each
 * rounded to 8 bits, weights in fixed point with 22 bits of fraction: integers only, hence the same on every machine,
 * and the same numbers as Image.resize (BILINEAR) of Pillow 13, which most training and calibration scripts use. Rows
 * go first, unless more than twice as many rows as columns go away.
 *
 *   scale = source / destination, reach = max (scale, 1), centre = (i + 0.5) * scale
 *   weight of source pixel k = max (0, 1 - |k + 0.5 - centre| / reach), made to sum to 1
 *
 * Or by areas, as OpenCV does it with INTER_AREA: the weight of a source pixel is the part of it that the destination pixel
 * covers, and where a side gets larger, or stays, two neighbours share by how much of the destination pixel lies in each. OpenCV
 * rounds once, here rows and columns do: what comes out differs by one level at most. */

#include "vn-dataset-private.h"

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <math.h>
#include <string.h>

#if defined __x86_64__ && defined __GNUC__
#include <immintrin.h>
#define HAVE_X86 1
#define AVX2 __attribute__ ((target ("avx2")))
#endif

#define FRACTION 22
#define HALF (1 << (FRACTION - 1))

/* For each destination pixel: its first source pixel, how many, and their weights. */
typedef struct
{
  guint   n, width;         /* destination pixels; room per pixel in @weights */
  guint  *first, *count;
  gint32 *weights;
} Taps;

static void
picture_resample_taps_clear (Taps *self)
{
  g_free (self->first);
  g_free (self->count);
  g_free (self->weights);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Taps, picture_resample_taps_clear)

static void
picture_resample_fill_taps (Taps   *self,
                            guint   i,
                            guint   source,
                            double  centre,
                            double  reach,
                            double *weights)
{
  gint32 *fixed = self->weights + (gsize) i * self->width;
  int first = MAX (0, (int) (centre - reach + 0.5));
  int end = MIN ((int) source, (int) (centre + reach + 0.5));
  double inverse = 1 / reach;
  double sum = 0;

  for (int k = first; k < end; k++)
    {
      weights[k - first] = MAX (0, 1 - fabs (((double) (k - first) + (first - centre) + 0.5) * inverse));
      sum += weights[k - first];
    }
  self->first[i] = (guint) first;
  self->count[i] = (guint) (end - first);
  for (int k = 0; k < end - first; k++)
    fixed[k] = (gint32) (0.5 + (sum != 0 ? weights[k] / sum : weights[k]) * (1 << FRACTION));
}

/* @weights of source pixels from @first on, which sum to 1. */
static void
picture_resample_set_taps (Taps         *self,
                           guint         i,
                           guint         first,
                           guint         n,
                           const double *weights)
{
  self->first[i] = first;
  self->count[i] = n;
  for (guint k = 0; k < n; k++)
    self->weights[(gsize) i * self->width + k] = (gint32) (0.5 + weights[k] * (1 << FRACTION));
}

/* @at: which destination pixel of all */
static void
picture_resample_fill_areas (Taps   *self,
                             guint   i,
                             guint   at,
                             guint   source,
                             double  scale,
                             double *weights)
{
  double low = at * scale, high = MIN ((at + 1) * scale, source);
  guint first = (guint) low, n = 0;

  for (guint k = first; k < source && k < high; k++)
    weights[n++] = (MIN (high, k + 1.0) - MAX (low, k)) / (high - low);
  picture_resample_set_taps (self, i, first, n, weights);
}

/* As above where one of both sides gets no smaller. */
static void
picture_resample_fill_shares (Taps   *self,
                              guint   i,
                              guint   at,
                              guint   source,
                              double  scale)
{
  guint first = MIN ((guint) (at * scale), source - 1);
  double share = at + 1 - (first + 1) / scale;

  share = share <= 0 || first + 1 >= source ? 0 : share - floor (share);
  picture_resample_set_taps (self, i, first, share > 0 ? 2 : 1, (const double[]) { 1 - share, share });
}

/* Destination pixels @from .. @from + @n - 1 of @full, out of @source. @shrinks: neither side of the picture gets larger */
static gboolean
picture_resample_taps_init (Taps       *self,
                            guint       source,
                            guint       full,
                            guint       from,
                            guint       n,
                            VnResample  resample,
                            gboolean    shrinks,
                            GError    **error)
{
  double scale = (double) source / full;
  double reach = MAX (scale, 1);
  g_autofree double *weights = NULL;

  *self = (Taps) { .n = n, .width = (guint) ceil (reach) * 2 + 1 };
  if ((weights = vn_try_new (double, self->width, error)) == NULL ||
      (self->first = vn_try_new (guint, n, error)) == NULL || (self->count = vn_try_new (guint, n, error)) == NULL ||
      (self->weights = vn_memory_alloc (n, self->width * sizeof (gint32), error)) == NULL)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (resample == VN_RESAMPLE_LINEAR)
      picture_resample_fill_taps (self, i, source, (from + i + 0.5) * scale, reach, weights);
    else if (shrinks)
      picture_resample_fill_areas (self, i, from + i, source, scale, weights);
    else
      picture_resample_fill_shares (self, i, from + i, source, scale);
  return TRUE;
}

static inline guint8
picture_resample_clip8 (gint32 sum)
{
  gint32 value = sum >> FRACTION;

  return (guint8) CLAMP (value, 0, 255);
}

static void
picture_resample_row_1 (const Taps   *taps,
                        const guint8 *in,
                        guint8       *out)
{
  for (guint i = 0; i < taps->n; i++)
    {
      const gint32 *w = taps->weights + (gsize) i * taps->width;
      const guint8 *p = in + taps->first[i];
      gint32 sum = HALF;

      for (guint k = 0; k < taps->count[i]; k++)
        sum += w[k] * p[k];
      out[i] = picture_resample_clip8 (sum);
    }
}

static void
picture_resample_row_3__ref (const Taps   *taps,
                             const guint8 *in,
                             guint8       *out)
{
  for (guint i = 0; i < taps->n; i++, out += 3)
    {
      const gint32 *w = taps->weights + (gsize) i * taps->width;
      const guint8 *p = in + (gsize) taps->first[i] * 3;
      gint32 r = HALF;
      gint32 g = HALF;
      gint32 b = HALF;

      for (guint k = 0; k < taps->count[i]; k++, p += 3)
        {
          r += w[k] * p[0];
          g += w[k] * p[1];
          b += w[k] * p[2];
        }
      out[0] = picture_resample_clip8 (r);
      out[1] = picture_resample_clip8 (g);
      out[2] = picture_resample_clip8 (b);
    }
}

/* One destination row: weighted sum of @count source rows of @n bytes. */
static void
picture_resample_column__ref (const gint32 *w,
                              const guint8 *in,
                              guint         count,
                              gsize         n,
                              guint8       *out)
{
  for (gsize x = 0; x < n; x++)
    {
      gint32 sum = HALF;

      for (guint k = 0; k < count; k++)
        sum += w[k] * in[k * n + x];
      out[x] = picture_resample_clip8 (sum);
    }
}

#ifdef HAVE_X86
/* A pixel is read and written with the byte after it: pictures have room for that at their end. */
AVX2 static void
row_3__avx2 (const Taps   *taps,
             const guint8 *in,
             guint8       *out)
{
  for (guint i = 0; i < taps->n; i++, out += 3)
    {
      const gint32 *w = taps->weights + (gsize) i * taps->width;
      const guint8 *p = in + (gsize) taps->first[i] * 3;
      __m128i sum = _mm_set1_epi32 (HALF);
      gint32 pixel;

      for (guint k = 0; k < taps->count[i]; k++, p += 3)
        {
          memcpy (&pixel, p, sizeof pixel);
          sum = _mm_add_epi32 (sum, _mm_mullo_epi32 (_mm_cvtepu8_epi32 (_mm_cvtsi32_si128 (pixel)),
                                                     _mm_set1_epi32 (w[k])));
        }
      sum = _mm_packs_epi32 (_mm_srai_epi32 (sum, FRACTION), sum);
      pixel = _mm_cvtsi128_si32 (_mm_packus_epi16 (sum, sum));
      memcpy (out, &pixel, sizeof pixel);
    }
}

AVX2 static void
column__avx2 (const gint32 *w,
              const guint8 *in,
              guint         count,
              gsize         n,
              guint8       *out)
{
  gsize x = 0;

  for (; x + 16 <= n; x += 16)
    {
      __m256i low = _mm256_set1_epi32 (HALF);
      __m256i high = low;

      for (guint k = 0; k < count; k++)
        {
          __m128i bytes = _mm_loadu_si128 ((const __m128i *) (const void *) (in + k * n + x));
          __m256i weight = _mm256_set1_epi32 (w[k]);

          low = _mm256_add_epi32 (low, _mm256_mullo_epi32 (_mm256_cvtepu8_epi32 (bytes), weight));
          high = _mm256_add_epi32 (high, _mm256_mullo_epi32 (_mm256_cvtepu8_epi32 (_mm_srli_si128 (bytes, 8)), weight));
        }
      /* Packing works in halves of 128 bits: the quarters are put in order in between. */
      low = _mm256_packs_epi32 (_mm256_srai_epi32 (low, FRACTION), _mm256_srai_epi32 (high, FRACTION));
      low = _mm256_permute4x64_epi64 (low, 0xd8);
      _mm_storeu_si128 ((__m128i *) (void *) (out + x),
                        _mm_packus_epi16 (_mm256_castsi256_si128 (low), _mm256_extracti128_si256 (low, 1)));
    }
  for (; x < n; x++)
    {
      gint32 sum = HALF;

      for (guint k = 0; k < count; k++)
        sum += w[k] * in[k * n + x];
      out[x] = picture_resample_clip8 (sum);
    }
}
#endif

/* All compute the same integers. */
typedef struct
{
  void (*row_3)  (const Taps *taps, const guint8 *in, guint8 *out);
  void (*column) (const gint32 *w, const guint8 *in, guint count, gsize n, guint8 *out);
} Kernels;

static const Kernels kernels_at[] = {
#ifdef HAVE_X86
  [VN_LEVEL_V4] = { row_3__avx2, column__avx2 },
  [VN_LEVEL_V3] = { row_3__avx2, column__avx2 },
#endif
  [VN_LEVEL_GENERIC] = { picture_resample_row_3__ref, picture_resample_column__ref },
};

static guint8 *
picture_resample_alloc_pixels (guint     width,
                               guint     height,
                               guint     channels,
                               GError  **error)
{
  guint8 *pixels = NULL;
  gsize size = G_MAXSIZE;

  if (vn_checked_mul (width, height, &size) && vn_checked_mul (size, channels, &size) &&
      vn_checked_add (size, VN_PICTURE_MARGIN, &size))
    pixels = vn_memory_try (size, 1);
  if (pixels == NULL)
    vn_memory_set_error (size, error);
  return pixels;
}

static gboolean
picture_resample_scale_rows (const VnPicture  *self,
                             const VnCrop     *window,
                             gboolean          shrinks,
                             const Kernels    *kernels,
                             VnPicture        *out,
                             GError          **error)
{
  gsize stride = (gsize) self->width * self->channels;
  gsize out_stride = (gsize) window->width * self->channels;
  g_auto(Taps) taps = { 0 };

  *out = (VnPicture) { .width = window->width, .height = self->height, .channels = self->channels };
  out->pixels = picture_resample_alloc_pixels (out->width, out->height, out->channels, error);
  if (out->pixels == NULL)
    return FALSE;
  if (window->full_width == self->width)
    {
      for (guint y = 0; y < out->height; y++)
        memcpy (out->pixels + y * out_stride, self->pixels + y * stride + window->x * self->channels, out_stride);
      return TRUE;
    }

  if (!picture_resample_taps_init (&taps, self->width, window->full_width, window->x, window->width, window->resample, shrinks,
                                   error))
    return FALSE;
  for (guint y = 0; y < out->height; y++)
    (self->channels == 1 ? picture_resample_row_1 : kernels->row_3) (&taps, self->pixels + y * stride,
                                                                     out->pixels + y * out_stride);
  return TRUE;
}

/* @self holds the source rows from @top on. */
static gboolean
picture_resample_scale_columns (const VnPicture  *self,
                                const Taps       *taps,
                                guint             top,
                                const Kernels    *kernels,
                                VnPicture        *out,
                                GError          **error)
{
  gsize stride = (gsize) self->width * self->channels;

  *out = (VnPicture) { .width = self->width, .height = taps->n, .channels = self->channels };
  out->pixels = picture_resample_alloc_pixels (out->width, out->height, out->channels, error);
  if (out->pixels == NULL)
    return FALSE;
  for (guint y = 0; y < taps->n; y++)
    kernels->column (taps->weights + (gsize) y * taps->width, self->pixels + (taps->first[y] - top) * stride,
                    taps->count[y], stride, out->pixels + y * stride);
  return TRUE;
}

/**
 * vn_picture_resample_level:
 * @level: not above vn_machine_get_best_level(): whose instructions to use; the result does not depend on it
 *
 * vn_picture_resample() for the tests, which compare the levels.
 *
 * Returns: %FALSE if there is not enough memory
 */
gboolean
vn_picture_resample_level (const VnPicture  *self,
                           const VnCrop   *window,
                           VnLevel           level,
                           VnPicture        *out,
                           GError          **error)
{
  const Kernels *kernels = &kernels_at[level];
  const gint64 fewer_rows = (gint64) self->height - window->full_height;
  const gint64 fewer_columns = (gint64) self->width - window->full_width;
  const gboolean shrinks = fewer_rows >= 0 && fewer_columns >= 0;
  const gboolean columns_first = fewer_rows > 0 && fewer_rows > 2 * fewer_columns;
  g_auto(VnPicture) between = { 0 };
  g_auto(Taps) taps = { 0 };
  VnPicture part = *self;
  guint top;

  if (!picture_resample_taps_init (&taps, self->height, window->full_height, window->y, window->height, window->resample, shrinks,
                                   error))
    return FALSE;
  if (columns_first)
    return picture_resample_scale_columns (self, &taps, 0, kernels, &between, error) &&
           picture_resample_scale_rows (&between, window, shrinks, kernels, out, error);

  /* Only the rows that the window will need. */
  top = taps.first[0];
  part.height = taps.first[taps.n - 1] + taps.count[taps.n - 1] - top;
  part.pixels += (gsize) top * self->width * self->channels;
  if (window->full_height == self->height)
    {
      part.height = window->height;
      return picture_resample_scale_rows (&part, window, shrinks, kernels, out, error);
    }
  return picture_resample_scale_rows (&part, window, shrinks, kernels, &between, error) &&
         picture_resample_scale_columns (&between, &taps, top, kernels, out, error);
}

/**
 * vn_picture_resample:
 * @self: 1 or 3 channels
 * @window: what to make: the whole is scaled to full_width × full_height, of which the part is kept
 * @out: set on success; clear with vn_picture_clear()
 *
 * Returns: %FALSE if there is not enough memory
 */
gboolean
vn_picture_resample (const VnPicture  *self,
                     const VnCrop   *window,
                     VnPicture        *out,
                     GError          **error)
{
  return vn_picture_resample_level (self, window, vn_machine_get_level (), out, error);
}
