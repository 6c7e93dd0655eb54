/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What part of the network is seen: moving, zooming, travelling to a box and back. */
#include "vn-viewport-private.h"

#include <math.h>
#include <string.h>

#define MAX_ZOOM        4.
#define LEAST_ZOOM      0.05
#define ZOOM_FACTOR     1.25
#define KEEP_VISIBLE   80.
#define FIT_MARGIN     24.
#define ZOOM_STEP_MS  150
#define LONG_TRAVEL_MS 350

G_DEFINE_FINAL_TYPE (VnViewport, vn_viewport, G_TYPE_OBJECT)

/**
 * vn_viewport_set_content:
 * @bounds: (nullable): of the network; %NULL: there is none
 * @head: of its first ranks
 * @first: (nullable): its first box
 *
 * Says what there is to be seen. Nothing is moved.
 */
void
vn_viewport_set_content (VnViewport   *self,
                         const VnRect *bounds,
                         const VnRect *head,
                         const VnRect *first)
{
  g_return_if_fail (VN_IS_VIEWPORT (self) && (first == NULL || head != NULL));

  self->has_content = bounds != NULL;
  self->has_boxes = first != NULL;
  if (bounds != NULL)
    self->bounds = *bounds;
  if (first != NULL)
    {
      self->head = *head;
      self->first = *first;
    }
}

/**
 * vn_viewport_get_camera:
 *
 * Returns: what is seen now
 */
VnGraphCamera
vn_viewport_get_camera (VnViewport *self)
{
  g_return_val_if_fail (VN_IS_VIEWPORT (self), ((VnGraphCamera) { 0 }));

  return self->camera;
}

/**
 * vn_viewport_get_area:
 *
 * Returns: what is seen now, in the world
 */
VnRect
vn_viewport_get_area (VnViewport *self)
{
  g_return_val_if_fail (VN_IS_VIEWPORT (self), ((VnRect) { 0 }));

  return (VnRect) { self->camera.origin.x, self->camera.origin.y, vn_viewport_get_width (self) / self->camera.zoom,
                    vn_viewport_get_height (self) / self->camera.zoom };
}

/**
 * vn_viewport_to_world:
 *
 * Returns: the point of the world under a point of the widget
 */
VnPoint
vn_viewport_to_world (VnViewport *self,
                      double      x,
                      double      y)
{
  g_return_val_if_fail (VN_IS_VIEWPORT (self), ((VnPoint) { 0 }));

  return (VnPoint) { self->camera.origin.x + x / self->camera.zoom,
                     self->camera.origin.y + y / self->camera.zoom };
}

/**
 * vn_viewport_animates:
 *
 * Returns: whether what moves is seen to do so
 */
gboolean
vn_viewport_animates (VnViewport *self)
{
  gboolean enabled = TRUE;

  g_return_val_if_fail (VN_IS_VIEWPORT (self), FALSE);

  g_object_get (gtk_widget_get_settings (self->widget), "gtk-enable-animations", &enabled, NULL);
  return enabled && gtk_widget_get_mapped (self->widget);
}

static VnGraphCamera
viewport_fit (VnViewport *self)
{
  return vn_graph_camera_fit (self->bounds, vn_viewport_get_width (self), vn_viewport_get_height (self), FIT_MARGIN, 1);
}

static double
viewport_get_least_zoom (VnViewport *self)
{
  return self->has_content ? MIN (LEAST_ZOOM, viewport_fit (self).zoom / 2) : LEAST_ZOOM;
}

/**
 * vn_viewport_move:
 *
 * Looks there at once, keeping some of the network in sight.
 */
void
vn_viewport_move (VnViewport   *self,
                  VnGraphCamera camera)
{
  gboolean zoomed;

  g_return_if_fail (VN_IS_VIEWPORT (self));

  if (self->has_content)
    {
      VnRect bounds = self->bounds;
      double keep = KEEP_VISIBLE / camera.zoom;
      double width = vn_viewport_get_width (self) / camera.zoom;
      double height = vn_viewport_get_height (self) / camera.zoom;

      camera.origin.x = CLAMP (camera.origin.x, bounds.x + keep - width, bounds.x + bounds.width - keep);
      camera.origin.y = CLAMP (camera.origin.y, bounds.y + keep - height, bounds.y + bounds.height - keep);
    }
  zoomed = camera.zoom != self->camera.zoom;
  self->camera = camera;
  g_signal_emit_by_name (self, "moved", zoomed);
}

/**
 * vn_viewport_stop:
 *
 * Gives up the movement that is under way.
 */
void
vn_viewport_stop (VnViewport *self)
{
  g_return_if_fail (VN_IS_VIEWPORT (self));

  if (self->flight.tick != 0)
    gtk_widget_remove_tick_callback (self->widget, self->flight.tick);
  self->flight.tick = 0;
}

static VnPoint
viewport_middle_of (VnViewport   *self,
                    VnGraphCamera camera)
{
  return (VnPoint) { camera.origin.x + vn_viewport_get_width (self) / 2. / camera.zoom,
                     camera.origin.y + vn_viewport_get_height (self) / 2. / camera.zoom };
}

