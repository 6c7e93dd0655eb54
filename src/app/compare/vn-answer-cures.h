/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * VnAnswerCures: how many answers are kept, and what would win back those that are lost: what the reasons of the error suggest,
 * with what was measured of it.
 */
#define VN_TYPE_ANSWER_CURES (vn_answer_cures_get_type ())
G_DECLARE_FINAL_TYPE (VnAnswerCures, vn_answer_cures, VN, ANSWER_CURES, GtkWidget)

GtkWidget *vn_answer_cures_new          (void);
void       vn_answer_cures_set_document (VnAnswerCures *self,
                                         VnDocument    *document);
void       vn_answer_cures_set_answers  (VnAnswerCures *self,
                                         const char    *figures,    /* nullable */
                                         const char    *caption,
                                         gboolean       are_lost);
void       vn_answer_cures_add_figure   (VnAnswerCures *self,
                                         const char    *figures,
                                         const char    *caption);

G_END_DECLS
