/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pointer, wheel, touchpad and keyboard of a graph view: what each gesture and each key does. */
#include "vn-graph-input.h"

#include "vn-graph-walk.h"

#include <math.h>

#define WHEEL_FACTOR    1.2
#define CHEVRON_SIZE   26.
#define TOUCHPAD_FACTOR 0.01    /* of zoom per pixel with Ctrl */
#define LASSO_STEP      3.      /* pixels between two points of the line */

typedef enum { DRAG_NONE, DRAG_PAN, DRAG_BAND, DRAG_LASSO } DragMode;

struct _VnGraphInput
{
  GObject             parent_instance;

  const VnGraphParts *parts;
  gboolean            space_down, space_used;
  DragMode            drag;
  VnPoint             drag_start;        /* in the widget */
  VnPoint             drag_origin;       /* camera origin, or world point where the band began */
  gboolean            lasso;             /* dragging draws a line round nodes */
  double              pinch_zoom;
};

G_DEFINE_FINAL_TYPE (VnGraphInput, vn_graph_input, G_TYPE_OBJECT)

static void
graph_input_motion (GtkEventControllerMotion *controller,
                    double                    x,
                    double                    y,
                    VnGraphInput             *self)
{
  vn_graph_hover_set_pointer (self->parts->hover, x, y);
}

static void
graph_input_leave (GtkEventControllerMotion *controller,
                   VnGraphInput             *self)
{
  vn_graph_hover_leave (self->parts->hover);
}

/* ---- scroll and pinch ---- */

static gboolean
graph_input_scroll (GtkEventControllerScroll *controller,
                    double                    dx,
                    double                    dy,
                    VnGraphInput             *self)
{
  GtkEventController *base = GTK_EVENT_CONTROLLER (controller);
  GdkEvent *event = gtk_event_controller_get_current_event (base);
  GdkModifierType modifiers = gtk_event_controller_get_current_event_state (base);
  gboolean is_wheel = TRUE;
  VnViewport *viewport = self->parts->viewport;
  VnGraphCamera camera = vn_viewport_get_camera (viewport);
  VnPoint pointer = self->parts->hover->pointer;

  if (self->parts->content->layout == NULL)
    return FALSE;
  if (event != NULL && gdk_event_get_event_type (event) == GDK_SCROLL)
    is_wheel = gdk_scroll_event_get_unit (event) == GDK_SCROLL_UNIT_WHEEL;

  if (!self->parts->hover->has_pointer)
    pointer = (VnPoint) { gtk_widget_get_width (self->parts->widget) / 2., gtk_widget_get_height (self->parts->widget) / 2. };
  if (is_wheel && !(modifiers & GDK_SHIFT_MASK))
    {
      vn_viewport_zoom_about (viewport, vn_viewport_get_aim (viewport) * pow (WHEEL_FACTOR, -dy), pointer, TRUE);
      return TRUE;
    }
  if (modifiers & GDK_CONTROL_MASK)
    {
      vn_viewport_zoom_about (viewport, camera.zoom * exp (-dy * TOUCHPAD_FACTOR), pointer, FALSE);
      return TRUE;
    }
  vn_viewport_stop (self->parts->viewport);
  if (is_wheel)
    {
      dx = 60 * (dx + dy);
      dy = 0;
    }
  camera.origin.x += dx / camera.zoom;
  camera.origin.y += dy / camera.zoom;
  vn_viewport_move (self->parts->viewport, camera);
  return TRUE;
}

static void
graph_input_pinch_begin (GtkGesture       *gesture,
                         GdkEventSequence *sequence,
                         VnGraphInput     *self)
{
  self->pinch_zoom = vn_viewport_get_camera (self->parts->viewport).zoom;
}

static void
graph_input_pinch_scale (GtkGestureZoom *gesture,
                         double          scale,
                         VnGraphInput   *self)
{
  VnPoint middle = self->parts->hover->pointer;

  gtk_gesture_get_bounding_box_center (GTK_GESTURE (gesture), &middle.x, &middle.y);
  vn_viewport_zoom_about (self->parts->viewport, self->pinch_zoom * scale, middle, FALSE);
}

