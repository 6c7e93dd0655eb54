/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of the viewport share. */

#include "vn-viewport.h"

G_BEGIN_DECLS

#define TRAVEL_MS 250

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

struct _VnViewport
{
  GObject        parent_instance;

  GtkWidget     *widget;             /* borrowed: holds this */
  gboolean       has_content, has_boxes;
  VnRect         bounds, head, first;   /* of the network; of its first ranks; of its first box */

  VnGraphCamera  camera;
  gboolean       needs_home;         /* place the camera at the next allocation */
  VnGraphCamera  home;               /* where it was placed then */
  VnRoomPanels panels;           /* nullable */
  gpointer       panels_data;
  gboolean       opens_whole;
  Flight         flight;
  GArray        *trail;              /* of VnGraphCamera: places to go back to */
};

static inline double
vn_viewport_get_width (VnViewport *self)
{
  return gtk_widget_get_width (self->widget);
}

static inline double
vn_viewport_get_height (VnViewport *self)
{
  return gtk_widget_get_height (self->widget);
}

void vn_viewport_fly (VnViewport    *self,
                      VnGraphCamera  camera,
                      guint          milliseconds,
                      const VnPoint *anchor);

G_END_DECLS
