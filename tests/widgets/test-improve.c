/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where error starts comes in after the result, without anybody waiting for it; graph and lists then go by it. What is tried
 * tells what it gained, and improving is one step that can be undone. */
#include "vn-cure-offers.h"
#include "vn-cures-list.h"
#include "vn-format.h"
#include "vn-graph-view.h"
#include "vn-improve-panel.h"
#include "vn-inspector.h"
#include "vn-legend.h"
#include "vn-node-item.h"
#include "vn-origins-list.h"
#include "vn-swatch.h"
#include "vn-weakest.h"
#include "vn-wizard.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static void
count_signal (guint *n)
{
  (*n)++;
}

/* The result is there at once, export and rules are possible, and then it comes again with its origins. */
static void
test_come_in (Fixture       *fixture,
              gconstpointer  data)
{
  guint n_results = 0, n_metrics = 0;
  VnRun *plain;
  g_autoptr(VnRun) keep = NULL;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  g_signal_connect_swapped (fixture->document, "changed::run", G_CALLBACK (count_signal), &n_results);
  g_signal_connect_swapped (fixture->document, "metric-changed", G_CALLBACK (count_signal), &n_metrics);
  plain = vn_bench_get_shown (VN_BENCH (fixture->document));
  keep = vn_run_ref (plain);
  g_assert_null (plain->contributions);
  g_assert_nonnull (vn_bench_get_origins_job (VN_BENCH (fixture->document)));
  g_assert_null (vn_bench_get_job (VN_BENCH (fixture->document)));   /* nobody has to wait */
  g_assert_cmpint (vn_document_get_metric (fixture->document), ==, VN_METRIC_SQNR);
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  g_assert_cmpuint (n_results, ==, 1);
  g_assert_cmpuint (n_metrics, ==, 1);
  g_assert_null (plain->contributions);                      /* whoever has the first keeps it */
  g_assert_cmpint (vn_document_get_metric (fixture->document), ==, VN_METRIC_CONTRIBUTION);
  g_assert_false (vn_bench_is_stale (VN_BENCH (fixture->document)));
  g_assert_cmpuint (vn_bench_get_runs (VN_BENCH (fixture->document))->len, ==, 1);
  g_signal_handlers_disconnect_by_data (fixture->document, &n_results);   /* the document lives longer than these */
  g_signal_handlers_disconnect_by_data (fixture->document, &n_metrics);
}

/* Overlay and lists go by the share; what the user chooses stays, also after the next run. */
static void
test_metric (Fixture       *fixture,
             gconstpointer  data)
{
  VnLegend *legend;
  VnNodeItem *item;
  double sum = 0;

  vn_window_fixture_find_origins (fixture);
  vn_test_settle (300);
  legend = VN_LEGEND (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_LEGEND, NULL));
  g_assert_cmpint (vn_legend_get_metric (legend), ==, VN_METRIC_CONTRIBUTION);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-origins");
  for (guint i = 0; i < g_list_model_get_n_items (vn_document_get_nodes (fixture->document)); i++)
    {
      g_autoptr(VnNodeItem) node = g_list_model_get_item (vn_document_get_nodes (fixture->document), i);

      g_test_message ("%s: %g", node->label, node->metrics[VN_METRIC_CONTRIBUTION]);
      g_assert_cmpint (node->metric, ==, VN_METRIC_CONTRIBUTION);
    }
  item = vn_window_fixture_get_item (fixture, "/left/conv");
  sum = item->metrics[VN_METRIC_CONTRIBUTION];
  g_assert_cmpfloat (sum, >, 0);
  g_assert_cmpfloat (sum, <, 1);
  vn_document_set_metric (fixture->document, VN_METRIC_COSINE);
  g_assert_cmpint (vn_legend_get_metric (legend), ==, VN_METRIC_COSINE);
  g_assert_cmpint (item->metric, ==, VN_METRIC_COSINE);
  vn_document_select_one (fixture->document, item->index);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.set-precision", "s", "16");
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  g_assert_cmpint (vn_document_get_metric (fixture->document), ==, VN_METRIC_COSINE);
}

