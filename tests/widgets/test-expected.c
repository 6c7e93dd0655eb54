/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a change does is shown before a whole run tells: at once, without blocking anything; the run confirms it. What was
 * measured before comes back when a change is taken back, and what takes a whole run is offered one. */
#include "pace.h"
#include "vn-expected-bar.h"
#include "vn-graph-view.h"
#include "vn-inspector.h"
#include "vn-node-item.h"
#include "vn-wizard.h"
#include "widget-fixture.h"
#include "window-fixture.h"

/* What the main loop may compute at once: far more than it does. Time on the wall says little where tests run beside others. */
#define MOST_MS 500    /* of processor time; a machine that is busy makes all of it longer */

static gboolean
is_shown (gpointer data)
{
  return vn_bench_get_expecting (VN_BENCH (data)) == VN_EXPECTING_SHOWN;
}

static gboolean
is_refused (gpointer data)
{
  return vn_bench_get_expecting (VN_BENCH (data)) == VN_EXPECTING_REFUSED;
}

static double
get_outputs (Fixture *fixture)
{
  return vn_error_table_get_outputs_sqnr (vn_bench_get_shown (VN_BENCH (fixture->document))->errors);
}

/* Statistics serve again: with many samples to measure on, a run takes longer than the window needs to show something. */
static void
begin_with (Fixture *fixture,
            guint    n_samples,
            int      n_held_out)
{
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");

  vn_window_fixture_open_model (fixture);
  data->held_out = n_held_out;
  vn_bench_set_n_samples (VN_BENCH (fixture->document), n_samples);
  vn_bench_set_data (VN_BENCH (fixture->document), data);
  g_assert_true (vn_bench_quantize (VN_BENCH (fixture->document), NULL));
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  g_assert_cmpint (vn_bench_get_expecting (VN_BENCH (fixture->document)), ==, VN_EXPECTING_NOTHING);
}

static void
begin (Fixture *fixture)
{
  begin_with (fixture, 10, VN_HELD_OUT_USUAL);
}

static void
give_16_bits (Fixture    *fixture,
              const char *label)
{
  vn_document_select_one (fixture->document, vn_window_fixture_get_item (fixture, label)->index);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.set-precision", "s", "16");
}

static void
set (Fixture    *fixture,
     const char *id,
     const char *text)
{
  VnRecipe *recipe = vn_recipe_copy (vn_bench_get_recipe (VN_BENCH (fixture->document)));

  g_assert_true (vn_recipe_set (recipe, id, text, NULL));
  vn_bench_edit_recipe (VN_BENCH (fixture->document), recipe, id);
}

typedef struct { double last, most; } Watch;

static gboolean
watch_tick (gpointer data)
{
  Watch *watch = data;
  double took = vn_test_even_out (vn_test_get_own_time () - watch->last, MOST_MS);

  watch->most = MAX (watch->most, took);
  watch->last = vn_test_get_own_time ();
  return G_SOURCE_CONTINUE;
}

/* Graph, lists, inspector and outputs have the new figures before the run that confirms them has ended. */
static void
test_shown (Fixture       *fixture,
            gconstpointer  data)
{
  GtkWidget *bar, *inspector;
  VnGraphView *view;
  VnNodeItem *item;
  double before, expected, own;
  Watch watch;
  guint tick;

  begin_with (fixture, 1200, 600);
  before = get_outputs (fixture);
  item = vn_window_fixture_get_item (fixture, "/head/relu");
  own = item->metrics[VN_METRIC_SQNR];
  g_assert_cmpfloat (item->metrics[VN_METRIC_CONTRIBUTION], >, 0.001);
  bar = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_EXPECTED_BAR, NULL);
  watch = (Watch) { vn_test_get_own_time (), 0 };
  tick = g_timeout_add (2, watch_tick, &watch);
  give_16_bits (fixture, "/head/relu");
  g_assert_cmpint (vn_bench_get_expecting (VN_BENCH (fixture->document)), ==, VN_EXPECTING_SOON);
  g_assert_null (vn_bench_get_job (VN_BENCH (fixture->document)));
  g_assert_true (vn_test_wait (is_shown, fixture->document, SECONDS));
  g_source_remove (tick);
  g_test_message ("main loop busy for at most %.1f ms", watch.most);
  if (g_getenv ("VN_BENCHMARK") != NULL)
    g_assert_cmpfloat (watch.most, <, MOST_MS);
  g_assert_cmpint (vn_bench_get_shown (VN_BENCH (fixture->document))->state, ==, VN_RUN_ESTIMATED);
  g_assert_true (vn_job_is (vn_bench_get_job (VN_BENCH (fixture->document)), VN_JOB_QUANTIZE));
  g_assert_true (vn_bench_is_stale (VN_BENCH (fixture->document)));
  expected = get_outputs (fixture);
  g_test_message ("%g -> %g dB", before, expected);
  g_assert_cmpfloat (expected, >, before);
  g_assert_cmpfloat (item->metrics[VN_METRIC_SQNR], >, own);
  g_assert_cmpint (item->precision, ==, VN_DTYPE_U16);
  g_assert_cmpint (vn_document_get_metric (fixture->document), ==, VN_METRIC_CONTRIBUTION);   /* the overlay stays what it was */
  g_assert_cmpfloat (item->metrics[VN_METRIC_CONTRIBUTION], <, 0.001);
  view = VN_GRAPH_VIEW (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_GRAPH_VIEW, NULL));
  g_assert_nonnull (vn_graph_view_get_overlay (view));
  g_assert_nonnull (vn_test_find (bar, GTK_TYPE_LABEL, "Estimated"));
  inspector = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_INSPECTOR, NULL);
  g_assert_nonnull (vn_test_find (inspector, GTK_TYPE_LABEL, "Estimated; a full run will confirm it"));
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  g_assert_cmpint (vn_bench_get_shown (VN_BENCH (fixture->document))->state, >=, VN_RUN_MEASURED);
  g_assert_cmpfloat_with_epsilon (get_outputs (fixture), expected, 1);
  g_assert_null (vn_test_find (inspector, GTK_TYPE_LABEL, "Estimated; a full run will confirm it"));
  g_assert_cmpint (vn_bench_get_expecting (VN_BENCH (fixture->document)), ==, VN_EXPECTING_NOTHING);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

