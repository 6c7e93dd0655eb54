/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What is selected of the network that a graph view shows: nodes, or a tensor; the box that the keyboard is at; regions and the
 * tensors that cross their edge; the rubber band and the lasso. Knows what is shown, and nothing of widgets. */

#include "vn-graph-content.h"
#include "vn-graph-painter.h"

G_BEGIN_DECLS

/* Signals:
 *   changed ()         other nodes, or another tensor
 *   focus-changed ()   another box, or none
 *   edge-changed ()    an edge was selected; changed follows
 *   marks-changed ()   it looks different */
#define VN_TYPE_GRAPH_SELECTION (vn_graph_selection_get_type ())
G_DECLARE_FINAL_TYPE (VnGraphSelection, vn_graph_selection, VN, GRAPH_SELECTION, GObject)

/**
 * VnGraphSelection: others read its first fields.
 */
struct _VnGraphSelection
{
  GObject          parent_instance;

  guint8          *picked;             /* by node of the whole scene: what is selected */
  guint8          *selected, *partly;  /* by box: all, or only some of its nodes are picked */
  guint            n_picked, n_inside; /* nodes, and boxes but for pills */
  guint            focus;              /* box, or VN_SCENE_NONE */
  char            *tensor;             /* (nullable): that is selected instead; no edge of it need be shown */
  guint            edge;               /* that has it, or VN_SCENE_NONE */
  GArray          *chips;              /* of VnGraphChip */
  gboolean         has_band;

  /*< private >*/
  VnGraphContent  *content;
  guint            edge_home;          /* box whose edges a key steps through, or VN_SCENE_NONE */
  GArray          *regions;            /* of VnRect */
  GStrv            in_values, out_values;   /* order of the boundary, if given */
  GStrv            leaks;              /* values that cross it without being named */
  VnRect           band;
  guint8          *band_base;          /* what was picked before the band */
  GArray          *lasso;              /* (nullable): of VnPoint, in the world */
};

VnGraphSelection *vn_graph_selection_new (VnGraphContent    *content);
void     vn_graph_selection_fill_state   (VnGraphSelection  *self,
                                          VnGraphState      *state);
void     vn_graph_selection_reset        (VnGraphSelection  *self);
void     vn_graph_selection_refold       (VnGraphSelection  *self,
                                          VnFold            *before);    /* nullable */

GArray  *vn_graph_selection_dup_nodes    (VnGraphSelection  *self);
gboolean vn_graph_selection_has_node     (VnGraphSelection  *self,
                                          guint              node);
void     vn_graph_selection_select       (VnGraphSelection  *self,
                                          const guint       *nodes,
                                          guint              n_nodes,
                                          gboolean           extend);
void     vn_graph_selection_select_all   (VnGraphSelection  *self);
void     vn_graph_selection_select_none  (VnGraphSelection  *self);
void     vn_graph_selection_select_box   (VnGraphSelection  *self,
                                          guint              box,
                                          gboolean           extend);
void     vn_graph_selection_toggle       (VnGraphSelection  *self,
                                          guint              box);
void     vn_graph_selection_focus        (VnGraphSelection  *self,
                                          guint              box);
void     vn_graph_selection_set_boundary (VnGraphSelection  *self,
                                          const char * const *in_values,
                                          const char * const *out_values,
                                          const char * const *leaks);
void     vn_graph_selection_select_tensor (VnGraphSelection *self,
                                          const char        *name);      /* nullable */

/* ---- edges (graph-selection-edges.c) ---- */

typedef enum
{
  VN_EDGE_SOURCE,
  VN_EDGE_TARGET,
  VN_EDGE_HOME,     /* where it was stepped to from */
} VnEdgeEnd;

void     vn_graph_selection_select_edge  (VnGraphSelection  *self,
                                          guint              edge);
gboolean vn_graph_selection_step_edge    (VnGraphSelection  *self,
                                          gboolean           forward);
gboolean vn_graph_selection_leave_edge   (VnGraphSelection  *self,
                                          VnEdgeEnd          end);

/* ---- rubber band and lasso (graph-selection-band.c) ---- */

void     vn_graph_selection_begin_band   (VnGraphSelection  *self,
                                          gboolean           extend);
void     vn_graph_selection_update_band  (VnGraphSelection  *self,
                                          VnPoint            from,
                                          VnPoint            to);
void     vn_graph_selection_end_band     (VnGraphSelection  *self);
void     vn_graph_selection_begin_lasso  (VnGraphSelection  *self,
                                          VnPoint            from,
                                          gboolean           extend);
void     vn_graph_selection_update_lasso (VnGraphSelection  *self,
                                          VnPoint            to,
                                          double             step);
gboolean vn_graph_selection_end_lasso    (VnGraphSelection  *self);

G_END_DECLS
