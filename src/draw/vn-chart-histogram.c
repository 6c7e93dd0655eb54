/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histogram of a tensor: bars on a log scale of counts, darker inside the present range; each range as a pair of
 * lines with its own dash and letter, so that it reads without colour. */
#include "vn-chart.h"

#include <math.h>
#include <pango/pangocairo.h>

const VnChartTheme vn_chart_theme_light = { { 0, 0, 0 }, { 0.208, 0.518, 0.894 }, NULL };
const VnChartTheme vn_chart_theme_dark = { { 1, 1, 1 }, { 0.208, 0.518, 0.894 }, NULL };

#define TOP 18.0       /* room for the letters */
#define BOTTOM 20.0    /* room for the axis labels */
#define MAX_BARS 512

static const struct
{
  char   letter;
  double dashes[4];
  int    n;
} styles[] = {
  { 'M', { 0 }, 0 },
  { 'P', { 7, 3 }, 2 },
  { 'E', { 2, 3 }, 2 },
  { 'S', { 7, 3, 2, 3 }, 4 },
  { 'N', { 1, 3 }, 2 },
};

typedef struct
{
  cairo_t            *cr;
  const VnChartTheme *theme;
  double              width, height;
  double              lo, hi;       /* values at the left and the right edge */
} Chart;

static void
chart_histogram_set_ink (Chart         *chart,
                         const VnColor *ink,
                         double         alpha)
{
  cairo_set_source_rgba (chart->cr, ink->r, ink->g, ink->b, alpha);
}

static double
chart_histogram_x_of (const Chart *chart,
                      double       value)
{
  return (value - chart->lo) / (chart->hi - chart->lo) * chart->width;
}

