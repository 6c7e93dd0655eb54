/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A widget that shows one value of the error scale: as a coloured box, or as a bar in the lists of nodes. */
#include "vn-swatch.h"

#include "vn-i18n.h"

#include <adwaita.h>
#include <math.h>

#define SWATCH_WIDTH 22
#define SWATCH_HEIGHT 16
#define BAR_WIDTH 150
#define N_TICKS 4

struct _VnSwatch
{
  GtkWidget     parent_instance;

  gboolean      as_bar;
  int           bar_width;
  VnSwatchState state;
  VnMetric      metric;
  double        value;
  VnHeatHandles handles;
  AdwStyleManager *style;   /* borrowed: lives as long as the program */
};

G_DEFINE_FINAL_TYPE (VnSwatch, vn_swatch, GTK_TYPE_WIDGET)

static void
swatch_set_ink (cairo_t       *cr,
                const GdkRGBA *ink,
                double         alpha)
{
  cairo_set_source_rgba (cr, ink->red, ink->green, ink->blue, alpha);
}

static void
swatch_rounded (cairo_t *cr,
                double   x,
                double   y,
                double   width,
                double   height,
                double   radius)
{
  double r = MIN (radius, MIN (width, height) / 2);

  cairo_new_sub_path (cr);
  cairo_arc (cr, x + width - r, y + r, r, -G_PI_2, 0);
  cairo_arc (cr, x + width - r, y + height - r, r, 0, G_PI_2);
  cairo_arc (cr, x + r, y + height - r, r, G_PI_2, G_PI);
  cairo_arc (cr, x + r, y + r, r, G_PI, 1.5 * G_PI);
  cairo_close_path (cr);
}

static void
swatch_draw_outline (cairo_t       *cr,
                     const GdkRGBA *ink,
                     double         height,
                     gboolean       dotted)
{
  static const double dots[] = { 0, 3 };

  swatch_rounded (cr, 0.75, (height - SWATCH_HEIGHT) / 2 + 1.75, SWATCH_WIDTH - 1.5, SWATCH_HEIGHT - 3.5, 3.5);
  swatch_set_ink (cr, ink, dotted ? 0.7 : 0.25);
  cairo_set_line_width (cr, dotted ? 1.4 : 1);
  if (dotted)
    {
      cairo_set_line_cap (cr, CAIRO_LINE_CAP_ROUND);
      cairo_set_dash (cr, dots, 2, 0);
    }
  cairo_stroke (cr);
}

static void
swatch_draw_box (VnSwatch      *self,
                 cairo_t       *cr,
                 const GdkRGBA *ink,
                 double         height)
{
  double axis = vn_heat_axis (self->metric, self->value);
  VnColor fill = vn_heat_color (VN_HEAT_ERROR, adw_style_manager_get_dark (self->style),
                                vn_heat_t (axis, self->handles));
  VnColor tick = vn_color_get_text (fill);
  guint n_filled = vn_heat_ticks (axis, self->handles);
  double top = (height - SWATCH_HEIGHT) / 2;

  swatch_rounded (cr, 0.5, top + 1.5, SWATCH_WIDTH - 1, SWATCH_HEIGHT - 3, 3.5);
  cairo_set_source_rgb (cr, fill.r, fill.g, fill.b);
  cairo_fill_preserve (cr);
  swatch_set_ink (cr, ink, 0.45);
  cairo_set_line_width (cr, 1);
  cairo_stroke (cr);
  for (guint i = 0; i < N_TICKS; i++)
    {
      cairo_set_source_rgba (cr, tick.r, tick.g, tick.b, i < n_filled ? 1 : 0.22);
      cairo_rectangle (cr, 4 + 4 * i, top + 4, 2, SWATCH_HEIGHT - 8);
      cairo_fill (cr);
    }
}

/* The dashed lines stand at the handles "fine" and "bad". */
static void
swatch_draw_handles (cairo_t       *cr,
                     const GdkRGBA *ink,
                     double         width,
                     double         top)
{
  static const double dash[] = { 2, 2 };

  swatch_set_ink (cr, ink, 0.3);
  cairo_set_dash (cr, dash, 2, 0);
  for (guint i = 0; i < 2; i++)
    {
      double x = floor (width * (i == 0 ? 0.25 : 0.75)) + 0.5;

      cairo_move_to (cr, x, top - 2);
      cairo_line_to (cr, x, top + 15);
    }
  cairo_stroke (cr);
}

/* The bar of a share is as long as the share; others grow with the error. */
static void
swatch_draw_bar (VnSwatch      *self,
                 cairo_t       *cr,
                 const GdkRGBA *ink,
                 double         width,
                 double         height)
{
  gboolean is_share = vn_metric_get_info (self->metric)->scale == VN_SCALE_SHARE;
  double t = vn_heat_t (vn_heat_axis (self->metric, self->value), self->handles);
  double length = is_share ? CLAMP (self->value, 0, 1) * width : t * width;
  VnColor fill = vn_heat_color (VN_HEAT_ERROR, adw_style_manager_get_dark (self->style), t);
  double top = floor ((height - 13) / 2);

  swatch_rounded (cr, 0, top, width, 13, 3);
  swatch_set_ink (cr, ink, 0.05);
  cairo_fill (cr);
  swatch_rounded (cr, 0.5, top + 0.5, MAX (is_share ? 3 : 6, length) - 1, 12, 3);
  cairo_set_source_rgb (cr, fill.r, fill.g, fill.b);
  cairo_fill_preserve (cr);
  swatch_set_ink (cr, ink, 0.35);
  cairo_set_line_width (cr, 1);
  cairo_stroke (cr);

  if (!is_share)
    swatch_draw_handles (cr, ink, width, top);
}

