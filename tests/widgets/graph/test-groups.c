/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups on the canvas: opened and closed by pointer and keyboard, selected, searched, and how long a large network takes.
 * Pictures are kept in the folder named by VN_SCREENSHOTS, if it is set. */
#include "demo-scene.h"
#include "vn-minimap.h"
#include "widget-fixture.h"

#include <adwaita.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

typedef struct
{
  GtkWidget   *window;
  VnGraphView *view;
  VnMinimap   *minimap;
  VnScene     *scene;
  VnGroups    *groups;
  VnOverlay   *overlay;
  guint        n_ready, n_failed, n_folded;
} Fixture;

static void
count (guint *n)
{
  (*n)++;
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
set_animated (gboolean animated)
{
  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", animated, NULL);
}

static void
set_up (Fixture *fixture,
        VnScene *scene)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);

  fixture->view = VN_GRAPH_VIEW (vn_graph_view_new ());
  fixture->minimap = VN_MINIMAP (vn_minimap_new ());
  gtk_widget_set_valign (GTK_WIDGET (fixture->minimap), GTK_ALIGN_END);
  fixture->scene = scene;
  g_signal_connect_swapped (fixture->view, "ready", G_CALLBACK (count), &fixture->n_ready);
  g_signal_connect_swapped (fixture->view, "failed", G_CALLBACK (count), &fixture->n_failed);
  g_signal_connect_swapped (fixture->view, "folding-changed", G_CALLBACK (count), &fixture->n_folded);
  fixture->window = gtk_window_new ();
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), 1200, 900);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (fixture->view));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (fixture->minimap));
  gtk_window_set_child (GTK_WINDOW (fixture->window), box);
  vn_minimap_set_view (fixture->minimap, fixture->view);
  fixture->groups = vn_groups_new (scene);
  vn_graph_view_set_network (fixture->view, scene, fixture->groups);
  vn_graph_view_set_overlay (fixture->view, fixture->overlay);
  gtk_window_present (GTK_WINDOW (fixture->window));
  gtk_test_widget_wait_for_draw (GTK_WIDGET (fixture->view));
  while (fixture->n_ready + fixture->n_failed == 0)
    g_main_context_iteration (NULL, TRUE);
  turn (60);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

static void
tear_down (Fixture *fixture)
{
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  vn_scene_unref (fixture->scene);
  vn_groups_unref (fixture->groups);
  vn_overlay_unref (fixture->overlay);
  turn (20);
}

