/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run that fails because of a size that the user gave: one button leads to where it is set, from the graph and from the
 * assistant, and what was wrong is told there. */
#include "vn-data-card.h"
#include "vn-error.h"
#include "vn-input-sizes.h"
#include "vn-onnx.h"
#include "vn-wizard.h"
#include "open-models.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <string.h>

static GtkWidget *
find (Fixture    *fixture,
      GType       type,
      const char *name)
{
  return vn_test_find (GTK_WIDGET (fixture->window), type, name);
}

static gboolean
is_mapped (gpointer data)
{
  return gtk_widget_get_mapped (data);
}

/* Sizes must be even. */
static void
open_odd (Fixture *fixture)
{
  g_autoptr(VnModel) model = open_model_pictures ();
  g_autoptr(VnDataSpec) data = vn_data_spec_new (VN_DATA_RANDOM);

  g_assert_true (vn_onnx_write_file (model, fixture->model_path, NULL, NULL, NULL));
  vn_window_fixture_open_model (fixture);
  vn_bench_set_input_shape (VN_BENCH (fixture->document), "image", &VN_SHAPE (1, 3, 9, 8));
  vn_bench_set_data (VN_BENCH (fixture->document), data);
  vn_bench_set_n_samples (VN_BENCH (fixture->document), 4);
}

/* The row of the size has the cursor, and the card above says what failed. */
static void
assert_at_size (Fixture *fixture)
{
  VnWizard *wizard = VN_WIZARD (find (fixture, VN_TYPE_WIZARD, NULL));
  GtkWidget *row = vn_test_find (find (fixture, VN_TYPE_INPUT_SIZES, NULL), ADW_TYPE_ENTRY_ROW, "image"), *card;

  g_assert_true (vn_test_wait (is_mapped, row, SECONDS));
  g_assert_cmpstr (vn_wizard_get_step (wizard), ==, "data");
  g_assert_true (gtk_widget_is_ancestor (gtk_root_get_focus (GTK_ROOT (fixture->window)), row));
  card = find (fixture, VN_TYPE_DATA_CARD, NULL);
  g_assert_true (vn_test_wait (is_mapped, card, SECONDS));
  g_assert_nonnull (vn_test_find (card, GTK_TYPE_BUTTON, "Set Input _Sizes"));
  gtk_editable_set_text (GTK_EDITABLE (row), "1x3x8x8");
  g_signal_emit_by_name (row, "apply");
  vn_test_settle (600);
  g_assert_null (vn_test_find (card, GTK_TYPE_BUTTON, "Set Input _Sizes"));
}

static gboolean
has_button (gpointer data)
{
  GtkWidget *button = find (data, GTK_TYPE_BUTTON, "Set Input Size");

  return button != NULL && gtk_widget_get_mapped (button);
}

static void
test_graph (Fixture       *fixture,
            gconstpointer  user_data)
{
  g_autoptr(GError) error = NULL;

  open_odd (fixture);
  vn_bench_quantize (VN_BENCH (fixture->document), &error);
  if (error != NULL)
    vn_bench_report_error (VN_BENCH (fixture->document), "failed", error);
  g_assert_true (vn_test_wait (has_button, fixture, SECONDS));
  gtk_widget_activate (find (fixture, GTK_TYPE_BUTTON, "Set Input Size"));
  vn_test_settle (400);
  assert_at_size (fixture);
}

static gboolean
has_size_button (gpointer data)
{
  GtkWidget *button = find (data, GTK_TYPE_BUTTON, "Set Input _Size");

  return button != NULL && gtk_widget_get_mapped (button);
}

static gboolean
is_reviewing (gpointer data)
{
  return vn_bench_get_shown (data) != NULL && vn_bench_get_job (data) == NULL;
}

static void
test_assistant (Fixture       *fixture,
                gconstpointer  user_data)
{
  VnWizard *wizard = VN_WIZARD (find (fixture, VN_TYPE_WIZARD, NULL));

  open_odd (fixture);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.quantize", NULL);
  vn_test_settle (400);
  vn_wizard_begin (wizard, "calibrate");
  g_assert_true (vn_test_wait (has_size_button, fixture, SECONDS));
  vn_test_picture (GTK_WIDGET (fixture->window), "calibrate-size");
  gtk_widget_activate (find (fixture, GTK_TYPE_BUTTON, "Set Input _Size"));
  vn_test_settle (400);
  vn_test_picture (GTK_WIDGET (fixture->window), "edit-size");
  assert_at_size (fixture);
  vn_wizard_begin (wizard, "calibrate");
  g_assert_true (vn_test_wait (is_reviewing, fixture->document, SECONDS));
  g_assert_false (has_size_button (fixture));
}

/* Which input an error is about: one that it names, else one that is open; none where sizes are fixed, or it is of something
 * else. */
static void
test_which (Fixture       *fixture,
            gconstpointer  user_data)
{
  VnBench *bench = VN_BENCH (fixture->document);
  static const struct { int code; const char *message, *input; } cases[] = {
    { VN_ERROR_SHAPE, "Concat: input 1 is 3×5", "image" },
    { VN_ERROR_SHAPE, "The sample is of 9, but input “image” expects 8", "image" },
    { VN_ERROR_UNSUPPORTED, "a mask of this shape", "image" },   /* of random values */
    { VN_ERROR_MALFORMED, "the file is truncated", NULL },
    { VN_ERROR_SETTING, "percentile", NULL },
  };
  g_autoptr(GError) unsupported = NULL;

  open_odd (fixture);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = g_error_new_literal (VN_ERROR, cases[i].code, cases[i].message);

      g_assert_cmpstr (vn_bench_find_size (bench, error), ==, cases[i].input);
    }
  vn_bench_set_data (bench, NULL);
  unsupported = g_error_new_literal (VN_ERROR, VN_ERROR_UNSUPPORTED, "a mask of this shape");
  g_assert_null (vn_bench_find_size (bench, unsupported));
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  g_test_add ("/edit-size/which", Fixture, NULL, vn_window_fixture_set_up, test_which, vn_window_fixture_tear_down);
  g_test_add ("/edit-size/graph", Fixture, NULL, vn_window_fixture_set_up, test_graph, vn_window_fixture_tear_down);
  g_test_add ("/edit-size/assistant", Fixture, NULL, vn_window_fixture_set_up, test_assistant, vn_window_fixture_tear_down);
  return g_test_run ();
}
