/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the pointer is over: a box, an edge, a stub, the title of an open group, or a chip of the selection. */

#include "vn-graph-selection.h"
#include "vn-viewport.h"

G_BEGIN_DECLS

/* Signal: changed (gboolean other_node): the pointer is over something else. */
#define VN_TYPE_GRAPH_HOVER (vn_graph_hover_get_type ())
G_DECLARE_FINAL_TYPE (VnGraphHover, vn_graph_hover, VN, GRAPH_HOVER, GObject)

/**
 * VnGraphHover: others read its first fields. What the pointer is not over is %VN_SCENE_NONE.
 */
struct _VnGraphHover
{
  GObject           parent_instance;

  VnPoint           pointer;        /* in the widget */
  gboolean          has_pointer;
  guint             node, edge, stub, frame, chip;

  /*< private >*/
  VnGraphPainter   *painter;        /* borrowed: knows where chips are */
  VnViewport       *viewport;
  VnGraphContent   *content;
  VnGraphSelection *selection;
  gboolean          is_mirrored;    /* it is another view that the pointer is over */
  gboolean          is_frozen;      /* something is being dragged */
};

VnGraphHover *vn_graph_hover_new         (VnGraphPainter   *painter,
                                          VnViewport       *viewport,
                                          VnGraphContent   *content,
                                          VnGraphSelection *selection);
void          vn_graph_hover_fill_state  (VnGraphHover     *self,
                                          VnGraphState     *state);
void          vn_graph_hover_reset       (VnGraphHover     *self);
void          vn_graph_hover_update      (VnGraphHover     *self);
void          vn_graph_hover_set_pointer (VnGraphHover     *self,
                                          double            x,
                                          double            y);
void          vn_graph_hover_leave       (VnGraphHover     *self);
void          vn_graph_hover_set_frozen  (VnGraphHover     *self,
                                          gboolean          is_frozen);
gboolean      vn_graph_hover_mirror      (VnGraphHover     *self,
                                          guint             box);
gboolean      vn_graph_hover_get_chip    (VnGraphHover     *self,
                                          guint             chip,
                                          VnRect           *box);

G_END_DECLS
