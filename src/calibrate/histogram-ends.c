/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Finding the ends of a tensor and of its channels without counting what lies between: for samples that are not in the
 * histogram. Of such a sample its least and its greatest element are counted, so that the histogram reaches as far as all
 * samples do. A sample that holds what is far from 0, or not finite, must be counted whole: whether a tensor holds masks is
 * told from the gaps between the bins. */

#include "histogram-kernels.h"

#include <math.h>

#define FAR ((guint32) VN_HISTOGRAM_FAR_EXPONENT << 23)

typedef struct
{
  const VnScanKernels *kernels;
  VnChannelRanges     *ranges;    /* nullable */
  float                low, high;
} Ends;

static void
histogram_ends_widen (Ends  *self,
                      gsize  channel,
                      float  low,
                      float  high)
{
  self->low = MIN (self->low, low);
  self->high = MAX (self->high, high);
  if (self->ranges == NULL || low > high)
    return;
  self->ranges->low[channel] = MIN (self->ranges->low[channel], low + 0.0f);
  self->ranges->high[channel] = MAX (self->ranges->high[channel], high + 0.0f);
}

static gboolean
histogram_ends_scan_runs (Ends        *self,
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
histogram_ends_scan_blocks (Ends                  *self,
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

static void
histogram_ends_count (VnHistogram *self,
                      float        end)
{
  const guint32 bits = vn_float_bits (end);

  self->n++;
  if (end == 0)
    self->n_zero++;
  else
    vn_histogram_page (self, bits >> 23)[(bits >> 16) % VN_HISTOGRAM_PAGE_BINS]++;
}

/*< private >
 * vn_histogram_add_ends:
 * @low, @high: of the finite elements of a sample; none: +inf, -inf
 *
 * Adds what vn_histogram_scan_ends() has found, or who else has looked at all elements.
 */
void
vn_histogram_add_ends (VnHistogram *self,
                       float        low,
                       float        high)
{
  if (low > high)
    return;
  self->min = MIN (self->min, low + 0.0f);
  self->max = MAX (self->max, high + 0.0f);
  histogram_ends_count (self, low + 0.0f);
  histogram_ends_count (self, high + 0.0f);
}

/*< private >
 * vn_histogram_are_ends_near:
 *
 * Returns: whether a sample whose finite elements lie from @low to @high, with no others, need not be counted whole
 */
gboolean
vn_histogram_are_ends_near (float low,
                            float high)
{
  return (vn_float_bits (low) & VN_FLOAT_ABS) < FAR && (vn_float_bits (high) & VN_FLOAT_ABS) < FAR;
}

/*< private >
 * vn_histogram_scan_ends:
 * @x, @layout, @ranges: as of vn_histogram_scan_channels()
 *
 * Minimum and maximum, of the tensor and of its channels, become what counting would make them; of the elements only these two
 * are counted.
 *
 * Returns: %FALSE if the tensor must be counted: then nothing is in the histogram yet, and what is in @ranges may stay there
 */
gboolean
vn_histogram_scan_ends (VnHistogram           *self,
                        VnHistogramScratch    *scratch,
                        const float           *x,
                        const VnChannelLayout *layout,
                        VnChannelRanges       *ranges)
{
  const gboolean known = ranges != NULL && vn_channel_ranges_prepare (ranges, layout->n_channels);
  const gsize n_runs = layout->n_first * layout->n_channels;
  const gboolean runs = known && layout->n_inner >= VN_HISTOGRAM_SHORT_RUN;
  VnChannelRanges *on_the_way = known && (runs || layout->lanes > 0) ? ranges : NULL;
  Ends ends = { vn_scratch_get_kernels (scratch), on_the_way, INFINITY, -INFINITY };
  const gboolean near = layout->lanes > 0 ? histogram_ends_scan_blocks (&ends, x, layout)
                        : runs ? histogram_ends_scan_runs (&ends, x, n_runs, layout->n_channels, layout->n_inner)
                               : histogram_ends_scan_runs (&ends, x, 1, 1, n_runs * layout->n_inner);

  if (!near)
    return FALSE;
  if (known && ends.ranges == NULL)
    vn_channel_ranges_scan (ranges, x, layout->n_first, layout->n_channels, layout->n_inner);
  vn_histogram_add_ends (self, ends.low, ends.high);
  return TRUE;
}
