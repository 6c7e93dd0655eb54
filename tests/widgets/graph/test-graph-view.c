/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The canvas in a window. Pictures are kept in the folder named by VN_KEEP_PICTURES, if it is set. */
#include "demo-scene.h"
#include "vn-graph-view.h"

#include <adwaita.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

typedef struct
{
  GtkWidget   *window;
  VnGraphView *view;
  VnScene     *scene;
  VnOverlay   *overlay;
  int          width;
  guint        n_changes, n_ready, n_failed, n_menus, activated;
} Fixture;

static void
count (guint *n)
{
  (*n)++;
}

static void
activated (VnGraphView *view,
           guint        node,
           Fixture     *fixture)
{
  fixture->activated = node;
}

static void
turn (guint milliseconds)
{
  gint64 end = g_get_monotonic_time () + milliseconds * 1000;

  do
    while (g_main_context_iteration (NULL, FALSE))
      continue;
  while (g_get_monotonic_time () < end);
}

static void
set_up (Fixture *fixture,
        VnScene *scene)
{
  fixture->view = VN_GRAPH_VIEW (vn_graph_view_new ());
  fixture->scene = scene;
  fixture->activated = VN_SCENE_NONE;
  g_signal_connect_swapped (fixture->view, "selection-changed", G_CALLBACK (count), &fixture->n_changes);
  g_signal_connect_swapped (fixture->view, "ready", G_CALLBACK (count), &fixture->n_ready);
  g_signal_connect_swapped (fixture->view, "failed", G_CALLBACK (count), &fixture->n_failed);
  g_signal_connect_swapped (fixture->view, "context-menu", G_CALLBACK (count), &fixture->n_menus);
  g_signal_connect (fixture->view, "node-activated", G_CALLBACK (activated), fixture);
  fixture->window = gtk_window_new ();
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), fixture->width > 0 ? fixture->width : 1100, 900);
  gtk_window_set_child (GTK_WINDOW (fixture->window), GTK_WIDGET (fixture->view));
  vn_graph_view_set_scene (fixture->view, scene);
  vn_graph_view_set_overlay (fixture->view, fixture->overlay);
  gtk_window_present (GTK_WINDOW (fixture->window));
  gtk_test_widget_wait_for_draw (GTK_WIDGET (fixture->view));
  while (fixture->n_ready == 0)
    g_main_context_iteration (NULL, TRUE);
  turn (60);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

static void
tear_down (Fixture *fixture)
{
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  vn_scene_unref (fixture->scene);
  vn_overlay_unref (fixture->overlay);
  turn (20);
}

static gpointer
controller (Fixture *fixture,
            GType    type,
            guint    nth)
{
  g_autoptr(GListModel) list = gtk_widget_observe_controllers (GTK_WIDGET (fixture->view));

  for (guint i = 0; i < g_list_model_get_n_items (list); i++)
    {
      g_autoptr(GtkEventController) item = g_list_model_get_item (list, i);

      if (G_TYPE_CHECK_INSTANCE_TYPE (item, type) && nth-- == 0)
        return item;
    }
  g_assert_not_reached ();
  return NULL;
}

static gboolean
press_key (Fixture         *fixture,
           guint            keyval,
           GdkModifierType  modifiers)
{
  gboolean handled = FALSE;

  g_signal_emit_by_name (controller (fixture, GTK_TYPE_EVENT_CONTROLLER_KEY, 0), "key-pressed", keyval, 0,
                         modifiers,
                         &handled);
  g_signal_emit_by_name (controller (fixture, GTK_TYPE_EVENT_CONTROLLER_KEY, 0), "key-released", keyval, 0,
                         modifiers);
  return handled;
}

static void
screen_point (Fixture *fixture,
              VnPoint  world,
              double  *x,
              double  *y)
{
  VnGraphCamera camera = vn_graph_view_get_camera (fixture->view);

  *x = (world.x - camera.origin.x) * camera.zoom;
  *y = (world.y - camera.origin.y) * camera.zoom;
}

static VnPoint
node_middle (Fixture *fixture,
             guint    node)
{
  const VnRect *box = vn_graph_layout_get_box (vn_graph_view_get_layout (fixture->view), node);

  return (VnPoint) { box->x + box->width / 2, box->y + box->height / 2 };
}

/* Index among the click gestures: controllers are listed latest first. */
static void
click (Fixture *fixture,
       VnPoint  world,
       int      n_press,
       gboolean secondary)
{
  GtkEventController *gesture = NULL;
  double x, y;

  for (guint i = 0; i < 2; i++)
    {
      gesture = controller (fixture, GTK_TYPE_GESTURE_CLICK, i);
      if ((gtk_gesture_single_get_button (GTK_GESTURE_SINGLE (gesture)) == GDK_BUTTON_SECONDARY) == secondary)
        break;
    }
  screen_point (fixture, world, &x, &y);
  g_signal_emit_by_name (gesture, "pressed", n_press, x, y);
}

