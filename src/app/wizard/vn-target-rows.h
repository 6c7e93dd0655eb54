/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the present target and those that suit the model do to it, and a button that changes to each. */

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define VN_TYPE_TARGET_ROWS (vn_target_rows_get_type ())
G_DECLARE_FINAL_TYPE (VnTargetRows, vn_target_rows, VN, TARGET_ROWS, AdwBin)

void vn_target_rows_set_document (VnTargetRows *self,
                                  VnDocument   *document);
char *vn_target_dup_text         (VnDocument   *document,
                                  const char   *preset,
                                  gboolean     *is_impossible);

G_END_DECLS
