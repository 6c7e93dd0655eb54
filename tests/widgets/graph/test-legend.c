/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures are kept in the folder named by VN_KEEP_PICTURES, if it is set. */
#include "demo-scene.h"
#include "vn-graph-view.h"
#include "vn-heat-bar.h"
#include "vn-legend.h"

#include <adwaita.h>

typedef struct
{
  GtkWidget *window;
  VnLegend  *legend;
  guint      n_overlays, n_handles, n_quantize, band;
} Fixture;

static void
count (guint *n)
{
  (*n)++;
}

static void
band_activated (VnLegend *legend,
                guint     band,
                Fixture  *fixture)
{
  fixture->band = band;
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
set_up (Fixture *fixture)
{
  GtkWidget *overlay = gtk_overlay_new (), *view = vn_graph_view_new ();
  g_autoptr(VnOverlay) colors = NULL;
  g_autoptr(VnScene) scene = demo_scene_detector (&colors);

  fixture->legend = VN_LEGEND (vn_legend_new ());
  fixture->band = VN_N_BANDS;
  g_signal_connect_swapped (fixture->legend, "overlay-changed", G_CALLBACK (count), &fixture->n_overlays);
  g_signal_connect_swapped (fixture->legend, "handles-changed", G_CALLBACK (count), &fixture->n_handles);
  g_signal_connect_swapped (fixture->legend, "quantize", G_CALLBACK (count), &fixture->n_quantize);
  g_signal_connect (fixture->legend, "band-activated", G_CALLBACK (band_activated), fixture);
  vn_graph_view_set_scene (VN_GRAPH_VIEW (view), scene);
  vn_graph_view_set_overlay (VN_GRAPH_VIEW (view), colors);
  vn_legend_set_overlay (fixture->legend, colors);
  vn_legend_set_measured (fixture->legend, TRUE);
  gtk_overlay_set_child (GTK_OVERLAY (overlay), view);
  gtk_overlay_add_overlay (GTK_OVERLAY (overlay), GTK_WIDGET (fixture->legend));
  fixture->window = gtk_window_new ();
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), 900, 500);
  gtk_window_set_child (GTK_WINDOW (fixture->window), overlay);
  gtk_window_present (GTK_WINDOW (fixture->window));
  gtk_test_widget_wait_for_draw (fixture->window);
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
  GtkWidget *child = gtk_window_get_child (GTK_WINDOW (fixture->window));
  GtkSnapshot *snapshot = NULL;

  if (folder == NULL)
    return;
  turn (300);
  paintable = gtk_widget_paintable_new (child);
  snapshot = gtk_snapshot_new ();
  gdk_paintable_snapshot (paintable, snapshot, gtk_widget_get_width (child), gtk_widget_get_height (child));
  node = gtk_snapshot_free_to_node (snapshot);
  texture = gsk_renderer_render_texture (gtk_native_get_renderer (GTK_NATIVE (fixture->window)), node, NULL);
  path = g_strdup_printf ("%s/%s.png", folder, name);
  gdk_texture_save_to_png (texture, path);
}

/* The nth widget of a type below another, in order. */
static GtkWidget *
find_widget (GtkWidget *root,
             GType      type,
             guint     *nth)
{
  if (G_TYPE_CHECK_INSTANCE_TYPE (root, type) && (*nth)-- == 0)
    return root;
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = find_widget (child, type, nth);

      if (found != NULL)
        return found;
    }
  return NULL;
}

static GtkWidget *
widget (Fixture *fixture,
        GType    type,
        guint    nth)
{
  GtkWidget *found = find_widget (GTK_WIDGET (fixture->legend), type, &nth);

  g_assert_nonnull (found);
  return found;
}

static GtkEventController *
controller (GtkWidget *owner,
            GType      type)
{
  g_autoptr(GListModel) list = gtk_widget_observe_controllers (owner);

  for (guint i = 0; i < g_list_model_get_n_items (list); i++)
    {
      g_autoptr(GtkEventController) item = g_list_model_get_item (list, i);

      if (G_TYPE_CHECK_INSTANCE_TYPE (item, type))
        return item;
    }
  g_assert_not_reached ();
  return NULL;
}

