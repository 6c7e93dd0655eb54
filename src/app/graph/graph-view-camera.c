/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The camera of the graph view: moving, zooming, travelling to a node and back, and what part of the network is seen.
 * */
#include "vn-graph-view-private.h"

#include <math.h>
#include <string.h>

#define MAX_ZOOM      4.
#define LEAST_ZOOM    0.05
#define ZOOM_FACTOR   1.25
#define KEEP_VISIBLE 80.
#define FIT_MARGIN   24.
#define READABLE      0.6    /* a network that fits at this zoom or closer opens fitted */

/* Returns: the point of the world under a point of the widget. */
VnPoint
vn_graph_view_to_world (VnGraphView *self,
                        double       x,
                        double       y)
{
  return (VnPoint) { self->camera.origin.x + x / self->camera.zoom,
                     self->camera.origin.y + y / self->camera.zoom };
}

gboolean
vn_graph_view_animates (VnGraphView *self)
{
  gboolean enabled = TRUE;

  g_object_get (gtk_widget_get_settings (GTK_WIDGET (self)), "gtk-enable-animations", &enabled, NULL);
  return enabled && gtk_widget_get_mapped (GTK_WIDGET (self));
}

static VnGraphCamera
graph_view_camera_fit (VnGraphView *self)
{
  return vn_graph_camera_fit (vn_graph_layout_get_bounds (self->layout),
                              gtk_widget_get_width (GTK_WIDGET (self)),
                              gtk_widget_get_height (GTK_WIDGET (self)), FIT_MARGIN, 1);
}

static double
graph_view_camera_least_zoom (VnGraphView *self)
{
  return self->layout != NULL ? MIN (LEAST_ZOOM, graph_view_camera_fit (self).zoom / 2) : LEAST_ZOOM;
}

