/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histogram of a tensor: bars on a log scale of counts, darker inside the present range; each range as a pair of
 * lines with its own dash and letter, so that it reads without colour. */
#include "vn-chart.h"

#include <math.h>

#define TOP 18.0       /* room for the letters */
#define BOTTOM 20.0    /* room for the axis labels */
#define TEXT 11.0
#define MAX_BARS 512
#define LETTER 9.0     /* room for one letter */

static const struct
{
  char   letter;
  double dashes[4];
  guint  n;
} styles[] = {
  { 'M', { 0 }, 0 },
  { 'P', { 7, 3 }, 2 },
  { 'E', { 2, 3 }, 2 },
  { 'S', { 7, 3, 2, 3 }, 4 },
  { 'N', { 1, 3 }, 2 },
};

typedef struct
{
  VnPen  *pen;
  double  width, height;
  double  lo, hi;       /* values at the left and the right edge */
} Chart;

static double
chart_histogram_x_of (const Chart *chart,
                      double       value)
{
  return (value - chart->lo) / (chart->hi - chart->lo) * chart->width;
}

static void
chart_histogram_draw_text (const Chart *chart,
                           const char  *text,
                           double       x,
                           double       baseline,
                           double       alpha,
                           gboolean     bold)
{
  const double half = vn_pen_measure (text, TEXT, bold) / 2;

  vn_pen_text (chart->pen, CLAMP (x, half, MAX (chart->width - half, half)), baseline, (VnFont) { TEXT, bold, VN_ANCHOR_MIDDLE },
               VN_INK (alpha), text);
}

static void
chart_histogram_draw_bars (const Chart        *chart,
                           const VnChartBars  *bars,
                           const VnChartRange *current)
{
  const double floor = chart->height - BOTTOM;
  const double left = chart_histogram_x_of (chart, bars->low), step = (chart_histogram_x_of (chart, bars->high) - left) / bars->n;
  double top = 0;

  for (guint i = 0; i < bars->n; i++)
    top = fmax (top, bars->counts[i]);
  if (top <= 0)
    return;
  for (guint i = 0; i < bars->n; i++)
    {
      double middle = bars->low + (i + 0.5) / bars->n * (bars->high - bars->low);
      double height = bars->counts[i] > 0 ? fmax (1, log1p (bars->counts[i]) / log1p (top) * (floor - TOP)) : 0;
      gboolean inside = current == NULL || (middle >= current->min && middle <= current->max);
      const VnStroke stroke = { .fill = VN_INK (inside ? 0.38 : 0.17) };

      if (height > 0)
        vn_pen_rect (chart->pen, left + i * step, floor - height, fmax (step - (step > 3 ? 1 : 0), 0.5), height, 0, &stroke);
    }
}

static void
chart_histogram_draw_line (const Chart        *chart,
                           const VnChartRange *range,
                           double              value)
{
  double x = CLAMP (floor (chart_histogram_x_of (chart, value)) + 0.5, 0.5, chart->width - 0.5);
  VnStroke stroke = { .line = range->is_current ? VN_SHADE (ACCENT, 1) : VN_INK (0.6), .width = range->is_current ? 2 : 1 };

  for (guint i = 0; i < G_N_ELEMENTS (styles); i++)
    if (styles[i].letter == range->letter)
      {
        stroke.dashes = styles[i].dashes;
        stroke.n_dashes = styles[i].n;
      }
  vn_pen_move (chart->pen, x, TOP - 2);
  vn_pen_line (chart->pen, x, chart->height - BOTTOM);
  vn_pen_paint (chart->pen, &stroke);
}

typedef struct { double x; char letter[2]; gboolean bold; } Letter;

static int
chart_histogram_compare_letters (gconstpointer a,
                                 gconstpointer b)
{
  double x = ((const Letter *) a)->x, y = ((const Letter *) b)->x;

  return (x > y) - (x < y);
}

