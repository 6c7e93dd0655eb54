/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a network costs and how good its answers are: in float, before the last change, now, and as is expected. */

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define VN_TYPE_REVIEW_TABLE (vn_review_table_get_type ())
G_DECLARE_FINAL_TYPE (VnReviewTable, vn_review_table, VN, REVIEW_TABLE, AdwBin)

void vn_review_table_set_document (VnReviewTable *self,
                                   VnDocument    *document);
void vn_review_table_update       (VnReviewTable *self,
                                   const char    *measured);


G_END_DECLS
