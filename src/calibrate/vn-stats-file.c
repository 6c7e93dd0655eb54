/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Statistics on disk. Little-endian; "varint" is 7 bits per byte, lowest first, the top bit says that more follow.
 *
 *   "VnStats\n"  8 bytes
 *   version      varint: 4 without votes, else 5; of one part of the samples 2 more
 *   n_samples    varint: those that went in
 *   n_left       varint: those that were to go in, but were not looked at when the run was interrupted
 *   n_all        varint, of one part only: how many samples all parts have
 *   has_origin   varint, 0 or 1; if 1:
 *     network, source, prepared   texts: varint length, that many bytes of UTF-8
 *     opset      varint
 *     data       text
 *   n_listed     varint: 0 or n_samples
 *   per sample, in strictly ascending order:
 *     index      varint: its number in the data set
 *     name       text
 *     digest     8 bytes: of its tensors
 *   n_values     varint
 *   per value, names in strictly ascending order of bytes:
 *     name       varint length, that many bytes of UTF-8
 *     n, n_nan, n_pos_inf, n_neg_inf, n_zero       varints
 *     min, max   4 bytes each, IEEE 754
 *     samples    varint: how many are in the sums; unless 0: the sums of VnSampleSums, low and high in turn, each
 *                five times 8 bytes, lowest first
 *     n_pages    varint
 *     per page, ascending: its index, then 128 counters: varints
 *     channels   varint: how many have a range of their own, 0: none; 1 more than the most there can be: tensors had
 *                different numbers; then the least and the largest value of each, 4 bytes each
 *     votes      version 5 or 7: varint: how many; each: number of the levels and position + 200, varints, in strictly
 *                ascending order, then the number of samples, varint, above 0
 *   SHA-256 of all that precedes: 32 bytes
 *
 * A file is taken only if the sums agree: what the pages count and what is counted apart must make n. */

#include "vn-histogram-private.h"
#include "vn-stats-private.h"

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <math.h>

#define MAX_NAME 65536
#define MAX_OPSET 1000000

/* ---- read ---- */

typedef struct
{
  const guint8 *at, *end;
} Reader;

static gboolean
stats_file_malformed (GError     **error,
                      const char  *what)
{
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("The statistics are damaged: %s; calibrate again"), what);
  return FALSE;
}

static gboolean
stats_file_get_varint (Reader   *reader,
                       guint64   limit,
                       guint64  *value,
                       GError  **error)
{
  guint64 sum = 0;

  for (guint shift = 0; shift < 64; shift += 7)
    {
      guint8 byte;

      if (reader->at == reader->end)
        return stats_file_malformed (error, _("they are truncated"));
      byte = *reader->at++;
      if (shift == 63 && byte > 1)
        break;
      sum |= (guint64) (byte & 0x7f) << shift;
      if (byte & 0x80)
        continue;
      if (sum > limit)
        break;
      *value = sum;
      return TRUE;
    }
  return stats_file_malformed (error, _("a number is out of range"));
}

static gboolean
stats_file_get_text (Reader   *reader,
                     char    **text,
                     GError  **error)
{
  guint64 length;

  if (!stats_file_get_varint (reader, MAX_NAME, &length, error))
    return FALSE;
  if ((guint64) (reader->end - reader->at) < length)
    return stats_file_malformed (error, _("they are truncated"));
  *text = g_strndup ((const char *) reader->at, length);
  reader->at += length;
  return (strlen (*text) == length && g_utf8_validate (*text, -1, NULL)) || stats_file_malformed (error, _("a name is not text"));
}

static gboolean
stats_file_get_origin (Reader         *reader,
                       VnStatsOrigin **origin,
                       GError        **error)
{
  guint64 there, opset;

  if (!stats_file_get_varint (reader, 1, &there, error))
    return FALSE;
  if (there == 0)
    return TRUE;
  *origin = g_new0 (VnStatsOrigin, 1);
  if (!stats_file_get_text (reader, &(*origin)->network, error) ||
      !stats_file_get_text (reader, &(*origin)->source, error) ||
      !stats_file_get_text (reader, &(*origin)->prepared, error) ||
      !stats_file_get_varint (reader, MAX_OPSET, &opset, error) ||
      !stats_file_get_text (reader, &(*origin)->data, error))
    return FALSE;
  (*origin)->opset = (gint64) opset;
  return TRUE;
}