static void
keep (Fixture    *fixture,
      const char *name)
{
  const char *folder = g_getenv ("VN_KEEP_PICTURES");
  g_autoptr(GdkPaintable) paintable = NULL;
  g_autoptr(GskRenderNode) node = NULL;
  g_autoptr(GdkTexture) texture = NULL;
  g_autofree char *path = NULL;
  GtkSnapshot *snapshot;

  if (folder == NULL)
    return;
  turn (40);
  paintable = gtk_widget_paintable_new (GTK_WIDGET (fixture->view));
  snapshot = gtk_snapshot_new ();
  gdk_paintable_snapshot (paintable, snapshot, gtk_widget_get_width (GTK_WIDGET (fixture->view)),
                          gtk_widget_get_height (GTK_WIDGET (fixture->view)));
  node = gtk_snapshot_free_to_node (snapshot);
  texture = gsk_renderer_render_texture (gtk_native_get_renderer (GTK_NATIVE (fixture->window)), node, NULL);
  path = g_strdup_printf ("%s/%s.png", folder, name);
  gdk_texture_save_to_png (texture, path);
}

static void
assert_selection (Fixture *fixture,
                  guint    n,
                  ...)
{
  g_autoptr(GArray) nodes = vn_graph_view_dup_selection (fixture->view);
  va_list args;

  g_test_message ("%u nodes selected, wanted %u", nodes->len, n);
  g_assert_cmpuint (nodes->len, ==, n);
  g_assert_cmpuint (vn_graph_view_get_n_selected (fixture->view), ==, n);
  va_start (args, n);
  for (guint i = 0; i < n; i++)
    g_assert_cmpuint (g_array_index (nodes, guint, i), ==, va_arg (args, guint));
  va_end (args);
}

static void
test_clicks (void)
{
  Fixture fixture = { 0 };
  VnPoint nowhere;
  guint n;

  set_up (&fixture, demo_scene_detector (&fixture.overlay));
  keep (&fixture, "view-home");
  click (&fixture, node_middle (&fixture, 7), 1, FALSE);
  assert_selection (&fixture, 1, 7u);
  g_assert_cmpuint (vn_graph_view_get_focus_node (fixture.view), ==, 7);
  g_assert_cmpuint (fixture.n_changes, ==, 2);   /* the first was the empty one of a new scene */
  click (&fixture, node_middle (&fixture, 7), 1, FALSE);
  g_assert_cmpuint (fixture.n_changes, ==, 2);
  click (&fixture, node_middle (&fixture, 12), 2, FALSE);
  g_assert_cmpuint (fixture.activated, ==, 12);
  click (&fixture, node_middle (&fixture, 5), 1, TRUE);
  g_assert_cmpuint (fixture.n_menus, ==, 1);
  assert_selection (&fixture, 1, 5u);
  nowhere = node_middle (&fixture, 0);
  nowhere.x += 200;
  click (&fixture, nowhere, 1, FALSE);
  assert_selection (&fixture, 0);

  /* the tensor between nodes 1 and 2 */
  nowhere = vn_graph_layout_get_route (vn_graph_view_get_layout (fixture.view), 1, &n, NULL)[0];
  nowhere.y += 8;
  click (&fixture, nowhere, 1, FALSE);
  g_assert_cmpuint (vn_graph_view_get_selected_edge (fixture.view), ==, 1);
  press_key (&fixture, GDK_KEY_Escape, 0);
  g_assert_cmpuint (vn_graph_view_get_selected_edge (fixture.view), ==, VN_SCENE_NONE);
  tear_down (&fixture);
}

static void
test_band (void)
{
  Fixture fixture = { 0 };
  GtkEventController *drag;
  const VnRect *first, *last;
  double x0, y0, x1, y1;

  set_up (&fixture, demo_scene_detector (&fixture.overlay));
  drag = controller (&fixture, GTK_TYPE_GESTURE_DRAG, 0);
  first = vn_graph_layout_get_box (vn_graph_view_get_layout (fixture.view), 5);
  last = vn_graph_layout_get_box (vn_graph_view_get_layout (fixture.view), 8);
  screen_point (&fixture, (VnPoint) { first->x - 10, first->y - 4 }, &x0, &y0);
  screen_point (&fixture, (VnPoint) { first->x + 60, last->y + 4 }, &x1, &y1);
  g_signal_emit_by_name (drag, "drag-begin", x0, y0);
  g_signal_emit_by_name (drag, "drag-update", (x1 - x0) / 2, (y1 - y0) / 2);
  keep (&fixture, "view-band");
  g_signal_emit_by_name (drag, "drag-update", x1 - x0, y1 - y0);
  g_signal_emit_by_name (drag, "drag-end", x1 - x0, y1 - y0);
  assert_selection (&fixture, 4, 5u, 6u, 7u, 8u);
  keep (&fixture, "view-region");
  tear_down (&fixture);
}