static void
vn_swatch_snapshot (GtkWidget   *widget,
                    GtkSnapshot *snapshot)
{
  VnSwatch *self = VN_SWATCH (widget);
  int width = gtk_widget_get_width (widget);
  int height = gtk_widget_get_height (widget);
  GdkRGBA ink;
  cairo_t *cr;

  if (self->as_bar && self->state != VN_SWATCH_VALUE)
    return;
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &ink);
  cr = gtk_snapshot_append_cairo (snapshot, &GRAPHENE_RECT_INIT (-1, -1, width + 2, height + 2));
  if (self->as_bar)
    swatch_draw_bar (self, cr, &ink, width, height);
  else if (self->state == VN_SWATCH_VALUE)
    swatch_draw_box (self, cr, &ink, height);
  else
    swatch_draw_outline (cr, &ink, height, self->state == VN_SWATCH_FLOAT);
  cairo_destroy (cr);
}

static void
vn_swatch_measure (GtkWidget      *widget,
                   GtkOrientation  orientation,
                   int             for_size,
                   int            *minimum,
                   int            *natural,
                   int            *minimum_baseline,
                   int            *natural_baseline)
{
  VnSwatch *self = VN_SWATCH (widget);

  if (orientation == GTK_ORIENTATION_VERTICAL)
    *minimum = *natural = SWATCH_HEIGHT;
  else
    {
      *minimum = self->as_bar ? MIN (self->bar_width, BAR_WIDTH / 2) : SWATCH_WIDTH;
      *natural = self->as_bar ? self->bar_width : SWATCH_WIDTH;
    }
}

static void
vn_swatch_constructed (GObject *object)
{
  VnSwatch *self = VN_SWATCH (object);

  G_OBJECT_CLASS (vn_swatch_parent_class)->constructed (object);
  self->style = adw_style_manager_get_default ();
  g_signal_connect_object (self->style, "notify::dark", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);
}

static void
vn_swatch_class_init (VnSwatchClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->constructed = vn_swatch_constructed;
  widget_class->snapshot = vn_swatch_snapshot;
  widget_class->measure = vn_swatch_measure;
  gtk_widget_class_set_css_name (widget_class, "swatch");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
vn_swatch_init (VnSwatch *self)
{
  self->handles = vn_heat_default_handles (VN_METRIC_SQNR);
}

/**
 * vn_swatch_new:
 * @as_bar: a bar instead of a box
 */
GtkWidget *
vn_swatch_new (gboolean as_bar)
{
  VnSwatch *self = g_object_new (VN_TYPE_SWATCH, "valign", GTK_ALIGN_CENTER, NULL);

  self->as_bar = as_bar;
  self->bar_width = BAR_WIDTH;
  return GTK_WIDGET (self);
}

/**
 * vn_swatch_new_bar:
 * @width: in pixels, where there is room for it
 *
 * Returns: (transfer floating): a bar
 */
GtkWidget *
vn_swatch_new_bar (int width)
{
  VnSwatch *self = VN_SWATCH (vn_swatch_new (TRUE));

  self->bar_width = width;
  return GTK_WIDGET (self);
}

/* What the colour says, in words. */
static void
swatch_update_label (VnSwatch *self)
{
  static const char * const bands[N_TICKS + 1] = { N_("fine"), N_("fine"), N_("borderline"), N_("borderline"), N_("bad") };
  const char *band = _(bands[vn_heat_ticks (vn_heat_axis (self->metric, self->value), self->handles)]);
  g_autofree char *text = vn_metric_format (self->metric, self->value);
  g_autofree char *label = NULL;

  if (self->state != VN_SWATCH_VALUE)
    label = g_strdup (self->state == VN_SWATCH_FLOAT ? _("not quantized") : _("not measured"));
  else if (self->metric == VN_METRIC_SQNR)
    label = g_strdup_printf (_("%.1f decibels, %s"), self->value, band);
  else
    label = g_strdup_printf (_("%s %s, %s"), _(vn_metric_get_info (self->metric)->title), text, band);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}

/**
 * vn_swatch_set:
 * @metric: not one whose scale depends on the network
 * @value: NaN counts as the worst
 *
 * The handles are where they stand by default.
 */
void
vn_swatch_set (VnSwatch      *self,
               VnSwatchState  state,
               VnMetric       metric,
               double         value)
{
  g_return_if_fail (VN_IS_SWATCH (self));

  self->state = state;
  self->metric = metric;
  self->value = value;
  vn_swatch_set_handles (self, vn_heat_default_handles (metric));
}

/**
 * vn_swatch_set_handles:
 * @handles: where fine ends and bad begins, of the metric that is shown
 */
void
vn_swatch_set_handles (VnSwatch      *self,
                       VnHeatHandles  handles)
{
  g_return_if_fail (VN_IS_SWATCH (self));

  self->handles = handles;
  swatch_update_label (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
