/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-answers.h"

#include <gdk/gdk.h>

G_BEGIN_DECLS

/* What a mask looks like over its picture. */

guint32     vn_answer_mask_get_color (guint                 label);
gboolean    vn_answer_mask_shows     (const VnSampleAnswer *answer,
                                      char * const         *names,    /* nullable */
                                      guint                 label);
GBytes     *vn_answer_mask_paint     (const VnSampleAnswer *answer,
                                      char * const         *names,    /* nullable */
                                      guint                 side);
GdkTexture *vn_answer_mask_new       (const VnSampleAnswer *answer,
                                      char * const         *names,    /* nullable */
                                      guint                 side);

G_END_DECLS
