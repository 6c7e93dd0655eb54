/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mixed precision in the window: calculated in the background, walked along with keys and mouse, a point applied as one step that
 * can be undone, predicted and then measured. */
#include "vn-curve-panel.h"
#include "vn-curve-view.h"
#include "vn-wizard.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <math.h>
#include <string.h>

static gboolean
is_settled (gpointer data)
{
  return vn_bench_get_job (VN_BENCH (data)) == NULL && vn_bench_get_origins_job (VN_BENCH (data)) == NULL &&
         vn_bench_get_expecting (VN_BENCH (data)) == VN_EXPECTING_NOTHING;
}

static GtkWidget *
open_panel (Fixture *fixture)
{
  GtkWidget *panel = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_CURVE_PANEL, NULL);

  vn_window_fixture_open_model (fixture);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.mixed-precision", NULL);
  g_assert_false (gtk_widget_get_mapped (panel));                   /* nothing to start from */
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_test_wait (is_settled, fixture->document, SECONDS));
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.mixed-precision", NULL);
  vn_test_settle (400);
  g_assert_true (gtk_widget_get_mapped (panel));
  return panel;
}

static VnCurveView *
calculate (Fixture   *fixture,
           GtkWidget *panel)
{
  g_signal_emit_by_name (vn_test_find (panel, GTK_TYPE_BUTTON, "_Calculate"), "clicked");
  g_assert_nonnull (vn_bench_get_job (VN_BENCH (fixture->document)));
  g_assert_true (vn_test_wait (is_settled, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  g_assert_nonnull (vn_bench_get_curve (VN_BENCH (fixture->document)));
  vn_test_settle (300);
  return VN_CURVE_VIEW (vn_test_find (panel, VN_TYPE_CURVE_VIEW, NULL));
}

static void
press (VnCurveView *view,
       guint        key)
{
  GListModel *controllers = gtk_widget_observe_controllers (GTK_WIDGET (view));
  gboolean handled = FALSE;

  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr(GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (GTK_IS_EVENT_CONTROLLER_KEY (controller))
        g_signal_emit_by_name (controller, "key-pressed", key, 0u, (GdkModifierType) 0, &handled);
    }
  g_object_unref (controllers);
  g_assert_true (handled);
}

static void
click (VnCurveView *view,
       double       x,
       double       y)
{
  GListModel *controllers = gtk_widget_observe_controllers (GTK_WIDGET (view));

  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr(GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (GTK_IS_GESTURE_CLICK (controller))
        g_signal_emit_by_name (controller, "pressed", 1, x, y);
    }
  g_object_unref (controllers);
}

/* From left to right each point once, and back. */
static void
test_walk (Fixture       *fixture,
           gconstpointer  data)
{
  GtkWidget *panel = open_panel (fixture);
  VnCurveView *view = calculate (fixture, panel);
  const VnCurve *curve = vn_bench_get_curve (VN_BENCH (fixture->document));
  double last = -INFINITY;
  guint n = 0;
  int before;

  g_assert_cmpuint (vn_curve_get_n (curve), >=, 3);
  g_assert_cmpint (vn_curve_view_get_selected (view), ==, -1);
  press (view, GDK_KEY_Home);
  do
    {
      double cost;

      before = vn_curve_view_get_selected (view);
      g_assert_cmpint (before, >=, 0);
      cost = vn_curve_point_get_cost (vn_curve_get (curve, (guint) before), curve->cost);
      g_assert_cmpfloat (cost, >=, last);
      last = cost;
      n++;
      press (view, GDK_KEY_Right);
    }
  while (vn_curve_view_get_selected (view) != before);
  g_assert_cmpuint (n, ==, vn_curve_get_n (curve));
  press (view, GDK_KEY_Left);
  g_assert_cmpint (vn_curve_view_get_selected (view), !=, before);
  press (view, GDK_KEY_End);
  g_assert_cmpint (vn_curve_view_get_selected (view), ==, before);
}

/* What is clicked is selected, and the label tells what it is; other axes have the same points. */
static void
test_click (Fixture       *fixture,
            gconstpointer  data)
{
  GtkWidget *panel = open_panel (fixture);
  VnCurveView *view = calculate (fixture, panel);
  const VnCurve *curve = vn_bench_get_curve (VN_BENCH (fixture->document));
  GtkDropDown *costs = GTK_DROP_DOWN (vn_test_find (panel, GTK_TYPE_DROP_DOWN, NULL));
  guint n_clicked = 0;

  for (VnCurveCost cost = 0; cost < VN_N_CURVE_COSTS; cost++)
    {
      gtk_drop_down_set_selected (costs, cost);
      vn_test_settle (50);
      for (guint i = 0; i < vn_curve_get_n (curve); i++)
        {
          g_autofree char *text = vn_curve_point_dup_text (vn_curve_get (curve, i));
          double x, y, at_x, at_y;
          int selected;

          if (!vn_curve_view_locate_point (view, i, &x, &y))
            continue;
          g_assert_true (x > 0 && x < gtk_widget_get_width (GTK_WIDGET (view)) && y > 0 &&
                         y < gtk_widget_get_height (GTK_WIDGET (view)));
          click (view, x + 1, y - 1);
          selected = vn_curve_view_get_selected (view);
          g_assert_cmpint (selected, >=, 0);
          g_assert_true (vn_curve_view_locate_point (view, (guint) selected, &at_x, &at_y));
          g_assert_true (hypot (at_x - x, at_y - y) < 4);                        /* two points may lie upon each other */
          n_clicked += selected == (int) i;
          if (selected == (int) i && i != (guint) vn_bench_find_curve_point (VN_BENCH (fixture->document)))
            g_assert_nonnull (vn_test_find (panel, GTK_TYPE_LABEL, text));
        }
    }
  g_assert_cmpuint (n_clicked, >=, vn_curve_get_n (curve));
  click (view, 1, 1);
  g_assert_cmpint (vn_curve_view_find_point (view, 1, 1), ==, -1);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "curve-time");
}

/* A point becomes the recipe by Enter, in one step, and then it is measured; taken back, all is as before. */
static void
test_apply (Fixture       *fixture,
            gconstpointer  data)
{
  GtkWidget *panel = open_panel (fixture);
  VnCurveView *view = calculate (fixture, panel);
  VnCurve *curve = vn_bench_get_curve (VN_BENCH (fixture->document));
  g_autoptr(VnRecipe) before = vn_recipe_copy (vn_bench_get_recipe (VN_BENCH (fixture->document)));
  const int plain = vn_bench_find_curve_point (VN_BENCH (fixture->document));
  const VnCurvePoint *point;
  VnRun *result;
  guint chosen = 0;

  g_assert_true (vn_curve_get (curve, (guint) plain)->is_plain);
  g_assert_false (vn_bench_can_undo (VN_BENCH (fixture->document)));        /* to calculate changes nothing */
  g_assert_nonnull (vn_bench_get_shown (VN_BENCH (fixture->document))->curve);
  g_assert_nonnull (vn_bench_get_shown (VN_BENCH (fixture->document))->contributions);
  press (view, GDK_KEY_End);
  press (view, GDK_KEY_Left);
  if (vn_curve_view_get_selected (view) == plain)
    press (view, GDK_KEY_Left);
  g_assert_cmpint (vn_curve_view_get_selected (view), !=, plain);
  point = vn_curve_get (curve, (guint) vn_curve_view_get_selected (view));
  vn_test_screenshot (GTK_WIDGET (fixture->window), "curve-selected");
  press (view, GDK_KEY_Return);
  g_assert_true (vn_recipe_equal (vn_bench_get_recipe (VN_BENCH (fixture->document)), point->recipe));
  g_assert_true (vn_test_wait (is_settled, fixture->document, SECONDS));
  vn_test_settle (300);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  result = vn_bench_get_shown (VN_BENCH (fixture->document));
  g_assert_true (vn_recipe_equal (result->recipe, point->recipe));
  g_assert_nonnull (result->curve);
  for (guint i = 0; i < vn_curve_get_n (result->curve); i++)
    chosen += vn_curve_get (result->curve, i)->is_chosen;
  g_assert_cmpuint (chosen, ==, 1);                                 /* reports say which */
  g_assert_cmpint (vn_bench_find_curve_point (VN_BENCH (fixture->document)), ==, vn_curve_view_get_selected (view));
  g_assert_cmpuint (vn_bench_get_effects (VN_BENCH (fixture->document))->len, ==, 1);
  g_assert_true (((VnEffect *) g_ptr_array_index (vn_bench_get_effects (VN_BENCH (fixture->document)), 0))->measured);
  g_test_message ("predicted %g dB, measured %g dB", point->predicted_db,
                  ((VnEffect *) g_ptr_array_index (vn_bench_get_effects (VN_BENCH (fixture->document)), 0))->after_db);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "curve-applied");
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.undo", NULL);
  g_assert_true (vn_recipe_equal (vn_bench_get_recipe (VN_BENCH (fixture->document)), before));
  g_assert_false (vn_bench_can_undo (VN_BENCH (fixture->document)));
  g_assert_cmpint (vn_bench_find_curve_point (VN_BENCH (fixture->document)), ==, plain);
}

