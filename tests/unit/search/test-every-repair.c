/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every repair and every search runs on samples of different sizes, in front of operators that cannot be run here, and where
 * half of the samples leave nothing of a tensor: each gives an export that is about as good as the plain one at least, says so
 * where it is the same, and is not the same everywhere. */
#include "engine-fixture.h"

#include "vn-cure-job.h"
#include "vn-curve-job.h"
#include "vn-setting.h"
#include "vn-improve-job.h"
#include "vn-model-data.h"
#include "vn-onnx.h"

#include <glib/gstdio.h>
#include <math.h>

#define N_SAMPLES 8u
#define MOST_LOST 12.0  /* dB: one or two samples are held out, repairs are judged by others */
#define SECONDS 30      /* more than the searches need */

/* ---- networks ---- */

/* Numbers of both signs without a pattern, as of training. */
static void
add_weights (VnModel    *model,
             const char *name,
             VnShape     shape,
             guint       seed)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &shape, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = (float) g_rand_double_range (rand, -0.6, 0.6) * (i % 7 == 0 ? 3 : 1);
  vn_graph_add_initializer (model->graph, name, tensor);
}

static void
pad_by_one (VnNode *conv,
            guint   n_axes)
{
  static const gint64 ones[] = { 1, 1, 1, 1 };

  vn_node_set_ints (conv, "pads", ones, 2 * n_axes);
}

/* Frames: as many as a sample has. */
static VnModel *
make_frames (void)
{
  VnModel *model = vn_model_new (8, 17);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 4, -1));
  add_weights (model, "w1", VN_SHAPE (8, 4, 3), 1);
  add_weights (model, "b1", VN_SHAPE (8), 2);
  add_weights (model, "w2", VN_SHAPE (8, 8, 3), 3);
  add_weights (model, "b2", VN_SHAPE (8), 4);
  add_weights (model, "w3", VN_SHAPE (3, 8, 1), 5);
  pad_by_one (add_node (model, "Conv", "first", "x w1 b1", "a"), 1);
  add_node (model, "Relu", "clip", "a", "r");
  pad_by_one (add_node (model, "Conv", "second", "r w2 b2", "b"), 1);
  add_node (model, "Add", "add", "b r", "s");
  add_node (model, "Conv", "last", "s w3", "y");
  set_outputs (model, "y");
  return model;
}

/* A recurrent layer over as many steps as a sample has, and what comes behind its last. */
static VnModel *
make_steps (void)
{
  VnModel *model = vn_model_new (8, 17);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (-1, 1, 4));
  add_weights (model, "in", VN_SHAPE (4, 6), 11);
  add_weights (model, "bias", VN_SHAPE (6), 12);
  add_weights (model, "w", VN_SHAPE (1, 18, 6), 13);
  add_weights (model, "r", VN_SHAPE (1, 18, 6), 14);
  add_weights (model, "out", VN_SHAPE (6, 3), 15);
  add_node (model, "MatMul", "embed", "x in", "m");
  add_node (model, "Add", "shift", "m bias", "e");
  vn_node_set_int (add_node (model, "GRU", "gru", "e w r", "- h"), "hidden_size", 6);
  add_node (model, "MatMul", "head", "h out", "y");
  set_outputs (model, "y");
  return model;
}

/* Half of the network is behind an operator that nobody here knows. */
static VnModel *
make_custom (void)
{
  VnModel *model = vn_model_new (8, 17);

  vn_model_set_opset (model, "acme", 1);
  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 3, 6, 6));
  add_weights (model, "w1", VN_SHAPE (6, 3, 3, 3), 21);
  add_weights (model, "b1", VN_SHAPE (6), 22);
  add_weights (model, "w2", VN_SHAPE (6, 6, 3, 3), 23);
  add_weights (model, "b2", VN_SHAPE (6), 24);
  add_weights (model, "w3", VN_SHAPE (4, 6, 1, 1), 25);
  pad_by_one (add_node (model, "Conv", "first", "x w1 b1", "a"), 2);
  add_node (model, "Relu", "clip", "a", "r");
  pad_by_one (add_node (model, "Conv", "second", "r w2 b2", "b"), 2);
  add_node (model, "Add", "add", "b r", "y");
  add_node (model, "acme:Plugin", "plugin", "r", "p");
  vn_value_set_type (vn_graph_find_value (model->graph, "p"), VN_DTYPE_F32, &VN_SHAPE (1, 6, 6, 6));
  add_node (model, "Conv", "behind", "p w3", "q");
  set_outputs (model, "y q");
  return model;
}

