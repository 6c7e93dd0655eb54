/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Presets of preprocessing: the list of them, and what it shows of settings that are no preset's. */

#include "data-step-fixture.h"
#include "widget-fixture.h"

#include <glib/gstdio.h>

/* The names of presets are read whole in the list that opens. */
static void
test_preset_names (Fixture       *fixture,
                   gconstpointer  user_data)
{
  GtkWidget *step, *row, *label;

  vn_window_fixture_open_model (fixture);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.quantize", NULL);
  step = vn_test_find (GTK_WIDGET (fixture->window), g_type_from_name ("VnStepData"), NULL);
  row = vn_test_find (step, ADW_TYPE_COMBO_ROW, NULL);
  gtk_widget_set_sensitive (vn_test_find (step, g_type_from_name ("VnPreprocessRows"), NULL), TRUE);
  gtk_popover_popup (GTK_POPOVER (vn_test_find (row, GTK_TYPE_POPOVER, NULL)));
  vn_test_settle (600);
  label = vn_test_find (vn_test_find (row, GTK_TYPE_POPOVER, NULL), GTK_TYPE_LABEL, "MLPerf MobileNet: center crop, −1 to 1");
  g_assert_nonnull (label);
  g_assert_false (pango_layout_is_ellipsized (gtk_label_get_layout (GTK_LABEL (label))));
}

/* "Custom" is what the list shows of settings that are no preset's, and is not offered otherwise. */
static void
test_custom_preset (Fixture       *fixture,
                    gconstpointer  user_data)
{
  g_autofree char *model = vn_data_step_write_model (fixture->folder);
  g_autofree char *pictures = vn_data_step_write_pictures (fixture->folder, 2);
  guint n;
  GtkWidget *rows, *preset, *mean;
  GListModel *names;

  vn_preprocess_presets (&n);
  vn_data_step_show (fixture, model, pictures);
  rows = vn_test_find (GTK_WIDGET (fixture->window), g_type_from_name ("VnPreprocessRows"), NULL);
  preset = vn_test_find (rows, ADW_TYPE_COMBO_ROW, NULL);
  mean = vn_test_find (rows, ADW_TYPE_ENTRY_ROW, NULL);
  names = adw_combo_row_get_model (ADW_COMBO_ROW (preset));

  for (guint round = 0; round < 2; round++)
    {
      adw_combo_row_set_selected (ADW_COMBO_ROW (preset), round);
      gtk_editable_set_text (GTK_EDITABLE (mean), "0.125 0.25 0.375");
      g_signal_emit_by_name (mean, "apply");
      g_assert_cmpuint (g_list_model_get_n_items (names), ==, n + 1);
      g_assert_cmpuint (adw_combo_row_get_selected (ADW_COMBO_ROW (preset)), ==, n);
      g_assert_cmpfloat (vn_bench_get_data (VN_BENCH (fixture->document))->preprocess.mean[1], ==, 0.25f);
    }
  adw_combo_row_set_selected (ADW_COMBO_ROW (preset), 1);
  g_assert_cmpuint (g_list_model_get_n_items (names), ==, n);
  g_assert_cmpuint (adw_combo_row_get_selected (ADW_COMBO_ROW (preset)), ==, 1);
  vn_test_settle (50);
  g_unlink (model);
  vn_data_step_remove_folder (pictures);
}

/* Each preset stays the one that was chosen, and is what the samples are read with. */
static void
test_presets (Fixture       *fixture,
              gconstpointer  user_data)
{
  g_autofree char *model = vn_data_step_write_model (fixture->folder);
  g_autofree char *pictures = vn_data_step_write_pictures (fixture->folder, 2);
  guint n;
  const VnPreprocessPreset *presets = vn_preprocess_presets (&n);
  GtkWidget *row;

  vn_data_step_show (fixture, model, pictures);
  row = vn_test_find (GTK_WIDGET (fixture->window), g_type_from_name ("VnPreprocessRows"), NULL);
  row = vn_test_find (row, ADW_TYPE_COMBO_ROW, NULL);
  for (guint i = n; i-- > 0; )
    {
      adw_combo_row_set_selected (ADW_COMBO_ROW (row), i);
      g_assert_true (vn_preprocess_find_preset (&vn_bench_get_data (VN_BENCH (fixture->document))->preprocess) == &presets[i]);
      g_assert_cmpuint (adw_combo_row_get_selected (ADW_COMBO_ROW (row)), ==, i);
      g_assert_cmpuint (g_list_model_get_n_items (adw_combo_row_get_model (ADW_COMBO_ROW (row))), ==, n);
    }
  vn_test_settle (50);
  g_unlink (model);
  vn_data_step_remove_folder (pictures);
}

int
main (int   argc,
      char *argv[])
{
  vn_window_fixture_init (&argc, &argv);

  g_test_add ("/preprocess/names", Fixture, NULL, vn_window_fixture_set_up, test_preset_names, vn_window_fixture_tear_down);
  g_test_add ("/preprocess/custom", Fixture, NULL, vn_window_fixture_set_up, test_custom_preset, vn_window_fixture_tear_down);
  g_test_add ("/preprocess/each", Fixture, NULL, vn_window_fixture_set_up, test_presets, vn_window_fixture_tear_down);
  return g_test_run ();
}