static gpointer
controller (GtkWidget *widget,
            GType      type,
            guint      nth)
{
  g_autoptr(GListModel) list = gtk_widget_observe_controllers (widget);

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
press_key (Fixture *fixture,
           guint    keyval)
{
  gboolean handled = FALSE;
  GtkEventController *keys = controller (GTK_WIDGET (fixture->view), GTK_TYPE_EVENT_CONTROLLER_KEY, 0);

  g_signal_emit_by_name (keys, "key-pressed", keyval, 0, 0, &handled);
  g_signal_emit_by_name (keys, "key-released", keyval, 0, 0);
  return handled;
}

static VnPoint
screen_point (Fixture *fixture,
              VnPoint  world)
{
  VnGraphCamera camera = vn_graph_view_get_camera (fixture->view);

  return (VnPoint) { (world.x - camera.origin.x) * camera.zoom, (world.y - camera.origin.y) * camera.zoom };
}

static void
click (Fixture *fixture,
       VnPoint  world,
       int      n_press)
{
  VnPoint at = screen_point (fixture, world);
  GtkEventController *gesture = controller (GTK_WIDGET (fixture->view), GTK_TYPE_GESTURE_CLICK, 0);

  if (gtk_gesture_single_get_button (GTK_GESTURE_SINGLE (gesture)) == GDK_BUTTON_SECONDARY)
    gesture = controller (GTK_WIDGET (fixture->view), GTK_TYPE_GESTURE_CLICK, 1);
  g_signal_emit_by_name (gesture, "pressed", n_press, at.x, at.y);
}

static guint
n_shown (Fixture *fixture)
{
  return vn_scene_get_n_nodes (vn_graph_view_get_shown (fixture->view));
}

/* The group with a title; the first, if there are several. */
static guint
find_group (Fixture    *fixture,
            const char *title)
{
  for (guint i = 0; i < vn_groups_get_n (fixture->groups); i++)
    if (g_str_equal (vn_groups_get (fixture->groups, i)->title, title))
      return i;
  g_assert_not_reached ();
  return VN_SCENE_NONE;
}

static const VnRect *
find_box (Fixture *fixture,
          guint    group)
{
  VnScene *shown = vn_graph_view_get_shown (fixture->view);

  for (guint i = 0; i < vn_scene_get_n_nodes (shown); i++)
    {
      const VnSceneNode *node = vn_scene_get_node (shown, i);

      if (node->kind == VN_SCENE_GROUP && node->source == group)
        return vn_graph_layout_get_box (vn_graph_view_get_layout (fixture->view), i);
    }
  return NULL;
}

static const VnGraphLayoutFrame *
find_frame (Fixture *fixture,
            guint    group)
{
  VnGraphLayout *layout = vn_graph_view_get_layout (fixture->view);

  for (guint i = 0; i < vn_graph_layout_get_n_frames (layout); i++)
    if (vn_graph_layout_get_frame (layout, i)->group == group)
      return vn_graph_layout_get_frame (layout, i);
  return NULL;
}

static VnPoint
middle (const VnRect *box)
{
  return (VnPoint) { box->x + box->width / 2, box->y + box->height / 2 };
}

/* A large network opens as a page of groups; a small one does not, until it is asked to. */
static void
test_opens (void)
{
  Fixture large = { 0 }, small = { 0 };

  set_animated (FALSE);
  set_up (&large, demo_scene_transformer (30, &large.overlay));
  vn_test_screenshot (large.window, "groups-home");
  g_assert_true (vn_graph_view_get_grouped (large.view));
  g_assert_cmpuint (n_shown (&large), <=, 60);
  g_assert_nonnull (find_box (&large, find_group (&large, "layer\u00a07")));
  vn_graph_view_expand_all (large.view);
  g_assert_cmpuint (n_shown (&large), ==, vn_scene_get_n_nodes (large.scene));
  g_assert_cmpuint (vn_graph_layout_get_n_frames (vn_graph_view_get_layout (large.view)), ==, vn_groups_get_n (large.groups) - 1);
  vn_graph_view_collapse_all (large.view);
  g_assert_cmpuint (n_shown (&large), <, 40);
  vn_graph_view_set_grouped (large.view, FALSE);
  g_assert_cmpuint (n_shown (&large), ==, vn_scene_get_n_nodes (large.scene));
  g_assert_cmpuint (vn_graph_layout_get_n_frames (vn_graph_view_get_layout (large.view)), ==, 0);
  tear_down (&large);

  set_up (&small, demo_scene_transformer (4, &small.overlay));
  g_assert_false (vn_graph_view_get_grouped (small.view));
  g_assert_cmpuint (n_shown (&small), ==, vn_scene_get_n_nodes (small.scene));
  vn_graph_view_set_grouped (small.view, TRUE);
  g_assert_cmpuint (n_shown (&small), <, vn_scene_get_n_nodes (small.scene));
  tear_down (&small);
}

/* A double click opens, a click on the title closes; what was clicked stays under the pointer, and so does what is above. */
static void
check_pointer (gboolean animated)
{
  Fixture fixture = { 0 };
  guint group, above;
  VnPoint before, after, other, other_after, title;
  guint n;

  set_animated (animated);
  set_up (&fixture, demo_scene_transformer (30, &fixture.overlay));
  group = find_group (&fixture, "layer\u00a03");
  above = find_group (&fixture, "layer\u00a02");
  n = n_shown (&fixture);
  before = screen_point (&fixture, (VnPoint) { middle (find_box (&fixture, group)).x, find_box (&fixture, group)->y });
  other = screen_point (&fixture, middle (find_box (&fixture, above)));
  click (&fixture, middle (find_box (&fixture, group)), 2);
  if (animated)
    {
      turn (80);
      vn_test_screenshot (fixture.window, "groups-opening");
      turn (500);
    }
  g_assert_true (vn_graph_view_is_open (fixture.view, group));
  g_assert_null (find_box (&fixture, group));
  vn_test_screenshot (fixture.window, "groups-open");
  after = screen_point (&fixture, find_frame (&fixture, group)->anchor);
  other_after = screen_point (&fixture, middle (find_box (&fixture, above)));
  g_test_message ("opened at %g, %g; was at %g, %g", after.x, after.y, before.x, before.y);
  g_assert_cmpfloat_with_epsilon (after.x, before.x, 0.5);
  g_assert_cmpfloat_with_epsilon (after.y, before.y, 0.5);
  g_assert_cmpfloat_with_epsilon (other_after.y, other.y, 0.5);

  title = (VnPoint) { find_frame (&fixture, group)->box.x + 30, find_frame (&fixture, group)->box.y + 12 };
  click (&fixture, title, 1);
  if (animated)
    turn (600);
  g_assert_false (vn_graph_view_is_open (fixture.view, group));
  g_assert_cmpuint (n_shown (&fixture), ==, n);
  g_assert_cmpfloat_with_epsilon (screen_point (&fixture, (VnPoint) { 0, find_box (&fixture, group)->y }).y, before.y, 0.5);

  /* one click on the sign in its corner is enough */
  title = (VnPoint) { find_box (&fixture, group)->x + 14, find_box (&fixture, group)->y + 14 };
  click (&fixture, title, 1);
  g_assert_true (vn_graph_view_is_open (fixture.view, group));
  tear_down (&fixture);
}

static void
test_pointer (void)
{
  check_pointer (FALSE);
  check_pointer (TRUE);
}

static void
test_keyboard (void)
{
  Fixture fixture = { 0 };
  guint group;

  set_animated (FALSE);
  set_up (&fixture, demo_scene_transformer (30, &fixture.overlay));
  group = find_group (&fixture, "layer\u00a03");
  click (&fixture, middle (find_box (&fixture, group)), 1);
  g_assert_true (vn_graph_view_can_expand (fixture.view));
  g_assert_true (press_key (&fixture, GDK_KEY_Right));
  g_assert_true (vn_graph_view_is_open (fixture.view, group));
  g_assert_true (vn_graph_view_can_collapse (fixture.view));
  g_assert_true (press_key (&fixture, GDK_KEY_Left));
  g_assert_false (vn_graph_view_is_open (fixture.view, group));
  g_assert_true (press_key (&fixture, GDK_KEY_Return));
  g_assert_true (vn_graph_view_is_open (fixture.view, group));
  g_assert_true (press_key (&fixture, GDK_KEY_BackSpace));
  g_assert_false (vn_graph_view_is_open (fixture.view, group));
  g_assert_false (press_key (&fixture, GDK_KEY_BackSpace));   /* in no group */
  g_assert_true (press_key (&fixture, GDK_KEY_Down));
  g_assert_cmpuint (vn_groups_of_node (fixture.groups, vn_graph_view_get_focus_node (fixture.view)), !=, group);
  tear_down (&fixture);
}

/* A collapsed group stands for all its nodes; one of them that is selected stays so, whatever is open. */
static void
test_selection (void)
{
  Fixture fixture = { 0 };
  guint group, node;
  g_autofree char *label = NULL;

  set_animated (FALSE);
  set_up (&fixture, demo_scene_transformer (30, &fixture.overlay));
  group = find_group (&fixture, "layer\u00a03");
  click (&fixture, middle (find_box (&fixture, group)), 1);
  g_assert_cmpuint (vn_graph_view_get_n_selected (fixture.view), ==, vn_groups_get (fixture.groups, group)->n_nodes);
  node = vn_graph_view_get_focus_node (fixture.view);
  label = vn_graph_view_dup_node_label (fixture.view, node);
  g_test_message ("%s", label);
  g_assert_nonnull (strstr (label, "layer\u00a03, collapsed group, "));
  g_assert_nonnull (strstr (label, "selected"));

  vn_graph_view_select (fixture.view, &node, 1, FALSE);
  g_assert_true (vn_graph_view_is_selected (fixture.view, node));
  vn_graph_view_expand (fixture.view, group);
  g_assert_cmpuint (vn_graph_view_get_n_selected (fixture.view), ==, 1);
  vn_graph_view_collapse (fixture.view, group);
  g_assert_cmpuint (vn_graph_view_get_n_selected (fixture.view), ==, 1);
  g_assert_true (vn_graph_view_is_selected (fixture.view, node));
  tear_down (&fixture);
}

static gboolean
is_in_sight (Fixture *fixture,
             guint    node)
{
  VnScene *shown = vn_graph_view_get_shown (fixture->view);
  guint box = vn_scene_find_node (shown, vn_scene_get_node (fixture->scene, node)->id);
  VnPoint at;

  if (box == VN_SCENE_NONE)
    return FALSE;
  at = screen_point (fixture, middle (vn_graph_layout_get_box (vn_graph_view_get_layout (fixture->view), box)));
  return at.x > 0 && at.y > 0 && at.x < gtk_widget_get_width (GTK_WIDGET (fixture->view))
         && at.y < gtk_widget_get_height (GTK_WIDGET (fixture->view));
}

/* Travelling to a node opens what hides it, from a list and from one bad node to the next. */
static void
check_travel (gboolean animated)
{
  Fixture fixture = { 0 };
  guint node, n_bad = 0;

  set_animated (animated);
  set_up (&fixture, demo_scene_transformer (30, &fixture.overlay));
  node = vn_scene_get_n_nodes (fixture.scene) - 20;
  g_assert_false (is_in_sight (&fixture, node));
  vn_graph_view_zoom_to_node (fixture.view, node);
  turn (animated ? 600 : 0);
  g_assert_true (is_in_sight (&fixture, node));
  g_assert_cmpuint (vn_graph_view_get_focus_node (fixture.view), ==, node);

  vn_graph_view_collapse_all (fixture.view);
  for (guint i = 0; i < 3; i++)
    {
      guint at;

      g_assert_true (press_key (&fixture, GDK_KEY_n));
      turn (animated ? 600 : 0);
      at = vn_graph_view_get_focus_node (fixture.view);
      g_assert_true (vn_overlay_get (fixture.overlay, at)->is_bad);
      g_assert_true (is_in_sight (&fixture, at));
      n_bad++;
    }
  g_assert_cmpuint (n_bad, ==, 3);
  tear_down (&fixture);
}

static void
test_travel (void)
{
  check_travel (FALSE);
  check_travel (TRUE);
}

/* Other precisions of the same network leave open what is open. */
static void
test_renew (void)
{
  Fixture fixture = { 0 };
  g_autoptr(VnScene) again = NULL;
  g_autoptr(VnOverlay) overlay = NULL;
  guint group;
  VnRect before;

  set_animated (FALSE);
  set_up (&fixture, demo_scene_transformer (30, &fixture.overlay));
  group = find_group (&fixture, "layer\u00a03");
  vn_graph_view_expand (fixture.view, group);
  before = find_frame (&fixture, group)->box;
  again = demo_scene_transformer (30, &overlay);
  vn_graph_view_set_network (fixture.view, again, fixture.groups);
  g_assert_true (vn_graph_view_get_scene (fixture.view) == again);
  g_assert_true (vn_graph_view_is_open (fixture.view, group));
  g_assert_cmpmem (&before, sizeof before, &find_frame (&fixture, group)->box, sizeof before);
  vn_graph_view_collapse (fixture.view, group);
  g_assert_false (vn_graph_view_is_open (fixture.view, group));
  g_assert_cmpuint (fixture.n_ready, ==, 1);
  tear_down (&fixture);
}

/* The minimap is there while not all is seen, and leads to where it is clicked. */
static void
test_minimap (void)
{
  Fixture fixture = { 0 };
  VnGraphCamera before, after;

  set_animated (FALSE);
  set_up (&fixture, demo_scene_transformer (30, &fixture.overlay));
  turn (100);
  g_assert_true (gtk_widget_get_visible (GTK_WIDGET (fixture.minimap)));
  before = vn_graph_view_get_camera (fixture.view);
  g_signal_emit_by_name (controller (GTK_WIDGET (fixture.minimap), GTK_TYPE_GESTURE_DRAG, 0), "drag-begin", 80., 180.);
  after = vn_graph_view_get_camera (fixture.view);
  g_test_message ("moved from %g to %g", before.origin.y, after.origin.y);
  g_assert_cmpfloat (after.origin.y, >, before.origin.y + 500);
  vn_test_screenshot (fixture.window, "groups-minimap");
  vn_graph_view_zoom_to_fit (fixture.view);
  turn (100);
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (fixture.minimap)));
  tear_down (&fixture);
}

