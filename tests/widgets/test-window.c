/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The way through the window: open a model, quantize it on random values, look at the errors, leave a node
 * in float, take that back. */
#include "vn-document.h"
#include "vn-graph-edit.h"
#include "open-models.h"
#include "vn-node-item.h"
#include "vn-outline.h"
#include "vn-recipe-panel.h"
#include "vn-window-private.h"
#include "vn-wizard.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <glib/gstdio.h>
#include <string.h>

static void
test_empty (Fixture       *fixture,
            gconstpointer  data)
{
  GtkWidget *window = GTK_WIDGET (fixture->window);

  g_assert_true (vn_window_is_empty (fixture->window));
  g_assert_nonnull (vn_test_find (window, GTK_TYPE_BUTTON, "win.open"));
  g_assert_nonnull (vn_test_find (window, GTK_TYPE_BUTTON, "win.demo"));
  vn_test_screenshot (window, "small-empty");
}

static void
test_open_missing (Fixture       *fixture,
                   gconstpointer  data)
{
  g_autoptr(GFile) file = g_file_new_for_path ("/nonexistent/model.onnx");

  vn_window_open_file (fixture->window, file);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 1);
  g_assert_true (vn_window_is_empty (fixture->window));
}

static void
test_drop (Fixture       *fixture,
           gconstpointer  data)
{
  g_autoptr(GFile) folder = g_file_new_for_path (fixture->folder);
  g_autoptr(GFile) file = g_file_new_for_path (fixture->model_path);

  g_assert_false (vn_window_drop_file (fixture->window, folder));   /* samples need a model */
  g_assert_true (vn_window_drop_file (fixture->window, file));
  g_assert_true (vn_test_wait (vn_window_fixture_has_model, fixture->document, SECONDS));
  g_assert_true (vn_window_drop_file (fixture->window, folder));
  g_assert_nonnull (vn_bench_get_data (VN_BENCH (fixture->document)));
  g_assert_cmpstr (vn_bench_get_data (VN_BENCH (fixture->document))->path, ==, fixture->folder);
}

static void
test_measure (Fixture       *fixture,
              gconstpointer  data)
{
  guint n_measured = 0;

  vn_window_fixture_open_model (fixture);
  g_assert_cmpuint (g_list_model_get_n_items (vn_document_get_nodes (fixture->document)), ==, 6);
  vn_window_fixture_quantize (fixture);
  vn_test_settle (400);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-graph");
  for (guint i = 0; i < 6; i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (vn_document_get_nodes (fixture->document), i);
      VnRun *result = vn_bench_get_shown (VN_BENCH (fixture->document));
      const VnErrorRow *row = vn_run_get_node_error (result, item->node);

      g_test_message ("%s: %g dB, %s", item->label, item->metrics[VN_METRIC_SQNR],
                      vn_dtype_get_name (item->precision));
      if (row == NULL)
        continue;
      n_measured++;
      g_assert_true (item->measured);
      g_assert_cmpfloat (item->metrics[VN_METRIC_SQNR], ==, row->sqnr_db);
      g_assert_cmpfloat (item->metrics[VN_METRIC_COSINE], ==, row->cosine);
    }
  g_assert_cmpuint (n_measured, >=, 3);
}

static gboolean
is_quantized (Fixture    *fixture,
              const char *label)
{
  return vn_quant_plan_is_node_quantized (vn_bench_get_shown (VN_BENCH (fixture->document))->plan, label);
}

static void
assert_size (Fixture    *fixture,
             const char *expected)
{
  g_autofree char *text = vn_shape_to_string (vn_bench_get_size (VN_BENCH (fixture->document), "image"), "x");

  g_assert_cmpstr (text, ==, expected);
}

static void
samples_opened (GObject      *source,
                GAsyncResult *result,
                gpointer      user_data)
{
  *(GAsyncResult **) user_data = g_object_ref (result);
}

static gboolean
is_set (gpointer data)
{
  return *(gpointer *) data != NULL;
}

static VnDataset *
wait_for_samples (Fixture           *fixture,
                  const VnDataSpec  *data,
                  GError           **error)
{
  g_autoptr(GAsyncResult) result = NULL;

  vn_bench_open_dataset_async (VN_BENCH (fixture->document), data, NULL, samples_opened, &result);
  g_assert_null (result);   /* nothing is read before the main loop goes on */
  g_assert_true (vn_test_wait (is_set, &result, SECONDS));
  return vn_bench_open_dataset_finish (VN_BENCH (fixture->document), result, NULL, error);
}

