/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Counting a tensor and finding the ranges of its channels in one walk: what the counting learns of each piece for the range
 * of all is the range of a channel, if pieces are cut where channels end. */

#include "vn-histogram-private.h"

#include <math.h>

#define PIECE 2048

static void
histogram_channels_widen (VnHistogram     *self,
                          VnChannelRanges *ranges,
                          gsize            channel,
                          float            low,
                          float            high)
{
  self->min = MIN (self->min, low);
  self->max = MAX (self->max, high);
  if (ranges == NULL)
    return;
  ranges->low[channel] = MIN (ranges->low[channel], low);
  ranges->high[channel] = MAX (ranges->high[channel], high);
}

static void
histogram_channels_scan_runs (VnHistogram           *self,
                              VnHistogramScratch    *scratch,
                              const float           *x,
                              const VnChannelLayout *layout,
                              gboolean               small,
                              VnChannelRanges       *ranges)
{
  for (gsize i = 0; i < layout->n_first * layout->n_channels; i++)
    {
      float low = INFINITY, high = -INFINITY;

      vn_histogram_scan_run (self, scratch, x + i * layout->n_inner, layout->n_inner, small, &low, &high);
      histogram_channels_widen (self, ranges, i % layout->n_channels, low, high);
    }
}

/* A block whose last lanes stand for no channel: what they hold is no element. */
static void
histogram_channels_scan_part (VnHistogram           *self,
                              VnHistogramScratch    *scratch,
                              const float           *x,
                              const VnChannelLayout *layout,
                              gsize                  channel,
                              gboolean               small,
                              VnChannelRanges       *ranges)
{
  const gsize n = layout->n_channels - channel, n_rows = PIECE / n;
  VnChannelRanges part = { .n = (guint) n };
  float elements[PIECE];

  if (ranges != NULL)
    {
      part.low = ranges->low + channel;
      part.high = ranges->high + channel;
    }
  for (gsize first = 0; first < layout->n_inner; first += n_rows)
    {
      const gsize n_here = MIN (n_rows, layout->n_inner - first);

      for (gsize row = 0; row < n_here; row++)
        memcpy (elements + row * n, x + (first + row) * layout->lanes, n * sizeof *elements);
      vn_histogram_scan_run (self, scratch, elements, n_here * n, small, &self->min, &self->max);
      if (ranges != NULL)
        vn_channel_ranges_scan (&part, elements, n_here, n, 1);
    }
}

static void
histogram_channels_scan_blocks (VnHistogram           *self,
                                VnHistogramScratch    *scratch,
                                const float           *x,
                                const VnChannelLayout *layout,
                                gboolean               small,
                                VnChannelRanges       *ranges)
{
  const gsize lanes = layout->lanes, n_blocks = (layout->n_channels + lanes - 1) / lanes;

  for (gsize i = 0; i < layout->n_first * n_blocks; i++, x += layout->n_inner * lanes)
    {
      const gsize channel = i % n_blocks * lanes;
      float low[VN_LANES_MOST], high[VN_LANES_MOST];

      if (channel + lanes > layout->n_channels)
        {
          histogram_channels_scan_part (self, scratch, x, layout, channel, small, ranges);
          continue;
        }
      for (gsize k = 0; k < lanes; k++)
        {
          low[k] = INFINITY;
          high[k] = -INFINITY;
        }
      vn_histogram_scan_lanes (self, scratch, x, layout->n_inner * lanes, (guint) lanes, small, low, high);
      for (gsize k = 0; k < lanes; k++)
        histogram_channels_widen (self, ranges, channel + k, low[k], high[k]);
    }
}

/*< private >
 * vn_histogram_scan_channels:
 * @x: laid out as @layout says; the lanes of a block that stand for no channel may hold anything
 * @ranges: (nullable): of the channels, to be widened
 *
 * As vn_histogram_scan() of the elements of a tensor in any order, and vn_channel_ranges_scan().
 */
void
vn_histogram_scan_channels (VnHistogram           *self,
                            VnHistogramScratch    *scratch,
                            const float           *x,
                            const VnChannelLayout *layout,
                            VnChannelRanges       *ranges)
{
  const gsize n = layout->n_first * layout->n_channels * layout->n_inner;
  const gboolean known = ranges != NULL && vn_channel_ranges_prepare (ranges, layout->n_channels);
  gboolean small;

  if (layout->lanes == 0 && (!known || layout->n_inner < VN_HISTOGRAM_SHORT_RUN))
    {
      vn_histogram_scan (self, scratch, x, n);
      if (known)
        vn_channel_ranges_scan (ranges, x, layout->n_first, layout->n_channels, layout->n_inner);
      return;
    }
  small = vn_histogram_begin_scan (self, scratch, n);
  if (layout->lanes == 0)
    histogram_channels_scan_runs (self, scratch, x, layout, small, ranges);
  else
    histogram_channels_scan_blocks (self, scratch, x, layout, small, known ? ranges : NULL);
  vn_histogram_end_scan (self, scratch);
}

/*< private >
 * vn_channel_ranges_merge_clamped:
 * @from: of the same channels, all of whose elements x were finite or NaN
 * @min, @max: what each became is min (max (x, @min), @max)
 *
 * Afterwards @self is what it would be had it scanned those, too.
 */
void
vn_channel_ranges_merge_clamped (VnChannelRanges       *self,
                                 const VnChannelRanges *from,
                                 float                  min,
                                 float                  max)
{
  VnChannelRanges clamped = { 0 };

  if (!vn_channel_ranges_are_known (from))
    {
      vn_channel_ranges_merge (self, from);
      return;
    }
  if (!vn_channel_ranges_resize (&clamped, from->n))
    return;
  for (guint c = 0; c < from->n; c++)
    if (from->low[c] <= from->high[c])
      {
        float low = MIN (MAX (from->low[c], min), max) + 0.0f, high = MIN (MAX (from->high[c], min), max) + 0.0f;

        if (isfinite (low))
          clamped.low[c] = low;
        if (isfinite (high))
          clamped.high[c] = high;
      }
  vn_channel_ranges_merge (self, &clamped);
  vn_channel_ranges_clear (&clamped);
}