/* The node that is next to the middle of the view, and where in the view its box is. */
static guint
find_middle (Fixture *fixture,
             VnPoint *at)
{
  double width = gtk_widget_get_width (GTK_WIDGET (fixture->view)), least = G_MAXDOUBLE;
  double height = gtk_widget_get_height (GTK_WIDGET (fixture->view));
  guint found = VN_SCENE_NONE;

  for (guint i = 0; i < vn_scene_get_n_nodes (fixture->scene); i++)
    {
      VnRect box;
      VnPoint middle;
      double away;

      g_assert_true (vn_graph_view_get_place (fixture->view, i, &box));
      middle = screen_point (fixture, (VnPoint) { box.x + box.width / 2, box.y + box.height / 2 });
      away = hypot (middle.x - width / 2, middle.y - height / 2);
      if (away < least)
        {
          least = away;
          found = i;
          *at = middle;
        }
    }
  return found;
}

static VnPoint
find_place (Fixture *fixture,
            guint    node)
{
  VnRect box;

  g_assert_true (vn_graph_view_get_place (fixture->view, node, &box));
  return screen_point (fixture, (VnPoint) { box.x + box.width / 2, box.y + box.height / 2 });
}

static void
assert_kept (Fixture *fixture,
             guint    node,
             VnPoint  was)
{
  VnPoint is = find_place (fixture, node);

  g_test_message ("node %u at %.1f %.1f, was at %.1f %.1f", node, is.x, is.y, was.x, was.y);
  g_assert_cmpfloat (fabs (is.x - was.x), <, 3);
  g_assert_cmpfloat (fabs (is.y - was.y), <, 3);
}

