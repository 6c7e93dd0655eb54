/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of one side of a comparison share. */

#include "vn-compare-pane.h"
#include "vn-compare-state.h"

G_BEGIN_DECLS

struct _VnComparePane
{
  AdwBin           parent_instance;

  GListModel      *sources;
  VnCompareSource *source;        /* nullable */
  VnComparedModel *model;         /* nullable: what the scene is of */
  VnScene         *scene;         /* nullable */
  VnGroups        *groups;        /* nullable: of it, for itself */
  VnComparePane   *beside;        /* nullable: weak: who still builds a scene when the window closes may live longer */
  GCancellable    *building;      /* nullable */
  gboolean         busy;          /* setting the list */
  gboolean         is_shown;      /* else nothing is loaded */

  VnGraphView     *view;
  GtkDropDown     *choice;
  GtkWidget       *key;
  VnCompareState  *state;
  GtkLabel        *counts[3], *marks;
  int              foot;          /* height of what lies over the lower border */
};

/* what floats over the graph (compare-pane-panels.c) */
gboolean vn_compare_pane_place_key   (VnComparePane *self,
                                      GtkWidget     *child,
                                      GdkRectangle  *place);
guint    vn_compare_pane_list_panels (gpointer       pane,
                                      VnRect        *panels,
                                      guint          most);

G_END_DECLS
