/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "widget-fixture.h"

#include <string.h>

/* What GTK says when a window was closed that was about to show a tooltip: it does not forget the tooltip. */
static gboolean
is_known (const char *domain,
          const char *message)
{
  return g_strcmp0 (domain, "Gdk") == 0 && strstr (message, "gdk_surface_get_device_position: assertion 'GDK_IS_SURFACE") != NULL;
}

static void
on_gdk_message (const char     *domain,
                GLogLevelFlags  level,
                const char     *message,
                gpointer        data)
{
  if (is_known (domain, message))
    g_print ("# %s\n", message);
  else
    g_log_default_handler (domain, level, message, NULL);
}

static gboolean
is_fatal (const char     *domain,
          GLogLevelFlags  level,
          const char     *message,
          gpointer        data)
{
  return !is_known (domain, message);
}

/**
 * vn_test_widgets_init:
 *
 * To be called first. Warnings are fatal by the environment, not here.
 */
void
vn_test_widgets_init (int    *argc,
                      char ***argv)
{
  if (!gtk_init_check ())
    {
      g_print ("1..0 # SKIP no display\n");
      exit (EXIT_SUCCESS);
    }
  g_test_init (argc, argv, NULL);
  g_log_set_handler ("Gdk", G_LOG_LEVEL_CRITICAL | G_LOG_FLAG_FATAL | G_LOG_FLAG_RECURSION, on_gdk_message, NULL);
  adw_init ();
}

/**
 * vn_test_forgive_tooltips:
 *
 * To be called in each test that closes a window: for it only.
 */
void
vn_test_forgive_tooltips (void)
{
  g_test_log_set_fatal_handler (is_fatal, NULL);
}

static gboolean
on_timeout (gpointer data)
{
  *(gboolean *) data = TRUE;
  return G_SOURCE_REMOVE;
}

/**
 * vn_test_wait:
 *
 * Runs the main loop until @condition holds.
 *
 * Returns: %FALSE if it did not within @seconds
 */
gboolean
vn_test_wait (VnTestCondition  condition,
              gpointer         data,
              guint            seconds)
{
  gboolean expired = FALSE;
  guint timeout = g_timeout_add_seconds (seconds, on_timeout, &expired);

  while (!condition (data) && !expired)
    g_main_context_iteration (NULL, TRUE);
  if (!expired)
    g_source_remove (timeout);
  return condition (data);
}

/* So often the main loop must have nothing to do, a frame apart, until it is calm. */
#define CALM_TURNS 3
#define FRAME_MS   17

/**
 * vn_test_settle:
 *
 * Runs the main loop for a while, and, however busy the machine is, until nothing is left to lay out and to draw: animations,
 * idle work.
 */
void
vn_test_settle (guint milliseconds)
{
  gboolean expired = FALSE;

  g_timeout_add (milliseconds > CALM_TURNS * FRAME_MS ? milliseconds - CALM_TURNS * FRAME_MS : 0, on_timeout, &expired);
  while (!expired)
    g_main_context_iteration (NULL, TRUE);
  for (guint i = 0; i < CALM_TURNS; i++)
    {
      expired = FALSE;
      g_timeout_add_full (G_PRIORITY_LOW + 100, FRAME_MS, on_timeout, &expired, NULL);
      while (!expired)
        g_main_context_iteration (NULL, TRUE);
    }
}

static GskRenderNode *
snapshot_window (GtkWidget *window,
                 int       *width,
                 int       *height)
{
  g_autoptr(GdkPaintable) paintable = gtk_widget_paintable_new (window);
  GtkSnapshot *snapshot = gtk_snapshot_new ();

  *width = gdk_paintable_get_intrinsic_width (paintable);
  *height = gdk_paintable_get_intrinsic_height (paintable);
  gdk_paintable_snapshot (paintable, snapshot, *width, *height);
  return gtk_snapshot_free_to_node (snapshot);
}

/**
 * vn_test_screenshot:
 * @name: file name without ending
 *
 * Writes what @window shows, in as many pixels as it has there (GDK_SCALE), into the folder of the environment variable
 * VN_SCREENSHOTS, if that is set.
 */
