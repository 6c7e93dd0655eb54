/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why quantizing costs what it costs: a network, samples or settings made to have each reason, and one that has none; and what is
 * measured of the cures. */
#include "diagnosis-network.h"

#include "diagnose-culprit.h"
#include "vn-cure-job.h"
#include "vn-cure.h"
#include "vn-dataset.h"
#include "vn-diagnose.h"
#include "vn-graph-edit.h"
#include "vn-noise-gain.h"
#include "vn-preflight.h"
#include "vn-thresholds.h"

#include <float.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static const VnFinding *
find_reason (VnDiagnosis *diagnosis,
             VnReason     reason)
{
  for (guint i = 0; i < vn_diagnosis_get_n (diagnosis); i++)
    if (vn_diagnosis_get (diagnosis, i)->reason == reason)
      return vn_diagnosis_get (diagnosis, i);
  return NULL;
}

static void
tell (VnDiagnosis *diagnosis)
{
  for (guint i = 0; i < vn_diagnosis_get_n (diagnosis); i++)
    {
      const VnFinding *finding = vn_diagnosis_get (diagnosis, i);

      g_test_message ("%u %s %.3f %s: %s", finding->rank, finding->tensor, finding->share, vn_reason_get_id (finding->reason),
                      finding->text);
    }
}

/* The tensor of each reason, and how far behind it may stand. */
static const struct { VnReason reason; const char *tensor; guint rank; } expected[] = {
  { VN_REASON_SAMPLES_UNLIKE, "", 0 },      { VN_REASON_SAMPLES_DIFFER, "", 0 },      { VN_REASON_FEW_SAMPLES, "", 0 },
  { VN_REASON_MIXED_OUTPUT, "both", 1 },    { VN_REASON_FEW_LEVELS, "w2", 1 },        { VN_REASON_CLIPPING, "middle", 1 },
  { VN_REASON_BIAS_OVERFLOW, "b1", 1 }, { VN_REASON_GATE_RANGE, "opened", 3 }, { VN_REASON_SOFTMAX_RANGE, "masked", 2 },
  { VN_REASON_CANCELLATION, "sum", 2 },
  { VN_REASON_UNEQUAL_INPUTS, "joined", 1 }, { VN_REASON_DEAD_CHANNEL, "middle", 1 }, { VN_REASON_CHANNEL_SPREAD, "middle", 2 },
  { VN_REASON_OUTLIERS, NULL, 1 },           { VN_REASON_WASTED_RANGE, NULL, 1 },   { VN_REASON_WEIGHT_SPREAD, "w1", 3 },
  { VN_REASON_WEIGHT_OUTLIER, "w1", 1 },    { VN_REASON_NOISE_GAIN, "", 0 },    { VN_REASON_ROUNDING, NULL, 1 },
  { VN_REASON_SATURATION, "w2", 9 },
};
G_STATIC_ASSERT (G_N_ELEMENTS (expected) == VN_N_REASONS);

/* A run that was made to have a reason has it, at the tensor it was made for. */
static void
test_reason (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  g_autoptr(VnRun) result = NULL;
  const VnFinding *finding;

  diagnosis_made = expected[i].reason;
  result = diagnosis_run (FALSE);
  g_assert_nonnull (result->diagnosis);
  tell (result->diagnosis);
  finding = find_reason (result->diagnosis, diagnosis_made);
  g_assert_nonnull (finding);
  if (expected[i].tensor != NULL)
    g_assert_cmpstr (finding->tensor, ==, expected[i].tensor);
  g_assert_cmpuint (finding->rank, <=, expected[i].rank);
  g_assert_nonnull (finding->text);
  if (expected[i].rank > 0)
    g_assert_cmpuint (finding->rank, >, 0);
}

/* One that was not has no reason but that numbers are rounded. */
static void
test_nothing (void)
{
  g_autoptr(VnRun) result = NULL;
  guint n = 0;

  diagnosis_made = VN_N_REASONS;
  result = diagnosis_run (FALSE);
  tell (result->diagnosis);
  for (guint i = 0; i < vn_diagnosis_get_n (result->diagnosis); i++, n++)
    g_assert_cmpint (vn_diagnosis_get (result->diagnosis, i)->reason, ==, VN_REASON_ROUNDING);
  g_assert_cmpuint (n, >, 2);
}

