/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The widget that shows a network. */

#include "vn-alignment.h"
#include "vn-room.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define VN_TYPE_GRAPH_VIEW (vn_graph_view_get_type ())
G_DECLARE_FINAL_TYPE (VnGraphView, vn_graph_view, VN, GRAPH_VIEW, GtkWidget)

/* The canvas. Nodes are named by their index in the scene, whether they are seen or in a closed group.
 *
 * Signals:
 *   ready ()                     a scene is laid out and shown
 *   failed (const char *message) a scene could not be laid out; the old one stays
 *   selection-changed ()
 *   focus-changed ()             the node the keyboard and the inspector are at
 *   hover-changed ()             the pointer came over another node, or left it
 *   node-activated (guint node)  double click, Enter
 *   folding-changed ()           groups were opened or closed
 *   content-changed ()           other boxes, other places or other colours are shown
 *   camera-changed ()            another part is seen, or the same one larger
 *   leak-activated (const char *tensor, gboolean enters, double x, double y)   a click on the chip of a leak, which is there
 *   context-menu (guint node, double x, double y)   %VN_SCENE_NONE: on the canvas
 * Property: zoom (double, 1 is 100 %), notified. */

/* Width by height that long networks are folded for: half the window is panels, or none of it. */
#define VN_GRAPH_COLUMNS_PAGE 1.25

GtkWidget  *vn_graph_view_new             (void);
void        vn_graph_view_set_scene       (VnGraphView         *self,
                                           VnScene             *scene);
void        vn_graph_view_set_network     (VnGraphView         *self,
                                           VnScene             *scene,
                                           VnGroups            *groups);
VnScene    *vn_graph_view_get_scene       (VnGraphView         *self);
VnScene    *vn_graph_view_get_shown       (VnGraphView         *self);   /* closed groups are boxes in it */
VnGraphLayout *vn_graph_view_get_layout   (VnGraphView         *self);   /* of what is shown */
VnGraphIndex *vn_graph_view_get_index     (VnGraphView         *self);
VnOverlay  *vn_graph_view_get_shown_overlay (VnGraphView       *self);
void        vn_graph_view_set_overlay     (VnGraphView         *self,
                                           VnOverlay           *overlay);
VnOverlay  *vn_graph_view_get_overlay     (VnGraphView         *self);

/* ---- groups ---- */

gboolean    vn_graph_view_get_grouped     (VnGraphView         *self);
void        vn_graph_view_set_grouped     (VnGraphView         *self,
                                           gboolean             grouped);
gboolean    vn_graph_view_is_open         (VnGraphView         *self,
                                           guint                group);
void        vn_graph_view_expand          (VnGraphView         *self,
                                           guint                group);
void        vn_graph_view_collapse        (VnGraphView         *self,
                                           guint                group);
void        vn_graph_view_expand_all      (VnGraphView         *self);
void        vn_graph_view_collapse_all    (VnGraphView         *self);
gboolean    vn_graph_view_can_expand      (VnGraphView         *self);
gboolean    vn_graph_view_can_collapse    (VnGraphView         *self);
gboolean    vn_graph_view_expand_focus    (VnGraphView         *self);
gboolean    vn_graph_view_collapse_focus  (VnGraphView         *self);

/* ---- selection ---- */

GArray     *vn_graph_view_dup_selection   (VnGraphView         *self);   /* of guint, ascending */
guint       vn_graph_view_get_n_selected  (VnGraphView         *self);
gboolean    vn_graph_view_is_selected     (VnGraphView         *self,
                                           guint                node);
void        vn_graph_view_select          (VnGraphView         *self,
                                           const guint         *nodes,
                                           guint                n_nodes,
                                           gboolean             extend);
guint       vn_graph_view_get_focus_node  (VnGraphView         *self);   /* VN_SCENE_NONE: none */
void        vn_graph_view_set_focus_node  (VnGraphView         *self,
                                           guint                node);
guint       vn_graph_view_get_selected_edge (VnGraphView       *self);   /* VN_SCENE_NONE: none */
void        vn_graph_view_set_lasso       (VnGraphView         *self,
                                           gboolean             lasso);
const char *vn_graph_view_get_selected_tensor (VnGraphView     *self);   /* NULL: none */
void        vn_graph_view_select_tensor   (VnGraphView         *self,
                                           const char          *name);
void        vn_graph_view_set_boundary    (VnGraphView         *self,
                                           const char * const  *in_values,
                                           const char * const  *out_values,
                                           const char * const  *leaks);
gboolean    vn_graph_view_get_chip        (VnGraphView         *self,
                                           const char          *tensor,
                                           gboolean             enters,
                                           VnRect              *box);      /* in the widget */

/* ---- camera ---- */

VnGraphCamera vn_graph_view_get_camera    (VnGraphView         *self);
double      vn_graph_view_get_zoom        (VnGraphView         *self);
void        vn_graph_view_set_zoom        (VnGraphView         *self,
                                           double               zoom);
void        vn_graph_view_zoom_in         (VnGraphView         *self);
void        vn_graph_view_zoom_out        (VnGraphView         *self);
void        vn_graph_view_zoom_to_fit     (VnGraphView         *self);
void        vn_graph_view_zoom_to_node    (VnGraphView         *self,
                                           guint                node);
void        vn_graph_view_center_on       (VnGraphView         *self,
                                           VnPoint              world);
gboolean    vn_graph_view_is_home         (VnGraphView         *self);
gboolean    vn_graph_view_is_moving       (VnGraphView         *self);
void        vn_graph_view_set_page        (VnGraphView         *self,
                                           double               page);
void        vn_graph_view_set_panels_func (VnGraphView         *self,
                                           VnRoomPanels         panels,    /* nullable */
                                           gpointer             data);
void        vn_graph_view_panels_changed  (VnGraphView         *self);
void        vn_graph_view_set_opens_whole (VnGraphView         *self,
                                           gboolean             opens_whole);

/* ---- beside another view (graph-view-beside.c) ---- */

void        vn_graph_view_set_alignment   (VnGraphView         *self,
                                           VnAlignment         *alignment,
                                           guint                side,
                                           const guint8        *open);     /* nullable */
void        vn_graph_view_hold_camera     (VnGraphView         *self,
                                           gboolean             holds);
VnAlignment *vn_graph_view_get_alignment  (VnGraphView         *self);   /* NULL: it is laid out for itself */
void        vn_graph_view_go_home         (VnGraphView         *self);
void        vn_graph_view_make_home       (VnGraphView         *self);
double      vn_graph_view_get_fit         (VnGraphView         *self);   /* zoom */
VnGroups   *vn_graph_view_get_groups      (VnGraphView         *self);   /* NULL: none */
const guint8 *vn_graph_view_get_open      (VnGraphView         *self);   /* by group; NULL: groups are not shown */
void        vn_graph_view_set_open_groups (VnGraphView         *self,
                                           const guint8        *open);
gboolean    vn_graph_view_get_place       (VnGraphView         *self,
                                           guint                node,
                                           VnRect              *place);
void        vn_graph_view_set_camera      (VnGraphView         *self,
                                           VnGraphCamera        camera);
guint       vn_graph_view_get_hover_node  (VnGraphView         *self);   /* VN_SCENE_NONE: none */
void        vn_graph_view_set_hover_node  (VnGraphView         *self,
                                           guint                node);

char       *vn_graph_view_dup_node_label  (VnGraphView         *self,
                                           guint                node);   /* for screen readers and tooltips */

G_END_DECLS
