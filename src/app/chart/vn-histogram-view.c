/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A widget that draws a histogram with ranges over it, with the painter of the report's charts. */
#include "vn-histogram-view.h"

#include <adwaita.h>

struct _VnHistogramView
{
  GtkDrawingArea     parent_instance;

  const VnHistogram *histogram;    /* kept alive by @owner */
  gpointer           owner;
  GDestroyNotify     owner_free;
  GArray            *ranges;       /* of VnChartRange */
};

G_DEFINE_FINAL_TYPE (VnHistogramView, vn_histogram_view, GTK_TYPE_DRAWING_AREA)

static void
histogram_view_draw (GtkDrawingArea *area,
                     cairo_t        *cr,
                     int             width,
                     int             height,
                     gpointer        data)
{
  VnHistogramView *self = VN_HISTOGRAM_VIEW (area);
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  g_autoptr(VnPen) pen = NULL;

  if (self->histogram == NULL)
    return;
  pen = vn_pen_new_cairo (cr, dark ? &vn_pen_theme_dark : &vn_pen_theme_light);
  vn_chart_histogram (pen, width, height, self->histogram,
                      (const VnChartRange *) (gpointer) self->ranges->data, self->ranges->len);
}

static void
histogram_view_clear_owner (VnHistogramView *self)
{
  if (self->owner_free != NULL && self->owner != NULL)
    self->owner_free (self->owner);
  self->owner = NULL;
  self->histogram = NULL;
}

static void
vn_histogram_view_finalize (GObject *object)
{
  VnHistogramView *self = VN_HISTOGRAM_VIEW (object);

  histogram_view_clear_owner (self);
  g_array_unref (self->ranges);
  G_OBJECT_CLASS (vn_histogram_view_parent_class)->finalize (object);
}

static void
vn_histogram_view_class_init (VnHistogramViewClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_histogram_view_finalize;
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_IMG);
}

static void
vn_histogram_view_init (VnHistogramView *self)
{
  self->ranges = g_array_new (FALSE, FALSE, sizeof (VnChartRange));
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self), histogram_view_draw, NULL, NULL);
  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (self), 128);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark",
                           G_CALLBACK (gtk_widget_queue_draw), self, G_CONNECT_SWAPPED);
}

GtkWidget *
vn_histogram_view_new (void)
{
  return g_object_new (VN_TYPE_HISTOGRAM_VIEW, NULL);
}

/**
 * vn_histogram_view_set:
 * @histogram: (nullable): what is drawn
 * @owner: (transfer full) (nullable): what keeps @histogram alive; freed with @owner_free
 * @ranges: copied, but for the static titles
 */
void
vn_histogram_view_set (VnHistogramView    *self,
                       const VnHistogram  *histogram,
                       gpointer            owner,
                       GDestroyNotify      owner_free,
                       const VnChartRange *ranges,
                       guint               n_ranges)
{
  g_return_if_fail (VN_IS_HISTOGRAM_VIEW (self));

  histogram_view_clear_owner (self);
  self->histogram = histogram;
  self->owner = owner;
  self->owner_free = owner_free;
  g_array_set_size (self->ranges, 0);
  if (n_ranges > 0)
    g_array_append_vals (self->ranges, ranges, n_ranges);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