/* ---- buttons ---- */

static void
graph_input_follow_stub (VnGraphInput *self,
                         guint         index)
{
  const VnGraphLayoutStub *stub = vn_graph_layout_get_stub (self->parts->content->layout, index);
  const VnSceneEdge *edge = vn_scene_get_edge (self->parts->content->scene, stub->edge);

  vn_viewport_push_trail (self->parts->viewport);
  vn_graph_parts_zoom_to_box (self->parts, stub->at_source ? edge->to : edge->from);
}

static void
graph_input_press_node (VnGraphInput   *self,
                        guint           node,
                        GdkModifierType modifiers)
{
  if (modifiers & (GDK_SHIFT_MASK | GDK_CONTROL_MASK))
    vn_graph_selection_toggle (self->parts->selection, node);
  else
    vn_graph_selection_select_box (self->parts->selection, node, FALSE);
  vn_graph_selection_focus (self->parts->selection, node);
}

/* A closed group opens, a node is told of. */
static void
graph_input_activate (VnGraphInput *self,
                      guint         box)
{
  VnGraphContent *content = self->parts->content;

  if (vn_graph_content_is_group (content, box))
    vn_graph_content_set_open (content, vn_graph_content_get_group (content, box), TRUE);
  else
    g_signal_emit_by_name (self, "node-activated", vn_graph_content_get_node (content, box));
}

/* Whether the pointer is on the sign that says that a closed group can be opened. */
static gboolean
graph_input_is_on_chevron (VnGraphInput *self,
                           guint         box)
{
  VnPoint pointer = self->parts->hover->pointer, world = vn_viewport_to_world (self->parts->viewport, pointer.x, pointer.y);
  const VnRect *rect = vn_graph_layout_get_box (self->parts->content->layout, box);

  return vn_graph_content_is_group (self->parts->content, box)
         && vn_graph_level_of_zoom (vn_viewport_get_camera (self->parts->viewport).zoom) == VN_GRAPH_NEAR
         && world.x < rect->x + CHEVRON_SIZE && world.y < rect->y + CHEVRON_SIZE;
}

/* A leak is told about; any other chip is the tensor that it stands for. */
static void
graph_input_press_chip (VnGraphInput *self,
                        guint         index)
{
  const VnGraphChip chip = g_array_index (self->parts->selection->chips, VnGraphChip, index);
  VnRect box;

  if (!chip.is_leak)
    vn_graph_selection_select_edge (self->parts->selection, chip.edge);
  else if (vn_graph_hover_get_chip (self->parts->hover, index, &box))
    g_signal_emit_by_name (self, "leak-activated", vn_scene_get_edge (self->parts->content->scene, chip.edge)->value, chip.enters,
                           box.x + box.width / 2, box.y + box.height);
}

static void
graph_input_pressed (GtkGestureClick *gesture,
                     int              n_press,
                     double           x,
                     double           y,
                     VnGraphInput    *self)
{
  GdkModifierType modifiers = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  VnGraphHover *hover = self->parts->hover;
  guint node;

  gtk_widget_grab_focus (self->parts->widget);
  if (self->parts->content->index == NULL || self->space_down)
    return;
  vn_graph_hover_set_pointer (hover, x, y);
  node = hover->node;
  if (self->lasso && n_press == 1)
    return;    /* it may become a line */
  if (hover->chip < self->parts->selection->chips->len)
    graph_input_press_chip (self, hover->chip);
  else if (node != VN_SCENE_NONE && (n_press == 2 || graph_input_is_on_chevron (self, node)))
    graph_input_activate (self, node);
  else if (node != VN_SCENE_NONE)
    graph_input_press_node (self, node, modifiers);
  else if (hover->stub != VN_SCENE_NONE)
    graph_input_follow_stub (self, hover->stub);
  else if (hover->edge != VN_SCENE_NONE)
    vn_graph_selection_select_edge (self->parts->selection, hover->edge);
  else if (hover->frame != VN_SCENE_NONE)
    vn_graph_content_set_open (self->parts->content, hover->frame, FALSE);
  else if (!(modifiers & GDK_SHIFT_MASK))
    vn_graph_selection_select_none (self->parts->selection);
}