static VnGraphCamera
viewport_camera_at (VnViewport *self,
                    VnPoint     middle,
                    double      zoom)
{
  return (VnGraphCamera) { zoom, { middle.x - vn_viewport_get_width (self) / 2. / zoom,
                                   middle.y - vn_viewport_get_height (self) / 2. / zoom } };
}

static VnGraphCamera
viewport_flight_at (VnViewport *self,
                    double      t)
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
  a = viewport_middle_of (self, flight->from);
  b = viewport_middle_of (self, flight->to);
  return viewport_camera_at (self, (VnPoint) { a.x + eased * (b.x - a.x), a.y + eased * (b.y - a.y) }, zoom);
}

static gboolean
viewport_flight_tick (GtkWidget     *widget,
                      GdkFrameClock *clock,
                      gpointer       user_data)
{
  VnViewport *self = user_data;
  gint64 now = gdk_frame_clock_get_frame_time (clock);
  double t;

  if (self->flight.start == 0)
    self->flight.start = now;
  t = (now - self->flight.start) / (double) self->flight.duration;
  if (t >= 1)
    self->flight.tick = 0;   /* who is told of the last step sees that it is the last */
  vn_viewport_move (self, viewport_flight_at (self, CLAMP (t, 0, 1)));
  return t < 1 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

/* Moves the camera in so many milliseconds, at once where animations are off; about a point of the widget if given. */
void
vn_viewport_fly (VnViewport    *self,
                 VnGraphCamera  camera,
                 guint          milliseconds,
                 const VnPoint *anchor)
{
  vn_viewport_stop (self);
  if (!vn_viewport_animates (self))
    {
      vn_viewport_move (self, camera);
      return;
    }
  self->flight = (Flight) { .duration = milliseconds * 1000, .from = self->camera, .to = camera,
                            .anchored = anchor != NULL };
  if (anchor != NULL)
    self->flight.anchor = *anchor;
  self->flight.tick = gtk_widget_add_tick_callback (self->widget, viewport_flight_tick, self, NULL);
}

/**
 * vn_viewport_zoom_about:
 * @zoom: clamped to what there is
 * @anchor: in the widget
 *
 * Zooms so that what is under @anchor stays there. Steps made while a step is under way add up.
 */
void
vn_viewport_zoom_about (VnViewport *self,
                        double      zoom,
                        VnPoint     anchor,
                        gboolean    animated)
{
  VnPoint fixed;
  VnGraphCamera camera;

  g_return_if_fail (VN_IS_VIEWPORT (self));

  fixed = vn_viewport_to_world (self, anchor.x, anchor.y);
  zoom = CLAMP (zoom, viewport_get_least_zoom (self), MAX_ZOOM);
  camera = (VnGraphCamera) { zoom, { fixed.x - anchor.x / zoom, fixed.y - anchor.y / zoom } };
  if (animated)
    {
      vn_viewport_fly (self, camera, ZOOM_STEP_MS, &anchor);
      return;
    }
  vn_viewport_stop (self);
  vn_viewport_move (self, camera);
}

/**
 * vn_viewport_get_aim:
 *
 * Returns: the zoom that there is, or will be once the movement that is under way has ended
 */
double
vn_viewport_get_aim (VnViewport *self)
{
  g_return_val_if_fail (VN_IS_VIEWPORT (self), 1);

  return self->flight.tick != 0 ? self->flight.to.zoom : self->camera.zoom;
}

/**
 * vn_viewport_is_moving:
 *
 * Returns: whether a movement is under way
 */
gboolean
vn_viewport_is_moving (VnViewport *self)
{
  g_return_val_if_fail (VN_IS_VIEWPORT (self), FALSE);

  return self->flight.tick != 0;
}

/**
 * vn_viewport_is_zooming:
 *
 * Returns: whether a movement is under way that changes the zoom
 */
gboolean
vn_viewport_is_zooming (VnViewport *self)
{
  g_return_val_if_fail (VN_IS_VIEWPORT (self), FALSE);

  return self->flight.tick != 0 && self->flight.from.zoom != self->flight.to.zoom;
}

/**
 * vn_viewport_set_zoom:
 * @zoom: clamped to what the view allows
 *
 * Zooms about the middle, animated.
 */
void
vn_viewport_set_zoom (VnViewport *self,
                      double      zoom)
{
  g_return_if_fail (VN_IS_VIEWPORT (self));

  vn_viewport_zoom_about (self, zoom, (VnPoint) { vn_viewport_get_width (self) / 2., vn_viewport_get_height (self) / 2. }, TRUE);
}

/**
 * vn_viewport_zoom_in:
 *
 * One step closer, about the middle.
 */
void
vn_viewport_zoom_in (VnViewport *self)
{
  g_return_if_fail (VN_IS_VIEWPORT (self));

  vn_viewport_set_zoom (self, vn_viewport_get_aim (self) * ZOOM_FACTOR);
}

/**
 * vn_viewport_zoom_out:
 *
 * One step away, about the middle.
 */
void
vn_viewport_zoom_out (VnViewport *self)
{
  g_return_if_fail (VN_IS_VIEWPORT (self));

  vn_viewport_set_zoom (self, vn_viewport_get_aim (self) / ZOOM_FACTOR);
}

/* Travels so that @world is in the middle; longer where it is far away. */
static void
viewport_travel (VnViewport *self,
                 VnPoint     world,
                 double      zoom)
{
  VnPoint now = viewport_middle_of (self, self->camera);
  double screen = MAX (vn_viewport_get_width (self), vn_viewport_get_height (self));
  gboolean is_long = hypot (world.x - now.x, world.y - now.y) * self->camera.zoom > 2 * screen;

  vn_viewport_fly (self, viewport_camera_at (self, world, zoom), is_long ? LONG_TRAVEL_MS : TRAVEL_MS, NULL);
}

/**
 * vn_viewport_center_on:
 * @world: comes to the middle of the view
 *
 * Travels there at the present zoom.
 */
void
vn_viewport_center_on (VnViewport *self,
                       VnPoint     world)
{
  g_return_if_fail (VN_IS_VIEWPORT (self));

  viewport_travel (self, world, self->camera.zoom);
}

/**
 * vn_viewport_read:
 * @box: in the world
 *
 * Travels to a box, coming close enough to read it.
 */
void
vn_viewport_read (VnViewport   *self,
                  const VnRect *box)
{
  g_return_if_fail (VN_IS_VIEWPORT (self) && box != NULL);

  viewport_travel (self, (VnPoint) { box->x + box->width / 2, box->y + box->height / 2 }, MAX (self->camera.zoom, 1));
}

/**
 * vn_viewport_reveal:
 * @box: in the world
 *
 * Scrolls just enough to see a box.
 */
void
vn_viewport_reveal (VnViewport   *self,
                    const VnRect *box)
{
  VnGraphCamera camera;
  double margin, width, height;
  VnPoint origin;

  g_return_if_fail (VN_IS_VIEWPORT (self) && box != NULL);

  camera = self->flight.tick != 0 ? self->flight.to : self->camera;
  margin = 40 / camera.zoom;
  width = vn_viewport_get_width (self) / camera.zoom;
  height = vn_viewport_get_height (self) / camera.zoom;
  origin = camera.origin;
  origin.x = MIN (origin.x, box->x - margin);
  origin.x = MAX (origin.x, box->x + box->width + margin - width);
  origin.y = MIN (origin.y, box->y - margin);
  origin.y = MAX (origin.y, box->y + box->height + margin - height);
  if (origin.x == camera.origin.x && origin.y == camera.origin.y)
    return;
  camera.origin = origin;
  vn_viewport_fly (self, camera, ZOOM_STEP_MS, NULL);
}

/* ---- trail ---- */

/**
 * vn_viewport_push_trail:
 *
 * Remembers where the view is, for vn_viewport_go_back().
 */
void
vn_viewport_push_trail (VnViewport *self)
{
  g_return_if_fail (VN_IS_VIEWPORT (self));

  g_array_append_val (self->trail, self->camera);
}

/**
 * vn_viewport_clear_trail:
 *
 * Forgets where the view was.
 */
void
vn_viewport_clear_trail (VnViewport *self)
{
  g_return_if_fail (VN_IS_VIEWPORT (self));

  g_array_set_size (self->trail, 0);
}

/**
 * vn_viewport_go_back:
 *
 * Returns to the place that was remembered last. Nothing if there is none.
 */
void
vn_viewport_go_back (VnViewport *self)
{
  VnGraphCamera camera;

  g_return_if_fail (VN_IS_VIEWPORT (self));

  if (self->trail->len == 0)
    return;
  camera = g_array_index (self->trail, VnGraphCamera, self->trail->len - 1);
  g_array_set_size (self->trail, self->trail->len - 1);
  vn_viewport_fly (self, camera, LONG_TRAVEL_MS, NULL);
}

static void
vn_viewport_finalize (GObject *object)
{
  g_array_unref (VN_VIEWPORT (object)->trail);
  G_OBJECT_CLASS (vn_viewport_parent_class)->finalize (object);
}

static void
vn_viewport_class_init (VnViewportClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_viewport_finalize;
  g_signal_new ("moved", VN_TYPE_VIEWPORT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_BOOLEAN);
}

static void
vn_viewport_init (VnViewport *self)
{
  self->camera.zoom = 1;
  self->trail = g_array_new (FALSE, FALSE, sizeof (VnGraphCamera));
}

/**
 * vn_viewport_new:
 * @widget: where the network is seen; calls vn_viewport_stop() before it is gone
 *
 * Returns: (transfer full): a part of no network yet
 */
VnViewport *
vn_viewport_new (GtkWidget *widget)
{
  VnViewport *self;

  g_return_val_if_fail (GTK_IS_WIDGET (widget), NULL);

  self = g_object_new (VN_TYPE_VIEWPORT, NULL);
  self->widget = widget;
  return self;
}