static void
test_handles (void)
{
  Fixture fixture = { 0 };
  GtkWidget *bar, *fine, *bad;
  gboolean handled;

  set_up (&fixture);
  keep (&fixture, "legend");
  bar = widget (&fixture, VN_TYPE_HEAT_BAR, 0);
  fine = gtk_widget_get_first_child (bar);
  bad = gtk_widget_get_next_sibling (fine);
  gtk_test_accessible_assert_role (fine, GTK_ACCESSIBLE_ROLE_SLIDER);
  g_assert_cmpstr (gtk_widget_get_tooltip_text (fine), ==, "Fine above 20\u00a0dB (noise under 0.01)");

  g_signal_emit_by_name (controller (fine, GTK_TYPE_EVENT_CONTROLLER_KEY), "key-pressed", GDK_KEY_Left, 0, 0,
                         &handled);
  g_assert_true (handled);
  g_assert_cmpfloat (vn_legend_get_handles (fixture.legend).fine, ==, 20.5);
  g_assert_cmpuint (fixture.n_handles, ==, 1);
  for (guint i = 0; i < 60; i++)
    g_signal_emit_by_name (controller (bad, GTK_TYPE_EVENT_CONTROLLER_KEY), "key-pressed", GDK_KEY_Left, 0,
                           0, &handled);
  g_test_message ("fine %g, bad %g", vn_legend_get_handles (fixture.legend).fine,
                  vn_legend_get_handles (fixture.legend).bad);
  g_assert_cmpfloat (vn_legend_get_handles (fixture.legend).bad, ==, 19.5);

  g_signal_emit_by_name (controller (fine, GTK_TYPE_GESTURE_DRAG), "drag-begin", 5., 5.);
  g_signal_emit_by_name (controller (fine, GTK_TYPE_GESTURE_DRAG), "drag-update", -50., 0.);
  g_assert_cmpfloat (vn_legend_get_handles (fixture.legend).fine, >, 25);
  keep (&fixture, "legend-moved");
  g_signal_emit_by_name (controller (bar, GTK_TYPE_GESTURE_CLICK), "pressed", 2, 100., 25.);
  g_assert_cmpfloat (vn_legend_get_handles (fixture.legend).fine, ==, 20);
  g_assert_cmpfloat (vn_legend_get_handles (fixture.legend).bad, ==, 10);
  gtk_window_destroy (GTK_WINDOW (fixture.window));
}

static void
test_metrics (void)
{
  Fixture fixture = { 0 };
  GtkDropDown *choice;

  set_up (&fixture);
  choice = GTK_DROP_DOWN (widget (&fixture, GTK_TYPE_DROP_DOWN, 0));
  g_assert_cmpint (vn_legend_get_kind (fixture.legend), ==, VN_OVERLAY_ERROR);
  gtk_drop_down_set_selected (choice, VN_CHOICE_COSINE);
  g_assert_cmpuint (fixture.n_overlays, ==, 1);
  g_assert_cmpint (vn_legend_get_metric (fixture.legend), ==, VN_METRIC_COSINE);
  g_assert_cmpfloat_with_epsilon (vn_legend_get_handles (fixture.legend).fine, 30, 1e-9);   /* a cosine of 0.999 */
  keep (&fixture, "legend-cosine");
  vn_legend_set_defaults (fixture.legend, VN_CHOICE_MSE, (VnHeatHandles) { 47, 33 });
  vn_legend_set_choice (fixture.legend, VN_CHOICE_MSE);
  g_assert_cmpuint (fixture.n_overlays, ==, 1);
  g_assert_cmpfloat (vn_legend_get_handles (fixture.legend).bad, ==, 33);
  keep (&fixture, "legend-mse");
  gtk_drop_down_set_selected (choice, VN_CHOICE_PRECISION);
  g_assert_cmpint (vn_legend_get_kind (fixture.legend), ==, VN_OVERLAY_PRECISION);
  gtk_drop_down_set_selected (choice, VN_CHOICE_NONE);
  g_assert_cmpint (vn_legend_get_kind (fixture.legend), ==, VN_OVERLAY_NONE);
  gtk_window_destroy (GTK_WINDOW (fixture.window));
}

static void
test_keys (void)
{
  Fixture fixture = { 0 };
  GtkWidget *keys;

  set_up (&fixture);
  keys = widget (&fixture, GTK_TYPE_GRID, 0);
  g_signal_emit_by_name (gtk_widget_get_last_child (keys), "clicked");
  g_assert_cmpuint (fixture.band, ==, VN_BAND_BAD);
  g_assert_true (gtk_widget_get_sensitive (gtk_widget_get_last_child (keys)));
  vn_legend_set_overlay (fixture.legend, NULL);
  g_assert_false (gtk_widget_get_sensitive (gtk_widget_get_last_child (keys)));

  vn_legend_set_measured (fixture.legend, FALSE);
  keep (&fixture, "legend-empty");
  g_signal_emit_by_name (gtk_widget_get_last_child (gtk_widget_get_first_child (
    gtk_widget_get_first_child (GTK_WIDGET (fixture.legend)))), "clicked");
  g_assert_cmpuint (fixture.n_quantize, ==, 1);
  gtk_window_destroy (GTK_WINDOW (fixture.window));
}

static void
threshold_dragged (VnLegend *legend,
                   double    axis,
                   gboolean  is_over,
                   double   *threshold)
{
  *threshold = is_over ? axis + 1000 : axis;
}