static void
open_samples (Fixture    *fixture,
              const char *path)
{
  g_autoptr(VnDataSpec) data = vn_data_spec_new (path);
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(GError) error = NULL;

  vn_bench_set_data (VN_BENCH (fixture->document), data);
  dataset = wait_for_samples (fixture, data, &error);
  g_assert_no_error (error);
  g_assert_nonnull (dataset);
}

/* Open sizes are those of the first picture; what the user says goes before, and can be taken back. */
static void
test_open_sizes (Fixture       *fixture,
                 gconstpointer  data)
{
  g_autoptr(VnModel) model = open_model_pictures ();
  g_autofree char *path = g_build_filename (fixture->folder, "one.pgm", NULL);
  g_autoptr(GString) picture = g_string_new ("P2\n70 99\n255\n");
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < 70 * 99; i++)
    g_string_append_printf (picture, "%u\n", i % 256);
  g_assert_true (g_file_set_contents (path, picture->str, -1, NULL));
  vn_bench_set_model (VN_BENCH (fixture->document), model);
  assert_size (fixture, "1x3x?x?");
  open_samples (fixture, "random");
  assert_size (fixture, "1x3x224x224");
  vn_bench_set_input_shape (VN_BENCH (fixture->document), "image", &VN_SHAPE (1, 3, 40, -1));
  open_samples (fixture, "random");
  assert_size (fixture, "1x3x40x40");
  vn_bench_set_input_shape (VN_BENCH (fixture->document), "image", &VN_SHAPE (1, 3, -1, -1));
  open_samples (fixture, fixture->folder);
  assert_size (fixture, "1x3x96x64");
  vn_bench_set_input_shape (VN_BENCH (fixture->document), "image", &VN_SHAPE (1, 3, 40, 48));
  open_samples (fixture, fixture->folder);
  assert_size (fixture, "1x3x40x48");
  vn_bench_set_input_shape (VN_BENCH (fixture->document), "image", &VN_SHAPE (1, 3, -1, -1));
  assert_size (fixture, "1x3x?x?");

  vn_bench_quantize (VN_BENCH (fixture->document), &error);
  g_assert_no_error (error);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  assert_size (fixture, "1x3x96x64");
}

static void
test_exclude_and_undo (Fixture       *fixture,
                       gconstpointer  data)
{
  VnNodeItem *item;
  double before;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  item = vn_window_fixture_get_item (fixture, "/left/conv");
  before = item->metrics[VN_METRIC_SQNR];
  vn_document_select_one (fixture->document, item->index);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.exclude", NULL);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_test_message ("%g dB before, %g dB in float", before, item->metrics[VN_METRIC_SQNR]);
  g_assert_true (item->excluded);
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 1);
  g_assert_false (vn_bench_is_stale (VN_BENCH (fixture->document)));
  g_assert_false (is_quantized (fixture, "/left/conv"));

  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.undo", NULL);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_false (item->excluded);
  g_assert_cmpfloat (item->metrics[VN_METRIC_SQNR], ==, before);
  g_assert_true (is_quantized (fixture, "/left/conv"));
  g_assert_true (vn_bench_can_redo (VN_BENCH (fixture->document)));
  g_assert_false (vn_bench_can_undo (VN_BENCH (fixture->document)));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

static void
test_precision (Fixture       *fixture,
                gconstpointer  data)
{
  VnNodeItem *item;
  GtkWidget *rules;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  item = vn_window_fixture_get_item (fixture, "/right/conv");
  vn_document_select_one (fixture->document, item->index);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.set-precision", "s", "16");
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  g_assert_cmpint (item->precision, ==, VN_DTYPE_U16);
  g_assert_true (item->has_rule);
  g_assert_false (item->excluded);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.exclude", NULL);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_true (item->excluded);
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 1);
  vn_test_settle (100);
  rules = GTK_WIDGET (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_RECIPE_PANEL, NULL));
  gtk_switch_set_active (GTK_SWITCH (vn_test_find (rules, GTK_TYPE_SWITCH, NULL)), FALSE);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_false (item->excluded);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.undo", NULL);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_true (item->excluded);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.restore", NULL);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_cmpint (item->precision, ==, VN_DTYPE_U8);
  g_assert_false (item->has_rule);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