/* A classifier as scikit-learn exports it: nothing reads its scores but ZipMap. */
static VnModel *
make_zip (void)
{
  VnModel *model = vn_model_new (8, 17);

  vn_model_set_opset (model, "ai.onnx.ml", 3);
  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 10));
  add_weights (model, "w1", VN_SHAPE (10, 12), 31);
  add_weights (model, "b1", VN_SHAPE (12), 32);
  add_weights (model, "w2", VN_SHAPE (12, 4), 33);
  add_weights (model, "b2", VN_SHAPE (4), 34);
  add_node (model, "Gemm", "first", "x w1 b1", "a");
  add_node (model, "Relu", "clip", "a", "r");
  add_node (model, "Gemm", "second", "r w2 b2", "b");
  add_node (model, "Softmax", "softmax", "b", "scores");
  vn_node_set_int (add_node (model, "ArgMax", "argmax", "scores", "label"), "axis", 1);
  add_node (model, "ai.onnx.ml:ZipMap", "zip", "scores", "probabilities");
  set_outputs (model, "label probabilities");
  return model;
}

/* Rows whose first number is positive go on: of half of the samples none. */
static VnModel *
make_rows (void)
{
  static const gint64 zero[] = { 0 }, one[] = { 1 }, all[] = { -1 };
  VnModel *model = vn_model_new (8, 17);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (5, 8));
  add_weights (model, "w1", VN_SHAPE (8, 10), 41);
  add_weights (model, "b1", VN_SHAPE (10), 42);
  add_weights (model, "w2", VN_SHAPE (10, 6), 43);
  add_weights (model, "b2", VN_SHAPE (6), 44);
  add_weights (model, "w3", VN_SHAPE (6, 3), 45);
  add_weights (model, "w4", VN_SHAPE (10, 2), 46);
  add_ints (model, "from", zero, 1);
  add_ints (model, "to", one, 1);
  add_ints (model, "axis", one, 1);
  add_ints (model, "flat", all, 1);
  add_floats (model, "least", VN_SHAPE (1), 0, 0);
  add_node (model, "Slice", "slice", "x from to axis", "column");
  add_node (model, "Reshape", "reshape", "column flat", "flattened");
  add_node (model, "Greater", "greater", "flattened least", "chosen");
  add_node (model, "Gemm", "first", "x w1 b1", "a");
  add_node (model, "Relu", "clip", "a", "r");
  vn_node_set_int (add_node (model, "Compress", "compress", "r chosen", "rows"), "axis", 0);
  add_node (model, "Gemm", "second", "rows w2 b2", "b");
  add_node (model, "Relu", "clip2", "b", "s");
  add_node (model, "MatMul", "last", "s w3", "y");
  add_node (model, "MatMul", "all", "r w4", "z");
  set_outputs (model, "y z");
  return model;
}

/* ---- samples ---- */

static VnShape
shape_frames (guint i)
{
  return VN_SHAPE (1, 4, 6 + (gint64) (i * 5 % 8));
}

static VnShape
shape_steps (guint i)
{
  return VN_SHAPE (3 + (gint64) (i % 5), 1, 4);
}

static VnShape
shape_custom (guint i)
{
  return VN_SHAPE (1, 3, 6, 6);
}

static VnShape
shape_zip (guint i)
{
  return VN_SHAPE (1, 10);
}

static VnShape
shape_rows (guint i)
{
  return VN_SHAPE (5, 8);
}

/* Only half of the samples have a row that goes on. */
static void
choose_rows (guint  i,
             float *values)
{
  for (guint row = 0; row < 5; row++)
    values[row * 8] = fabsf (values[row * 8]) * (i % 2 == 0 && row != i / 2 ? 1 : -1) - (i % 2 == 0 ? 0 : 1);
}

typedef struct
{
  const char *id;
  VnModel *(*make)   (void);
  VnShape  (*shape)  (guint i);
  void     (*change) (guint i, float *values);   /* nullable */
  gboolean   is_lost;                            /* not all of it can be run here */
} Network;

static const Network networks[] = {
  { "frames", make_frames, shape_frames, NULL,        FALSE },
  { "steps",  make_steps,  shape_steps,  NULL,        FALSE },
  { "custom", make_custom, shape_custom, NULL,        TRUE },
  { "zip",    make_zip,    shape_zip,    NULL,        TRUE },
  { "rows",   make_rows,   shape_rows,   choose_rows, FALSE },
};

