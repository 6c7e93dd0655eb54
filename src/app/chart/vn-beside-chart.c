/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A widget that draws the values of a channel, with the painter of the report's charts. */
#include "vn-beside-chart.h"

#include "vn-chart-beside.h"

#include <adwaita.h>

struct _VnBesideChart
{
  GtkDrawingArea parent_instance;

  VnTensorValues values;
  gboolean       has_values;
};

G_DEFINE_FINAL_TYPE (VnBesideChart, vn_beside_chart, GTK_TYPE_DRAWING_AREA)

static void
beside_chart_draw (GtkDrawingArea *area,
                   cairo_t        *cr,
                   int             width,
                   int             height,
                   gpointer        data)
{
  VnBesideChart *self = VN_BESIDE_CHART (area);
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  VnChartLevels levels = { self->values.levels, self->values.counts, self->values.n_levels };
  double counts[VN_TENSOR_BARS];
  VnChartBars bars = { self->values.low, self->values.high, counts, VN_TENSOR_BARS };
  g_autoptr(VnPen) pen = NULL;

  if (!self->has_values)
    return;
  for (guint i = 0; i < VN_TENSOR_BARS; i++)
    counts[i] = self->values.bars[i];
  pen = vn_pen_new_cairo (cr, dark ? &vn_pen_theme_dark : &vn_pen_theme_light);
  vn_chart_draw_levels (pen, width, height, &bars, &levels);
}

static void
vn_beside_chart_class_init (VnBesideChartClass *klass)
{
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_IMG);
}

static void
vn_beside_chart_init (VnBesideChart *self)
{
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self), beside_chart_draw, NULL, NULL);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);
}

GtkWidget *
vn_beside_chart_new (void)
{
  return g_object_new (VN_TYPE_BESIDE_CHART, NULL);
}

/**
 * vn_beside_chart_set:
 * @values: (nullable): copied; %NULL: nothing is drawn
 */
void
vn_beside_chart_set (VnBesideChart        *self,
                     const VnTensorValues *values)
{
  g_return_if_fail (VN_IS_BESIDE_CHART (self));

  self->has_values = values != NULL;
  if (values != NULL)
    self->values = *values;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
