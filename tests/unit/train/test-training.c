/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Training: its formulae against worked examples, what it does to networks that need it and to one that does not, threads, and
 * stopping. */
#include "training-cut.h"
#include "training-importance.h"
#include "vn-adam.h"
#include "vn-fake-quantizer.h"
#include "vn-jobs.h"
#include "vn-judge.h"
#include "vn-training.h"

#include <math.h>
#include <string.h>

/* ---- formulae ---- */

/* h (V) = clip (1.2 sigmoid (V) - 0.1), and the slope of 1 - |2 h - 1|^beta, by differences in float64. */
static void
test_adaround (void)
{
  const double beta = 5, step = 1e-6;

  g_assert_cmpfloat_with_epsilon (vn_adaround_share (0), 0.5, 1e-15);
  g_assert_cmpfloat_with_epsilon (vn_adaround_share (1), 0.7772702944, 1e-9);
  g_assert_cmpfloat (vn_adaround_share (-3), ==, 0);
  g_assert_cmpfloat (vn_adaround_share (3), ==, 1);
  g_assert_cmpfloat (vn_adaround_slope (3), ==, 0);
  for (double share = 0.01; share < 1; share += 0.07)
    {
      double v = vn_adaround_invert (share);
      double above = 1 - pow (fabs (2 * vn_adaround_share (v + step) - 1), beta),
      below = 1 - pow (fabs (2 * vn_adaround_share (v - step) - 1), beta);

      g_assert_cmpfloat_with_epsilon (vn_adaround_share (v), share, 1e-12);
      g_assert_cmpfloat_with_epsilon (vn_adaround_slope (v),
                                      (vn_adaround_share (v + step) - vn_adaround_share (v - step)) / (2 * step), 1e-8);
      g_assert_cmpfloat_with_epsilon (vn_adaround_pull (v, beta), (above - below) / (2 * step), 1e-7);
    }
  g_assert_cmpfloat (vn_adaround_get_beta (0.1, 0.2, 20, 2), ==, 0);
  g_assert_cmpfloat_with_epsilon (vn_adaround_get_beta (0.2, 0.2, 20, 2), 20, 1e-12);
  g_assert_cmpfloat_with_epsilon (vn_adaround_get_beta (0.6, 0.2, 20, 2), 11, 1e-12);
  g_assert_cmpfloat_with_epsilon (vn_adaround_get_beta (1, 0.2, 20, 2), 2, 1e-12);
}

/* Two steps by hand: g = 2, then -1, rate 0.1. */
static void
test_adam (void)
{
  VnAdam adam;
  float x = 1;
  double mean = 0.2, square = 0.004, wanted = 1 - 0.1;

  g_assert_true (vn_adam_init (&adam, 1, NULL));
  vn_adam_step (&adam, &x, &(float) { 2 }, 0.1);
  g_assert_cmpfloat_with_epsilon (x, wanted, 1e-6);
  mean = 0.9 * mean - 0.1;
  square = 0.999 * square + 0.001;
  wanted -= 0.1 * (mean / (1 - 0.81)) / sqrt (square / (1 - 0.999 * 0.999));
  vn_adam_step (&adam, &x, &(float) { -1 }, 0.1);
  g_assert_cmpfloat_with_epsilon (x, wanted, 1e-6);
  vn_adam_clear (&adam);
}

/* Scale 0.5, integers -4 .. 3. By the scale s: inside round (x/s) - x/s, outside the end (Esser et al., equation 3); times s ln 2
 * for its logarithm to base 2 (Jain et al., equation 7). */
static void
test_scale (void)
{
  const float x[] = { 0.3f, -0.8f, 0.75f, 5, -9 }, up[] = { 1, 2, -1, 0.5f, 3 }, rounded[] = { 0.5f, -1, 1, 1.5f, -2 };
  const double wanted = (1 * (1 - 0.6) + 2 * (-2 + 1.6) - (2 - 1.5) + 0.5 * 3 + 3 * -4.0) * 0.5 * G_LN2;
  g_autoptr(VnFakeQuantizer) grid = vn_fake_quantizer_new_plain (0.5f, -4, 3);
  float y[5], gradient[5];
  double octaves = 0;

  vn_fake_quantizer_forward (grid, 5, x, y);
  memcpy (gradient, up, sizeof up);
  vn_fake_quantizer_backward (grid, 5, x, gradient, &octaves);
  for (guint i = 0; i < 5; i++)
    {
      g_assert_cmpfloat (y[i], ==, rounded[i]);
      g_assert_cmpfloat (gradient[i], ==, i < 3 ? up[i] : 0);
    }
  g_assert_cmpfloat_with_epsilon (octaves, wanted, 1e-6);
}

