/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Figures of up to four models beside each other. */

#include "vn-compare-source.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define VN_COMPARE_MOST 4

#define VN_TYPE_COMPARE_TABLE (vn_compare_table_get_type ())
G_DECLARE_FINAL_TYPE (VnCompareTable, vn_compare_table, VN, COMPARE_TABLE, AdwBin)

void       vn_compare_table_set_list  (VnCompareTable  *self,
                                       GListModel      *sources);
void       vn_compare_table_set_sides (VnCompareTable  *self,
                                       VnCompareSource *first,      /* nullable */
                                       VnCompareSource *second);    /* nullable */
guint      vn_compare_table_get_n     (VnCompareTable  *self);

G_END_DECLS
