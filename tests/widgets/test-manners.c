/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Manners of the window: every page fits 600 pixels, side panels fold and open, every action can be found, preferences change what
 * they say, and a screen reader is told what there is. */
#include "vn-adaptive-bin.h"
#include "vn-document.h"
#include "vn-page.h"
#include "vn-settings-dialog.h"
#include "vn-wizard.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <string.h>

#define NARROW 600

static int
get_min_width (GtkWidget *widget)
{
  int min = 0;

  gtk_widget_measure (widget, GTK_ORIENTATION_HORIZONTAL, -1, &min, NULL, NULL, NULL);
  return min;
}

/* The widest way down, for whoever has to find out why. */
static void
tell_widest (GtkWidget *widget,
             guint      depth)
{
  GtkWidget *widest = NULL;

  g_test_message ("%*s%s %d", (int) depth, "", G_OBJECT_TYPE_NAME (widget), get_min_width (widget));
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    if (gtk_widget_get_visible (child) && (widest == NULL || get_min_width (child) > get_min_width (widest)))
      widest = child;
  if (widest != NULL && get_min_width (widest) > NARROW / 3)
    tell_widest (widest, depth + 1);
}

/* Nothing in @widget is cut off: what adapts to its width has got a form that fits. */
static void
assert_fits (GtkWidget  *widget,
             const char *what)
{
  if (VN_IS_ADAPTIVE_BIN (widget))
    {
      GtkWidget *child = gtk_widget_get_first_child (widget);
      int has = gtk_widget_get_width (widget), needs = get_min_width (child);

      g_test_message ("%s: %d of %d", what, needs, has);
      if (needs > has)
        {
          tell_widest (child, 0);
          g_test_fail_printf ("%s needs %d pixels and has %d", what, needs, has);
        }
    }
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    if (gtk_widget_get_child_visible (child) && gtk_widget_get_mapped (child))
      assert_fits (child, what);
}

static void
assert_narrow (GtkWidget  *window,
               const char *what)
{
  gtk_window_set_default_size (GTK_WINDOW (window), NARROW, 700);
  vn_test_settle (600);
  g_assert_cmpint (gtk_widget_get_width (window), <=, NARROW);
  assert_fits (window, what);
}

/* What is seen at each width, for eyes. */
static void
take_pictures (GtkWidget  *window,
               const char *name)
{
  static const int widths[] = { 600, 800, 1100, 1280 };

  if (g_getenv ("VN_SCREENSHOTS") == NULL)
    return;
  for (guint dark = 0; dark < 2; dark++)
    for (guint i = 0; i < G_N_ELEMENTS (widths); i++)
      {
        g_autofree char *file = g_strdup_printf ("manners-%s-%d-%s", name, widths[i], dark ? "dark" : "light");

        adw_style_manager_set_color_scheme (adw_style_manager_get_default (), dark ? ADW_COLOR_SCHEME_FORCE_DARK : ADW_COLOR_SCHEME_FORCE_LIGHT);
        gtk_window_set_default_size (GTK_WINDOW (window), widths[i], 700);
        vn_test_settle (700);
        vn_test_screenshot (window, file);
      }
}

static void
test_width (Fixture       *fixture,
            gconstpointer  data)
{
  static const char * const pages[] = {
#define VN_PAGE(id, ...) #id,
#include "vn-pages.def"
#undef VN_PAGE
  };
  static const char * const steps[] = {
#define VN_WIZARD_STEP(id, title) #id,
#include "vn-wizard-steps.def"
#undef VN_WIZARD_STEP
  };
  GtkWidget *window = GTK_WIDGET (fixture->window), *dialog;
  VnWizard *wizard = VN_WIZARD (vn_test_find (window, VN_TYPE_WIZARD, NULL));

  assert_narrow (window, "empty");
  take_pictures (window, "empty");
  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  for (guint i = 0; i < G_N_ELEMENTS (pages); i++)
    {
      vn_window_show_page (fixture->window, pages[i]);
      vn_document_select_one (fixture->document, 2);
      vn_test_settle (400);
      assert_narrow (window, pages[i]);
      take_pictures (window, pages[i]);
    }
  gtk_widget_activate_action (window, "win.quantize", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      vn_wizard_begin (wizard, steps[i]);
      vn_test_settle (400);
      assert_narrow (window, steps[i]);
      take_pictures (window, steps[i]);
    }
  dialog = vn_settings_dialog_new (GTK_WINDOW (window), fixture->document);
  gtk_window_present (GTK_WINDOW (dialog));
  vn_test_settle (400);
  assert_narrow (dialog, "settings");
  gtk_window_destroy (GTK_WINDOW (dialog));
}