/* Whatever is opened, closed or no longer grouped: the box in the middle of the view is not lost, in a network that is laid out
 * at once and in one of 10,000 nodes, which comes later. Of a group that was closed its middle node stays. */
static void
test_keeps_place (void)
{
  static const guint n_layers[] = { 30, 384 };

  for (guint i = 0; i < G_N_ELEMENTS (n_layers); i++)
    {
      Fixture fixture = { 0 };
      VnGraphLayout *layout;
      VnRect bounds;
      VnPoint was;
      guint node, n;

      set_animated (FALSE);
      set_up (&fixture, demo_scene_transformer (n_layers[i], &fixture.overlay));
      n = vn_scene_get_n_nodes (fixture.scene);
      vn_graph_view_set_grouped (fixture.view, FALSE);
      while (n_shown (&fixture) < n)
        g_main_context_iteration (NULL, TRUE);
      bounds = vn_graph_layout_get_bounds (vn_graph_view_get_layout (fixture.view));
      node = n * 3 / 5;
      vn_graph_view_zoom_to_node (fixture.view, node);
      turn (50);
      node = find_middle (&fixture, &was);
      g_assert_cmpfloat (fabs (was.x - gtk_widget_get_width (GTK_WIDGET (fixture.view)) / 2.), <, 3);
      layout = vn_graph_view_get_layout (fixture.view);
      vn_graph_view_set_grouped (fixture.view, TRUE);
      while (vn_graph_view_get_layout (fixture.view) == layout)
        g_main_context_iteration (NULL, TRUE);
      g_assert_cmpuint (n_shown (&fixture), <=, 60);
      assert_kept (&fixture, node, was);
      vn_graph_view_expand_all (fixture.view);
      while (n_shown (&fixture) < n)
        g_main_context_iteration (NULL, TRUE);
      node = find_middle (&fixture, &was);
      layout = vn_graph_view_get_layout (fixture.view);
      vn_graph_view_collapse_all (fixture.view);
      while (vn_graph_view_get_layout (fixture.view) == layout)
        g_main_context_iteration (NULL, TRUE);
      assert_kept (&fixture, node, was);
      g_assert_cmpfloat (bounds.height, >, 5 * vn_graph_layout_get_bounds (vn_graph_view_get_layout (fixture.view)).height);
      tear_down (&fixture);
    }
}

