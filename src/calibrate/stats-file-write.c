/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics on disk: what is written. The format stands in vn-stats-file.c. */
#include "vn-histogram-private.h"
#include "vn-stats-private.h"

#include "vn-file.h"
#include "vn-memory.h"

static void
stats_file_put_varint (VnBuffer *out,
                       guint64     value)
{
  guint8 bytes[10];
  guint n = 0;

  for (; value >= 0x80; value >>= 7)
    bytes[n++] = (guint8) (value | 0x80);
  bytes[n++] = (guint8) value;
  vn_buffer_add (out, bytes, n);
}

static void
stats_file_put_text (VnBuffer *out,
                     const char *text)
{
  gsize length = text != NULL ? strlen (text) : 0;

  stats_file_put_varint (out, length);
  vn_buffer_add (out, text, (guint) length);
}

static void
stats_file_put_origin (VnBuffer          *out,
                       const VnStatsOrigin *origin)
{
  stats_file_put_varint (out, origin != NULL);
  if (origin == NULL)
    return;
  stats_file_put_text (out, origin->network);
  stats_file_put_text (out, origin->source);
  stats_file_put_text (out, origin->prepared);
  stats_file_put_varint (out, (guint64) origin->opset);
  stats_file_put_text (out, origin->data);
}

static void
stats_file_put_samples (VnBuffer   *out,
                        const GArray *samples)
{
  stats_file_put_varint (out, samples->len);
  for (guint i = 0; i < samples->len; i++)
    {
      const VnStatsSample *sample = &g_array_index (samples, VnStatsSample, i);
      guint64 digest = GUINT64_TO_LE (sample->digest);

      stats_file_put_varint (out, sample->index);
      stats_file_put_text (out, sample->name);
      vn_buffer_add (out, &digest, sizeof digest);
    }
}

static void
stats_file_put_float (VnBuffer *out,
                      float       value)
{
  guint32 bits = GUINT32_TO_LE (vn_float_bits (value));

  vn_buffer_add (out, &bits, sizeof bits);
}

static void
stats_file_put_sum (VnBuffer       *out,
                    const VnExactSum *sum)
{
  for (guint i = 0; i < G_N_ELEMENTS (sum->limbs); i++)
    {
      guint64 limb = GUINT64_TO_LE (sum->limbs[i]);

      vn_buffer_add (out, &limb, sizeof limb);
    }
}

static void
stats_file_put_sums (VnBuffer         *out,
                     const VnSampleSums *sums)
{
  stats_file_put_varint (out, sums->n);
  for (guint i = 0; i < VN_SAMPLE_TAILS && sums->n > 0; i++)
    {
      stats_file_put_sum (out, &sums->low[i]);
      stats_file_put_sum (out, &sums->high[i]);
    }
}

static void
stats_file_put_channels (VnBuffer              *out,
                         const VnChannelRanges *channels)
{
  stats_file_put_varint (out, MIN (channels->n, VN_CHANNEL_RANGES_MOST + 1));
  for (guint c = 0; vn_channel_ranges_are_known (channels) && c < channels->n; c++)
    {
      stats_file_put_float (out, channels->low[c]);
      stats_file_put_float (out, channels->high[c]);
    }
}

static void
stats_file_put_votes (VnBuffer              *out,
                      const VnPositionVotes *votes)
{
  stats_file_put_varint (out, votes->n);
  for (guint i = 0; i < votes->n; i++)
    {
      stats_file_put_varint (out, votes->votes[i].grid);
      stats_file_put_varint (out, (guint64) (votes->votes[i].position - VN_POSITION_LEAST));
      stats_file_put_varint (out, votes->votes[i].count);
    }
}

