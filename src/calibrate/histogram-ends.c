/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Finding the ends of a tensor and of its channels without counting what lies between: for samples that are not in the
 * histogram. Of all such samples the least and the greatest element are counted, so that the histogram reaches as far as all
 * samples do. A sample that holds what is far from 0, or not finite, must be counted whole: whether a tensor holds masks is
 * told from the gaps between the bins. */

#include "histogram-kernels.h"

#include "vn-multiversion.h"

#define FAR ((guint32) VN_HISTOGRAM_FAR_EXPONENT << 23)

typedef struct
{
  const VnScanKernels *kernels;
  VnChannelRanges     *ranges;    /* nullable */
  VnEnds               found;
} Scan;

static void
histogram_ends_widen (Scan  *self,
                      gsize  channel,
                      float  low,
                      float  high)
{
  self->found.low = MIN (self->found.low, low);
  self->found.high = MAX (self->found.high, high);
  if (self->ranges == NULL || low > high)
    return;
  self->ranges->low[channel] = MIN (self->ranges->low[channel], low + 0.0f);
  self->ranges->high[channel] = MAX (self->ranges->high[channel], high + 0.0f);
}

static gboolean
histogram_ends_scan_runs (Scan        *self,
                          const float *x,
                          gsize        n_runs,
                          gsize        n_channels,
                          gsize        n_inner)
{
  for (gsize i = 0; i < n_runs; i++)
    {
      VnScanSummary summary;

      self->kernels->summarize (x + i * n_inner, n_inner, &summary);
      if (summary.most >= FAR)
        return FALSE;
      histogram_ends_widen (self, i % n_channels, summary.min, summary.max);
    }
  return TRUE;
}

/* Lanes that stand for no channel are passed over. */
static gboolean
histogram_ends_scan_blocks (Scan                  *self,
                            const float           *x,
                            const VnChannelLayout *layout)
{
  const gsize lanes = layout->lanes, n_blocks = (layout->n_channels + lanes - 1) / lanes;

  for (gsize i = 0; i < layout->n_first * n_blocks; i++, x += layout->n_inner * lanes)
    {
      const gsize channel = i % n_blocks * lanes, n = MIN (lanes, layout->n_channels - channel);
      float low[VN_LANES_MOST], high[VN_LANES_MOST];
      guint32 most[VN_LANES_MOST] = { 0 };

      for (gsize k = 0; k < lanes; k++)
        {
          low[k] = INFINITY;
          high[k] = -INFINITY;
        }
      self->kernels->widen (x, layout->n_inner * lanes, (guint) lanes, low, high, most);
      for (gsize k = 0; k < n; k++)
        if (most[k] >= FAR)
          return FALSE;
        else
          histogram_ends_widen (self, channel + k, low[k], high[k]);
    }
  return TRUE;
}

/* Whether a sample whose elements lie between need not be counted whole. */
static gboolean
histogram_ends_are_near (const VnEnds *self)
{
  return (vn_float_bits (self->low) & VN_FLOAT_ABS) < FAR && (vn_float_bits (self->high) & VN_FLOAT_ABS) < FAR;
}

/*< private >
 * vn_ends_widen:
 * @by: of other samples; one of both zeros may stand for the other
 */
void
vn_ends_widen (VnEnds       *self,
               const VnEnds *by)
{
  g_return_if_fail (self != NULL && by != NULL);

  self->low = MIN (self->low, by->low + 0.0f);
  self->high = MAX (self->high, by->high + 0.0f);
}

static void
histogram_ends_count (VnHistogram *self,
                      float        end)
{
  const guint32 bits = vn_float_bits (end);

  self->n++;
  self->min = MIN (self->min, end);
  self->max = MAX (self->max, end);
  if (end == 0)
    self->n_zero++;
  else
    vn_histogram_page (self, bits >> 23)[(bits >> 16) % VN_HISTOGRAM_PAGE_BINS]++;
}

/*< private >
 * vn_histogram_count_ends:
 * @ends: of all samples that are not counted
 */
