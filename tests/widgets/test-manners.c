/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Manners of the window: every page fits 600 pixels, side panels fold and open, preferences change what they say, and a
 * screen reader is told what there is. */
#include "vn-adaptive-bin.h"
#include "vn-document.h"
#include "vn-graph-edit.h"
#include "vn-graph-view.h"
#include "vn-page.h"
#include "vn-parallel.h"
#include "vn-preferences.h"
#include "vn-settings.h"
#include "vn-settings-dialog.h"
#include "vn-wizard.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <string.h>

#define NARROW 600

#define VN_PAGE(id, ...) GType vn_##id##_page_get_type (void);
#include "vn-pages.def"
#undef VN_PAGE

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

static gboolean
fits (gpointer data)
{
  GtkWidget *widget = data;

  if (VN_IS_ADAPTIVE_BIN (widget) && get_min_width (gtk_widget_get_first_child (widget)) > gtk_widget_get_width (widget))
    return FALSE;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    if (gtk_widget_get_child_visible (child) && gtk_widget_get_mapped (child) && !fits (child))
      return FALSE;
  return TRUE;
}

/* However slow the machine. */
static void
set_width (GtkWidget *window,
           int        width)
{
  gtk_window_set_default_size (GTK_WINDOW (window), width, 700);
  for (guint i = 0; i < 100 && ABS (gtk_widget_get_width (window) - width) > 20; i++)
    vn_test_settle (100);
  vn_test_settle (700);
}

static void
assert_narrow (GtkWidget  *window,
               const char *what)
{
  set_width (window, NARROW);
  vn_test_wait (fits, window, 10);
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

        adw_style_manager_set_color_scheme (adw_style_manager_get_default (), dark
                                            ? ADW_COLOR_SCHEME_FORCE_DARK : ADW_COLOR_SCHEME_FORCE_LIGHT);
        gtk_window_set_default_size (GTK_WINDOW (window), widths[i], 700);
        vn_test_settle (700);
        vn_test_screenshot (window, file);
      }
}

/* What is on a button of the header bar is read whole. */
static void
check_whole (GtkWidget *widget,
             gboolean   in_button)
{
  if (!gtk_widget_get_mapped (widget) || GTK_IS_POPOVER (widget))
    return;
  if (in_button && GTK_IS_LABEL (widget) && pango_layout_is_ellipsized (gtk_label_get_layout (GTK_LABEL (widget))))
    g_test_fail_printf ("“%s” is cut off", gtk_label_get_text (GTK_LABEL (widget)));
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    check_whole (child, in_button || GTK_IS_BUTTON (widget));
}

static void
check_headers (GtkWidget *widget)
{
  if (ADW_IS_HEADER_BAR (widget))
    check_whole (widget, FALSE);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    check_headers (child);
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
      check_headers (window);
      take_pictures (window, pages[i]);
    }
  gtk_widget_activate_action (window, "win.quantize", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      vn_wizard_begin (wizard, steps[i]);
      vn_test_settle (400);
      assert_narrow (window, steps[i]);
      check_headers (window);
      take_pictures (window, steps[i]);
    }
  dialog = vn_settings_dialog_new (GTK_WINDOW (window), fixture->document);
  gtk_window_present (GTK_WINDOW (dialog));
  vn_test_settle (400);
  assert_narrow (dialog, "settings");
  gtk_window_destroy (GTK_WINDOW (dialog));
}

/* Names of one letter, and an operator that nobody knows: every page shows them, and GTK has nothing to warn of. */
static void
test_short_names (Fixture       *fixture,
                  gconstpointer  data)
{
  static const char * const steps[] = { "model", "data", "target", "precision" };
  static const char * const pages[] = { "graph", "nodes" };
  GtkWidget *window = GTK_WIDGET (fixture->window);
  VnWizard *wizard = VN_WIZARD (vn_test_find (window, VN_TYPE_WIZARD, NULL));
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  VnShape shape = VN_SHAPE (1, 3, 16, 16);
  VnValue *x = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &shape);
  VnValue *y = vn_graph_add_value (model->graph, "y", VN_DTYPE_F32, &shape);
  GtkWidget *view;
  gboolean is_told = FALSE;

  vn_graph_add_node (model->graph, "w", "com.nobody", "Wonder", &x, 1, &y, 1);
  vn_graph_set_output (model->graph, 0, y);
  vn_bench_set_model (VN_BENCH (fixture->document), model);
  vn_document_select_one (fixture->document, 0);
  for (guint i = 0; i < G_N_ELEMENTS (pages); i++)
    {
      vn_window_show_page (fixture->window, pages[i]);
      vn_test_settle (300);
    }
  view = vn_test_find (window, VN_TYPE_GRAPH_VIEW, NULL);
  for (guint i = 0; i < 3; i++)   /* the input, the node, the output */
    {
      g_autofree char *label = vn_graph_view_dup_node_label (VN_GRAPH_VIEW (view), i);

      is_told |= strstr (label, "is not supported") != NULL;
    }
  g_assert_true (is_told);
  gtk_widget_activate_action (window, "win.quantize", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      vn_wizard_begin (wizard, steps[i]);
      vn_test_settle (400);
    }
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
  set_width (GTK_WIDGET (fixture->window), width);
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

