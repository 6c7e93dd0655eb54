/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs: what one of them learns later, and what stays of it without networks. */
#include "vn-run.h"

#include "draw-run.h"
#include "mixed-models.h"
#include "vn-error.h"
#include "vn-quant-plan.h"

#include <math.h>

enum { IS_KEPT, IS_LIVE };

static const struct { const char *name, *take; gsize offset; int life; } facets[] = {
#define VN_RUN_FACET(SYMBOL, Type, field, take, release, life) { #field, #take, G_STRUCT_OFFSET (VnRun, field), IS_##life },
#include "vn-run-facets.def"
#undef VN_RUN_FACET
};

static gconstpointer
get_facet (const VnRun *run,
           guint        facet)
{
  return G_STRUCT_MEMBER (gpointer, run, facets[facet].offset);
}

/* What is shared is the same; of what is copied each has one. */
static void
check_same (const VnRun *a,
            const VnRun *b,
            guint        facet)
{
  gconstpointer x = get_facet (a, facet), y = get_facet (b, facet);

  g_test_message ("%s", facets[facet].name);
  g_assert_true ((x == NULL) == (y == NULL));
  if (x != NULL)
    g_assert_true ((x == y) == g_str_has_suffix (facets[facet].take, "_ref"));
}

/* A run that was never made: with all that files keep, and with a network. */
static VnRun *
make_run (guint seed)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (seed);
  VnRun *run = draw_run (rand);

  run->state = VN_RUN_MEASURED;
  run->source = mixed_model_pictures ();
  run->prepared = vn_model_ref (run->source);
  run->edits = vn_edit_log_new ();
  run->stats = vn_stats_new_empty ();
  g_clear_pointer (&run->nodes, g_ptr_array_unref);
  return run;
}

/* The same with whatever a run can have: what none has would not be compared. */
static VnRun *
make_full_run (guint seed)
{
  VnRun *run = make_run (seed);

  run->quantized = vn_model_ref (run->source);
  run->corrected = vn_model_ref (run->source);
  run->rounded = vn_model_ref (run->source);
  run->plan = vn_quant_plan_new (1);
  run->forecast = vn_runtime_forecast_new_empty ();
  run->diagnosis = vn_diagnosis_new_empty ();
  run->steps = g_ptr_array_new ();
  run->curve = vn_curve_new (VN_CURVE_COST_SIZE);
  run->spreads = g_ptr_array_new ();
  run->answers = vn_sample_answers_new ();
  run->nodes = g_ptr_array_new ();
  return run;
}

static void
test_filled (void)
{
  gboolean seen[VN_N_FACETS] = { FALSE };

  for (guint seed = 0; seed < 30; seed++)
    {
      g_autoptr(VnRun) run = make_full_run (seed);

      for (guint i = 0; i < VN_N_FACETS; i++)
        seen[i] = seen[i] || get_facet (run, i) != NULL;
    }
  for (guint i = 0; i < VN_N_FACETS; i++)
    {
      g_test_message ("%s", facets[i].name);
      g_assert_true (seen[i]);
    }
}

static gboolean
makes_invalid (guint facet,
               guint other)
{
  if (facet == VN_FACET_CONTRIBUTIONS)
    return other == VN_FACET_DIAGNOSIS;
  return other == VN_FACET_NODES && (facet == VN_FACET_SOURCE || facet == VN_FACET_PLAN || facet == VN_FACET_NAMES);
}

/* Each facet in turn is taken away: that one goes, and what it says it makes invalid, and nothing else. */
static void
test_with (void)
{
  g_autoptr(VnRun) run = make_full_run (3);

  for (guint i = 0; i < VN_N_FACETS; i++)
    {
      g_autoptr(VnRun) other = i != VN_FACET_RECIPE ? vn_run_with (run, i, NULL) : vn_run_with (run, i, run->recipe);

      g_assert_true (i == VN_FACET_RECIPE || get_facet (other, i) == NULL);
      for (guint k = 0; k < VN_N_FACETS; k++)
        if (makes_invalid (i, k))
          g_assert_null (get_facet (other, k));
        else if (k != i)
          check_same (run, other, k);
      g_assert_cmpint (other->state, ==, VN_RUN_MEASURED);
      g_assert_cmpuint (other->quantized_bytes, ==, run->quantized_bytes);
    }
}

