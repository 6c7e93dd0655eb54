/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A widget that shows a picture as reports draw it. */

#include "vn-picture.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define VN_TYPE_PICTURE_VIEW (vn_picture_view_get_type ())
G_DECLARE_FINAL_TYPE (VnPictureView, vn_picture_view, VN, PICTURE_VIEW, GtkDrawingArea)

GtkWidget *vn_picture_view_new (void);
void       vn_picture_view_set (VnPictureView *self,
                                VnPicture     *picture,      /* nullable */
                                const char    *words);       /* nullable */

G_END_DECLS
