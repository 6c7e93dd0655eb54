/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-answers.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * VnAnswerPicture: a sample with the answer of one of two networks over it. Boxes: kept ones in the accent color; on the side of
 * the quantized network lost ones in red dashes, with the score that the float network gave them, and added ones in orange dots.
 * A mask: vn_answer_mask_new().
 */
#define VN_TYPE_ANSWER_PICTURE (vn_answer_picture_get_type ())
G_DECLARE_FINAL_TYPE (VnAnswerPicture, vn_answer_picture, VN, ANSWER_PICTURE, GtkWidget)

GtkWidget *vn_answer_picture_new (void);
void       vn_answer_picture_set (VnAnswerPicture      *self,
                                  GdkTexture           *texture,   /* nullable */
                                  const VnSampleAnswer *answer,
                                  char * const         *names,     /* nullable */
                                  guint                 side);

G_END_DECLS