/* ---- networks ---- */

static VnValue *
add_layer (VnGraph    *graph,
           const char *name,
           VnValue    *x,
           gint64      from,
           gint64      to,
           float       scale)
{
  g_autofree char *w = g_strconcat (name, "_w", NULL), *b = g_strconcat (name, "_b", NULL), *y = g_strconcat (name, "_y", NULL);
  g_autoptr(VnTensor) weight = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (to, from, 3, 3), NULL),
  bias = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (to), NULL);
  const gint64 pads[] = { 1, 1, 1, 1 };
  VnValue *inputs[3], *output, *end;
  VnNode *node;

  for (gsize i = 0; i < weight->n_elements; i++)
    ((float *) weight->data)[i] = scale * sinf ((float) i * 2.3f + 0.4f * (float) name[0]);
  for (gsize i = 0; i < bias->n_elements; i++)
    ((float *) bias->data)[i] = 0.1f * cosf ((float) i);
  inputs[0] = x;
  inputs[1] = vn_graph_add_initializer (graph, w, weight);
  inputs[2] = vn_graph_add_initializer (graph, b, bias);
  output = vn_graph_add_value (graph, y, VN_DTYPE_UNDEFINED, NULL);
  node = vn_graph_add_node (graph, name, "", "Conv", inputs, 3, &output, 1);
  vn_node_set_ints (node, "pads", pads, 4);
  end = vn_graph_add_value (graph, NULL, VN_DTYPE_UNDEFINED, NULL);
  vn_graph_add_node (graph, NULL, "", "Relu", &output, 1, &end, 1);
  return end;
}

static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  VnValue *x = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 3, 10, 10));

  for (const char *name = "abcdef"; *name != '\0'; name++)
    x = add_layer (graph, (char[]) { *name, '\0' }, x, *name == 'a' ? 3 : 8, *name == 'f' ? 4 : 8, 0.25f);
  vn_value_set_type (x, VN_DTYPE_F32, NULL);
  vn_graph_set_output (graph, 0, x);
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return model;
}

/* What ends in classes is trained for what Softmax reads: it has a part of its own. */
static void
test_cut (void)
{
  g_autoptr(VnModel) model = make_model ();
  VnGraph *graph = model->graph;
  VnValue *x = g_ptr_array_index (graph->outputs, 0), *y = vn_graph_add_value (graph, "y", VN_DTYPE_F32, NULL);
  g_autoptr(GPtrArray) parts = NULL;
  const VnTrainPart *last, *before;

  vn_graph_add_node (graph, "end", "", "Softmax", &x, 1, &y, 1);
  vn_graph_set_output (graph, 0, y);
  parts = vn_training_cut (graph, VN_TRAIN_UNIT_BLOCK, NULL);
  g_assert_cmpuint (parts->len, >=, 3);
  last = g_ptr_array_index (parts, parts->len - 1);
  before = g_ptr_array_index (parts, parts->len - 2);
  g_assert_cmpuint (last->nodes->len, ==, 1);
  g_assert_cmpuint (last->n_layers, ==, 0);
  g_assert_cmpstr (((const VnNode *) g_ptr_array_index (last->nodes, 0))->op_type, ==, "Softmax");
  g_assert_cmpstr (((const VnNode *) g_ptr_array_index (before->nodes, before->nodes->len - 1))->op_type, ==, "Relu");
}

