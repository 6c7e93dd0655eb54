/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What floats over the canvas of the graph page, so that the network can be shown beside it. */
#include "graph-page-private.h"

/* Where a panel is, or will be: sizes are asked for, since a panel that has just changed has not got its own yet. */
static VnRect
graph_page_get_panel (VnGraphPage *self,
                      GtkWidget   *panel,
                      GtkWidget   *content)
{
  int width = gtk_widget_get_width (GTK_WIDGET (self->view)), height = gtk_widget_get_height (GTK_WIDGET (self->view));
  GtkAlign across = gtk_widget_get_halign (panel), down = gtk_widget_get_valign (panel);
  GtkRequisition size;
  VnRect rect;

  gtk_widget_get_preferred_size (content, NULL, &size);   /* with its margins */
  if (content != panel)
    {
      size.width += gtk_widget_get_margin_start (panel) + gtk_widget_get_margin_end (panel);
      size.height += gtk_widget_get_margin_top (panel) + gtk_widget_get_margin_bottom (panel);
    }
  size.width = MIN (size.width, width);
  rect.width = size.width;
  rect.height = size.height;
  rect.x = across == GTK_ALIGN_START ? 0 : across == GTK_ALIGN_END ? width - size.width : (width - size.width) / 2;
  rect.y = down == GTK_ALIGN_START ? 0 : down == GTK_ALIGN_END ? height - size.height : (height - size.height) / 2;
  return rect;
}

/* How far what is beside the bar of the selection has to move up when that is there: not at all, if there is room beside it. */
static int
graph_page_measure_lift (VnGraphPage *self,
                         int          panel_width)
{
  int width = gtk_widget_get_width (GTK_WIDGET (self->view));
  GtkRequisition bar;

  gtk_widget_get_preferred_size (gtk_revealer_get_child (self->bar), NULL, &bar);   /* with its margins */
  return panel_width > (width - MIN (bar.width, width)) / 2 ? bar.height : 0;
}

/* Both lower corners are above the bar of the selection where it would lie over them. */
gboolean
vn_graph_page_place_panel (VnGraphPage  *self,
                           GtkWidget    *child,
                           GdkRectangle *place)
{
  int width = gtk_widget_get_width (GTK_WIDGET (self->view)), height = gtk_widget_get_height (GTK_WIDGET (self->view));
  GtkRequisition size;

  if (child != self->corner && child != GTK_WIDGET (self->symbols))
    return FALSE;
  gtk_widget_get_preferred_size (child, NULL, &size);
  place->width = MIN (size.width, width);
  place->height = MIN (size.height, height);
  place->x = child == self->corner ? width - place->width : 0;
  place->y = height - place->height;
  if (gtk_revealer_get_reveal_child (self->bar))
    place->y = MAX (place->y - graph_page_measure_lift (self, place->width), 0);
  return TRUE;
}

/* A panel in a lower corner, and where it goes when something is selected. */
static VnRect
graph_page_get_corner (VnGraphPage *self,
                       GtkWidget   *panel,
                       GtkWidget   *content)
{
  VnRect rect = graph_page_get_panel (self, panel, content);
  int lift = graph_page_measure_lift (self, (int) rect.width);

  rect.y -= lift;
  rect.height += lift;
  return rect;
}

/**
 * vn_graph_page_list_panels:
 * @data: the page
 * @most: at least 4
 *
 * Of the corner with the minimap only the buttons count: the minimap goes away when all is seen. The bar of the selection counts
 * although nothing is selected: selecting something is not to cover what is seen.
 *
 * Returns: how many there are
 */
guint
vn_graph_page_list_panels (gpointer  data,
                           VnRect   *panels,
                           guint     most)
{
  VnGraphPage *self = data;
  guint n = 0;

  g_return_val_if_fail (self != NULL && panels != NULL && most >= 4, 0);

  if (self->legend == NULL)
    return 0;   /* on its way out */
  if (gtk_widget_get_visible (GTK_WIDGET (self->legend)))
    panels[n++] = graph_page_get_panel (self, GTK_WIDGET (self->legend), GTK_WIDGET (self->legend));
  if (gtk_widget_get_visible (GTK_WIDGET (self->symbols)))
    panels[n++] = graph_page_get_corner (self, GTK_WIDGET (self->symbols), GTK_WIDGET (self->symbols));
  panels[n++] = graph_page_get_corner (self, self->corner, self->zoom_box);
  panels[n++] = graph_page_get_panel (self, GTK_WIDGET (self->bar), gtk_revealer_get_child (self->bar));
  return n;
}
