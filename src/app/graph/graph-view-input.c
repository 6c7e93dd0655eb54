/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pointer, wheel, touchpad and keyboard of the graph view: what each gesture and each key does. */
#include "vn-graph-view-private.h"

#include <math.h>

#define WHEEL_FACTOR    1.2
#define CHEVRON_SIZE   26.
#define TOUCHPAD_FACTOR 0.01    /* of zoom per pixel with Ctrl */

/* What is under the pointer now. */
void
vn_graph_view_update_hover (VnGraphView *self)
{
  guint node = VN_SCENE_NONE, edge = VN_SCENE_NONE, stub = VN_SCENE_NONE, frame = VN_SCENE_NONE, chip = VN_SCENE_NONE;
  guint before = self->state.hover_node;

  if (self->hover_is_mirrored && !self->has_pointer)
    return;
  self->hover_is_mirrored = FALSE;
  if (self->index != NULL && self->has_pointer && self->drag == DRAG_NONE)
    {
      VnPoint world = vn_graph_view_to_world (self, self->pointer.x, self->pointer.y);

      chip = vn_graph_view_find_chip (self, self->pointer);
      node = chip == VN_SCENE_NONE ? vn_graph_index_node_at (self->index, world) : VN_SCENE_NONE;
      if (chip == VN_SCENE_NONE && node == VN_SCENE_NONE)
        stub = vn_graph_index_stub_at (self->index, world);
      if (chip == VN_SCENE_NONE && node == VN_SCENE_NONE && stub == VN_SCENE_NONE)
        edge = vn_graph_index_edge_at (self->index, world, HIT_DISTANCE / self->camera.zoom);
      if (chip == VN_SCENE_NONE && node == VN_SCENE_NONE && stub == VN_SCENE_NONE && edge == VN_SCENE_NONE)
        frame = vn_graph_view_find_frame (self, world);
    }
  if (node == self->state.hover_node && edge == self->state.hover_edge && stub == self->state.hover_stub
      && frame == self->state.hover_frame && chip == self->hover_chip)
    return;
  self->hover_chip = chip;
  self->state.hover_node = node;
  self->state.hover_edge = edge;
  self->state.hover_stub = stub;
  self->state.hover_frame = frame;
  gtk_widget_trigger_tooltip_query (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
  if (node != before)
    g_signal_emit_by_name (self, "hover-changed");
}

static void
graph_view_input_set_pointer (VnGraphView *self,
                              double       x,
                              double       y)
{
  self->pointer = (VnPoint) { x, y };
  self->has_pointer = TRUE;
}

static void
graph_view_input_motion (GtkEventControllerMotion *controller,
                         double                    x,
                         double                    y,
                         VnGraphView              *self)
{
  graph_view_input_set_pointer (self, x, y);
  vn_graph_view_update_hover (self);
}

static void
graph_view_input_leave (GtkEventControllerMotion *controller,
                        VnGraphView              *self)
{
  self->has_pointer = FALSE;
  vn_graph_view_update_hover (self);
}

/* ---- scroll and pinch ---- */

static gboolean
graph_view_input_scroll (GtkEventControllerScroll *controller,
                         double                    dx,
                         double                    dy,
                         VnGraphView              *self)
{
  GtkEventController *base = GTK_EVENT_CONTROLLER (controller);
  GdkEvent *event = gtk_event_controller_get_current_event (base);
  GdkModifierType modifiers = gtk_event_controller_get_current_event_state (base);
  gboolean is_wheel = TRUE;
  VnGraphCamera camera = self->camera;

  if (self->layout == NULL)
    return FALSE;
  if (event != NULL && gdk_event_get_event_type (event) == GDK_SCROLL)
    is_wheel = gdk_scroll_event_get_unit (event) == GDK_SCROLL_UNIT_WHEEL;

  if (!self->has_pointer)
    self->pointer = (VnPoint) { gtk_widget_get_width (GTK_WIDGET (self)) / 2.,
                                gtk_widget_get_height (GTK_WIDGET (self)) / 2. };
  if (is_wheel && !(modifiers & GDK_SHIFT_MASK))
    {
      double aim = self->flight.tick != 0 ? self->flight.to.zoom : camera.zoom;

      vn_graph_view_zoom_about (self, aim * pow (WHEEL_FACTOR, -dy), self->pointer, TRUE);
      return TRUE;
    }
  if (modifiers & GDK_CONTROL_MASK)
    {
      vn_graph_view_zoom_about (self, camera.zoom * exp (-dy * TOUCHPAD_FACTOR), self->pointer, FALSE);
      return TRUE;
    }
  vn_graph_view_stop (self);
  if (is_wheel)
    {
      dx = 60 * (dx + dy);
      dy = 0;
    }
  camera.origin.x += dx / camera.zoom;
  camera.origin.y += dy / camera.zoom;
  vn_graph_view_move (self, camera);
  return TRUE;
}

static void
graph_view_input_pinch_begin (GtkGesture       *gesture,
                              GdkEventSequence *sequence,
                              VnGraphView      *self)
{
  self->pinch_zoom = self->camera.zoom;
}

static void
graph_view_input_pinch_scale (GtkGestureZoom *gesture,
                              double          scale,
                              VnGraphView    *self)
{
  VnPoint middle = self->pointer;

  gtk_gesture_get_bounding_box_center (GTK_GESTURE (gesture), &middle.x, &middle.y);
  vn_graph_view_zoom_about (self, self->pinch_zoom * scale, middle, FALSE);
}

/* ---- buttons ---- */

static void
graph_view_input_follow_stub (VnGraphView *self,
                              guint        index)
{
  const VnGraphLayoutStub *stub = vn_graph_layout_get_stub (self->layout, index);
  const VnSceneEdge *edge = vn_scene_get_edge (self->scene, stub->edge);

  vn_graph_view_push_trail (self);
  vn_graph_view_zoom_to_box (self, stub->at_source ? edge->to : edge->from);
}

static void
graph_view_input_press_node (VnGraphView     *self,
                             guint            node,
                             GdkModifierType  modifiers)
{
  if (modifiers & (GDK_SHIFT_MASK | GDK_CONTROL_MASK))
    vn_graph_view_toggle (self, node);
  else
    vn_graph_view_select_box (self, node, FALSE);
  vn_graph_view_focus_box (self, node);
}

/* A closed group opens, a node is told of. */
static void
graph_view_input_activate (VnGraphView *self,
                           guint        box)
{
  guint n;

  if (vn_scene_get_node (self->scene, box)->kind == VN_SCENE_GROUP)
    vn_graph_view_expand (self, vn_graph_view_get_group (self, box));
  else
    g_signal_emit_by_name (self, "node-activated", vn_graph_view_get_nodes (self, &box, &n)[0]);
}

/* Whether the pointer is on the sign that says that a closed group can be opened. */
static gboolean
graph_view_input_is_on_chevron (VnGraphView *self,
                                guint        box)
{
  VnPoint world = vn_graph_view_to_world (self, self->pointer.x, self->pointer.y);
  const VnRect *rect = vn_graph_layout_get_box (self->layout, box);

  return vn_scene_get_node (self->scene, box)->kind == VN_SCENE_GROUP
         && vn_graph_level_of_zoom (self->camera.zoom) == VN_GRAPH_NEAR
         && world.x < rect->x + CHEVRON_SIZE && world.y < rect->y + CHEVRON_SIZE;
}

static void
graph_view_input_pressed (GtkGestureClick *gesture,
                          int              n_press,
                          double           x,
                          double           y,
                          VnGraphView     *self)
{
  GdkModifierType modifiers = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  guint node;

  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (self->index == NULL || self->space_down)
    return;
  graph_view_input_set_pointer (self, x, y);
  vn_graph_view_update_hover (self);
  node = self->state.hover_node;
  if (self->lasso && n_press == 1)
    return;    /* it may become a line */
  if (self->hover_chip < self->state.n_chips)
    vn_graph_view_press_chip (self);
  else if (node != VN_SCENE_NONE && (n_press == 2 || graph_view_input_is_on_chevron (self, node)))
    graph_view_input_activate (self, node);
  else if (node != VN_SCENE_NONE)
    graph_view_input_press_node (self, node, modifiers);
  else if (self->state.hover_stub != VN_SCENE_NONE)
    graph_view_input_follow_stub (self, self->state.hover_stub);
  else if (self->state.hover_edge != VN_SCENE_NONE)
    vn_graph_view_select_edge (self, self->state.hover_edge);
  else if (self->state.hover_frame != VN_SCENE_NONE)
    vn_graph_view_collapse (self, self->state.hover_frame);
  else if (!(modifiers & GDK_SHIFT_MASK))
    vn_graph_view_unselect_all (self);
}

static void
graph_view_input_pressed_secondary (GtkGestureClick *gesture,
                                    int              n_press,
                                    double           x,
                                    double           y,
                                    VnGraphView     *self)
{
  guint node = VN_SCENE_NONE, n;

  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (self->index != NULL)
    node = vn_graph_index_node_at (self->index, vn_graph_view_to_world (self, x, y));
  if (node != VN_SCENE_NONE)
    {
      if (!self->selected[node])
        vn_graph_view_select_box (self, node, FALSE);
      vn_graph_view_focus_box (self, node);
      node = vn_graph_view_get_nodes (self, &self->state.focus_node, &n)[0];
    }
  g_signal_emit_by_name (self, "context-menu", node, x, y);
}

/* ---- drag ---- */

static void
graph_view_input_drag_begin (GtkGestureDrag *gesture,
                             double          x,
                             double          y,
                             VnGraphView    *self)
{
  guint button = gtk_gesture_single_get_current_button (GTK_GESTURE_SINGLE (gesture));
  GdkModifierType modifiers = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  VnPoint world = vn_graph_view_to_world (self, x, y);

  if (self->index == NULL || button >= GDK_BUTTON_SECONDARY)
    {
      gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_DENIED);
      return;
    }
  vn_graph_view_stop (self);
  self->drag_start = (VnPoint) { x, y };
  if (button == GDK_BUTTON_MIDDLE || self->space_down)
    {
      self->drag = DRAG_PAN;
      self->space_used = TRUE;
      self->drag_origin = self->camera.origin;
      gtk_widget_set_cursor_from_name (GTK_WIDGET (self), "grabbing");
      return;
    }
  if (self->lasso)
    {
      self->drag = DRAG_LASSO;
      vn_graph_view_begin_lasso (self, world, (modifiers & GDK_SHIFT_MASK) != 0);
      return;
    }
  if (vn_graph_index_node_at (self->index, world) != VN_SCENE_NONE
      || vn_graph_index_stub_at (self->index, world) != VN_SCENE_NONE
      || vn_graph_view_find_frame (self, world) != VN_SCENE_NONE)
    return;
  if (modifiers & GDK_CONTROL_MASK)
    {
      self->drag = DRAG_LASSO;
      vn_graph_view_begin_lasso (self, world, (modifiers & GDK_SHIFT_MASK) != 0);
      return;
    }
  self->drag = DRAG_BAND;
  self->drag_origin = world;
  vn_graph_view_begin_band (self, (modifiers & GDK_SHIFT_MASK) != 0);
}