static gboolean
stats_file_get_sample (Reader  *reader,
                       GArray  *samples,
                       GError **error)
{
  guint64 index, digest;
  g_autofree char *name = NULL;
  const VnStatsSample *sample;

  if (!stats_file_get_varint (reader, G_MAXUINT - 1, &index, error) || !stats_file_get_text (reader, &name, error))
    return FALSE;
  if (reader->end - reader->at < (gssize) sizeof digest)
    return stats_file_malformed (error, _("they are truncated"));
  memcpy (&digest, reader->at, sizeof digest);
  reader->at += sizeof digest;
  vn_stats_samples_add (samples, (guint) index, name, GUINT64_FROM_LE (digest));
  sample = &g_array_index (samples, VnStatsSample, samples->len - 1);
  return samples->len == 1 || vn_stats_sample_compare (sample - 1, sample) < 0 ||
         stats_file_malformed (error, _("the samples are out of order"));
}

static gboolean
stats_file_get_samples (Reader   *reader,
                        VnStats  *stats,
                        GError  **error)
{
  guint64 n;

  if (!stats_file_get_varint (reader, stats->n_samples, &n, error))
    return FALSE;
  if (n != 0 && n != stats->n_samples)
    return stats_file_malformed (error, _("the list of samples is incomplete"));
  for (guint64 i = 0; i < n; i++)
    if (!stats_file_get_sample (reader, stats->samples, error))
      return FALSE;
  return TRUE;
}

static gboolean
stats_file_get_float (Reader  *reader,
                      float   *value,
                      GError **error)
{
  guint32 bits;

  if (reader->end - reader->at < (gssize) sizeof bits)
    return stats_file_malformed (error, _("they are truncated"));
  memcpy (&bits, reader->at, sizeof bits);
  reader->at += sizeof bits;
  *value = vn_float_from_bits (GUINT32_FROM_LE (bits));
  return TRUE;
}

static gboolean
stats_file_get_sum (Reader      *reader,
                    VnExactSum  *sum,
                    GError     **error)
{
  if (reader->end - reader->at < (gssize) sizeof sum->limbs)
    return stats_file_malformed (error, _("they are truncated"));
  memcpy (sum->limbs, reader->at, sizeof sum->limbs);
  reader->at += sizeof sum->limbs;
  for (guint i = 0; i < G_N_ELEMENTS (sum->limbs); i++)
    sum->limbs[i] = GUINT64_FROM_LE (sum->limbs[i]);
  return TRUE;
}

