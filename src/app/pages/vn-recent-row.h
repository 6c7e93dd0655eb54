/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* A row for a file that was open before. */

GtkWidget *vn_recent_row_new      (const char *path,
                                   GDateTime  *when,       /* nullable */
                                   gboolean    is_draft);
GDateTime *vn_recent_row_get_time (const char *path);      /* NULL: not known */

G_END_DECLS
