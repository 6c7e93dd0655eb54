/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Where in a widget a network is seen while panels float over it. Pure geometry. */

#include "vn-graph-painter.h"

G_BEGIN_DECLS

#define VN_ROOM_READABLE 0.6    /* a network that fits at this zoom or closer is first seen whole */

/**
 * VnRoom: a widget and what lies over it, in its pixels.
 * @panels: of no size where a panel is not there
 */
typedef struct
{
  double        width, height;
  const VnRect *panels;
  guint         n_panels;
} VnRoom;

/* Fills in at most so many panels, and returns how many. */
#define VN_ROOM_PANELS 6
typedef guint (*VnRoomPanels) (gpointer  data,
                               VnRect   *panels,
                               guint     most);

VnGraphCamera vn_room_fit  (const VnRoom *room,
                            VnRect        bounds);
VnGraphCamera vn_room_open (const VnRoom *room,
                            VnRect        bounds,
                            VnRect        head,
                            VnRect        first);

G_END_DECLS
