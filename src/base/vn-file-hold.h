/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The results of one command appear together, or none of them does. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef gboolean (*VnFilePlaceFunc) (gpointer   data,
                                     GError   **error);

void     vn_file_hold          (gboolean         active);
gboolean vn_file_hold_is_active (void);
gboolean vn_file_hold_has_room (const char      *path);
void     vn_file_hold_add      (gpointer         data,
                                VnFilePlaceFunc  place,
                                GDestroyNotify   drop);
void     vn_file_hold_note     (const char      *path);
gboolean vn_file_hold_end      (gboolean         keep,
                                GError         **error);
gboolean vn_file_make_folder   (const char      *path,
                                GError         **error);

G_END_DECLS