/* Few pictures are moved and mirrored until there are enough; copies stand behind their sample, which is as it was. */
static void
test_copies (void)
{
  static const guint counts[][2] = { { 4, 8 }, { 20, 5 }, { 40, 3 }, { 100, 1 } };
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();
  guint indices[100];

  data->max_samples = 100;
  dataset = vn_model_open_data (model, data, NULL, &shapes, notes, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (indices); i++)
    indices[i] = i;
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    {
      VnRepairSamples samples = { .shapes = shapes, .dataset = dataset, .indices = indices, .n = counts[i][0], .n_threads = 1,
                                  .notes = notes };
      VnTensor *first = NULL;
      VnTrainFeed feed;

      g_assert_true (vn_train_feed_init (&feed, model, &samples, (gsize) 64 << 20, NULL));
      g_assert_cmpuint (feed.n_copies, ==, counts[i][1]);
      g_assert_cmpuint (feed.n, ==, counts[i][0] * counts[i][1]);
      g_assert_true (vn_dataset_load (dataset, 1, &first, NULL));
      g_assert_true (vn_tensor_equal (first, feed.inputs[feed.n_copies][0]));
      if (feed.n_copies > 1)
        g_assert_false (vn_tensor_equal (first, feed.inputs[feed.n_copies + 1][0]));
      vn_tensor_unref (first);
      vn_train_feed_clear (&feed);
    }
}

/* Of two channels the second layer multiplies one by 3, the other by 1: by the square of that they count, and a tenth of their
 * mean more. */
static void
test_importance (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  VnValue *x = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 3, 6, 6)), *middle, *inputs[2], *y;
  g_autoptr(VnTensor) weight = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (1, 2, 1, 1), NULL);
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(GHashTable) shapes = NULL, found = NULL;
  g_autoptr(GPtrArray) parts = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();
  const guint indices[] = { 0, 1, 2, 3 };
  const VnTrainImportance *one;
  VnRepairSamples samples;
  VnTrainFeed feed;

  ((float *) weight->data)[0] = 3;
  ((float *) weight->data)[1] = 1;
  inputs[0] = middle = add_layer (graph, "a", x, 3, 2, 0.25f);
  inputs[1] = vn_graph_add_initializer (graph, "w", weight);
  y = vn_graph_add_value (graph, "y", VN_DTYPE_F32, NULL);
  vn_graph_add_node (graph, "last", "", "Conv", inputs, 2, &y, 1);
  vn_graph_set_output (graph, 0, y);
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  dataset = vn_model_open_data (model, data, NULL, &shapes, notes, NULL);
  samples = (VnRepairSamples) { .shapes = shapes, .dataset = dataset, .indices = indices, .n = 4, .n_threads = 1,
                                .notes = notes };
  g_assert_true (vn_train_feed_init (&feed, model, &samples, (gsize) 1 << 20, NULL));
  parts = vn_training_cut (graph, VN_TRAIN_UNIT_LAYER, NULL);
  found = vn_train_importance_measure (model, parts, &feed, shapes, 1, NULL, NULL);
  vn_train_feed_clear (&feed);
  g_assert_nonnull (found);
  one = g_hash_table_lookup (found, middle->name);
  g_assert_nonnull (one);
  g_assert_cmpuint (one->n, ==, 2);
  g_assert_cmpuint (one->inner, ==, 36);
  g_assert_cmpfloat_with_epsilon (one->by[0] / one->by[1], (9 + 0.1 * 5) / (1 + 0.1 * 5), 1e-5);
}

static VnRun *
quantize (VnModel    *model,
          const char *preset,
          const char *settings,     /* "id=value id=value" */
          guint       n_threads)
{
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  g_autoptr(VnRecipe) recipe = vn_recipe_new (preset);
  g_auto(GStrv) texts = g_strsplit (settings, " ", -1);
  VnQuantizeSettings job_settings = { .model = model, .data = data, .recipe = recipe, .n_threads = n_threads };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnJob) job = NULL;

  data->max_samples = 32;
  for (guint i = 0; texts[i] != NULL && *texts[i] != '\0'; i++)
    {
      g_auto(GStrv) said = g_strsplit (texts[i], "=", 2);

      g_assert_true (vn_recipe_set (recipe, said[0], said[1], &error));
    }
  job = vn_quantize_job_new (&job_settings);
  g_assert_true (vn_job_run (job, NULL, &error) || (g_test_message ("%s", error->message), FALSE));
  return vn_run_ref (vn_quantize_job_get_result (job));
}

/* On samples that were neither calibrated with nor trained with. */
static double
measure (VnModel *model,
         VnRun   *result)
{
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnJudge) judge = NULL;
  g_auto(VnJudgement) judgement = { 0 };
  guint indices[24];
  VnRepairSamples samples;
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();

  data->max_samples = 64;
  dataset = vn_model_open_data (model, data, NULL, &shapes, notes, NULL);
  g_assert_nonnull (dataset);
  for (guint i = 0; i < G_N_ELEMENTS (indices); i++)
    indices[i] = 40 + i;
  samples = (VnRepairSamples) { .shapes = shapes, .dataset = dataset, .indices = indices, .n = G_N_ELEMENTS (indices),
                                .n_threads = 2 };
  judge = vn_judge_new (model, &samples, NULL, NULL);
  g_assert_true (vn_judge_measure (judge, result->quantized, &judgement, NULL, NULL));
  return judgement.sqnr_db;
}

