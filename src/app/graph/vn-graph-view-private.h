/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of the graph view share: its structure, camera, selection and gestures. */

#include "vn-graph-tiles.h"
#include "vn-graph-view.h"

G_BEGIN_DECLS

#define ZOOM_STEP_MS     150
#define TRAVEL_MS        250
#define LONG_TRAVEL_MS   350
#define FADE_MS          200
#define HIT_DISTANCE       8.

typedef enum { DRAG_NONE, DRAG_PAN, DRAG_BAND } DragMode;

/**
 * Flight: an animated change of the camera.
 * @anchored: zoom about @anchor, a point of the widget
 */
typedef struct
{
  guint         tick;
  gint64        start, duration;   /* microseconds of the frame clock */
  VnGraphCamera from, to;
  gboolean      anchored;
  VnPoint       anchor;
} Flight;

struct _VnGraphView
{
  GtkWidget       parent_instance;

  VnScene        *scene;
  VnGraphLayout  *layout;
  VnGraphIndex   *index;
  VnOverlay      *overlay;
  VnGraphPainter *painter;
  VnGraphTiles   *tiles;
  guint           prefetch;          /* idle source */

  VnScene        *pending;           /* being laid out */
  VnOverlay      *pending_overlay;
  GCancellable   *cancellable;

  VnGraphCamera   camera;
  gboolean        needs_home;        /* place the camera at the next allocation */
  Flight          flight;
  GArray         *trail;             /* of VnGraphCamera: places to go back to */

  VnGraphState    state;
  guint8         *selected;          /* one a node */
  guint           n_selected, n_inside;   /* all, and operators only */
  GArray         *regions;           /* of VnRect */
  GArray         *chips;             /* of VnGraphChip */
  GStrv           in_values, out_values;   /* order of the boundary, if given */
  guint8         *measuring;
  guint           measuring_tick;

  VnOverlay      *fade_from;
  guint           fade_tick;
  gint64          fade_start;

  VnPoint         pointer;
  gboolean        has_pointer;
  gboolean        space_down, space_used;
  DragMode        drag;
  VnPoint         drag_start;        /* in the widget */
  VnPoint         drag_origin;       /* camera origin, or world point where the band began */
  guint8         *band_base;         /* what was selected before the band */
  double          pinch_zoom;
};

/* camera (graph-view-camera.c) */
VnPoint  vn_graph_view_to_world       (VnGraphView   *self,
                                       double         x,
                                       double         y);
void     vn_graph_view_move           (VnGraphView   *self,
                                       VnGraphCamera  camera);
void     vn_graph_view_fly            (VnGraphView   *self,
                                       VnGraphCamera  camera,
                                       guint          milliseconds,
                                       const VnPoint *anchor);
void     vn_graph_view_stop           (VnGraphView   *self);
void     vn_graph_view_zoom_about     (VnGraphView   *self,
                                       double         zoom,
                                       VnPoint        anchor,
                                       gboolean       animated);
void     vn_graph_view_go_home        (VnGraphView   *self);
void     vn_graph_view_reveal         (VnGraphView   *self,
                                       guint          node);
void     vn_graph_view_push_trail     (VnGraphView   *self);
gboolean vn_graph_view_animates       (VnGraphView   *self);

/* selection (graph-view-select.c) */
void     vn_graph_view_reset_selection (VnGraphView  *self);
void     vn_graph_view_toggle         (VnGraphView   *self,
                                       guint          node);
void     vn_graph_view_select_edge    (VnGraphView   *self,
                                       guint          edge);
void     vn_graph_view_begin_band     (VnGraphView   *self,
                                       gboolean       extend);
void     vn_graph_view_update_band    (VnGraphView   *self,
                                       VnPoint        to);
void     vn_graph_view_end_band       (VnGraphView   *self);
guint    vn_graph_view_neighbour      (VnGraphView   *self,
                                       guint          node,
                                       guint          keyval);

/* words (graph-view-words.c) */
gboolean vn_graph_view_query_tooltip  (GtkWidget     *widget,
                                       int            x,
                                       int            y,
                                       gboolean       keyboard,
                                       GtkTooltip    *tooltip);

/* input (graph-view-input.c) */
void     vn_graph_view_add_controllers (VnGraphView  *self);
void     vn_graph_view_update_hover   (VnGraphView   *self);

G_END_DECLS
