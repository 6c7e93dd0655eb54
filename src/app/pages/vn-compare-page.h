/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-page.h"

G_BEGIN_DECLS

/**
 * VnComparePage: two networks beside each other, and one of their tensors.
 */
#define VN_TYPE_COMPARE_PAGE (vn_compare_page_get_type ())
G_DECLARE_FINAL_TYPE (VnComparePage, vn_compare_page, VN, COMPARE_PAGE, AdwBin)

void     vn_compare_page_open_file (VnComparePage *self,
                                    const char    *path,
                                    guint          side);
void     vn_compare_page_show_run  (VnComparePage *self,
                                    const char    *id);
gboolean vn_compare_page_is_busy   (VnComparePage *self);

G_END_DECLS