/* Where the middle of the upper side of a group is, or would be if it were closed. */
static VnPoint
find_anchor (Fixture *fixture,
             guint    group)
{
  const VnRect *box = find_box (fixture, group);

  if (box != NULL)
    return screen_point (fixture, (VnPoint) { box->x + box->width / 2, box->y });
  return screen_point (fixture, find_frame (fixture, group)->anchor);
}

/* Where a group is opened or closed, all columns may be cut elsewhere: the group stays where it is seen all the same. */
static void
check_columns (gboolean animated)
{
  Fixture fixture = { 0 };
  guint n_checked = 0;
  guint8 *open;

  set_animated (FALSE);
  set_up (&fixture, demo_scene_transformer (30, &fixture.overlay));
  vn_graph_view_set_page (fixture.view, VN_GRAPH_COLUMNS_PAGE);
  open = g_memdup2 (vn_graph_view_get_open (fixture.view), vn_groups_get_n (fixture.groups));
  for (guint group = 1; group < vn_groups_get_n (fixture.groups); group += animated ? 7 : 1)
    {
      if (find_box (&fixture, group) == NULL)
        continue;
      vn_graph_view_set_zoom (fixture.view, n_checked % 2 == 0 ? 1 : 0.4);
      vn_graph_view_center_on (fixture.view, middle (find_box (&fixture, group)));
      for (guint is_open = 0; is_open < 2; is_open++)
        {
          VnPoint was = find_anchor (&fixture, group), is;

          set_animated (animated);
          if (is_open)
            vn_graph_view_collapse (fixture.view, group);
          else
            vn_graph_view_expand (fixture.view, group);
          if (animated)
            turn (500);
          set_animated (FALSE);
          is = find_anchor (&fixture, group);
          g_test_message ("group %u at %.1f %.1f, was at %.1f %.1f", group, is.x, is.y, was.x, was.y);
          g_assert_cmpfloat (fabs (is.x - was.x), <, 1);
          g_assert_cmpfloat (fabs (is.y - was.y), <, 1);
        }
      n_checked++;
      vn_graph_view_set_open_groups (fixture.view, open);
    }
  g_assert_cmpuint (n_checked, >, animated ? 2 : 20);
  g_free (open);
  tear_down (&fixture);
}