static void
graph_view_input_drag_update (GtkGestureDrag *gesture,
                              double          dx,
                              double          dy,
                              VnGraphView    *self)
{
  if (self->drag == DRAG_PAN)
    {
      VnGraphCamera camera = self->camera;

      camera.origin.x = self->drag_origin.x - dx / camera.zoom;
      camera.origin.y = self->drag_origin.y - dy / camera.zoom;
      vn_graph_view_move (self, camera);
    }
  else if (self->drag == DRAG_LASSO)
    {
      vn_graph_view_update_lasso (self, vn_graph_view_to_world (self, self->drag_start.x + dx, self->drag_start.y + dy));
    }
  else if (self->drag == DRAG_BAND && (self->state.has_band || hypot (dx, dy) > 4))
    {
      vn_graph_view_update_band (self,
                                 vn_graph_view_to_world (self, self->drag_start.x + dx,
                                                         self->drag_start.y + dy));
    }
}

/* Where a line could have begun, but did not. */
static void
graph_view_input_click (VnGraphView *self)
{
  guint node = vn_graph_index_node_at (self->index, vn_graph_view_to_world (self, self->drag_start.x, self->drag_start.y));

  if (node != VN_SCENE_NONE)
    graph_view_input_press_node (self, node, 0);
}

static void
graph_view_input_drag_end (GtkGestureDrag *gesture,
                           double          dx,
                           double          dy,
                           VnGraphView    *self)
{
  if (self->drag == DRAG_BAND)
    vn_graph_view_end_band (self);
  if (self->drag == DRAG_LASSO && !vn_graph_view_end_lasso (self) && self->lasso)
    graph_view_input_click (self);
  if (self->drag == DRAG_PAN)
    gtk_widget_set_cursor_from_name (GTK_WIDGET (self), self->lasso ? "crosshair" : NULL);
  self->drag = DRAG_NONE;
}