/* Each value once, the largest share first, and the parts are the whole. */
static void
test_list (Fixture       *fixture,
           gconstpointer  data)
{
  g_autoptr(GPtrArray) weakest = NULL;
  VnRun *result;
  double last = 1, all = 0;

  vn_window_fixture_find_origins (fixture);
  result = vn_bench_get_shown (VN_BENCH (fixture->document));
  weakest = vn_weakest_list (fixture->document);
  g_assert_cmpuint (weakest->len, >=, 3);
  for (guint i = 0; i < weakest->len; i++)
    {
      VnNodeItem *item = g_ptr_array_index (weakest, i);
      g_autoptr(GArray) parts = vn_weakest_list_parts (result, item);
      double sum = 0;

      g_assert_cmpfloat (item->metrics[VN_METRIC_CONTRIBUTION], <=, last);
      last = item->metrics[VN_METRIC_CONTRIBUTION];
      for (guint k = 0; k < parts->len; k++)
        sum += vn_contributions_get (result->contributions, g_array_index (parts, guint, k))->share;
      g_assert_cmpfloat_with_epsilon (sum, last, 1e-9);
      all += last;
    }
  g_assert_cmpfloat (all, <=, 1 + 1e-9);
  g_assert_cmpfloat (all, >, 0.5);
}

static void
test_cancel (Fixture       *fixture,
             gconstpointer  data)
{
  GtkWidget *wizard, *list, *find;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  g_assert_nonnull (vn_bench_get_origins_job (VN_BENCH (fixture->document)));
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.cancel-job", NULL);
  g_assert_null (vn_bench_get_origins_job (VN_BENCH (fixture->document)));
  vn_test_settle (200);
  g_assert_null (vn_bench_get_shown (VN_BENCH (fixture->document))->contributions);
  wizard = vn_window_fixture_open_review (fixture);
  list = vn_test_find (wizard, VN_TYPE_ORIGINS_LIST, NULL);
  find = vn_test_find (list, GTK_TYPE_BUTTON, "_Find Error Sources");
  g_assert_true (gtk_widget_get_visible (find));
  g_assert_nonnull (vn_test_find (list, GTK_TYPE_LABEL, "Weakest Nodes"));
  g_signal_emit_by_name (find, "clicked");
  g_assert_nonnull (vn_bench_get_origins_job (VN_BENCH (fixture->document)));
  g_assert_false (gtk_widget_get_visible (find));
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  g_assert_nonnull (vn_test_find (list, GTK_TYPE_LABEL, "Error Sources"));
  g_assert_false (gtk_widget_get_visible (find));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

/* The inspector tells activation, weights and bias apart. */
static void
test_inspector (Fixture       *fixture,
                gconstpointer  data)
{
  GtkWidget *inspector;
  VnNodeItem *item;

  vn_window_fixture_find_origins (fixture);
  inspector = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_INSPECTOR, NULL);
  item = vn_window_fixture_get_item (fixture, "/left/conv");
  vn_document_select_one (fixture->document, item->index);
  vn_test_settle (200);
  g_assert_nonnull (vn_test_find (inspector, GTK_TYPE_LABEL, "Error Introduced Here"));
  g_assert_nonnull (vn_test_find (inspector, ADW_TYPE_ACTION_ROW, "Activation"));
  g_assert_nonnull (vn_test_find (inspector, ADW_TYPE_ACTION_ROW, "Weight"));
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-inspector");
}

