/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-heat.h"

#include <math.h>

static void
test_stops (void)
{
  static const struct {
    VnHeatScale scale;
    gboolean    dark;
    double      t;
    guint32     rgb;
  } cases[] = {
    { VN_HEAT_ERROR, FALSE, 0, 0xffffff },     { VN_HEAT_ERROR, TRUE, 0, 0x363636 },
    { VN_HEAT_ERROR, FALSE, 0.125, 0xfcf4e4 }, { VN_HEAT_ERROR, TRUE, 0.125, 0x463f33 },
    { VN_HEAT_ERROR, FALSE, 0.25, 0xf9e9c8 },  { VN_HEAT_ERROR, TRUE, 0.25, 0x57472f },
    { VN_HEAT_ERROR, FALSE, 0.375, 0xf5d08f }, { VN_HEAT_ERROR, TRUE, 0.375, 0x70542c },
    { VN_HEAT_ERROR, FALSE, 0.5, 0xefb64c },   { VN_HEAT_ERROR, TRUE, 0.5, 0x8a6226 },
    { VN_HEAT_ERROR, FALSE, 0.625, 0xe1823d }, { VN_HEAT_ERROR, TRUE, 0.625, 0xba6d3d },
    { VN_HEAT_ERROR, FALSE, 0.75, 0xcf4a2e },  { VN_HEAT_ERROR, TRUE, 0.75, 0xec7753 },
    { VN_HEAT_ERROR, FALSE, 0.875, 0x9b2c3b }, { VN_HEAT_ERROR, TRUE, 0.875, 0xf79f97 },
    { VN_HEAT_ERROR, FALSE, 1, 0x6a0a3c },     { VN_HEAT_ERROR, TRUE, 1, 0xffc4d8 },
    { VN_HEAT_ERROR, FALSE, 7, 0x6a0a3c },     { VN_HEAT_ERROR, TRUE, NAN, 0xffc4d8 },
    { VN_HEAT_AMOUNT, FALSE, 0.5, 0x8dbbee },  { VN_HEAT_AMOUNT, TRUE, 0.75, 0x6fa5e0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnColor got = vn_heat_color (cases[i].scale, cases[i].dark, cases[i].t);
      VnColor want = vn_color_from_hex (cases[i].rgb);

      g_test_message ("scale %d dark %d t %g: #%02x%02x%02x, wanted #%06x", cases[i].scale, cases[i].dark,
                      cases[i].t,
                      (guint) lround (got.r * 255), (guint) lround (got.g * 255), (guint) lround (got.b * 255),
                      cases[i].rgb);
      g_assert_cmpfloat (fabs (got.r - want.r), <=, 2.1 / 255);
      g_assert_cmpfloat (fabs (got.g - want.g), <=, 2.1 / 255);
      g_assert_cmpfloat (fabs (got.b - want.b), <=, 2.1 / 255);
    }
}

static void
test_lightness (void)
{
  for (guint scale = 0; scale < 2; scale++)
    for (guint dark = 0; dark < 2; dark++)
      {
        double last = dark ? -1 : 101, largest = 0, weakest = 21;

        for (guint i = 0; i < VN_HEAT_N_COLORS; i++)
          {
            VnColor color = vn_heat_color (scale, dark, i / (VN_HEAT_N_COLORS - 1.));
            double lightness = vn_color_lightness (color);
            double contrast = vn_color_contrast (color, vn_color_get_text (color));

            if (i > 0)
              largest = MAX (largest, fabs (lightness - last));
            weakest = MIN (weakest, contrast);
            if (dark)
              g_assert_cmpfloat (lightness, >, last);
            else
              g_assert_cmpfloat (lightness, <, last);
            g_assert_cmpfloat (contrast, >=, 4.5);
            last = lightness;
          }
        g_test_message ("scale %u dark %u: largest step %.2f L*, least text contrast %.2f", scale, dark,
                        largest, weakest);
        g_assert_cmpfloat (largest, <, 0.6);
      }
}

static void
test_mapping (void)
{
  static const struct {
    double fine, bad, axis, t;
    guint  ticks;
  } cases[] = {
    { 20, 10, INFINITY, 0, 0 },  { 20, 10, 55, 0, 0 },        { 20, 10, 40, 0, 0 },
    { 20, 10, 30, 0.125, 0 },    { 20, 10, 29.99, 0.125125, 1 }, { 20, 10, 20, 0.25, 1 },
    { 20, 10, 17.5, 0.375, 2 },  { 20, 10, 15, 0.5, 2 },      { 20, 10, 14.99, 0.5005, 3 },
    { 20, 10, 12.5, 0.625, 3 },  { 20, 10, 10, 0.75, 3 },     { 20, 10, 9.99, 0.75025, 4 },
    { 20, 10, 5, 0.875, 4 },     { 20, 10, 0, 1, 4 },         { 20, 10, -30, 1, 4 },
    { 20, 10, -INFINITY, 1, 4 }, { 20, 10, NAN, 1, 4 },
    { 35, 25, 35, 0.25, 1 },     { 35, 25, 25, 0.75, 3 },     { 35, 25, 55, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnHeatHandles handles = { cases[i].fine, cases[i].bad };
      double t = vn_heat_t (cases[i].axis, handles);

      g_test_message ("F %g B %g axis %g: t %g (wanted %g), %u ticks (wanted %u)", cases[i].fine,
                      cases[i].bad, cases[i].axis,
                      t, cases[i].t, vn_heat_ticks (cases[i].axis, handles), cases[i].ticks);
      g_assert_cmpfloat_with_epsilon (t, cases[i].t, 1e-9);
      g_assert_cmpuint (vn_heat_ticks (cases[i].axis, handles), ==, cases[i].ticks);
      if (t > 0 && t < 1)
        g_assert_cmpfloat_with_epsilon (vn_heat_axis_at (t, handles), cases[i].axis, 1e-9);
    }
}

static void
test_metrics (void)
{
  static const struct {
    VnMetric    metric;
    double      value, axis;
    const char *text;
  } cases[] = {
    { VN_METRIC_SQNR, 16.24, 16.24, "16.2" },    { VN_METRIC_SQNR, -3, -3, "\u22123.0" },
    { VN_METRIC_SQNR, -0.01, -0.01, "0.0" },     { VN_METRIC_SQNR, INFINITY, INFINITY, "∞" },
    { VN_METRIC_SQNR, NAN, NAN, "NaN" },         { VN_METRIC_NOISE, 0.01, 20, "0.01" },
    { VN_METRIC_NOISE, 0, INFINITY, "0" },       { VN_METRIC_NOISE, INFINITY, -INFINITY, "∞" },
    { VN_METRIC_COSINE, 0.999, 30, "0.9990" },   { VN_METRIC_COSINE, 1, INFINITY, "1.0000" },
    { VN_METRIC_COSINE, NAN, NAN, "NaN" },       { VN_METRIC_MSE, 1e-4, 40, "0.0001" },
    { VN_METRIC_MAX_ERROR, 10, -10, "10" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      double axis = vn_heat_axis (cases[i].metric, cases[i].value);
      g_autofree char *text = vn_metric_format_short (cases[i].metric, cases[i].value);

      g_test_message ("metric %d value %g: axis %g, “%s”", cases[i].metric, cases[i].value, axis, text);
      g_assert_cmpstr (text, ==, cases[i].text);
      if (isfinite (cases[i].axis))
        {
          g_assert_cmpfloat_with_epsilon (axis, cases[i].axis, 1e-9);
          g_assert_cmpfloat_with_epsilon (vn_heat_from_axis (cases[i].metric, axis), cases[i].value, 1e-9);
        }
      else
        {
          g_assert_true (isnan (axis) == isnan (cases[i].axis));
          g_assert_true (isnan (axis) || axis == cases[i].axis);
        }
    }
}

static void
test_handles (void)
{
  double values[101];
  VnHeatHandles handles;

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = pow (10, -(double) i / 10);      /* axis 0, 1 … 100 */
  handles = vn_heat_handles_from_values (VN_METRIC_MSE, values, G_N_ELEMENTS (values));
  g_test_message ("fine %g bad %g", handles.fine, handles.bad);
  g_assert_cmpfloat_with_epsilon (handles.fine, 25, 1e-9);
  g_assert_cmpfloat_with_epsilon (handles.bad, 5, 1e-9);

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = i < 50 ? 0.5 : NAN;
  handles = vn_heat_handles_from_values (VN_METRIC_MAX_ERROR, values, G_N_ELEMENTS (values));
  g_test_message ("fine %g bad %g", handles.fine, handles.bad);
  g_assert_cmpfloat (handles.fine, >=, handles.bad + 1);
  g_assert_cmpfloat_with_epsilon (handles.bad, -10 * log10 (0.5), 1e-9);

  handles = vn_heat_handles_from_values (VN_METRIC_MSE, NULL, 0);
  g_assert_cmpfloat (handles.fine, ==, 20);
  handles = vn_heat_handles_from_values (VN_METRIC_COSINE, values, 3);
  g_assert_cmpfloat_with_epsilon (handles.fine, 30, 1e-9);
}

static VnErrorTable *
make_outputs (double a,
              double b)
{
  VnErrorTable *table = vn_error_table_new (1);
  double db[] = { a, b, -50 };

  for (guint i = 0; i < G_N_ELEMENTS (db); i++)
    {
      VnErrorRow *row = vn_error_row_new ();

      row->value = g_strdup_printf ("v%u", i);
      row->node = g_strdup ("");
      row->op_type = g_strdup ("");
      row->is_output = i < 2;
      row->sqnr_db = db[i];
      vn_error_table_add (table, row);
    }
  return table;
}

/* A share of little is little: the worst output decides, and no share is more than the whole. */
static void
test_shares (void)
{
  static const struct { double a, b, fine, bad; } cases[] = {
    { 8, 40, 20, 10 }, { 20, 40, 20, 10 }, { 40, 26, 14, 4 }, { 33, 50, 7, 0 }, { 60, 45, 3.0103, 0 }, { -INFINITY, 60, 20, 10 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnErrorTable) errors = make_outputs (cases[i].a, cases[i].b);
      VnHeatHandles handles = vn_heat_handles_for_run (VN_METRIC_CONTRIBUTION, errors);

      g_assert_cmpfloat_with_epsilon (handles.fine, cases[i].fine, 1e-4);
      g_assert_cmpfloat_with_epsilon (handles.bad, cases[i].bad, 1e-9);
      handles = vn_heat_handles_for_run (VN_METRIC_SQNR, errors);
      g_assert_cmpfloat (handles.fine, ==, 20);
    }
  g_assert_cmpfloat (vn_heat_handles_for_run (VN_METRIC_CONTRIBUTION, NULL).bad, ==, 10);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/heat/stops", test_stops);
  g_test_add_func ("/heat/lightness", test_lightness);
  g_test_add_func ("/heat/mapping", test_mapping);
  g_test_add_func ("/heat/metrics", test_metrics);
  g_test_add_func ("/heat/handles", test_handles);
  g_test_add_func ("/heat/shares", test_shares);
  return g_test_run ();
}