static gboolean
cancel_run (GSignalInvocationHint *hint,
            guint                  n_values,
            const GValue          *values,
            gpointer               document)
{
  if (g_value_get_object (&values[0]) == document && vn_bench_get_job (VN_BENCH (document)) != NULL && is_shown (document))
    vn_bench_cancel (VN_BENCH (document));
  return TRUE;
}

/* Cancelled before the window is told that the run has begun: on a busy machine it would be over before all pages show that.
 * It may be over even so: then another change is made. */
static void
leave_unconfirmed (Fixture *fixture)
{
  static const char * const nodes[] = { "/head/relu", "/stem/relu", "/left/conv", "/right/conv" };
  guint signal = g_signal_lookup ("changed", VN_TYPE_BENCH);
  gulong hook = g_signal_add_emission_hook (signal, 0, cancel_run, fixture->document, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (nodes) && !is_shown (fixture->document); i++)
    {
      give_16_bits (fixture, nodes[i]);
      g_assert_cmpint (vn_bench_get_expecting (VN_BENCH (fixture->document)), ==, VN_EXPECTING_SOON);
      g_assert_true (vn_test_wait (is_shown, fixture->document, SECONDS));
      g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
    }
  g_signal_remove_emission_hook (signal, hook);
}

/* Where the run is cancelled that would confirm it, it stays, and nothing is written of what was before. */
static void
test_unconfirmed (Fixture       *fixture,
                  gconstpointer  data)
{
  GtkWidget *bar;
  double expected;

  begin_with (fixture, 1200, 600);
  bar = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_EXPECTED_BAR, NULL);
  leave_unconfirmed (fixture);
  g_assert_true (is_shown (fixture->document));
  expected = get_outputs (fixture);
  g_assert_false (vn_bench_export (VN_BENCH (fixture->document), "never.onnx", NULL, FALSE, NULL));
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-expected");
  g_signal_emit_by_name (vn_test_find (bar, GTK_TYPE_BUTTON, "_Run Now"), "clicked");
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  g_assert_cmpint (vn_bench_get_expecting (VN_BENCH (fixture->document)), ==, VN_EXPECTING_NOTHING);
  g_assert_cmpfloat_with_epsilon (get_outputs (fixture), expected, 1);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

