/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What is selected in a pane, as nodes of the float model: the selection that all pages share. */

#include "vn-compare-pane.h"

G_BEGIN_DECLS

GtkBitset *vn_compare_selection_read     (VnComparePane    *pane);
guint      vn_compare_selection_show     (VnComparePane    *pane,
                                          const GtkBitset  *selection);
guint      vn_compare_selection_get_node (VnComparePane    *pane,
                                          char            **alone);

G_END_DECLS
