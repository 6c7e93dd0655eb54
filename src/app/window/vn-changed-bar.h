/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnChangedBar: a line along the foot of the window that says that the model is another one on the disk, and offers to read it.
 */
#define VN_TYPE_CHANGED_BAR (vn_changed_bar_get_type ())
G_DECLARE_FINAL_TYPE (VnChangedBar, vn_changed_bar, VN, CHANGED_BAR, AdwBin)

void vn_changed_bar_set_document (VnChangedBar *self,
                                  VnDocument   *document);

G_END_DECLS