static void
test_columns (void)
{
  check_columns (FALSE);
  check_columns (TRUE);
}

/* Processor time from a scene to the first picture, which says more than the clock on a busy machine. */
static void
test_speed (void)
{
  static const struct { guint n_layers; double most; } networks[] = { { 38, 200 }, { 384, 500 } };

  set_animated (TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (networks); i++)
    {
      Fixture fixture = { 0 };
      VnScene *scene = demo_scene_transformer (networks[i].n_layers, &fixture.overlay);
      clock_t start = clock ();
      double opened, all;

      set_up (&fixture, scene);
      opened = 1e3 * (double) (clock () - start) / CLOCKS_PER_SEC;
      g_assert_cmpuint (n_shown (&fixture), <=, 60);
      vn_test_screenshot (fixture.window, i == 0 ? "groups-1000" : "groups-10000");
      start = clock ();
      vn_graph_view_expand_all (fixture.view);
      while (n_shown (&fixture) < vn_scene_get_n_nodes (scene))
        g_main_context_iteration (NULL, TRUE);
      turn (20);
      all = 1e3 * (double) (clock () - start) / CLOCKS_PER_SEC;
      g_test_message ("%u nodes: %.0f ms to the first picture, 60 ms of them waiting; %.0f ms more with all groups open",
                      vn_scene_get_n_nodes (scene), opened, all);
      g_assert_cmpfloat (opened, <, networks[i].most + 60);
      tear_down (&fixture);
    }
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
  g_test_add_func ("/graph-groups/opens", test_opens);
  g_test_add_func ("/graph-groups/pointer", test_pointer);
  g_test_add_func ("/graph-groups/keyboard", test_keyboard);
  g_test_add_func ("/graph-groups/selection", test_selection);
  g_test_add_func ("/graph-groups/travel", test_travel);
  g_test_add_func ("/graph-groups/renew", test_renew);
  g_test_add_func ("/graph-groups/minimap", test_minimap);
  g_test_add_func ("/graph-groups/keeps-place", test_keeps_place);
  g_test_add_func ("/graph-groups/columns", test_columns);
  g_test_add_func ("/graph-groups/speed", test_speed);
  return g_test_run ();
}