static void
graph_input_pressed_secondary (GtkGestureClick *gesture,
                               int              n_press,
                               double           x,
                               double           y,
                               VnGraphInput    *self)
{
  guint node = VN_SCENE_NONE;

  gtk_widget_grab_focus (self->parts->widget);
  if (self->parts->content->index != NULL)
    node = vn_graph_index_node_at (self->parts->content->index, vn_viewport_to_world (self->parts->viewport, x, y));
  if (node != VN_SCENE_NONE)
    {
      if (!self->parts->selection->selected[node])
        vn_graph_selection_select_box (self->parts->selection, node, FALSE);
      vn_graph_selection_focus (self->parts->selection, node);
      node = vn_graph_content_get_node (self->parts->content, self->parts->selection->focus);
    }
  g_signal_emit_by_name (self, "context-menu", node, x, y);
}

/* ---- drag ---- */

static void
graph_input_set_drag (VnGraphInput *self,
                      DragMode      drag)
{
  self->drag = drag;
  vn_graph_hover_set_frozen (self->parts->hover, drag != DRAG_NONE);
}

static void
graph_input_drag_begin (GtkGestureDrag *gesture,
                        double          x,
                        double          y,
                        VnGraphInput   *self)
{
  guint button = gtk_gesture_single_get_current_button (GTK_GESTURE_SINGLE (gesture));
  GdkModifierType modifiers = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  VnPoint world = vn_viewport_to_world (self->parts->viewport, x, y);

  if (self->parts->content->index == NULL || button >= GDK_BUTTON_SECONDARY)
    {
      gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_DENIED);
      return;
    }
  vn_viewport_stop (self->parts->viewport);
  self->drag_start = (VnPoint) { x, y };
  if (button == GDK_BUTTON_MIDDLE || self->space_down)
    {
      graph_input_set_drag (self, DRAG_PAN);
      self->space_used = TRUE;
      self->drag_origin = vn_viewport_get_camera (self->parts->viewport).origin;
      gtk_widget_set_cursor_from_name (self->parts->widget, "grabbing");
      return;
    }
  if (self->lasso)
    {
      graph_input_set_drag (self, DRAG_LASSO);
      vn_graph_selection_begin_lasso (self->parts->selection, world, (modifiers & GDK_SHIFT_MASK) != 0);
      return;
    }
  if (vn_graph_index_node_at (self->parts->content->index, world) != VN_SCENE_NONE
      || vn_graph_index_stub_at (self->parts->content->index, world) != VN_SCENE_NONE
      || vn_graph_content_find_frame (self->parts->content, world) != VN_SCENE_NONE)
    return;
  if (modifiers & GDK_CONTROL_MASK)
    {
      graph_input_set_drag (self, DRAG_LASSO);
      vn_graph_selection_begin_lasso (self->parts->selection, world, (modifiers & GDK_SHIFT_MASK) != 0);
      return;
    }
  graph_input_set_drag (self, DRAG_BAND);
  self->drag_origin = world;
  vn_graph_selection_begin_band (self->parts->selection, (modifiers & GDK_SHIFT_MASK) != 0);
}

static void
graph_input_drag_update (GtkGestureDrag *gesture,
                         double          dx,
                         double          dy,
                         VnGraphInput   *self)
{
  VnPoint to = vn_viewport_to_world (self->parts->viewport, self->drag_start.x + dx, self->drag_start.y + dy);

  if (self->drag == DRAG_PAN)
    {
      VnGraphCamera camera = vn_viewport_get_camera (self->parts->viewport);

      camera.origin.x = self->drag_origin.x - dx / camera.zoom;
      camera.origin.y = self->drag_origin.y - dy / camera.zoom;
      vn_viewport_move (self->parts->viewport, camera);
    }
  else if (self->drag == DRAG_LASSO)
    {
      vn_graph_selection_update_lasso (self->parts->selection, to,
                                       LASSO_STEP / vn_viewport_get_camera (self->parts->viewport).zoom);
    }
  else if (self->drag == DRAG_BAND && (self->parts->selection->has_band || hypot (dx, dy) > 4))
    {
      vn_graph_selection_update_band (self->parts->selection, self->drag_origin, to);
    }
}