/* A line round four nodes selects these, wherever it begins; a click with the tool selects as ever. */
static void
test_lasso (void)
{
  Fixture fixture = { 0 };
  GtkEventController *drag;
  const VnRect *first, *last;
  double x0, y0, x1, y1;

  set_up (&fixture, demo_scene_detector (&fixture.overlay));
  vn_graph_view_set_lasso (fixture.view, TRUE);
  drag = controller (&fixture, GTK_TYPE_GESTURE_DRAG, 0);
  first = vn_graph_layout_get_box (vn_graph_view_get_layout (fixture.view), 5);
  last = vn_graph_layout_get_box (vn_graph_view_get_layout (fixture.view), 8);
  screen_point (&fixture, (VnPoint) { first->x - 10, first->y - 4 }, &x0, &y0);
  screen_point (&fixture, (VnPoint) { first->x + first->width / 2 + 10, last->y + last->height + 4 }, &x1, &y1);
  g_signal_emit_by_name (drag, "drag-begin", x0, y0);
  g_signal_emit_by_name (drag, "drag-update", x1 - x0, 0.);
  g_signal_emit_by_name (drag, "drag-update", x1 - x0, y1 - y0);
  g_signal_emit_by_name (drag, "drag-update", 0., y1 - y0);
  keep (&fixture, "view-lasso");
  g_signal_emit_by_name (drag, "drag-end", 0., y1 - y0);
  assert_selection (&fixture, 4, 5u, 6u, 7u, 8u);
  screen_point (&fixture, node_middle (&fixture, 12), &x0, &y0);
  g_signal_emit_by_name (drag, "drag-begin", x0, y0);
  g_signal_emit_by_name (drag, "drag-end", 0., 0.);
  assert_selection (&fixture, 1, 12u);
  vn_graph_view_set_lasso (fixture.view, FALSE);
  tear_down (&fixture);
}

static void
test_keys (void)
{
  Fixture fixture = { 0 };
  double zoom;

  set_up (&fixture, demo_scene_detector (&fixture.overlay));
  g_object_set (gtk_widget_get_settings (fixture.window), "gtk-enable-animations", FALSE, NULL);
  g_assert_true (press_key (&fixture, GDK_KEY_Home, 0));
  assert_selection (&fixture, 1, 0u);
  press_key (&fixture, GDK_KEY_Down, 0);
  assert_selection (&fixture, 1, 1u);
  press_key (&fixture, GDK_KEY_Down, GDK_SHIFT_MASK);
  press_key (&fixture, GDK_KEY_Down, GDK_SHIFT_MASK);
  assert_selection (&fixture, 3, 1u, 2u, 3u);
  press_key (&fixture, GDK_KEY_Up, 0);
  assert_selection (&fixture, 1, 2u);
  press_key (&fixture, GDK_KEY_space, 0);
  assert_selection (&fixture, 0);
  press_key (&fixture, GDK_KEY_a, GDK_CONTROL_MASK);
  g_assert_cmpuint (vn_graph_view_get_n_selected (fixture.view), ==, 25);
  press_key (&fixture, GDK_KEY_Escape, 0);
  assert_selection (&fixture, 0);
  g_assert_false (press_key (&fixture, GDK_KEY_Escape, 0));

  vn_graph_view_set_focus_node (fixture.view, 11);
  press_key (&fixture, GDK_KEY_Left, 0);
  g_test_message ("left of 11 is %u", vn_graph_view_get_focus_node (fixture.view));
  g_assert_cmpuint (vn_graph_view_get_focus_node (fixture.view), !=, 11);
  press_key (&fixture, GDK_KEY_Right, 0);
  g_assert_cmpuint (vn_graph_view_get_focus_node (fixture.view), ==, 11);

  /* bad ones are 7, 8, 9, 16, 17 */
  press_key (&fixture, GDK_KEY_n, 0);
  assert_selection (&fixture, 1, 16u);
  press_key (&fixture, GDK_KEY_n, 0);
  press_key (&fixture, GDK_KEY_n, 0);
  assert_selection (&fixture, 1, 7u);
  press_key (&fixture, GDK_KEY_N, GDK_SHIFT_MASK);
  assert_selection (&fixture, 1, 17u);

  press_key (&fixture, GDK_KEY_1, 0);
  g_assert_cmpfloat (vn_graph_view_get_zoom (fixture.view), ==, 1);
  press_key (&fixture, GDK_KEY_plus, 0);
  g_assert_cmpfloat (vn_graph_view_get_zoom (fixture.view), ==, 1.25);
  press_key (&fixture, GDK_KEY_minus, 0);
  press_key (&fixture, GDK_KEY_minus, 0);
  g_assert_cmpfloat_with_epsilon (vn_graph_view_get_zoom (fixture.view), 0.8, 1e-9);
  press_key (&fixture, GDK_KEY_0, 0);
  zoom = vn_graph_view_get_zoom (fixture.view);
  g_assert_cmpfloat (zoom, <=, 1);
  press_key (&fixture, GDK_KEY_Return, 0);
  g_assert_cmpuint (fixture.activated, ==, 17);
  gtk_test_accessible_assert_role (fixture.view, GTK_ACCESSIBLE_ROLE_GROUP);
  g_object_set (gtk_widget_get_settings (fixture.window), "gtk-enable-animations", TRUE, NULL);
  tear_down (&fixture);
}