/* What was measured once is not measured again. */
static void
test_undo (Fixture       *fixture,
           gconstpointer  data)
{
  double before, after;

  begin (fixture);
  before = get_outputs (fixture);
  give_16_bits (fixture, "/stem/relu");
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.undo", NULL);   /* while it is measured */
  g_assert_cmpint (vn_bench_get_expecting (VN_BENCH (fixture->document)), ==, VN_EXPECTING_NOTHING);
  g_assert_null (vn_bench_get_job (VN_BENCH (fixture->document)));
  g_assert_cmpfloat (get_outputs (fixture), ==, before);
  g_assert_false (vn_bench_is_stale (VN_BENCH (fixture->document)));
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.redo", NULL);
  g_assert_true (vn_test_wait (is_shown, fixture->document, SECONDS));
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  after = get_outputs (fixture);
  g_assert_cmpfloat (after, !=, before);
  for (guint i = 0; i < 2; i++)
    {
      gtk_widget_activate_action (GTK_WIDGET (fixture->window), i == 0 ? "win.undo" : "win.redo", NULL);
      g_assert_null (vn_bench_get_job (VN_BENCH (fixture->document)));
      g_assert_cmpint (vn_bench_get_shown (VN_BENCH (fixture->document))->state, >=, VN_RUN_MEASURED);
      g_assert_nonnull (vn_bench_get_shown (VN_BENCH (fixture->document))->contributions);
      g_assert_cmpfloat (get_outputs (fixture), ==, i == 0 ? before : after);
    }
  g_assert_cmpuint (vn_bench_get_runs (VN_BENCH (fixture->document))->len, ==, 2);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

/* Each change gives up what was being measured for the one before; the last one counts. */
static void
test_quick_changes (Fixture       *fixture,
                    gconstpointer  data)
{
  static const char * const nodes[] = { "/stem/relu", "/left/conv", "/right/conv", "/head/relu" };

  begin (fixture);
  for (guint i = 0; i < G_N_ELEMENTS (nodes); i++)
    {
      give_16_bits (fixture, nodes[i]);
      vn_test_settle (i * 15);
    }
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  g_assert_true (vn_recipe_equal (vn_bench_get_shown (VN_BENCH (fixture->document))->recipe,
                                  vn_bench_get_recipe (VN_BENCH (fixture->document))));
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, G_N_ELEMENTS (nodes));
  g_assert_false (vn_bench_is_stale (VN_BENCH (fixture->document)));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

/* A whole run that nobody asked for is not begun, but offered with the reason; also in the assistant. */
static void
test_refused (Fixture       *fixture,
              gconstpointer  data)
{
  GtkWidget *bar, *run;
  double before;

  begin (fixture);
  before = get_outputs (fixture);
  bar = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_EXPECTED_BAR, NULL);
  set (fixture, "rounding", "second-order");
  g_assert_true (vn_test_wait (is_refused, fixture->document, SECONDS));
  g_assert_null (vn_bench_get_job (VN_BENCH (fixture->document)));
  g_assert_cmpint (vn_bench_get_shown (VN_BENCH (fixture->document))->state, >=, VN_RUN_MEASURED);
  g_assert_cmpfloat (get_outputs (fixture), ==, before);
  g_assert_nonnull (vn_test_find (bar, GTK_TYPE_LABEL, "Needs a Full Run"));
  g_assert_nonnull (vn_test_find (bar, GTK_TYPE_LABEL, vn_bench_get_refusal (VN_BENCH (fixture->document))));
  run = vn_test_find (bar, GTK_TYPE_BUTTON, "_Run Now");
  g_assert_true (gtk_widget_get_visible (run));
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-refused");
  g_signal_emit_by_name (run, "clicked");
  g_assert_false (gtk_widget_get_visible (run));
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  g_assert_nonnull (vn_bench_get_shown (VN_BENCH (fixture->document))->rounded);
  g_assert_cmpint (vn_bench_get_expecting (VN_BENCH (fixture->document)), ==, VN_EXPECTING_NOTHING);
  {
    VnNodeItem *item = vn_window_fixture_get_item (fixture, "/left/conv");
    g_autofree char *key = vn_bench_dup_precision_key (VN_BENCH (fixture->document), item->index, VN_NODE_FLOAT);
    const VnEffect *effect;

    g_assert_true (vn_bench_try_precision (VN_BENCH (fixture->document), item->index, VN_NODE_FLOAT));
    effect = vn_bench_find_effect (VN_BENCH (fixture->document), key);
    g_assert_true (vn_bench_is_measuring (VN_BENCH (fixture->document), effect));
    vn_bench_cancel (VN_BENCH (fixture->document));
    g_assert_false (vn_bench_is_measuring (VN_BENCH (fixture->document), effect));
    g_assert_true (is_refused (fixture->document));
    gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.undo", NULL);
    g_assert_cmpint (vn_bench_get_expecting (VN_BENCH (fixture->document)), ==, VN_EXPECTING_NOTHING);
  }
  /* weights that samples rounded stay as they are when something else changes */
  give_16_bits (fixture, "/head/relu");
  g_assert_true (vn_test_wait (is_shown, fixture->document, SECONDS));
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

int
main (int    argc,
      char **argv)
{
  static const struct { const char *path; void (*func) (Fixture *, gconstpointer); } tests[] = {
    { "/expected/shown", test_shown },
    { "/expected/unconfirmed", test_unconfirmed },
    { "/expected/undo", test_undo },
    { "/expected/quick-changes", test_quick_changes },
    { "/expected/refused", test_refused },
  };

  vn_window_fixture_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, vn_window_fixture_set_up, tests[i].func, vn_window_fixture_tear_down);
  return g_test_run ();
}
