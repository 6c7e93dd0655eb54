/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bar that explains the colours of sizes, of times, of other numbers, and of what changed between two runs. */
#include "legend-scale.h"

#include "vn-format.h"
#include "vn-heat.h"
#include "vn-i18n.h"
#include "vn-overlay-choice.h"

#include <adwaita.h>
#include <math.h>

#define BAR_HEIGHT    12
#define SCALE_HEIGHT  20
#define MARGIN        10

typedef struct
{
  VnOverlayKind kind;
  VnAmountUnit  unit;
  double        total, least, largest;
} Scale;

/* Where a figure stands on the bar, 0 to 1, and what is written above it and below it. */
typedef struct
{
  double t;
  char  *above, *below;
} ScaleMark;

static const double scale_shares[] = { 0.001, 0.01, 0.1, 1 };
static const double scale_gains[] = { VN_DIFFERENCE_SPAN, VN_DIFFERENCE_SPAN / 2, 0, -VN_DIFFERENCE_SPAN / 2,
                                      -VN_DIFFERENCE_SPAN };

static const double scale_places[] = { 0, 0.5, 1 };

static guint
legend_scale_count_marks (const Scale *self)
{
  return self->kind == VN_OVERLAY_AMOUNT ? G_N_ELEMENTS (scale_shares)
         : self->kind == VN_OVERLAY_NUMBER ? G_N_ELEMENTS (scale_places) : G_N_ELEMENTS (scale_gains);
}

static void
legend_scale_make_mark (const Scale *self,
                        guint        i,
                        ScaleMark   *mark)
{
  double gain;

  if (self->kind == VN_OVERLAY_AMOUNT)
    {
      *mark = (ScaleMark) { vn_amount_t (scale_shares[i]), g_strdup_printf ("%g\u00a0%%", 100 * scale_shares[i]),
                            self->total > 0 ? vn_amount_format (self->unit, scale_shares[i] * self->total) : NULL };
      return;
    }
  if (self->kind == VN_OVERLAY_NUMBER)
    {
      const double t = scale_places[i];

      *mark = (ScaleMark) { t, vn_format_number ((1 - t) * self->least + t * self->largest, 3), NULL };
      return;
    }
  gain = scale_gains[i];
  *mark = (ScaleMark) { 0.5 - gain / (2 * VN_DIFFERENCE_SPAN),
                        g_strdup_printf ("%s%g", gain > 0 ? "+" : gain < 0 ? "\u2212" : "", fabs (gain)),
                        gain == VN_DIFFERENCE_SPAN ? g_strdup (_("gain")) : gain == -VN_DIFFERENCE_SPAN
                        ? g_strdup (_("loss")) : NULL };
}

static void
legend_scale_mark_clear (ScaleMark *mark)
{
  g_free (mark->above);
  g_free (mark->below);
}

static VnColor
legend_scale_get_color (const Scale *self,
                        gboolean     dark,
                        double       t)
{
  return self->kind == VN_OVERLAY_DIFFERENCE ? vn_heat_difference (dark, 2 * t - 1) : vn_heat_color (VN_HEAT_AMOUNT, dark, t);
}

static void
legend_scale_draw_text (cairo_t     *cr,
                        PangoLayout *layout,
                        const char  *text,
                        double       x,
                        double       y,
                        double       width)
{
  int w, h;

  if (text == NULL)
    return;
  pango_layout_set_text (layout, text, -1);
  pango_layout_get_pixel_size (layout, &w, &h);
  cairo_move_to (cr, CLAMP (x - w / 2., 0, width - w), y);
  pango_cairo_show_layout (cr, layout);
}

