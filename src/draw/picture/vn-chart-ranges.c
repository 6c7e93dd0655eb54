/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranges of channels: a bar for each about zero; those that stand out in the colours of error, the furthest with its number. */
#include "vn-chart-ranges.h"

#include "vn-i18n.h"

#include <math.h>

#define TOP 16.0       /* room for the number */
#define TEXT 11.0
#define LEAST_ROOM 40.0

typedef struct
{
  double width, room, zero, scale;
  guint  n_columns;
} Chart;

/* From the lowest to the highest value of the channels in a column, and the furthest of them. */
static gboolean
chart_ranges_join (const Chart           *chart,
                   const VnChannelRanges *ranges,
                   guint                  column,
                   double                *low,
                   double                *high,
                   double                *reach)
{
  guint first = (guint) ((guint64) column * ranges->n / chart->n_columns),
  end = (guint) (((guint64) column + 1) * ranges->n / chart->n_columns);

  *low = INFINITY;
  *high = -INFINITY;
  *reach = 0;
  for (guint c = first; c < MAX (end, first + 1) && c < ranges->n; c++)
    {
      if (!(ranges->low[c] <= ranges->high[c]))
        continue;
      *low = fmin (*low, (double) ranges->low[c]);
      *high = fmax (*high, (double) ranges->high[c]);
      *reach = fmax (*reach, vn_channel_ranges_get_reach (ranges, c));
    }
  return *low <= *high;
}

static void
chart_ranges_draw_column (VnPen                  *pen,
                          const Chart            *chart,
                          const VnChannelRanges  *ranges,
                          const VnChannelOutlier *outlier,
                          guint                   column)
{
  double step = chart->width / chart->n_columns, gap = step > 4 ? 1 : 0, low, high, reach, y;
  gboolean stands_out;
  VnStroke stroke = { 0 };

  if (!chart_ranges_join (chart, ranges, column, &low, &high, &reach))
    return;
  stands_out = outlier != NULL && reach > outlier->limit;
  stroke.fill = stands_out ? VN_SHADE_AT (ERROR, CLAMP (0.6 + 0.08 * reach / outlier->limit, 0.6, 0.9)) : VN_INK (0.36);
  y = chart->zero - MAX (high, 0) * chart->scale;
  vn_pen_rect (pen, column * step, y, fmax (step - gap, stands_out ? 2 : 0.5),
               fmax ((MAX (high, 0) - MIN (low, 0)) * chart->scale, 1), 0, &stroke);
}

/**
 * vn_chart_draw_channel_ranges:
 * @ranges: that are known
 * @outlier: (nullable): what stands out
 *
 * Draws into (0, 0, @width, @height) of @pen. Channels that share a column of the chart are drawn as one: what stands out is
 * kept.
 */
void
vn_chart_draw_channel_ranges (VnPen                  *pen,
                              double                  width,
                              double                  height,
                              const VnChannelRanges  *ranges,
                              const VnChannelOutlier *outlier)
{
  const VnStroke axis = { .line = VN_INK (0.4), .width = 1 };
  double low = 0, high = 0, x;
  g_autofree char *name = NULL;
  Chart chart;

  g_return_if_fail (pen != NULL && ranges != NULL && vn_channel_ranges_are_known (ranges));

  if (width < LEAST_ROOM || height < TOP + LEAST_ROOM / 2)
    return;
  for (guint c = 0; c < ranges->n; c++)
    if (ranges->low[c] <= ranges->high[c])
      {
        low = fmin (low, (double) ranges->low[c]);
        high = fmax (high, (double) ranges->high[c]);
      }
  if (!(high > low))
    return;
  chart = (Chart) { .width = width, .room = height - TOP - 2, .n_columns = MIN (ranges->n, (guint) (width / 2)) };
  chart.scale = chart.room / (high - low);
  chart.zero = TOP + high * chart.scale;
  for (guint i = 0; i < chart.n_columns; i++)
    chart_ranges_draw_column (pen, &chart, ranges, outlier, i);
  vn_pen_move (pen, 0, floor (chart.zero) + 0.5);
  vn_pen_line (pen, width, floor (chart.zero) + 0.5);
  vn_pen_paint (pen, &axis);
  if (outlier == NULL)
    return;
  name = g_strdup_printf (_("channel %u"), outlier->channel);
  x = (outlier->channel + 0.5) / ranges->n * width;
  x = CLAMP (x, vn_pen_measure (name, TEXT, TRUE) / 2, width - vn_pen_measure (name, TEXT, TRUE) / 2);
  vn_pen_text (pen, x, TOP - 5, (VnFont) { TEXT, TRUE, VN_ANCHOR_MIDDLE }, VN_INK (0.85), name);
}