static void
chart_histogram_draw_text (Chart      *chart,
                           const char *text,
                           double      x,
                           double      y,
                           double      alpha,
                           gboolean    bold)
{
  g_autoptr(PangoLayout) layout = pango_cairo_create_layout (chart->cr);
  g_autoptr(PangoFontDescription) font = pango_font_description_new ();
  int width;

  pango_font_description_set_family (font, chart->theme->font != NULL ? chart->theme->font : "Cantarell");
  pango_font_description_set_absolute_size (font, 11 * PANGO_SCALE);
  pango_font_description_set_weight (font, bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  pango_layout_set_font_description (layout, font);
  pango_layout_set_text (layout, text, -1);
  pango_layout_get_pixel_size (layout, &width, NULL);
  chart_histogram_set_ink (chart, &chart->theme->ink, alpha);
  cairo_move_to (chart->cr, CLAMP (x - width / 2.0, 0, MAX (chart->width - width, 0)), y);
  pango_cairo_show_layout (chart->cr, layout);
}

static void
chart_histogram_draw_bars (Chart              *chart,
                           const double       *counts,
                           guint               n,
                           const VnChartRange *current)
{
  double top = 0, step = chart->width / n, floor = chart->height - BOTTOM;

  for (guint i = 0; i < n; i++)
    top = fmax (top, counts[i]);
  if (top <= 0)
    return;
  for (guint i = 0; i < n; i++)
    {
      double middle = chart->lo + (i + 0.5) / n * (chart->hi - chart->lo);
      double height = counts[i] > 0 ? fmax (1, log1p (counts[i]) / log1p (top) * (floor - TOP)) : 0;
      gboolean inside = current == NULL || (middle >= current->min && middle <= current->max);

      chart_histogram_set_ink (chart, &chart->theme->ink, inside ? 0.38 : 0.17);
      cairo_rectangle (chart->cr, i * step, floor - height, fmax (step - (step > 3 ? 1 : 0), 0.5), height);
      cairo_fill (chart->cr);
    }
}

static void
chart_histogram_draw_axis (Chart *chart)
{
  double span = chart->hi - chart->lo;
  double step = pow (10, floor (log10 (span / 4)));
  double y = floor (chart->height - BOTTOM) + 0.5;

  if (span / step > 10)
    step *= span / step > 20 ? 5 : 2;
  chart_histogram_set_ink (chart, &chart->theme->ink, 0.4);
  cairo_set_line_width (chart->cr, 1);
  cairo_move_to (chart->cr, 0, y);
  cairo_line_to (chart->cr, chart->width, y);
  cairo_stroke (chart->cr);
  for (double value = ceil (chart->lo / step) * step; value <= chart->hi; value += step)
    {
      char number[32];

      g_snprintf (number, sizeof number, "%.4g", fabs (value) < step / 2 ? 0.0 : value);
      if (number[0] == '-')
        {
          g_autofree char *minus = g_strconcat ("\u2212", number + 1, NULL);

          chart_histogram_draw_text (chart, minus, chart_histogram_x_of (chart, value), y + 3, 0.6, FALSE);
        }
      else
        chart_histogram_draw_text (chart, number, chart_histogram_x_of (chart, value), y + 3, 0.6, FALSE);
    }
}

static void
chart_histogram_draw_line (Chart              *chart,
                           const VnChartRange *range,
                           double              value)
{
  double x = CLAMP (floor (chart_histogram_x_of (chart, value)) + 0.5, 0.5, chart->width - 0.5);
  char letter[2] = { range->letter, '\0' };

  for (guint i = 0; i < G_N_ELEMENTS (styles); i++)
    if (styles[i].letter == range->letter)
      cairo_set_dash (chart->cr, styles[i].dashes, styles[i].n, 0);
  chart_histogram_set_ink (chart, range->is_current ? &chart->theme->accent : &chart->theme->ink, range->is_current ? 1 : 0.6);
  cairo_set_line_width (chart->cr, range->is_current ? 2 : 1);
  cairo_move_to (chart->cr, x, TOP - 2);
  cairo_line_to (chart->cr, x, chart->height - BOTTOM);
  cairo_stroke (chart->cr);
  cairo_set_dash (chart->cr, NULL, 0, 0);
  chart_histogram_draw_text (chart, letter, x, 0, 0.75, range->is_current);
}

/* The span to show: what was observed and every range, with a margin; never empty. */
static void
chart_histogram_find_span (Chart              *chart,
                           const VnHistogram  *histogram,
                           const VnChartRange *ranges,
                           guint               n_ranges)
{
  double lo = histogram->min, hi = histogram->max, margin;

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

/**
 * vn_chart_histogram:
 * @histogram: what was observed
 * @ranges: (array length=n_ranges) (nullable): lines to draw; the first with is_current darkens its inside
 *
 * Draws into (0, 0, @width, @height) of @cr. Nothing is drawn where there is no room.
 */
void
vn_chart_histogram (cairo_t            *cr,
                    double              width,
                    double              height,
                    const VnHistogram  *histogram,
                    const VnChartRange *ranges,
                    guint               n_ranges,
                    const VnChartTheme *theme)
{
  Chart chart;
  double counts[MAX_BARS];
  guint n = (guint) CLAMP (width / 4, 8, MAX_BARS);
  const VnChartRange *current = NULL;

  g_return_if_fail (cr != NULL);

  chart = (Chart) { cr, theme, width, height, 0, 1 };
  if (width < 40 || height < TOP + BOTTOM + 10)
    return;
  for (guint i = 0; i < n_ranges && current == NULL; i++)
    if (ranges[i].is_current)
      current = &ranges[i];
  chart_histogram_find_span (&chart, histogram, ranges, n_ranges);
  vn_histogram_linear (histogram, chart.lo, chart.hi, counts, n);
  cairo_save (cr);
  chart_histogram_draw_bars (&chart, counts, n, current);
  chart_histogram_draw_axis (&chart);
  for (guint i = 0; i < n_ranges; i++)
    {
      chart_histogram_draw_line (&chart, &ranges[i], ranges[i].min);
      chart_histogram_draw_line (&chart, &ranges[i], ranges[i].max);
    }
  cairo_restore (cr);
}