static void
check_first (VnRun      *result,
             double      share_error,
             const char *wanted)
{
  VnContributions *contributions = vn_contributions_new_empty ();
  g_autoptr(VnRun) changed = NULL;
  g_autoptr(VnDiagnosis) diagnosis = NULL;
  static const char * const names[] = { "x", "middle" };

  for (guint i = 0; i < 2; i++)
    {
      VnContribution item = { .name = g_strdup (names[i]), .node = g_strdup (i == 0 ? "" : "middle"),
                              .value = g_strdup (names[i]),
                              .role = VN_TENSOR_ACTIVATION, .local_db = 30, .alone_db = 30, .share = i == 0 ? 0.5 : 0.4,
                              .share_error = share_error, .n_samples = 4 };

      vn_contributions_add (contributions, &item);
    }
  changed = vn_run_with (result, VN_FACET_CONTRIBUTIONS, contributions);
  vn_contributions_unref (contributions);
  diagnosis = vn_diagnose (changed);
  tell (diagnosis);
  g_assert_cmpstr (vn_diagnosis_get (diagnosis, 0)->tensor, ==, wanted);
  g_assert_cmpuint (vn_diagnosis_get (diagnosis, 0)->rank, ==, 1);
}

/* Of two tensors that cannot be told apart the one with a reason is first. */
static void
test_uncertain (void)
{
  g_autoptr(VnRun) result = (diagnosis_made = VN_REASON_CHANNEL_SPREAD, diagnosis_run (FALSE));

  check_first (result, 0.01, "x");
  check_first (result, NAN, "x");
  check_first (result, 0.2, "middle");
}

/* Every reason offers something, and every cure is offered. */
static void
test_tables (void)
{
  gboolean offered[VN_N_CURES] = { FALSE };

  for (guint r = 0; r < VN_N_REASONS; r++)
    {
      g_autoptr(GArray) cures = vn_reason_list_cures ((VnReason) r);

      g_assert_cmpuint (cures->len, >, 0);
      for (guint i = 0; i < cures->len; i++)
        offered[g_array_index (cures, VnCure, i)] = TRUE;
    }
  for (guint c = 0; c < VN_N_CURES; c++)
    {
      VnCure cure;

      g_assert_true (offered[c]);
      g_assert_true (vn_cure_find (vn_cure_get_id ((VnCure) c), &cure));
      g_assert_cmpint (cure, ==, (VnCure) c);
    }
  g_assert_false (vn_cure_find ("prayer", &(VnCure) { 0 }));
}

/* What a cure is said to win is what a run with its recipe has. */
static void
check_trial (VnRun             *result,
             const VnCureTrial *trial)
{
  g_autoptr(VnModel) model = diagnosis_make_model ();
  g_autofree char *folder = diagnosis_make_samples ();
  g_autoptr(VnDataSpec) data = vn_data_spec_new (folder);
  VnQuantizeSettings settings = { .model = model, .data = data, .recipe = trial->recipe, .n_threads = 1 };
  g_autoptr(VnJob) job = NULL;

  data->held_out = N_HELD_OUT;
  job = vn_quantize_job_new (&settings);
  g_assert_true (vn_job_run (job, NULL, NULL));
  diagnosis_remove_samples (folder);
  g_assert_cmpfloat_with_epsilon (vn_error_table_get_outputs_sqnr (vn_quantize_job_get_result (job)->errors),
                                  trial->after_db, 1e-9);
  g_assert_false (vn_recipe_equal (trial->recipe, result->recipe));
}

