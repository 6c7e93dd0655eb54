/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The picture of how the values of a tensor are spread: the chart of the inspector, with the range that was taken. */
#include "vn-picture-private.h"

#include "vn-chart.h"

#define HEIGHT 110.0

typedef struct
{
  VnPicture  picture;
  VnSpread  *spread;
} Histogram;

static double
histogram_get_height (VnPicture *picture,
                      double     width)
{
  return HEIGHT;
}

static void
histogram_draw (VnPicture *picture,
                VnPen     *pen,
                double     width)
{
  const VnSpread *spread = ((Histogram *) picture)->spread;
  const VnChartRange range = { spread->range_min, spread->range_max, '\0', NULL, TRUE };
  VnChartBars bars = { spread->low, spread->high, spread->counts, VN_SPREAD_BINS };

  vn_chart_draw_bars (pen, width, HEIGHT, &bars, &range, spread->range_min < spread->range_max);
}

static void
histogram_free (VnPicture *picture)
{
  vn_spread_free (((Histogram *) picture)->spread);
}

static const VnPictureKind kind = { TRUE, histogram_get_height, histogram_draw, histogram_free };

/**
 * vn_picture_new_histogram:
 * @spread: copied
 *
 * Returns: (transfer full): its values, and the range that was taken of them
 */
VnPicture *
vn_picture_new_histogram (const VnSpread *spread)
{
  Histogram *self;

  g_return_val_if_fail (spread != NULL, NULL);

  self = _vn_picture_alloc (&kind, sizeof *self);
  self->spread = vn_spread_copy (spread);
  return &self->picture;
}
