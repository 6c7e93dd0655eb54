/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What floats over one side of a comparison, and where. */
#include "compare-pane-private.h"

/* Where both do not fit beside each other, the key comes below the choice. */
gboolean
vn_compare_pane_place_key (VnComparePane *self,
                           GtkWidget     *child,
                           GdkRectangle  *place)
{
  GtkWidget *card = gtk_widget_get_parent (GTK_WIDGET (self->choice));
  GtkRequisition size, choice;
  int width = gtk_widget_get_width (GTK_WIDGET (self->view));

  if (child != self->key)
    return FALSE;
  gtk_widget_get_preferred_size (child, NULL, &size);   /* with its margins */
  gtk_widget_get_preferred_size (card, NULL, &choice);
  place->width = size.width;
  place->height = size.height;
  place->x = MAX (width - size.width, 0);
  place->y = size.width + choice.width > width + 12 ? choice.height - 18 : 0;
  return TRUE;
}

/* How far the choice and the key reach down. */
static int
compare_pane_measure_head (VnComparePane *self)
{
  GtkRequisition size;
  GdkRectangle key = { 0 };

  gtk_widget_get_preferred_size (gtk_widget_get_parent (GTK_WIDGET (self->choice)), NULL, &size);   /* with its margins */
  if (gtk_widget_get_visible (self->key))
    vn_compare_pane_place_key (self, self->key, &key);
  return MAX (size.height, key.y + key.height);
}

/* What floats over the graph. Both panels count from side to side, and those of the other side here as well, so that what is
 * whole stands at the same place on both sides. */
guint
vn_compare_pane_list_panels (gpointer  data,
                             VnRect   *panels,
                             guint     most)
{
  VnComparePane *self = data;
  int width = gtk_widget_get_width (GTK_WIDGET (self->view)), height = gtk_widget_get_height (GTK_WIDGET (self->view));
  int head = compare_pane_measure_head (self);

  if (self->beside != NULL)
    head = MAX (head, compare_pane_measure_head (self->beside));
  panels[0] = (VnRect) { 0, 0, width, head };
  panels[1] = (VnRect) { 0, height - self->foot, width, self->foot };
  return 2;
}
