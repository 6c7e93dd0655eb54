/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The colours of error and of amounts, and where a metric lies on them. */
#include "vn-heat.h"

#include "vn-i18n.h"

#include <math.h>

#define N_STOPS 5

static const guint32 stops[2][2][N_STOPS] = {
  { { 0xffffff, 0xf9e9c8, 0xefb64c, 0xcf4a2e, 0x6a0a3c },      /* error: light, dark */
    { 0x363636, 0x57472f, 0x8a6226, 0xec7753, 0xffc4d8 } },
  { { 0xffffff, 0xd3e4f8, 0x8dbbee, 0x3b7fcf, 0x143a6b },      /* amount: light, dark */
    { 0x363636, 0x34495f, 0x3f6a9b, 0x6fa5e0, 0xd3e6fb } },
};

static VnColor
heat_interpolate_stops (const guint32 *row,
                        double         t)
{
  double x = CLAMP (t, 0, 1) * (N_STOPS - 1);
  guint i = MIN ((guint) x, N_STOPS - 2);

  return vn_color_mix_even (vn_color_from_hex (row[i]), vn_color_from_hex (row[i + 1]), x - i);
}

static VnColor tables[2][2][VN_HEAT_N_COLORS];

static void
heat_fill_tables (void)
{
  static gsize once = 0;

  if (!g_once_init_enter (&once))
    return;

  for (guint scale = 0; scale < 2; scale++)
    for (guint dark = 0; dark < 2; dark++)
      for (guint i = 0; i < VN_HEAT_N_COLORS; i++)
        tables[scale][dark][i] = heat_interpolate_stops (stops[scale][dark], i / (VN_HEAT_N_COLORS - 1.));
  g_once_init_leave (&once, 1);
}

/**
 * vn_heat_color:
 * @t: 0 (good, or little) … 1 (bad, or much); clamped, NaN counts as 1
 *
 * Returns: the fill of a box
 */
VnColor
vn_heat_color (VnHeatScale scale,
               gboolean    dark,
               double      t)
{
  const VnColor *table;
  double x;
  guint i;

  heat_fill_tables ();
  table = tables[scale][dark != FALSE];
  if (isnan (t))
    t = 1;
  x = CLAMP (t, 0, 1) * (VN_HEAT_N_COLORS - 1);
  i = MIN ((guint) x, VN_HEAT_N_COLORS - 2);
  return vn_color_mix (table[i], table[i + 1], x - i);
}

#define N_DIFFERENCES 7

/* violet to orange, mirrored: light, dark */
static const guint32 differences[2][N_DIFFERENCES] = {
  { 0x40206b, 0x7f5fa8, 0xc3b3da, 0xf4f2f5, 0xf6c899, 0xdd8432, 0x8f4a06 },
  { 0xd9c2ff, 0x9b7cc9, 0x5c4a78, 0x2e2e2e, 0x7a5330, 0xd0894a, 0xffd9a8 },
};

/**
 * vn_heat_difference:
 * @t: −1 (as much too small as any) … 0 (equal) … 1 (as much too large as any); clamped, NaN counts as 1
 *
 * Returns: the colour of a pixel in a picture of a difference
 */
VnColor
vn_heat_difference (gboolean dark,
                    double   t)
{
  const guint32 *row = differences[dark != FALSE];
  double x = (isnan (t) ? 2 : CLAMP (t, -1, 1) + 1) / 2 * (N_DIFFERENCES - 1);
  guint i = MIN ((guint) x, N_DIFFERENCES - 2);

  return vn_color_mix_even (vn_color_from_hex (row[i]), vn_color_from_hex (row[i + 1]), x - i);
}

/* ---- metrics ---- */

/**
 * vn_heat_axis:
 *
 * Puts every metric on one kind of axis: larger is better, ten units are a factor of ten. SQNR is that
 * already; noise:signal x, mean square, largest error and a share become −10 log10 x, a cosine c becomes
 * −10 log10 (1 − c).
 *
 * Returns: place on the axis; +inf for no error, NaN for NaN
 */
double
vn_heat_axis (VnMetric metric,
              double   value)
{
  switch (vn_metric_get_info (metric)->scale)
    {
    case VN_SCALE_DB:
      return value;
    case VN_SCALE_COSINE:
      return isnan (value) ? value : -10 * log10 (MAX (1 - value, 0));
    case VN_SCALE_RATIO:
    case VN_SCALE_SHARE:
    case VN_SCALE_SIZE:
    default:
      return -10 * log10 (value);
    }
}

/**
 * vn_heat_from_axis:
 *
 * Returns: the metric's value at a place of its axis: the inverse of vn_heat_axis()
 */
double
vn_heat_from_axis (VnMetric metric,
                   double   axis)
{
  VnMetricScale scale = vn_metric_get_info (metric)->scale;
  double ratio = pow (10, -axis / 10);

  if (scale == VN_SCALE_DB)
    return axis;
  return scale == VN_SCALE_COSINE ? 1 - ratio : ratio;
}

/**
 * vn_heat_default_handles:
 *
 * Returns: where the metric's table says "fine" and "bad". For absolute errors, whose scale depends on the
 *   network, a stand-in for vn_heat_handles_from_values().
 */
VnHeatHandles
vn_heat_default_handles (VnMetric metric)
{
  const VnMetricInfo *info = vn_metric_get_info (metric);

  if (isnan (info->fine))
    info = vn_metric_get_info (metric = VN_METRIC_SQNR);
  return (VnHeatHandles) { vn_heat_axis (metric, info->fine), vn_heat_axis (metric, info->bad) };
}