static const struct { const char *preset, *base, *train; double gain; } needy[] = {
  { "cpu", "weight=s4", "adaround", 1 },
  { "cpu", "weight=s4", "adaquant", 2 },
  { "cpu", "weight=s4", "adaquant-thresholds", 2 },
  { "cpu", "weight=s4", "adaround-thresholds", 1 },
  { "cpu", "weight=s4 per-channel=false", "thresholds", 0.3 },
  { "cpu", "weight=s4 per-channel=false rounding=second-order", "adaquant-thresholds", 0.5 },
  { "cpu", "weight=s4 power-of-two=nearest", "adaquant-thresholds", 1 },
  { "cpu", "weight=s4 per-channel=false power-of-two=nearest", "thresholds", 5 },
};

static void
test_needy (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autofree char *settings = g_strdup_printf ("%s%strain=%s", needy[i].base, *needy[i].base != '\0' ? " " : "", needy[i].train);
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnRun) plain = quantize (model, needy[i].preset, needy[i].base, 2),
  trained = quantize (model, needy[i].preset, settings, 2);
  double before = measure (model, plain), after = measure (model, trained);

  g_test_message ("%s, %s: %.2f -> %.2f dB", needy[i].preset, settings, before, after);
  g_assert_cmpfloat (after - before, >, needy[i].gain);
}

/* Weights and activations of 16 bit: what is left is nothing that training could lower, and never more. */
static void
test_content (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnRun) plain = quantize (model, "int16", "", 2),
  trained = quantize (model, "int16", "train=adaquant train-steps=40", 2);

  g_assert_cmpfloat (measure (model, trained), >, measure (model, plain) - 0.1);
}

static void
test_threads (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autofree char *first = NULL, *other_seed = NULL;
  g_autoptr(VnRun) seeded = quantize (model, "cpu", "weight=s4 train=adaquant-thresholds train-steps=60 train-seed=7", 2);

  for (guint n = 1; n <= 4; n++)
    {
      g_autoptr(VnRun) result = quantize (model, "cpu", "weight=s4 train=adaquant-thresholds train-steps=60", n);
      g_autofree char *digest = vn_model_dup_digest (result->quantized);

      first = first != NULL ? first : g_strdup (digest);
      g_assert_cmpstr (digest, ==, first);
    }
  other_seed = vn_model_dup_digest (seeded->quantized);
  g_assert_cmpstr (first, !=, other_seed);
}

/* ---- stopping ---- */

typedef struct
{
  GCancellable *stop;
  guint64       at, total;
} Stop;

static void
stop_at (gpointer    data,
         const char *unit,
         guint64     done,
         guint64     total)
{
  Stop *self = data;

  self->total = total;
  if (done >= self->at)
    g_cancellable_cancel (self->stop);
}

/* What is said to be left is what the network does. */
static void
check_gain (const VnTrainInput  *input,
            const VnTrainResult *result,
            const VnRepairGain  *gain)
{
  g_autoptr(VnQuantPlan) plan = vn_quantize_resolve (input->prepared, input->recipe, result->stats, NULL, NULL);
  g_autoptr(VnModel) written = vn_quantize_write (result->model, input->recipe, plan, NULL, NULL);
  g_auto(VnJudgement) judgement = { 0 };

  g_assert_true (vn_model_infer_types (written, input->samples->shapes, NULL, NULL));
  g_assert_true (vn_judge_measure (input->judge, written, &judgement, NULL, NULL));
  g_assert_cmpfloat_with_epsilon (judgement.sqnr_db, gain->after_db, 1e-6);
  g_assert_cmpuint (gain->n_kept, <=, gain->n_tried);
}