/* Where a line could have begun, but did not. */
static void
graph_input_click (VnGraphInput *self)
{
  VnPoint world = vn_viewport_to_world (self->parts->viewport, self->drag_start.x, self->drag_start.y);
  guint node = vn_graph_index_node_at (self->parts->content->index, world);

  if (node != VN_SCENE_NONE)
    graph_input_press_node (self, node, 0);
}

static void
graph_input_drag_end (GtkGestureDrag *gesture,
                      double          dx,
                      double          dy,
                      VnGraphInput   *self)
{
  if (self->drag == DRAG_BAND)
    vn_graph_selection_end_band (self->parts->selection);
  if (self->drag == DRAG_LASSO && !vn_graph_selection_end_lasso (self->parts->selection) && self->lasso)
    graph_input_click (self);
  if (self->drag == DRAG_PAN)
    gtk_widget_set_cursor_from_name (self->parts->widget, self->lasso ? "crosshair" : NULL);
  graph_input_set_drag (self, DRAG_NONE);
}

/* ---- keyboard ---- */

static void
graph_input_focus_on (VnGraphInput *self,
                      guint         node,
                      gboolean      extend)
{
  if (node == VN_SCENE_NONE)
    return;
  vn_graph_selection_select_box (self->parts->selection, node, extend);
  vn_graph_selection_focus (self->parts->selection, node);
  vn_graph_parts_reveal (self->parts, node);
}

/* Right opens a closed group; Left closes the group where there is nothing to the left in it. */
static gboolean
graph_input_fold (VnGraphInput *self,
                  guint         keyval)
{
  guint next;

  if (self->parts->content->fold == NULL || self->parts->selection->focus == VN_SCENE_NONE)
    return FALSE;
  if (keyval == GDK_KEY_Right || keyval == GDK_KEY_KP_Right)
    return vn_graph_parts_expand_focus (self->parts);
  if (keyval != GDK_KEY_Left && keyval != GDK_KEY_KP_Left)
    return FALSE;
  next = vn_graph_walk (self->parts->content, self->parts->selection->focus, keyval);
  if (next != VN_SCENE_NONE && vn_graph_content_get_parent (self->parts->content, next) ==
                               vn_graph_content_get_parent (self->parts->content, self->parts->selection->focus))
    return FALSE;
  return vn_graph_parts_collapse_focus (self->parts);
}

/* From a selected edge to a box at one of its ends, or to that it was stepped to from; the box is brought into sight. */
static gboolean
graph_input_leave_edge (VnGraphInput *self,
                        guint         keyval)
{
  VnEdgeEnd end = keyval == GDK_KEY_Escape ? VN_EDGE_HOME
                  : keyval == GDK_KEY_Up || keyval == GDK_KEY_KP_Up ? VN_EDGE_SOURCE : VN_EDGE_TARGET;

  if (!vn_graph_selection_leave_edge (self->parts->selection, end))
    return FALSE;
  vn_graph_parts_reveal (self->parts, self->parts->selection->focus);
  return TRUE;
}

static gboolean
graph_input_walk (VnGraphInput *self,
                  guint         keyval,
                  gboolean      extend)
{
  if (graph_input_leave_edge (self, keyval))
    return TRUE;
  if (!extend && graph_input_fold (self, keyval))
    return TRUE;
  if (self->parts->selection->focus == VN_SCENE_NONE && self->parts->selection->n_picked > 0)
    {
      g_autoptr(GArray) nodes = vn_graph_selection_dup_nodes (self->parts->selection);

      graph_input_focus_on (self, vn_graph_content_get_box (self->parts->content, g_array_index (nodes, guint, 0)), extend);
    }
  else if (self->parts->selection->focus == VN_SCENE_NONE)
    graph_input_focus_on (self, vn_graph_walk_to_end (self->parts->content, FALSE), extend);
  else
    graph_input_focus_on (self, vn_graph_walk (self->parts->content, self->parts->selection->focus, keyval), extend);
  return TRUE;
}