static void
stats_file_put_histogram (VnBuffer        *out,
                          const VnHistogram *histogram)
{
  guint n_pages = 0;

  stats_file_put_varint (out, histogram->n);
  stats_file_put_varint (out, histogram->n_nan);
  stats_file_put_varint (out, histogram->n_pos_inf);
  stats_file_put_varint (out, histogram->n_neg_inf);
  stats_file_put_varint (out, histogram->n_zero);
  stats_file_put_float (out, histogram->min);
  stats_file_put_float (out, histogram->max);
  stats_file_put_sums (out, &histogram->samples);
  VN_HISTOGRAM_FOREACH_PAGE (histogram, p)
    n_pages++;
  stats_file_put_varint (out, n_pages);
  VN_HISTOGRAM_FOREACH_PAGE (histogram, p)
    {
      const guint64 *counts = vn_histogram_get_page (histogram, p);

      stats_file_put_varint (out, p);
      for (guint m = 0; m < VN_HISTOGRAM_PAGE_BINS; m++)
        stats_file_put_varint (out, counts[m]);
    }
  stats_file_put_channels (out, &histogram->channels);
}

static gboolean
stats_file_has_votes (const VnStats *self)
{
  for (guint i = 0; i < self->histograms->len; i++)
    if (((const VnHistogram *) self->histograms->pdata[i])->votes.n > 0)
      return TRUE;
  return FALSE;
}

static void
stats_file_put_digest (VnBuffer *out)
{
  g_autoptr(GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 digest[VN_STATS_FILE_DIGEST_SIZE];
  gsize size = sizeof digest;

  g_checksum_update (checksum, (const guchar *) out->data, (gssize) out->size);
  g_checksum_get_digest (checksum, digest, &size);
  vn_buffer_add (out, digest, sizeof digest);
}

/**
 * vn_stats_to_bytes:
 *
 * Returns: (transfer full) (nullable): what vn_stats_from_bytes() reads back to the same bits; the same for the same
 *   statistics. %NULL with %VN_ERROR_MEMORY
 */
GBytes *
vn_stats_to_bytes (VnStats  *self,
                   GError  **error)
{
  g_auto(VnBuffer) buffer = { 0 };
  VnBuffer *out = &buffer;
  gboolean votes, part;

  g_return_val_if_fail (self != NULL, NULL);

  /* Statistics without votes, of all samples, stay readable for earlier versions of the program; parts that were joined are the
   * same as what never was divided. */
  votes = stats_file_has_votes (self);
  part = vn_stats_get_n_missing (self) > 0;
  vn_buffer_add (out, VN_STATS_FILE_MAGIC, VN_STATS_FILE_MAGIC_SIZE);
  stats_file_put_varint (out, (votes ? VN_STATS_FILE_VERSION : VN_STATS_FILE_VERSION_PLAIN) + (part ? VN_STATS_FILE_PART : 0));
  stats_file_put_varint (out, self->n_samples);
  stats_file_put_varint (out, self->n_left);
  if (part)
    stats_file_put_varint (out, self->n_all);
  stats_file_put_origin (out, self->origin);
  stats_file_put_samples (out, self->samples);
  stats_file_put_varint (out, self->names->len);
  for (guint i = 0; i < self->names->len; i++)
    {
      stats_file_put_text (out, self->names->pdata[i]);
      stats_file_put_histogram (out, self->histograms->pdata[i]);
      if (votes)
        stats_file_put_votes (out, &((const VnHistogram *) self->histograms->pdata[i])->votes);
    }
  stats_file_put_digest (out);
  return vn_buffer_steal_bytes (out, error);
}

/**
 * vn_stats_save:
 * @path: where to write
 *
 * Writes a file that vn_stats_load() reads back to the same bits. The same statistics give the same file.
 *
 * Returns: %FALSE if it could not be written; an older file of that name is then untouched
 */
gboolean
vn_stats_save (VnStats     *self,
               const char  *path,
               GError     **error)
{
  g_autoptr(GBytes) bytes = NULL;
  gsize size;
  gconstpointer data;

  g_return_val_if_fail (self != NULL, FALSE);

  bytes = vn_stats_to_bytes (self, error);
  if (bytes == NULL)
    return FALSE;
  data = g_bytes_get_data (bytes, &size);
  return vn_file_write_all (path, data, size, error);
}
