/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* All that a document has to be compared. */

#include "vn-compare-source.h"

G_BEGIN_DECLS

GPtrArray       *vn_compare_sources_list        (VnDocument *document,
                                                 GListModel *known);
VnCompareSource *vn_compare_sources_get_float   (GPtrArray  *list);
VnCompareSource *vn_compare_sources_get_present (GPtrArray  *list,
                                                 VnDocument *document);

G_END_DECLS