/* Over their lines; those that would lie on one another move aside, from both edges of the chart. */
static void
chart_histogram_draw_letters (const Chart        *chart,
                              const VnChartRange *ranges,
                              guint               n_ranges)
{
  g_autoptr(GArray) letters = g_array_new (FALSE, FALSE, sizeof (Letter));
  double most = chart->width - LETTER / 2;

  for (guint i = 0; i < 2 * n_ranges; i++)
    {
      const VnChartRange *range = &ranges[i / 2];
      Letter letter = { chart_histogram_x_of (chart, i % 2 == 0 ? range->min : range->max), { range->letter, '\0' },
                        range->is_current };

      if (range->letter != '\0')
        g_array_append_val (letters, letter);
    }
  g_array_sort (letters, chart_histogram_compare_letters);
  for (guint i = 1; i < letters->len; i++)
    g_array_index (letters, Letter, i).x = MAX (g_array_index (letters, Letter, i).x,
                                                g_array_index (letters, Letter, i - 1).x + LETTER);
  for (guint i = letters->len; i > 0; i--)
    {
      Letter *letter = &g_array_index (letters, Letter, i - 1);

      letter->x = MIN (letter->x, most);
      most = letter->x - LETTER;
    }
  for (guint i = 0; i < letters->len; i++)
    chart_histogram_draw_text (chart, g_array_index (letters, Letter, i).letter, g_array_index (letters, Letter, i).x, 11, 0.75,
                               g_array_index (letters, Letter, i).bold);
}

/* The span to show: what was observed and every range, with a margin; never empty. */
static void
chart_histogram_find_span (Chart              *chart,
                           double              lo,
                           double              hi,
                           const VnChartRange *ranges,
                           guint               n_ranges)
{
  double margin;

  if (!(lo <= hi))
    lo = hi = 0;
  for (guint i = 0; i < n_ranges; i++)
    {
      lo = fmin (lo, ranges[i].min);
      hi = fmax (hi, ranges[i].max);
    }
  margin = hi > lo ? (hi - lo) * 0.03 : fmax (fabs (hi) * 0.1, 1e-6);
  chart->lo = lo - margin;
  chart->hi = hi + margin;
}

static void
chart_histogram_draw (const Chart        *chart,
                      const VnChartBars  *bars,
                      const VnChartRange *ranges,
                      guint               n_ranges)
{
  const VnChartRange *current = NULL;

  for (guint i = 0; i < n_ranges && current == NULL; i++)
    if (ranges[i].is_current)
      current = &ranges[i];
  chart_histogram_draw_bars (chart, bars, current);
  vn_chart_draw_axis (chart->pen, chart->width, chart->height, chart->lo, chart->hi);
  for (guint i = 0; i < 2 * n_ranges; i++)      /* the current one over the others */
    {
      const VnChartRange *range = &ranges[i % n_ranges];

      if (range->is_current != (i >= n_ranges))
        continue;
      chart_histogram_draw_line (chart, range, range->min);
      chart_histogram_draw_line (chart, range, range->max);
    }
  chart_histogram_draw_letters (chart, ranges, n_ranges);
}

static gboolean
chart_histogram_has_room (double width,
                          double height)
{
  return width >= 40 && height >= TOP + BOTTOM + 10;
}

/**
 * vn_chart_draw_axis:
 * @low, @high: values at the left and the right edge
 *
 * Draws a line at the foot of (0, 0, @width, @height), and round numbers below it.
 */