static void
test_zoom_keeps_place (void)
{
  Fixture fixture = { 0 };
  GtkEventController *scroll, *motion;
  gboolean handled = FALSE;
  VnPoint at;
  double x, y, x2, y2;

  set_up (&fixture, demo_scene_detector (&fixture.overlay));
  motion = controller (&fixture, GTK_TYPE_EVENT_CONTROLLER_MOTION, 0);
  scroll = controller (&fixture, GTK_TYPE_EVENT_CONTROLLER_SCROLL, 0);
  at = node_middle (&fixture, 12);
  screen_point (&fixture, at, &x, &y);
  g_signal_emit_by_name (motion, "motion", x, y);
  g_signal_emit_by_name (scroll, "scroll", 0., -1., &handled);
  g_signal_emit_by_name (scroll, "scroll", 0., -1., &handled);
  g_assert_true (handled);
  turn (400);
  screen_point (&fixture, at, &x2, &y2);
  g_test_message ("zoom %g, point moved by %g, %g", vn_graph_view_get_zoom (fixture.view), x2 - x, y2 - y);
  g_assert_cmpfloat_with_epsilon (x, x2, 0.01);
  g_assert_cmpfloat_with_epsilon (y, y2, 0.01);
  keep (&fixture, "view-hover");

  vn_graph_view_zoom_to_node (fixture.view, 25);
  turn (500);
  screen_point (&fixture, node_middle (&fixture, 25), &x, &y);
  g_assert_cmpfloat_with_epsilon (x, gtk_widget_get_width (GTK_WIDGET (fixture.view)) / 2., 1);
  g_assert_cmpfloat_with_epsilon (y, gtk_widget_get_height (GTK_WIDGET (fixture.view)) / 2., 1);
  tear_down (&fixture);
}

static void
test_replace (void)
{
  Fixture fixture = { 0 };
  g_autoptr(VnOverlay) other = NULL;
  g_autoptr(VnScene) again = NULL;
  VnGraphLayout *layout;
  guint five = 5;

  set_up (&fixture, demo_scene_detector (&fixture.overlay));
  layout = vn_graph_view_get_layout (fixture.view);
  vn_graph_view_select (fixture.view, &five, 1, FALSE);
  again = demo_scene_detector (&other);
  vn_graph_view_set_scene (fixture.view, again);
  g_assert_true (vn_graph_view_get_layout (fixture.view) == layout);
  g_assert_true (vn_graph_view_get_scene (fixture.view) == again);
  assert_selection (&fixture, 1, 5u);
  vn_graph_view_set_overlay (fixture.view, other);
  turn (300);
  vn_graph_view_set_scene (fixture.view, NULL);
  assert_selection (&fixture, 0);
  g_assert_false (press_key (&fixture, GDK_KEY_Home, 0));
  turn (50);
  tear_down (&fixture);
}

