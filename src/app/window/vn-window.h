/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The window: one document and the pages that show it. */

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define VN_TYPE_WINDOW (vn_window_get_type ())
G_DECLARE_FINAL_TYPE (VnWindow, vn_window, VN, WINDOW, AdwApplicationWindow)

VnWindow   *vn_window_new          (GtkApplication *app);
VnDocument *vn_window_get_document (VnWindow       *self);
gboolean    vn_window_is_empty     (VnWindow       *self);
void        vn_window_open_file    (VnWindow       *self,
                                    GFile          *file);
gboolean    vn_window_drop_file    (VnWindow       *self,
                                    GFile          *file);
void        vn_window_show_page    (VnWindow       *self,
                                    const char     *name);

G_END_DECLS