/* Rules call nodes without a name by their number in the opened file, whatever preparation moves. */
static void
test_exclude_unnamed (Fixture       *fixture,
                      gconstpointer  data)
{
  VnNodeItem *item;
  VnRun *result;
  const VnTensorPlan *row;

  vn_window_fixture_write_model (fixture->model_path, FALSE);
  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  item = vn_window_fixture_get_item (fixture, "Conv #3");
  g_assert_nonnull (item);
  g_assert_cmpstr (item->name, ==, "Conv #3");   /* what rules call it is what is shown */
  vn_document_select_one (fixture->document, item->index);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.exclude", NULL);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  result = vn_bench_get_shown (VN_BENCH (fixture->document));
  row = vn_quant_plan_find (result->plan, "/left/conv.weight");
  g_assert_true (row == NULL || !row->quantized);
  row = vn_quant_plan_find (result->plan, "/right/conv.weight");
  g_assert_nonnull (row);
  g_assert_true (row->quantized);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

static gboolean
has_result (gpointer data)
{
  return vn_bench_get_shown (VN_BENCH (data)) != NULL && vn_window_fixture_is_idle (data);
}

static void
test_demo (Fixture       *fixture,
           gconstpointer  data)
{
  VnRun *result;

  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.demo", NULL);
  if (vn_window_is_empty (fixture->window))
    {
      g_test_skip ("the demo is not there");
      return;
    }
  g_assert_true (vn_test_wait (has_result, fixture->document, SECONDS));
  result = vn_bench_get_shown (VN_BENCH (fixture->document));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  g_assert_true (result->accuracy.valid);
  g_test_message ("float %u, quantized %u of %u", result->accuracy.float_top1, result->accuracy.quant_top1,
                  result->accuracy.n);
  g_assert_cmpuint (result->accuracy.float_top1 * 10, >=, result->accuracy.n * 8);
  vn_test_settle (800);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "demo");
}