/* ---- keyboard ---- */

static void
graph_view_input_focus_on (VnGraphView *self,
                           guint        node,
                           gboolean     extend)
{
  if (node == VN_SCENE_NONE)
    return;
  vn_graph_view_select_box (self, node, extend);
  vn_graph_view_focus_box (self, node);
  vn_graph_view_reveal (self, node);
}

/* The highest or the lowest box, the leftmost of them. */
static guint
graph_view_input_end_node (VnGraphView *self,
                           gboolean     last)
{
  guint n = vn_graph_layout_get_n_nodes (self->layout), best = VN_SCENE_NONE;

  for (guint i = 0; i < n; i++)
    {
      const VnRect *box = vn_graph_layout_get_box (self->layout, i), *other;

      if (best == VN_SCENE_NONE)
        {
          best = i;
          continue;
        }
      other = vn_graph_layout_get_box (self->layout, best);
      if (box->y == other->y ? box->x < other->x : (box->y > other->y) == last)
        best = i;
    }
  return best;
}

/* Right opens a closed group; Left closes the group where there is nothing to the left in it. */
static gboolean
graph_view_input_fold (VnGraphView *self,
                       guint        keyval)
{
  guint next;

  if (self->fold == NULL || self->state.focus_node == VN_SCENE_NONE)
    return FALSE;
  if (keyval == GDK_KEY_Right || keyval == GDK_KEY_KP_Right)
    return vn_graph_view_expand_focus (self);
  if (keyval != GDK_KEY_Left && keyval != GDK_KEY_KP_Left)
    return FALSE;
  next = vn_graph_view_neighbour (self, self->state.focus_node, keyval);
  if (next != VN_SCENE_NONE && vn_graph_view_get_parent (self, next) == vn_graph_view_get_parent (self, self->state.focus_node))
    return FALSE;
  return vn_graph_view_collapse_focus (self);
}

