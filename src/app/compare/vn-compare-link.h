/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Two graph views that move, select and point together. */

#include "vn-graph-view.h"

#include "vn-node-match.h"

G_BEGIN_DECLS

typedef struct _VnCompareLink VnCompareLink;

VnCompareLink *vn_compare_link_new          (VnGraphView   *first,
                                             VnGraphView   *second);
void           vn_compare_link_free         (VnCompareLink *self);
void           vn_compare_link_set_match    (VnCompareLink *self,
                                             VnNodeMatch   *match,       /* nullable */
                                             VnAlignment   *alignment);
void           vn_compare_link_set_page     (VnCompareLink *self,
                                             double         page);
void           vn_compare_link_set_together (VnCompareLink *self,
                                             gboolean       together);
guint          vn_compare_link_map          (VnCompareLink *self,
                                             guint          side,
                                             guint          node);
void           vn_compare_link_mirror_selection (VnCompareLink *self,
                                                 guint          from);
void           vn_compare_link_fit          (VnCompareLink *self);
void           vn_compare_link_align        (VnCompareLink *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnCompareLink, vn_compare_link_free)

G_END_DECLS