/* Sets the camera, keeping some of the network in sight. */
void
vn_graph_view_move (VnGraphView   *self,
                    VnGraphCamera  camera)
{
  gboolean zoomed;

  if (self->layout != NULL)
    {
      VnRect bounds = vn_graph_layout_get_bounds (self->layout);
      double keep = KEEP_VISIBLE / camera.zoom;
      double width = gtk_widget_get_width (GTK_WIDGET (self)) / camera.zoom;
      double height = gtk_widget_get_height (GTK_WIDGET (self)) / camera.zoom;

      camera.origin.x = CLAMP (camera.origin.x, bounds.x + keep - width, bounds.x + bounds.width - keep);
      camera.origin.y = CLAMP (camera.origin.y, bounds.y + keep - height, bounds.y + bounds.height - keep);
    }
  zoomed = camera.zoom != self->camera.zoom;
  self->camera = camera;
  if (zoomed)
    g_object_notify (G_OBJECT (self), "zoom");
  vn_graph_view_update_hover (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit_by_name (self, "camera-changed");
}

void
vn_graph_view_stop (VnGraphView *self)
{
  if (self->flight.tick != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->flight.tick);
  self->flight.tick = 0;
}

static VnPoint
graph_view_camera_middle_of (VnGraphView   *self,
                             VnGraphCamera  camera)
{
  return (VnPoint) { camera.origin.x + gtk_widget_get_width (GTK_WIDGET (self)) / 2. / camera.zoom,
                     camera.origin.y + gtk_widget_get_height (GTK_WIDGET (self)) / 2. / camera.zoom };
}

static VnGraphCamera
camera_at (VnGraphView *self,
           VnPoint      middle,
           double       zoom)
{
  return (VnGraphCamera) { zoom, { middle.x - gtk_widget_get_width (GTK_WIDGET (self)) / 2. / zoom,
                                   middle.y - gtk_widget_get_height (GTK_WIDGET (self)) / 2. / zoom } };
}

static VnGraphCamera
graph_view_camera_flight_at (VnGraphView *self,
                             double       t)
{
  const Flight *flight = &self->flight;
  double eased = 1 - pow (1 - t, 3);
  double zoom = flight->from.zoom * pow (flight->to.zoom / flight->from.zoom, eased);
  VnPoint a, b;

  if (t >= 1)
    return flight->to;
  if (flight->anchored)
    {
      VnPoint fixed = { flight->to.origin.x + flight->anchor.x / flight->to.zoom,
                        flight->to.origin.y + flight->anchor.y / flight->to.zoom };

      return (VnGraphCamera) { zoom, { fixed.x - flight->anchor.x / zoom,
                                       fixed.y - flight->anchor.y / zoom } };
    }
  a = graph_view_camera_middle_of (self, flight->from);
  b = graph_view_camera_middle_of (self, flight->to);
  return camera_at (self, (VnPoint) { a.x + eased * (b.x - a.x), a.y + eased * (b.y - a.y) }, zoom);
}

static gboolean
graph_view_camera_flight_tick (GtkWidget     *widget,
                               GdkFrameClock *clock,
                               gpointer       user_data)
{
  VnGraphView *self = VN_GRAPH_VIEW (widget);
  gint64 now = gdk_frame_clock_get_frame_time (clock);
  double t;

  if (self->flight.start == 0)
    self->flight.start = now;
  t = (now - self->flight.start) / (double) self->flight.duration;
  vn_graph_view_move (self, graph_view_camera_flight_at (self, CLAMP (t, 0, 1)));
  if (t < 1)
    return G_SOURCE_CONTINUE;
  self->flight.tick = 0;
  return G_SOURCE_REMOVE;
}

/* Moves the camera in so many milliseconds, at once where animations are off; about a point of the widget
 * if given. */
void
vn_graph_view_fly (VnGraphView   *self,
                   VnGraphCamera  camera,
                   guint          milliseconds,
                   const VnPoint *anchor)
{
  vn_graph_view_stop (self);
  if (!vn_graph_view_animates (self))
    {
      vn_graph_view_move (self, camera);
      return;
    }
  self->flight = (Flight) { .duration = milliseconds * 1000, .from = self->camera, .to = camera,
                            .anchored = anchor != NULL };
  if (anchor != NULL)
    self->flight.anchor = *anchor;
  self->flight.tick = gtk_widget_add_tick_callback (GTK_WIDGET (self), graph_view_camera_flight_tick, NULL, NULL);
}

/* Zooms so that what is under @anchor stays there. Steps made while a step is under way add up. */
void
vn_graph_view_zoom_about (VnGraphView *self,
                          double       zoom,
                          VnPoint      anchor,
                          gboolean     animated)
{
  VnPoint fixed = vn_graph_view_to_world (self, anchor.x, anchor.y);
  VnGraphCamera camera;

  zoom = CLAMP (zoom, graph_view_camera_least_zoom (self), MAX_ZOOM);
  camera = (VnGraphCamera) { zoom, { fixed.x - anchor.x / zoom, fixed.y - anchor.y / zoom } };
  if (animated)
    {
      vn_graph_view_fly (self, camera, ZOOM_STEP_MS, &anchor);
      return;
    }
  vn_graph_view_stop (self);
  vn_graph_view_move (self, camera);
}

static double
graph_view_camera_zoom_aim (VnGraphView *self)
{
  return self->flight.tick != 0 ? self->flight.to.zoom : self->camera.zoom;
}

static VnPoint
graph_view_camera_widget_middle (VnGraphView *self)
{
  return (VnPoint) { gtk_widget_get_width (GTK_WIDGET (self)) / 2.,
                     gtk_widget_get_height (GTK_WIDGET (self)) / 2. };
}

/* Where a scene is first seen: whole if that is readable, else its upper end at 100 %. */
void
vn_graph_view_go_home (VnGraphView *self)
{
  VnGraphCamera camera;

  if (self->layout == NULL || gtk_widget_get_width (GTK_WIDGET (self)) <= 0)
    {
      self->needs_home = TRUE;
      return;
    }
  self->needs_home = FALSE;
  camera = graph_view_camera_fit (self);
  if (camera.zoom < READABLE && vn_graph_layout_get_n_nodes (self->layout) > 0)
    {
      VnRect bounds = vn_graph_layout_get_bounds (self->layout);
      const VnRect *first = vn_graph_layout_get_box (self->layout, 0);
      gboolean covered = self->cover_width < 0 || gtk_widget_get_width (GTK_WIDGET (self)) - first->width < 2 * self->cover_width;

      camera = camera_at (self, (VnPoint) { first->x + first->width / 2, 0 }, 1);
      camera.origin.y = bounds.y - (covered ? MAX (self->cover_height, FIT_MARGIN) : FIT_MARGIN);
    }
  vn_graph_view_stop (self);
  vn_graph_view_move (self, camera);
  self->home = self->camera;
}

/**
 * vn_graph_view_is_home:
 *
 * Returns: whether the network is seen as it was first shown: nobody has moved it since
 */
gboolean
vn_graph_view_is_home (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), FALSE);

  return self->flight.tick == 0 && memcmp (&self->camera, &self->home, sizeof self->home) == 0;
}