void
vn_histogram_count_ends (VnHistogram  *self,
                         const VnEnds *ends)
{
  g_return_if_fail (self != NULL && ends != NULL);

  if (ends->low > ends->high)
    return;
  histogram_ends_count (self, ends->low);
  histogram_ends_count (self, ends->high);
}

/*< private >
 * vn_ends_scan:
 * @x, @layout, @ranges: as of vn_histogram_scan_channels()
 *
 * Widens the ends by those of a sample.
 *
 * Returns: %FALSE if it must be counted: then @self is as it was, and what is in @ranges may stay there
 */
gboolean
vn_ends_scan (VnEnds                *self,
              VnHistogramScratch    *scratch,
              const float           *x,
              const VnChannelLayout *layout,
              VnChannelRanges       *ranges)
{
  const gboolean known = ranges != NULL && vn_channel_ranges_prepare (ranges, layout->n_channels);
  const gsize n_runs = layout->n_first * layout->n_channels;
  const gboolean runs = known && layout->n_inner >= VN_HISTOGRAM_SHORT_RUN;
  VnChannelRanges *on_the_way = known && (runs || layout->lanes > 0) ? ranges : NULL;
  Scan scan = { vn_scratch_get_kernels (scratch), on_the_way, VN_ENDS_NONE };
  const gboolean near = layout->lanes > 0 ? histogram_ends_scan_blocks (&scan, x, layout)
                        : runs ? histogram_ends_scan_runs (&scan, x, n_runs, layout->n_channels, layout->n_inner)
                               : histogram_ends_scan_runs (&scan, x, 1, 1, n_runs * layout->n_inner);

  if (!near)
    return FALSE;
  if (known && on_the_way == NULL)
    vn_channel_ranges_scan (ranges, x, layout->n_first, layout->n_channels, layout->n_inner);
  vn_ends_widen (self, &scan.found);
  return TRUE;
}

#define LANES 16

/* Of all channels; each range is widened by its own. */
static VN_MULTIVERSION VnEnds
histogram_ends_join (const float *low,
                     const float *high,
                     gsize        n,
                     float       *range_low,
                     float       *range_high)
{
  float least[LANES], greatest[LANES];
  VnEnds all = VN_ENDS_NONE;
  gsize c = 0;

  for (guint k = 0; k < LANES; k++)
    {
      least[k] = INFINITY;
      greatest[k] = -INFINITY;
    }
  for (; c + LANES <= n; c += LANES)
    for (guint k = 0; k < LANES; k++)
      {
        least[k] = low[c + k] < least[k] ? low[c + k] : least[k];
        greatest[k] = high[c + k] > greatest[k] ? high[c + k] : greatest[k];
      }
  for (guint k = 0; c + k < n; k++)
    {
      least[k] = MIN (least[k], low[c + k]);
      greatest[k] = MAX (greatest[k], high[c + k]);
    }
  for (guint k = 0; k < LANES; k++)
    {
      all.low = MIN (all.low, least[k]);
      all.high = MAX (all.high, greatest[k]);
    }
  for (c = 0; range_low != NULL && c < n; c++)
    {
      range_low[c] = low[c] + 0.0f < range_low[c] ? low[c] + 0.0f : range_low[c];
      range_high[c] = high[c] + 0.0f > range_high[c] ? high[c] + 0.0f : range_high[c];
    }
  return all;
}

/*< private >
 * vn_ends_take_channels:
 * @low, @high: (array length=n_channels): the ends of each channel of a sample, all of whose elements are finite
 * @ranges: (nullable): of the channels, to be widened
 *
 * As vn_ends_scan().
 */
gboolean
vn_ends_take_channels (VnEnds          *self,
                       const float     *low,
                       const float     *high,
                       gsize            n_channels,
                       VnChannelRanges *ranges)
{
  const gboolean known = ranges != NULL && vn_channel_ranges_prepare (ranges, n_channels);
  const VnEnds found = histogram_ends_join (low, high, n_channels, known ? ranges->low : NULL, known ? ranges->high : NULL);

  if (!histogram_ends_are_near (&found))
    return FALSE;
  vn_ends_widen (self, &found);
  return TRUE;
}