static char *
write_samples (const Network *network)
{
  g_autoptr(GError) error = NULL;
  char *folder = g_dir_make_tmp ("test-every-repair-XXXXXX", &error);

  g_assert_no_error (error);
  for (guint i = 0; i < N_SAMPLES; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u.npy", folder, i);
      g_autoptr(GRand) rand = g_rand_new_with_seed (100 + i);
      const VnShape shape = network->shape (i);
      g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &shape, &error);

      for (gsize k = 0; k < tensor->n_elements; k++)
        ((float *) tensor->data)[k] = (float) g_rand_double_range (rand, -2, 2);
      if (network->change != NULL)
        network->change (i, tensor->data);
      g_assert_true (vn_npy_write (path, tensor, &error));
    }
  return folder;
}

static void
remove_samples (const char *folder)
{
  for (guint i = 0; i < N_SAMPLES; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/%u.npy", folder, i);

      g_unlink (path);
    }
  g_rmdir (folder);
}

/* ---- repairs ---- */

typedef enum { WORK_QUANTIZE, WORK_ORIGINS, WORK_CURES, WORK_CURVE, WORK_AUTO } Work;

static const char * const titles[] = { "quantize", "origins", "cures", "curve", "auto" };

typedef struct
{
  Work        work;
  const char *setting, *value;     /* nullable */
} Repair;

static const Repair repairs[] = {
  { WORK_QUANTIZE, "bias-correction",  "amd" },
  { WORK_QUANTIZE, "bias-correction",  "xslim" },
  { WORK_QUANTIZE, "bias-correction",  "guarded" },
  { WORK_QUANTIZE, "train",            "thresholds" },
  { WORK_QUANTIZE, "train",            "adaround" },
  { WORK_QUANTIZE, "train",            "adaquant" },
  { WORK_QUANTIZE, "train",            "adaround-thresholds" },
  { WORK_QUANTIZE, "train",            "adaquant-thresholds" },
  { WORK_QUANTIZE, "rounding",         "second-order" },
  { WORK_QUANTIZE, "range-search",     "outputs" },
  { WORK_QUANTIZE, "balance-channels", "folded" },
  { WORK_QUANTIZE, "balance-channels", "restored" },
  { WORK_ORIGINS },
  { WORK_CURES },
  { WORK_CURVE },
  { WORK_AUTO },
};

static VnJob *
make_job (const Repair             *repair,
          const VnQuantizeSettings *quantize)
{
  VnQuantizeSettings settings = *quantize;

  switch (repair->work)
    {
    case WORK_CURES:
      return vn_cure_job_new (&(VnCureSettings) { .quantize = settings, .seconds = SECONDS, .n_tensors = 1 });
    case WORK_CURVE:
      return vn_curve_job_new (&(VnCurveSettings) { .quantize = settings, .cost = VN_CURVE_COST_FLOAT, .target_db = NAN,
                                                    .most_float = NAN });
    case WORK_AUTO:
      return vn_improve_job_new (&(VnImproveSettings) { .quantize = settings, .seconds = SECONDS, .accuracy_first = TRUE });
    case WORK_ORIGINS:
      settings.origins = TRUE;
      return vn_quantize_job_new (&settings);
    case WORK_QUANTIZE:
      break;
    }
  return vn_quantize_job_new (&settings);
}

static VnRun *
get_result (Work   work,
            VnJob *job)
{
  return work == WORK_CURES ? vn_cure_job_get_result (job)
         : work == WORK_CURVE ? vn_curve_job_get_result (job)
         : work == WORK_AUTO ? vn_improve_job_get_result (job)
                             : vn_quantize_job_get_result (job);
}

/* It measures, and leaves the export as it is. */
static gboolean
is_only_search (Work work)
{
  return work == WORK_ORIGINS || work == WORK_CURES || work == WORK_CURVE;
}

/* What a search gives beside the export. */
static void
assert_found (Work   work,
              VnJob *job,
              VnRun *result)
{
  guint n_measured = 0;

  if (work == WORK_ORIGINS || work == WORK_CURES)
    {
      g_assert_nonnull (result->contributions);
      g_assert_nonnull (result->diagnosis);
      for (guint i = 0; i < vn_contributions_get_n (result->contributions); i++)
        n_measured += vn_contributions_get (result->contributions, i)->n_samples > 0;
      g_assert_cmpuint (n_measured, >, 2);
    }
  if (work == WORK_CURES)
    for (guint i = 0; i < vn_diagnosis_get_n_trials (result->diagnosis); i++)
      {
        const VnCureTrial *trial = vn_diagnosis_get_trial (result->diagnosis, i);

        if (trial->state == VN_TRIAL_IMPOSSIBLE)
          g_test_message ("impossible: %s", trial->problem);
        g_assert_cmpint (trial->state, !=, VN_TRIAL_IMPOSSIBLE);
      }
  if (work == WORK_CURVE)
    {
      g_assert_nonnull (result->curve);
      g_assert_cmpuint (vn_curve_get_n (result->curve), >=, 2);
    }
  if (work == WORK_AUTO)
    {
      GPtrArray *tries = vn_improve_job_get_tries (job);

      g_assert_cmpuint (tries->len, >, 1);
      for (guint i = 0; i < tries->len; i++)
        {
          const VnImproveTry *attempt = tries->pdata[i];

          if (attempt->outcome == VN_IMPROVE_IMPOSSIBLE)
            g_test_message ("impossible: %s: %s", attempt->title, attempt->reason);
          g_assert_cmpint (attempt->outcome, !=, VN_IMPROVE_IMPOSSIBLE);
        }
    }
}