void
vn_test_screenshot (GtkWidget  *window,
                    const char *name)
{
  const char *folder = g_getenv ("VN_SCREENSHOTS");
  int width, height, scale = gtk_widget_get_scale_factor (window);
  GskRenderNode *node = snapshot_window (window, &width, &height), *scaled;
  g_autoptr(GskTransform) transform = gsk_transform_scale (NULL, (float) scale, (float) scale);
  g_autoptr(GdkTexture) texture = NULL;
  g_autofree char *path = NULL;

  /* A busy machine may take a while to show it. */
  for (guint i = 0; node == NULL && i < 50; i++)
    {
      vn_test_settle (100);
      node = snapshot_window (window, &width, &height);
    }
  g_assert_nonnull (node);
  scaled = transform != NULL ? gsk_transform_node_new (node, transform) : gsk_render_node_ref (node);
  texture = gsk_renderer_render_texture (gtk_native_get_renderer (GTK_NATIVE (window)), scaled,
                                         &GRAPHENE_RECT_INIT (0, 0, (float) (width * scale), (float) (height * scale)));
  gsk_render_node_unref (scaled);
  g_assert_cmpint (gdk_texture_get_width (texture), ==, width * scale);
  if (folder != NULL && *folder != 0)
    {
      path = g_strdup_printf ("%s/%s.png", folder, name);
      g_assert_true (gdk_texture_save_to_png (texture, path));
    }
  gsk_render_node_unref (node);
}

static gboolean
has_name (GtkWidget  *widget,
          const char *name)
{
  if (name == NULL)
    return TRUE;
  if (GTK_IS_ACTIONABLE (widget) &&
      g_strcmp0 (gtk_actionable_get_action_name (GTK_ACTIONABLE (widget)), name) == 0)
    return TRUE;
  if (GTK_IS_BUTTON (widget))
    return g_strcmp0 (gtk_button_get_label (GTK_BUTTON (widget)), name) == 0;
  if (GTK_IS_LABEL (widget))
    return g_strcmp0 (gtk_label_get_label (GTK_LABEL (widget)), name) == 0;
  return ADW_IS_PREFERENCES_ROW (widget) &&
         g_strcmp0 (adw_preferences_row_get_title (ADW_PREFERENCES_ROW (widget)), name) == 0;
}

GtkWidget *
vn_test_find (GtkWidget  *root,
              GType       type,
              const char *name)
{
  if (G_TYPE_CHECK_INSTANCE_TYPE (root, type) && has_name (root, name))
    return root;
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = vn_test_find (child, type, name);

      if (found != NULL)
        return found;
    }
  return NULL;
}

/**
 * vn_test_find_controller:
 *
 * Returns: the first controller of @type that @widget has: signals emitted on it are as those of the user
 */
gpointer
vn_test_find_controller (GtkWidget *widget,
                         GType      type)
{
  g_autoptr(GListModel) controllers = gtk_widget_observe_controllers (widget);

  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr(GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (g_type_is_a (G_OBJECT_TYPE (controller), type))
        return controller;
    }
  g_assert_not_reached ();
}

/**
 * vn_test_picture:
 * @native: a window or popover that is shown
 *
 * For people: saves what it shows as @name.png in the folder that VN_SCREENSHOTS says, if it does.
 */
void
vn_test_picture (GtkWidget  *native,
                 const char *name)
{
  const char *shots = g_getenv ("VN_SCREENSHOTS");
  g_autofree char *path = g_strdup_printf ("%s/%s.png", shots != NULL ? shots : "", name);
  g_autoptr(GdkPaintable) paintable = NULL;
  g_autoptr(GskRenderNode) node = NULL;
  g_autoptr(GdkTexture) texture = NULL;
  GtkSnapshot *snapshot;

  if (shots == NULL)
    return;
  vn_test_settle (1500);
  paintable = gtk_widget_paintable_new (native);
  snapshot = gtk_snapshot_new ();
  gdk_paintable_snapshot (paintable, snapshot, gtk_widget_get_width (native), gtk_widget_get_height (native));
  node = gtk_snapshot_free_to_node (snapshot);
  texture = gsk_renderer_render_texture (gtk_native_get_renderer (GTK_NATIVE (native)), node, NULL);
  gdk_texture_save_to_png (texture, path);
}