static void
check_cures (VnReason    reason,
             const char *best,
             double      least_db)
{
  g_autoptr(VnRun) result = NULL;
  const VnCureTrial *trial;

  diagnosis_made = reason;
  result = diagnosis_run (TRUE);
  tell (result->diagnosis);
  for (guint i = 0; i < vn_diagnosis_get_n_trials (result->diagnosis); i++)
    {
      g_autofree char *text = vn_cure_trial_dup_text (vn_diagnosis_get_trial (result->diagnosis, i));

      trial = vn_diagnosis_get_trial (result->diagnosis, i);
      g_test_message ("%s %s: %s", trial->tensor, vn_cure_get_id (trial->cure), text);
      g_assert_true (trial->state != VN_TRIAL_NO_HELP || strstr (text, "did not help") != NULL);
    }
  trial = vn_diagnosis_find_best (result->diagnosis);
  g_assert_nonnull (trial);
  g_assert_cmpfloat (trial->after_db, >, trial->before_db + least_db);
  check_trial (result, trial);
  for (guint i = 0; i < vn_diagnosis_get_n_trials (result->diagnosis); i++)
    if (g_str_equal (vn_cure_get_id (vn_diagnosis_get_trial (result->diagnosis, i)->cure), best))
      {
        trial = vn_diagnosis_get_trial (result->diagnosis, i);
        g_assert_cmpint (trial->state, ==, VN_TRIAL_HELPED);
        g_assert_cmpfloat (trial->after_db, >, trial->before_db + least_db);
        return;
      }
  g_assert_not_reached ();
}

static void
test_cure_spread (void)
{
  check_cures (VN_REASON_CHANNEL_SPREAD, "equalize", 15);
}

static void
test_cure_clipping (void)
{
  check_cures (VN_REASON_CLIPPING, "seen-range", 10);
}

static void
test_cure_dead_channel (void)
{
  check_cures (VN_REASON_DEAD_CHANNEL, "live-range", 15);
}

static void
test_cure_offset (void)
{
  check_cures (VN_REASON_WASTED_RANGE, "balance", 10);
}

static void
test_cure_few_levels (void)
{
  check_cures (VN_REASON_FEW_LEVELS, "eight-bits", 5);
}

/* Other samples are told from other settings. */
static void
test_cure_samples (void)
{
  g_autoptr(VnRun) result = NULL;
  const VnCureTrial *trial;

  diagnosis_made = VN_REASON_SAMPLES_DIFFER;
  result = diagnosis_run (TRUE);
  g_assert_cmpuint (vn_diagnosis_get_n_trials (result->diagnosis), >, 0);
  trial = vn_diagnosis_get_trial (result->diagnosis, 0);
  g_assert_cmpstr (vn_cure_get_id (trial->cure), ==, "all-samples");
  g_assert_cmpint (trial->state, ==, VN_TRIAL_HELPED);
  g_assert_cmpfloat (trial->after_db, >, trial->before_db + 10);
}

/* ---- before calibration ---- */

static const VnNote *
find_note (VnNotes    *notes,
           const char *code)
{
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    {
      g_test_message ("%s %s: %s", vn_notes_get (notes, i)->code, vn_notes_get (notes, i)->subject,
                      vn_notes_get (notes, i)->text);
      if (g_str_equal (vn_notes_get (notes, i)->code, code))
        return vn_notes_get (notes, i);
    }
  return NULL;
}

static VnNotes *
look_before (VnModel *model,
             guint    n_samples)
{
  g_autoptr(VnRecipe) recipe = diagnosis_make_recipe ();
  VnNotes *notes = vn_notes_new ();

  g_ptr_array_set_size (recipe->overrides, 0);
  g_assert_true (vn_preflight (model, recipe, n_samples, notes, NULL, NULL));
  return notes;
}

static void
test_preflight_weights (void)
{
  const VnReason told[] = { VN_REASON_WEIGHT_SPREAD, VN_REASON_WEIGHT_OUTLIER };

  for (guint i = 0; i < G_N_ELEMENTS (told); i++)
    {
      g_autoptr(VnModel) model = (diagnosis_made = told[i], diagnosis_make_model ());
      g_autoptr(VnNotes) notes = look_before (model, 100);
      const VnNote *note = find_note (notes, vn_reason_get_id (VN_REASON_WEIGHT_SPREAD));

      g_assert_nonnull (note);
      g_assert_cmpstr (note->subject, ==, "w1");
      g_assert_nonnull (strstr (note->remedy, vn_cure_get_title (VN_CURE_PER_CHANNEL)));
    }
}