static void
legend_scale_draw_marks (GtkWidget   *widget,
                         cairo_t     *cr,
                         const Scale *self,
                         double       width)
{
  g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout (widget, NULL);
  PangoAttrList *attrs = pango_attr_list_new ();

  pango_attr_list_insert (attrs, pango_attr_scale_new (0.77));
  pango_attr_list_insert (attrs, pango_attr_font_features_new ("tnum"));
  pango_layout_set_attributes (layout, attrs);
  pango_attr_list_unref (attrs);
  for (guint i = 0; i < legend_scale_count_marks (self); i++)
    {
      ScaleMark mark;
      double x;

      legend_scale_make_mark (self, i, &mark);
      x = MARGIN + floor (mark.t * (width - 2 * MARGIN)) + 0.5;
      cairo_move_to (cr, x, SCALE_HEIGHT - 1);
      cairo_rel_line_to (cr, 0, -4);
      cairo_move_to (cr, x, SCALE_HEIGHT + BAR_HEIGHT + 1);
      cairo_rel_line_to (cr, 0, 4);
      cairo_stroke (cr);
      legend_scale_draw_text (cr, layout, mark.above, x, 0, width);
      legend_scale_draw_text (cr, layout, mark.below, x, SCALE_HEIGHT + BAR_HEIGHT + 5, width);
      legend_scale_mark_clear (&mark);
    }
}

static void
legend_scale_draw (GtkDrawingArea *area,
                   cairo_t        *cr,
                   int             width,
                   int             height,
                   gpointer        data)
{
  const Scale *self = data;
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  int inner = width - 2 * MARGIN;
  GdkRGBA ink;

  gtk_style_context_get_color (gtk_widget_get_style_context (GTK_WIDGET (area)), &ink);
  for (int x = 0; x < inner; x++)
    {
      VnColor color = legend_scale_get_color (self, dark, (x + 0.5) / inner);

      cairo_set_source_rgb (cr, color.r, color.g, color.b);
      cairo_rectangle (cr, MARGIN + x, SCALE_HEIGHT, 1, BAR_HEIGHT);
      cairo_fill (cr);
    }
  cairo_set_line_width (cr, 1);
  cairo_set_source_rgba (cr, ink.red, ink.green, ink.blue, 0.4);
  cairo_rectangle (cr, MARGIN + 0.5, SCALE_HEIGHT + 0.5, inner - 1, BAR_HEIGHT - 1);
  cairo_stroke (cr);
  cairo_set_source_rgba (cr, ink.red, ink.green, ink.blue, 0.8);
  legend_scale_draw_marks (GTK_WIDGET (area), cr, self, width);
}

/* The ends of the scale in words. */
static void
legend_scale_describe (GtkWidget   *widget,
                       const Scale *self)
{
  guint last = legend_scale_count_marks (self) - 1;
  ScaleMark from, to;
  g_autofree char *text = NULL;

  legend_scale_make_mark (self, 0, &from);
  legend_scale_make_mark (self, last, &to);
  text = g_strdup_printf (_("Scale from %s to %s"), from.above, to.above);
  legend_scale_mark_clear (&from);
  legend_scale_mark_clear (&to);
  gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

/**
 * vn_legend_scale_new:
 *
 * Returns: (transfer floating): a bar
 */
GtkWidget *
vn_legend_scale_new (void)
{
  GtkWidget *widget = g_object_new (GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_IMG, NULL);
  Scale *self = g_new0 (Scale, 1);

  self->kind = VN_OVERLAY_AMOUNT;
  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (widget), 2 * SCALE_HEIGHT + BAR_HEIGHT);
  gtk_drawing_area_set_content_width (GTK_DRAWING_AREA (widget), 200);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (widget), legend_scale_draw, self, NULL);
  g_object_set_data_full (G_OBJECT (widget), "vn-scale", self, g_free);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark", G_CALLBACK (gtk_widget_queue_draw), widget,
                           G_CONNECT_SWAPPED);
  return widget;
}

/**
 * vn_legend_scale_set_overlay:
 * @kind: %VN_OVERLAY_AMOUNT, %VN_OVERLAY_NUMBER or %VN_OVERLAY_DIFFERENCE
 */
void
vn_legend_scale_set_overlay (GtkWidget       *widget,
                             VnOverlayKind    kind,
                             const VnOverlay *overlay)
{
  Scale *self = g_object_get_data (G_OBJECT (widget), "vn-scale");

  g_return_if_fail (self != NULL);

  self->kind = kind;
  self->total = overlay != NULL ? vn_overlay_get_total (overlay) : 0;
  self->least = self->largest = 0;
  if (overlay != NULL)
    vn_overlay_get_span (overlay, &self->least, &self->largest);
  self->unit = overlay != NULL ? vn_overlay_get_amount_unit (overlay) : VN_AMOUNT_BYTES;
  legend_scale_describe (widget, self);
  gtk_widget_queue_draw (widget);
}
