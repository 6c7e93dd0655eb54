/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The part of a network that a widget shows: its place and zoom, how it moves, and the places to go back to. Knows the widget
 * as a size and a clock, and the network as a rectangle. */

#include "vn-room.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Signal: moved (gboolean zoomed): another part is seen, or the same one larger. */
#define VN_TYPE_VIEWPORT (vn_viewport_get_type ())
G_DECLARE_FINAL_TYPE (VnViewport, vn_viewport, VN, VIEWPORT, GObject)

VnViewport   *vn_viewport_new         (GtkWidget           *widget);
void          vn_viewport_set_content (VnViewport          *self,
                                       const VnRect        *bounds,     /* nullable */
                                       const VnRect        *head,       /* nullable */
                                       const VnRect        *first);     /* nullable */
VnGraphCamera vn_viewport_get_camera  (VnViewport          *self);
VnRect        vn_viewport_get_area    (VnViewport          *self);
VnPoint       vn_viewport_to_world    (VnViewport          *self,
                                       double               x,
                                       double               y);
double        vn_viewport_get_aim     (VnViewport          *self);
gboolean      vn_viewport_is_moving   (VnViewport          *self);
gboolean      vn_viewport_is_zooming  (VnViewport          *self);
gboolean      vn_viewport_animates    (VnViewport          *self);

void          vn_viewport_stop        (VnViewport          *self);
void          vn_viewport_move        (VnViewport          *self,
                                       VnGraphCamera        camera);
void          vn_viewport_zoom_about  (VnViewport          *self,
                                       double               zoom,
                                       VnPoint              anchor,
                                       gboolean             animated);
void          vn_viewport_set_zoom    (VnViewport          *self,
                                       double               zoom);
void          vn_viewport_zoom_in     (VnViewport          *self);
void          vn_viewport_zoom_out    (VnViewport          *self);
void          vn_viewport_zoom_to_fit (VnViewport          *self);
VnGraphCamera vn_viewport_get_fit     (VnViewport          *self);
void          vn_viewport_make_home   (VnViewport          *self);
void          vn_viewport_center_on   (VnViewport          *self,
                                       VnPoint              world);
void          vn_viewport_read        (VnViewport          *self,
                                       const VnRect        *box);
void          vn_viewport_reveal      (VnViewport          *self,
                                       const VnRect        *box);

void          vn_viewport_go_home     (VnViewport          *self);
gboolean      vn_viewport_is_home     (VnViewport          *self);
void          vn_viewport_set_panels_func (VnViewport       *self,
                                       VnRoomPanels        panels,     /* nullable */
                                       gpointer             data);
void          vn_viewport_panels_changed (VnViewport       *self);
void          vn_viewport_set_opens_whole (VnViewport      *self,
                                       gboolean             opens_whole);
gboolean      vn_viewport_get_opens_whole (VnViewport      *self);
gboolean      vn_viewport_resized     (VnViewport          *self);

void          vn_viewport_push_trail  (VnViewport          *self);
void          vn_viewport_clear_trail (VnViewport          *self);
void          vn_viewport_go_back     (VnViewport          *self);

G_END_DECLS
