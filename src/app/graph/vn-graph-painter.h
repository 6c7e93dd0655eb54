/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-graph-index.h"
#include "vn-graph-theme.h"
#include "vn-groups.h"

#include <cairo.h>

G_BEGIN_DECLS

/* Draws a laid-out scene on any cairo surface. No widget inside: the window, a picture file and a test use
 * it alike. One painter belongs to one thread; scene, layout, index and overlay may be shared. */

/**
 * VnGraphCamera: which part of the world is seen: a world point p is drawn at (p - origin) * zoom.
 */
typedef struct
{
  double  zoom;
  VnPoint origin;
} VnGraphCamera;

typedef enum
{
  VN_GRAPH_FAR,      /* zoom < 0.45: blocks */
  VN_GRAPH_MIDDLE,   /* operator only */
  VN_GRAPH_NEAR,     /* zoom >= 0.9: everything */
} VnGraphLevel;

/**
 * VnGraphChip: where a selection's boundary is crossed.
 * @is_leak: a side branch that leaves to nowhere: orange
 */
typedef struct
{
  guint    edge;
  gboolean enters, is_leak;
  char     label[16];
} VnGraphChip;

/**
 * VnGraphState: what changes with the pointer and the selection, drawn over the rest.
 * @selected: (nullable): one byte a node
 * @regions: rounded rectangles behind connected parts of the selection
 * @chips: crossings of the boundary; their edges are drawn in accent
 * @measuring: (nullable): one byte a node: being measured
 * @partly: (nullable): one byte a node: a closed group of which some nodes are selected
 * @hover_frame: open group whose title the pointer is over, in the tree of groups
 * @lasso: (nullable): line round what is being selected
 * @phase: 0 … 1, of the dash that travels round nodes being measured
 */
typedef struct
{
  const guint8      *selected;
  const guint8      *partly;
  const guint8      *measuring;
  double             phase;
  guint              hover_node, hover_edge, hover_stub;
  guint              focus_node, selected_edge, hover_frame;
  const VnRect      *regions;
  guint              n_regions;
  const VnGraphChip *chips;
  guint              n_chips;
  gboolean           has_band;
  VnRect             band;
  const VnPoint     *lasso;
  guint              n_lasso;
} VnGraphState;

typedef struct _VnGraphPainter VnGraphPainter;

VnGraphPainter *vn_graph_painter_new         (void);
void            vn_graph_painter_free        (VnGraphPainter      *self);
void            vn_graph_painter_set_content (VnGraphPainter      *self,
                                              VnScene             *scene,
                                              VnGraphLayout            *layout,
                                              const VnGraphIndex  *index);
void            vn_graph_painter_set_groups  (VnGraphPainter      *self,
                                              VnGroups            *groups);
void            vn_graph_painter_set_overlay (VnGraphPainter      *self,
                                              VnOverlay           *overlay);
void            vn_graph_painter_set_fade    (VnGraphPainter      *self,
                                              VnOverlay           *from,
                                              double               progress);
void            vn_graph_painter_set_theme   (VnGraphPainter      *self,
                                              const VnGraphTheme  *theme);
void            vn_graph_painter_draw_background (VnGraphPainter *self,
                                              cairo_t             *cr,
                                              double               width,
                                              double               height);
void            vn_graph_painter_draw        (VnGraphPainter      *self,
                                              cairo_t             *cr,
                                              VnGraphCamera        camera,
                                              double               width,
                                              double               height);
void            vn_graph_painter_draw_state  (VnGraphPainter      *self,
                                              cairo_t             *cr,
                                              VnGraphCamera        camera,
                                              double               width,
                                              double               height,
                                              const VnGraphState  *state);
gboolean        vn_graph_painter_get_chip    (VnGraphPainter      *self,
                                              VnGraphCamera        camera,
                                              const VnGraphState  *state,
                                              guint                chip,
                                              VnRect              *box);
void            vn_graph_state_init          (VnGraphState        *self);
VnGraphLevel    vn_graph_level_of_zoom       (double               zoom);
VnGraphCamera   vn_graph_camera_fit          (VnRect               bounds,
                                              double               width,
                                              double               height,
                                              double               margin,
                                              double               max_zoom);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnGraphPainter, vn_graph_painter_free)

G_END_DECLS