static void
test_preflight_nothing (void)
{
  g_autoptr(VnModel) model = (diagnosis_made = VN_N_REASONS, diagnosis_make_model ());
  g_autoptr(VnNotes) notes = look_before (model, 100);
  g_autoptr(VnNotes) few = look_before (model, 3);

  g_assert_cmpuint (vn_notes_get_n (notes), ==, 0);
  g_assert_nonnull (find_note (few, "few-samples"));
}

/* What a network does to noise in all that it computes; the tensor that it starts from is told, too. */
static void
test_noise_gain (void)
{
  g_autoptr(VnModel) good = (diagnosis_made = VN_N_REASONS, diagnosis_make_model ()),
  bad = (diagnosis_made = VN_REASON_NOISE_GAIN, diagnosis_make_model ());
  g_autoptr(VnNotes) notes = look_before (bad, 100);
  g_autoptr(VnRun) result = diagnosis_run (FALSE);
  g_autofree char *text = NULL;
  double good_db = NAN, bad_db = NAN;
  gboolean at_tensor = FALSE;

  g_assert_true (vn_noise_gain_measure (good, NULL, &good_db, NULL, NULL));
  g_assert_true (vn_noise_gain_measure (bad, NULL, &bad_db, NULL, NULL));
  g_test_message ("%.1f dB, %.1f dB", good_db, bad_db);
  g_assert_cmpfloat (good_db, <, 15);
  g_assert_cmpfloat (good_db, >, 0);
  g_assert_cmpfloat (bad_db, >, VN_NETWORK_GAIN_DB + 5);
  g_assert_null (vn_noise_gain_dup_text (good_db));
  text = vn_noise_gain_dup_text (bad_db);
  g_assert_nonnull (find_note (notes, "noise-gain"));
  g_assert_true (g_str_has_prefix (text, find_note (notes, "noise-gain")->text));
  g_assert_cmpfloat (vn_contributions_get_noise_gain (result->contributions), >, VN_NETWORK_GAIN_DB);
  for (guint i = 0; i < vn_diagnosis_get_n (result->diagnosis); i++)
    at_tensor |= vn_diagnosis_get (result->diagnosis, i)->reason == VN_REASON_NOISE_GAIN &&
                 *vn_diagnosis_get (result->diagnosis, i)->tensor != '\0';
  g_assert_true (at_tensor);
}

/* x -> depthwise Conv -> x * Sigmoid (x) -> Erf; probabilities beside it */
static void
test_preflight_nodes (void)
{
  g_autoptr(VnModel) model = vn_model_new (10, 21);
  VnGraph *graph = model->graph;
  VnShape input = VN_SHAPE (1, CHANNELS, SIZE, SIZE);
  VnValue *in = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &input), *out;
  g_autoptr(VnNotes) notes = NULL;
  VnAttr *group = vn_attr_new ("group", VN_ATTR_INT);
  Numbers numbers;

  draw_numbers (&numbers);
  out = add_node (graph, "depthwise", "Conv", in, add_constant (graph, "w", &VN_SHAPE (CHANNELS, 1, 1, 1), numbers.first), NULL);
  group->i = CHANNELS;
  vn_node_set_attr (out->producer, group);
  out = add_node (graph, "swish", "Mul", out, add_node (graph, "gate", "Sigmoid", out, NULL, NULL), NULL);
  out = add_node (graph, "both", "Concat", add_node (graph, "erf", "Erf", out, NULL, NULL),
                  add_node (graph, "scores", "Sigmoid", out, NULL, NULL), NULL);
  vn_graph_set_output (graph, 0, out);
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  diagnosis_made = VN_REASON_WEIGHT_SPREAD;   /* one scale for all channels */
  notes = look_before (model, 100);
  g_assert_nonnull (find_note (notes, "depthwise-one-scale"));
  g_assert_nonnull (find_note (notes, "unfused-activations"));
  g_assert_nonnull (find_note (notes, "mixed-output"));
  g_assert_nonnull (find_note (notes, "stays-float"));
  g_assert_nonnull (strstr (find_note (notes, "stays-float")->text, "Erf"));
}