/* Whether a note says that a setting changed nothing. */
static gboolean
is_said (VnNotes    *notes,
         const char *setting)
{
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    if (g_str_equal (vn_notes_get (notes, i)->code, VN_NOTE_CODE_IDLE_SETTING) &&
        g_str_equal (vn_notes_get (notes, i)->subject, setting))
      return TRUE;
  return FALSE;
}

static VnRun *
run (const Repair     *repair,
     VnModel          *model,
     const VnDataSpec *data)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(GError) error = NULL;
  g_autoptr(VnJob) job = NULL;
  VnRun *result;

  if (g_strcmp0 (repair->setting, "train") == 0)
    recipe->train_steps = 12;
  if (repair->setting != NULL)
    vn_recipe_set (recipe, repair->setting, repair->value, &error);
  g_assert_no_error (error);
  job = make_job (repair, &(VnQuantizeSettings) { .model = model, .data = data, .recipe = recipe, .n_threads = 2 });
  vn_job_run (job, NULL, &error);
  g_assert_no_error (error);
  result = get_result (repair->work, job);
  g_assert_nonnull (result->errors);
  g_assert_cmpuint (vn_error_table_get_n (result->errors), >, 2);
  for (guint i = 0; i < vn_notes_get_n (result->notes); i++)
    g_assert_cmpstr (vn_notes_get (result->notes, i)->code, !=, "sample-unreadable");
  assert_found (repair->work, job, result);
  return vn_run_ref (result);
}

/* ---- the walk ---- */

static gboolean changed[G_N_ELEMENTS (repairs)];

static void
test_network (gconstpointer data)
{
  const Network *network = data;
  g_autoptr(VnModel) model = network->make ();
  g_autofree char *folder = write_samples (network), *of_plain = NULL;
  g_autoptr(VnDataSpec) samples = vn_data_spec_new (folder);
  g_autoptr(VnRun) plain = NULL;
  g_autoptr(GError) error = NULL;

  vn_model_infer_types (model, NULL, NULL, &error);
  g_assert_no_error (error);
  plain = run (&(Repair) { WORK_QUANTIZE, NULL, NULL }, model, samples);
  of_plain = vn_model_dup_digest (plain->quantized);
  for (guint i = 0; i < G_N_ELEMENTS (repairs); i++)
    {
      const gint64 start = g_get_monotonic_time ();
      g_autoptr(VnRun) result = run (&repairs[i], model, samples);
      g_autofree char *digest = vn_model_dup_digest (result->quantized);
      const double before = vn_error_table_get_worst_sqnr (plain->errors, result->errors),
                   after = vn_error_table_get_worst_sqnr (result->errors, plain->errors);
      const gboolean is_same = g_str_equal (digest, of_plain);

      g_test_message ("%s, %s %s: %.2f dB, was %.2f%s; %.1f s", network->id,
                      repairs[i].setting != NULL ? repairs[i].setting : titles[repairs[i].work],
                      repairs[i].value != NULL ? repairs[i].value : "",
                      after, before, is_same ? "; the same export" : "",
                      (double) (g_get_monotonic_time () - start) / G_USEC_PER_SEC);
      g_assert_true (isfinite (after));
      g_assert_cmpfloat (after, >, before - MOST_LOST);
      if (repairs[i].work == WORK_QUANTIZE)
        g_assert_true (is_same == is_said (result->notes, repairs[i].setting));
      if (is_only_search (repairs[i].work))
        g_assert_true (is_same);
      changed[i] |= !is_same;
    }
  remove_samples (folder);
}

/* None of the repairs gives up on all networks. */
static void
test_changed (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (repairs); i++)
    g_assert_true (changed[i] || is_only_search (repairs[i].work));
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (networks); i++)
    {
      g_autofree char *path = g_strdup_printf ("/every-repair/%s", networks[i].id);

      g_test_add_data_func (path, &networks[i], test_network);
    }
  g_test_add_func ("/every-repair/changed", test_changed);
  return g_test_run ();
}
