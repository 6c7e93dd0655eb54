/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the wizard shows of presets and settings, and what a network gets that is quantized already. */
#include "vn-setting-row.h"
#include "vn-wizard-settings.h"
#include "vn-wizard-step.h"
#include "vn-wizard.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <string.h>

static VnWizard *
show_wizard (Fixture    *fixture,
             const char *step)
{
  VnWizard *wizard = VN_WIZARD (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_WIZARD, NULL));

  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.quantize", NULL);
  vn_wizard_begin (wizard, step);
  vn_test_settle (400);
  return wizard;
}

/* The row of a setting below @root: every one is made by the same hands. */
static GtkWidget *
find_setting (GtkWidget  *root,
              const char *id)
{
  const VnSetting *setting = vn_setting_row_get_setting (root);

  if (setting != NULL && g_str_equal (setting->id, id))
    return root;
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL; child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = find_setting (child, id);

      if (found != NULL)
        return found;
    }
  return NULL;
}

static gboolean
has_two_lines (gpointer row)
{
  return strchr (adw_action_row_get_subtitle (row), '\n') != NULL;
}

/* What is written in presets is shown as it is: an apostrophe is no markup; and below it what each makes of the model. */
static void
test_wizard_presets (Fixture       *fixture,
                     gconstpointer  data)
{
  guint n;
  const VnPreset * const *presets = vn_preset_list (&n);
  GtkWidget *wizard;
  guint n_told = 0;

  vn_window_fixture_open_model (fixture);
  wizard = GTK_WIDGET (show_wizard (fixture, "target"));
  for (guint i = 0; i < n; i++)
    {
      GtkWidget *row = vn_test_find (wizard, ADW_TYPE_ACTION_ROW, presets[i]->title);
      g_autoptr(VnRecipe) recipe = vn_recipe_new (presets[i]->id);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnCoverage) coverage = vn_coverage_new (vn_bench_get_model (VN_BENCH (fixture->document)), recipe, NULL, NULL,
                                                        &error);
      g_autofree char *text = coverage != NULL ? vn_coverage_dup_text (coverage) : NULL, *subtitle = NULL;

      g_assert_nonnull (vn_test_find (wizard, GTK_TYPE_LABEL, presets[i]->title));
      g_assert_true (vn_test_wait (has_two_lines, row, SECONDS));
      subtitle = g_strconcat (presets[i]->summary, "\n", text != NULL ? text : error->message, NULL);
      g_assert_cmpstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (row)), ==, subtitle);
      n_told += coverage != NULL;
    }
  g_assert_cmpuint (n_told, >=, 5);
}

/* Every line of the table has a row on its step, with its title and what it does. */
static void
test_wizard_settings (Fixture       *fixture,
                      gconstpointer  data)
{
  VnWizard *wizard;

  vn_window_fixture_open_model (fixture);
  wizard = show_wizard (fixture, "precision");
  g_assert_cmpuint (vn_wizard_setting_count (), >=, 4);
  for (guint i = 0; i < vn_wizard_setting_count (); i++)
    {
      VnWizardSetting line;
      GtkWidget *row, *step;

      vn_wizard_setting_get (i, &line);
      row = find_setting (GTK_WIDGET (wizard), line.setting->id);
      g_assert_nonnull (row);
      g_assert_cmpstr (adw_preferences_row_get_title (ADW_PREFERENCES_ROW (row)), ==, line.setting->title);
      g_assert_nonnull (gtk_widget_get_tooltip_text (row));
      step = gtk_widget_get_ancestor (row, VN_TYPE_WIZARD_STEP);
      g_assert_true (gtk_stack_get_child_by_name (GTK_STACK (gtk_widget_get_ancestor (step, GTK_TYPE_STACK)), line.step) == step);
    }
}

static gboolean
is_symmetric (gpointer data)
{
  return vn_bench_get_recipe (VN_BENCH (data))->symmetric_activations;
}

/* Returns: the place of what is chosen. */
static guint
choose (GtkWidget  *row,
        const char *title)
{
  GListModel *model = adw_combo_row_get_model (ADW_COMBO_ROW (row));

  for (guint i = 0;; i++)
    {
      g_autoptr(GtkStringObject) item = g_list_model_get_item (model, i);

      g_assert_nonnull (item);
      if (!g_str_equal (gtk_string_object_get_string (item), title))
        continue;
      adw_combo_row_set_selected (ADW_COMBO_ROW (row), i);
      return i;
    }
}

