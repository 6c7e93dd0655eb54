/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* A list that is shown a few rows at a time until all are there: a list widget makes some 200 rows at once, which takes longer
 * than the main loop may be kept. */
GtkSliceListModel *vn_gradual_rows_new   (GListModel        *rows);
void               vn_gradual_rows_begin (GtkSliceListModel *self);
void               vn_gradual_rows_show  (GtkSliceListModel *self);
void               vn_gradual_rows_hide  (GtkSliceListModel *self);

G_END_DECLS
