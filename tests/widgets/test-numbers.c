/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of nodes from a file in the window: dropped on it, they color the graph with a scale of their own until another model
 * is open. */
#include "vn-graph-view.h"
#include "vn-legend.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static gpointer
find (Fixture *fixture,
      GType    type)
{
  return vn_test_find (GTK_WIDGET (fixture->window), type, NULL);
}

static gboolean
shows_file (gpointer window)
{
  VnLegend *legend = VN_LEGEND (vn_test_find (window, VN_TYPE_LEGEND, NULL));
  VnGraphView *view = VN_GRAPH_VIEW (vn_test_find (window, VN_TYPE_GRAPH_VIEW, NULL));

  return vn_legend_get_choice (legend) == VN_CHOICE_FILE && vn_graph_view_get_overlay (view) != NULL;
}

/* Returns: the file, dropped on the window */
static char *
drop (Fixture    *fixture,
      const char *name,
      const char *text)
{
  char *path = g_build_filename (fixture->folder, name, NULL);
  g_autoptr(GFile) file = g_file_new_for_path (path);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  vn_window_drop_file (fixture->window, file);
  return path;
}

static const VnOverlayItem *
get_item (Fixture    *fixture,
          const char *label)
{
  VnGraphView *view = find (fixture, VN_TYPE_GRAPH_VIEW);
  guint box = vn_scene_find_source (vn_graph_view_get_scene (view), vn_window_fixture_get_item (fixture, label)->index);

  return vn_overlay_get (vn_graph_view_get_overlay (view), box);
}

static const char *
get_title (Fixture *fixture)
{
  GtkDropDown *choice = GTK_DROP_DOWN (vn_test_find (find (fixture, VN_TYPE_LEGEND), GTK_TYPE_DROP_DOWN, NULL));

  return gtk_string_object_get_string (gtk_drop_down_get_selected_item (choice));
}

