/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of the graph view share: its structure, camera, selection and gestures. */

#include "vn-fold.h"
#include "vn-graph-tiles.h"
#include "vn-graph-view.h"

G_BEGIN_DECLS

#define ZOOM_STEP_MS     150
#define TRAVEL_MS        250
#define LONG_TRAVEL_MS   350
#define FADE_MS          200
#define FOLD_MS          250
#define HIT_DISTANCE       8.

#define VN_GRAPH_VIEW_OPEN_BOXES 60   /* so many boxes are a page that can be read */

typedef enum { DRAG_NONE, DRAG_PAN, DRAG_BAND, DRAG_LASSO } DragMode;

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

/**
 * Folding: an animated change of what is open.
 * @from, @frames_from: where boxes and frames of the new layout come from
 * @layout, @index: what is drawn meanwhile
 * @shift: of the camera, so that the group stays under the pointer
 */
typedef struct
{
  guint          tick;
  gint64         start;
  VnRect        *from, *frames_from;
  VnGraphLayout *layout;
  VnGraphIndex  *index;
  VnPoint        shift;
  double         shifted;
} Folding;

/* Boxes are those of the shown scene; outside of the view, nodes are those of the whole one. */
struct _VnGraphView
{
  GtkWidget       parent_instance;

  VnScene        *whole;             /* all nodes, none in a closed group */
  VnOverlay      *whole_overlay;
  VnGroups       *groups;            /* or NULL */
  guint8         *open;              /* by group: wanted; NULL: groups are not shown */
  VnFold         *fold;              /* NULL: what is shown is the whole scene */
  VnFoldPlaces   *places;
  Folding         folding;

  VnScene        *scene;             /* what is shown */
  VnGraphLayout  *layout;
  VnGraphIndex   *index;
  VnOverlay      *overlay;
  VnGraphPainter *painter;
  VnGraphTiles   *tiles;
  guint           prefetch;          /* idle source */

  VnScene        *pending;           /* whole scene that is being laid out; the present one where groups open or close */
  VnFold         *pending_fold;
  VnOverlay      *pending_overlay;
  guint           pending_anchor;    /* group that is not to jump */
  guint           pending_travel;    /* node to travel to, once it is shown */
  GCancellable   *cancellable;

  VnGraphCamera   camera;
  gboolean        needs_home;        /* place the camera at the next allocation */
  VnGraphCamera   home;              /* where it was placed then */
  int             cover_width, cover_height;   /* of what lies over the upper left corner; width -1: from one side to the other */
  Flight          flight;
  GArray         *trail;             /* of VnGraphCamera: places to go back to */

  VnGraphState    state;
  guint8         *picked;            /* by node of the whole scene: what is selected */
  guint8         *selected, *partly; /* by box: all, or only some of its nodes are picked */
  char           *tensor;            /* (nullable): that is selected instead; no edge of it need be shown */
  guint           edge_home;         /* box whose edges a key steps through, or VN_SCENE_NONE */
  guint           n_picked, n_inside;     /* nodes, and boxes but for pills */
  GArray         *regions;           /* of VnRect */
  GArray         *chips;             /* of VnGraphChip */
  GStrv           in_values, out_values;   /* order of the boundary, if given */
  GStrv           leaks;             /* values that cross it without being named */
  guint           hover_chip;        /* number in @chips, or VN_SCENE_NONE */
  guint8         *measuring;         /* by box */
  guint           measuring_tick;

  VnOverlay      *fade_from;
  guint           fade_tick;
  gint64          fade_start;

  VnPoint         pointer;
  gboolean        has_pointer;
  gboolean        hover_is_mirrored; /* it is another view that the pointer is over */
  gboolean        space_down, space_used;
  DragMode        drag;
  VnPoint         drag_start;        /* in the widget */
  VnPoint         drag_origin;       /* camera origin, or world point where the band began */
  guint8         *band_base;         /* what was picked before the band */
  gboolean        lasso;             /* dragging draws a line round nodes */
  GArray         *lasso_line;        /* of VnPoint, in the world */
  double          pinch_zoom;
};

/* chips (graph-view-chips.c) */
guint    vn_graph_view_find_chip      (VnGraphView   *self,
                                       VnPoint        at);