/* ---- preferences ---- */

static void
test_preferences (Fixture       *fixture,
                  gconstpointer  data)
{
  GSettings *settings = vn_settings_get ();
  GtkWidget *dialog, *row;
  g_autoptr(VnDocument) document = NULL;

  if (settings == NULL)
    {
      g_test_skip ("the schema is not compiled");
      return;
    }
  vn_preferences_apply ();
  dialog = vn_preferences_new (GTK_WINDOW (fixture->window));
  gtk_window_present (GTK_WINDOW (dialog));
  vn_test_settle (400);
  vn_test_screenshot (dialog, "preferences");

  row = vn_test_find (dialog, ADW_TYPE_COMBO_ROW, "Colors");
  adw_combo_row_set_selected (ADW_COMBO_ROW (row), 2);
  g_assert_true (adw_style_manager_get_dark (adw_style_manager_get_default ()));
  adw_combo_row_set_selected (ADW_COMBO_ROW (row), 1);
  g_assert_false (adw_style_manager_get_dark (adw_style_manager_get_default ()));

  adw_combo_row_set_selected (ADW_COMBO_ROW (vn_test_find (dialog, ADW_TYPE_COMBO_ROW, "Target")), 1);
  row = vn_test_find (dialog, ADW_TYPE_ACTION_ROW, "Samples for Calibration");
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (vn_test_find (row, GTK_TYPE_SPIN_BUTTON, NULL)), 37);
  row = vn_test_find (dialog, ADW_TYPE_ACTION_ROW, "Held-Out Samples");
  row = vn_test_find (row, GTK_TYPE_SPIN_BUTTON, NULL);
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (row)), ==, "Usual");
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (row), 5);
  document = vn_document_new ();
  g_assert_cmpstr (vn_bench_get_recipe (VN_BENCH (document))->preset, !=,
                   vn_bench_get_recipe (VN_BENCH (fixture->document))->preset);
  g_assert_cmpuint (vn_bench_get_n_samples (VN_BENCH (document)), ==, 37);
  vn_document_use_folder (document, fixture->folder);
  g_assert_cmpint (vn_bench_get_data (VN_BENCH (document))->held_out, ==, 5);

  vn_parallel_limit_default_threads (0);
  g_settings_reset (settings, "preset");
  g_settings_reset (settings, "samples");
  g_settings_reset (settings, "held-out");
  g_settings_reset (settings, "color-scheme");
  gtk_window_destroy (GTK_WINDOW (dialog));
}

/* ---- what a screen reader is told ---- */

static gboolean
has_text (GtkWidget *widget)
{
  if (GTK_IS_LABEL (widget) && *gtk_label_get_text (GTK_LABEL (widget)) != 0)
    return TRUE;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    if (!GTK_IS_POPOVER (child) && has_text (child))
      return TRUE;
  return FALSE;
}

/* What can be worked; of these, what has words in it needs no other name. */
static gboolean
is_control (GtkWidget *widget,
            gboolean  *speaks)
{
  *speaks = GTK_IS_BUTTON (widget) || GTK_IS_MENU_BUTTON (widget) || GTK_IS_CHECK_BUTTON (widget) || GTK_IS_LIST_BOX_ROW (widget);
  return *speaks || GTK_IS_SWITCH (widget) || GTK_IS_SPIN_BUTTON (widget) || GTK_IS_SEARCH_ENTRY (widget) ||
         GTK_IS_ENTRY (widget) ||
         GTK_IS_DROP_DOWN (widget) || GTK_IS_LIST_BOX (widget) || GTK_IS_LIST_VIEW (widget) || GTK_IS_COLUMN_VIEW (widget) ||
         GTK_IS_PROGRESS_BAR (widget) || VN_IS_GRAPH_VIEW (widget);
}

static gboolean
is_named (GtkWidget *widget)
{
  GtkAccessible *accessible = GTK_ACCESSIBLE (widget);

  return gtk_test_accessible_has_property (accessible, GTK_ACCESSIBLE_PROPERTY_LABEL) ||
         gtk_test_accessible_has_relation (accessible, GTK_ACCESSIBLE_RELATION_LABELLED_BY);
}

