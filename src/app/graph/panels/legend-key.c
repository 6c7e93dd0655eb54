/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line of the key of colours: a sample, what it stands for, and how many nodes are so. */
#include "legend-key.h"

#include "vn-heat.h"
#include "vn-i18n.h"

#include <adwaita.h>
#include <math.h>

#define SWATCH_WIDTH  22
#define SWATCH_HEIGHT 16
#define MAX_KEYS      8

static void
legend_key_draw_letters (GtkDrawingArea *area,
                         cairo_t        *cr,
                         const char     *letters,
                         VnColor         text)
{
  g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout (GTK_WIDGET (area), letters);
  PangoAttrList *attrs = pango_attr_list_new ();
  int width, height;

  pango_attr_list_insert (attrs, pango_attr_scale_new (0.66));
  pango_attr_list_insert (attrs, pango_attr_weight_new (PANGO_WEIGHT_BOLD));
  pango_layout_set_attributes (layout, attrs);
  pango_attr_list_unref (attrs);
  pango_layout_get_pixel_size (layout, &width, &height);
  cairo_set_source_rgb (cr, text.r, text.g, text.b);
  cairo_move_to (cr, (SWATCH_WIDTH - width) / 2., (SWATCH_HEIGHT - height) / 2.);
  pango_cairo_show_layout (cr, layout);
}

static VnColor
legend_key_get_color (VnOverlayKind        kind,
                      const VnOverlayBand *band,
                      gboolean             dark)
{
  if (kind == VN_OVERLAY_DIFFERENCE)
    return vn_heat_difference (dark, band->t);
  return vn_heat_color (kind == VN_OVERLAY_ERROR || kind == VN_OVERLAY_PRECISION ? VN_HEAT_ERROR : VN_HEAT_AMOUNT, dark, band->t);
}

static void
legend_key_draw (GtkDrawingArea *area,
                 cairo_t        *cr,
                 int             width,
                 int             height,
                 gpointer        user_data)
{
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  VnOverlayKind kind = (VnOverlayKind) (GPOINTER_TO_UINT (user_data) / MAX_KEYS);
  guint at = GPOINTER_TO_UINT (user_data) % MAX_KEYS, n;
  const VnOverlayBand *band = &vn_overlay_kind_get_bands (kind, &n)[at];
  gboolean is_bad = kind == VN_OVERLAY_ERROR && at == VN_BAND_BAD;
  VnColor fill = legend_key_get_color (kind, band, dark), text = vn_color_get_text (fill);
  double radius = 4;

  cairo_arc (cr, width - 0.5 - radius, 0.5 + radius, radius, -G_PI_2, 0);
  cairo_arc (cr, width - 0.5 - radius, height - 0.5 - radius, radius, 0, G_PI_2);
  cairo_arc (cr, 0.5 + radius, height - 0.5 - radius, radius, G_PI_2, G_PI);
  cairo_arc (cr, 0.5 + radius, 0.5 + radius, radius, G_PI, 3 * G_PI_2);
  cairo_close_path (cr);
  cairo_set_source_rgb (cr, fill.r, fill.g, fill.b);
  cairo_fill_preserve (cr);
  cairo_set_source_rgba (cr, dark, dark, dark, is_bad ? 0.7 : 0.38);
  cairo_set_line_width (cr, 1);
  cairo_stroke (cr);
  if (band->letters != NULL)
    {
      legend_key_draw_letters (area, cr, band->letters, text);
      return;
    }
  for (guint i = 0; i < 4; i++)
    {
      cairo_set_source_rgba (cr, text.r, text.g, text.b, i < band->ticks ? 1 : 0.22);
      cairo_rectangle (cr, width / 2. - 7 + 4 * i, height / 2. - 4, 2, 8);
      cairo_fill (cr);
    }
}

/**
 * vn_legend_key_new:
 * @at: of vn_overlay_kind_get_bands()
 * @text: its title
 *
 * Returns: (transfer floating): a button; its data "band" is @at, its data "count" the label with the number of nodes
 */
GtkWidget *
vn_legend_key_new (VnOverlayKind  kind,
                   guint          at,
                   const char    *text)
{
  GtkWidget *button = gtk_button_new (), *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 5);
  GtkWidget *swatch = gtk_drawing_area_new (), *title = gtk_label_new (text), *count = gtk_label_new ("0");

  gtk_drawing_area_set_content_width (GTK_DRAWING_AREA (swatch), SWATCH_WIDTH);
  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (swatch), SWATCH_HEIGHT);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (swatch), legend_key_draw, GUINT_TO_POINTER (kind * MAX_KEYS + at), NULL);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark",
                           G_CALLBACK (gtk_widget_queue_draw), swatch, G_CONNECT_SWAPPED);
  gtk_widget_set_valign (swatch, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (title, "caption");
  gtk_widget_add_css_class (count, "caption");
  gtk_widget_add_css_class (count, "numeric");
  gtk_widget_add_css_class (count, "dim-label");
  gtk_box_append (GTK_BOX (box), swatch);
  gtk_box_append (GTK_BOX (box), title);
  gtk_box_append (GTK_BOX (box), count);
  gtk_button_set_child (GTK_BUTTON (button), box);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_add_css_class (button, "legend-key");
  gtk_widget_set_tooltip_text (button, _("Select these nodes and go to the first; again: to the next"));
  g_object_set_data (G_OBJECT (button), "band", GUINT_TO_POINTER (at));
  g_object_set_data (G_OBJECT (button), "count", count);
  return button;
}
