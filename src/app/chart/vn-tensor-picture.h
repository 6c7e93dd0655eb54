/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A channel of a tensor as a picture, pixel by pixel. */

#include "vn-tensor-view.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Signal hover-changed (): the pointer came over another pixel, or left. */
#define VN_TYPE_TENSOR_PICTURE (vn_tensor_picture_get_type ())
G_DECLARE_FINAL_TYPE (VnTensorPicture, vn_tensor_picture, VN, TENSOR_PICTURE, GtkWidget)

GtkWidget *vn_tensor_picture_new        (void);
void       vn_tensor_picture_set        (VnTensorPicture      *self,
                                         const VnTensorLayout *layout,
                                         gsize                 channel,
                                         const float          *values,
                                         const float          *minus,       /* nullable */
                                         double                low,
                                         double                high);
void       vn_tensor_picture_set_least  (VnTensorPicture      *self,
                                         int                   least);
gboolean   vn_tensor_picture_get_hover  (VnTensorPicture      *self,
                                         guint                *row,
                                         guint                *column);
void       vn_tensor_picture_set_hover  (VnTensorPicture      *self,
                                         gboolean              has_hover,
                                         guint                 row,
                                         guint                 column);

G_END_DECLS