static int
heat_compare_doubles (gconstpointer a,
                      gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/**
 * vn_heat_handles_from_values:
 * @values: the metric over all nodes of a network; those that are not finite on the axis are left out
 *
 * Returns: for absolute errors, "fine" at the 75th and "bad" at the 95th percentile of the network;
 *   vn_heat_default_handles() for the other metrics or if no value is usable
 */
VnHeatHandles
vn_heat_handles_from_values (VnMetric      metric,
                             const double *values,
                             gsize         n)
{
  g_autofree double *axis = NULL;
  VnHeatHandles handles;
  gsize used = 0;

  if (vn_metric_get_info (metric)->scale != VN_SCALE_SIZE)
    return vn_heat_default_handles (metric);

  axis = g_new (double, MAX (n, 1));
  for (gsize i = 0; i < n; i++)
    {
      double a = vn_heat_axis (metric, values[i]);

      if (isfinite (a))
        axis[used++] = a;
    }
  if (used == 0)
    return vn_heat_default_handles (metric);

  qsort (axis, used, sizeof (double), heat_compare_doubles);
  handles.fine = axis[(gsize) (0.25 * (used - 1))];
  handles.bad = axis[(gsize) (0.05 * (used - 1))];
  handles.fine = MAX (handles.fine, handles.bad + 1);
  return handles;
}

/* The signal to noise ratio from which on an output is fine takes away from what a part of its error weighs. */
static double
heat_get_excess (VnErrorTable *errors)
{
  double worst = INFINITY;

  for (guint i = 0; errors != NULL && i < vn_error_table_get_n (errors); i++)
    {
      const VnErrorRow *row = vn_error_table_get (errors, i);

      if (row->is_output)
        worst = MIN (worst, vn_sqnr_bound (row->sqnr_db, row->n_bad));
    }
  return isfinite (worst) ? MAX (worst - vn_metric_get_info (VN_METRIC_SQNR)->fine, 0) : 0;
}

/**
 * vn_heat_handles_for_run:
 * @errors: (nullable): of a run
 *
 * A share of an error that is small itself needs no attention: by as much as the worst output is better than fine, the handles
 * of a share stand at larger shares, “fine” at one half at most and “bad” at the whole.
 *
 * Returns: where the handles of a metric with a scale of its own stand in a run; vn_heat_default_handles() for the others
 */
VnHeatHandles
vn_heat_handles_for_run (VnMetric      metric,
                         VnErrorTable *errors)
{
  VnHeatHandles handles = vn_heat_default_handles (metric);
  double excess;

  if (vn_metric_get_info (metric)->scale != VN_SCALE_SHARE)
    return handles;
  excess = heat_get_excess (errors);
  handles.fine = MAX (handles.fine - excess, vn_heat_axis (metric, 0.5));
  handles.bad = MAX (handles.bad - excess, vn_heat_axis (metric, 1));
  return handles;
}

/**
 * vn_heat_t:
 * @axis: from vn_heat_axis()
 *
 * Piecewise linear through fine + 20 -> 0, fine -> 0.25, bad -> 0.75, bad − 10 -> 1.
 *
 * Returns: place on the colour scale, 0 … 1; 1 for NaN
 */
double
vn_heat_t (double        axis,
           VnHeatHandles h)
{
  if (isnan (axis) || axis <= h.bad - 10)
    return 1;
  if (axis >= h.fine + 20)
    return 0;
  if (axis >= h.fine)
    return 0.25 * (h.fine + 20 - axis) / 20;
  if (axis >= h.bad)
    return 0.25 + 0.5 * (h.fine - axis) / (h.fine - h.bad);
  return 0.75 + 0.25 * (h.bad - axis) / 10;
}

/**
 * vn_heat_axis_at:
 *
 * Returns: the place on the axis that has colour @t: the inverse of vn_heat_t()
 */
double
vn_heat_axis_at (double        t,
                 VnHeatHandles h)
{
  t = CLAMP (t, 0, 1);
  if (t <= 0.25)
    return h.fine + 20 - t / 0.25 * 20;
  if (t <= 0.75)
    return h.fine - (t - 0.25) / 0.5 * (h.fine - h.bad);
  return h.bad - (t - 0.75) / 0.25 * 10;
}

/**
 * vn_heat_ticks:
 *
 * Returns: 0 … 4 ticks: 0 and 1 are fine, 2 and 3 want watching, 4 (and NaN) is bad; bounds belong to the
 *   better band
 */
guint
vn_heat_ticks (double        axis,
               VnHeatHandles h)
{
  if (isnan (axis) || axis < h.bad)
    return 4;
  if (axis >= h.fine + 10)
    return 0;
  if (axis >= h.fine)
    return 1;
  return axis >= (h.fine + h.bad) / 2 ? 2 : 3;
}

/**
 * vn_heat_get_band:
 * @ticks: from vn_heat_ticks()
 *
 * Returns: what is counted together wherever nodes are counted by their error
 */
VnBand
vn_heat_get_band (guint ticks)
{
  if (ticks >= 4)
    return VN_BAND_BAD;
  return ticks >= 2 ? VN_BAND_WATCH : VN_BAND_FINE;
}

static const struct { const char *id, *title; } bands[VN_N_BANDS] = {
  [VN_BAND_FINE] = { "fine", N_("Fine") },
  [VN_BAND_WATCH] = { "watch", N_("Borderline") },
  [VN_BAND_BAD] = { "bad", N_("Bad") },
};

/**
 * vn_band_get_id:
 *
 * Returns: what it is called in files, and in what is typed
 */
const char *
vn_band_get_id (VnBand band)
{
  g_return_val_if_fail (band < VN_N_BANDS, NULL);

  return bands[band].id;
}

/**
 * vn_band_get_title:
 *
 * Returns: what it is called, not translated
 */
const char *
vn_band_get_title (VnBand band)
{
  g_return_val_if_fail (band < VN_N_BANDS, NULL);

  return bands[band].title;
}