void
vn_chart_draw_axis (VnPen  *pen,
                    double  width,
                    double  height,
                    double  low,
                    double  high)
{
  const Chart axis = { pen, width, height, low, high }, *chart = &axis;
  const VnStroke line = { .line = VN_INK (0.4), .width = 1 };
  double span = chart->hi - chart->lo;
  double step = pow (10, floor (log10 (span / 4)));
  double y = floor (chart->height - BOTTOM) + 0.5, last = -INFINITY;

  g_return_if_fail (pen != NULL && low < high);

  if (span / step > 10)
    step *= span / step > 20 ? 5 : 2;
  vn_pen_move (chart->pen, 0, y);
  vn_pen_line (chart->pen, chart->width, y);
  vn_pen_paint (chart->pen, &line);
  for (double value = ceil (chart->lo / step) * step; value <= chart->hi; value += step)
    {
      const double shown = fabs (value) < step / 2 ? 0.0 : value, x = chart_histogram_x_of (chart, value);
      char number[32];

      g_snprintf (number, sizeof number, "%s%.4g", shown < 0 ? "\u2212" : "", fabs (shown));
      if (x - vn_pen_measure (number, TEXT, FALSE) / 2 < last)
        continue;
      last = x + vn_pen_measure (number, TEXT, FALSE) / 2 + 4;
      chart_histogram_draw_text (chart, number, x, y + 14, 0.6, FALSE);
    }
}

/**
 * vn_chart_histogram_get_span:
 * @low, @high: (out): values at the left and the right edge of the chart
 */
void
vn_chart_histogram_get_span (const VnHistogram  *histogram,
                             const VnChartRange *ranges,
                             guint               n_ranges,
                             double             *low,
                             double             *high)
{
  Chart chart = { 0 };

  g_return_if_fail (histogram != NULL && low != NULL && high != NULL);

  chart_histogram_find_span (&chart, (double) histogram->min, (double) histogram->max, ranges, n_ranges);
  *low = chart.lo;
  *high = chart.hi;
}

/**
 * vn_chart_histogram_between:
 * @low, @high: values at the left and the right edge
 *
 * As vn_chart_histogram(), on a scale that is given.
 */
void
vn_chart_histogram_between (VnPen              *pen,
                            double              width,
                            double              height,
                            const VnHistogram  *histogram,
                            double              low,
                            double              high,
                            const VnChartRange *ranges,
                            guint               n_ranges)
{
  const Chart chart = { pen, width, height, low, high };
  double counts[MAX_BARS];
  VnChartBars bars;

  g_return_if_fail (pen != NULL && histogram != NULL && low < high);

  if (!chart_histogram_has_room (width, height))
    return;
  bars = (VnChartBars) { low, high, counts, (guint) CLAMP (width / 4, 8, MAX_BARS) };
  vn_histogram_linear (histogram, low, high, counts, bars.n);
  chart_histogram_draw (&chart, &bars, ranges, n_ranges);
}

/**
 * vn_chart_histogram:
 * @histogram: what was observed
 * @ranges: (array length=n_ranges) (nullable): lines to draw; the first with is_current darkens its inside
 *
 * Draws into (0, 0, @width, @height) of @pen. Nothing is drawn where there is no room.
 */
void
vn_chart_histogram (VnPen              *pen,
                    double              width,
                    double              height,
                    const VnHistogram  *histogram,
                    const VnChartRange *ranges,
                    guint               n_ranges)
{
  double low, high;

  g_return_if_fail (pen != NULL && histogram != NULL);

  vn_chart_histogram_get_span (histogram, ranges, n_ranges, &low, &high);
  vn_chart_histogram_between (pen, width, height, histogram, low, high, ranges, n_ranges);
}

/**
 * vn_chart_draw_bars:
 * @bars: what was observed, counted
 *
 * As vn_chart_histogram().
 */
void
vn_chart_draw_bars (VnPen              *pen,
                    double              width,
                    double              height,
                    const VnChartBars  *bars,
                    const VnChartRange *ranges,
                    guint               n_ranges)
{
  Chart chart;

  g_return_if_fail (pen != NULL && bars != NULL);

  chart = (Chart) { pen, width, height, 0, 1 };
  if (!chart_histogram_has_room (width, height))
    return;
  chart_histogram_find_span (&chart, bars->low, bars->high, ranges, n_ranges);
  chart_histogram_draw (&chart, bars, ranges, n_ranges);
}
