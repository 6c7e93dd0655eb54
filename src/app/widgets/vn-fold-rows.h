/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that seldom matter, behind one that stands for them. */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

void vn_fold_caches    (GtkListBox *list,
                        GPtrArray  *rows,
                        const char *subtitle);
void vn_fold_rows_show (GtkListBox *list);

G_END_DECLS
