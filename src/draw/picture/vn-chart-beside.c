/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of a tensor in two networks, as bars and as stems; and its error by channel, as bars that grow with it. */
#include "vn-chart-beside.h"

#include <math.h>

#define TOP 6.0
#define BOTTOM 20.0    /* room for the labels */
#define TEXT 11.0
#define MARK 9.0       /* room for the mark of the channel */
#define LEAST_ROOM 40.0

/* ---- values ---- */

static double
chart_beside_place (const VnChartBars *bars,
                    double             value,
                    double             width)
{
  return 4 + (value - bars->low) / (bars->high - bars->low) * (width - 8);
}

static void
chart_beside_draw_axis (VnPen             *pen,
                        double             width,
                        double             height,
                        const VnChartBars *bars)
{
  const VnStroke line = { .line = VN_INK (0.4), .width = 1 };
  double span = bars->high - bars->low, step = pow (10, floor (log10 (span / 3))), y = floor (height - BOTTOM) + 0.5,
  last = -INFINITY;

  if (span / step > 6)
    step *= span / step > 12 ? 5 : 2;
  vn_pen_move (pen, 0, y);
  vn_pen_line (pen, width, y);
  vn_pen_paint (pen, &line);
  for (double value = ceil (bars->low / step) * step; value <= bars->high; value += step)
    {
      const double shown = fabs (value) < step / 2 ? 0.0 : value, x = chart_beside_place (bars, value, width);
      char number[32];
      double half;

      g_snprintf (number, sizeof number, "%s%.4g", shown < 0 ? "\u2212" : "", fabs (shown));
      half = vn_pen_measure (number, TEXT, FALSE) / 2;
      if (x - half < last || x - half < 0 || x + half > width)
        continue;
      last = x + half + 4;
      vn_pen_text (pen, x, y + 14, (VnFont) { TEXT, FALSE, VN_ANCHOR_MIDDLE }, VN_INK (0.6), number);
    }
}

static void
chart_beside_draw_stems (VnPen               *pen,
                         double               width,
                         double               height,
                         const VnChartBars   *bars,
                         const VnChartLevels *levels)
{
  const VnStroke stem = { .line = VN_SHADE (ACCENT, 1), .width = 1.5 }, head = { .fill = VN_SHADE (ACCENT, 1) };
  double floor_y = height - BOTTOM, room = floor_y - TOP - 3;
  guint most = 1;

  for (guint i = 0; i < levels->n; i++)
    most = MAX (most, levels->counts[i]);
  for (guint i = 0; i < levels->n; i++)
    {
      double x = chart_beside_place (bars, levels->values[i], width);
      double y = floor_y - log1p (levels->counts[i]) / log1p (most) * room;

      if (levels->counts[i] == 0)
        continue;
      vn_pen_move (pen, x, floor_y);
      vn_pen_line (pen, x, y);
      vn_pen_paint (pen, &stem);
      vn_pen_circle (pen, x, y, levels->n > 40 ? 1.5 : 2.5, &head);
    }
}

/**
 * vn_chart_draw_levels:
 * @bars: values of the first network
 * @levels: values of the second one
 *
 * Draws into (0, 0, @width, @height) of @pen, both on a log scale of counts. Nothing is drawn where there is no room.
 */
void
vn_chart_draw_levels (VnPen               *pen,
                      double               width,
                      double               height,
                      const VnChartBars   *bars,
                      const VnChartLevels *levels)
{
  double most = 1, step;

  g_return_if_fail (pen != NULL && bars != NULL && levels != NULL);

  if (width < LEAST_ROOM || height < LEAST_ROOM + BOTTOM || !(bars->low < bars->high))
    return;
  step = (width - 8) / bars->n;
  for (guint i = 0; i < bars->n; i++)
    most = fmax (most, bars->counts[i]);
  for (guint i = 0; i < bars->n; i++)
    {
      const VnStroke stroke = { .fill = VN_INK (0.26) };
      double tall = log1p (bars->counts[i]) / log1p (most) * (height - BOTTOM - TOP - 3);

      if (tall > 0)
        vn_pen_rect (pen, 4 + i * step, height - BOTTOM - tall, fmax (step - (step > 3 ? 1 : 0), 0.5), tall, 0, &stroke);
    }
  chart_beside_draw_axis (pen, width, height, bars);
  chart_beside_draw_stems (pen, width, height, bars, levels);
}

/* ---- channels ---- */

static double
chart_beside_bar_width (const VnChartChannels *channels,
                        double                 width)
{
  return width / channels->n;
}

