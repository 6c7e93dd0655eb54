/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * VnAnswersView: what a network answers to each sample, and what of that its quantized version keeps: samples with the most lost
 * first, and one of them as two pictures with boxes, a mask, or classes or a text below; beside them what would win back what is
 * lost.
 */
#define VN_TYPE_ANSWERS_VIEW (vn_answers_view_get_type ())
G_DECLARE_FINAL_TYPE (VnAnswersView, vn_answers_view, VN, ANSWERS_VIEW, GtkWidget)

void     vn_answers_view_set_document (VnAnswersView *self,
                                       VnDocument    *document);
void     vn_answers_view_set_run      (VnAnswersView *self,
                                       VnRun         *run);      /* nullable */
gboolean vn_answers_view_has_answers  (VnAnswersView *self);
void     vn_answers_view_focus_list   (VnAnswersView *self);
guint    vn_answers_view_get_shown    (VnAnswersView *self);     /* index of the sample; G_MAXUINT: no picture is there */

G_END_DECLS