static gboolean
graph_view_input_walk (VnGraphView *self,
                       guint        keyval,
                       gboolean     extend)
{
  if (vn_graph_view_leave_edge (self, keyval))
    return TRUE;
  if (!extend && graph_view_input_fold (self, keyval))
    return TRUE;
  if (self->state.focus_node == VN_SCENE_NONE && self->n_picked > 0)
    {
      g_autoptr(GArray) nodes = vn_graph_view_dup_selection (self);

      graph_view_input_focus_on (self, vn_graph_view_get_box (self, g_array_index (nodes, guint, 0)), extend);
    }
  else if (self->state.focus_node == VN_SCENE_NONE)
    graph_view_input_focus_on (self, graph_view_input_end_node (self, FALSE), extend);
  else
    graph_view_input_focus_on (self, vn_graph_view_neighbour (self, self->state.focus_node, keyval), extend);
  return TRUE;
}

static gboolean
graph_view_input_zoom_key (VnGraphView *self,
                           guint        keyval)
{
  switch (keyval)
    {
    case GDK_KEY_plus:
    case GDK_KEY_equal:
    case GDK_KEY_KP_Add:
      vn_graph_view_zoom_in (self);
      return TRUE;
    case GDK_KEY_minus:
    case GDK_KEY_KP_Subtract:
      vn_graph_view_zoom_out (self);
      return TRUE;
    case GDK_KEY_0:
    case GDK_KEY_KP_0:
      vn_graph_view_zoom_to_fit (self);
      return TRUE;
    case GDK_KEY_1:
    case GDK_KEY_KP_1:
      vn_graph_view_set_zoom (self, 1);
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
graph_view_input_press_escape (VnGraphView *self)
{
  if (vn_graph_view_leave_edge (self, GDK_KEY_Escape))
    return TRUE;
  if (self->n_picked == 0 && self->tensor == NULL)
    return FALSE;
  vn_graph_view_unselect_all (self);
  return TRUE;
}

static gboolean
graph_view_input_press_space (VnGraphView *self)
{
  if (!self->space_down)
    self->space_used = FALSE;
  self->space_down = TRUE;
  return TRUE;
}

static gboolean
graph_view_input_key_pressed (GtkEventControllerKey *controller,
                              guint                  keyval,
                              guint                  keycode,
                              GdkModifierType        modifiers,
                              VnGraphView           *self)
{
  gboolean shift = (modifiers & GDK_SHIFT_MASK) != 0;

  if (self->layout == NULL || vn_graph_layout_get_n_nodes (self->layout) == 0)
    return FALSE;
  if (modifiers & GDK_ALT_MASK)
    {
      if (keyval == GDK_KEY_Left)
        vn_graph_view_go_back (self);
      return keyval == GDK_KEY_Left;
    }
  if (modifiers & GDK_CONTROL_MASK)
    {
      if (keyval == GDK_KEY_a)
        vn_graph_view_select_all (self);
      return keyval == GDK_KEY_a || graph_view_input_zoom_key (self, keyval);
    }

  switch (keyval)
    {
    case GDK_KEY_Up: case GDK_KEY_Down: case GDK_KEY_Left: case GDK_KEY_Right:
    case GDK_KEY_KP_Up: case GDK_KEY_KP_Down: case GDK_KEY_KP_Left: case GDK_KEY_KP_Right:
      return graph_view_input_walk (self, keyval, shift);
    case GDK_KEY_Home: case GDK_KEY_End:
      graph_view_input_focus_on (self, graph_view_input_end_node (self, keyval == GDK_KEY_End), shift);
      return TRUE;
    case GDK_KEY_n:
    case GDK_KEY_N:
      return vn_graph_view_next_bad (self, shift ? -1 : 1);
    case GDK_KEY_e:
    case GDK_KEY_E:
      return vn_graph_view_step_edge (self, !shift);
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
      if (self->state.focus_node != VN_SCENE_NONE)
        graph_view_input_activate (self, self->state.focus_node);
      return TRUE;
    case GDK_KEY_BackSpace:
      return vn_graph_view_collapse_focus (self);
    case GDK_KEY_space:
      return graph_view_input_press_space (self);
    case GDK_KEY_Escape:
      return graph_view_input_press_escape (self);
    default:
      return graph_view_input_zoom_key (self, keyval);
    }
}

static void
graph_view_input_key_released (GtkEventControllerKey *controller,
                               guint                  keyval,
                               guint                  keycode,
                               GdkModifierType        modifiers,
                               VnGraphView           *self)
{
  if (keyval != GDK_KEY_space)
    return;
  self->space_down = FALSE;
  if (!self->space_used && self->scene != NULL && self->state.focus_node != VN_SCENE_NONE)
    vn_graph_view_toggle (self, self->state.focus_node);
}

static void
graph_view_input_focus_left (GtkEventControllerFocus *controller,
                             VnGraphView             *self)
{
  self->space_down = FALSE;
}

static GtkEventController *
graph_view_input_add (VnGraphView        *self,
                      GtkEventController *controller)
{
  gtk_widget_add_controller (GTK_WIDGET (self), controller);
  return controller;
}

static void
graph_view_input_add_gestures (VnGraphView *self)
{
  GtkEventController *controller;

  controller = graph_view_input_add (self, GTK_EVENT_CONTROLLER (gtk_gesture_click_new ()));
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (controller), GDK_BUTTON_PRIMARY);
  g_signal_connect (controller, "pressed", G_CALLBACK (graph_view_input_pressed), self);
  controller = graph_view_input_add (self, GTK_EVENT_CONTROLLER (gtk_gesture_click_new ()));
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (controller), GDK_BUTTON_SECONDARY);
  g_signal_connect (controller, "pressed", G_CALLBACK (graph_view_input_pressed_secondary), self);
  controller = graph_view_input_add (self, GTK_EVENT_CONTROLLER (gtk_gesture_drag_new ()));
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (controller), 0);
  g_signal_connect (controller, "drag-begin", G_CALLBACK (graph_view_input_drag_begin), self);
  g_signal_connect (controller, "drag-update", G_CALLBACK (graph_view_input_drag_update), self);
  g_signal_connect (controller, "drag-end", G_CALLBACK (graph_view_input_drag_end), self);
  controller = graph_view_input_add (self, GTK_EVENT_CONTROLLER (gtk_gesture_zoom_new ()));
  g_signal_connect (controller, "begin", G_CALLBACK (graph_view_input_pinch_begin), self);
  g_signal_connect (controller, "scale-changed", G_CALLBACK (graph_view_input_pinch_scale), self);
}

/* Connects pointer, wheel, touchpad and keyboard. */
void
vn_graph_view_add_controllers (VnGraphView *self)
{
  GtkEventController *controller;

  graph_view_input_add_gestures (self);
  controller = graph_view_input_add (self, gtk_event_controller_motion_new ());
  g_signal_connect (controller, "motion", G_CALLBACK (graph_view_input_motion), self);
  g_signal_connect (controller, "leave", G_CALLBACK (graph_view_input_leave), self);
  controller = graph_view_input_add (self, gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES));
  g_signal_connect (controller, "scroll", G_CALLBACK (graph_view_input_scroll), self);
  controller = graph_view_input_add (self, gtk_event_controller_key_new ());
  g_signal_connect (controller, "key-pressed", G_CALLBACK (graph_view_input_key_pressed), self);
  g_signal_connect (controller, "key-released", G_CALLBACK (graph_view_input_key_released), self);
  controller = graph_view_input_add (self, gtk_event_controller_focus_new ());
  g_signal_connect (controller, "leave", G_CALLBACK (graph_view_input_focus_left), self);
}