/* A cancelled calculation leaves nothing; another recipe than any point's has no curve. */
static void
test_cancel (Fixture       *fixture,
             gconstpointer  data)
{
  GtkWidget *panel = open_panel (fixture);
  VnNodeItem *item;

  vn_bench_set_n_samples (VN_BENCH (fixture->document), 400);      /* so that it takes a while, and starts from no result */
  g_signal_emit_by_name (vn_test_find (panel, GTK_TYPE_BUTTON, "_Calculate"), "clicked");
  g_signal_emit_by_name (vn_test_find (panel, GTK_TYPE_BUTTON, "_Cancel"), "clicked");
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_null (vn_bench_get_curve (VN_BENCH (fixture->document)));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  calculate (fixture, panel);
  item = vn_window_fixture_get_item (fixture, "/left/conv");
  vn_document_select_one (fixture->document, item->index);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.set-precision", "s", "16");
  g_assert_null (vn_bench_get_curve (VN_BENCH (fixture->document)));
  g_assert_cmpint (vn_bench_find_curve_point (VN_BENCH (fixture->document)), ==, -1);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.undo", NULL);
  g_assert_nonnull (vn_bench_get_curve (VN_BENCH (fixture->document)));
  g_assert_true (vn_test_wait (is_settled, fixture->document, SECONDS));
}