static void
test_cancel (Fixture       *fixture,
             gconstpointer  data)
{
  g_autoptr(VnDataSpec) random = vn_data_spec_new ("random");

  vn_window_fixture_open_model (fixture);
  vn_bench_set_n_samples (VN_BENCH (fixture->document), 20000);
  vn_bench_set_data (VN_BENCH (fixture->document), random);
  g_assert_true (vn_bench_quantize (VN_BENCH (fixture->document), NULL));
  /* no turn of the main loop between the two: on a busy machine the run may have ended after any wait */
  g_assert_nonnull (vn_bench_get_job (VN_BENCH (fixture->document)));
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.cancel-job", NULL));
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_null (vn_bench_get_shown (VN_BENCH (fixture->document)));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

static gboolean
has_no_toast (gpointer window)
{
  return vn_test_find (window, g_type_from_name ("AdwToastWidget"), NULL) == NULL;
}

static gboolean
is_going (gpointer toast)
{
  return !gtk_widget_get_can_target (toast);
}

/* Its time is over before a frame was drawn, as in a hidden window, and then as much as it takes to slide out: for so long the
 * main loop does not turn. */
static void
test_toast (Fixture       *fixture,
            gconstpointer  data)
{
  GtkWidget *toast;
  GSource *time;

  vn_window_fixture_open_model (fixture);
  g_assert_true (vn_test_wait (has_no_toast, fixture->window, SECONDS));
  vn_bench_report (VN_BENCH (fixture->document), "said once");
  toast = vn_test_find (GTK_WIDGET (fixture->window), g_type_from_name ("AdwToastWidget"), NULL);
  g_assert_nonnull (toast);
  time = g_main_context_find_source_by_user_data (NULL, VN_WINDOW (fixture->window)->toast);
  g_assert_nonnull (time);
  g_assert_cmpint (g_source_get_ready_time (time), >, g_get_monotonic_time () + G_USEC_PER_SEC);
  g_source_set_ready_time (time, 0);
  g_usleep (G_USEC_PER_SEC / 2);
  g_assert_true (vn_test_wait (is_going, toast, SECONDS));
  g_usleep (G_USEC_PER_SEC / 2);
  g_assert_true (vn_test_wait (has_no_toast, fixture->window, SECONDS));
}

static void
test_selection (Fixture       *fixture,
                gconstpointer  data)
{
  GtkWidget *table, *outline;
  GtkSelectionModel *in_table, *in_outline;
  g_autoptr(GtkBitset) selected = NULL;

  vn_window_fixture_open_model (fixture);
  /* the table has no rows while it is not seen */
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.show-page", "s", "nodes");
  vn_test_settle (300);
  table = vn_test_find (GTK_WIDGET (fixture->window), GTK_TYPE_COLUMN_VIEW, NULL);
  outline = vn_test_find (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_OUTLINE, NULL), GTK_TYPE_LIST_VIEW,
                          NULL);
  in_table = gtk_column_view_get_model (GTK_COLUMN_VIEW (table));
  in_outline = gtk_list_view_get_model (GTK_LIST_VIEW (outline));
  /* rows: the scope "stem", then four nodes on top */
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (in_outline)), ==, 5);
  gtk_selection_model_select_item (in_outline, 2, TRUE);
  selected = gtk_selection_model_get_selection (in_table);
  g_assert_cmpuint (gtk_bitset_get_size (selected), ==, 1);
  g_assert_true (gtk_bitset_contains (vn_document_get_selection (fixture->document), 3));

  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.next-node", NULL);
  g_assert_true (gtk_selection_model_is_selected (in_outline, 3));
  g_assert_false (gtk_selection_model_is_selected (in_outline, 2));

  gtk_selection_model_select_item (in_outline, 0, TRUE);
  g_assert_cmpuint (gtk_bitset_get_size (vn_document_get_selection (fixture->document)), ==, 2);
  vn_document_select_one (fixture->document, 1);   /* hidden in the scope until now */
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (in_outline)), ==, 7);
  g_assert_true (gtk_selection_model_is_selected (in_outline, 2));
  g_assert_false (gtk_selection_model_is_selected (in_outline, 0));
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.select-all", NULL);
  g_assert_cmpuint (gtk_bitset_get_size (vn_document_get_selection (fixture->document)), ==, 6);
  g_assert_true (gtk_selection_model_is_selected (in_table, 5));
}

static void
test_grow_selection (Fixture       *fixture,
                     gconstpointer  data)
{
  /* 0 stem conv, 1 stem relu, 2 left, 3 right, 4 add, 5 head relu */
  static const struct { guint from[2]; const char *way; guint64 nodes; } cases[] = {
    { { 1, 4 }, "between", 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 },
    { { 2, 3 }, "between", 1 << 2 | 1 << 3 },
    { { 1, 1 }, "similar", 1 << 1 | 1 << 5 },
    { { 2, 2 }, "upstream", 1 << 0 | 1 << 1 | 1 << 2 },
    { { 3, 3 }, "downstream", 1 << 3 | 1 << 4 | 1 << 5 },
  };

  vn_window_fixture_open_model (fixture);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GtkBitset) from = gtk_bitset_new_empty ();
      guint64 found = 0;

      gtk_bitset_add (from, cases[i].from[0]);
      gtk_bitset_add (from, cases[i].from[1]);
      vn_document_select (fixture->document, from);
      gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.grow-selection", "s", cases[i].way);
      for (guint k = 0; k < 6; k++)
        if (gtk_bitset_contains (vn_document_get_selection (fixture->document), k))
          found |= (guint64) 1 << k;
      g_test_message ("%u, %u %s: %" G_GINT64_MODIFIER "x", cases[i].from[0], cases[i].from[1], cases[i].way, found);
      g_assert_cmphex (found, ==, cases[i].nodes);
    }
}

