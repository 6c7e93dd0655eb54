/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The network as a whole, and as it is seen first: beside the panels that lie over the widget. */
#include "vn-viewport-private.h"

#include <string.h>

/* The widget, and the panels that are over it now. */
static VnRoom
viewport_get_room (VnViewport *self,
                   VnRect      panels[VN_ROOM_PANELS])
{
  VnRoom room = { vn_viewport_get_width (self), vn_viewport_get_height (self), panels, 0 };

  if (self->panels != NULL)
    room.n_panels = self->panels (self->panels_data, panels, VN_ROOM_PANELS);
  return room;
}

/**
 * vn_viewport_get_fit:
 *
 * Returns: what shows the whole network, at most at 100 %, beside the panels that lie over the widget
 */
VnGraphCamera
vn_viewport_get_fit (VnViewport *self)
{
  VnRect panels[VN_ROOM_PANELS];
  VnRoom room;

  g_return_val_if_fail (VN_IS_VIEWPORT (self), ((VnGraphCamera) { 1, { 0, 0 } }));

  room = viewport_get_room (self, panels);
  return self->has_content ? vn_room_fit (&room, self->bounds) : self->camera;
}

/**
 * vn_viewport_zoom_to_fit:
 *
 * Shows the whole network, at most at 100 %, beside the panels that lie over the widget.
 */
void
vn_viewport_zoom_to_fit (VnViewport *self)
{
  g_return_if_fail (VN_IS_VIEWPORT (self));

  if (!self->has_content)
    return;
  if (self->opens_whole)
    self->home = vn_viewport_get_fit (self);
  vn_viewport_fly (self, vn_viewport_get_fit (self), TRAVEL_MS, NULL);
}

/**
 * vn_viewport_go_home:
 *
 * Goes where a network is first seen: whole if that is readable, else its upper end with its first ranks whole. As soon as there
 * is something to see and a place for it.
 */
void
vn_viewport_go_home (VnViewport *self)
{
  VnRect panels[VN_ROOM_PANELS];
  VnRoom room;

  g_return_if_fail (VN_IS_VIEWPORT (self));

  if (!self->has_content || vn_viewport_get_width (self) <= 0)
    {
      self->needs_home = TRUE;
      return;
    }
  self->needs_home = FALSE;
  room = viewport_get_room (self, panels);
  vn_viewport_stop (self);
  self->home = self->opens_whole || !self->has_boxes ? vn_room_fit (&room, self->bounds)
                                                     : vn_room_open (&room, self->bounds, self->head, self->first);
  vn_viewport_move (self, self->home);   /* who is told of it asks whether that is home */
  self->home = self->camera;
}

/**
 * vn_viewport_make_home:
 *
 * What is seen now counts as what is first seen.
 */
void
vn_viewport_make_home (VnViewport *self)
{
  g_return_if_fail (VN_IS_VIEWPORT (self));

  self->home = self->camera;
}

/**
 * vn_viewport_is_home:
 *
 * Returns: whether the network is seen as it was first shown, or is on its way there: nobody has moved it since
 */
gboolean
vn_viewport_is_home (VnViewport *self)
{
  g_return_val_if_fail (VN_IS_VIEWPORT (self), FALSE);

  return memcmp (vn_viewport_is_moving (self) ? &self->flight.to : &self->camera, &self->home, sizeof self->home) == 0;
}

/**
 * vn_viewport_set_panels_func:
 * @panels: (nullable): tells what lies over the widget, in its pixels
 *
 * A network that is shown as a whole, or for the first time, is seen beside that.
 */
void
vn_viewport_set_panels_func (VnViewport   *self,
                             VnRoomPanels  panels,
                             gpointer      data)
{
  g_return_if_fail (VN_IS_VIEWPORT (self));

  self->panels = panels;
  self->panels_data = data;
  vn_viewport_panels_changed (self);
}

/**
 * vn_viewport_panels_changed:
 *
 * Other panels lie over the widget, or larger ones: who has not moved the network sees it beside them.
 */
void
vn_viewport_panels_changed (VnViewport *self)
{
  g_return_if_fail (VN_IS_VIEWPORT (self));

  if (self->has_content && vn_viewport_is_home (self))
    vn_viewport_go_home (self);
}

/**
 * vn_viewport_set_opens_whole:
 *
 * A network is first seen as a whole, readable or not.
 */
void
vn_viewport_set_opens_whole (VnViewport *self,
                             gboolean    opens_whole)
{
  g_return_if_fail (VN_IS_VIEWPORT (self));

  self->opens_whole = opens_whole;
  vn_viewport_panels_changed (self);
}

/**
 * vn_viewport_get_opens_whole:
 *
 * Returns: whether a network is first seen as a whole
 */
gboolean
vn_viewport_get_opens_whole (VnViewport *self)
{
  g_return_val_if_fail (VN_IS_VIEWPORT (self), FALSE);

  return self->opens_whole;
}

/**
 * vn_viewport_resized:
 *
 * The widget has been given a size: who has not moved the network sees it as it is first seen, at that size.
 *
 * Returns: whether something was moved
 */
gboolean
vn_viewport_resized (VnViewport *self)
{
  g_return_val_if_fail (VN_IS_VIEWPORT (self), FALSE);

  if (vn_viewport_get_width (self) <= 0 || (!self->needs_home && !vn_viewport_is_home (self)))
    return FALSE;
  vn_viewport_go_home (self);
  return TRUE;
}