/* Rows follow the recipe, edit it, say what has no effect, refuse what is not allowed, and all of it can be undone. */
static void
test_wizard_rows (Fixture       *fixture,
                  gconstpointer  data)
{
  GtkWidget *wizard, *method, *percentile, *symmetric, *entry;
  const VnRecipe *recipe;
  guint n;

  vn_window_fixture_open_model (fixture);
  wizard = GTK_WIDGET (show_wizard (fixture, "precision"));
  symmetric = find_setting (wizard, "symmetric-activations");
  percentile = find_setting (wizard, "percentile");
  method = find_setting (wizard, "method");
  g_assert_cmpstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (method)), ==, "Minimum and maximum");
  g_assert_false (gtk_widget_get_sensitive (percentile));   /* of “minmax” */
  g_assert_nonnull (strstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (percentile)), "No effect here"));

  n = choose (method, "Percentile");
  recipe = vn_bench_get_recipe (VN_BENCH (fixture->document));
  g_assert_cmpstr (recipe->method, ==, "percentile");
  g_assert_cmpstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (method)), ==, "Percentile");
  g_assert_true (gtk_widget_get_sensitive (percentile));
  g_assert_null (strstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (percentile)), "No effect here"));

  entry = vn_test_find (percentile, GTK_TYPE_ENTRY, NULL);
  gtk_editable_set_text (GTK_EDITABLE (entry), "99.5");
  g_signal_emit_by_name (entry, "activate");
  g_assert_cmpfloat (vn_bench_get_recipe (VN_BENCH (fixture->document))->percentile, ==, 99.5);
  gtk_editable_set_text (GTK_EDITABLE (entry), "12");
  g_signal_emit_by_name (entry, "activate");
  g_assert_cmpfloat (vn_bench_get_recipe (VN_BENCH (fixture->document))->percentile, ==, 99.5);
  g_assert_true (gtk_widget_has_css_class (percentile, "error"));
  vn_test_settle (400);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-wizard-settings");

  adw_action_row_activate (ADW_ACTION_ROW (symmetric));
  g_assert_true (vn_test_wait (is_symmetric, fixture->document, SECONDS));
  g_assert_cmpstr (vn_bench_undo (VN_BENCH (fixture->document)), ==, "Symmetric activations");
  g_assert_cmpstr (vn_bench_undo (VN_BENCH (fixture->document)), ==, "Percentile");
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (entry)), ==, "99.999");
  g_assert_cmpstr (vn_bench_undo (VN_BENCH (fixture->document)), ==, "Range method");
  g_assert_cmpstr (vn_bench_get_recipe (VN_BENCH (fixture->document))->method, ==, "minmax");
  g_assert_cmpuint (adw_combo_row_get_selected (ADW_COMBO_ROW (method)), !=, n);
  g_assert_false (vn_bench_can_undo (VN_BENCH (fixture->document)));
}

/* A number that was typed is taken over when Tab leads out of its row, and one that was not changed is no change. */
static void
test_wizard_tab (Fixture       *fixture,
                 gconstpointer  data)
{
  GtkWidget *wizard, *percentile, *entry;

  vn_window_fixture_open_model (fixture);
  wizard = GTK_WIDGET (show_wizard (fixture, "precision"));
  percentile = find_setting (wizard, "percentile");
  choose (find_setting (wizard, "method"), "Percentile");
  entry = vn_test_find (percentile, GTK_TYPE_ENTRY, NULL);
  gtk_widget_grab_focus (entry);
  vn_test_settle (50);
  gtk_editable_set_text (GTK_EDITABLE (entry), "99.5");
  g_assert_true (gtk_widget_child_focus (GTK_WIDGET (fixture->window), GTK_DIR_TAB_FORWARD));
  vn_test_settle (200);
  g_assert_cmpfloat (vn_bench_get_recipe (VN_BENCH (fixture->document))->percentile, ==, 99.5);
  gtk_widget_grab_focus (entry);
  vn_test_settle (50);
  g_assert_true (gtk_widget_child_focus (GTK_WIDGET (fixture->window), GTK_DIR_TAB_BACKWARD));
  vn_test_settle (200);
  g_assert_cmpstr (vn_bench_undo (VN_BENCH (fixture->document)), ==, "Percentile");
  g_assert_cmpstr (vn_bench_undo (VN_BENCH (fixture->document)), ==, "Range method");
}

/* What is quantized already is shown, and not quantized again. */
static void
test_quantized (Fixture       *fixture,
                gconstpointer  data)
{
  g_autofree char *path = g_build_filename (fixture->folder, "small.q.onnx", NULL);
  g_autoptr(GFile) file = g_file_new_for_path (path);
  g_autoptr(GError) error = NULL;
  VnWizard *wizard;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_bench_export (VN_BENCH (fixture->document), path, NULL, FALSE, &error));
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  vn_bench_set_model (VN_BENCH (fixture->document), NULL);
  vn_window_open_file (fixture->window, file);
  g_assert_true (vn_test_wait (vn_window_fixture_has_model, fixture->document, SECONDS));
  vn_test_settle (200);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-quantized");
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.quantize", NULL);
  wizard = VN_WIZARD (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_WIZARD, NULL));
  vn_wizard_begin (wizard, NULL);
  vn_wizard_go_next (wizard);
  g_assert_cmpstr (vn_wizard_get_step (wizard), ==, "model");
  vn_test_settle (200);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-quantized-wizard");
}

int
main (int    argc,
      char **argv)
{
  static const struct { const char *path; void (*func) (Fixture *, gconstpointer); } tests[] = {
    { "/wizard-rows/presets", test_wizard_presets },
    { "/wizard-rows/settings", test_wizard_settings },
    { "/wizard-rows/rows", test_wizard_rows },
    { "/wizard-rows/tab", test_wizard_tab },
    { "/wizard-rows/quantized", test_quantized },
  };

  vn_window_fixture_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, vn_window_fixture_set_up, tests[i].func, vn_window_fixture_tear_down);
  return g_test_run ();
}
