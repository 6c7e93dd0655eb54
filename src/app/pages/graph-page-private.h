/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of the graph page share. */

#include "vn-graph-page.h"

#include "vn-graph-view.h"
#include "vn-legend.h"
#include "vn-minimap.h"
#include "vn-node-data.h"

G_BEGIN_DECLS

struct _VnGraphPage
{
  AdwBin         parent_instance;

  VnDocument    *document;
  VnScene       *scene;         /* of the document's model and result, or NULL */
  VnModel       *grouped;       /* borrowed: whose nodes @groups are of; only to be compared */
  VnGroups      *groups;        /* or NULL */
  GCancellable  *grouping;      /* a large model is being prepared */
  gboolean       has_pairs;     /* the model is quantized already */
  gboolean       busy;          /* passing a selection from one side to the other */
  GPtrArray     *run_ids;       /* of the runs that a difference can be to, as the legend lists them */
  char          *other_id;      /* the one it is to, or NULL */
  VnRun         *other;         /* NULL: being read, or none */
  GCancellable  *reading;
  VnNodeNumbers *numbers;       /* of a file, or NULL */
  VnModel       *numbers_model; /* borrowed: whose nodes they are of; only to be compared */
  GCancellable  *numbers_reading;
  guint          handles_source;    /* the lists follow the handles of the legend, a moment later */
  guint          at;            /* which of the selected nodes was travelled to last, in their order; G_MAXUINT: none */

  VnGraphView   *view;
  VnLegend      *legend;
  VnMinimap     *minimap;
  GSimpleActionGroup *actions;
  GtkPopover    *context, *leak;
  GHashTable    *sizes;         /* nullable: of inputs, by which shapes are written */
  GtkRevealer   *bar;
  GtkWidget     *corner, *zoom_box;   /* minimap and zoom; the latter alone */
  GtkMenuButton *precision;
  GtkLabel      *bar_label, *bar_place, *zoom_label, *symbols;
  GtkButton     *zoom_out, *zoom_in, *zoom_original, *zoom_fit;
};

/* overlay (graph-page-overlay.c) */
void vn_graph_page_connect_legend   (VnGraphPage *self);
void vn_graph_page_update_overlay   (VnGraphPage *self);
void vn_graph_page_update_legend    (VnGraphPage *self);
void vn_graph_page_metric_changed   (VnGraphPage *self);
void vn_graph_page_restore_overlay  (VnGraphPage *self);
void vn_graph_page_forget_overlay   (VnGraphPage *self);
void vn_graph_page_choose_overlay   (VnGraphPage *self,
                                     const char  *id);

/* numbers of a file (graph-page-numbers.c) */
void vn_graph_page_read_numbers     (VnGraphPage   *self,
                                     const char    *path);
void vn_graph_page_cancel_numbers   (VnGraphPage   *self);
void vn_graph_page_check_numbers    (VnGraphPage   *self);
void vn_graph_page_drop_numbers     (VnGraphPage   *self);
void vn_graph_page_ask_numbers      (GSimpleAction *action,
                                     GVariant      *parameter,
                                     gpointer       data);

/* what floats over the canvas (graph-page-panels.c) */
gboolean vn_graph_page_place_panel     (VnGraphPage  *self,
                                        GtkWidget    *child,
                                        GdkRectangle *place);
guint vn_graph_page_list_panels     (gpointer     data,
                                     VnRect      *panels,
                                     guint        most);

/* selection (graph-page-select.c) */
void vn_graph_page_show_selection   (VnGraphPage *self);
void vn_graph_page_take_selection   (VnGraphPage *self);
char *vn_graph_page_dup_group_title (gpointer     page,
                                     const guint *nodes,
                                     guint        n);
void vn_graph_page_selection_changed (VnGraphPage *self);
void vn_graph_page_select_band      (VnGraphPage *self,
                                     guint        band);
void vn_graph_page_select_worse     (VnGraphPage *self,
                                     double       axis,
                                     gboolean     is_over);
void vn_graph_page_travel           (VnGraphPage *self,
                                     int          step);
void vn_graph_page_travel_here      (VnGraphPage *self);
void vn_graph_page_show_leak        (VnGraphPage *self,
                                     const char  *tensor,
                                     gboolean     enters,
                                     double       x,
                                     double       y);

G_END_DECLS