static int
compare_doubles (gconstpointer a,
                 gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

typedef struct { clock_t start; GArray *times; } Frames;

static void
before_paint (GdkFrameClock *clock_of_frames,
              Frames        *frames)
{
  frames->start = clock ();
}

static void
after_paint (GdkFrameClock *clock_of_frames,
             Frames        *frames)
{
  double ms = 1e3 * (clock () - frames->start) / CLOCKS_PER_SEC;

  g_array_append_val (frames->times, ms);
}

/* Drags the canvas by 16 px a frame, with the space bar held. */
static void
pan (Fixture *fixture,
     Frames  *frames,
     guint    n_frames)
{
  GtkEventController *drag = controller (fixture, GTK_TYPE_GESTURE_DRAG, 0);
  GtkEventController *keys = controller (fixture, GTK_TYPE_EVENT_CONTROLLER_KEY, 0);
  gboolean handled;

  g_signal_emit_by_name (keys, "key-pressed", GDK_KEY_space, 0, 0, &handled);
  g_signal_emit_by_name (drag, "drag-begin", 400., 400.);
  for (guint i = 0; i < n_frames; i++)
    {
      guint n = frames->times->len;

      g_signal_emit_by_name (drag, "drag-update", 0., -16. * i);
      while (frames->times->len == n)
        g_main_context_iteration (NULL, TRUE);
    }
  g_signal_emit_by_name (drag, "drag-end", 0., -16. * n_frames);
  g_signal_emit_by_name (keys, "key-released", GDK_KEY_space, 0, 0);
}

/* Prints processor time, which says more than the clock on a busy machine. */
static void
test_frames (void)
{
  static const double zooms[] = { 0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 1 };
  Fixture fixture = { 0 };
  GdkFrameClock *clock_of_frames;
  Frames frames = { 0 };

  fixture.width = 1600;
  set_up (&fixture, demo_scene_large (10000, 12, &fixture.overlay));
  clock_of_frames = gtk_widget_get_frame_clock (fixture.window);
  frames.times = g_array_new (FALSE, FALSE, sizeof (double));
  g_signal_connect (clock_of_frames, "before-paint", G_CALLBACK (before_paint), &frames);
  g_signal_connect (clock_of_frames, "after-paint", G_CALLBACK (after_paint), &frames);
  for (guint i = 0; i < G_N_ELEMENTS (zooms); i++)
    {
      vn_graph_view_set_zoom (fixture.view, zooms[i]);
      turn (300);
      vn_graph_view_center_on (fixture.view, node_middle (&fixture, 3000));
      turn (600);
      g_array_set_size (frames.times, 0);
      pan (&fixture, &frames, 60);
      g_array_sort (frames.times, compare_doubles);
      g_assert_cmpuint (frames.times->len, >=, 60);
      g_test_message ("zoom %.2f: %u frames, median %.1f ms, 95 %% %.1f ms, longest %.1f ms",
                      vn_graph_view_get_zoom (fixture.view), frames.times->len,
                      g_array_index (frames.times, double, frames.times->len / 2),
                      g_array_index (frames.times, double, frames.times->len * 95 / 100),
                      g_array_index (frames.times, double, frames.times->len - 1));
    }
  keep (&fixture, "view-large");
  g_signal_handlers_disconnect_by_data (clock_of_frames, &frames);
  g_array_unref (frames.times);
  tear_down (&fixture);
}

/* Who listened may be gone as well: what was still being laid out is told to nobody. */
static void
test_closed (void)
{
  VnOverlay *overlay = NULL;
  VnScene *scene = demo_scene_large (10000, 12, &overlay);
  GtkWidget *view = g_object_ref_sink (vn_graph_view_new ());
  gpointer gone = view;
  guint n_ready = 0;

  g_signal_connect_swapped (view, "ready", G_CALLBACK (count), &n_ready);
  g_object_add_weak_pointer (G_OBJECT (view), &gone);
  vn_graph_view_set_scene (VN_GRAPH_VIEW (view), scene);
  g_assert_null (vn_graph_view_get_layout (VN_GRAPH_VIEW (view)));
  g_object_unref (view);
  g_assert_null (gone);
  turn (1000);
  g_assert_cmpuint (n_ready, ==, 0);
  vn_scene_unref (scene);
  vn_overlay_unref (overlay);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (!gtk_init_check ())
    {
      g_print ("1..0 # SKIP no display\n");
      return EXIT_SUCCESS;
    }
  adw_init ();
  g_test_add_func ("/graph-view/clicks", test_clicks);
  g_test_add_func ("/graph-view/band", test_band);
  g_test_add_func ("/graph-view/lasso", test_lasso);
  g_test_add_func ("/graph-view/keys", test_keys);
  g_test_add_func ("/graph-view/zoom-keeps-place", test_zoom_keeps_place);
  g_test_add_func ("/graph-view/replace", test_replace);
  g_test_add_func ("/graph-view/closed", test_closed);
  g_test_add_func ("/graph-view/frames", test_frames);
  return g_test_run ();
}
