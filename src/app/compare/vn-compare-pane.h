/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* One side of a comparison: a graph with a list of what it can show. */

#include "vn-compare-source.h"
#include "vn-graph-view.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* Signals:
 *   source-chosen ()   the user chose another one
 *   open-file ()       the user wants to look at a file
 *   model-changed ()   what the source stands for was loaded, or measured anew: overlays have to be made
 */
#define VN_TYPE_COMPARE_PANE (vn_compare_pane_get_type ())
G_DECLARE_FINAL_TYPE (VnComparePane, vn_compare_pane, VN, COMPARE_PANE, AdwBin)

void             vn_compare_pane_set_list    (VnComparePane   *self,
                                              GListModel      *sources);
void             vn_compare_pane_set_source  (VnComparePane   *self,
                                              VnCompareSource *source);   /* nullable */
VnCompareSource *vn_compare_pane_get_source  (VnComparePane   *self);
VnComparedModel *vn_compare_pane_get_model   (VnComparePane   *self);     /* NULL: not there, or its scene is being built */
VnScene         *vn_compare_pane_get_scene   (VnComparePane   *self);
VnGraphView     *vn_compare_pane_get_view    (VnComparePane   *self);
void             vn_compare_pane_set_beside  (VnComparePane   *self,
                                              VnComparePane   *beside);
void             vn_compare_pane_show_alone  (VnComparePane   *self);
void             vn_compare_pane_set_marks   (VnComparePane   *self,
                                              VnNodeMatch     *match,
                                              guint            side);
void             vn_compare_pane_set_foot    (VnComparePane   *self,
                                              int              height);
void             vn_compare_pane_show        (VnComparePane   *self,
                                              gboolean         shown);

G_END_DECLS
