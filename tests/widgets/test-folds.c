/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The window at each width: panels that slide while it is resized, and what its header bar keeps. A warning of GTK ends these
 * tests. */
#include "window-fixture.h"

#include "widget-fixture.h"

static AdwFlap *
find_flap (Fixture     *fixture,
           GtkPackType  side)
{
  GtkWidget *left = vn_test_find (GTK_WIDGET (fixture->window), ADW_TYPE_FLAP, NULL);

  return ADW_FLAP (side == GTK_PACK_START ? left : vn_test_find (adw_flap_get_content (ADW_FLAP (left)), ADW_TYPE_FLAP, NULL));
}

static gboolean
is_laid_out (gpointer data)
{
  GtkWidget *panel = adw_flap_get_flap (data);

  return gtk_widget_get_mapped (GTK_WIDGET (data)) && gtk_widget_get_child_visible (panel) == adw_flap_get_reveal_flap (data);
}

/* Panels slide away before the page that holds them has had a size for the first time: how far they have to go must be known, or
 * the first step of the animation is not a number. Whether that step is taken depends on when the frame comes, hence several
 * windows. */
static void
test_first_frame (Fixture       *fixture,
                  gconstpointer  data)
{
  for (guint i = 0; i < 5; i++)
    {
      AdwFlap *flaps[] = { find_flap (fixture, GTK_PACK_START), find_flap (fixture, GTK_PACK_END) };

      g_assert_false (gtk_widget_get_mapped (GTK_WIDGET (flaps[0])));
      vn_window_show_page (fixture->window, "nodes");   /* without panels */
      for (guint f = 0; f < G_N_ELEMENTS (flaps); f++)
        {
          g_assert_cmpfloat (adw_swipeable_get_distance (ADW_SWIPEABLE (flaps[f])), >=, f == 0 ? 280 : 344);
          g_assert_true (vn_test_wait (is_laid_out, flaps[f], SECONDS));
          g_assert_cmpfloat (adw_flap_get_reveal_progress (flaps[f]), ==, 0);
        }
      vn_window_show_page (fixture->window, "graph");
      vn_test_settle (100);
      vn_window_fixture_tear_down (fixture, data);
      vn_window_fixture_set_up (fixture, data);
    }
}

/* Panels that fold, unfold and slide in the middle of sliding, at widths from the narrowest on. */
static void
test_restless (Fixture       *fixture,
               gconstpointer  data)
{
  static const int widths[] = { 1280, 1090, 1300, 600, 1110, 850, 870, 590, 1600 };
  static const char * const actions[] = { "win.toggle-inspector", "win.toggle-outline", "win.select-all", "win.toggle-outline",
                                          "win.select-none" };
  static const char * const pages[] = { "graph", "nodes", "compare", "graph" };
  static const guint delays[] = { 0, 5, 17, 40, 120 };
  GtkWidget *window = GTK_WIDGET (fixture->window);
  AdwFlap *flaps[] = { find_flap (fixture, GTK_PACK_START), find_flap (fixture, GTK_PACK_END) };

  vn_window_fixture_open_model (fixture);
  for (guint i = 0; i < 45; i++)
    {
      gtk_window_set_default_size (GTK_WINDOW (window), widths[i % G_N_ELEMENTS (widths)], 600 + (int) (i % 7) * 40);
      vn_test_settle (delays[i % G_N_ELEMENTS (delays)]);
      gtk_widget_activate_action (window, actions[i % G_N_ELEMENTS (actions)], NULL);
      vn_test_settle (delays[(i * 3 + 1) % G_N_ELEMENTS (delays)]);
      if (i % 3 == 0)
        vn_window_show_page (fixture->window, pages[i / 3 % G_N_ELEMENTS (pages)]);
      for (guint f = 0; f < G_N_ELEMENTS (flaps); f++)
        /* and a number */
        g_assert_true (adw_flap_get_reveal_progress (flaps[f]) >= 0 && adw_flap_get_reveal_progress (flaps[f]) <= 1);
    }
  vn_test_settle (700);
  for (guint f = 0; f < G_N_ELEMENTS (flaps); f++)
    g_assert_cmpfloat (adw_flap_get_reveal_progress (flaps[f]), ==, adw_flap_get_reveal_flap (flaps[f]));
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/folds/first-frame", Fixture, NULL, vn_window_fixture_set_up, test_first_frame, vn_window_fixture_tear_down);
  g_test_add ("/folds/restless", Fixture, NULL, vn_window_fixture_set_up, test_restless, vn_window_fixture_tear_down);
  return g_test_run ();
}