/* x -> MatMul -> Add of a mask, Mul by it, or Where -> Softmax: what the run will leave in float is named before it. */
static void
test_preflight_masks (void)
{
  static const struct { const char *type; float low; const char *code, *subject; } cases[] = {
    { "Add", -INFINITY, "mask-stays-float", "masked" }, { "Add", -FLT_MAX, "mask-stays-float", "masked" },
    { "Add", -10000, "mask-stays-float", "masked" }, { "Add", -2, NULL, NULL },
    { "Mul", -FLT_MAX, "mask-stays-float", "masked" }, { "Where", -FLT_MAX, "mask-stays-float", "masked" },
  };

  for (guint n = 0; n < G_N_ELEMENTS (cases); n++)
    {
      g_autoptr(VnModel) model = vn_model_new (10, 21);
      VnGraph *graph = model->graph;
      VnShape shape = VN_SHAPE (4, 4);
      VnValue *in = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &shape), *out, *mask;
      float weights[16], far[16];
      g_autoptr(VnNotes) notes = NULL;
      const VnNote *note;

      for (guint i = 0; i < 16; i++)
        {
          weights[i] = (float) (i % 5) - 2.5f;
          far[i] = i % 4 > i / 4 ? cases[n].low : 0;
        }
      out = add_node (graph, "scores", "MatMul", in, add_constant (graph, "w", &shape, weights), NULL);
      mask = add_constant (graph, "mask", &shape, far);
      if (g_str_equal (cases[n].type, "Where"))
        out = add_node (graph, "masked", "Where", vn_graph_add_input (graph, "shown", VN_DTYPE_BOOL, &shape), out, mask);
      else
        out = add_node (graph, "masked", cases[n].type, out, mask, NULL);
      out = add_node (graph, "shares", "Softmax", out, NULL, NULL);
      vn_graph_set_output (graph, 0, out);
      g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
      diagnosis_made = VN_N_REASONS;
      notes = look_before (model, 100);
      note = find_note (notes, "mask-stays-float");
      g_test_message ("%s of %g: %s", cases[n].type, (double) cases[n].low, note != NULL ? note->text : "nothing");
      g_assert_cmpstr (note != NULL ? note->code : NULL, ==, cases[n].code);
      g_assert_cmpstr (note != NULL ? note->subject : NULL, ==, cases[n].subject);
    }
}

/* Which cures can do something is told by what is at the tensor: rounding the weights of a Softmax, or correcting the bias of a
 * Gather, is not offered. */