/* A fix from the list is a step like any other, and afterwards it says what it gained; what was in vain is not offered again. */
static void
test_gain (Fixture       *fixture,
           gconstpointer  data)
{
  g_autoptr(GPtrArray) weakest = NULL;
  g_autofree char *key = NULL;
  const VnEffect *effect;
  VnNodeItem *worst;
  GtkWidget *wizard, *cures;

  vn_window_fixture_find_origins (fixture);
  weakest = vn_weakest_list (fixture->document);
  worst = g_ptr_array_index (weakest, 0);
  wizard = vn_window_fixture_open_review (fixture);
  cures = vn_test_find (wizard, VN_TYPE_CURES_LIST, NULL);
  g_signal_emit_by_name (vn_test_find (vn_test_find (wizard, VN_TYPE_ORIGINS_LIST, NULL), GTK_TYPE_BUTTON, "Exclude"), "clicked");
  key = vn_bench_dup_precision_key (VN_BENCH (fixture->document), worst->index, VN_NODE_FLOAT);
  effect = vn_bench_find_effect (VN_BENCH (fixture->document), key);
  g_assert_nonnull (effect);
  g_assert_false (effect->measured);
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  effect = vn_bench_find_effect (VN_BENCH (fixture->document), key);
  g_assert_true (effect->measured);
  g_assert_cmpfloat (effect->after_db, ==,
                     vn_error_table_get_outputs_sqnr (vn_bench_get_shown (VN_BENCH (fixture->document))->errors));
  g_test_message ("%s: %g -> %g dB", effect->title, effect->before_db, effect->after_db);
  g_assert_true (vn_bench_is_in_force (VN_BENCH (fixture->document), effect));
  g_assert_nonnull (vn_test_find (cures, ADW_TYPE_ACTION_ROW, effect->title));
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-review");
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.undo", NULL);
  g_assert_false (vn_bench_is_in_force (VN_BENCH (fixture->document), effect));
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

static gboolean
has_trials (gpointer data)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (data));

  return vn_window_fixture_has_origins (data) && result->diagnosis != NULL && vn_diagnosis_get_n_trials (result->diagnosis) > 0;
}

/* Each reason is there with its cure; measured, it says what it gains, and what does not help is not offered. Applied, it gains
 * that, and undone it is offered again. */
