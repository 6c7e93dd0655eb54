/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-tensor.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * VnNumbersView: the elements of a tensor as a table that is scrolled: a line has the place of its first element, and as many
 * elements as the last axis, or four where that is long. Lines are made when they are seen.
 */
#define VN_TYPE_NUMBERS_VIEW (vn_numbers_view_get_type ())
G_DECLARE_FINAL_TYPE (VnNumbersView, vn_numbers_view, VN, NUMBERS_VIEW, GtkWidget)

GtkWidget *vn_numbers_view_new      (void);
void       vn_numbers_view_set      (VnNumbersView  *self,
                                     const VnTensor *tensor);
char      *vn_numbers_dup_text      (const VnTensor *tensor,
                                     gsize           most,
                                     gboolean       *is_whole);

G_END_DECLS