/* The worst of the channels that fall on the same pixel. */
static double
chart_beside_find_worst (const VnChartChannels *channels,
                         guint                  first,
                         guint                  end)
{
  double worst = NAN;

  for (guint i = first; i < MAX (end, first + 1) && i < channels->n; i++)
    if (isnan (worst) || channels->t[i] > worst)
      worst = channels->t[i];
  return worst;
}

static void
chart_beside_draw_bars (VnPen                 *pen,
                        double                 width,
                        double                 room,
                        const VnChartChannels *channels)
{
  double bar = fmax (chart_beside_bar_width (channels, width), 1);
  guint n = (guint) MIN ((double) channels->n, floor (width));

  for (guint i = 0; i < n; i++)
    {
      guint first = (guint) ((guint64) i * channels->n / n), end = (guint) ((guint64) (i + 1) * channels->n / n);
      double t = chart_beside_find_worst (channels, first, end), tall = fmax (CLAMP (t, 0, 1) * room, 1.5);
      const VnStroke stroke = { .fill = VN_SHADE_AT (ERROR, t), .line = VN_INK (0.22), .width = bar > 4 ? 0.8 : 0 };
      const VnStroke plain = { .fill = VN_SHADE_AT (ERROR, fmax (t, 0.12)) };

      if (!isnan (t))
        vn_pen_rect (pen, i * width / n + (bar > 3 ? 0.5 : 0), TOP + room - tall, fmax (width / n - (bar > 3 ? 1 : 0), 0.6), tall,
                     0,
                     bar > 4 ? &stroke : &plain);
    }
}

static void
chart_beside_draw_mark (VnPen                 *pen,
                        double                 width,
                        double                 y,
                        const VnChartChannels *channels)
{
  const VnStroke stroke = { .fill = VN_SHADE (ACCENT, 1) };
  double x = CLAMP ((channels->chosen + 0.5) * chart_beside_bar_width (channels, width), 5, width - 5);

  vn_pen_move (pen, x, y);
  vn_pen_line (pen, x - 5, y + MARK - 1);
  vn_pen_line (pen, x + 5, y + MARK - 1);
  vn_pen_close (pen);
  vn_pen_paint (pen, &stroke);
}

/**
 * vn_chart_draw_channels:
 *
 * Draws into (0, 0, @width, @height) of @pen. More channels than pixels: the worst of each column. Nothing is drawn where there
 * is no room.
 */
void
vn_chart_draw_channels (VnPen                 *pen,
                        double                 width,
                        double                 height,
                        const VnChartChannels *channels)
{
  static const double dashes[] = { 3, 2 };
  const VnStroke axis = { .line = VN_INK (0.4), .width = 1 },
  line = { .line = VN_INK (0.45), .width = 1, .dashes = dashes, .n_dashes = 2 };
  double room = height - TOP - MARK - BOTTOM + 4, y = TOP + room;
  char last[16];

  g_return_if_fail (pen != NULL && channels != NULL);

  if (width < LEAST_ROOM || room < 10 || channels->n == 0)
    return;
  chart_beside_draw_bars (pen, width, room, channels);
  for (guint i = 0; i < channels->n_lines; i++)
    {
      double at = floor (TOP + room * (1 - CLAMP (channels->lines[i], 0, 1))) + 0.5;

      vn_pen_move (pen, 0, at);
      vn_pen_line (pen, width, at);
      vn_pen_paint (pen, &line);
    }
  vn_pen_move (pen, 0, floor (y) + 0.5);
  vn_pen_line (pen, width, floor (y) + 0.5);
  vn_pen_paint (pen, &axis);
  chart_beside_draw_mark (pen, width, y + 2, channels);
  g_snprintf (last, sizeof last, "%u", channels->n - 1);
  vn_pen_text (pen, 0, height - 2, (VnFont) { TEXT, FALSE, VN_ANCHOR_START }, VN_INK (0.6), "0");
  vn_pen_text (pen, width, height - 2, (VnFont) { TEXT, FALSE, VN_ANCHOR_END }, VN_INK (0.6), last);
}

/**
 * vn_chart_channel_at:
 * @width: that the chart was drawn with
 * @x: in it
 * @channel: (out)
 *
 * Returns: %FALSE: there is no channel
 */
gboolean
vn_chart_channel_at (const VnChartChannels *channels,
                     double                 width,
                     double                 x,
                     guint                 *channel)
{
  g_return_val_if_fail (channels != NULL && channel != NULL, FALSE);

  if (channels->n == 0 || !(width > 0) || !(x >= 0 && x < width))
    return FALSE;
  *channel = MIN ((guint) (x / width * channels->n), channels->n - 1);
  return TRUE;
}