/**
 * vn_graph_view_set_cover:
 * @width: in pixels, of what lies over the upper left corner; -1: it goes from one side to the other
 * @height: in pixels
 *
 * A network that is too large to be seen as a whole is first shown below it.
 */
void
vn_graph_view_set_cover (VnGraphView *self,
                         int          width,
                         int          height)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  self->cover_width = width;
  self->cover_height = height;
  if (self->layout != NULL && vn_graph_view_is_home (self))
    vn_graph_view_go_home (self);
}

/* Scrolls just enough to see a node. */
void
vn_graph_view_reveal (VnGraphView *self,
                      guint        node)
{
  const VnRect *box = vn_graph_layout_get_box (self->layout, node);
  VnGraphCamera camera = self->flight.tick != 0 ? self->flight.to : self->camera;
  double margin = 40 / camera.zoom;
  double width = gtk_widget_get_width (GTK_WIDGET (self)) / camera.zoom;
  double height = gtk_widget_get_height (GTK_WIDGET (self)) / camera.zoom;
  VnPoint origin = camera.origin;

  origin.x = MIN (origin.x, box->x - margin);
  origin.x = MAX (origin.x, box->x + box->width + margin - width);
  origin.y = MIN (origin.y, box->y - margin);
  origin.y = MAX (origin.y, box->y + box->height + margin - height);
  if (origin.x == camera.origin.x && origin.y == camera.origin.y)
    return;
  camera.origin = origin;
  vn_graph_view_fly (self, camera, ZOOM_STEP_MS, NULL);
}

/* Remembers where the view is, for vn_graph_view_go_back(). */
void
vn_graph_view_push_trail (VnGraphView *self)
{
  g_array_append_val (self->trail, self->camera);
}

/**
 * vn_graph_view_get_camera:
 *
 * Returns: what is seen now
 */
VnGraphCamera
vn_graph_view_get_camera (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), ((VnGraphCamera) { 0 }));

  return self->camera;
}

/**
 * vn_graph_view_get_zoom:
 *
 * Returns: pixels per world unit; 1 is 100 %
 */
double
vn_graph_view_get_zoom (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), 0);

  return self->camera.zoom;
}

/**
 * vn_graph_view_set_zoom:
 * @zoom: clamped to what the view allows
 *
 * Zooms about the middle, animated.
 */
void
vn_graph_view_set_zoom (VnGraphView *self,
                        double       zoom)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_view_zoom_about (self, zoom, graph_view_camera_widget_middle (self), TRUE);
}

/**
 * vn_graph_view_zoom_in:
 *
 * One step closer, about the middle.
 */
void
vn_graph_view_zoom_in (VnGraphView *self)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_view_set_zoom (self, graph_view_camera_zoom_aim (self) * ZOOM_FACTOR);
}

/**
 * vn_graph_view_zoom_out:
 *
 * One step away, about the middle.
 */
void
vn_graph_view_zoom_out (VnGraphView *self)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_view_set_zoom (self, graph_view_camera_zoom_aim (self) / ZOOM_FACTOR);
}

