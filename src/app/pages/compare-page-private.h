/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the page that compares share. */
#pragma once

#include "vn-compare-page.h"

#include "vn-answers-view.h"
#include "vn-compare-link.h"
#include "vn-compare-pane.h"
#include "vn-compare-table.h"
#include "vn-compare-tensor.h"

G_BEGIN_DECLS

struct _VnComparePage
{
  AdwBin           parent_instance;

  VnDocument      *document;
  GListStore      *sources;       /* of VnCompareSource */
  gpointer         proposed;      /* the source of the right side that the page itself chose last; not looked into */
  VnNodeMatch     *match;         /* nullable: of what both sides show */
  GCancellable    *matching;      /* nullable */
  VnCompareLink   *link;
  gboolean         busy;          /* passing a selection on */
  guint            open_side;     /* that a file is being chosen for */
  guint            align_tick, limit_tick;
  gboolean         wants_travel;  /* to the selected node, as soon as there is something to see */

  GtkStack        *stack;
  GtkOverlay      *overlay;
  GtkPaned        *upper, *whole;
  VnComparePane   *panes[2];
  GtkWidget       *tools;
  GtkToggleButton *together, *columns, *as_table, *as_answers, *fold;
  GtkButton       *fit;
  GtkStack        *lower;
  VnCompareTensor *tensor;
  VnCompareTable  *table;
  VnAnswersView   *answers;
};

/* what both sides show (compare-page-match.c) */
void vn_compare_page_show_node           (VnComparePage *self,
                                          guint          side);
void vn_compare_page_travel_to_selection (VnComparePage *self);
void vn_compare_page_show_selection      (VnComparePage *self);
void vn_compare_page_stop_matching       (VnComparePage *self);
void vn_compare_page_models_changed      (VnComparePage *self);

/* what they can show (compare-page-sources.c) */
void vn_compare_page_choose              (VnComparePage *self,
                                          GPtrArray     *list);
void vn_compare_page_set_lists           (VnComparePage *self,
                                          GPtrArray     *list);
void vn_compare_page_update_sources      (VnComparePage *self);
void vn_compare_page_sources_changed     (VnComparePage *self);
void vn_compare_page_model_changed       (VnComparePage *self);
void vn_compare_page_stop_loading        (VnComparePage *self);

G_END_DECLS