char    *vn_graph_view_dup_chip_words (VnGraphView   *self);   /* of the one under the pointer */
void     vn_graph_view_press_chip     (VnGraphView   *self);

/* scene (graph-view-scene.c) */
void     vn_graph_view_cancel         (VnGraphView   *self);
VnOverlay *vn_graph_view_make_overlay (VnGraphView   *self);
void     vn_graph_view_unfold         (VnGraphView   *self);   /* stops the animation */
const guint *vn_graph_view_get_nodes  (VnGraphView   *self,
                                       const guint   *box,
                                       guint         *n);
guint    vn_graph_view_get_box        (VnGraphView   *self,
                                       guint          node);
guint    vn_graph_view_find_frame     (VnGraphView   *self,
                                       VnPoint        world);
guint    vn_graph_view_get_group      (VnGraphView   *self,
                                       guint          box);
guint    vn_graph_view_get_parent     (VnGraphView   *self,
                                       guint          box);
void     vn_graph_view_take_open      (VnGraphView   *self,
                                       guint8        *open,       /* transfer full, nullable */
                                       guint          anchor);

/* open groups (graph-view-open.c) */
void     vn_graph_view_set_open       (VnGraphView   *self,
                                       guint          group,
                                       gboolean       is_open);

/* folding (graph-view-fold.c) */
void     vn_graph_view_start_folding  (VnGraphView   *self,
                                       VnFold        *before,
                                       VnGraphLayout *layout,
                                       guint          anchor);

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
void     vn_graph_view_zoom_to_box    (VnGraphView   *self,
                                       guint          box);
void     vn_graph_view_push_trail     (VnGraphView   *self);
gboolean vn_graph_view_animates       (VnGraphView   *self);

/* selection (graph-view-select.c) */
void     vn_graph_view_reset_selection (VnGraphView  *self);
void     vn_graph_view_refold_selection (VnGraphView *self);
void     vn_graph_view_select_box     (VnGraphView   *self,
                                       guint          box,
                                       gboolean       extend);
void     vn_graph_view_focus_box      (VnGraphView   *self,
                                       guint          box);
void     vn_graph_view_toggle         (VnGraphView   *self,
                                       guint          box);
void     vn_graph_view_let_go         (VnGraphView   *self);
void     vn_graph_view_selection_changed (VnGraphView *self);
void     vn_graph_view_begin_band     (VnGraphView   *self,
                                       gboolean       extend);
void     vn_graph_view_update_band    (VnGraphView   *self,
                                       VnPoint        to);
void     vn_graph_view_end_band       (VnGraphView   *self);
void     vn_graph_view_pick_from_band (VnGraphView   *self,
                                       const GArray  *boxes);

/* lasso (graph-view-lasso.c) */
void     vn_graph_view_begin_lasso    (VnGraphView   *self,
                                       VnPoint        from,
                                       gboolean       extend);
void     vn_graph_view_update_lasso   (VnGraphView   *self,
                                       VnPoint        to);
gboolean vn_graph_view_end_lasso      (VnGraphView   *self);

/* the selected tensor (graph-view-edges.c) */
void     vn_graph_view_select_edge    (VnGraphView   *self,
                                       guint          edge);
void     vn_graph_view_refold_edge    (VnGraphView   *self);
void     vn_graph_view_forget_edge    (VnGraphView   *self);
gboolean vn_graph_view_step_edge      (VnGraphView   *self,
                                       gboolean       forward);
gboolean vn_graph_view_leave_edge     (VnGraphView   *self,
                                       guint          keyval);

/* walking (graph-view-walk.c) */
guint    vn_graph_view_neighbour      (VnGraphView   *self,
                                       guint          node,
                                       guint          keyval);

/* words (graph-view-words.c) */
char    *vn_graph_view_dup_box_label  (VnGraphView   *self,
                                       guint          box);
gboolean vn_graph_view_query_tooltip  (GtkWidget     *widget,
                                       int            x,
                                       int            y,
                                       gboolean       keyboard,
                                       GtkTooltip    *tooltip);

/* input (graph-view-input.c) */
void     vn_graph_view_add_controllers (VnGraphView  *self);
void     vn_graph_view_update_hover   (VnGraphView   *self);

G_END_DECLS