/* @at: step; returns the gain on the samples of the judge */
static VnRepairGain
train_until (guint64   at,
             gboolean  by_job,
             VnModel **trained)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnRun) plain = quantize (model, "cpu", "weight=s4", 2);
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (plain->recipe);
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnJudge) judge = NULL;
  g_autoptr(GCancellable) stop = g_cancellable_new ();
  g_auto(VnTrainResult) result = { 0 };
  g_autoptr(GError) error = NULL;
  Stop watch = { stop, at, 0 };
  VnProgress progress = { stop_at, &watch };
  guint learned[16], judged[16];
  VnRepairSamples samples, others;
  VnTrainInput input;
  VnRepairGain gain;

  data->max_samples = 32;
  dataset = vn_model_open_data (plain->prepared, data, NULL, &shapes, notes, NULL);
  for (guint i = 0; i < 16; i++)
    {
      learned[i] = i;
      judged[i] = 16 + i;
    }
  samples = (VnRepairSamples) { .shapes = shapes, .dataset = dataset, .indices = learned, .n = 16, .n_threads = 2 };
  others = samples;
  others.indices = judged;
  judge = vn_judge_new (plain->prepared, &others, NULL, NULL);
  recipe->train = VN_TRAIN_ADAQUANT;
  recipe->train_steps = 60;
  input = (VnTrainInput) { .prepared = plain->prepared, .recipe = recipe, .stats = plain->stats, .samples = &samples,
                           .judge = judge,
                           .progress = &progress, .stop = by_job ? NULL : stop };
  g_assert_true (vn_train (&input, &result, &gain, by_job ? stop : NULL, &error));
  g_assert_no_error (error);
  g_assert_nonnull (result.model);
  check_gain (&input, &result, &gain);
  *trained = vn_model_ref (result.model);
  return gain;
}

static void
test_stopped (gconstpointer data)
{
  gboolean by_job = GPOINTER_TO_INT (data);
  g_autoptr(VnModel) none = NULL, some = NULL, all = NULL;
  VnRepairGain at_once = train_until (1, by_job, &none), middle = train_until (75, by_job, &some),
  whole = train_until (1000000, by_job, &all);
  g_autofree char *of_none = vn_model_dup_digest (none), *of_some = vn_model_dup_digest (some),
  *of_all = vn_model_dup_digest (all);

  g_assert_cmpfloat (at_once.after_db, >=, at_once.before_db);
  g_assert_cmpfloat (middle.after_db, >=, middle.before_db);
  g_assert_cmpfloat (whole.after_db, >, whole.before_db + 1);
  if (!by_job)   /* what the first block has learned is kept, the second was not finished */
    {
      g_assert_cmpfloat (middle.after_db, >, middle.before_db);
      g_assert_cmpstr (of_some, !=, of_none);
    }
  g_assert_cmpstr (of_some, !=, of_all);
}

/* At the beginning, the end and in the middle of blocks: never worse than before, and never an error. */
static void
test_moments (void)
{
  static const guint64 moments[] = { 1, 2, 13, 59, 60, 61, 62, 88, 119, 120, 121 };
  guint n_better = 0;

  for (guint i = 0; i < G_N_ELEMENTS (moments); i++)
    {
      g_autoptr(VnModel) trained = NULL;
      VnRepairGain gain = train_until (moments[i], i % 2 == 1, &trained);

      g_test_message ("step %u: %.2f -> %.2f dB", (guint) moments[i], gain.before_db, gain.after_db);
      g_assert_cmpfloat (gain.after_db, >=, gain.before_db);
      n_better += gain.after_db > gain.before_db;
    }
  g_assert_cmpuint (n_better, >, 2);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/formulae/adaround", test_adaround);
  g_test_add_func ("/train/formulae/adam", test_adam);
  g_test_add_func ("/train/formulae/scale", test_scale);
  g_test_add_func ("/train/cut", test_cut);
  g_test_add_func ("/train/copies", test_copies);
  g_test_add_func ("/train/importance", test_importance);
  for (guint i = 0; i < G_N_ELEMENTS (needy); i++)
    {
      g_autofree char *path = g_strdup_printf ("/train/needy/%u-%s", i, needy[i].train);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_needy);
    }
  g_test_add_func ("/train/content", test_content);
  g_test_add_func ("/train/threads", test_threads);
  g_test_add_data_func ("/train/stopped", GINT_TO_POINTER (FALSE), test_stopped);
  g_test_add_data_func ("/train/cancelled", GINT_TO_POINTER (TRUE), test_stopped);
  g_test_add_func ("/train/moments", test_moments);
  return g_test_run ();
}
