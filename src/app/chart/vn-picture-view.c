/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A widget that shows a picture as reports draw it, in the colours of the window. */
#include "vn-picture-view.h"

#include <adwaita.h>
#include <math.h>

struct _VnPictureView
{
  GtkDrawingArea  parent_instance;

  VnPicture      *picture;    /* nullable */
};

G_DEFINE_FINAL_TYPE (VnPictureView, vn_picture_view, GTK_TYPE_DRAWING_AREA)

static void
picture_view_draw (GtkDrawingArea *area,
                   cairo_t        *cr,
                   int             width,
                   int             height,
                   gpointer        data)
{
  VnPictureView *self = VN_PICTURE_VIEW (area);
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  g_autoptr(VnPen) pen = NULL;

  if (self->picture == NULL)
    return;
  pen = vn_pen_new_cairo (cr, dark ? &vn_pen_theme_dark : &vn_pen_theme_light);
  vn_picture_draw (self->picture, pen, width);
}

static void
vn_picture_view_finalize (GObject *object)
{
  g_clear_pointer (&VN_PICTURE_VIEW (object)->picture, vn_picture_unref);
  G_OBJECT_CLASS (vn_picture_view_parent_class)->finalize (object);
}

static void
vn_picture_view_class_init (VnPictureViewClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_picture_view_finalize;
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_IMG);
}

static void
vn_picture_view_init (VnPictureView *self)
{
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self), picture_view_draw, NULL, NULL);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark",
                           G_CALLBACK (gtk_widget_queue_draw), self, G_CONNECT_SWAPPED);
}

GtkWidget *
vn_picture_view_new (void)
{
  return g_object_new (VN_TYPE_PICTURE_VIEW, NULL);
}

/**
 * vn_picture_view_set:
 * @picture: (nullable): what is shown; it is as high at any width
 * @words: (nullable): what it shows, for who does not see it
 */
void
vn_picture_view_set (VnPictureView *self,
                     VnPicture     *picture,
                     const char    *words)
{
  g_return_if_fail (VN_IS_PICTURE_VIEW (self));

  g_clear_pointer (&self->picture, vn_picture_unref);
  self->picture = picture != NULL ? vn_picture_ref (picture) : NULL;
  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (self), picture != NULL
                                       ? (int) ceil (vn_picture_get_height (picture, 400)) : 0);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, words != NULL ? words : "", -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