static void
test_cures (Fixture       *fixture,
            gconstpointer  data)
{
  g_autoptr(GPtrArray) offers = NULL, measured = NULL;
  g_autoptr(GError) error = NULL;
  const VnCureOffer *first;
  const VnEffect *effect;
  GtkWidget *wizard, *list, *inspector;
  double gain;

  vn_window_fixture_find_origins (fixture);
  offers = vn_cure_offers_list (fixture->document, NULL);
  g_assert_cmpuint (offers->len, >, 0);
  first = g_ptr_array_index (offers, 0);
  g_assert_true (isnan (first->gain_db));
  inspector = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_INSPECTOR, NULL);
  vn_document_select_one (fixture->document, first->node);
  vn_test_settle (200);
  g_assert_nonnull (vn_test_find (inspector, GTK_TYPE_LABEL, "Suggested Fixes"));
  g_assert_nonnull (vn_test_find (inspector, ADW_TYPE_ACTION_ROW, first->title));
  g_assert_nonnull (vn_test_find (inspector, GTK_TYPE_BUTTON, "Apply"));

  wizard = vn_window_fixture_open_review (fixture);
  list = vn_test_find (wizard, VN_TYPE_CURES_LIST, NULL);
  g_assert_true (gtk_widget_get_visible (list));
  g_assert_nonnull (vn_test_find (list, ADW_TYPE_ACTION_ROW, first->title));
  g_signal_emit_by_name (vn_test_find (list, GTK_TYPE_BUTTON, "_Measure the Gains"), "clicked");
  g_assert_true (vn_test_wait (has_trials, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  measured = vn_cure_offers_list (fixture->document, NULL);
  g_assert_cmpuint (measured->len, >, 0);
  first = g_ptr_array_index (measured, 0);
  gain = first->gain_db;
  g_test_message ("%s: %g dB", first->step, gain);
  g_assert_cmpfloat (gain, >, 0.3);
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-cures");
  g_signal_emit_by_name (vn_test_find (list, GTK_TYPE_BUTTON, "Apply"), "clicked");
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  effect = vn_bench_find_effect (VN_BENCH (fixture->document), first->key);
  g_assert_true (effect->measured);
  g_assert_true (vn_effect_has_helped (effect));
  g_assert_cmpfloat_with_epsilon (effect->after_db - effect->before_db, gain, 1e-6);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.undo", NULL);
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  g_assert_nonnull (vn_test_find (list, ADW_TYPE_ACTION_ROW, first->title));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

static void
measure_cures (Fixture   *fixture,
               GtkWidget *list)
{
  g_signal_emit_by_name (vn_test_find (list, GTK_TYPE_BUTTON, "_Measure the Gains"), "clicked");
  g_assert_true (vn_test_wait (has_trials, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

/* All cures that measured a gain are one step, which says before what it may win and after what it has won; undone it is offered
 * again. */
static void
test_apply_all (Fixture       *fixture,
                gconstpointer  data)
{
  g_autoptr(GPtrArray) offers = NULL;
  g_autoptr(VnCureBundle) bundle = NULL;
  g_autoptr(VnRecipe) before = NULL;
  g_autofree char *said = NULL, *gain = NULL;
  VnHeadlineKind scale;
  const VnEffect *effect;
  GtkWidget *list, *all, *row;

  vn_window_fixture_find_origins (fixture);
  list = vn_test_find (vn_window_fixture_open_review (fixture), VN_TYPE_CURES_LIST, NULL);
  all = vn_test_find (list, GTK_TYPE_BUTTON, "_Apply All");
  g_assert_false (gtk_widget_get_visible (all));     /* nothing is measured yet */
  measure_cures (fixture, list);
  before = vn_recipe_copy (vn_bench_get_recipe (VN_BENCH (fixture->document)));
  offers = vn_cure_offers_list (fixture->document, NULL);
  bundle = vn_cure_bundle_new (fixture->document, offers);
  g_assert_nonnull (bundle);
  g_test_message ("%s: +%g to +%g dB", bundle->key, bundle->least_db, bundle->most_db);
  g_assert_cmpuint (bundle->n, >=, 2);
  g_assert_cmpfloat (bundle->most_db, >, bundle->least_db);
  g_assert_true (gtk_widget_get_visible (all));
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-apply-all");
  g_signal_emit_by_name (all, "clicked");
  g_assert_true (vn_recipe_equal (bundle->recipe, vn_bench_get_recipe (VN_BENCH (fixture->document))));
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  effect = vn_cure_bundle_find_effect (fixture->document);
  g_assert_nonnull (effect);
  g_assert_true (effect->measured);
  g_test_message ("%g -> %g dB", effect->before_db, effect->after_db);
  g_assert_cmpfloat (effect->after_db, ==,
                     vn_error_table_get_outputs_sqnr (vn_bench_get_shown (VN_BENCH (fixture->document))->errors));
  g_assert_true (vn_effect_has_helped (effect));
  scale = vn_cure_offers_get_scale (fixture->document);
  gain = vn_headline_dup_gain (&effect->before, &effect->after, scale);     /* of what the verdict rests on */
  said = g_strconcat (scale == VN_HEADLINE_OUTPUTS ? "outputs " : "mask IoU ", gain, NULL);
  row = vn_test_find (list, ADW_TYPE_ACTION_ROW, effect->title);
  g_assert_nonnull (row);
  g_assert_cmpstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (row)), ==, said);
  g_assert_nonnull (vn_test_find (row, GTK_TYPE_LABEL, "Applied"));
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-applied-all");
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.undo", NULL);    /* one step */
  g_assert_true (vn_recipe_equal (before, vn_bench_get_recipe (VN_BENCH (fixture->document))));
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  g_assert_true (gtk_widget_get_visible (all));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

/* What did not help is named where the next is offered, and when nothing is left that is said; no sentence comes twice. */
static void
test_in_vain (Fixture       *fixture,
              gconstpointer  data)
{
  g_autoptr(GHashTable) sentences = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const VnFinding *finding;
  g_autoptr(GArray) cures = NULL;
  VnNodeItem *item = NULL;
  guint number = 0, n_offered = 0;

  vn_window_fixture_find_origins (fixture);
  {
    g_autoptr(GPtrArray) offers = vn_cure_offers_list (fixture->document, NULL);
    const VnCureOffer *first = g_ptr_array_index (offers, 0);

    number = first->finding;
    item = g_list_model_get_item (vn_document_get_nodes (fixture->document), first->node);
  }
  finding = vn_diagnosis_get (vn_bench_get_shown (VN_BENCH (fixture->document))->diagnosis, number);
  cures = vn_reason_list_cures (finding->reason);
  for (guint i = 0; i <= cures->len; i++)
    {
      g_autoptr(GPtrArray) offers = vn_cure_offers_list (fixture->document, NULL);
      const VnCureOffer *offer = NULL;
      VnEffect *effect;

      for (guint k = 0; k < offers->len && offer == NULL; k++)
        if (((const VnCureOffer *) g_ptr_array_index (offers, k))->finding == number)
          offer = g_ptr_array_index (offers, k);
      g_assert_nonnull (offer);
      g_assert_true (g_hash_table_add (sentences, g_strdup_printf ("%s|%s", offer->title, offer->in_vain)));
      g_assert_true ((offer->in_vain != NULL) == (n_offered > 0));
      if (offer->recipe == NULL)
        {
          g_assert_cmpstr (offer->title, ==, "No more fixes to try here");
          break;
        }
      n_offered++;
      effect = g_new0 (VnEffect, 1);                 /* as if it had been tried */
      effect->key = g_strdup (offer->key);
      effect->title = g_strdup (offer->step);
      effect->recipe = vn_recipe_copy (offer->recipe);
      effect->measured = TRUE;
      g_ptr_array_add (vn_bench_get_effects (VN_BENCH (fixture->document)), effect);
    }
  g_assert_cmpuint (n_offered, >=, 2);
  g_assert_cmpuint (g_hash_table_size (sentences), ==, n_offered + 1);
  g_object_unref (item);
}

static gboolean
has_improved (gpointer data)
{
  return vn_bench_get_tries (VN_BENCH (data)) != NULL && vn_window_fixture_has_origins (data);
}

/* The button tries, shows progress with the time left, takes the recipe as one step, and tells what each step gained. */
static void
test_improve (Fixture       *fixture,
              gconstpointer  data)
{
  g_autoptr(VnRecipe) before = NULL;
  double plain, improved;
  GtkWidget *wizard, *panel, *start;
  VnRun *result;

  vn_window_fixture_find_origins (fixture);
  before = vn_recipe_copy (vn_bench_get_recipe (VN_BENCH (fixture->document)));
  plain = vn_error_table_get_outputs_sqnr (vn_bench_get_shown (VN_BENCH (fixture->document))->errors);
  wizard = vn_window_fixture_open_review (fixture);
  panel = vn_test_find (wizard, VN_TYPE_IMPROVE_PANEL, NULL);
  start = vn_test_find (panel, GTK_TYPE_BUTTON, "_Improve Automatically");
  g_assert_cmpfloat (vn_bench_get_improve_seconds (VN_BENCH (fixture->document)), <, 0);
  gtk_switch_set_active (GTK_SWITCH (vn_test_find (panel, GTK_TYPE_SWITCH, NULL)), TRUE);
  g_signal_emit_by_name (start, "clicked");
  g_assert_true (vn_job_is (vn_bench_get_job (VN_BENCH (fixture->document)), VN_JOB_IMPROVE));
  g_assert_cmpfloat (vn_bench_get_improve_seconds (VN_BENCH (fixture->document)), >, 50);
  g_assert_true (gtk_widget_get_visible (gtk_widget_get_parent (vn_test_find (panel, GTK_TYPE_BUTTON, "_Cancel"))));
  vn_test_settle (30);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-improving");
  g_assert_true (vn_test_wait (has_improved, fixture->document, SECONDS));
  g_assert_cmpuint (fixture->n_failed, ==, 0);
  result = vn_bench_get_shown (VN_BENCH (fixture->document));
  improved = vn_error_table_get_outputs_sqnr (result->errors);
  g_test_message ("%g -> %g dB", plain, improved);
  g_assert_cmpfloat (improved, >, plain);
  g_assert_true (vn_recipe_equal (result->recipe, vn_bench_get_recipe (VN_BENCH (fixture->document))));
  g_assert_false (vn_recipe_equal (before, vn_bench_get_recipe (VN_BENCH (fixture->document))));
  g_assert_false (vn_bench_is_stale (VN_BENCH (fixture->document)));
  g_assert_true (gtk_widget_get_visible (vn_test_find (panel, GTK_TYPE_LABEL, "Results of Automatic Improvement")));
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-improved");
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.undo", NULL);
  g_assert_true (vn_recipe_equal (before, vn_bench_get_recipe (VN_BENCH (fixture->document))));
  g_assert_null (vn_bench_get_tries (VN_BENCH (fixture->document)));
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  g_assert_cmpfloat_with_epsilon (vn_error_table_get_outputs_sqnr (vn_bench_get_shown (VN_BENCH (fixture->document))->errors),
                                  plain, 1e-6);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.redo", NULL);
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  g_assert_cmpfloat_with_epsilon (vn_error_table_get_outputs_sqnr (vn_bench_get_shown (VN_BENCH (fixture->document))->errors),
                                  improved, 1e-6);
}

/* What was there before stays when improving is cancelled, or the recipe is changed under it. */
static void
test_improve_cancelled (Fixture       *fixture,
                        gconstpointer  data)
{
  g_autoptr(VnRecipe) before = NULL;
  g_autoptr(GError) error = NULL;
  VnNodeItem *item;

  vn_window_fixture_find_origins (fixture);
  before = vn_recipe_copy (vn_bench_get_recipe (VN_BENCH (fixture->document)));
  g_assert_true (vn_bench_improve (VN_BENCH (fixture->document), 60, FALSE, &error));
  g_assert_false (vn_bench_improve (VN_BENCH (fixture->document), 60, FALSE, NULL));
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.cancel-job", NULL);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  g_assert_null (vn_bench_get_tries (VN_BENCH (fixture->document)));
  g_assert_true (vn_recipe_equal (before, vn_bench_get_recipe (VN_BENCH (fixture->document))));
  g_assert_cmpuint (fixture->n_failed, ==, 0);

  item = vn_window_fixture_get_item (fixture, "/left/conv");
  g_assert_true (vn_bench_improve (VN_BENCH (fixture->document), 60, FALSE, &error));
  g_assert_true (vn_bench_try_precision (VN_BENCH (fixture->document), item->index, VN_NODE_FLOAT));
  g_assert_true (vn_test_wait (vn_window_fixture_has_origins, fixture->document, SECONDS));
  g_assert_null (vn_bench_get_tries (VN_BENCH (fixture->document)));
  g_assert_true (item->excluded);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

/* What ONNX Runtime is expected to do with each node, in words, and in the review what that comes to. */
static void
test_kernels (Fixture       *fixture,
              gconstpointer  data)
{
  GtkWidget *legend, *review;
  VnGraphView *view;
  VnOverlay *overlay;
  guint n_integer = 0, n_named = 0;

  vn_window_fixture_find_origins (fixture);
  g_assert_nonnull (vn_bench_get_shown (VN_BENCH (fixture->document))->forecast);
  legend = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_LEGEND, NULL);
  view = VN_GRAPH_VIEW (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_GRAPH_VIEW, NULL));
  gtk_drop_down_set_selected (GTK_DROP_DOWN (vn_test_find (legend, GTK_TYPE_DROP_DOWN, NULL)), VN_CHOICE_KERNELS);
  g_assert_cmpint (vn_legend_get_kind (VN_LEGEND (legend)), ==, VN_OVERLAY_KERNELS);
  g_assert_cmpint (vn_document_get_metric (fixture->document), ==, VN_METRIC_CONTRIBUTION);   /* lists stay with it */
  overlay = vn_graph_view_get_overlay (view);
  g_assert_cmpint (vn_overlay_get_kind (overlay), ==, VN_OVERLAY_KERNELS);
  for (guint i = 0; i < vn_overlay_get_n (overlay); i++)
    {
      const VnOverlayItem *item = vn_overlay_get (overlay, i);

      n_named += item->measured && *item->value != '\0';
      n_integer += g_str_equal (item->value, "integer");
      g_assert_false (item->is_bad);
    }
  g_assert_cmpuint (n_named, ==, 6);
  g_assert_cmpuint (n_integer, >=, 3);   /* the convolutions */
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-kernels");
  review = vn_test_find (vn_window_fixture_open_review (fixture), g_type_from_name ("VnStepReview"), NULL);
  g_assert_nonnull (vn_test_find (review, ADW_TYPE_ACTION_ROW, "Integer execution in ONNX Runtime, estimated"));
}

int
main (int    argc,
      char **argv)
{
  static const struct { const char *path; void (*func) (Fixture *, gconstpointer); } tests[] = {
    { "/origins/come-in", test_come_in },
    { "/origins/metric", test_metric },
    { "/origins/list", test_list },
    { "/origins/cancel", test_cancel },
    { "/origins/inspector", test_inspector },
    { "/origins/gain", test_gain },
    { "/origins/kernels", test_kernels },
    { "/improve/cures", test_cures },
    { "/improve/apply-all", test_apply_all },
    { "/improve/in-vain", test_in_vain },
    { "/improve/button", test_improve },
    { "/improve/cancelled", test_improve_cancelled },
  };

  vn_window_fixture_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, vn_window_fixture_set_up, tests[i].func, vn_window_fixture_tear_down);
  return g_test_run ();
}
