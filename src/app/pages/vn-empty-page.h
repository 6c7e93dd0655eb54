/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnEmptyPage: what the window shows while nothing is open: how to begin, and what was open before.
 */
#define VN_TYPE_EMPTY_PAGE (vn_empty_page_get_type ())
G_DECLARE_FINAL_TYPE (VnEmptyPage, vn_empty_page, VN, EMPTY_PAGE, AdwBin)

void        vn_empty_page_update   (VnEmptyPage *self);
GMenuModel *vn_empty_page_get_menu (VnEmptyPage *self);
void        vn_empty_page_show_failure (VnEmptyPage *self,
                                        const char  *title,
                                        const char  *reason);
char       *vn_empty_page_dup_newest (void);

G_END_DECLS