/* What comes in is shared, marks errors and raises the state. */
static void
test_richer (void)
{
  g_autoptr(VnRun) run = make_run (4), marked = NULL, verified = NULL;
  g_autoptr(VnContributions) contributions = vn_contributions_new_empty ();
  g_autoptr(VnVerification) verification = vn_verification_new ();

  if (run->errors == NULL)
    run->errors = vn_error_table_new (2);
  run->diagnosis = vn_diagnosis_new_empty ();
  marked = vn_run_with (run, VN_FACET_CONTRIBUTIONS, contributions);
  g_assert_true (marked->contributions == contributions && marked->diagnosis == NULL && marked->errors != run->errors);
  g_assert_nonnull (run->diagnosis);
  verified = vn_run_with (marked, VN_FACET_VERIFICATION, verification);
  g_assert_true (verified->verification == verification && verified->errors == marked->errors);
  g_assert_cmpint (marked->state, ==, VN_RUN_MEASURED);
  g_assert_cmpint (verified->state, ==, VN_RUN_VERIFIED);
}

/* Without networks, and with the model again: rows are told for the same nodes. */
static void
test_networks (void)
{
  const VnKept kept = { VN_TASK_DETECTION, 1, 3, 2, 1, 2. / 3, NAN };
  g_autoptr(VnRun) run = make_run (5), record = NULL, again = NULL, other = NULL;
  g_autoptr(VnModel) stranger = mixed_model_words ();
  g_autoptr(GError) error = NULL;
  const GPtrArray *nodes = run->source->graph->nodes;
  const VnSampleAnswer *figure;
  VnSampleAnswer *answer;

  g_clear_pointer (&run->answers, g_ptr_array_unref);
  run->answers = vn_sample_answers_new ();
  answer = vn_sample_answer_new (7, &kept);
  answer->form = VN_ANSWER_BOXES;
  answer->first = g_array_new (FALSE, FALSE, sizeof (VnDetection));
  answer->other = g_array_new (FALSE, FALSE, sizeof (VnDetection));
  answer->partners = g_array_new (FALSE, FALSE, sizeof (guint));
  g_ptr_array_add (run->answers, answer);
  g_clear_pointer (&run->source_digest, g_free);
  run->source_digest = vn_model_dup_digest (run->source);
  record = vn_run_without_networks (run);
  for (guint i = 0; i < VN_N_FACETS; i++)
    if (facets[i].life == IS_LIVE)
      g_assert_null (get_facet (record, i));
  g_assert_cmpuint (record->answers->len, ==, 1);
  figure = g_ptr_array_index (record->answers, 0);
  g_assert_cmpuint (figure->kept.n_kept, ==, 2);
  g_assert_cmpint (figure->form, ==, VN_ANSWER_FIGURES);
  g_assert_true (figure->first == NULL && figure->partners == NULL);
  g_assert_cmpuint (record->nodes->len, ==, nodes->len);
  g_assert_cmpuint (record->n_nodes, ==, nodes->len);
  g_assert_true (record->spreads != NULL && record->notes == run->notes);
  again = vn_run_with_model (record, run->source, &error);
  g_assert_no_error (error);
  g_assert_true (again->source == run->source && again->prepared == NULL);
  for (guint i = 0; i < nodes->len; i++)
    {
      const VnIdentity *a = vn_identity_map_get (vn_run_get_identity (run), g_ptr_array_index (nodes, i));
      const VnIdentity *b = vn_identity_map_get (vn_run_get_identity (again), g_ptr_array_index (nodes, i));

      g_assert_cmpstr (a->source, ==, b->source);
      g_assert_cmpstr (a->prepared, ==, b->prepared);
      g_assert_cmpstr (a->rounded, ==, b->rounded);
    }
  other = vn_run_with_model (record, stranger, &error);
  g_assert_null (other);
  g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/run/filled", test_filled);
  g_test_add_func ("/run/with", test_with);
  g_test_add_func ("/run/richer", test_richer);
  g_test_add_func ("/run/networks", test_networks);
  return g_test_run ();
}