static gboolean
graph_input_zoom_key (VnGraphInput *self,
                      guint         keyval)
{
  switch (keyval)
    {
    case GDK_KEY_plus:
    case GDK_KEY_equal:
    case GDK_KEY_KP_Add:
      vn_viewport_zoom_in (self->parts->viewport);
      return TRUE;
    case GDK_KEY_minus:
    case GDK_KEY_KP_Subtract:
      vn_viewport_zoom_out (self->parts->viewport);
      return TRUE;
    case GDK_KEY_0:
    case GDK_KEY_KP_0:
      vn_viewport_zoom_to_fit (self->parts->viewport);
      return TRUE;
    case GDK_KEY_1:
    case GDK_KEY_KP_1:
      vn_viewport_set_zoom (self->parts->viewport, 1);
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
graph_input_press_escape (VnGraphInput *self)
{
  if (graph_input_leave_edge (self, GDK_KEY_Escape))
    return TRUE;
  if (self->parts->selection->n_picked == 0 && self->parts->selection->tensor == NULL)
    return FALSE;
  vn_graph_selection_select_none (self->parts->selection);
  return TRUE;
}

static gboolean
graph_input_press_space (VnGraphInput *self)
{
  if (!self->space_down)
    self->space_used = FALSE;
  self->space_down = TRUE;
  return TRUE;
}

static gboolean
graph_input_key_pressed (GtkEventControllerKey *controller,
                         guint                  keyval,
                         guint                  keycode,
                         GdkModifierType        modifiers,
                         VnGraphInput          *self)
{
  gboolean shift = (modifiers & GDK_SHIFT_MASK) != 0;

  if (self->parts->content->layout == NULL || vn_graph_layout_get_n_nodes (self->parts->content->layout) == 0)
    return FALSE;
  if (modifiers & GDK_ALT_MASK)
    {
      if (keyval == GDK_KEY_Left)
        vn_viewport_go_back (self->parts->viewport);
      return keyval == GDK_KEY_Left;
    }
  if (modifiers & GDK_CONTROL_MASK)
    {
      if (keyval == GDK_KEY_a)
        vn_graph_selection_select_all (self->parts->selection);
      return keyval == GDK_KEY_a || graph_input_zoom_key (self, keyval);
    }

  switch (keyval)
    {
    case GDK_KEY_Up: case GDK_KEY_Down: case GDK_KEY_Left: case GDK_KEY_Right:
    case GDK_KEY_KP_Up: case GDK_KEY_KP_Down: case GDK_KEY_KP_Left: case GDK_KEY_KP_Right:
      return graph_input_walk (self, keyval, shift);
    case GDK_KEY_Home: case GDK_KEY_End:
      graph_input_focus_on (self, vn_graph_walk_to_end (self->parts->content, keyval == GDK_KEY_End), shift);
      return TRUE;
    case GDK_KEY_n:
    case GDK_KEY_N:
      return vn_graph_parts_next_bad (self->parts, shift ? -1 : 1);
    case GDK_KEY_e:
    case GDK_KEY_E:
      return vn_graph_selection_step_edge (self->parts->selection, !shift);
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
      if (self->parts->selection->focus != VN_SCENE_NONE)
        graph_input_activate (self, self->parts->selection->focus);
      return TRUE;
    case GDK_KEY_BackSpace:
      return vn_graph_parts_collapse_focus (self->parts);
    case GDK_KEY_space:
      return graph_input_press_space (self);
    case GDK_KEY_Escape:
      return graph_input_press_escape (self);
    default:
      return graph_input_zoom_key (self, keyval);
    }
}

static void
graph_input_key_released (GtkEventControllerKey *controller,
                          guint                  keyval,
                          guint                  keycode,
                          GdkModifierType        modifiers,
                          VnGraphInput          *self)
{
  if (keyval != GDK_KEY_space)
    return;
  self->space_down = FALSE;
  if (!self->space_used && self->parts->content->scene != NULL && self->parts->selection->focus != VN_SCENE_NONE)
    vn_graph_selection_toggle (self->parts->selection, self->parts->selection->focus);
}

static void
graph_input_focus_left (GtkEventControllerFocus *controller,
                        VnGraphInput            *self)
{
  self->space_down = FALSE;
}

static GtkEventController *
graph_input_add (VnGraphInput       *self,
                 GtkEventController *controller)
{
  gtk_widget_add_controller (self->parts->widget, controller);
  return controller;
}

static void
graph_input_add_gestures (VnGraphInput *self)
{
  GtkEventController *controller;

  controller = graph_input_add (self, GTK_EVENT_CONTROLLER (gtk_gesture_click_new ()));
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (controller), GDK_BUTTON_PRIMARY);
  g_signal_connect (controller, "pressed", G_CALLBACK (graph_input_pressed), self);
  controller = graph_input_add (self, GTK_EVENT_CONTROLLER (gtk_gesture_click_new ()));
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (controller), GDK_BUTTON_SECONDARY);
  g_signal_connect (controller, "pressed", G_CALLBACK (graph_input_pressed_secondary), self);
  controller = graph_input_add (self, GTK_EVENT_CONTROLLER (gtk_gesture_drag_new ()));
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (controller), 0);
  g_signal_connect (controller, "drag-begin", G_CALLBACK (graph_input_drag_begin), self);
  g_signal_connect (controller, "drag-update", G_CALLBACK (graph_input_drag_update), self);
  g_signal_connect (controller, "drag-end", G_CALLBACK (graph_input_drag_end), self);
  controller = graph_input_add (self, GTK_EVENT_CONTROLLER (gtk_gesture_zoom_new ()));
  g_signal_connect (controller, "begin", G_CALLBACK (graph_input_pinch_begin), self);
  g_signal_connect (controller, "scale-changed", G_CALLBACK (graph_input_pinch_scale), self);
}