static gboolean
stats_file_get_sums (Reader        *reader,
                     VnSampleSums  *sums,
                     GError       **error)
{
  if (!stats_file_get_varint (reader, G_MAXUINT32, &sums->n, error))
    return FALSE;
  for (guint i = 0; i < VN_SAMPLE_TAILS && sums->n > 0; i++)
    if (!stats_file_get_sum (reader, &sums->low[i], error) || !stats_file_get_sum (reader, &sums->high[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
stats_file_get_page (Reader       *reader,
                     VnHistogram  *histogram,
                     guint64      *next,
                     gsize        *sum,
                     GError      **error)
{
  guint64 index;
  guint64 *page;

  if (!stats_file_get_varint (reader, VN_HISTOGRAM_PAGES - 1, &index, error))
    return FALSE;
  if (index < *next || index % (VN_HISTOGRAM_PAGES / 2) == VN_HISTOGRAM_PAGES / 2 - 1)
    return stats_file_malformed (error, _("the histogram pages are out of order"));
  *next = index + 1;
  page = vn_histogram_page (histogram, (guint) index);
  for (guint m = 0; m < VN_HISTOGRAM_PAGE_BINS; m++)
    {
      if (!stats_file_get_varint (reader, G_MAXUINT64, &page[m], error))
        return FALSE;
      if (!vn_checked_add (*sum, page[m], sum))
        return stats_file_malformed (error, _("the histogram counts are too large"));
    }
  return TRUE;
}

typedef struct
{
  float    lo, hi;
  gboolean any;
} Span;

static void
stats_file_widen_span (const VnBin *bin,
                       gpointer     data)
{
  Span *span = data;

  span->lo = span->any ? MIN (span->lo, bin->lo) : bin->lo;
  span->hi = span->any ? MAX (span->hi, bin->hi) : bin->hi;
  span->any = TRUE;
}

/* Minimum and maximum must lie in the outermost bins: bins are cut to them, so a wrong one turns a bin inside out or
 * leaves it short. */
static gboolean
stats_file_range_fits (VnHistogram *histogram)
{
  const float min = histogram->min;
  const float max = histogram->max;
  Span whole = { 0 };

  if (vn_histogram_n_finite (histogram) == 0)
    return min == INFINITY && max == -INFINITY;
  if (!isfinite (min) || !isfinite (max) || min > max)
    return FALSE;

  histogram->min = -INFINITY;
  histogram->max = INFINITY;
  vn_histogram_foreach (histogram, stats_file_widen_span, &whole);
  histogram->min = min;
  histogram->max = max;
  if (!whole.any || min < whole.lo || max > whole.hi)
    return FALSE;
  return (vn_float_bits (min) ^ vn_float_bits (whole.lo)) >> 16 == 0 &&
         (vn_float_bits (max) ^ vn_float_bits (whole.hi)) >> 16 == 0;
}

/* A channel lies inside the range of all, or has seen nothing. */
static gboolean
stats_file_get_channel (Reader             *reader,
                        const VnHistogram  *histogram,
                        guint               c,
                        GError            **error)
{
  float *low = &histogram->channels.low[c], *high = &histogram->channels.high[c];

  if (!stats_file_get_float (reader, low, error) || !stats_file_get_float (reader, high, error))
    return FALSE;
  return (*low == INFINITY && *high == -INFINITY) || (*low >= histogram->min && *low <= *high && *high <= histogram->max) ||
         stats_file_malformed (error, _("the range of a channel exceeds that of the tensor"));
}

static gboolean
stats_file_get_channels (Reader       *reader,
                         VnHistogram  *histogram,
                         GError      **error)
{
  guint64 n;

  if (!stats_file_get_varint (reader, VN_CHANNEL_RANGES_MOST + 1, &n, error))
    return FALSE;
  if (n > VN_CHANNEL_RANGES_MOST)
    {
      histogram->channels.n = G_MAXUINT;
      return TRUE;
    }
  if ((guint64) (reader->end - reader->at) < n * 2 * sizeof (float))
    return stats_file_malformed (error, _("they are truncated"));
  if (n > 0 && !vn_channel_ranges_resize (&histogram->channels, (guint) n))
    {
      vn_memory_set_error (n * 2 * sizeof (float), error);
      return FALSE;
    }
  for (guint c = 0; c < n; c++)
    if (!stats_file_get_channel (reader, histogram, c, error))
      return FALSE;
  return TRUE;
}

/* For each set of levels there may be none, or one of each sample. */
static gboolean
stats_file_get_votes (Reader       *reader,
                      VnHistogram  *histogram,
                      GError      **error)
{
  const guint64 span = VN_POSITION_MOST - VN_POSITION_LEAST + 1;
  guint64 n, next = 0;

  if (!stats_file_get_varint (reader, VN_POSITION_GRIDS * span, &n, error))
    return FALSE;
  for (guint64 i = 0; i < n; i++)
    {
      guint64 grid, place, count;

      if (!stats_file_get_varint (reader, VN_POSITION_GRIDS - 1, &grid, error) ||
          !stats_file_get_varint (reader, span - 1, &place, error) ||
          !stats_file_get_varint (reader, histogram->samples.n, &count, error))
        return FALSE;
      if (grid * span + place < next || count == 0)
        return stats_file_malformed (error, _("the per-sample choices are out of order"));
      next = grid * span + place + 1;
      vn_position_votes_add (&histogram->votes, (guint) grid, (int) place + VN_POSITION_LEAST, count);
    }
  for (guint g = 0; g < VN_POSITION_GRIDS; g++)
    if (vn_position_votes_count (&histogram->votes, g) > histogram->samples.n)
      return stats_file_malformed (error, _("there are more per-sample choices than samples"));
  return TRUE;
}

static gboolean
stats_file_get_histogram (Reader       *reader,
                          guint64       version,
                          VnHistogram  *histogram,
                          GError      **error)
{
  guint64 n_pages;
  guint64 next = 0;
  gsize sum = 0;

  if (!stats_file_get_varint (reader, G_MAXUINT64, &histogram->n, error) ||
      !stats_file_get_varint (reader, histogram->n, &histogram->n_nan, error) ||
      !stats_file_get_varint (reader, histogram->n, &histogram->n_pos_inf, error) ||
      !stats_file_get_varint (reader, histogram->n, &histogram->n_neg_inf, error) ||
      !stats_file_get_varint (reader, histogram->n, &histogram->n_zero, error) ||
      !stats_file_get_float (reader, &histogram->min, error) ||
      !stats_file_get_float (reader, &histogram->max, error) ||
      !stats_file_get_sums (reader, &histogram->samples, error) ||
      !stats_file_get_varint (reader, VN_HISTOGRAM_PAGES, &n_pages, error))
    return FALSE;

  for (guint64 i = 0; i < n_pages; i++)
    if (!stats_file_get_page (reader, histogram, &next, &sum, error))
      return FALSE;

  if (!vn_checked_add (sum, histogram->n_nan, &sum) || !vn_checked_add (sum, histogram->n_pos_inf, &sum) ||
      !vn_checked_add (sum, histogram->n_neg_inf, &sum) || !vn_checked_add (sum, histogram->n_zero, &sum) ||
      sum != histogram->n)
    return stats_file_malformed (error, _("the histogram counts do not add up"));
  if (!stats_file_range_fits (histogram))
    return stats_file_malformed (error, _("the range does not match the histogram"));
  if (!vn_sample_sums_fit (&histogram->samples, vn_histogram_n_finite (histogram), histogram->min, histogram->max))
    return stats_file_malformed (error, _("the sums over samples do not match the range"));
  return stats_file_get_channels (reader, histogram, error) &&
         (version == VN_STATS_FILE_VERSION_PLAIN || stats_file_get_votes (reader, histogram, error));
}

static gboolean
stats_file_get_value (Reader   *reader,
                      guint64   version,
                      VnStats  *stats,
                      GError  **error)
{
  g_autoptr(VnHistogram) histogram = vn_histogram_new ();
  g_autofree char *name = NULL;

  if (!vn_memory_expect (0, error) || !stats_file_get_text (reader, &name, error))
    return FALSE;
  if (stats->names->len > 0 && strcmp (stats->names->pdata[stats->names->len - 1], name) >= 0)
    return stats_file_malformed (error, _("the names are out of order"));
  if (!stats_file_get_histogram (reader, version, histogram, error))
    {
      g_prefix_error (error, "“%s”: ", name);
      return FALSE;
    }
  vn_stats_take (stats, name, g_steal_pointer (&histogram));
  return TRUE;
}

static gboolean
stats_file_check_frame (Reader   *reader,
                        GBytes   *bytes,
                        GError  **error)
{
  g_autoptr(GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 digest[VN_STATS_FILE_DIGEST_SIZE];
  gsize digest_size = sizeof digest;
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);

  if (size < VN_STATS_FILE_MAGIC_SIZE || memcmp (data, VN_STATS_FILE_MAGIC, VN_STATS_FILE_MAGIC_SIZE) != 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                   _("This is not a file of calibration statistics; create one with “calibrate -o FILE”"));
      return FALSE;
    }
  if (size < VN_STATS_FILE_MAGIC_SIZE + VN_STATS_FILE_DIGEST_SIZE)
    return stats_file_malformed (error, _("they are truncated"));
  g_checksum_update (checksum, data, (gssize) (size - VN_STATS_FILE_DIGEST_SIZE));
  g_checksum_get_digest (checksum, digest, &digest_size);
  if (memcmp (digest, data + size - VN_STATS_FILE_DIGEST_SIZE, VN_STATS_FILE_DIGEST_SIZE) != 0)
    return stats_file_malformed (error, _("the checksum is wrong"));
  *reader = (Reader) { .at = data + VN_STATS_FILE_MAGIC_SIZE, .end = data + size - VN_STATS_FILE_DIGEST_SIZE };
  return TRUE;
}

/**
 * vn_stats_from_bytes:
 * @bytes: from vn_stats_to_bytes(), or from anywhere
 *
 * Returns: (transfer full) (nullable): the statistics; errors as of vn_stats_load()
 */
VnStats *
vn_stats_from_bytes (GBytes  *bytes,
                     GError **error)
{
  g_autoptr(VnStats) self = NULL;
  guint64 version, n_samples, n_left, n_values, n_all = 0;
  gboolean part;
  guint mark = vn_memory_mark ();
  Reader reader;

  g_return_val_if_fail (bytes != NULL, NULL);

  if (!stats_file_check_frame (&reader, bytes, error) || !stats_file_get_varint (&reader, G_MAXUINT64, &version, error))
    return NULL;
  part = version == VN_STATS_FILE_VERSION + VN_STATS_FILE_PART || version == VN_STATS_FILE_VERSION_PLAIN + VN_STATS_FILE_PART;
  if (part)
    version -= VN_STATS_FILE_PART;
  if (version != VN_STATS_FILE_VERSION && version != VN_STATS_FILE_VERSION_PLAIN)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                   _("Statistics of version %llu; this program reads versions %d to %d"),
                   (unsigned long long) version, VN_STATS_FILE_VERSION_PLAIN, VN_STATS_FILE_VERSION + VN_STATS_FILE_PART);
      return NULL;
    }
  if (!stats_file_get_varint (&reader, G_MAXUINT, &n_samples, error) ||
      !stats_file_get_varint (&reader, G_MAXUINT, &n_left, error) ||
      (part && !stats_file_get_varint (&reader, G_MAXUINT, &n_all, error)))
    return NULL;

  self = vn_stats_new ((guint) n_samples);
  self->n_left = (guint) n_left;
  self->n_all = (guint) n_all;
  if (!stats_file_get_origin (&reader, &self->origin, error) || !stats_file_get_samples (&reader, self, error) ||
      !stats_file_get_varint (&reader, G_MAXUINT, &n_values, error))
    return NULL;
  for (guint64 i = 0; i < n_values; i++)
    if (!stats_file_get_value (&reader, version, self, error) || !vn_memory_check (mark, error))
      return NULL;
  if (reader.at != reader.end)
    {
      stats_file_malformed (error, _("there is data after the last value"));
      return NULL;
    }
  return g_steal_pointer (&self);
}

/**
 * vn_stats_load:
 * @path: a file written by vn_stats_save()
 *
 * Returns: (transfer full) (nullable): the statistics; %VN_ERROR_MALFORMED for a file that is none or is damaged,
 *   %VN_ERROR_UNSUPPORTED for one of a later version
 */
VnStats *
vn_stats_load (const char  *path,
               GError     **error)
{
  g_autoptr(GBytes) bytes = NULL;
  VnStats *self;

  g_return_val_if_fail (path != NULL, NULL);

  bytes = vn_file_map (path, error);
  if (bytes == NULL)
    return NULL;
  self = vn_stats_from_bytes (bytes, error);
  if (self == NULL)
    g_prefix_error (error, "“%s”: ", path);
  return self;
}