/* A table: before anything is measured, and chosen again after something else was. */
static void
test_table (Fixture       *fixture,
            gconstpointer  data)
{
  static const struct { const char *label; double value, t; guint ticks; } nodes[] = {
    { "/stem/conv", -2, 0, 0 }, { "/left/conv", 0, 0.25, 1 }, { "/right/conv", 1.5, 0.4375, 2 }, { "/add", 6, 1, 4 },
  };
  g_autofree char *path = NULL;
  VnLegend *legend;
  VnGraphView *view;

  vn_window_fixture_open_model (fixture);
  legend = find (fixture, VN_TYPE_LEGEND);
  view = find (fixture, VN_TYPE_GRAPH_VIEW);
  g_assert_false (vn_legend_has_file (legend));
  path = drop (fixture, "power.csv", "node;watts\n/stem/conv;-2\n/left/conv;0\n/right/conv;1,5\nsum;6\nnobody;9\n");
  g_assert_true (vn_test_wait (shows_file, fixture->window, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  for (guint again = 0; again < 2; again++)
    {
      VnOverlay *overlay = vn_graph_view_get_overlay (view);
      double least, largest;
      guint n = 0;

      g_assert_cmpstr (get_title (fixture), ==, "power.csv");
      g_assert_cmpint (vn_legend_get_kind (legend), ==, VN_OVERLAY_NUMBER);
      g_assert_cmpint (vn_overlay_get_kind (overlay), ==, VN_OVERLAY_NUMBER);
      vn_overlay_get_span (overlay, &least, &largest);
      g_assert_cmpfloat (least, ==, -2);
      g_assert_cmpfloat (largest, ==, 6);
      for (guint i = 0; i < G_N_ELEMENTS (nodes); i++)
        {
          const VnOverlayItem *item = get_item (fixture, nodes[i].label);

          g_assert_true (item->measured);
          g_assert_cmpfloat (item->amount, ==, nodes[i].value);
          g_assert_cmpfloat_with_epsilon (item->t, nodes[i].t, 1e-6);
          g_assert_cmpuint (item->ticks, ==, nodes[i].ticks);
        }
      g_assert_cmpstr (get_item (fixture, "/right/conv")->value, ==, "1.5");
      g_assert_false (get_item (fixture, "/head/relu")->measured);
      for (guint band = 0; band < 3; band++)
        n += vn_overlay_count_band (overlay, band);
      g_assert_cmpuint (n, ==, G_N_ELEMENTS (nodes));
      g_assert_nonnull (vn_test_find (GTK_WIDGET (legend), GTK_TYPE_LABEL, "4 of 6 nodes have a value\n1 name matches no node"));
      vn_test_settle (300);
      vn_test_screenshot (GTK_WIDGET (fixture->window), again ? "numbers-again" : "numbers-table");
      gtk_widget_activate_action (GTK_WIDGET (fixture->window), "graph.overlay", "s", "none");
      vn_test_settle (250);
      g_assert_cmpint (vn_legend_get_choice (legend), ==, VN_CHOICE_NONE);
      g_assert_null (vn_graph_view_get_overlay (view));
      if (again == 0)
        vn_window_fixture_quantize (fixture);
      gtk_drop_down_set_selected (GTK_DROP_DOWN (vn_test_find (GTK_WIDGET (legend), GTK_TYPE_DROP_DOWN, NULL)), VN_CHOICE_FILE);
      vn_test_settle (250);
    }
  vn_window_fixture_open_model (fixture);    /* another one, though of the same file */
  vn_test_settle (300);
  g_assert_false (vn_legend_has_file (legend));
  g_assert_cmpint (vn_legend_get_choice (legend), !=, VN_CHOICE_FILE);
  g_unlink (path);
}

#define EVENT(name, time) "{\"cat\": \"Node\", \"ph\": \"X\", \"name\": \"" name "_kernel_time\", \"dur\": " time "}"

/* A profile takes the place of a table; then times are shares of the whole. What cannot be read leaves all as it is. */
static void
test_profile (Fixture       *fixture,
              gconstpointer  data)
{
  static const char profile[] =
    "[{\"cat\": \"Session\", \"ph\": \"X\", \"name\": \"model_run\", \"dur\": 99}," EVENT ("/stem/relu_nchwc", "80") ","
    EVENT ("/left/conv", "15") "," EVENT ("/right/conv", "5") "," EVENT ("ReorderOutput", "3") "]";
  g_autofree char *table = NULL, *path = NULL, *bad = NULL, *strange = NULL;
  VnOverlay *overlay;

  vn_window_fixture_open_model (fixture);
  table = drop (fixture, "a.csv", "/left/conv,1\n");
  g_assert_true (vn_test_wait (shows_file, fixture->window, SECONDS));
  g_assert_cmpfloat (get_item (fixture, "/left/conv")->t, ==, 0.5);
  path = drop (fixture, "onnxruntime_profile__2026-11-28.json", profile);
  while (g_strcmp0 (get_title (fixture), "a.csv") == 0)
    vn_test_settle (20);
  g_assert_cmpstr (get_title (fixture), ==, "onnxruntime_profile__2026-1…");
  overlay = vn_graph_view_get_overlay (find (fixture, VN_TYPE_GRAPH_VIEW));
  g_assert_cmpint (vn_overlay_get_kind (overlay), ==, VN_OVERLAY_AMOUNT);
  g_assert_cmpint (vn_overlay_get_amount_unit (overlay), ==, VN_AMOUNT_SECONDS);
  g_assert_cmpfloat_with_epsilon (vn_overlay_get_total (overlay), 100e-6, 1e-12);
  g_assert_cmpfloat_with_epsilon (get_item (fixture, "/stem/relu")->amount, 80e-6, 1e-12);
  g_assert_cmpuint (get_item (fixture, "/stem/relu")->band, ==, 2);
  g_assert_cmpuint (get_item (fixture, "/right/conv")->band, ==, 1);
  g_assert_cmpstr (get_item (fixture, "/left/conv")->value, ==, "15\u00a0µs");
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "numbers-profile");
  bad = drop (fixture, "bad.csv", "/left/conv,1\n/left/conv,2\n");
  while (fixture->n_failed < 1)
    vn_test_settle (20);
  strange = drop (fixture, "strange.csv", "nobody,1\n");
  while (fixture->n_failed < 2)
    vn_test_settle (20);
  g_assert_cmpint (vn_overlay_get_kind (vn_graph_view_get_overlay (find (fixture, VN_TYPE_GRAPH_VIEW))), ==, VN_OVERLAY_AMOUNT);
  g_unlink (table);
  g_unlink (path);
  g_unlink (bad);
  g_unlink (strange);
}

int
main (int   argc,
      char *argv[])
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/numbers/table", Fixture, NULL, vn_window_fixture_set_up, test_table, vn_window_fixture_tear_down);
  g_test_add ("/numbers/profile", Fixture, NULL, vn_window_fixture_set_up, test_profile, vn_window_fixture_tear_down);
  return g_test_run ();
}