static void
graph_input_add_controllers (VnGraphInput *self)
{
  GtkEventController *controller;

  graph_input_add_gestures (self);
  controller = graph_input_add (self, gtk_event_controller_motion_new ());
  g_signal_connect (controller, "motion", G_CALLBACK (graph_input_motion), self);
  g_signal_connect (controller, "leave", G_CALLBACK (graph_input_leave), self);
  controller = graph_input_add (self, gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES));
  g_signal_connect (controller, "scroll", G_CALLBACK (graph_input_scroll), self);
  controller = graph_input_add (self, gtk_event_controller_key_new ());
  g_signal_connect (controller, "key-pressed", G_CALLBACK (graph_input_key_pressed), self);
  g_signal_connect (controller, "key-released", G_CALLBACK (graph_input_key_released), self);
  controller = graph_input_add (self, gtk_event_controller_focus_new ());
  g_signal_connect (controller, "leave", G_CALLBACK (graph_input_focus_left), self);
}

/**
 * vn_graph_input_set_lasso:
 * @lasso: whether dragging draws a line round nodes
 */
void
vn_graph_input_set_lasso (VnGraphInput *self,
                          gboolean      lasso)
{
  g_return_if_fail (VN_IS_GRAPH_INPUT (self));

  self->lasso = lasso;
  gtk_widget_set_cursor_from_name (self->parts->widget, lasso ? "crosshair" : NULL);
}

static void
vn_graph_input_class_init (VnGraphInputClass *klass)
{
  GType type = VN_TYPE_GRAPH_INPUT;

  g_signal_new ("node-activated", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  g_signal_new ("leak-activated", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 4,
                G_TYPE_STRING, G_TYPE_BOOLEAN, G_TYPE_DOUBLE, G_TYPE_DOUBLE);
  g_signal_new ("context-menu", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 3,
                G_TYPE_UINT, G_TYPE_DOUBLE, G_TYPE_DOUBLE);
}

static void
vn_graph_input_init (VnGraphInput *self)
{
}

/**
 * vn_graph_input_new:
 * @parts: outlive this
 *
 * Connects pointer, wheel, touchpad and keyboard of the widget.
 *
 * Returns: (transfer full): what they do
 */
VnGraphInput *
vn_graph_input_new (const VnGraphParts *parts)
{
  VnGraphInput *self;

  g_return_val_if_fail (parts != NULL, NULL);

  self = g_object_new (VN_TYPE_GRAPH_INPUT, NULL);
  self->parts = parts;
  graph_input_add_controllers (self);
  return self;
}