/* Dragging across the bar says from where on nodes are meant. */
static void
test_threshold (void)
{
  Fixture fixture = { 0 };
  GtkWidget *bar;
  GtkEventController *drag;
  double threshold = 0, before;

  set_up (&fixture);
  g_signal_connect (fixture.legend, "threshold-dragged", G_CALLBACK (threshold_dragged), &threshold);
  bar = widget (&fixture, VN_TYPE_HEAT_BAR, 0);
  drag = controller (bar, GTK_TYPE_GESTURE_DRAG);
  g_signal_emit_by_name (drag, "drag-begin", 20., 26.);
  g_signal_emit_by_name (drag, "drag-update", 100., 0.);
  before = threshold;
  g_assert_cmpfloat (before, <, 40);
  keep (&fixture, "legend-threshold");
  g_signal_emit_by_name (drag, "drag-update", 160., 0.);
  g_assert_cmpfloat (threshold, <, before);
  g_signal_emit_by_name (drag, "drag-end", 160., 0.);
  g_assert_cmpfloat (threshold, >, 900);
  gtk_window_destroy (GTK_WINDOW (fixture.window));
}

/* Each overlay has its scale or its key, and says what it shows. */
static void
test_choices (void)
{
  Fixture fixture = { 0 };
  GtkWidget *scale, *keys, *bar;

  set_up (&fixture);
  bar = widget (&fixture, VN_TYPE_HEAT_BAR, 0);
  scale = gtk_widget_get_next_sibling (bar);
  keys = widget (&fixture, GTK_TYPE_GRID, 0);
  g_assert_false (vn_legend_has_file (fixture.legend));
  vn_legend_set_file (fixture.legend, "power.csv", VN_OVERLAY_NUMBER);
  g_assert_true (vn_legend_has_file (fixture.legend));
  for (guint choice = 0; choice < VN_N_CHOICES; choice++)
    {
      const VnOverlayChoiceInfo *info = vn_overlay_choice_get_info ((VnOverlayChoice) choice);
      g_autoptr(VnOverlay) overlay = vn_overlay_new (info->kind, 3, NULL);
      VnOverlayItem item = { .measured = TRUE, .band = 1 };

      vn_overlay_set_total (overlay, VN_AMOUNT_SECONDS, 0.02);
      vn_overlay_set (overlay, 0, &item);
      gtk_drop_down_set_selected (GTK_DROP_DOWN (widget (&fixture, GTK_TYPE_DROP_DOWN, 0)), choice);
      vn_legend_set_overlay (fixture.legend, overlay);
      g_assert_cmpint (vn_legend_get_choice (fixture.legend), ==, choice);
      g_assert_cmpint (gtk_widget_get_visible (bar), ==, info->kind == VN_OVERLAY_ERROR);
      g_assert_cmpint (gtk_widget_get_visible (scale), ==, info->kind == VN_OVERLAY_AMOUNT ||
                       info->kind == VN_OVERLAY_DIFFERENCE || info->kind == VN_OVERLAY_NUMBER);
      g_assert_true (info->kind == VN_OVERLAY_NONE || gtk_widget_get_first_child (keys) != NULL);
      keep (&fixture, info->id);
    }
  vn_legend_set_file (fixture.legend, "profile.json", VN_OVERLAY_AMOUNT);
  g_assert_cmpint (vn_legend_get_kind (fixture.legend), ==, VN_OVERLAY_AMOUNT);
  vn_legend_set_file (fixture.legend, NULL, VN_OVERLAY_NUMBER);
  g_assert_false (vn_legend_has_file (fixture.legend));
  g_assert_cmpint (vn_legend_get_choice (fixture.legend), ==, VN_CHOICE_NONE);
  gtk_window_destroy (GTK_WINDOW (fixture.window));
}

int
main (int    argc,
      char **argv)
{
  g_autoptr(GtkCssProvider) css = NULL;

  g_test_init (&argc, &argv, NULL);
  if (!gtk_init_check ())
    {
      g_print ("1..0 # SKIP no display\n");
      return EXIT_SUCCESS;
    }
  adw_init ();
  css = gtk_css_provider_new ();
  gtk_css_provider_load_from_data (css, ".floating { background: @popover_bg_color; border-radius: 12px;"
                                   " box-shadow: 0 1px 5px 1px alpha(black,.09); }", -1);
  gtk_style_context_add_provider_for_display (gdk_display_get_default (), GTK_STYLE_PROVIDER (css),
                                              GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
  g_test_add_func ("/legend/handles", test_handles);
  g_test_add_func ("/legend/metrics", test_metrics);
  g_test_add_func ("/legend/keys", test_keys);
  g_test_add_func ("/legend/threshold", test_threshold);
  g_test_add_func ("/legend/choices", test_choices);
  return g_test_run ();
}