/* For those who do not see it the chart is something with a value that keys change. */
static void
test_accessible (Fixture       *fixture,
                 gconstpointer  data)
{
  GtkWidget *panel = open_panel (fixture);
  VnCurveView *view = calculate (fixture, panel);

  gtk_test_accessible_assert_role (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_ROLE_SLIDER);
  g_assert_true (gtk_test_accessible_has_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_LABEL));
  press (view, GDK_KEY_Home);
  press (view, GDK_KEY_Right);
  gtk_test_accessible_assert_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_VALUE_NOW, 1.0);
  g_assert_true (gtk_test_accessible_has_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT));
  g_assert_true (gtk_widget_get_focusable (GTK_WIDGET (view)));
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.mixed-precision", NULL);
  g_assert_true (gtk_widget_has_focus (GTK_WIDGET (view)));
}

int
main (int    argc,
      char **argv)
{
  static const struct { const char *path; void (*func) (Fixture *, gconstpointer); } tests[] = {
    { "/curve/walk", test_walk },
    { "/curve/click", test_click },
    { "/curve/apply", test_apply },
    { "/curve/cancel", test_cancel },
    { "/curve/accessible", test_accessible },
  };

  vn_window_fixture_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, vn_window_fixture_set_up, tests[i].func, vn_window_fixture_tear_down);
  return g_test_run ();
}