static AdwFlap *
find_flap (Fixture         *fixture,
           GtkPackType      side)
{
  GtkWidget *left = vn_test_find (GTK_WIDGET (fixture->window), ADW_TYPE_FLAP, NULL);

  return ADW_FLAP (side == GTK_PACK_START ? left : vn_test_find (adw_flap_get_content (ADW_FLAP (left)), ADW_TYPE_FLAP, NULL));
}

static void
resize (Fixture *fixture,
        int      width)
{
  gtk_window_set_default_size (GTK_WINDOW (fixture->window), width, 700);
  vn_test_settle (700);
}

static gboolean
press_escape (Fixture *fixture)
{
  GListModel *controllers = gtk_widget_observe_controllers (GTK_WIDGET (fixture->window));
  gboolean stopped = FALSE;

  for (guint i = 0; i < g_list_model_get_n_items (controllers) && !stopped; i++)
    {
      g_autoptr(GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (GTK_IS_EVENT_CONTROLLER_KEY (controller))
        g_signal_emit_by_name (controller, "key-pressed", GDK_KEY_Escape, 0, 0, &stopped);
    }
  g_object_unref (controllers);
  return stopped;
}

/* Beside the canvas where there is room; over it on demand below 1100 pixels. */
static void
test_folds (Fixture       *fixture,
            gconstpointer  data)
{
  GtkWidget *window = GTK_WIDGET (fixture->window);
  AdwFlap *inspector = find_flap (fixture, GTK_PACK_END), *outline = find_flap (fixture, GTK_PACK_START);
  GtkWidget *canvas = adw_flap_get_content (inspector);

  vn_window_fixture_open_model (fixture);
  resize (fixture, 1280);
  vn_document_select_one (fixture->document, 1);
  vn_test_settle (400);
  g_assert_true (adw_flap_get_reveal_flap (inspector) && adw_flap_get_reveal_flap (outline));
  g_assert_false (adw_flap_get_folded (inspector) || adw_flap_get_folded (outline));
  g_assert_cmpint (gtk_widget_get_width (canvas), <=, 1280 - 344 - 280);

  resize (fixture, 1100);
  g_assert_true (adw_flap_get_folded (inspector));
  g_assert_false (adw_flap_get_reveal_flap (inspector));
  g_assert_true (adw_flap_get_reveal_flap (outline) && !adw_flap_get_folded (outline));
  vn_document_select_one (fixture->document, 2);
  g_assert_true (adw_flap_get_reveal_flap (inspector));
  g_assert_true (press_escape (fixture));
  g_assert_false (adw_flap_get_reveal_flap (inspector));
  g_assert_false (press_escape (fixture));
  gtk_widget_activate_action (window, "win.toggle-inspector", NULL);
  g_assert_true (adw_flap_get_reveal_flap (inspector));
  gtk_widget_activate_action (window, "win.select-none", NULL);
  g_assert_false (adw_flap_get_reveal_flap (inspector));

  resize (fixture, 600);
  g_assert_true (adw_flap_get_folded (outline) && !adw_flap_get_reveal_flap (outline));
  gtk_widget_activate_action (window, "win.toggle-outline", NULL);
  g_assert_true (adw_flap_get_reveal_flap (outline));
  vn_document_select_one (fixture->document, 3);   /* as the outline does: there is no room for both */
  g_assert_true (adw_flap_get_reveal_flap (inspector));
  g_assert_false (adw_flap_get_reveal_flap (outline));

  resize (fixture, 1280);
  g_assert_true (adw_flap_get_reveal_flap (inspector) && adw_flap_get_reveal_flap (outline));
  vn_window_show_page (fixture->window, "nodes");
  g_assert_false (adw_flap_get_reveal_flap (inspector) || adw_flap_get_reveal_flap (outline));
  resize (fixture, 800);
  vn_window_show_page (fixture->window, "graph");
  resize (fixture, 1280);
  g_assert_true (adw_flap_get_reveal_flap (inspector) && adw_flap_get_reveal_flap (outline));
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/manners/width", Fixture, NULL, vn_window_fixture_set_up, test_width, vn_window_fixture_tear_down);
  g_test_add ("/manners/folds", Fixture, NULL, vn_window_fixture_set_up, test_folds, vn_window_fixture_tear_down);
  return g_test_run ();
}
