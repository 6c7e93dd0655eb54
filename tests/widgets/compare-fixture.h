/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The page that compares, in a window, and its parts. */

#include "vn-compare-page.h"
#include "vn-compare-pane.h"
#include "window-fixture.h"

G_BEGIN_DECLS

typedef struct
{
  VnComparePage *page;
  VnComparePane *panes[2];
  VnGraphView   *views[2];
  GtkWidget     *tensor;
} CompareParts;

GtkWidget   *vn_compare_get_nth       (GtkWidget    *root,
                                       GType        type,
                                       guint        n);
CompareParts vn_compare_get_parts     (Fixture      *fixture);
CompareParts vn_compare_show          (Fixture      *fixture);
void         vn_compare_wait          (CompareParts *parts);
gboolean     vn_compare_is_calm       (gpointer     page);
guint        vn_compare_count_marks   (VnGraphView  *view,
                                       VnSceneMark  mark);
guint        vn_compare_find_box      (VnGraphView  *view,
                                       const char   *name);
void         vn_compare_click_box     (VnGraphView  *view,
                                       const char   *name);
const char  *vn_compare_get_page      (CompareParts *parts);

G_END_DECLS