/* Parts of a spin button, an entry or a drop-down belong to it, and lists within popovers to what opens them. */
static guint
check_names (GtkWidget  *widget,
             const char *where)
{
  gboolean speaks;
  guint n = 0;

  if (!gtk_widget_get_mapped (widget) || GTK_IS_POPOVER (widget) || GTK_IS_WINDOW_CONTROLS (widget))
    return 0;
  if (is_control (widget, &speaks))
    {
      n = 1;
      if (!is_named (widget) && !(speaks && has_text (widget)))
        {
          GtkWidget *row = gtk_widget_get_ancestor (widget, ADW_TYPE_PREFERENCES_ROW);

          g_test_message ("%s: %s in %s has no name (tooltip “%s”, row “%s”)", where, G_OBJECT_TYPE_NAME (widget),
                          G_OBJECT_TYPE_NAME (gtk_widget_get_parent (widget)), gtk_widget_get_tooltip_text (widget),
                          row != NULL ? adw_preferences_row_get_title (ADW_PREFERENCES_ROW (row)) : "");
          g_test_fail ();
        }
      /* GTK 4.8 names a button by its label with the underscore, beside the label that is read anyway. */
      if (GTK_IS_BUTTON (widget) && gtk_button_get_use_underline (GTK_BUTTON (widget)) && has_text (widget) &&
          gtk_test_accessible_has_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL))
        {
          g_test_message ("%s: the button “%s” is named twice", where, gtk_button_get_label (GTK_BUTTON (widget)));
          g_test_fail ();
        }
      if ((!GTK_IS_LIST_BOX (widget) && !GTK_IS_LIST_BOX_ROW (widget)) || ADW_IS_COMBO_ROW (widget))
        return n;
    }
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
    n += check_names (child, where);
  return n;
}

static void
test_names (Fixture       *fixture,
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
  GtkWidget *window = GTK_WIDGET (fixture->window), *view, *dialog;
  VnWizard *wizard = VN_WIZARD (vn_test_find (window, VN_TYPE_WIZARD, NULL));

  g_assert_cmpuint (check_names (window, "empty"), >, 3);
  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  vn_document_select_one (fixture->document, 2);
  for (guint i = 0; i < G_N_ELEMENTS (pages); i++)
    {
      vn_window_show_page (fixture->window, pages[i]);
      vn_test_settle (500);
      g_assert_cmpuint (check_names (window, pages[i]), >, 10);
    }
  vn_window_show_page (fixture->window, "graph");
  vn_test_settle (300);
  view = vn_test_find (window, VN_TYPE_GRAPH_VIEW, NULL);
  gtk_test_accessible_assert_role (view, GTK_ACCESSIBLE_ROLE_GROUP);
  g_assert_true (gtk_test_accessible_has_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION));
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      gtk_widget_activate_action (window, "win.quantize", NULL);
      vn_wizard_begin (wizard, steps[i]);
      vn_test_settle (500);
      g_assert_cmpuint (check_names (GTK_WIDGET (wizard), steps[i]), >, 5);
    }
  dialog = vn_settings_dialog_new (GTK_WINDOW (window), fixture->document);
  gtk_window_present (GTK_WINDOW (dialog));
  vn_test_settle (400);
  g_assert_cmpuint (check_names (dialog, "settings"), >, 20);
  gtk_window_destroy (GTK_WINDOW (dialog));
  if (vn_settings_get () == NULL)
    return;
  dialog = vn_preferences_new (GTK_WINDOW (window));
  gtk_window_present (GTK_WINDOW (dialog));
  vn_test_settle (400);
  g_assert_cmpuint (check_names (dialog, "preferences"), >, 5);
  gtk_window_destroy (GTK_WINDOW (dialog));
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/manners/width", Fixture, NULL, vn_window_fixture_set_up, test_width, vn_window_fixture_tear_down);
  g_test_add ("/manners/short-names", Fixture, NULL, vn_window_fixture_set_up, test_short_names, vn_window_fixture_tear_down);
  g_test_add ("/manners/folds", Fixture, NULL, vn_window_fixture_set_up, test_folds, vn_window_fixture_tear_down);
  g_test_add ("/manners/preferences", Fixture, NULL, vn_window_fixture_set_up, test_preferences, vn_window_fixture_tear_down);
  g_test_add ("/manners/names", Fixture, NULL, vn_window_fixture_set_up, test_names, vn_window_fixture_tear_down);
  return g_test_run ();
}