/* The whole network, beside what lies over the corner if there is room. */
static VnGraphCamera
graph_view_camera_fit_free (VnGraphView *self)
{
  VnGraphCamera camera = graph_view_camera_fit (self);
  const VnRect bounds = vn_graph_layout_get_bounds (self->layout);
  const double width = gtk_widget_get_width (GTK_WIDGET (self)), free_from = self->cover_width + FIT_MARGIN;
  const double needed = bounds.width * camera.zoom, left = (bounds.x - camera.origin.x) * camera.zoom, top = (bounds.y - camera.origin.y) * camera.zoom;

  if (self->cover_width > 0 && left < free_from && top < self->cover_height && needed + FIT_MARGIN <= width - free_from)
    camera.origin.x = bounds.x + bounds.width / 2 - (free_from + width) / 2 / camera.zoom;
  return camera;
}

/**
 * vn_graph_view_zoom_to_fit:
 *
 * Shows the whole network, at most at 100 %.
 */
void
vn_graph_view_zoom_to_fit (VnGraphView *self)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  if (self->layout != NULL)
    vn_graph_view_fly (self, graph_view_camera_fit_free (self), TRAVEL_MS, NULL);
}

/**
 * vn_graph_view_center_on:
 * @world: comes to the middle of the view
 *
 * Travels there at the present zoom.
 */
void
vn_graph_view_center_on (VnGraphView *self,
                         VnPoint      world)
{
  VnPoint now;
  double screen;
  gboolean is_long;

  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  now = graph_view_camera_middle_of (self, self->camera);
  screen = MAX (gtk_widget_get_width (GTK_WIDGET (self)), gtk_widget_get_height (GTK_WIDGET (self)));
  is_long = hypot (world.x - now.x, world.y - now.y) * self->camera.zoom > 2 * screen;
  vn_graph_view_fly (self, camera_at (self, world, self->camera.zoom), is_long ? LONG_TRAVEL_MS : TRAVEL_MS,
                     NULL);
}

/* Travels to a box, coming close enough to read it, and makes it the focus. */
void
vn_graph_view_zoom_to_box (VnGraphView *self,
                           guint        index)
{
  const VnRect *box;
  VnPoint to, now;
  double screen, zoom, distance;

  if (self->layout == NULL || index >= vn_graph_layout_get_n_nodes (self->layout))
    return;

  box = vn_graph_layout_get_box (self->layout, index);
  to = (VnPoint) { box->x + box->width / 2, box->y + box->height / 2 };
  now = graph_view_camera_middle_of (self, self->camera);
  zoom = MAX (self->camera.zoom, 1);
  screen = MAX (gtk_widget_get_width (GTK_WIDGET (self)), gtk_widget_get_height (GTK_WIDGET (self)));
  distance = hypot (to.x - now.x, to.y - now.y) * self->camera.zoom;
  vn_graph_view_focus_box (self, index);
  vn_graph_view_fly (self, camera_at (self, to, zoom),
                     distance > 2 * screen ? LONG_TRAVEL_MS : TRAVEL_MS, NULL);
}

/**
 * vn_graph_view_zoom_to_node:
 *
 * Travels to a node, coming close enough to read it, and makes it the focus. Groups that hide it are opened.
 */
void
vn_graph_view_zoom_to_node (VnGraphView *self,
                            guint        node)
{
  guint box;

  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  box = vn_graph_view_get_box (self, node);
  if (box == VN_SCENE_NONE)
    return;
  if (vn_scene_get_node (self->scene, box)->kind != VN_SCENE_GROUP)
    {
      vn_graph_view_zoom_to_box (self, box);
      return;
    }
  self->pending_travel = node;
  vn_graph_view_expand (self, vn_groups_of_node (self->groups, node));
}

/**
 * vn_graph_view_go_back:
 *
 * Returns to where the view was before it followed a stub. Nothing if it has not.
 */
void
vn_graph_view_go_back (VnGraphView *self)
{
  VnGraphCamera camera;

  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  if (self->trail->len == 0)
    return;
  camera = g_array_index (self->trail, VnGraphCamera, self->trail->len - 1);
  g_array_set_size (self->trail, self->trail->len - 1);
  vn_graph_view_fly (self, camera, LONG_TRAVEL_MS, NULL);
}