static void
test_places (void)
{
  static const struct { const char *tensor, *cure; gboolean fits; } cases[] = {
    { "w1",        "second-order",    TRUE },
    { "b1",        "float-bias",      TRUE },
    { "first",     "bias-correction", TRUE },
    { "middle",    "second-order",    TRUE },      /* through the clamp */
    { "middle",    "depthwise",       TRUE },
    { "middle",    "folded",          TRUE },
    { "deep",      "depthwise",       FALSE },
    { "deep",      "folded",          FALSE },     /* what reads it has no weights */
    { "weights",   "second-order",    FALSE },
    { "weights",   "bias-correction", FALSE },
    { "weights",   "equalize",        FALSE },
    { "weights",   "mse",             TRUE },
    { "weights",   "sixteen-bits",    TRUE },
    { "weights",   "float-region",    TRUE },
    { "product",   "second-order",    FALSE },     /* of two activations */
    { "product",   "bias-correction", FALSE },
    { "taken",     "second-order",    FALSE },
    { "taken",     "bias-correction", FALSE },
    { "taken",     "percentile",      TRUE },
    { "table",     "second-order",    FALSE },
    { "table",     "per-channel",     FALSE },
    { "projected", "second-order",    TRUE },
    { "projected", "bias-correction", FALSE },     /* a MatMul has none */
  };
  g_autoptr(VnModel) model = vn_model_new (10, 21);
  VnGraph *graph = model->graph;
  VnShape input = VN_SHAPE (1, CHANNELS, SIZE, SIZE), shape = VN_SHAPE (CHANNELS, CHANNELS, 1, 1);
  VnValue *value = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &input),
  *ids = vn_graph_add_input (graph, "ids", VN_DTYPE_S64, &VN_SHAPE (4));
  VnAttr *group = vn_attr_new ("group", VN_ATTR_INT);
  Numbers numbers;

  draw_numbers (&numbers);
  value = add_node (graph, "first", "Conv", value, add_constant (graph, "w1", &shape, numbers.first),
                    add_constant (graph, "b1", &VN_SHAPE (CHANNELS), numbers.bias));
  value = add_node (graph, "middle", "Relu", value, NULL, NULL);
  value = add_node (graph, "deep", "Conv", value, add_constant (graph, "w2", &VN_SHAPE (CHANNELS, 1, 1, 1), numbers.second),
                    NULL);
  group->i = CHANNELS;
  vn_node_set_attr (value->producer, group);
  value = add_node (graph, "product", "MatMul", add_node (graph, "weights", "Softmax", value, NULL, NULL), value, NULL);
  vn_graph_set_output (graph, 0, value);
  value = add_node (graph, "taken", "Gather", add_constant (graph, "table", &VN_SHAPE (CHANNELS, CHANNELS), numbers.first), ids,
                    NULL);
  value = add_node (graph, "projected", "MatMul", value,
                    add_constant (graph, "w3", &VN_SHAPE (CHANNELS, CHANNELS), numbers.second), NULL);
  vn_graph_set_output (graph, 1, value);
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const VnCulprit culprit = { .value = vn_graph_find_value (graph, cases[i].tensor) };
      VnFinding finding = { .reason = VN_REASON_ROUNDING, .unfit = _vn_culprit_find_unfit (&culprit) };
      g_autoptr(GArray) list = NULL;
      VnCure cure;

      g_test_message ("%s of %s", cases[i].cure, cases[i].tensor);
      g_assert_true (vn_cure_find (cases[i].cure, &cure));
      g_assert_cmpint (!(finding.unfit >> cure & 1), ==, cases[i].fits);
      list = vn_finding_list_cures (&finding);
      for (guint k = 0; k < list->len; k++)
        g_assert_true (cases[i].fits || g_array_index (list, VnCure, k) != cure);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    {
      g_autofree char *path = g_strconcat ("/diagnosis/reason/", vn_reason_get_id (expected[i].reason), NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_reason);
    }
  g_test_add_func ("/diagnosis/nothing", test_nothing);
  g_test_add_func ("/diagnosis/tables", test_tables);
  g_test_add_func ("/diagnosis/uncertain", test_uncertain);
  g_test_add_func ("/diagnosis/cure/channel-spread", test_cure_spread);
  g_test_add_func ("/diagnosis/cure/clipping", test_cure_clipping);
  g_test_add_func ("/diagnosis/cure/dead-channel", test_cure_dead_channel);
  g_test_add_func ("/diagnosis/cure/offset", test_cure_offset);
  g_test_add_func ("/diagnosis/noise-gain", test_noise_gain);
  g_test_add_func ("/diagnosis/cure/few-levels", test_cure_few_levels);
  g_test_add_func ("/diagnosis/cure/samples", test_cure_samples);
  g_test_add_func ("/diagnosis/cure/places", test_places);
  g_test_add_func ("/diagnosis/preflight/weights", test_preflight_weights);
  g_test_add_func ("/diagnosis/preflight/nothing", test_preflight_nothing);
  g_test_add_func ("/diagnosis/preflight/nodes", test_preflight_nodes);
  g_test_add_func ("/diagnosis/preflight/masks", test_preflight_masks);
  return g_test_run ();
}