static void
test_wizard (Fixture       *fixture,
             gconstpointer  data)
{
  static const char * const steps[] = {
#define VN_WIZARD_STEP(id, title) #id,
#include "vn-wizard-steps.def"
#undef VN_WIZARD_STEP
  };
  g_autoptr(VnDataSpec) random = vn_data_spec_new ("random");
  VnWizard *wizard;

  vn_window_fixture_open_model (fixture);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.quantize", NULL);
  wizard = VN_WIZARD (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_WIZARD, NULL));
  vn_wizard_go_next (wizard);
  vn_wizard_go_next (wizard);
  g_assert_cmpstr (vn_wizard_get_step (wizard), ==, "target");   /* nothing chosen yet: it takes samples */
  g_signal_emit_by_name (vn_test_find (GTK_WIDGET (wizard), GTK_TYPE_BUTTON, "_Back"), "clicked");
  g_assert_cmpstr (vn_wizard_get_step (wizard), ==, "data");

  vn_bench_set_n_samples (VN_BENCH (fixture->document), 10);
  vn_bench_set_data (VN_BENCH (fixture->document), random);
  vn_test_settle (300);
  for (guint i = 1; i < G_N_ELEMENTS (steps); i++)
    {
      g_autofree char *name = g_strdup_printf ("small-wizard-%s", steps[i]);

      g_assert_cmpstr (vn_wizard_get_step (wizard), ==, steps[i]);
      g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
      vn_test_settle (300);
      vn_test_screenshot (GTK_WIDGET (fixture->window), name);
      if (i + 1 < G_N_ELEMENTS (steps))
        vn_wizard_go_next (wizard);
    }
  g_assert_nonnull (vn_bench_get_shown (VN_BENCH (fixture->document)));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

/* Each line of the table is a page that its key shows, with its own side panels; searching goes to the page or, where that
 * cannot, to the outline. */
static void
test_pages (Fixture       *fixture,
            gconstpointer  data)
{
  static const struct { const char *id; gboolean has_panels; } pages[] = {
#define VN_PAGE(id, title, icon, has_panels) { #id, has_panels },
#include "vn-pages.def"
#undef VN_PAGE
  };
  GtkWidget *window = GTK_WIDGET (fixture->window), *stack;
  GtkApplication *app = gtk_window_get_application (GTK_WINDOW (window));

  vn_window_fixture_open_model (fixture);
  stack = vn_test_find (window, ADW_TYPE_VIEW_STACK, NULL);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (pages); i++)
    {
      guint page = i % G_N_ELEMENTS (pages);
      g_autofree char *action = g_strdup_printf ("win.show-page('%s')", pages[page].id);
      g_autofree char *key = g_strdup_printf ("<Alt>%u", page + 1);
      g_auto(GStrv) accels = gtk_application_get_accels_for_action (app, action);
      AdwFlap *flap;

      g_assert_cmpstr (accels[0], ==, key);
      g_assert_true (gtk_widget_activate_action (window, "win.show-page", "s", pages[page].id));
      g_assert_cmpstr (adw_view_stack_get_visible_child_name (ADW_VIEW_STACK (stack)), ==, pages[page].id);
      flap = ADW_FLAP (gtk_widget_get_ancestor (stack, ADW_TYPE_FLAP));
      if (i < G_N_ELEMENTS (pages))   /* later, searching has opened the outline */
        g_assert_cmpint (adw_flap_get_reveal_flap (flap), ==, pages[page].has_panels);
      gtk_widget_activate_action (window, "win.find", NULL);
      g_assert_nonnull (gtk_widget_get_ancestor (gtk_window_get_focus (GTK_WINDOW (window)), GTK_TYPE_SEARCH_ENTRY));
      g_assert_cmpint (gtk_widget_is_ancestor (gtk_window_get_focus (GTK_WINDOW (window)), stack), ==,
                       g_str_equal (pages[page].id, "nodes"));
    }
}

int
main (int    argc,
      char **argv)
{
  static const struct { const char *path; void (*func) (Fixture *, gconstpointer); } tests[] = {
    { "/window/empty", test_empty },
    { "/window/open-missing", test_open_missing },
    { "/window/drop", test_drop },
    { "/window/measure", test_measure },
    { "/window/open-sizes", test_open_sizes },
    { "/window/exclude-and-undo", test_exclude_and_undo },
    { "/window/precision", test_precision },
    { "/window/exclude-unnamed", test_exclude_unnamed },
    { "/window/demo", test_demo },
    { "/window/cancel", test_cancel },
    { "/window/toast", test_toast },
    { "/window/selection", test_selection },
    { "/window/grow-selection", test_grow_selection },
    { "/window/wizard", test_wizard },
    { "/window/pages", test_pages },
  };

  vn_window_fixture_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, vn_window_fixture_set_up, tests[i].func, vn_window_fixture_tear_down);
  return g_test_run ();
}
