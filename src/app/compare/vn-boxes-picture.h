/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-answers.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * VnBoxesPicture: a sample with the boxes of one of two networks over it: kept ones in the accent color; on the side of the
 * quantized network lost ones in red dashes, with the score that the float network gave them, and added ones in orange dots.
 */
#define VN_TYPE_BOXES_PICTURE (vn_boxes_picture_get_type ())
G_DECLARE_FINAL_TYPE (VnBoxesPicture, vn_boxes_picture, VN, BOXES_PICTURE, GtkWidget)

GtkWidget *vn_boxes_picture_new (void);
void       vn_boxes_picture_set (VnBoxesPicture       *self,
                                 GdkTexture           *texture,   /* nullable */
                                 const VnSampleAnswer *answer,
                                 guint                 side);

G_END_DECLS
